/* Rows as they should be against rows as they are stored, for verify: one check per level and kind, walked in the
 * order of the keys, so that only buckets not yet complete are in memory. */
#pragma once

#include "analyzer/archive/archive_inside.h"

typedef struct RowCheck RowCheck;
typedef struct RowCheckOptions {
    StatsLevel level;
    StatsKind kind;
    guint32 below;     /* only buckets below this one have rows */
    StoreIter *stored; /* over FAMILY_STATS; borrowed, nobody else's */
    RowCheck *coarser; /* gets every row that is complete; NULL: none */
    void (*difference)(void *arg, const StatsKey *key, const char *what);
    void *arg;
} RowCheckOptions;

RowCheck *row_check_new(const RowCheckOptions *options);
void row_check_free(RowCheck *check);
/* A part of a row that should be there. */
void row_check_expect(RowCheck *check, const StatsKey *key, Bytes value);
/* Nothing more comes for the buckets below 'until': compares and forgets them. G_MAXUINT32: all. *rows counts what was
 * compared. */
gboolean row_check_close(RowCheck *check, guint32 until, guint64 *rows, GError **error);
