/* Bytes to standard output or to a file that appears under its name only when it is whole: written under a temporary
 * name in the same folder, then renamed. Compressed when the name ends in .gz or .zst. */
#pragma once

#include "common/base/bytes.h"

typedef struct OutFile OutFile;

/* path NULL: standard output. Errors of all functions: IO, NO_SPACE. */
OutFile *out_file_open(const char *path, GError **error);
gboolean out_file_write(OutFile *file, Bytes piece, GError **error);
/* Completes the file, makes it durable, gives it its name. */
gboolean out_file_finish(OutFile *file, GError **error);
/* Removes the temporary file unless finished. */
void out_file_free(OutFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(OutFile, out_file_free)
