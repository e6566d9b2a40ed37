#include "analyzer/cli/cli.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/options/options.h"
#include "common/base/error.h"
#include "common/base/nearest.h"

static const Command *const cli_commands[] = {&command_status,     &command_slow,
                                              &command_nodes,      &command_functions,
                                              &command_forest,     &command_traces,
                                              &command_trace,      &command_diff,
                                              &command_import,     &command_export,
                                              &command_verify,     &command_token,
                                              &command_why,        &command_hosts,
                                              &command_watch,      &command_stragglers,
                                              &command_operations, &command_apps,
                                              &command_stages,     &command_tasks,
                                              &command_advise,     NULL};

static void print_overview(FILE *to) {
    fputs("plumb shows what HDFS and its clients did: compressed call trees and statistics of the\n"
          "spans that plumbd took in.\n\n"
          "Usage: plumb COMMAND [OPTION...]\n"
          "       plumb [--server HOST:PORT | --store DIR] [--json] COMMAND [OPTION...]\n\nCommands:\n",
          to);
    for (guint i = 0; cli_commands[i] != NULL; i++)
        fprintf(to, "  %-10s  %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    fputs("\nplumb COMMAND --help (or: plumb help COMMAND) describes a command; plumb --version tells the version.\n"
          "Every command asks the plumbd at --server (default: $PLUMB_SERVER, or " SOURCE_DEFAULT_SERVER ")\n"
          "or, where it takes --store DIR, reads a store folder. Exit codes: 0 done, 1 failed, 2 wrong\n"
          "command line, 3 differences found (verify) or findings as severe as asked (advise --fail-on).\n",
          to);
}

static const Command *command_find(const char *name) {
    for (guint i = 0; cli_commands[i] != NULL; i++)
        if (strcmp(cli_commands[i]->name, name) == 0) return cli_commands[i];
    return NULL;
}

static CliExit unknown_command(const char *name) {
    const char *names[32];
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

/* "plumb --words [COMMAND | --]": what shell completion asks; "--" is for the options that all commands have. */
static CliExit print_words(const char *name) {
    if (name == NULL) {
        for (guint i = 0; cli_commands[i] != NULL; i++) printf("%s\n", cli_commands[i]->name);
        return CLI_OK;
    }
    const Command *command = command_find(name);
    if (command == NULL && strcmp(name, "--") != 0) return CLI_USAGE;
    g_autofree char *words = options_words(command);
    fputs(words, stdout);
    return CLI_OK;
}

/* "plumb help [COMMAND]" */
static CliExit print_help(const char *name) {
    if (name == NULL) {
        print_overview(stdout);
        return CLI_OK;
    }
    const Command *command = command_find(name);
    if (command == NULL) return unknown_command(name);
    char *argv[] = {(char *)name, (char *)"--help", NULL};
    return run_command(command, 2, argv);
}

/* Only options were given. */
static CliExit no_command(int argc, char **argv) {
    gboolean help = FALSE;
    for (int i = 1; i < argc; i++) help = help || strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
    if (help) return print_help(NULL);
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
    if (strcmp(argv[at], "help") == 0) return (int)print_help(at + 1 < argc ? argv[at + 1] : NULL);

    const Command *command = command_find(argv[at]);
    if (command == NULL) return (int)unknown_command(argv[at]);

    /* The command's name goes in front of the options before it; of an option that is given twice, the later counts. */
    char *name = argv[at];
    memmove(argv + 2, argv + 1, sizeof *argv * (gsize)n_leading);
    argv[1] = name;
    return (int)run_command(command, argc - 1, argv + 1);
}
