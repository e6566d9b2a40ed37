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
/* All options of the command, the common ones included, one "--name" a line, for completion: "--sort=" when it takes a
 * value, followed by the choices where it has some; NULL: the common ones alone. A new string. */
char *options_words(const Command *command);
