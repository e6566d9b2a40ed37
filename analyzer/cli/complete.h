/* Completion of a command line: what conf/plumb.bash-completion, conf/plumb.fish and conf/_plumb ask. */
#pragma once

#include "analyzer/cli/options/invocation.h"

/* What completion may have of the stored names. */
#define COMPLETE_MAX_NAMES 200
/* As long it waits for a plumbd; then nothing is offered. */
#define COMPLETE_WAIT_S 2

/* Prints what the last of n words, which is being typed, may become, one to a line, with what was typed of it in front:
 * commands, options, their values; hosts, functions and applications that the plumbd or store of these words has.
 * ":files" is a line, too, where names of files fit. Never an error: what cannot be told is left out. words are those
 * behind the program's name, commands is NULL-terminated. */
void complete(const Command *const *commands, int n, char **words);
