#include "common/wire/reference/reference.h"

#include <string.h>

#include "common/wire/codec.h"
#include "common/wire/reference/glib_transport.h"
#include "common/wire/reference/pack_reference.h"
#include "plumb_plumb_types.h"

static gpointer repair_classes(gpointer unused) {
    (void)unused;
    const GType types[] = {PLUMB_TYPE_BATCH, PLUMB_TYPE_SPAN,   PLUMB_TYPE_SPAN_ID, PLUMB_TYPE_ANNOTATION,
                           PLUMB_TYPE_NOTE,  PLUMB_TYPE_SENDER, PLUMB_TYPE_DROP};
    for (gsize i = 0; i < G_N_ELEMENTS(types); i++) glib_repair_class(types[i]);
    return NULL;
}

static gboolean missing(GError **error, const char *what) {
    return fail(error, PLUMB_ERROR_INPUT, "Thrift message: %s is missing", what);
}

/* Appended, not interned: the table may hold a string twice. */
static gboolean take_strings(const GPtrArray *strings, SpanBatch *batch, GError **error) {
    for (guint i = 0; i < strings->len; i++) {
        const char *text = g_ptr_array_index(strings, i);
        const BatchString string = batch_copy(batch, text, strlen(text));
        if (!batch_text_valid(text, strlen(text))) return fail(error, PLUMB_ERROR_INPUT, "text is not UTF-8");
        g_array_append_val(batch->strings, string);
    }
    return TRUE;
}

static gboolean take_text(const char *text, SpanBatch *batch, BatchString *out, GError **error) {
    if (text == NULL) text = ""; /* c_glib's way to say "empty" */
    if (!batch_text_valid(text, strlen(text))) return fail(error, PLUMB_ERROR_INPUT, "text is not UTF-8");
    *out = batch_copy(batch, text, strlen(text));
    return TRUE;
}

static gboolean check_index(const SpanBatch *batch, gint32 index, GError **error) {
    if (index >= 0 && (guint)index < batch->strings->len) return TRUE;
    return fail(error, PLUMB_ERROR_INPUT, "an index points outside the table of strings");
}

static gboolean take_parents(const PlumbSpan *from, SpanBatch *batch, GError **error) {
    if (from->__isset_firstParent) batch_add_parent(batch, (SpanId){(guint64)from->trace, (guint64)from->firstParent});
    for (guint i = 0; from->__isset_parents && i < from->parents->len; i++) {
        const PlumbSpanId *parent = g_ptr_array_index(from->parents, i);
        if (!parent->__isset_trace || !parent->__isset_span) return missing(error, "a parent's id");
        batch_add_parent(batch, (SpanId){(guint64)parent->trace, (guint64)parent->span});
    }
    return TRUE;
}

static gboolean take_annotations(const PlumbSpan *from, SpanBatch *batch, GError **error) {
    for (guint i = 0; from->__isset_annotations && i < from->annotations->len; i++) {
        const PlumbAnnotation *annotation = g_ptr_array_index(from->annotations, i);
        BatchString value;
        if (!annotation->__isset_key || !annotation->__isset_value) return missing(error, "an annotation's part");
        if (!check_index(batch, annotation->key, error)) return FALSE;
        if (!take_text(annotation->value, batch, &value, error)) return FALSE;
        batch_add_annotation(batch, (guint32)annotation->key, value);
    }
    return TRUE;
}

static gboolean take_notes(const PlumbSpan *from, SpanBatch *batch, GError **error) {
    for (guint i = 0; from->__isset_notes && i < from->notes->len; i++) {
        const PlumbNote *note = g_ptr_array_index(from->notes, i);
        BatchString message;
        if (!note->__isset_timeNs || !note->__isset_message) return missing(error, "a note's part");
        if (!take_text(note->message, batch, &message, error)) return FALSE;
        batch_add_note(batch, note->timeNs, message);
    }
    return TRUE;
}

static gboolean take_span(const PlumbSpan *from, SpanBatch *batch, GError **error) {
    const gboolean whole = from->__isset_trace && from->__isset_span && from->__isset_beginNs &&
                           from->__isset_durationNs && from->__isset_name && from->__isset_tracer;
    SpanId id = {0, 0};
    if (whole) id = (SpanId){(guint64)from->trace, (guint64)from->span};
    if (!check_index(batch, from->name, error) || !check_index(batch, from->tracer, error)) return FALSE;
    BatchSpan *span = batch_begin_span(batch, id);
    span->begin_ns = from->beginNs;
    span->duration_ns = from->durationNs;
    span->name = (guint32)from->name;
    span->tracer = (guint32)from->tracer;
    if (from->__isset_flags) span->flags = (guint32)from->flags & WIRE_SPAN_FLAGS;
    return take_parents(from, batch, error) && take_annotations(from, batch, error) && take_notes(from, batch, error);
}

static gboolean take_sender(const PlumbSender *from, SpanBatch *batch, GError **error) {
    BatchSender *sender = &batch->sender;
    if (!from->__isset_id) return missing(error, "the sender's id");
    if (!take_text(from->id, batch, &sender->sender, error)) return FALSE;
    sender->sequence = from->sequence;
    sender->spans_sent = from->spansSent;
    sender->spans_queued = from->spansQueued;
    for (guint i = 0; from->__isset_drops && i < from->drops->len; i++) {
        const PlumbDrop *drop = g_ptr_array_index(from->drops, i);
        BatchDrop taken = {.spans = drop->spans};
        if (!drop->__isset_reason || !drop->__isset_spans) return missing(error, "a drop's part");
        if (!take_text(drop->reason, batch, &taken.reason, error)) return FALSE;
        g_array_append_val(sender->drops, taken);
    }
    return TRUE;
}

static gboolean take_batch(const PlumbBatch *from, SpanBatch *batch, WireVersions *versions, GError **error) {
    const WireVersions found = {from->version, from->__isset_needs ? from->needs : 1};
    if (found.needs <= WIRE_VERSION) {
        if (!from->__isset_version || !from->__isset_strings || !from->__isset_spans) return missing(error, "a field");
        if (!take_strings(from->strings, batch, error)) return FALSE;
        for (guint i = 0; i < from->spans->len; i++)
            if (!take_span(g_ptr_array_index(from->spans, i), batch, error)) return FALSE;
        for (guint i = 0; from->__isset_packs && i < from->packs->len; i++) {
            const GByteArray *pack = g_ptr_array_index(from->packs, i);
            pack_reference((Bytes){pack->data, pack->len}, batch);
        }
        if (from->__isset_sender && !take_sender(from->sender, batch, error)) return FALSE;
    }
    *versions = found;
    return TRUE;
}

/* The struct of arguments, whose field 1 is the batch. */
static gboolean read_arguments(ThriftProtocol *protocol, PlumbBatch *batch, GError **error) {
    char *unused = NULL; /* c_glib has no names of structs to give, but writes here */
    gint32 done = thrift_protocol_read_struct_begin(protocol, &unused, error);
    gboolean found = FALSE;
    while (done >= 0) {
        ThriftType type = T_STOP;
        gint16 id = 0;
        g_autofree char *name = NULL;
        done = thrift_protocol_read_field_begin(protocol, &name, &type, &id, error);
        if (done < 0) return FALSE;
        if (type == T_STOP)
            return (found && glib_protocol_left(protocol) == 0) || missing(error, "the batch, or its end,");
        const gboolean is_batch = id == 1 && type == T_STRUCT;
        done = is_batch ? thrift_struct_read(THRIFT_STRUCT(batch), protocol, error)
                        : thrift_protocol_skip(protocol, type, error);
        found = found || is_batch;
    }
    return FALSE;
}

gboolean wire_batch_decode_reference(const WireHeader *header, SpanBatch *batch, WireVersions *versions,
                                     GError **error) {
    static GOnce repaired = G_ONCE_INIT;
    g_once(&repaired, repair_classes, NULL);
    batch_clear(batch);
    if (!thrift_check_struct(header->body, header->protocol, error)) return FALSE;
    g_autoptr(GObject) owner = g_object_new(PLUMB_TYPE_BATCH, NULL);
    ThriftProtocol *protocol = glib_protocol_reader(header->body, header->protocol);
    g_autoptr(GError) cause = NULL;
    gboolean good = read_arguments(protocol, PLUMB_BATCH(owner), &cause);
    g_object_unref(protocol);
    if (!good) return fail(error, PLUMB_ERROR_INPUT, "%s", cause != NULL ? cause->message : "cannot be read");
    good = take_batch(PLUMB_BATCH(owner), batch, versions, error);
    if (!good) batch_clear(batch);
    return good;
}
