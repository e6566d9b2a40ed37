#include "analyzer/archive/verify/row_check.h"

#include <string.h>

#include "common/base/allowance.h"

struct RowCheck {
    RowCheckOptions options;
    GTree *expected; /* StatsKey -> GByteArray: values */
    gboolean started;
    gboolean more;   /* the iterator stands on a row of this check: */
    StatsKey stored; /* its key */
};

static int compare_keys(gconstpointer a, gconstpointer b, gpointer unused) {
    (void)unused;
    return stats_key_compare(a, b);
}

RowCheck *row_check_new(const RowCheckOptions *options) {
    RowCheck *check = g_new0(RowCheck, 1);
    check->options = *options;
    check->expected = g_tree_new_full(compare_keys, NULL, g_free, (GDestroyNotify)g_byte_array_unref);
    return check;
}

void row_check_free(RowCheck *check) {
    if (check == NULL) return;
    g_tree_unref(check->expected);
    g_free(check);
}

static gboolean below(const StatsKey *key, guint32 until) { return until == G_MAXUINT32 || key->bucket < until; }

void row_check_expect(RowCheck *check, const StatsKey *key, Bytes value) {
    StatsKey *as = g_new(StatsKey, 1);
    *as = *key;
    as->level = check->options.level;
    as->bucket = key->bucket / (level_minutes(as->level) / level_minutes(key->level));
    if (!below(as, check->options.below)) {
        g_free(as);
        return;
    }
    const GByteArray *before = g_tree_lookup(check->expected, as);
    GByteArray *sum = g_byte_array_new();
    const Bytes values[2] = {value, before != NULL ? (Bytes){before->data, before->len} : value};
    if (!stats_value_merge(values, before != NULL ? 2 : 1, sum)) g_byte_array_set_size(sum, 0); /* equals nothing */
    g_tree_replace(check->expected, as, sum);
}

/* The first of what is expected. */
static GByteArray *first_expected(const RowCheck *check, StatsKey *key) {
    GTreeNode *node = g_tree_node_first(check->expected);
    if (node == NULL) return NULL;
    *key = *(const StatsKey *)g_tree_node_key(node);
    return g_tree_node_value(node);
}

static void stored_look(RowCheck *check, gboolean more) {
    check->more = more && stats_key_parse(store_iter_key(check->options.stored), &check->stored) &&
                  check->stored.level == check->options.level && check->stored.kind == check->options.kind &&
                  below(&check->stored, check->options.below);
}

static void stored_start(RowCheck *check) {
    if (check->started) return;
    check->started = TRUE;
    StatsKey first = {.level = check->options.level, .kind = check->options.kind};
    stored_look(check, iter_seek_key(check->options.stored, stats_key(&first)));
}

static void differs(const RowCheck *check, const StatsKey *key, const char *what) {
    check->options.difference(check->options.arg, key, what);
}

/* A value depends on nothing but what was counted: equal rows are equal bytes. */
static void rows_compare(const RowCheck *check, const StatsKey *key, const GByteArray *expected) {
    Bytes stored = store_iter_value(check->options.stored);
    g_autoptr(GByteArray) is = g_byte_array_new();
    if (!stats_value_merge(&stored, 1, is))
        differs(check, key, "malformed");
    else if (stored.size_bytes != expected->len || memcmp(stored.data, expected->data, expected->len) != 0)
        differs(check, key, "does not agree with the stored spans");
}

gboolean row_check_close(RowCheck *check, guint32 until, guint64 *rows, GError **error) {
    stored_start(check);
    for (;;) {
        StatsKey key;
        GByteArray *value = first_expected(check, &key);
        gboolean expected = value != NULL && below(&key, until);
        gboolean stored = check->more && below(&check->stored, until);
        if (!expected && !stored) break;
        if (!allowance_check(error)) return FALSE;

        int order = !expected ? 1 : !stored ? -1 : stats_key_compare(&key, &check->stored);
        if (order < 0) differs(check, &key, "missing");
        if (order == 0) rows_compare(check, &key, value);
        if (order > 0 && !stats_value_empty(store_iter_value(check->options.stored)))
            differs(check, &check->stored, "no spans behind it");

        ++*rows;
        if (order >= 0) stored_look(check, store_iter_next(check->options.stored));
        if (order > 0) continue;
        if (check->options.coarser != NULL)
            row_check_expect(check->options.coarser, &key, (Bytes){value->data, value->len});
        g_tree_remove(check->expected, &key);
    }
    return check->more || iter_finished(check->options.stored, error);
}
