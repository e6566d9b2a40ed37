/* Commands by name. commands: NULL-terminated. */
#pragma once

#include "analyzer/cli/options/invocation.h"

/* NULL: none has this name, which may be two words. */
const Command *lookup_command(const Command *const *commands, const char *name);
/* Is its name this word and another, as "load plan" is in the group "load"? */
gboolean lookup_in_group(const Command *command, const char *word);
/* Is any? */
gboolean lookup_is_group(const Command *const *commands, const char *word);
