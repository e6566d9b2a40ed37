/* The body of WriteSpans. */
#include <string.h>

#include "common/base/clock.h"
#include "common/base/limits.h"
#include "common/wire/htraced/hrpc.h"
#include "common/wire/htraced/htraced_batch.h"
#include "common/wire/htraced/msgpack_values.h"

#define ID_BYTES 16u
#define MS_MOST  (G_MAXINT64 / NS_PER_MS)

typedef struct HrpcReader {
    MsgpackReader values;
    SpanBatch *batch;
    GError *error; /* the first */
} HrpcReader;

static gboolean bad_key(HrpcReader *r, const char *key, const char *what) {
    if (r->error == NULL) fail(&r->error, PLUMB_ERROR_INPUT, "key \"%s\": %s", key, what);
    return FALSE;
}

/* ---- values ---- */

static gboolean is_key(const MsgpackValue *value, const char *key) {
    return value->type == MSGPACK_TEXT && value->length == strlen(key) && memcmp(value->data, key, value->length) == 0;
}

/* NULL: the map has no such key. */
static const MsgpackValue *get(const HrpcReader *r, const MsgpackValue *map, const char *key) {
    for (guint32 i = 0; i < map->length; i++)
        if (is_key(msgpack_entry(&r->values, map, 2 * i), key)) return msgpack_entry(&r->values, map, 2 * i + 1);
    return NULL;
}

static gboolean check_text(HrpcReader *r, const MsgpackValue *value, const char *key, guint32 limit) {
    if (value->type != MSGPACK_TEXT || !batch_text_valid(value->data, value->length))
        return bad_key(r, key, "not a text in UTF-8");
    if (value->length <= limit) return TRUE;
    if (r->error == NULL)
        fail(&r->error, PLUMB_ERROR_LIMIT, "key \"%s\": text of %u bytes, at most %u are taken", key, value->length,
             limit);
    return FALSE;
}

/* A list or map of at most 'limit' entries; absent is fine, and has none. */
static guint32 entries_of(HrpcReader *r, const MsgpackValue *value, MsgpackType type, const char *key, guint32 limit) {
    if (value == NULL) return 0;
    if (value->type != type) {
        bad_key(r, key, type == MSGPACK_MAP ? "not a map" : "not a list");
        return 0;
    }
    if (value->length <= limit) return value->length;
    if (r->error == NULL)
        fail(&r->error, PLUMB_ERROR_LIMIT, "key \"%s\": %u entries, at most %u are taken", key, value->length, limit);
    return 0;
}

/* The index of a text; absent is "". */
static guint32 text_of(HrpcReader *r, const MsgpackValue *value, const char *key) {
    if (value == NULL || !check_text(r, value, key, LIMIT_NAME_BYTES)) return batch_intern(r->batch, "", 0);
    return batch_intern(r->batch, value->data, value->length);
}

static BatchString value_of(HrpcReader *r, const MsgpackValue *value, const char *key) {
    if (!check_text(r, value, key, LIMIT_VALUE_BYTES)) return (BatchString){"", 0};
    return batch_copy(r->batch, value->data, value->length);
}

/* Absent: the invalid id. */
static SpanId id_of(HrpcReader *r, const MsgpackValue *value, const char *key) {
    guint64 halves[2];
    if (value == NULL) return (SpanId){0, 0};
    if (value->type != MSGPACK_BYTES || value->length != ID_BYTES) {
        bad_key(r, key, "an id has 16 bytes");
        return (SpanId){0, 0};
    }
    memcpy(halves, value->data, sizeof halves);
    return (SpanId){GUINT64_FROM_BE(halves[0]), GUINT64_FROM_BE(halves[1])};
}

/* Milliseconds; absent is 0. */
static gint64 time_of(HrpcReader *r, const MsgpackValue *value, const char *key) {
    if (value == NULL) return 0;
    if (value->type == MSGPACK_NUMBER && value->number >= -MS_MOST && value->number <= MS_MOST)
        return value->number * NS_PER_MS;
    bad_key(r, key, "not a number of milliseconds that fits 64-bit nanoseconds");
    return 0;
}

/* ---- one span ---- */

static void read_times(HrpcReader *r, const MsgpackValue *map, BatchSpan *span) {
    span->begin_ns = time_of(r, get(r, map, "b"), "b");
    const gint64 end_ns = time_of(r, get(r, map, "e"), "e");
    if (__builtin_sub_overflow(end_ns, span->begin_ns, &span->duration_ns))
        bad_key(r, "e", "the duration does not fit 64-bit nanoseconds");
    span->flags = SPAN_MILLISECONDS;
}

static void read_parents(HrpcReader *r, const MsgpackValue *list) {
    const guint32 n = entries_of(r, list, MSGPACK_LIST, "p", LIMIT_SPAN_PARENTS);
    for (guint32 i = 0; i < n; i++) batch_add_parent(r->batch, id_of(r, msgpack_entry(&r->values, list, i), "p"));
}

static void read_annotations(HrpcReader *r, const MsgpackValue *map) {
    const guint32 n = entries_of(r, map, MSGPACK_MAP, "n", LIMIT_SPAN_ANNOTATIONS);
    for (guint32 i = 0; i < n && r->error == NULL; i++) {
        const guint32 key = text_of(r, msgpack_entry(&r->values, map, 2 * i), "n");
        batch_add_annotation(r->batch, key, value_of(r, msgpack_entry(&r->values, map, 2 * i + 1), "n"));
    }
}

static void read_notes(HrpcReader *r, const MsgpackValue *list) {
    const guint32 n = entries_of(r, list, MSGPACK_LIST, "t", LIMIT_SPAN_ANNOTATIONS);
    for (guint32 i = 0; i < n && r->error == NULL; i++) {
        const MsgpackValue *note = msgpack_entry(&r->values, list, i);
        if (note->type != MSGPACK_MAP) {
            bad_key(r, "t", "an entry is no map");
            return;
        }
        const MsgpackValue *message = get(r, note, "m");
        const BatchString text = message != NULL ? value_of(r, message, "m") : (BatchString){"", 0};
        batch_add_note(r->batch, time_of(r, get(r, note, "t"), "t"), text);
    }
}

static void read_span(HrpcReader *r, const MsgpackValue *map) {
    const SpanId id = id_of(r, get(r, map, "a"), "a");
    const guint32 name = text_of(r, get(r, map, "d"), "d"), tracer = text_of(r, get(r, map, "r"), "r");
    BatchSpan *span = batch_begin_span(r->batch, id);
    span->name = name;
    span->tracer = tracer;
    read_times(r, map, span);
    read_parents(r, get(r, map, "p"));
    read_annotations(r, get(r, map, "n"));
    read_notes(r, get(r, map, "t"));
}

/* ---- the body ---- */

static gboolean next_map(HrpcReader *r, MsgpackValue *map) {
    if (!msgpack_next(&r->values, map, &r->error)) return FALSE;
    return map->type == MSGPACK_MAP || fail(&r->error, PLUMB_ERROR_INPUT, "not a map");
}

static void read_spans(HrpcReader *r, gint64 n) {
    MsgpackValue map;
    for (gint64 i = 0; i < n && r->error == NULL; i++) {
        if (next_map(r, &map)) read_span(r, &map);
        if (r->error == NULL) htraced_batch_fits(r->batch, &r->error);
        if (r->error != NULL) g_prefix_error(&r->error, "span %" G_GINT64_FORMAT ": ", i);
    }
    if (r->error == NULL && r->values.left.size_bytes > 0)
        fail(&r->error, PLUMB_ERROR_INPUT, "%zu bytes are left over behind %" G_GINT64_FORMAT " spans",
             r->values.left.size_bytes, n);
}

static void read_body(HrpcReader *r) {
    MsgpackValue head;
    if (!next_map(r, &head)) return;
    const MsgpackValue *spans = get(r, &head, HTRACED_NUM_SPANS), *tracer = get(r, &head, "DefaultPid");
    if (tracer == NULL) tracer = get(r, &head, "DefaultTrid");
    const gint64 n = spans != NULL && spans->type == MSGPACK_NUMBER ? spans->number : -1;
    g_autofree char *text = NULL;
    if (n < 0) {
        bad_key(r, HTRACED_NUM_SPANS, "not a number of spans");
        return;
    }
    if (tracer != NULL && check_text(r, tracer, "DefaultPid", LIMIT_NAME_BYTES))
        text = g_strndup(tracer->data, tracer->length);

    read_spans(r, n);
    if (r->error == NULL && text != NULL) htraced_set_tracer(r->batch, text, strlen(text));
}

gboolean hrpc_decode(const WireHeader *header, SpanBatch *batch, GError **error) {
    HrpcReader r = {.batch = batch};
    batch_clear(batch);
    msgpack_reader_init(&r.values, header->body);
    read_body(&r);
    msgpack_reader_clear(&r.values);
    if (r.error == NULL) htraced_batch_fits(batch, &r.error);
    if (r.error == NULL) return TRUE;
    g_propagate_prefixed_error(error, r.error, "WriteSpans: ");
    return FALSE;
}
