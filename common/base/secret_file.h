/* Files with a key or a token: read only if nobody else can read them. The owner is root or ourselves, group and others
 * have no rights, and the path is no link, which somebody could have point elsewhere. */
#pragma once

#include <glib.h>

/* All of it, with a zero byte behind it; secret_free() it. NULL: IO, or CONFIG with the remedy. */
char *secret_file_read(const char *path, gsize *size_bytes, GError **error);
/* Wipes it before the memory is anybody's again. */
void secret_free(char *secret, gsize size_bytes);
