/* The file of a segment, read as far as it can be read.
 *
 * A view of the whole file, whose bytes come from the disk as they are asked for, and leave memory when later ones are:
 * a journal may be larger than memory. It is read, never mapped: a page of a mapped file that the disk does not give
 * ends the process (SIGBUS). What cannot be read is zeros in the view, which no check of journal_format.h takes for
 * anything else than damage. */
#pragma once

#include "receiver/journal/journal_format.h"

typedef struct JournalFile JournalFile;

/* Errors: IO; nothing of it can be read. */
JournalFile *journal_file_open(const char *path, GError **error);
void journal_file_close(JournalFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(JournalFile, journal_file_close)

/* The view. Only what a JournalReader has asked for by this source is there. */
Bytes journal_file_bytes(const JournalFile *file);
JournalSource journal_file_source(JournalFile *file);
/* Of what was asked for so far; *why is the last error. */
gsize journal_file_unreadable_bytes(const JournalFile *file, int *why);
