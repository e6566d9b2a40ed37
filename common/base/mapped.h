/* An array of bytes that grows, never moves, and need not stay in memory: a file without a name, mapped. What is not
 * used stays on the disk. For tables that grow with the age of a store and of which little is used at a time.
 *
 * A page of it that cannot be read back ends the process (SIGBUS), as a failing disk under any mapped file does: so it
 * is only for what is also elsewhere, and plumbd says why it ended and makes it anew at the next start. Nothing else is
 * mapped: files that hold the only copy of something are read. */
#pragma once

#include <glib.h>

typedef struct Mapped Mapped;

/* Empty. The address range of limit_bytes is taken at once, pages of the file only by mapped_grow(). folder NULL: in
 * memory, for those who have no folder to write to; so are those in a folder where no file can be made or mapped, and
 * on file systems that copy pages on writing (btrfs, ZFS) or may lie over one (overlay). Errors: NO_SPACE, IO. */
Mapped *mapped_new(const char *folder, gsize limit_bytes, GError **error);
gboolean mapped_in_memory(const Mapped *mapped);
void mapped_free(Mapped *mapped);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Mapped, mapped_free)

/* Makes bytes [0, size_bytes) usable; new ones are 0. One thread at a time. Errors: LIMIT (limit_bytes), NO_SPACE, IO;
 * what was usable stays so. */
gboolean mapped_grow(Mapped *mapped, gsize size_bytes, GError **error);
/* Where it begins, always the same. */
void *mapped_data(const Mapped *mapped);
/* Its memory goes back to the system; the next use of a page finds it in the system's cache or on the disk. Any
 * thread, also while others read and write. Nothing for one in memory. */
void mapped_rest(Mapped *mapped);
