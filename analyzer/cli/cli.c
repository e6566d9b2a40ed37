#include "analyzer/cli/cli.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/complete.h"
#include "analyzer/cli/export/export_command.h"
#include "analyzer/cli/load/load_commands.h"
#include "analyzer/cli/lookup.h"
#include "analyzer/cli/options/options.h"
#include "analyzer/cli/spread/spread_commands.h"
#include "common/base/error.h"
#include "common/base/nearest.h"

/* One to a line. */
/* clang-format off */
static const Command *const cli_commands[] = {
    &command_status,
    &command_slow,
    &command_nodes,
    &command_functions,
    &command_series,
    &command_distribution,
    &command_forest,
    &command_traces,
    &command_contrast,
    &command_trace,
    &command_find,
    &command_span,
    &command_diff,
    &command_import,
    &command_export,
    &command_verify,
    &command_token,
    &command_why,
    &command_hosts,
    &command_samples,
    &command_skew,
    &command_mark,
    &command_marks,
    &command_names,
    &command_watch,
    &command_stragglers,
    &command_operations,
    &command_pipelines,
    &command_apps,
    &command_jobs,
    &command_executors,
    &command_stages,
    &command_tasks,
    &command_advise,
    &command_load_plan,
    &command_load_run,
    &command_load_report,
    &command_load_clean,
    NULL,
};
/* clang-format on */

static void print_overview(FILE *to) {
    fputs("plumb shows what HDFS and its clients did: compressed call trees and statistics of the\n"
          "spans that plumbd took in.\n\n"
          "Usage: plumb COMMAND [OPTION...]\n"
          "       plumb [--server HOST:PORT | --store DIR] [--json] COMMAND [OPTION...]\n\nCommands:\n",
          to);
    for (guint i = 0; cli_commands[i] != NULL; i++)
        fprintf(to, "  %-12s  %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    fputs("\nplumb COMMAND --help (or: plumb help COMMAND) describes a command; plumb --version tells the version.\n"
          "Every command asks the plumbd at --server (default: $PLUMB_SERVER, or " SOURCE_DEFAULT_SERVER ")\n"
          "or, where it takes --store DIR, reads a store folder. Exit codes: 0 done, 1 failed, 2 wrong\n"
          "command line, 3 differences found (verify) or findings as severe as asked (advise --fail-on).\n",
          to);
}

/* The command that argv begins with; its name may be two words, "load plan". *n_words: of the name. */
static const Command *command_at(int argc, char **argv, int *n_words) {
    *n_words = 1;
    const Command *command = lookup_command(cli_commands, argv[0]);
    if (command != NULL || argc < 2) return command;
    g_autofree char *name = g_strconcat(argv[0], " ", argv[1], NULL);
    command = lookup_command(cli_commands, name);
    if (command != NULL) *n_words = 2;
    return command;
}

static void print_group(const char *word, FILE *to) {
    fprintf(to, "Usage: plumb %s COMMAND [OPTION...]\n\nCommands:\n", word);
    for (guint i = 0; cli_commands[i] != NULL; i++)
        if (lookup_in_group(cli_commands[i], word))
            fprintf(to, "  %-12s  %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    fprintf(to, "\nplumb %s COMMAND --help describes a command.\n", word);
}

static CliExit unknown_command(const char *name) {
    const char *names[G_N_ELEMENTS(cli_commands)];
    guint n = 0;
    for (; cli_commands[n] != NULL; n++) names[n] = cli_commands[n]->name;
    names[n] = NULL;
    const char *nearest = nearest_name(name, names);
    g_autofree char *what = nearest != NULL
                                ? g_strdup_printf("no command '%s': did you mean '%s'?", name, nearest)
                                : g_strdup_printf("no command '%s': 'plumb --help' lists the commands", name);
    invocation_say(NULL, what);
    return CLI_USAGE;
}

static CliExit run_command(const Command *command, int argc, char **argv) {
    Invocation invocation;
    GError *error = NULL;
    CliExit exit_code = CLI_OK;
    switch (options_parse(command, argc, argv, &invocation, &error)) {
    case PARSE_RUN: exit_code = command->run(&invocation); break;
    case PARSE_DONE: {
        g_autofree char *help = options_help(command);
        fputs(help, stdout);
        break;
    }
    case PARSE_ERROR: exit_code = invocation_failed(&invocation, error); break;
    }
    options_clear(&invocation);
    return exit_code;
}

/* "plumb --words [COMMAND | --]": names of commands, or a command's options ("--": those that all commands have). */
static CliExit print_words(const char *name) {
    if (name == NULL) {
        for (guint i = 0; cli_commands[i] != NULL; i++) printf("%s\n", cli_commands[i]->name);
        return CLI_OK;
    }
    const Command *command = lookup_command(cli_commands, name);
    if (command == NULL && strcmp(name, "--") != 0) return CLI_USAGE;
    g_autofree char *words = options_words(command);
    fputs(words, stdout);
    return CLI_OK;
}

/* The word after which a command was expected is no command. */
static CliExit not_a_command(int argc, char **argv) {
    const gboolean asks = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    const gboolean names = argc > 1 && argv[1][0] != '-';
    if (!lookup_is_group(cli_commands, argv[0])) return unknown_command(argv[0]);
    if (names) {
        g_autofree char *name = g_strconcat(argv[0], " ", argv[1], NULL);
        return unknown_command(name);
    }
    print_group(argv[0], asks ? stdout : stderr);
    return asks ? CLI_OK : CLI_USAGE;
}

/* "plumb help [COMMAND]": argv is what follows. */
static CliExit print_help(int argc, char **argv) {
    if (argc <= 0) {
        print_overview(stdout);
        return CLI_OK;
    }
    int n_words;
    const Command *command = command_at(argc, argv, &n_words);
    if (command == NULL) {
        char *group[] = {argv[0], argc > 1 ? argv[1] : (char *)"--help", NULL};
        return not_a_command(2, group);
    }
    char *asked[] = {argv[0], (char *)"--help", NULL};
    return run_command(command, 2, asked);
}

/* Only options were given. */
static CliExit no_command(int argc, char **argv) {
    gboolean help = FALSE;
    for (int i = 1; i < argc; i++) help = help || strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
    if (help) return print_help(0, NULL);
    if (argc <= 1) {
        print_overview(stderr);
    } else {
        invocation_say(NULL, "which command? 'plumb --help' lists them");
    }
    return CLI_USAGE;
}

int cli_main(int argc, char **argv) {
    setlocale(LC_CTYPE, "");
    const char *first = argc > 1 ? argv[1] : "";
    if (strcmp(first, "--words") == 0) return (int)print_words(argc > 2 ? argv[2] : NULL);
    if (strcmp(first, "--complete") == 0) {
        complete(cli_commands, argc - 2, argv + 2);
        return CLI_OK;
    }
    if (strcmp(first, "--version") == 0) {
        puts("plumb " PLUMB_VERSION);
        return CLI_OK;
    }

    int n_leading;
    g_autoptr(GError) error = NULL;
    if (!options_leading(cli_commands, argc, argv, &n_leading, &error)) {
        invocation_say(NULL, error->message);
        return CLI_USAGE;
    }

    int at = n_leading + 1;
    if (at >= argc) return (int)no_command(argc, argv);
    if (strcmp(argv[at], "help") == 0) return (int)print_help(argc - at - 1, argv + at + 1);

    int n_words;
    const Command *command = command_at(argc - at, argv + at, &n_words);
    if (command == NULL) return (int)not_a_command(argc - at, argv + at);

    /* The command's name goes in front of the options before it; of an option that is given twice, the later counts. */
    char *name = argv[at];
    char **first_word = argv + n_words;
    memmove(first_word + 1, argv + 1, sizeof *argv * (gsize)n_leading);
    *first_word = name;
    return (int)run_command(command, argc - n_words, first_word);
}
