/* A layer between a program and its files that makes chosen calls fail. Linked into a test, or preloaded into a program
 * (LD_PRELOAD), in which case it is told by the environment:
 *
 *   PLUMB_FAULT_FOLDER  only files below it
 *   PLUMB_FAULT_KIND    no-space | io-error | short-write | failed-sync | dying-disk | no-rights | failed-read |
 *                       hanging-sync | bad-sector (AT: of each file the first that pread() does not give, of
 *                       FAULT_SECTOR_BYTES, from 1; LASTS: how many there are)
 *   PLUMB_FAULT_INODE   bad-sector: only of the file with this number; a copy of it lies elsewhere on the disk
 *   PLUMB_FAULT_AT      the number of the call that fails, from 1; 0: none, calls are only counted
 *   PLUMB_FAULT_LASTS   how many calls fail from there on; 0: all
 *   PLUMB_FAULT_MS      instead: for how long, from the first that fails; 0: see above
 *   PLUMB_FAULT_SYNC_MS how long each sync takes, as on a disk
 *   PLUMB_FAULT_DISK    a folder that is made to hold what a power cut would leave (fault_disk.h)
 *   PLUMB_FAULT_COUNT   a file, which at the end of the process says how many calls there were
 *
 * Counted are the calls of the kind's sort on files of the folder. A short write writes half of what was asked for, or
 * fails with ENOSPC where that is nothing. */
#pragma once

#include <glib.h>

#define FAULT_SECTOR_BYTES 4096

typedef enum {
    FAULT_NO_SPACE,     /* writing, making files and folders longer or new: ENOSPC */
    FAULT_IO_ERROR,     /* the same calls, renaming and removing too: EIO */
    FAULT_SHORT_WRITE,  /* writing */
    FAULT_FAILED_SYNC,  /* fsync, fdatasync: EIO */
    FAULT_DYING_DISK,   /* writing and syncing in every way: EIO */
    FAULT_NO_RIGHTS,    /* making, renaming and removing files and folders: EACCES */
    FAULT_FAILED_READ,  /* reading: EIO */
    FAULT_HANGING_SYNC, /* fsync, fdatasync: never return */
    FAULT_BAD_SECTOR,   /* reading certain places: EIO */
    FAULT_KINDS
} FaultKind;

const char *fault_kind_name(FaultKind kind);
/* Any thread; begins to count anew. lasts 0: from the call on all fail. */
void faults_set(const char *folder, FaultKind kind, guint at, guint lasts);
/* No more faults; returns how many calls were counted. */
guint faults_clear(void);
