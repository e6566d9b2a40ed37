/* Parsing of a command's table of options, and what is printed from the table. */
#pragma once

#include "analyzer/cli/options/invocation.h"

typedef enum {
    PARSE_RUN,   /* the command is to be run */
    PARSE_DONE,  /* --help was printed */
    PARSE_ERROR, /* the command line is wrong; *error says how */
} ParseResult;

/* commands: NULL-terminated.
 * Counts the words before the command in *n: options that all commands have, with their values. Fails with CONFIG when
 * one is no such option. */
gboolean options_leading(const Command *const *commands, int argc, char **argv, int *n, GError **error);
/* argv[0] is the command's name. Fills what the invocation holds; clear it in any case. Errors are CONFIG. */
ParseResult options_parse(const Command *command, int argc, char **argv, Invocation *invocation, GError **error);
void options_clear(Invocation *invocation);

/* The text of `plumb COMMAND --help`. A new string. */
char *options_help(const Command *command);
/* The option of this name, without dashes, that the command has or all commands have (NULL as command: these alone).
 * NULL: none. */
const Option *options_find(const Command *command, const char *name);
/* The names of an OPTION_CHOICE's choices. Free with g_strfreev(). */
char **options_choices(const Option *option);
/* All options of the command, the common ones included, one "--name" a line: "--sort=" when it takes a
 * value, followed by the choices where it has some; NULL: the common ones alone. A new string. */
char *options_words(const Command *command);
