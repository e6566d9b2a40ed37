#include "common/wire/json/span_json_value.h"

#include <jansson.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/limits.h"
#include "common/wire/json/record_json.h"

/* Digits of the largest end there is: begin plus duration, both of 63 bits. */
#define NS_DIGITS 20

/* A span whose every part was checked: appending it cannot fail. */
typedef struct ParsedSpan {
    SpanId id;
    gboolean short_ids; /* HTrace 3: parents have 16 digits and the span's trace */
    gint64 begin_ns;
    gint64 duration_ns;
    guint32 flags;
    const json_t *name, *tracer;                   /* strings, or NULL */
    json_t *parents, *annotations, *pairs, *notes; /* NULL when absent; pairs is the list form of annotations */
} ParsedSpan;

static gboolean bad_key(GError **error, const char *key, const char *what) {
    return fail(error, PLUMB_ERROR_INPUT, "key \"%s\": %s", key, what);
}

static gboolean check_length(const char *key, gsize length, gsize limit, GError **error) {
    if (length <= limit) return TRUE;
    return fail(error, PLUMB_ERROR_LIMIT, "key \"%s\": text of %zu bytes, at most %zu are taken", key, length, limit);
}

/* A string of at most 'limit' bytes. */
static gboolean check_text(const json_t *value, const char *key, gsize limit, GError **error) {
    if (!json_is_string(value)) return bad_key(error, key, "not a string");
    return check_length(key, json_string_length(value), limit, error);
}

/* Absent is fine, and so is an array of at most 'limit' entries. */
static gboolean check_array(const json_t *value, const char *key, gsize limit, GError **error) {
    if (value == NULL) return TRUE;
    if (!json_is_array(value)) return bad_key(error, key, "not an array");
    if (json_array_size(value) <= limit) return TRUE;
    return fail(error, PLUMB_ERROR_LIMIT, "key \"%s\": %zu entries, at most %zu are taken", key, json_array_size(value),
                limit);
}

static gboolean parse_hex64(const json_t *value, guint64 *out) {
    const char *text = json_string_value(value);
    if (text == NULL || json_string_length(value) != 16 || strspn(text, "0123456789abcdefABCDEF") != 16) return FALSE;
    *out = g_ascii_strtoull(text, NULL, 16);
    return TRUE;
}

static gboolean parse_id(const json_t *value, guint64 trace, gboolean short_id, SpanId *id) {
    if (!short_id)
        return json_is_string(value) && span_id_parse(json_string_value(value), json_string_length(value), id);
    guint64 span;
    if (!parse_hex64(value, &span)) return FALSE;
    *id = (SpanId){trace, span};
    return TRUE;
}

static gboolean parse_own_id(const json_t *object, ParsedSpan *span, GError **error) {
    const json_t *id = json_object_get(object, "a"), *short_id = json_object_get(object, "s");
    if (id != NULL) return parse_id(id, 0, FALSE, &span->id) || bad_key(error, "a", "not 32 hex digits");
    if (short_id == NULL) return TRUE;
    const json_t *trace_id = json_object_get(object, "i");
    guint64 trace = 0;
    if (trace_id != NULL && !parse_hex64(trace_id, &trace)) return bad_key(error, "i", "not 16 hex digits");
    span->short_ids = TRUE;
    return parse_id(short_id, trace, TRUE, &span->id) || bad_key(error, "s", "not 16 hex digits");
}

static gboolean parse_parents(const json_t *object, ParsedSpan *span, GError **error) {
    span->parents = json_object_get(object, "p");
    if (!check_array(span->parents, "p", LIMIT_SPAN_PARENTS, error)) return FALSE;
    for (gsize i = 0; i < json_array_size(span->parents); i++) {
        SpanId parent;
        if (!parse_id(json_array_get(span->parents, i), span->id.trace, span->short_ids, &parent))
            return bad_key(error, "p", "an entry is no id");
    }
    return TRUE;
}

/* Milliseconds, as a number; absent is 0. */
static gboolean parse_ms(const json_t *object, const char *key, __int128 *ns, GError **error) {
    const json_t *value = json_object_get(object, key);
    if (value != NULL && !json_is_integer(value)) return bad_key(error, key, "not a whole number of milliseconds");
    *ns = (__int128)json_integer_value(value) * NS_PER_MS;
    return TRUE;
}

/* Nanoseconds, as a string of digits; *present tells whether the key was there. */
static gboolean parse_ns(const json_t *object, const char *key, gboolean *present, __int128 *ns, GError **error) {
    const json_t *value = json_object_get(object, key);
    *present = value != NULL;
    if (value == NULL) return TRUE;
    const char *text = json_string_value(value);
    if (text == NULL) return bad_key(error, key, "not a string");
    const gboolean negative = *text == '-';
    if (negative) text++;
    const gsize n = strlen(text);
    if (n == 0 || n > NS_DIGITS || strspn(text, "0123456789") != n)
        return bad_key(error, key, "not a decimal number of nanoseconds");
    __int128 sum = 0;
    for (gsize i = 0; i < n; i++) sum = sum * 10 + (text[i] - '0');
    *ns = negative ? -sum : sum;
    return TRUE;
}

static gboolean fits_int64(__int128 value) { return value >= G_MININT64 && value <= G_MAXINT64; }

static gboolean parse_times(const json_t *object, ParsedSpan *span, GError **error) {
    __int128 begin_ns, end_ns;
    gboolean fine_begin, fine_end;
    if (!parse_ms(object, "b", &begin_ns, error) || !parse_ms(object, "e", &end_ns, error) ||
        !parse_ns(object, "bn", &fine_begin, &begin_ns, error) || !parse_ns(object, "en", &fine_end, &end_ns, error))
        return FALSE;
    if (!fits_int64(begin_ns) || !fits_int64(end_ns - begin_ns))
        return fail(error, PLUMB_ERROR_INPUT, "begin or duration does not fit 64-bit nanoseconds");
    span->begin_ns = (gint64)begin_ns;
    span->duration_ns = (gint64)(end_ns - begin_ns);

    const json_t *flags = json_object_get(object, "f");
    if (flags == NULL) {
        span->flags = fine_begin ? 0 : SPAN_MILLISECONDS;
        return TRUE;
    }
    const json_int_t value = json_integer_value(flags);
    if (!json_is_integer(flags) || value < 0 || value > G_MAXUINT32) return bad_key(error, "f", "no flags");
    span->flags = (guint32)value;
    return TRUE;
}

static gboolean parse_annotations(json_t *object, ParsedSpan *span, GError **error) {
    span->annotations = json_object_get(object, "n");
    span->pairs = json_object_get(object, "nl");
    if (span->annotations != NULL && !json_is_object(span->annotations)) return bad_key(error, "n", "not an object");
    if (json_object_size(span->annotations) > LIMIT_SPAN_ANNOTATIONS)
        return fail(error, PLUMB_ERROR_LIMIT, "key \"n\": more than %u entries", LIMIT_SPAN_ANNOTATIONS);
    if (!check_array(span->pairs, "nl", LIMIT_SPAN_ANNOTATIONS, error)) return FALSE;

    const char *key;
    json_t *value;
    json_object_foreach(span->annotations, key, value) {
        if (!check_length("n", strlen(key), LIMIT_NAME_BYTES, error) ||
            !check_text(value, "n", LIMIT_VALUE_BYTES, error))
            return FALSE;
    }

    for (gsize i = 0; i < json_array_size(span->pairs); i++) {
        const json_t *pair = json_array_get(span->pairs, i);
        if (json_array_size(pair) != 2) return bad_key(error, "nl", "an entry is no pair");
        if (!check_text(json_array_get(pair, 0), "nl", LIMIT_NAME_BYTES, error) ||
            !check_text(json_array_get(pair, 1), "nl", LIMIT_VALUE_BYTES, error))
            return FALSE;
    }

    return TRUE;
}

static gboolean parse_note_time(const json_t *entry, gint64 *time_ns, GError **error) {
    __int128 ns;
    gboolean fine;
    if (!parse_ms(entry, "t", &ns, error) || !parse_ns(entry, "tn", &fine, &ns, error)) return FALSE;
    if (!fits_int64(ns)) return bad_key(error, "t", "does not fit 64-bit nanoseconds");
    *time_ns = (gint64)ns;
    return TRUE;
}

static gboolean parse_notes(const json_t *object, ParsedSpan *span, GError **error) {
    span->notes = json_object_get(object, "t");
    if (!check_array(span->notes, "t", LIMIT_SPAN_ANNOTATIONS, error)) return FALSE;
    for (gsize i = 0; i < json_array_size(span->notes); i++) {
        const json_t *entry = json_array_get(span->notes, i), *message = json_object_get(entry, "m");
        gint64 time_ns;
        if (!json_is_object(entry)) return bad_key(error, "t", "an entry is no object");
        if (!parse_note_time(entry, &time_ns, error)) return FALSE;
        if (message != NULL && !check_text(message, "m", LIMIT_VALUE_BYTES, error)) return FALSE;
    }
    return TRUE;
}

static gboolean parse_span(json_t *object, ParsedSpan *span, GError **error) {
    static const char *const known[] = {"a", "b", "e", "d", "r", "p", "s"};
    gboolean any = FALSE;
    for (gsize i = 0; i < G_N_ELEMENTS(known); i++) any |= json_object_get(object, known[i]) != NULL;
    if (!any) return fail(error, PLUMB_ERROR_INPUT, "an object without any key of a span");

    span->name = json_object_get(object, "d");
    span->tracer = json_object_get(object, "r");
    return (span->name == NULL || check_text(span->name, "d", LIMIT_NAME_BYTES, error)) &&
           (span->tracer == NULL || check_text(span->tracer, "r", LIMIT_NAME_BYTES, error)) &&
           parse_own_id(object, span, error) && parse_times(object, span, error) &&
           parse_parents(object, span, error) && parse_annotations(object, span, error) &&
           parse_notes(object, span, error);
}

static BatchString copy_text(SpanBatch *batch, const json_t *text) {
    return batch_copy(batch, json_string_value(text), json_string_length(text));
}

static guint32 intern_text(SpanBatch *batch, const json_t *text) {
    return batch_intern(batch, json_string_value(text), json_string_length(text));
}

static void append_annotations(const ParsedSpan *parsed, SpanBatch *batch) {
    for (gsize i = 0; i < json_array_size(parsed->pairs); i++) {
        const json_t *pair = json_array_get(parsed->pairs, i);
        const guint32 key = intern_text(batch, json_array_get(pair, 0));
        batch_add_annotation(batch, key, copy_text(batch, json_array_get(pair, 1)));
    }
    if (parsed->pairs != NULL) return;
    const char *key;
    json_t *value;
    json_object_foreach(parsed->annotations, key, value) {
        batch_add_annotation(batch, batch_intern(batch, key, strlen(key)), copy_text(batch, value));
    }
}

static void append_span(const ParsedSpan *parsed, SpanBatch *batch) {
    BatchSpan *span = batch_begin_span(batch, parsed->id);
    span->begin_ns = parsed->begin_ns;
    span->duration_ns = parsed->duration_ns;
    span->flags = parsed->flags;
    span->name = intern_text(batch, parsed->name);
    span->tracer = intern_text(batch, parsed->tracer);
    for (gsize i = 0; i < json_array_size(parsed->parents); i++) {
        SpanId parent = {0, 0};
        parse_id(json_array_get(parsed->parents, i), parsed->id.trace, parsed->short_ids, &parent);
        batch_add_parent(batch, parent);
    }
    append_annotations(parsed, batch);
    for (gsize i = 0; i < json_array_size(parsed->notes); i++) {
        const json_t *entry = json_array_get(parsed->notes, i);
        gint64 time_ns = 0;
        parse_note_time(entry, &time_ns, NULL);
        batch_add_note(batch, time_ns, copy_text(batch, json_object_get(entry, "m")));
    }
}

gboolean span_json_value(Bytes value, SpanBatch *batch, SparkRecords *records, GError **error) {
    json_error_t what;
    json_auto_t *object = json_loadb(value.data, value.size_bytes, 0, &what);
    if (object == NULL) return fail(error, PLUMB_ERROR_INPUT, "%s", what.text);
    if (records != NULL && record_json_is(object)) return record_json_read(object, records, error);
    ParsedSpan parsed = {0};
    if (!parse_span(object, &parsed, error)) return FALSE;
    append_span(&parsed, batch);
    return TRUE;
}
