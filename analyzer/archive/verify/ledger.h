/* Rows as they should be against rows as they are stored, for verify: one ledger per level and kind, walked in the
 * order of the keys, so that only buckets not yet complete are in memory. */
#pragma once

#include "analyzer/archive/internal.h"

typedef struct Ledger Ledger;
typedef struct LedgerOptions {
    StatsLevel level;
    StatsKind kind;
    guint32 below;     /* only buckets below this one have rows */
    StoreIter *stored; /* over FAMILY_STATS; borrowed, nobody else's */
    Ledger *coarser;   /* gets every row that is complete; NULL: none */
    void (*difference)(void *arg, const StatsKey *key, const char *what);
    void *arg;
} LedgerOptions;

Ledger *ledger_new(const LedgerOptions *options);
void ledger_free(Ledger *ledger);
/* A part of a row that should be there. */
void ledger_expect(Ledger *ledger, const StatsKey *key, Bytes value);
/* Nothing more comes for the buckets below 'until': compares and forgets them. G_MAXUINT32: all. *rows counts what was
 * compared. */
gboolean ledger_close(Ledger *ledger, guint32 until, guint64 *rows, GError **error);
