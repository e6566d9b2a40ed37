#include "analyzer/cli/options/options.h"

#include <string.h>

#include "analyzer/cli/format/paragraph.h"
#include "common/base/error.h"
#include "common/base/nearest.h"

#define HELP_WIDTH      100
#define HELP_NAME_WIDTH 22
/* So many of those below say where answers come from. */
#define SOURCE_OPTIONS 7

static const Option common_options[] = {
    {"server", OPTION_TEXT, "HOST:PORT", NULL,
     "the plumbd to ask (default: $PLUMB_SERVER, or " SOURCE_DEFAULT_SERVER ")", NULL},
    {"ca", OPTION_TEXT, "FILE", NULL, "who signs plumbd's certificate, PEM (default: whom the system trusts)", NULL},
    {"certificate", OPTION_TEXT, "FILE", NULL, "log in with this certificate, PEM", NULL},
    {"key", OPTION_TEXT, "FILE", NULL, "and its key, PEM, which only you may read", NULL},
    {"token-file", OPTION_TEXT, "FILE", NULL,
     "log in with the token in it, which only you may read (default: $PLUMB_TOKEN_FILE)", NULL},
    {"negotiate", OPTION_FLAG, NULL, NULL, "log in with your ticket of Kerberos (kinit)", NULL},
    {"store", OPTION_TEXT, "DIR", NULL, "read this store folder instead, also beside a running plumbd", NULL},
    {"json", OPTION_FLAG, NULL, NULL, "print the answer as JSON (docs/api.md)", NULL},
    {"csv", OPTION_FLAG, NULL, NULL, "print the rows as CSV, with exact numbers in the units of JSON", NULL},
    {"color", OPTION_CHOICE, "auto|always|never", NULL, "colours", "auto"},
    {"help", OPTION_FLAG, NULL, NULL, "print this", NULL},
    {NULL, OPTION_END, NULL, NULL, NULL, NULL},
};

typedef struct OptionValue {
    const Option *option;
    char *text;
    char **list;
    gint flag;
} OptionValue;

struct OptionValues {
    guint n;
    OptionValue *values;
};

static gboolean applies(const Command *command, const Option *option) {
    if (command == NULL) return TRUE;
    if (strcmp(option->name, "csv") == 0) return command->csv != NULL;
    return !command->server_only || strcmp(option->name, "store") != 0;
}

/* Is --help to have it? Of a command that asks nobody, where answers come from is taken, and does nothing. */
static gboolean told(const Command *command, const Option *option) {
    if (command != NULL && command->asks_none && option < common_options + SOURCE_OPTIONS) return FALSE;
    return applies(command, option);
}

static struct OptionValues *values_new(const Command *command) {
    GArray *values = g_array_new(FALSE, FALSE, sizeof(OptionValue));
    for (const Option *option = command->options; option->kind != OPTION_END; option++) {
        OptionValue value = {option, NULL, NULL, FALSE};
        g_array_append_val(values, value);
    }
    for (const Option *option = common_options; option->kind != OPTION_END; option++) {
        OptionValue value = {option, NULL, NULL, FALSE};
        if (applies(command, option)) g_array_append_val(values, value);
    }
    struct OptionValues *all = g_new0(struct OptionValues, 1);
    all->n = values->len;
    all->values = (OptionValue *)(void *)g_array_free(values, FALSE);
    return all;
}

static OptionValue *value_of(const Invocation *invocation, const char *name) {
    for (guint i = 0; i < invocation->values->n; i++)
        if (strcmp(invocation->values->values[i].option->name, name) == 0) return &invocation->values->values[i];
    g_error("no option --%s", name); /* a mistake of this program, not of its user */
}

void options_clear(Invocation *invocation) {
    if (invocation->values != NULL) {
        for (guint i = 0; i < invocation->values->n; i++) {
            g_free(invocation->values->values[i].text);
            g_strfreev(invocation->values->values[i].list);
        }
        g_free(invocation->values->values);
        g_free(invocation->values);
    }
    g_strfreev(invocation->arguments);
    *invocation = (Invocation){.command = invocation->command};
}

const char *option_text(const Invocation *invocation, const char *name) {
    const OptionValue *value = value_of(invocation, name);
    return value->text != NULL ? value->text : value->option->fallback;
}

gboolean option_flag(const Invocation *invocation, const char *name) { return value_of(invocation, name)->flag; }

const char *const *option_list(const Invocation *invocation, const char *name) {
    static const char *const empty[] = {NULL};
    const OptionValue *value = value_of(invocation, name);
    return value->list != NULL ? (const char *const *)value->list : empty;
}

guint64 option_number(const Invocation *invocation, const char *name) {
    const char *text = option_text(invocation, name);
    return text != NULL ? g_ascii_strtoull(text, NULL, 10) : 0;
}

/* Without what they stand for. */
char **options_choices(const Option *option) {
    char **names = g_strsplit(option->value, "|", 0);
    for (char **name = names; *name != NULL; name++) {
        char *equals = strchr(*name, '=');
        if (equals != NULL) *equals = '\0';
    }
    return names;
}

/* What the API is told for a choice; a new string, NULL when it is none. */
static char *choice_meaning(const Option *option, const char *text) {
    g_auto(GStrv) choices = g_strsplit(option->value, "|", 0);
    for (char **choice = choices; *choice != NULL; choice++) {
        char *equals = strchr(*choice, '=');
        if (equals != NULL) *equals = '\0';
        if (strcmp(*choice, text) == 0) return g_strdup(equals != NULL ? equals + 1 : *choice);
    }
    return NULL;
}

static gboolean check_choice(const Option *option, const char *text, GError **error) {
    g_autofree char *meaning = choice_meaning(option, text);
    if (meaning != NULL) return TRUE;
    g_auto(GStrv) names = options_choices(option);
    const char *nearest = nearest_name(text, (const char *const *)names);
    g_autofree char *all = g_strjoinv(", ", names);
    if (nearest != NULL)
        return fail(error, PLUMB_ERROR_CONFIG, "--%s=%s: did you mean %s? (%s)", option->name, text, nearest, all);
    return fail(error, PLUMB_ERROR_CONFIG, "--%s=%s: must be one of %s", option->name, text, all);
}

static gboolean check_values(const Invocation *invocation, GError **error) {
    for (guint i = 0; i < invocation->values->n; i++) {
        const OptionValue *value = &invocation->values->values[i];
        if (value->text == NULL) continue;
        if (value->option->kind == OPTION_CHOICE && !check_choice(value->option, value->text, error)) return FALSE;
        if (value->option->kind == OPTION_NUMBER &&
            !g_ascii_string_to_unsigned(value->text, 10, 0, G_MAXINT32, NULL, NULL))
            return fail(error, PLUMB_ERROR_CONFIG, "--%s=%s: must be a whole number from 0 on", value->option->name,
                        value->text);
    }
    return TRUE;
}

static gpointer target_of(OptionValue *value) {
    if (value->option->kind == OPTION_FLAG) return &value->flag;
    return value->option->kind == OPTION_LIST ? (gpointer)&value->list : (gpointer)&value->text;
}

static GOptionEntry *entries_of(struct OptionValues *values) {
    GOptionEntry *entries = g_new0(GOptionEntry, values->n + 1);
    for (guint i = 0; i < values->n; i++) {
        const Option *option = values->values[i].option;
        entries[i].long_name = option->name;
        entries[i].short_name = strcmp(option->name, "help") == 0 ? 'h' : 0;
        entries[i].arg = option->kind == OPTION_FLAG   ? G_OPTION_ARG_NONE
                         : option->kind == OPTION_LIST ? G_OPTION_ARG_STRING_ARRAY
                                                       : G_OPTION_ARG_STRING;
        entries[i].arg_data = target_of(&values->values[i]);
    }
    return entries;
}

/* The first argument that looks like an option and is none. */
static char *unknown_option(const struct OptionValues *values, int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (argv[i][0] != '-' || argv[i][1] == '\0' || strcmp(argv[i], "-h") == 0) continue;
        const char *name = argv[i] + (argv[i][1] == '-' ? 2 : 1);
        g_autofree char *bare = g_strndup(name, strcspn(name, "="));
        gboolean known = FALSE;
        for (guint o = 0; o < values->n; o++) known = known || strcmp(values->values[o].option->name, bare) == 0;
        if (!known || argv[i][1] != '-') return g_steal_pointer(&bare);
    }
    return NULL;
}

static gboolean fail_unknown(const Invocation *invocation, const char *name, GError **error) {
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < invocation->values->n; i++)
        g_ptr_array_add(names, (char *)invocation->values->values[i].option->name);
    g_ptr_array_add(names, NULL);
    const char *nearest = nearest_name(name, (const char *const *)names->pdata);
    const char *command = invocation->command->name;
    if (nearest != NULL)
        return fail(error, PLUMB_ERROR_CONFIG, "unknown option --%s: did you mean --%s?", name, nearest);
    return fail(error, PLUMB_ERROR_CONFIG, "unknown option --%s: 'plumb %s --help' lists the options", name, command);
}

/* An option where the value of the one before it belongs would be that value, and be missed itself. */
static gboolean check_lacking(const Command *command, int argc, char **argv, GError **error) {
    for (int i = 1; i + 1 < argc && strcmp(argv[i], "--") != 0; i++) {
        const Option *option = g_str_has_prefix(argv[i], "--") ? options_find(command, argv[i] + 2) : NULL;
        if (option == NULL || option->kind == OPTION_FLAG) continue;
        i++;
        g_autofree char *next = g_strndup(argv[i], strcspn(argv[i], "="));
        if (g_str_has_prefix(next, "--") && options_find(command, next + 2) != NULL)
            return fail(error, PLUMB_ERROR_CONFIG, "--%s lacks its value", option->name);
    }
    return TRUE;
}

static gboolean parse_entries(Invocation *invocation, int argc, char **argv, GError **error) {
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_option_context_set_help_enabled(context, FALSE);
    g_autofree GOptionEntry *entries = entries_of(invocation->values);
    g_option_context_add_main_entries(context, entries, NULL);
    char **rest = g_strdupv(argv);
    g_autoptr(GError) why = NULL;
    gboolean parsed = g_option_context_parse_strv(context, &rest, &why);
    invocation->arguments = rest;
    if (parsed) return TRUE;
    g_autofree char *unknown = unknown_option(invocation->values, argc, argv);
    if (g_error_matches(why, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION) && unknown != NULL)
        return fail_unknown(invocation, unknown, error);
    return fail(error, PLUMB_ERROR_CONFIG, "%s", why->message);
}

/* GOption leaves the command's name and, when it was given, "--" in front of what follows it. */
static void keep_arguments(Invocation *invocation) {
    char **rest = invocation->arguments;
    GPtrArray *kept = g_ptr_array_new();
    gboolean separated = FALSE;
    for (guint i = 1; rest[i] != NULL; i++) {
        if (!separated && strcmp(rest[i], "--") == 0) {
            separated = TRUE;
            continue;
        }
        g_ptr_array_add(kept, g_strdup(rest[i]));
    }
    invocation->n_arguments = kept->len;
    g_ptr_array_add(kept, NULL);
    invocation->arguments = (char **)g_ptr_array_free(kept, FALSE);
    g_strfreev(rest);
}

static gboolean check_arguments(const Invocation *invocation, GError **error) {
    const Command *command = invocation->command;
    if (invocation->n_arguments < command->min_arguments)
        return fail(error, PLUMB_ERROR_CONFIG, "%s", command->missing);
    if (invocation->n_arguments <= command->max_arguments) return TRUE;
    const char *extra = invocation->arguments[command->max_arguments];
    if (command->max_arguments == 0)
        return fail(error, PLUMB_ERROR_CONFIG, "'%s' is too much: the command takes options only", extra);
    return fail(error, PLUMB_ERROR_CONFIG, "'%s' is too much: the command takes %s", extra, command->arguments);
}

static const Option *common_option(const char *name) {
    for (const Option *option = common_options; option->kind != OPTION_END; option++)
        if (strcmp(option->name, name) == 0) return option;
    return NULL;
}

const Option *options_find(const Command *command, const char *name) {
    if (command != NULL)
        for (const Option *option = command->options; option->kind != OPTION_END; option++)
            if (strcmp(option->name, name) == 0) return option;
    const Option *option = common_option(name);
    return option != NULL && applies(command, option) ? option : NULL;
}

static gboolean is_option_of_some_command(const Command *const *commands, const char *name) {
    for (guint c = 0; commands[c] != NULL; c++)
        for (const Option *option = commands[c]->options; option->kind != OPTION_END; option++)
            if (strcmp(option->name, name) == 0) return TRUE;
    return FALSE;
}

static gboolean fail_leading(const Command *const *commands, const char *name, GError **error) {
    if (is_option_of_some_command(commands, name))
        return fail(error, PLUMB_ERROR_CONFIG, "--%s follows its command: plumb COMMAND --%s", name, name);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (const Option *option = common_options; option->kind != OPTION_END; option++)
        g_ptr_array_add(names, (char *)option->name);
    g_ptr_array_add(names, NULL);
    const char *nearest = nearest_name(name, (const char *const *)names->pdata);
    if (nearest != NULL)
        return fail(error, PLUMB_ERROR_CONFIG, "unknown option --%s: did you mean --%s?", name, nearest);
    return fail(error, PLUMB_ERROR_CONFIG, "unknown option --%s: 'plumb --help' describes the command line", name);
}

gboolean options_leading(const Command *const *commands, int argc, char **argv, int *n, GError **error) {
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "-h") == 0) continue;
        gboolean dashed = argv[at][1] == '-';
        g_autofree char *name = g_strndup(argv[at] + (dashed ? 2 : 1), strcspn(argv[at] + (dashed ? 2 : 1), "="));
        const Option *option = dashed ? common_option(name) : NULL;
        if (option == NULL) return fail_leading(commands, name, error);
        if (option->kind == OPTION_FLAG || strchr(argv[at], '=') != NULL) continue;
        if (at + 1 == argc) return fail(error, PLUMB_ERROR_CONFIG, "--%s lacks its value", name);
        at++;
    }
    *n = at - 1;
    return TRUE;
}

static const char *token_file_of(const Invocation *invocation) {
    const char *file = option_text(invocation, "token-file");
    if (file == NULL) file = g_getenv("PLUMB_TOKEN_FILE");
    return file != NULL && *file != '\0' ? file : NULL;
}

static gboolean find_source(Invocation *invocation, GError **error) {
    const char *server = option_text(invocation, "server");
    const char *store = invocation->command->server_only ? NULL : option_text(invocation, "store");
    if (server != NULL && store != NULL)
        return fail(error, PLUMB_ERROR_CONFIG, "--server and --store exclude each other: give one");
    if (server == NULL && store == NULL) server = g_getenv("PLUMB_SERVER");
    if (store == NULL && (server == NULL || *server == '\0')) server = SOURCE_DEFAULT_SERVER;
    invocation->source = (SourceOptions){
        .server = server,
        .store = store,
        .security = {option_text(invocation, "ca"), option_text(invocation, "certificate"),
                     option_text(invocation, "key"), token_file_of(invocation), option_flag(invocation, "negotiate")},
    };
    return TRUE;
}

ParseResult options_parse(const Command *command, int argc, char **argv, Invocation *invocation, GError **error) {
    *invocation = (Invocation){.command = command, .values = values_new(command)};
    if (!check_lacking(command, argc, argv, error) || !parse_entries(invocation, argc, argv, error)) return PARSE_ERROR;
    keep_arguments(invocation);
    if (option_flag(invocation, "help")) return PARSE_DONE;
    if (!check_values(invocation, error) || !check_arguments(invocation, error) || !find_source(invocation, error))
        return PARSE_ERROR;
    invocation->json = option_flag(invocation, "json");
    invocation->csv = command->csv != NULL && option_flag(invocation, "csv");
    if (invocation->json && invocation->csv) {
        fail(error, PLUMB_ERROR_CONFIG, "--json and --csv exclude each other: give one");
        return PARSE_ERROR;
    }
    const char *color = option_text(invocation, "color");
    ColourWhen when = strcmp(color, "always") == 0  ? COLOUR_ALWAYS
                      : strcmp(color, "never") == 0 ? COLOUR_NEVER
                                                    : COLOUR_AUTO;
    invocation->style = style_detect(when);
    return PARSE_RUN;
}

Ask *invocation_ask(const Invocation *invocation, const char *question) {
    Ask *ask = ask_new(question);
    for (guint i = 0; i < invocation->values->n; i++) {
        const OptionValue *value = &invocation->values->values[i];
        const char *param = value->option->param;
        if (param == NULL) continue;
        for (char **entry = value->list; entry != NULL && *entry != NULL; entry++) ask_add(ask, param, *entry);
        if (value->flag) ask_add(ask, param, "true");
        const char *text = value->text != NULL ? value->text : value->option->fallback;
        if (text == NULL) continue;
        g_autofree char *meaning =
            value->option->kind == OPTION_CHOICE ? choice_meaning(value->option, text) : g_strdup(text);
        ask_add(ask, param, meaning);
    }
    return ask;
}

/* Appends text from column 'at' on, broken at blanks so that lines are no longer than 'most'; further lines begin at
 * 'column'. */
static void append_wrapped(const char *text, guint at, guint column, guint most, GString *out) {
    g_auto(GStrv) words = g_strsplit(text, " ", 0);
    for (guint i = 0; words[i] != NULL; i++) {
        guint length = (guint)strlen(words[i]);
        if (i > 0 && at + 1 + length > most) {
            g_string_append_printf(out, "\n%*s", (int)column, "");
            at = column;
        } else if (i > 0) {
            g_string_append_c(out, ' ');
            at++;
        }
        g_string_append(out, words[i]);
        at += length;
    }
    g_string_append_c(out, '\n');
}

/* What stands behind the name: the choices themselves when they are short. */
static char *value_text(const Option *option, gboolean *listed) {
    *listed = FALSE;
    if (option->kind != OPTION_CHOICE) return g_strdup(option->value);
    g_auto(GStrv) names = options_choices(option);
    g_autofree char *all = g_strjoinv("|", names);
    *listed = strlen(option->name) + strlen(all) + 3 > HELP_NAME_WIDTH;
    return *listed ? g_ascii_strup(option->name, -1) : g_steal_pointer(&all);
}

static void append_option_help(const Option *option, guint most, GString *out) {
    gboolean listed;
    g_autofree char *value = value_text(option, &listed);
    g_autofree char *name =
        g_strdup_printf("--%s%s%s", option->name, value != NULL ? "=" : "", value != NULL ? value : "");
    GString *help = g_string_new(option->help);
    if (option->kind == OPTION_LIST) g_string_append(help, "; may be repeated");
    if (listed) {
        g_auto(GStrv) names = options_choices(option);
        g_autofree char *all = g_strjoinv(", ", names);
        g_string_append_printf(help, ": %s", all);
    }
    if (option->fallback != NULL) g_string_append_printf(help, " (default: %s)", option->fallback);
    g_string_append_printf(out, "  %-*s  ", HELP_NAME_WIDTH, name);
    append_wrapped(help->str, MAX(HELP_NAME_WIDTH, (guint)strlen(name)) + 4, HELP_NAME_WIDTH + 4, most, out);
    g_string_free(help, TRUE);
}

/* As it is written, or on a narrower terminal broken to that. */
static void append_about(const Style *style, const char *about, GString *out) {
    gboolean fits = TRUE;
    g_auto(GStrv) lines = g_strsplit(about, "\n", 0);
    for (char **line = lines; *line != NULL; line++)
        fits = fits && (style->width == 0 || strlen(*line) <= style->width);
    g_autofree char *one = g_strjoinv(" ", lines);
    if (fits)
        g_string_append_printf(out, "%s\n", about);
    else
        paragraph_append(style, 0, one, out);
}

char *options_help(const Command *command) {
    GString *out = g_string_new(NULL);
    gboolean spaced = *command->arguments != '\0';
    const Style style = style_detect(COLOUR_NEVER);
    const guint most = style.width > 0 ? CLAMP(style.width, HELP_NAME_WIDTH + 24, HELP_WIDTH) : HELP_WIDTH;
    g_string_append_printf(out, "Usage: plumb %s [OPTION...]%s%s\n\n", command->name, spaced ? " " : "",
                           command->arguments);
    append_about(&style, command->about, out);
    if (command->options->kind != OPTION_END) g_string_append(out, "\nOptions:\n");
    for (const Option *option = command->options; option->kind != OPTION_END; option++)
        append_option_help(option, most, out);
    g_string_append(out, "\nCommon options:\n");
    for (const Option *option = common_options; option->kind != OPTION_END; option++)
        if (told(command, option)) append_option_help(option, most, out);
    g_string_append_printf(out, "\nExamples:\n%s", command->example);
    return g_string_free(out, FALSE);
}

static void append_words(const Option *option, GString *out) {
    g_string_append_printf(out, "--%s%s", option->name, option->kind == OPTION_FLAG ? "" : "=");
    if (option->kind == OPTION_CHOICE) {
        g_auto(GStrv) names = options_choices(option);
        g_autofree char *all = g_strjoinv(" ", names);
        g_string_append_printf(out, " %s", all);
    }
    g_string_append_c(out, '\n');
}

char *options_words(const Command *command) {
    GString *out = g_string_new(NULL);
    for (const Option *option = command != NULL ? command->options : NULL; option != NULL && option->kind != OPTION_END;
         option++)
        append_words(option, out);
    for (const Option *option = common_options; option->kind != OPTION_END; option++)
        if (told(command, option)) append_words(option, out);
    return g_string_free(out, FALSE);
}
