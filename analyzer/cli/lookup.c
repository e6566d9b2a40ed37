#include "analyzer/cli/lookup.h"

#include <string.h>

const Command *lookup_command(const Command *const *commands, const char *name) {
    for (guint i = 0; commands[i] != NULL; i++)
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    return NULL;
}

gboolean lookup_in_group(const Command *command, const char *word) {
    const gsize length = strlen(word);
    return strncmp(command->name, word, length) == 0 && command->name[length] == ' ';
}

gboolean lookup_is_group(const Command *const *commands, const char *word) {
    for (guint i = 0; commands[i] != NULL; i++)
        if (lookup_in_group(commands[i], word)) return TRUE;
    return FALSE;
}
