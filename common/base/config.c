#include "common/base/config.h"

#include <string.h>

#include "common/base/config_value.h"
#include "common/base/error.h"
#include "common/base/nearest.h"

#define HELP_WIDTH 100

struct Config {
    const ConfigOption *options;
    guint n;
    ConfigValue *values;  /* n, parallel to options */
    GHashTable *override; /* name (borrowed from the table) -> owned text */
    char *path;           /* of the file last loaded, or NULL */
};

static guint count_options(const ConfigOption *options) {
    guint n = 0;
    while (options[n].name != NULL) n++;
    return n;
}

static void values_free(ConfigValue *values, guint n) {
    for (guint i = 0; values != NULL && i < n; i++) config_value_clear(&values[i]);
    g_free(values);
}

static ConfigValue *values_default(const ConfigOption *options, guint n) {
    ConfigValue *values = g_new0(ConfigValue, n);
    for (guint i = 0; i < n; i++) {
        g_autoptr(GError) error = NULL;
        if (!config_value_parse(&options[i], options[i].fallback, "default", &values[i], &error))
            g_error("%s", error->message);
    }
    return values;
}

Config *config_new(const ConfigOption *options) {
    Config *config = g_new0(Config, 1);
    config->options = options;
    config->n = count_options(options);
    config->values = values_default(options, config->n);
    config->override = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    return config;
}

void config_free(Config *config) {
    if (config == NULL) return;
    values_free(config->values, config->n);
    g_hash_table_unref(config->override);
    g_free(config->path);
    g_free(config);
}

static gsize section_length(const char *name) { return (gsize)(strchr(name, '.') - name); }

static const ConfigOption *option_find(const Config *config, const char *name) {
    for (guint i = 0; i < config->n; i++) {
        if (strcmp(config->options[i].name, name) == 0) return &config->options[i];
    }
    return NULL;
}

static ConfigValue *value_of(const Config *config, ConfigValue *values, const ConfigOption *option) {
    return &values[option - config->options];
}

/* The same key in another section first: that is the likelier mistake. */
static const char *nearest_option(const Config *config, const char *name) {
    const char *dot = strrchr(name, '.');
    const char *key = dot != NULL ? dot + 1 : name;
    g_autofree const char **names = g_new0(const char *, config->n + 1);
    for (guint i = 0; i < config->n; i++) {
        names[i] = config->options[i].name;
        if (strcmp(names[i] + section_length(names[i]) + 1, key) == 0) return names[i];
    }
    return nearest_name(name, names);
}

static gboolean fail_unknown_key(const Config *config, const char *where, const char *name, GError **error) {
    const char *nearest = nearest_option(config, name);
    if (nearest != NULL)
        return fail(error, PLUMB_ERROR_CONFIG, "%s: unknown key '%s': did you mean '%s'?", where, name, nearest);
    return fail(error, PLUMB_ERROR_CONFIG, "%s: unknown key '%s': --help-config lists all keys", where, name);
}

static gboolean section_known(const Config *config, const char *section) {
    for (guint i = 0; i < config->n; i++) {
        const char *name = config->options[i].name;
        if (strlen(section) == section_length(name) && strncmp(name, section, section_length(name)) == 0) return TRUE;
    }
    return FALSE;
}

static gboolean fail_unknown_section(const Config *config, const char *where, const char *section, GError **error) {
    g_autoptr(GPtrArray) sections = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < config->n; i++) {
        const char *name = config->options[i].name;
        g_ptr_array_add(sections, g_strndup(name, section_length(name)));
    }
    g_ptr_array_add(sections, NULL);
    const char *nearest = nearest_name(section, (const char *const *)sections->pdata);
    if (nearest != NULL)
        return fail(error, PLUMB_ERROR_CONFIG, "%s: unknown section [%s]: did you mean [%s]?", where, section, nearest);
    return fail(error, PLUMB_ERROR_CONFIG, "%s: unknown section [%s]: --help-config lists all keys", where, section);
}

/* ---- reading ---- */

/* A file being read. */
typedef struct Reading {
    const Config *config;
    GKeyFile *file;
    char *where;         /* the file's name, for messages */
    ConfigValue *values; /* where they go */
} Reading;

static gboolean take_key(const Reading *reading, const char *name, GError **error) {
    const ConfigOption *option = option_find(reading->config, name);
    if (option == NULL) return fail_unknown_key(reading->config, reading->where, name, error);
    const char *key = name + section_length(name) + 1;
    g_autofree char *section = g_strndup(name, section_length(name));
    g_autoptr(GError) cause = NULL;
    g_autofree char *text = g_key_file_get_string(reading->file, section, key, &cause);
    if (text == NULL) return fail(error, PLUMB_ERROR_CONFIG, "%s: %s: %s", reading->where, name, cause->message);
    return config_value_parse(option, text, reading->where, value_of(reading->config, reading->values, option), error);
}

static gboolean take_section(const Reading *reading, const char *section, GError **error) {
    if (!section_known(reading->config, section))
        return fail_unknown_section(reading->config, reading->where, section, error);
    g_auto(GStrv) keys = g_key_file_get_keys(reading->file, section, NULL, NULL);
    for (char **key = keys; key != NULL && *key != NULL; key++) {
        g_autofree char *name = g_strconcat(section, ".", *key, NULL);
        if (!take_key(reading, name, error)) return FALSE;
    }
    return TRUE;
}

static gboolean take_file(const Config *config, ConfigValue *values, GError **error) {
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_autoptr(GError) cause = NULL;
    if (!g_key_file_load_from_file(file, config->path, G_KEY_FILE_NONE, &cause)) {
        PlumbError code = cause->domain == G_KEY_FILE_ERROR ? PLUMB_ERROR_CONFIG : PLUMB_ERROR_IO;
        return fail(error, code, "%s: %s", config->path, cause->message);
    }
    g_autofree char *where = g_path_get_basename(config->path);
    const Reading reading = {config, file, where, values};
    g_auto(GStrv) sections = g_key_file_get_groups(file, NULL);
    for (char **section = sections; *section != NULL; section++) {
        if (!take_section(&reading, *section, error)) return FALSE;
    }
    return TRUE;
}

/* All sources in rising order. NULL on error. */
static ConfigValue *values_read(const Config *config, GError **error) {
    ConfigValue *values = values_default(config->options, config->n);
    gboolean ok = config->path == NULL || take_file(config, values, error);
    for (guint i = 0; ok && i < config->n; i++) {
        const char *text = g_hash_table_lookup(config->override, config->options[i].name);
        ok = text == NULL || config_value_parse(&config->options[i], text, "--set", &values[i], error);
    }
    if (ok) return values;
    values_free(values, config->n);
    return NULL;
}

gboolean config_load(Config *config, const char *path, GError **error) {
    char *before = config->path;
    config->path = g_strdup(path);
    ConfigValue *values = values_read(config, error);
    if (values == NULL) {
        g_free(config->path);
        config->path = before;
        return FALSE;
    }
    g_free(before);
    values_free(config->values, config->n);
    config->values = values;
    return TRUE;
}

gboolean config_override(Config *config, const char *assignment, GError **error) {
    const char *equals = strchr(assignment, '=');
    if (equals == NULL) return fail(error, PLUMB_ERROR_CONFIG, "--set '%s': write section.key=value", assignment);
    g_autofree char *name = g_strstrip(g_strndup(assignment, (gsize)(equals - assignment)));
    const ConfigOption *option = option_find(config, name);
    if (option == NULL) return fail_unknown_key(config, "--set", name, error);
    if (!config_value_parse(option, equals + 1, "--set", value_of(config, config->values, option), error)) return FALSE;
    g_hash_table_replace(config->override, (gpointer)option->name, g_strdup(equals + 1));
    return TRUE;
}

/* Different in meaning, not in spelling: "60s" is "1m". */
static gboolean values_differ(const ConfigOption *option, const ConfigValue *a, const ConfigValue *b) {
    switch (option->type) {
    case CONFIG_STRING: return strcmp(a->text, b->text) != 0;
    case CONFIG_LIST: return !g_strv_equal((const char *const *)a->list, (const char *const *)b->list);
    default: return a->number != b->number;
    }
}

gboolean config_reload(Config *config, GPtrArray *changed, GPtrArray *need_restart, GError **error) {
    ConfigValue *values = values_read(config, error);
    if (values == NULL) return FALSE;
    for (guint i = 0; i < config->n; i++) {
        const ConfigOption *option = &config->options[i];
        if (!values_differ(option, &config->values[i], &values[i])) continue;
        GPtrArray *told = option->reloadable ? changed : need_restart;
        if (told != NULL) g_ptr_array_add(told, (gpointer)option->name);
        if (!option->reloadable) continue;
        ConfigValue old = config->values[i];
        config->values[i] = values[i];
        values[i] = old;
    }
    values_free(values, config->n);
    return TRUE;
}

/* ---- getting ---- */

static const ConfigValue *get(const Config *config, const char *name, ConfigType type) {
    const ConfigOption *option = option_find(config, name);
    if (option == NULL || option->type != type) g_error("the program asks for an option '%s' that it has not", name);
    return value_of(config, config->values, option);
}

gboolean config_bool(const Config *config, const char *name) { return get(config, name, CONFIG_BOOL)->number != 0; }
gint64 config_int(const Config *config, const char *name) { return get(config, name, CONFIG_INT)->number; }
gsize config_size_bytes(const Config *config, const char *name) {
    return (gsize)get(config, name, CONFIG_SIZE)->number;
}
gint64 config_duration_ns(const Config *config, const char *name) { return get(config, name, CONFIG_DURATION)->number; }
const char *config_string(const Config *config, const char *name) { return get(config, name, CONFIG_STRING)->text; }
guint config_enum(const Config *config, const char *name) { return (guint)get(config, name, CONFIG_ENUM)->number; }
const char *const *config_list(const Config *config, const char *name) {
    return (const char *const *)get(config, name, CONFIG_LIST)->list;
}

/* ---- help ---- */

static void append_comment(GString *out, const char *text) {
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    gsize column = 0;
    for (char **word = words; *word != NULL; word++) {
        if (**word == 0) continue;
        gboolean breaks = column == 0 || column + 1 + strlen(*word) > HELP_WIDTH;
        if (breaks && column > 0) g_string_append_c(out, '\n');
        if (breaks) column = 1;
        g_string_append_printf(out, "%s%s", breaks ? "# " : " ", *word);
        column += 1 + strlen(*word);
    }
    g_string_append_c(out, '\n');
}

char *config_help(const ConfigOption *options, const char *title) {
    GString *out = g_string_new(NULL);
    append_comment(out, title);
    const char *section = "";
    gsize length = 0;

    for (; options->name != NULL; options++) {
        if (length != section_length(options->name) || strncmp(section, options->name, length) != 0) {
            section = options->name;
            length = section_length(section);
            g_string_append_printf(out, "\n[%.*s]\n", (int)length, section);
        }

        g_string_append_c(out, '\n');
        append_comment(out, options->help);
        g_autofree char *allowed = config_value_allowed(options);
        g_autofree char *takes =
            g_strdup_printf("Takes %s. %s", allowed, options->reloadable ? "A reload is enough." : "Needs a restart.");
        append_comment(out, takes);
        g_string_append_printf(out, "#%s=%s\n", options->name + length + 1, options->fallback);
    }

    return g_string_free(out, FALSE);
}
