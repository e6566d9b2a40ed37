/* How far each log was read and acknowledged: what a restart goes on from. Kept in one JSON file that is replaced
 * atomically; a second program that uses the same file is refused. */
#pragma once

#include "common/base/error.h"
#include "spark-bridge/storage/line_reader.h"

typedef struct LogPosition {
    char *app;      /* the application's key; NULL: not named yet, so reading begins anew */
    guint64 number; /* of the file of a rolling log */
    gboolean compact;
    guint64 id; /* of the file */
    ReadPosition at;
    guint64 size_bytes; /* of the file when its end was reached last; 0: it was not */
    gboolean ended;     /* the application's end was read */
} LogPosition;

typedef struct Positions Positions;

/* path NULL: nothing is kept. A file that is not there yet is made. Errors: BUSY, CORRUPT (with what to do), VERSION,
 * IO. */
Positions *positions_open(const char *path, GError **error);
/* Does not save. */
void positions_close(Positions *positions);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Positions, positions_close)

/* Borrowed; NULL: the log was not read yet. */
const LogPosition *positions_get(const Positions *positions, const char *log);
void positions_set(Positions *positions, const char *log, const LogPosition *position);
/* Forgets the logs of that folder that are not in 'present' (a set of their paths). */
void positions_forget(Positions *positions, const char *folder, GHashTable *present);
/* Writes what changed since the last time, if anything did. After an error the old file is as it was. */
gboolean positions_save(Positions *positions, GError **error);
