/* A folder of a test's own, and files in it. */
#pragma once

#include <glib.h>

char *folder_new(void);
/* Removes it with everything in it, and frees the path. */
void folder_remove(char *folder);
/* Makes or replaces a file, with the folders it lies in. */
void folder_write(const char *folder, const char *name, const char *text);
void folder_append(const char *folder, const char *name, const char *text);
