#include "analyzer/archive/verify/ledger.h"

#include <string.h>

struct Ledger {
    LedgerOptions options;
    GTree *expected; /* StatsKey -> GByteArray: values */
    gboolean started;
    gboolean more;   /* the iterator stands on a row of this ledger: */
    StatsKey stored; /* its key */
};

static int compare_keys(gconstpointer a, gconstpointer b, gpointer unused) {
    (void)unused;
    return stats_key_compare(a, b);
}

Ledger *ledger_new(const LedgerOptions *options) {
    Ledger *ledger = g_new0(Ledger, 1);
    ledger->options = *options;
    ledger->expected = g_tree_new_full(compare_keys, NULL, g_free, (GDestroyNotify)g_byte_array_unref);
    return ledger;
}

void ledger_free(Ledger *ledger) {
    if (ledger == NULL) return;
    g_tree_unref(ledger->expected);
    g_free(ledger);
}

static gboolean below(const StatsKey *key, guint32 until) { return until == G_MAXUINT32 || key->bucket < until; }

void ledger_expect(Ledger *ledger, const StatsKey *key, Bytes value) {
    StatsKey *as = g_new(StatsKey, 1);
    *as = *key;
    as->level = ledger->options.level;
    as->bucket = key->bucket / (level_minutes(as->level) / level_minutes(key->level));
    if (!below(as, ledger->options.below)) {
        g_free(as);
        return;
    }
    const GByteArray *before = g_tree_lookup(ledger->expected, as);
    GByteArray *sum = g_byte_array_new();
    const Bytes values[2] = {value, before != NULL ? (Bytes){before->data, before->len} : value};
    if (!stats_value_merge(values, before != NULL ? 2 : 1, sum)) g_byte_array_set_size(sum, 0); /* equals nothing */
    g_tree_replace(ledger->expected, as, sum);
}

/* The first of what is expected. */
static GByteArray *first_expected(const Ledger *ledger, StatsKey *key) {
    GTreeNode *node = g_tree_node_first(ledger->expected);
    if (node == NULL) return NULL;
    *key = *(const StatsKey *)g_tree_node_key(node);
    return g_tree_node_value(node);
}

static void stored_look(Ledger *ledger, gboolean more) {
    ledger->more = more && stats_key_parse(store_iter_key(ledger->options.stored), &ledger->stored) &&
                   ledger->stored.level == ledger->options.level && ledger->stored.kind == ledger->options.kind &&
                   below(&ledger->stored, ledger->options.below);
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

/* A value depends on nothing but what was counted: equal rows are equal bytes. */
static void rows_compare(const Ledger *ledger, const StatsKey *key, const GByteArray *expected) {
    Bytes stored = store_iter_value(ledger->options.stored);
    g_autoptr(GByteArray) is = g_byte_array_new();
    if (!stats_value_merge(&stored, 1, is))
        differs(ledger, key, "malformed");
    else if (stored.size_bytes != expected->len || memcmp(stored.data, expected->data, expected->len) != 0)
        differs(ledger, key, "does not agree with the stored spans");
}

gboolean ledger_close(Ledger *ledger, guint32 until, guint64 *rows, GError **error) {
    stored_start(ledger);
    for (;;) {
        StatsKey key;
        GByteArray *value = first_expected(ledger, &key);
        gboolean expected = value != NULL && below(&key, until);
        gboolean stored = ledger->more && below(&ledger->stored, until);
        if (!expected && !stored) break;
        int order = !expected ? 1 : !stored ? -1 : stats_key_compare(&key, &ledger->stored);
        if (order < 0) differs(ledger, &key, "missing");
        if (order == 0) rows_compare(ledger, &key, value);
        if (order > 0 && !stats_value_empty(store_iter_value(ledger->options.stored)))
            differs(ledger, &ledger->stored, "no spans behind it");
        ++*rows;
        if (order >= 0) stored_look(ledger, store_iter_next(ledger->options.stored));
        if (order > 0) continue;
        if (ledger->options.coarser != NULL)
            ledger_expect(ledger->options.coarser, &key, (Bytes){value->data, value->len});
        g_tree_remove(ledger->expected, &key);
    }
    return ledger->more || iter_finished(ledger->options.stored, error);
}
