/* submitPlain: self-contained spans of simple clients. */
#include "common/base/limits.h"
#include "common/wire/codec.h"

enum { LEAST_SPAN_BYTES = 1, LEAST_ID_BYTES = 1, LEAST_NOTE_BYTES = 5 };

static BatchSpan *current(SpanBatch *batch) { return &g_array_index(batch->spans, BatchSpan, batch->spans->len - 1); }

static BatchString copy(SpanBatch *batch, BatchString text) { return batch_copy(batch, text.data, text.length); }

static guint32 read_name(ThriftReader *r, SpanBatch *batch) {
    BatchString name = {"", 0};
    thrift_text(r, LIMIT_NAME_BYTES, &name);
    if (batch->strings->len >= LIMIT_BATCH_STRINGS)
        thrift_fault(r, PLUMB_ERROR_LIMIT, "too many different names in one batch");
    return batch_intern(batch, name.data, name.length);
}

/* FALSE when the text is no id; the bytes are read all the same. */
static gboolean read_id(ThriftReader *r, SpanId *id) {
    const char *data = NULL;
    guint32 length = 0;
    return thrift_string(r, &data, &length) && span_id_parse(data, length, id);
}

static gboolean entries_left(ThriftReader *r, const GArray *array, guint32 n, guint32 limit) {
    if (n > limit || n > LIMIT_BATCH_ENTRIES - array->len)
        return thrift_fault(r, PLUMB_ERROR_LIMIT, "too many entries of one span or batch");
    return TRUE;
}

static gboolean read_parents(ThriftReader *r, SpanBatch *batch) {
    guint32 n;
    gboolean valid = TRUE;
    if (!thrift_list_of(r, TYPE_STRING, LEAST_ID_BYTES, LIMIT_SPAN_PARENTS, &n)) return FALSE;
    if (!entries_left(r, batch->parents, n + current(batch)->n_parents, LIMIT_SPAN_PARENTS)) return FALSE;
    for (guint32 i = 0; i < n && r->fault == NULL; i++) {
        SpanId parent = {0, 0};
        valid = read_id(r, &parent) && valid;
        batch_add_parent(batch, parent);
    }
    return valid;
}

static void read_annotations(ThriftReader *r, SpanBatch *batch) {
    guint8 types[2];
    guint32 n;
    if (!thrift_map(r, types, &n)) return;
    if (n > 0 && (types[0] != TYPE_STRING || types[1] != TYPE_STRING)) {
        thrift_fault(r, PLUMB_ERROR_INPUT, "a map of other types than expected");
        return;
    }
    if (!entries_left(r, batch->annotations, n + current(batch)->n_annotations, LIMIT_SPAN_ANNOTATIONS)) return;
    for (guint32 i = 0; i < n && r->fault == NULL; i++) {
        const guint32 key = read_name(r, batch);
        BatchString value = {"", 0};
        thrift_text(r, LIMIT_VALUE_BYTES, &value);
        batch_add_annotation(batch, key, copy(batch, value));
    }
}

static void read_notes(ThriftReader *r, SpanBatch *batch) {
    guint32 n;
    if (!thrift_list_of(r, TYPE_STRUCT, LEAST_NOTE_BYTES, LIMIT_SPAN_ANNOTATIONS, &n)) return;
    if (!entries_left(r, batch->notes, n + current(batch)->n_notes, LIMIT_SPAN_ANNOTATIONS)) return;
    for (guint32 i = 0; i < n && r->fault == NULL; i++) {
        BatchNote note = {0, {"", 0}};
        thrift_note(r, &note);
        batch_add_note(batch, note.time_ns, copy(batch, note.message));
    }
}

#define SPAN_REQUIRED (SEEN(1) | SEEN(3) | SEEN(4) | SEEN(5) | SEEN(6))

static void read_span(ThriftReader *r, SpanBatch *batch) {
    SpanId id = {0, 0};
    guint32 seen = 0;
    gboolean valid = TRUE;
    batch_begin_span(batch, id);
    current(batch)->name = current(batch)->tracer = batch_intern(batch, "", 0);

    for (ThriftField field = {0}; thrift_next_field(r, &field);) {
        switch (field_key(&field)) {
        case FIELD_KEY(1, TYPE_STRING): valid = read_id(r, &id) && valid; break;
        case FIELD_KEY(2, TYPE_LIST): valid = read_parents(r, batch) && valid; break;
        case FIELD_KEY(3, TYPE_I64): current(batch)->begin_ns = thrift_i64(r); break;
        case FIELD_KEY(4, TYPE_I64): current(batch)->duration_ns = thrift_i64(r); break;
        case FIELD_KEY(5, TYPE_STRING): current(batch)->name = read_name(r, batch); break;
        case FIELD_KEY(6, TYPE_STRING): current(batch)->tracer = read_name(r, batch); break;
        case FIELD_KEY(7, TYPE_MAP): read_annotations(r, batch); break;
        case FIELD_KEY(8, TYPE_LIST): read_notes(r, batch); break;
        case FIELD_KEY(9, TYPE_I32): current(batch)->flags = (guint32)thrift_i32(r) & WIRE_SPAN_FLAGS; break;
        default: thrift_skip(r, field.type, TRUE); continue;
        }
        seen |= SEEN(field.id);
    }

    if (valid && (seen & SPAN_REQUIRED) == SPAN_REQUIRED) current(batch)->id = id;
}

gboolean wire_plain_decode(const WireHeader *header, SpanBatch *batch, GError **error) {
    ThriftReader r = thrift_reader(header->body, header->protocol);
    guint32 seen = 0, n;
    batch_clear(batch);
    for (ThriftField field = {0}; thrift_next_field(&r, &field);) {
        if (field_key(&field) != FIELD_KEY(1, TYPE_LIST)) {
            thrift_skip(&r, field.type, TRUE);
            continue;
        }
        if ((seen & SEEN(1)) != 0) thrift_fault(&r, PLUMB_ERROR_INPUT, "a list comes twice");
        seen |= SEEN(1);
        if (!thrift_list_of(&r, TYPE_STRUCT, LEAST_SPAN_BYTES, LIMIT_BATCH_SPANS, &n)) break;
        for (guint32 i = 0; i < n && r.fault == NULL; i++) read_span(&r, batch);
    }
    thrift_require(&r, seen, SEEN(1));
    if (r.fault == NULL && r.at != r.end) thrift_fault(&r, PLUMB_ERROR_INPUT, "bytes are left over");
    if (thrift_ok(&r, error)) return TRUE;
    batch_clear(batch);
    return FALSE;
}
