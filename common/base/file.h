/* Files without a name, and files that only lock: both are gone, or free, with the process, however it ends. */
#pragma once

#include <glib.h>

/* Readable and writable, empty, in this folder. The caller's to close. -1 with errno when there can be none. */
int file_open_unnamed(const char *folder);
/* A lock for one process, of a file that is made for it and stays. What is replaced when it is written has its lock
 * beside it. Held until the caller closes it. -1 with errno: EWOULDBLOCK when another has it. */
int file_lock(const char *path);
