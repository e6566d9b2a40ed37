#include "analyzer/archive/late.h"

#include "analyzer/archive/idset.h"
#include "common/base/error.h"

static gboolean bad_entry(GError **error) {
    return fail(error, PLUMB_ERROR_CORRUPT, "an entry of late spans is malformed");
}

gboolean late_open(Archive *archive, GError **error) {
    g_autoptr(StoreIter) late = store_iter_new(archive->store, FAMILY_LATE);
    for (gboolean more = store_iter_seek(late, (Bytes){"", 0}); more; more = store_iter_next(late)) {
        LateKey key;
        LateHead head;
        if (!late_key_parse(store_iter_key(late), &key) || !late_head_parse(store_iter_value(late), &head))
            return bad_entry(error);
        archive->late_next = MAX(archive->late_next, key.number + 1);
        archive->late_waiting += head.n_spans;
    }
    return iter_finished(late, error);
}

gboolean late_any(Archive *archive) { return __atomic_load_n(&archive->late_waiting, __ATOMIC_RELAXED) > 0; }

static void put_entry(Archive *archive, StoreBatch *batch, const LateHead *head, Bytes spans) {
    g_autoptr(GByteArray) value = g_byte_array_sized_new((guint)(LATE_HEAD_BYTES + spans.size_bytes));
    late_head_append(head, value);
    g_byte_array_append(value, spans.data, (guint)spans.size_bytes);
    guint64 trace_id = ((const SpanRec *)spans.data)->id.trace;
    LateKey key = {trace_id, __atomic_fetch_add(&archive->late_next, 1, __ATOMIC_RELAXED)};
    LayoutKey stored = late_key(&key);
    store_batch_put(batch, FAMILY_LATE, key_bytes(&stored), (Bytes){value->data, value->len});
}

void late_put(Archive *archive, StoreBatch *batch, const LateHead *like, Bytes spans) {
    const guint8 *from = spans.data, *end = from + spans.size_bytes, *at = from;
    LateHead head = {like->second, 0, like->replayed};
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

gboolean late_spans(guint64 trace_id, Bytes value, GByteArray *spans, GPtrArray *list) {
    LateHead head;
    if (!late_head_parse(value, &head)) return FALSE;
    guint before = spans->len, n = list->len;
    g_byte_array_append(spans, (const guint8 *)value.data + LATE_HEAD_BYTES,
                        (guint)(value.size_bytes - LATE_HEAD_BYTES));
    return spans_point(trace_id, (Bytes){spans->data + before, spans->len - before}, list, NULL) &&
           list->len - n == head.n_spans;
}

static gboolean append_entry(guint64 trace_id, Bytes value, GByteArray *spans) {
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    return late_spans(trace_id, value, spans, list);
}

gboolean late_collect(StoreIter *late, guint64 trace_id, GByteArray *spans, GError **error) {
    LayoutKey from = late_key(&(LateKey){trace_id, 0});
    guint before = spans->len;
    for (gboolean more = store_iter_seek(late, key_bytes(&from)); more; more = store_iter_next(late)) {
        LateKey key;
        gboolean good = late_key_parse(store_iter_key(late), &key);
        if (good && key.trace_id != trace_id) break;
        if (good && append_entry(trace_id, store_iter_value(late), spans)) continue;
        g_byte_array_set_size(spans, before);
        return bad_entry(error);
    }
    return iter_finished(late, error);
}

void late_add_unknown(GByteArray *spans, guint from, const GByteArray *late) {
    SpanTable fresh;
    span_table_init(&fresh, late->len / sizeof(SpanRec));
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
