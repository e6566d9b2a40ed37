#include "analyzer/archive/retention/removed_counts.h"

#include <string.h>

#include "analyzer/archive/archive.h"
#include "common/base/error.h"

#define KEY_BYTES (sizeof REMOVED_COUNTS_PREFIX - 1 + 4)

struct RemovedSet {
    GHashTable *minutes; /* minute -> RemovedMinute */
};

static void minute_free(void *data) {
    RemovedMinute *minute = data;
    g_array_unref(minute->patterns);
    g_free(minute);
}

RemovedSet *removed_set_new(void) {
    RemovedSet *set = g_new0(RemovedSet, 1);
    set->minutes = g_hash_table_new_full(NULL, NULL, NULL, minute_free);
    return set;
}

void removed_set_free(RemovedSet *set) {
    if (set == NULL) return;
    g_hash_table_unref(set->minutes);
    g_free(set);
}

static RemovedMinute *minute_get(RemovedSet *set, guint32 number) {
    RemovedMinute *minute = g_hash_table_lookup(set->minutes, GUINT_TO_POINTER(number));
    if (minute != NULL) return minute;
    minute = g_new0(RemovedMinute, 1);
    minute->patterns = g_array_new(FALSE, FALSE, sizeof(RemovedPattern));
    g_hash_table_insert(set->minutes, GUINT_TO_POINTER(number), minute);
    return minute;
}

/* Position of a pattern, or where it would be. */
static guint pattern_position(const RemovedMinute *minute, guint32 pattern) {
    guint from = 0, until = minute->patterns->len;
    while (from < until) {
        guint middle = from + (until - from) / 2;
        if (g_array_index(minute->patterns, RemovedPattern, middle).pattern < pattern)
            from = middle + 1;
        else
            until = middle;
    }
    return from;
}

static void pattern_add(RemovedMinute *minute, const RemovedPattern *add) {
    guint at = pattern_position(minute, add->pattern);
    RemovedPattern *found = at < minute->patterns->len ? &g_array_index(minute->patterns, RemovedPattern, at) : NULL;
    if (found == NULL || found->pattern != add->pattern) {
        g_array_insert_vals(minute->patterns, at, add, 1);
        return;
    }
    found->traces += add->traces;
    found->spans += add->spans;
}

void removed_set_add_trace(RemovedSet *set, guint32 minute, guint32 pattern, guint64 spans) {
    pattern_add(minute_get(set, minute), &(RemovedPattern){pattern, 1, spans});
}

void removed_set_add_call(RemovedSet *set, guint32 minute) { minute_get(set, minute)->calls++; }

const RemovedMinute *removed_set_find(const RemovedSet *set, guint32 minute) {
    return g_hash_table_lookup(set->minutes, GUINT_TO_POINTER(minute));
}

guint removed_set_size(const RemovedSet *set) { return g_hash_table_size(set->minutes); }

void removed_set_foreach(const RemovedSet *set, RemovedVisit visit, void *arg) {
    GHashTableIter iter;
    gpointer number, minute;
    g_hash_table_iter_init(&iter, set->minutes);
    while (g_hash_table_iter_next(&iter, &number, &minute)) visit(arg, GPOINTER_TO_UINT(number), minute);
}

/* ---- stored ---- */

static LayoutKey removed_key(guint32 minute) {
    LayoutKey key = {.size_bytes = KEY_BYTES};
    memcpy(key.bytes, REMOVED_COUNTS_PREFIX, sizeof REMOVED_COUNTS_PREFIX - 1);
    for (guint i = 0; i < 4; i++) key.bytes[sizeof REMOVED_COUNTS_PREFIX - 1 + i] = (guint8)(minute >> (24 - 8 * i));
    return key;
}

static void minute_encode(const RemovedMinute *minute, GByteArray *out) {
    append_varint(out, minute->calls);
    guint32 before = 0;
    for (guint i = 0; i < minute->patterns->len; i++) {
        const RemovedPattern *pattern = &g_array_index(minute->patterns, RemovedPattern, i);
        append_varint(out, pattern->pattern - before);
        append_varint(out, pattern->traces);
        append_varint(out, pattern->spans);
        before = pattern->pattern;
    }
}

static gboolean minute_add_encoded(RemovedMinute *minute, Bytes value, GError **error) {
    ByteReader r = byte_reader(value.data, value.size_bytes);
    minute->calls += read_varint(&r);
    guint32 number = 0;
    while (!r.failed && reader_left(&r) > 0) {
        number += (guint32)read_varint(&r);
        RemovedPattern pattern = {.pattern = number, .traces = read_varint(&r), .spans = read_varint(&r)};
        if (!r.failed) pattern_add(minute, &pattern);
    }
    return !r.failed || fail(error, PLUMB_ERROR_CORRUPT, "the stored count of removed traces is malformed");
}

/* Of which minutes [from, until) what is stored is handed to whom. */
typedef struct Minutes {
    guint32 from, until;
    gboolean (*take)(void *arg, guint32 minute, Bytes value, GError **error);
    void *arg;
} Minutes;

static gboolean each_minute(StoreIter *meta, const Minutes *minutes, GError **error) {
    LayoutKey first = removed_key(minutes->from);
    for (gboolean more = store_iter_seek(meta, key_bytes(&first)); more; more = store_iter_next(meta)) {
        Bytes key = store_iter_key(meta);
        if (key.size_bytes != KEY_BYTES || memcmp(key.data, first.bytes, sizeof REMOVED_COUNTS_PREFIX - 1) != 0) break;
        ByteReader r = byte_reader((const guint8 *)key.data + sizeof REMOVED_COUNTS_PREFIX - 1, 4);
        guint32 number = read_u32be(&r);
        if (number >= minutes->until) break;
        if (!minutes->take(minutes->arg, number, store_iter_value(meta), error)) return FALSE;
    }
    g_autoptr(GError) local = NULL;
    if (store_iter_error(meta, &local)) return TRUE;
    g_propagate_error(error, g_steal_pointer(&local));
    return FALSE;
}

static gboolean add_minute(void *arg, guint32 minute, Bytes value, GError **error) {
    return minute_add_encoded(minute_get(arg, minute), value, error);
}

gboolean removed_set_load(RemovedSet *set, StoreIter *meta, guint32 from, guint32 until, GError **error) {
    return each_minute(meta, &(Minutes){from, until, add_minute, set}, error);
}

/* A month of all patterns would not fit in memory. */
static gboolean visit_minute(void *arg, guint32 number, Bytes value, GError **error) {
    const RemovedPeriod *period = arg;
    RemovedMinute minute = {.patterns = g_array_new(FALSE, FALSE, sizeof(RemovedPattern))};
    gboolean ok = minute_add_encoded(&minute, value, error);
    if (ok) period->visit(period->arg, number, &minute);
    g_array_unref(minute.patterns);
    return ok;
}

gboolean archive_removed(Archive *archive, const RemovedPeriod *period, GError **error) {
    if (period->until_ns <= period->since_ns || period->until_ns <= 0) return TRUE;
    g_autoptr(StoreIter) meta = store_iter_new(archive_store(archive), FAMILY_META);
    RemovedPeriod visiting = *period;
    const Minutes minutes = {stats_bucket(LEVEL_MINUTE, period->since_ns),
                             stats_bucket(LEVEL_MINUTE, period->until_ns - 1) + 1, visit_minute, &visiting};
    return each_minute(meta, &minutes, error);
}

static gboolean minute_put(const RemovedMinute *add, guint32 number, Store *store, StoreBatch *batch, GError **error) {
    LayoutKey key = removed_key(number);
    g_autoptr(GBytes) stored = NULL;
    if (!store_get(store, FAMILY_META, key_bytes(&key), &stored, error)) return FALSE;
    g_autoptr(RemovedSet) sum = removed_set_new();
    RemovedMinute *minute = minute_get(sum, number);
    minute->calls = add->calls;
    g_array_append_vals(minute->patterns, add->patterns->data, add->patterns->len);
    if (stored != NULL) {
        Bytes value = {.data = NULL};
        value.data = g_bytes_get_data(stored, &value.size_bytes);
        if (!minute_add_encoded(minute, value, error)) return FALSE;
    }
    g_autoptr(GByteArray) value = g_byte_array_new();
    minute_encode(minute, value);
    store_batch_put(batch, FAMILY_META, key_bytes(&key), (Bytes){value->data, value->len});
    return TRUE;
}

gboolean removed_set_put(const RemovedSet *set, Store *store, StoreBatch *batch, GError **error) {
    GHashTableIter iter;
    gpointer number, minute;
    g_hash_table_iter_init(&iter, set->minutes);
    while (g_hash_table_iter_next(&iter, &number, &minute))
        if (!minute_put(minute, GPOINTER_TO_UINT(number), store, batch, error)) return FALSE;
    return TRUE;
}

void removed_delete(guint32 until, StoreBatch *batch) {
    LayoutKey first = removed_key(0), end = removed_key(until);
    store_batch_delete_range(batch, FAMILY_META, key_bytes(&first), key_bytes(&end));
}
