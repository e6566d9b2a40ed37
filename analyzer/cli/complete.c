#include "analyzer/cli/complete.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/lookup.h"
#include "analyzer/cli/options/options.h"
#include "analyzer/cli/spread/spread_commands.h"
#include "common/model/role.h"

/* What stands before the word that is being typed. */
typedef struct Line {
    const Command *const *commands;
    const Command *command; /* NULL: not complete yet */
    const char *group;      /* "load" of "load plan", while there is no command */
    gboolean help;          /* "help" */
    gboolean lost;          /* no command of ours: nothing fits */
    gboolean closed;        /* behind "--": no options any more */
    guint n_arguments;
    const Option *pending; /* its value is being typed */
    GPtrArray *source;     /* owned "--server=X" and the like: whom to ask for names */
} Line;

static gboolean tells_source(const char *option) {
    static const char *const names[] = {"server", "ca", "certificate", "key", "token-file", "store", "negotiate", NULL};
    return g_strv_contains(names, option);
}

/* word: "--name" or "--name=value", or "--name" with its value in the next word. Returns how many words that is. */
static int take_option(Line *line, const char *word, const char *next) {
    g_autofree char *name = g_strndup(word + 2, strcspn(word + 2, "="));
    const Option *option = options_find(line->command, name);
    if (option == NULL) return 1;
    const gboolean apart = option->kind != OPTION_FLAG && strchr(word, '=') == NULL;
    if (tells_source(name))
        g_ptr_array_add(line->source, apart && next != NULL ? g_strconcat(word, "=", next, NULL) : g_strdup(word));
    if (!apart) return 1;
    if (next == NULL) line->pending = option;
    return 2;
}

static void take_word(Line *line, const char *word) {
    if (line->command != NULL) {
        line->n_arguments++;
        return;
    }
    g_autofree char *name = line->group != NULL ? g_strconcat(line->group, " ", word, NULL) : g_strdup(word);
    if (line->group == NULL && !line->help && strcmp(word, "help") == 0) {
        line->help = TRUE;
        return;
    }
    line->command = lookup_command(line->commands, name);
    if (line->command != NULL) return;
    line->lost = line->group != NULL || !lookup_is_group(line->commands, word);
    line->group = word;
}

/* The words before the last. */
static void read_line(Line *line, int n, char **words) {
    for (int i = 0; i < n - 1;) {
        const char *word = words[i];
        if (line->closed || word[0] != '-' || word[1] == '\0') {
            take_word(line, word);
            i++;
        } else if (strcmp(word, "--") == 0) {
            line->closed = TRUE;
            i++;
        } else {
            i += word[1] == '-' ? take_option(line, word, i + 1 < n - 1 ? words[i + 1] : NULL) : 1;
        }
    }
}

/* One line of what is offered, if it begins with what was typed. A name that a shell's line cannot have is none. */
static void offer(const char *before, const char *name, const char *typed) {
    if (!g_str_has_prefix(name, typed) || !g_utf8_validate(name, -1, NULL)) return;
    for (const char *c = name; *c != '\0'; c++)
        if (g_ascii_iscntrl(*c)) return;
    printf("%s%s\n", before, name);
}

static void leave(int signal_number) {
    (void)signal_number;
    _exit(0);
}

/* The answer to the question that a command asks, with its options; NULL when there is none in time. */
static json_t *answer_of(const Line *line, const Command *command, const char *const *options, const char *text) {
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    g_ptr_array_add(words, (char *)command->name);
    for (guint i = 0; i < line->source->len; i++) g_ptr_array_add(words, line->source->pdata[i]);
    for (; *options != NULL; options++) g_ptr_array_add(words, (char *)*options);
    const int n = (int)words->len;
    g_ptr_array_add(words, NULL);

    signal(SIGALRM, leave);
    alarm(COMPLETE_WAIT_S);
    Invocation invocation;
    json_t *answer = NULL;
    if (options_parse(command, n, (char **)words->pdata, &invocation, NULL) == PARSE_RUN) {
        g_autoptr(Source) source = source_open(&invocation.source, NULL);
        g_autoptr(Ask) ask = invocation_ask(&invocation, command->name);
        if (*text != '\0') ask_add(ask, "text", text);
        if (source != NULL) answer = source_ask(source, ask, NULL);
    }
    options_clear(&invocation);
    alarm(0);
    return answer;
}

static void offer_rows(json_t *answer, const char *list, const char *field, const char *before, const char *typed) {
    gsize i;
    const json_t *row;
    json_array_foreach(json_object_get(answer, list), i, row) {
        const char *name = json_string_value(json_object_get(row, field));
        if (name != NULL && *name != '-') offer(before, name, typed);
    }
    json_decref(answer);
}

static void offer_names(const Line *line, const char *kind, const char *before, const char *typed) {
    g_autofree char *of_kind = g_strconcat("--kind=", kind, NULL);
    const char *options[] = {of_kind, "--limit=" G_STRINGIFY(COMPLETE_MAX_NAMES), NULL};
    offer_rows(answer_of(line, &command_names, options, typed), "names", "name", before, typed);
}

static void offer_apps(const Line *line, const char *before, const char *typed) {
    const char *options[] = {"--limit=" G_STRINGIFY(COMPLETE_MAX_NAMES), NULL};
    offer(before, "latest", typed);
    offer_rows(answer_of(line, &command_apps, options, ""), "apps", "app", before, typed);
}

/* placeholder: what --help calls the value, "HOST" or "APP|TRACE". */
static void offer_values(const Line *line, const char *placeholder, const char *before, const char *typed) {
    static const char *const files[] = {"FILE", "DIR", "PATH", "PLAN", "RESULT", "RESULT2", NULL};
    g_auto(GStrv) parts = g_strsplit_set(placeholder, "|[], .", 0);
    const char *const *of = (const char *const *)parts;
    if (g_strv_contains(of, "HOST")) offer_names(line, "host", before, typed);
    if (g_strv_contains(of, "FUNCTION")) offer_names(line, "function", before, typed);
    if (g_strv_contains(of, "APP")) offer_apps(line, before, typed);
    if (g_strv_contains(of, "ROLE"))
        for (guint role = 0; role < ROLE_COUNT; role++) offer(before, role_name((Role)role), typed);
    for (guint i = 0; files[i] != NULL; i++)
        if (g_strv_contains(of, files[i])) {
            puts(":files");
            return;
        }
}

static void offer_option_values(const Line *line, const Option *option, const char *before, const char *typed) {
    if (option->kind == OPTION_CHOICE) {
        g_auto(GStrv) choices = options_choices(option);
        for (char **choice = choices; *choice != NULL; choice++) offer(before, *choice, typed);
    } else if (option->kind != OPTION_FLAG) {
        offer_values(line, option->value, before, typed);
    }
}

static void offer_options(const Line *line, const char *typed) {
    g_autofree char *words = options_words(line->command);
    g_auto(GStrv) lines = g_strsplit(words, "\n", 0);
    for (char **each = lines; *each != NULL; each++) {
        (*each)[strcspn(*each, " ")] = '\0';
        if (**each != '\0') offer("", *each, typed);
    }
    if (line->command == NULL) offer("", "--version", typed);
}

/* First words of commands, or the words behind a group's. */
static void offer_commands(const Line *line, const char *typed) {
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    const gsize skipped = line->group != NULL ? strlen(line->group) + 1 : 0;
    for (guint i = 0; line->commands[i] != NULL; i++) {
        if (line->group != NULL && !lookup_in_group(line->commands[i], line->group)) continue;
        const char *name = line->commands[i]->name + skipped;
        char *word = g_strndup(name, strcspn(name, " "));
        if (!g_hash_table_contains(seen, word)) offer("", word, typed);
        g_hash_table_add(seen, word);
    }
    if (line->group == NULL && !line->help) offer("", "help", typed);
}

static void offer_for(const Line *line, const char *typed) {
    const char *equals = strchr(typed, '=');
    if (line->lost) return;
    if (line->pending != NULL) {
        offer_option_values(line, line->pending, "", typed);
    } else if (!line->closed && g_str_has_prefix(typed, "--") && equals != NULL) {
        g_autofree char *before = g_strndup(typed, (gsize)(equals - typed) + 1);
        g_autofree char *name = g_strndup(typed + 2, (gsize)(equals - typed) - 2);
        const Option *option = options_find(line->command, name);
        if (option != NULL) offer_option_values(line, option, before, equals + 1);
    } else if (!line->closed && *typed == '-') {
        offer_options(line, typed);
    } else if (line->command == NULL) {
        offer_commands(line, typed);
    } else if (!line->help && line->n_arguments < MAX(line->command->max_arguments, line->command->min_arguments)) {
        offer_values(line, line->command->arguments, "", typed);
    }
}

void complete(const Command *const *commands, int n, char **words) {
    g_autoptr(GPtrArray) source = g_ptr_array_new_with_free_func(g_free);
    Line line = {.commands = commands, .source = source};
    read_line(&line, n, words);
    offer_for(&line, n > 0 ? words[n - 1] : "");
}
