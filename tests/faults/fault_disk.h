/* What a power cut leaves of a folder: only what was synced.
 *
 * Beside the folder, which programs go on to see as it is, a copy takes over what a sync that succeeds makes safe: of a
 * file the bytes that were written since its last sync, of a folder the names in it. What was written when a sync
 * fails is never taken over, however many later ones succeed: a kernel tells of an error once, and calls the lost pages
 * clean.
 *
 *   COPY/files/<inode>.<how many files had that number before>    what is safe of a file
 *   COPY/names/<path of a folder below FOLDER, '%' for '/'>        lines: <name of its file below files> <name>
 *
 * Names of folders are taken to be safe. Any thread. */
#pragma once

#include <glib.h>
#include <sys/types.h>

void fault_disk_begin(const char *folder, const char *copy);
gboolean fault_disk_runs(void);

/* After the calls; 'made': the file was not there before. */
void fault_disk_opened(int fd, gboolean made);
void fault_disk_written(int fd, off_t offset, gsize size_bytes);
void fault_disk_synced(int fd);
void fault_disk_lost(int fd); /* a sync failed */
