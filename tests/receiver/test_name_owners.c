/* Whose the names of servers are: who is first, who comes second, how many there may be. */
#include "receiver/secure/name_owners.h"

#include <glib/gstdio.h>
#include <string.h>

#include "common/store/dict.h"
#include "common/wire/message.h"
#include "receiver/net/name_check.h"

static const SpanSource first = {"token:a", "10.0.0.1", "thrift"}, second = {"token:b", "10.0.0.2", "http"},
                        unknown = {NULL, "10.0.0.3", "thrift"};

static void test_first(void) {
    static const struct {
        const char *tracer;
        const char *owner; /* when the second one asks */
    } cases[] = {
        {"NameNode/h1/42", "token:a"},
        {"NameNode/h1", "token:a"},
        {"namenode/H1/7", "token:a"},
        {"NameNode/h10", "token:b"},
        {"DataNode/h1/42", "token:a"},
        {"SecondaryNameNode/h1", "token:b"},
        {"JournalNode/h1", "token:b"},
        {"SecureDataNodeStarter/h1/3", "token:b"},
        {"FSClient/h1/42", NULL},
        {"web/h1/42", NULL},
        {"NameNode", NULL},
        {"NameNode/", NULL},
        {"", NULL},
    };
    g_autoptr(NameOwners) owners = name_owners_new(NAMES_WARN, NULL);
    g_assert_cmpstr(name_owners_claim(owners, "NameNode/h1/9", &first), ==, "token:a");
    g_assert_cmpstr(name_owners_claim(owners, "DataNode/h1", &first), ==, "token:a");
    g_assert_cmpstr(name_owners_claim(owners, "FSClient/h1/42", &first), ==, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        g_assert_cmpstr(name_owners_claim(owners, cases[i].tracer, &second), ==, cases[i].owner);
    g_assert_cmpstr(name_owners_claim(owners, "DataNode/h2", &unknown), ==, "anonymous");
    g_assert_cmpstr(name_owners_claim(owners, "DataNode/h2", &first), ==, "anonymous");
}

static void test_long_hosts(void) {
    g_autoptr(NameOwners) owners = name_owners_new(NAMES_WARN, NULL);
    g_autofree char *host = g_strnfill(NAME_HOST_MAX_BYTES, 'h');
    g_autofree char *longest = g_strconcat("DataNode/", host, "/1", NULL);
    g_autofree char *longer = g_strconcat("DataNode/h", host, "/1", NULL);
    g_assert_cmpstr(name_owners_claim(owners, longest, &first), ==, "token:a");
    g_assert_cmpstr(name_owners_claim(owners, longer, &first), ==, NULL);
}

static void test_as_many_as_there_may_be(void) {
    g_autoptr(NameOwners) owners = name_owners_new(NAMES_WARN, NULL);
    for (guint i = 0; i < NAME_OWNERS_MAX; i++) {
        g_autofree char *tracer = g_strdup_printf("DataNode/h%u/1", i);
        g_assert_cmpstr(name_owners_claim(owners, tracer, &first), ==, "token:a");
    }
    g_assert_cmpstr(name_owners_claim(owners, "DataNode/one-more", &first), ==, NULL);
    g_assert_cmpstr(name_owners_claim(owners, "DataNode/one-more", &second), ==, NULL);
    g_assert_cmpstr(name_owners_claim(owners, "DataNode/h7/2", &second), ==, "token:a");

    const guint generation = name_owners_generation(owners);
    name_owners_set_mode(owners, NAMES_STRICT);
    g_assert_cmpuint(name_owners_generation(owners), ==, generation);
    name_owners_set_mode(owners, NAMES_OFF);
    g_assert_cmpuint(name_owners_generation(owners), >, generation);
    name_owners_set_mode(owners, NAMES_WARN);
    g_assert_cmpstr(name_owners_claim(owners, "DataNode/h7/2", &second), ==, "token:b");
    g_assert_cmpstr(name_owners_claim(owners, "DataNode/one-more", &second), ==, "token:b");
}

/* One line for a name, whoever it is and however often. */
static void test_told_once(void) {
    g_autofree char *folder = g_dir_make_tmp("plumb-names-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "audit.log", NULL), *text = NULL;
    Audit *audit = audit_new(path, AUDIT_LEVEL_CHANGES, NULL);
    NameOwners *owners = name_owners_new(NAMES_WARN, audit);
    name_owners_claim(owners, "DataNode/h1/1", &first);
    name_owners_claim(owners, "DataNode/h2/1", &first);
    for (guint i = 0; i < 3; i++) {
        name_owners_tell(owners, "DataNode/h1/2", &second);
        name_owners_tell(owners, "datanode/h1/3", &unknown);
    }
    name_owners_tell(owners, "DataNode/h2/2", &unknown);
    name_owners_tell(owners, "FSClient/h2/2", &unknown);
    name_owners_free(owners);
    audit_free(audit);

    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_assert_cmpuint(g_strv_length(lines), ==, 3);
    g_assert_nonnull(strstr(lines[0], "\"action\":\"foreign name\",\"port\":\"http\",\"address\":\"10.0.0.2\","
                                      "\"principal\":\"token:b\",\"outcome\":\"DataNode/h1 is the name of token:a\""));
    g_assert_nonnull(
        strstr(lines[1], "\"principal\":\"anonymous\",\"outcome\":\"DataNode/h2 is the name of token:a\""));
    g_unlink(path);
    g_rmdir(folder);
}

/* ---- runs of spans ---- */

typedef struct Runs {
    Store *store;
    Dict *dict;
    NameOwners *owners;
    NameCheck *check;
    GArray *runs;
} Runs;

static Runs runs_new(NamesMode mode) {
    const StoreOptions options = {0};
    Runs runs = {.store = store_open_memory(&options, NULL), .runs = g_array_new(FALSE, FALSE, sizeof(PackRun))};
    runs.dict = dict_open(runs.store, NULL);
    runs.owners = name_owners_new(mode, NULL);
    runs.check = name_check_new(runs.owners, runs.dict);
    return runs;
}

static void runs_clear(Runs *runs) {
    name_check_free(runs->check);
    name_owners_free(runs->owners);
    dict_free(runs->dict);
    store_close(runs->store);
    g_array_unref(runs->runs);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Runs, runs_clear)

static gboolean sends(Runs *runs, const SpanSource *source, const char *const *tracers) {
    g_array_set_size(runs->runs, 0);
    for (; *tracers != NULL; tracers++) {
        PackRun run = {0, 1};
        g_assert_true(dict_intern(runs->dict, *tracers, strlen(*tracers), &run.tracer, NULL));
        g_array_append_val(runs->runs, run);
    }
    return name_check_is_foreign(runs->check, runs->runs, source);
}
#define SENDS(runs, source, ...) sends(runs, source, (const char *const[]){__VA_ARGS__, NULL})

static void test_strict(void) {
    g_auto(Runs) runs = runs_new(NAMES_STRICT);
    g_autofree char *why = NULL;
    for (guint i = 0; i < 2; i++) {
        g_assert_false(SENDS(&runs, &first, "DataNode/h1/1", "FSClient/h9/1", "DataNode/h1/1"));
        g_assert_true(SENDS(&runs, &second, "FSClient/h9/1", "DataNode/h1/1"));
    }
    g_assert_true(SENDS(&runs, &second, "DataNode/h1/2"));
    g_assert_false(SENDS(&runs, &second, "FSClient/h9/1"));
    g_assert_true(SENDS(&runs, &second, "DataNode/h1/2"));
    g_assert_true(name_check_refuses(runs.check, &second, &why));
    g_assert_cmpstr(why, ==,
                    "DataNode/h1 is the name of token:a, not of token:b: let one alone send it (access.write), or set "
                    "access.names");

    name_owners_set_mode(runs.owners, NAMES_WARN);
    g_assert_true(SENDS(&runs, &second, "DataNode/h1/2"));
    g_assert_false(name_check_refuses(runs.check, &second, &why));
    name_owners_set_mode(runs.owners, NAMES_OFF);
    g_assert_false(SENDS(&runs, &second, "DataNode/h1/2"));
    name_owners_set_mode(runs.owners, NAMES_STRICT);
    g_assert_false(SENDS(&runs, &second, "DataNode/h1/2"));
    g_assert_true(SENDS(&runs, &first, "DataNode/h1/1"));
}

/* However long the names are, what to do is in a reply, which is valid text. */
static void test_long_reasons(void) {
    g_auto(Runs) runs = runs_new(NAMES_STRICT);
    g_autofree char *why = NULL;
    g_autoptr(GString) host = g_string_new("DataNode/");
    while (host->len < 200) g_string_append(host, "\u00e4");
    const SpanSource one = {host->str, "10.0.0.1", "thrift"}, other = {host->str + 1, "10.0.0.1", "thrift"};
    g_assert_false(SENDS(&runs, &one, host->str));
    g_assert_true(SENDS(&runs, &other, host->str));
    g_assert_true(name_check_refuses(runs.check, &other, &why));
    g_assert_cmpuint(strlen(why), <, sizeof((WireReply *)NULL)->message);
    g_assert_true(g_utf8_validate(why, -1, NULL) && g_str_has_suffix(why, "or set access.names"));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/names/first", test_first);
    g_test_add_func("/names/long-hosts", test_long_hosts);
    g_test_add_func("/names/limit", test_as_many_as_there_may_be);
    g_test_add_func("/names/told-once", test_told_once);
    g_test_add_func("/names/strict", test_strict);
    g_test_add_func("/names/long-reasons", test_long_reasons);
    return g_test_run();
}
