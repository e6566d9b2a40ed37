/* A file that appears under its name only when it is whole: written under a temporary name in the same folder, then
 * renamed. */
#pragma once

#include <glib.h>

typedef struct PartialFile {
    char *path;
    char *temporary; /* NULL once renamed */
    int fd;          /* for writing; -1 once finished */
} PartialFile;

/* Errors: IO, NO_SPACE. */
PartialFile *partial_file_new(const char *path, GError **error);
/* Makes what is in it durable, whoever wrote it, with the rights of a usual new file. */
gboolean partial_file_complete(PartialFile *file, GError **error);
/* After it is complete: gives it its name. */
gboolean partial_file_publish(PartialFile *file, GError **error);
/* Removes the temporary file unless published. */
void partial_file_free(PartialFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PartialFile, partial_file_free)
