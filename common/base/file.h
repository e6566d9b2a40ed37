/* Files without a name: they are gone with the process, however it ends. */
#pragma once

#include <glib.h>

/* Readable and writable, empty, in this folder. The caller's to close. -1 with errno when there can be none. */
int file_open_unnamed(const char *folder);
