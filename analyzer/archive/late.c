#include "analyzer/archive/late.h"

#include <string.h>
#include <xxhash.h>

#include "analyzer/archive/idset.h"
#include "analyzer/archive/part.h"
#include "common/base/allowance.h"
#include "common/base/error.h"
#include "common/model/fragment.h"

static gboolean bad_entry(GError **error) {
    return fail(error, PLUMB_ERROR_CORRUPT, "an entry of late spans is malformed");
}

void late_open(Archive *archive) {
    StoredTotals sum = {.traces = 0};
    for (guint i = 0; i < archive->slots->len; i++)
        stored_totals_add(&sum, &g_array_index(archive->slots, TotalsSlot, i).totals);
    archive->late_next = sum.late_next;
    archive->late_waiting = (guint64)MAX(sum.late_waiting, 0);
}

gboolean late_any(Archive *archive) { return atomic_load_explicit(&archive->late_waiting, memory_order_relaxed) > 0; }

static guint32 checksum_of(const guint8 *body, gsize size_bytes) { return (guint32)XXH3_64bits(body, size_bytes); }

static void put_entry(Archive *archive, StoreBatch *batch, LateHead *head, Bytes spans) {
    g_autoptr(GByteArray) packed = g_byte_array_new();
    fragment_pack(packed, spans.data, spans.size_bytes, TRUE); /* older versions may read the store */
    const FragmentHead *fragment = (const FragmentHead *)(gconstpointer)packed->data;
    const guint8 *body = fragment_body(fragment);
    head->checksum = checksum_of(body, fragment->size_bytes);
    g_autoptr(GByteArray) value = g_byte_array_sized_new(LATE_HEAD_BYTES + fragment->size_bytes);
    late_head_append(head, value);
    g_byte_array_append(value, body, fragment->size_bytes);
    LateKey key = {fragment->trace, atomic_fetch_add_explicit(&archive->late_next, 1, memory_order_relaxed)};
    LayoutKey stored = late_key(&key);
    store_batch_put(batch, FAMILY_LATE, key_bytes(&stored), (Bytes){value->data, value->len});
}

void late_put(Archive *archive, StoreBatch *batch, const LateHead *like, Bytes spans) {
    const guint8 *from = spans.data, *end = from + spans.size_bytes, *at = from;
    LateHead head = {.second = like->second, .replayed = like->replayed};
    while (at < end) {
        at += ((const SpanRec *)(gconstpointer)at)->size_bytes;
        head.n_spans++;
        gsize next = at < end ? ((const SpanRec *)(gconstpointer)at)->size_bytes : LATE_ENTRY_BYTES;
        if ((gsize)(at - from) + next <= LATE_ENTRY_BYTES && at < end) continue;
        put_entry(archive, batch, &head, (Bytes){from, (gsize)(at - from)});
        from = at;
        head.n_spans = 0;
    }
}

gboolean late_unpack(guint64 trace_id, Bytes value, LateHead *head, GByteArray *spans) {
    if (!late_head_parse(value, head)) return FALSE;
    const guint8 *body = (const guint8 *)value.data + LATE_HEAD_BYTES;
    gsize size_bytes = value.size_bytes - LATE_HEAD_BYTES;
    if (checksum_of(body, size_bytes) != head->checksum) return FALSE;
    g_autofree guint8 *copy = g_malloc0(size_bytes + FRAGMENT_SLACK_BYTES);
    memcpy(copy, body, size_bytes);
    return fragment_unpack(trace_id, copy, size_bytes, spans);
}

gboolean late_spans(guint64 trace_id, Bytes value, GByteArray *spans, GPtrArray *list) {
    LateHead head;
    guint before = spans->len, n = list->len;
    return late_unpack(trace_id, value, &head, spans) &&
           spans_point(trace_id, (Bytes){spans->data + before, spans->len - before}, list, NULL) &&
           list->len - n == head.n_spans;
}

static gboolean append_entry(guint64 trace_id, Bytes value, GByteArray *spans) {
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    return late_spans(trace_id, value, spans, list);
}

/* From the entry at hand on. FALSE: an entry is malformed, or there is no more allowance. */
static gboolean collect_from(StoreIter *late, LateWanted *wanted, GByteArray *spans, GError **error) {
    const guint before = spans->len;
    gsize charged = 0;
    gboolean good = TRUE;

    for (gboolean more = TRUE; more && good; more = good && store_iter_next(late)) {
        LateKey key;
        good = late_key_parse(store_iter_key(late), &key) || bad_entry(error);
        if (!good || key.trace_id != wanted->trace_id) break;
        wanted->from = key.number;
        wanted->more = wanted->most_bytes > 0 && spans->len - before >= wanted->most_bytes;
        if (wanted->more) break;

        good = append_entry(wanted->trace_id, store_iter_value(late), spans) || bad_entry(error);
        allowance_hold(&charged, spans->len - before);
        good = good && allowance_check(error);
    }

    allowance_release(charged);
    if (!good) g_byte_array_set_size(spans, before);
    return good;
}

gboolean late_collect(StoreIter *late, LateWanted *wanted, GByteArray *spans, GError **error) {
    wanted->more = FALSE;
    if (iter_seek_key(late, late_key(&(LateKey){wanted->trace_id, wanted->from})) &&
        !collect_from(late, wanted, spans, error))
        return FALSE;
    return iter_finished(late, error);
}

void late_add_unknown(Archive *archive, GByteArray *spans, guint from, const GByteArray *late) {
    SpanTable fresh;
    span_table_init(&fresh, late->len / sizeof(SpanRec), lookup_texts(&archive->lookup));

    for (guint at = 0; at < late->len;) {
        const SpanRec *span = (const SpanRec *)(gconstpointer)(late->data + at);
        span_table_add(&fresh, span);
        at += span->size_bytes;
    }

    for (guint at = from; at < spans->len;) {
        const SpanRec *span = (const SpanRec *)(gconstpointer)(spans->data + at);
        span_table_remove(&fresh, span->id);
        at += span->size_bytes;
    }

    g_autoptr(GPtrArray) list = g_ptr_array_new();
    span_table_list(&fresh, list);
    for (guint i = 0; i < list->len; i++) {
        const SpanRec *span = g_ptr_array_index(list, i);
        g_byte_array_append(spans, (const guint8 *)span, span->size_bytes);
    }

    span_table_clear(&fresh);
}
