#include "analyzer/archive/ledger.h"

#include <string.h>

struct Ledger {
    LedgerOptions options;
    RowMap *expected;
    gboolean started;
    gboolean more;   /* the iterator stands on a row of this ledger: */
    StatsKey stored; /* its key */
};

Ledger *ledger_new(const LedgerOptions *options) {
    Ledger *ledger = g_new0(Ledger, 1);
    ledger->options = *options;
    ledger->expected = row_map_new();
    return ledger;
}

void ledger_free(Ledger *ledger) {
    if (ledger == NULL) return;
    row_map_free(ledger->expected);
    g_free(ledger);
}

void ledger_expect(Ledger *ledger, const StatsKey *key, StatsRow *row) {
    StatsKey as = *key;
    as.level = ledger->options.level;
    as.bucket = key->bucket / (level_minutes(as.level) / level_minutes(key->level));
    stats_row_merge(row_map_get(ledger->expected, &as), row);
}

static void stored_look(Ledger *ledger, gboolean more) {
    ledger->more = more && stats_key_parse(store_iter_key(ledger->options.stored), &ledger->stored) &&
                   ledger->stored.level == ledger->options.level && ledger->stored.kind == ledger->options.kind;
}

static void stored_start(Ledger *ledger) {
    if (ledger->started) return;
    ledger->started = TRUE;
    StatsKey first = {.level = ledger->options.level, .kind = ledger->options.kind};
    stored_look(ledger, iter_seek_key(ledger->options.stored, stats_key(&first)));
}

static void differs(const Ledger *ledger, const StatsKey *key, const char *what) {
    ledger->options.difference(ledger->options.arg, key, what);
}

/* A row's encoding depends on nothing but its content: equal rows are equal bytes. */
static void rows_compare(const Ledger *ledger, const StatsKey *key, StatsRow *expected) {
    g_autoptr(StatsRow) stored = stats_row_new();
    if (!stats_row_merge_encoded(stored, store_iter_value(ledger->options.stored))) {
        differs(ledger, key, "is malformed");
        return;
    }
    g_autoptr(GByteArray) is = g_byte_array_new();
    g_autoptr(GByteArray) should_be = g_byte_array_new();
    stats_row_encode(stored, is);
    stats_row_encode(expected, should_be);
    if (is->len != should_be->len || memcmp(is->data, should_be->data, is->len) != 0)
        differs(ledger, key, "does not agree with the stored spans");
}

static gboolean below(const StatsKey *key, guint32 until) { return until == G_MAXUINT32 || key->bucket < until; }

gboolean ledger_close(Ledger *ledger, guint32 until, guint64 *rows, GError **error) {
    stored_start(ledger);
    StatsKey first = {.level = ledger->options.level, .kind = ledger->options.kind};
    for (;;) {
        StatsKey key;
        StatsRow *row = NULL;
        gboolean expected = row_map_seek(ledger->expected, &first, &key, &row) && below(&key, until);
        gboolean stored = ledger->more && below(&ledger->stored, until);
        if (!expected && !stored) break;
        int order = !expected ? 1 : !stored ? -1 : stats_key_compare(&key, &ledger->stored);
        if (order < 0) differs(ledger, &key, "is missing");
        if (order == 0) rows_compare(ledger, &key, row);
        if (order > 0) differs(ledger, &ledger->stored, "has no spans behind it");
        ++*rows;
        if (order >= 0) stored_look(ledger, store_iter_next(ledger->options.stored));
        if (order <= 0) {
            if (ledger->options.coarser != NULL) ledger_expect(ledger->options.coarser, &key, row);
            row_map_remove(ledger->expected, &key);
        }
    }
    return ledger->more || iter_finished(ledger->options.stored, error);
}
