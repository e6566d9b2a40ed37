#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/config.h"
#include "common/base/config_value.h"
#include "common/base/error.h"

static const ConfigOption options[] = {
    {"listen.thrift", CONFIG_STRING, "127.0.0.1:9410", .help = "Where senders connect."},
    {"listen.http", CONFIG_STRING, "127.0.0.1:9096", .help = "Where people connect."},
    {"store.path", CONFIG_STRING, "/var/lib/plumbline", .help = "The folder of the store."},
    {"store.cache", CONFIG_SIZE, "64M", 1 << 20, G_GINT64_CONSTANT(4) << 30, .help = "Memory for blocks."},
    {"trace.idle", CONFIG_DURATION, "30s", 100 * NS_PER_MS, 24 * 60 * NS_PER_MINUTE, .reloadable = TRUE,
     .help = "A trace is closed when nothing came for it for so long. The text is long, so that it has to be broken "
             "into several lines of the sample, none of them longer than a terminal is wide."},
    {"trace.shards", CONFIG_INT, "2", 1, 64, .help = "Threads."},
    {"trace.offset", CONFIG_INT, "-3", .reloadable = TRUE, .help = "No bounds."},
    {"journal.ack", CONFIG_ENUM, "journal", .choices = "journal|fsync|memory", .reloadable = TRUE, .help = "When."},
    {"journal.check", CONFIG_BOOL, "yes", .reloadable = TRUE, .help = "Whether."},
    {"names.rules", CONFIG_LIST, "a_{n};b_{n}", .reloadable = TRUE, .help = "Which."},
    {0},
};

static char *write_file(const char *text) {
    g_autofree char *folder = g_dir_make_tmp("plumb-config-XXXXXX", NULL);
    char *path = g_build_filename(folder, "test.conf", NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    return path;
}

static void remove_file(char *path) {
    g_autofree char *folder = g_path_get_dirname(path);
    g_unlink(path);
    g_rmdir(folder);
    g_free(path);
}

static void test_defaults(void) {
    g_autoptr(Config) config = config_new(options);
    g_assert_cmpstr(config_string(config, "listen.thrift"), ==, "127.0.0.1:9410");
    g_assert_cmpuint(config_size_bytes(config, "store.cache"), ==, 64u << 20);
    g_assert_cmpint(config_duration_ns(config, "trace.idle"), ==, 30 * NS_PER_SEC);
    g_assert_cmpint(config_int(config, "trace.offset"), ==, -3);
    g_assert_cmpuint(config_enum(config, "journal.ack"), ==, 0);
    g_assert_true(config_bool(config, "journal.check"));
    g_assert_cmpstr(config_list(config, "names.rules")[1], ==, "b_{n}");
    g_assert_null(config_list(config, "names.rules")[2]);
}

typedef struct LoadCase {
    const char *file;
    int code; /* -1: loads */
    const char *says[3];
} LoadCase;

static const LoadCase load_cases[] = {
    {"[store]\npath=/x\ncache = 1G\n", -1, {NULL}},
    {"", -1, {NULL}},
    {"# only a comment\n\n[store]\n", -1, {NULL}},
    {"[store]\npaht=/x\n", PLUMB_ERROR_CONFIG, {"test.conf", "'store.paht'", "did you mean 'store.path'?"}},
    {"[listen]\npath=/x\n", PLUMB_ERROR_CONFIG, {"'listen.path'", "did you mean 'store.path'?"}},
    {"[stroe]\npath=/x\n", PLUMB_ERROR_CONFIG, {"[stroe]", "did you mean [store]?"}},
    {"[zzzzzzzz]\nq=/x\n", PLUMB_ERROR_CONFIG, {"[zzzzzzzz]", "--help-config"}},
    {"[store]\nqqqqqqqqqqqqqq=/x\n", PLUMB_ERROR_CONFIG, {"--help-config"}},
    {"[a.b]\nc=1\n", PLUMB_ERROR_CONFIG, {"[a.b]"}},
    {"[store]\ncache=12Q\n", PLUMB_ERROR_CONFIG, {"store.cache = '12Q'", "a size", "from 1M to 4G"}},
    {"[store]\ncache=1K\n", PLUMB_ERROR_CONFIG, {"store.cache = '1K'", "from 1M to 4G"}},
    {"[store]\ncache=5G\n", PLUMB_ERROR_CONFIG, {"from 1M to 4G"}},
    {"[store]\ncache=-1\n", PLUMB_ERROR_CONFIG, {"from 1M to 4G"}},
    {"[trace]\nidle=30\n", PLUMB_ERROR_CONFIG, {"trace.idle = '30'", "a time with ms", "from 100ms to 1d"}},
    {"[trace]\nshards=0\n", PLUMB_ERROR_CONFIG, {"a whole number, from 1 to 64"}},
    {"[trace]\nshards=2.5\n", PLUMB_ERROR_CONFIG, {"a whole number"}},
    {"[trace]\noffset=99999999999999999999\n", PLUMB_ERROR_CONFIG, {"a whole number"}},
    {"[journal]\nack=disk\n", PLUMB_ERROR_CONFIG, {"journal.ack = 'disk'", "one of journal, fsync, memory"}},
    {"[journal]\ncheck=maybe\n", PLUMB_ERROR_CONFIG, {"true or false"}},
    {"store.path=/x\n", PLUMB_ERROR_CONFIG, {"test.conf"}},
    {"[store\npath=/x\n", PLUMB_ERROR_CONFIG, {"test.conf"}},
    {"[store]\npath=\xff\xfe\n", PLUMB_ERROR_CONFIG, {"store.path"}},
};

static void test_load(void) {
    for (guint i = 0; i < G_N_ELEMENTS(load_cases); i++) {
        const LoadCase *c = &load_cases[i];
        char *path = write_file(c->file);
        g_autoptr(Config) config = config_new(options);
        g_autoptr(GError) error = NULL;
        gboolean ok = config_load(config, path, &error);
        g_test_message("case %u: %s", i, ok ? "loads" : error->message);

        g_assert_cmpint(ok, ==, c->code < 0);
        if (!ok) {
            g_assert_error(error, PLUMB_ERROR, c->code);
            for (guint j = 0; j < 3 && c->says[j] != NULL; j++) g_assert_nonnull(strstr(error->message, c->says[j]));
            g_assert_cmpstr(config_string(config, "store.path"), ==, "/var/lib/plumbline");
            g_assert_cmpuint(config_size_bytes(config, "store.cache"), ==, 64u << 20);
        }
        remove_file(path);
    }

    g_autoptr(Config) config = config_new(options);
    g_autoptr(GError) error = NULL;
    g_assert_false(config_load(config, "/nonexistent/plumbd.conf", &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_IO);
    g_assert_nonnull(strstr(error->message, "/nonexistent/plumbd.conf"));
}

static void test_override(void) {
    char *path = write_file("[store]\npath=/file\ncache=1G\n");
    g_autoptr(Config) config = config_new(options);
    g_assert_true(config_override(config, "store.path = /override=1 ", NULL));
    g_assert_true(config_load(config, path, NULL));
    g_assert_cmpstr(config_string(config, "store.path"), ==, "/override=1");
    g_assert_cmpuint(config_size_bytes(config, "store.cache"), ==, 1u << 30);

    g_assert_true(config_override(config, "store.cache=2M", NULL));
    g_assert_true(config_override(config, "names.rules=", NULL));
    g_assert_cmpuint(config_size_bytes(config, "store.cache"), ==, 2u << 20);
    g_assert_null(config_list(config, "names.rules")[0]);

    static const struct {
        const char *assignment, *says;
    } bad[] = {
        {"store.path", "section.key=value"},
        {"path=/x", "did you mean 'store.path'?"},
        {"store.cahce=1M", "did you mean 'store.cache'?"},
        {"store.cache=lots", "--set: store.cache = 'lots'"},
        {"=1", "--help-config"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_false(config_override(config, bad[i].assignment, &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CONFIG);
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, bad[i].says));
    }

    g_assert_cmpuint(config_size_bytes(config, "store.cache"), ==, 2u << 20);
    remove_file(path);
}

static void test_reload(void) {
    char *path = write_file("[trace]\nidle=60s\nshards=2\n[names]\nrules=x_{n}; y_{n}\n");
    g_autoptr(Config) config = config_new(options);
    g_assert_true(config_override(config, "journal.check=no", NULL));
    g_assert_true(config_load(config, path, NULL));
    g_autoptr(GPtrArray) changed = g_ptr_array_new(), need_restart = g_ptr_array_new();

    /* Another spelling of the same is no change; an override stays over the file. */
    g_assert_true(g_file_set_contents(
        path, "[trace]\nidle=1m\nshards=3\n[names]\nrules=x_{n};y_{n};\n[journal]\nack=fsync\ncheck=yes\n", -1, NULL));
    g_assert_true(config_reload(config, changed, need_restart, NULL));
    g_assert_cmpuint(changed->len, ==, 1);
    g_assert_cmpstr(changed->pdata[0], ==, "journal.ack");
    g_assert_cmpuint(need_restart->len, ==, 1);
    g_assert_cmpstr(need_restart->pdata[0], ==, "trace.shards");
    g_assert_cmpuint(config_enum(config, "journal.ack"), ==, 1);
    g_assert_cmpint(config_int(config, "trace.shards"), ==, 2);
    g_assert_false(config_bool(config, "journal.check"));

    /* A file with a mistake changes nothing. */
    g_assert_true(g_file_set_contents(path, "[journal]\nack=memory\n[trace]\nidle=never\n", -1, NULL));
    g_autoptr(GError) error = NULL;
    g_assert_false(config_reload(config, NULL, NULL, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CONFIG);
    g_assert_cmpuint(config_enum(config, "journal.ack"), ==, 1);

    /* A key that left the file has its default again. */
    g_assert_true(g_file_set_contents(path, "", -1, NULL));
    g_assert_true(config_reload(config, NULL, NULL, NULL));
    g_assert_cmpuint(config_enum(config, "journal.ack"), ==, 0);
    g_assert_cmpint(config_duration_ns(config, "trace.idle"), ==, 30 * NS_PER_SEC);

    remove_file(path);
    g_autoptr(Config) no_file = config_new(options);
    g_assert_true(config_reload(no_file, changed, NULL, NULL));
    g_assert_cmpuint(changed->len, ==, 1);
}

static void test_sample_loads(void) {
    g_autofree char *sample = config_help(options, "A sample.");
    g_auto(GStrv) lines = g_strsplit(sample, "\n", -1);
    for (char **line = lines; *line != NULL; line++) g_assert_cmpuint(strlen(*line), <=, 110);

    /* With every value made active it says the same as with none. */
    g_autoptr(GRegex) comment = g_regex_new("^#(?! )", G_REGEX_MULTILINE, 0, NULL);
    g_autofree char *active = g_regex_replace_literal(comment, sample, -1, 0, "", 0, NULL);
    g_assert_cmpstr(sample, !=, active);

    const char *forms[] = {sample, active};
    for (guint i = 0; i < 2; i++) {
        char *path = write_file(forms[i]);
        g_autoptr(Config) config = config_new(options);
        g_autoptr(GError) error = NULL;
        config_load(config, path, &error);
        g_assert_no_error(error);
        g_assert_cmpint(config_duration_ns(config, "trace.idle"), ==, 30 * NS_PER_SEC);
        g_assert_cmpstr(config_list(config, "names.rules")[1], ==, "b_{n}");
        remove_file(path);
    }

    for (const ConfigOption *option = options; option->name != NULL; option++) {
        g_autofree char *key = g_strdup_printf("\n#%s=%s\n", strchr(option->name, '.') + 1, option->fallback);
        g_assert_nonnull(strstr(sample, key));
    }
}

static void test_sizes_and_durations(void) {
    static const struct {
        const char *text;
        gint64 value; /* -1: malformed */
        const char *shown;
    } sizes[] =
        {
            {"0", 0, "0"},
            {"4096", 4096, "4K"},
            {"100", 100, "100"},
            {"64K", 65536, "64K"},
            {" 1 MiB ", 1 << 20, "1M"},
            {"1mb", 1 << 20, "1M"},
            {"2g", 2LL << 30, "2G"},
            {"1536K", 1536 << 10, "1536K"},
            {"7B", 7, "7"},
            {"1T", 1LL << 40, "1T"},
            {"", -1, NULL},
            {"K", -1, NULL},
            {"1.5G", -1, NULL},
            {"1KK", -1, NULL},
            {"9999999999T", -1, NULL},
            {"1iB", -1, NULL},
            {"--1", -1, NULL},
            {"0x10", -1, NULL},
        },
      durations[] = {
          {"0", 0, "0"},
          {"500ms", 500 * NS_PER_MS, "500ms"},
          {"1500ms", 1500 * NS_PER_MS, "1500ms"},
          {"60s", NS_PER_MINUTE, "1m"},
          {"24h", 1440 * NS_PER_MINUTE, "1d"},
          {"7d", 7 * 1440 * NS_PER_MINUTE, "7d"},
          {"200us", 200 * NS_PER_US, "200us"},
          {" 5 m ", 5 * NS_PER_MINUTE, "5m"},
          {"1001ns", 1001, "1001ns"},
          {"5", -1, NULL},
          {"", -1, NULL},
          {"m", -1, NULL},
          {"5M", -1, NULL},
          {"1h30m", -1, NULL},
          {"999999999d", -1, NULL},
      };

    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        gint64 value = -1;
        g_test_message("%s", sizes[i].text);
        g_assert_cmpint(size_parse(sizes[i].text, &value), ==, sizes[i].value >= 0);
        g_assert_cmpint(value, ==, sizes[i].value);
        g_autofree char *shown = value >= 0 ? size_format(value) : NULL;
        g_assert_cmpstr(shown, ==, sizes[i].shown);
    }

    for (guint i = 0; i < G_N_ELEMENTS(durations); i++) {
        gint64 value = -1;
        g_test_message("%s", durations[i].text);
        g_assert_cmpint(duration_parse(durations[i].text, &value), ==, durations[i].value >= 0);
        g_assert_cmpint(value, ==, durations[i].value);
        g_autofree char *shown = value >= 0 ? duration_format(value) : NULL;
        g_assert_cmpstr(shown, ==, durations[i].shown);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/config/defaults", test_defaults);
    g_test_add_func("/config/load", test_load);
    g_test_add_func("/config/override", test_override);
    g_test_add_func("/config/reload", test_reload);
    g_test_add_func("/config/sample", test_sample_loads);
    g_test_add_func("/config/units", test_sizes_and_durations);
    return g_test_run();
}
