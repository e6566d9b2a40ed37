#include "common/wire/otlp/service_spans.h"

#include <string.h>
#include <xxhash.h>

#include "common/base/digits.h"
#include "common/base/limits.h"
#include "common/base/mix64.h"
#include "common/model/role.h"

#define DIVISION_SLASH "\xe2\x88\x95"
#define RESOURCE       "resource."
/* Keys of a span's annotations that are remembered by their place: spans of one kind have the same. */
#define KEY_PLACES 64u
/* Traces whose first span was there already. One that another has displaced gets a first span again. */
#define SEEN_TRACES 256u
/* Kept from one body to the next. */
#define KEPT_SLOTS 8192u

/* What stands before a text in the table of strings. */
enum { SCOPE_PLAIN, SCOPE_RESOURCE, SCOPE_SERVICE };

typedef struct Slot {
    guint32 hash;
    guint32 scope;
    guint32 place; /* in the batch's strings, plus 1; 0: free */
    guint32 length;
    const char *text; /* as it came */
} Slot;

typedef struct KeyPlace {
    BatchString text;
    guint32 key;
} KeyPlace;

typedef struct SeenTrace {
    guint64 trace;
    guint32 service; /* 0: none */
} SeenTrace;

struct ServiceSpans {
    SpanBatch *batch;
    gboolean copies;
    guint64 seed; /* of the table, so that nobody can have texts fall together */
    Slot *slots;
    guint32 n_slots, used;
    KeyPlace keys[KEY_PLACES];
    guint at_key; /* of the span that is being read */
    SeenTrace seen[SEEN_TRACES];
    /* the service */
    guint32 service;    /* from 1 */
    GArray *attributes; /* BatchAnnotation */
    BatchString name, host, pid;
    guint32 name_scope, tracer;
    GString *prefix;
    gboolean named;           /* tracer and prefix are made */
    BatchAnnotation scope[2]; /* name and version, of all spans of the scope; empty: it has none */
    /* the body */
    gsize text_left;
    guint32 cut;
    PlumbError code;
    const char *fault;
};

ServiceSpans *service_spans_new(void) {
    ServiceSpans *spans = g_new0(ServiceSpans, 1);
    spans->seed = (guint64)g_random_int() << 32 | g_random_int();
    spans->n_slots = KEPT_SLOTS;
    spans->slots = g_new0(Slot, KEPT_SLOTS);
    spans->attributes = g_array_new(FALSE, FALSE, sizeof(BatchAnnotation));
    spans->prefix = g_string_new(NULL);
    return spans;
}

void service_spans_free(ServiceSpans *spans) {
    if (!spans) return;
    g_free(spans->slots);
    g_array_unref(spans->attributes);
    g_string_free(spans->prefix, TRUE);
    g_free(spans);
}

void service_spans_begin(ServiceSpans *spans, SpanBatch *batch, gboolean copies) {
    batch_clear(batch);
    spans->batch = batch;
    spans->copies = copies;
    spans->text_left = SERVICE_TEXT_BYTES;
    spans->cut = 0;
    spans->fault = NULL;
    spans->service = 0;
    if (spans->n_slots > KEPT_SLOTS) {
        g_free(spans->slots);
        spans->n_slots = KEPT_SLOTS;
        spans->slots = g_new(Slot, KEPT_SLOTS);
    }
    memset(spans->slots, 0, spans->n_slots * sizeof *spans->slots);
    spans->used = 0;
    memset(spans->keys, 0, sizeof spans->keys);
    memset(spans->seen, 0, sizeof spans->seen);
}

gboolean service_fault(ServiceSpans *spans, PlumbError code, const char *what) {
    if (spans->fault == NULL) {
        spans->code = code;
        spans->fault = what;
    }
    return FALSE;
}

gboolean service_is_good(const ServiceSpans *spans) { return spans->fault == NULL; }

static gboolean check_count(ServiceSpans *spans, gsize n, gsize limit, const char *what) {
    return n < limit || service_fault(spans, PLUMB_ERROR_LIMIT, what);
}

gboolean service_spans_end(const ServiceSpans *spans, GError **error) {
    return spans->fault == NULL || fail(error, spans->code, "%s", spans->fault);
}

guint32 service_spans_cut(const ServiceSpans *spans) { return spans->cut; }

/* ---- texts ---- */

/* Counts what spans refer to. */
static gboolean spend(ServiceSpans *spans, gsize bytes) {
    if (bytes > spans->text_left)
        return service_fault(spans, PLUMB_ERROR_LIMIT, "the texts of the spans are too long: send fewer at a time");
    spans->text_left -= bytes;
    return TRUE;
}

BatchString service_text(ServiceSpans *spans, const char *data, gsize length) {
    return batch_copy(spans->batch, data, MIN(length, LIMIT_FRAME_BYTES));
}

BatchString service_digits(ServiceSpans *spans, gint64 number) {
    char digits[DIGITS_MOST], *end = digits + sizeof digits, *at = digits_before_signed(end, number);
    return service_text(spans, at, (gsize)(end - at));
}

/* Characters are not cut in two. */
static guint32 cut_length(BatchString text, guint32 limit) {
    guint32 length = MIN(text.length, limit);
    if (length < text.length)
        while (length > 0 && ((guint8)text.data[length] & 0xc0) == 0x80) length--;
    return length;
}

/* A copy whose bytes that are no UTF-8, and zeros, are U+FFFD. */
static BatchString mend(ServiceSpans *spans, BatchString text, guint32 limit) {
    g_autofree char *whole = g_utf8_make_valid(text.data, (gssize)text.length);
    const BatchString made = {whole, (guint32)strlen(whole)};
    spans->cut++;
    return service_text(spans, made.data, cut_length(made, limit));
}

/* As the batch may have it. */
static BatchString take_text(ServiceSpans *spans, BatchString text, guint32 limit) {
    if (G_UNLIKELY(text.length > limit)) {
        text.length = cut_length(text, limit);
        spans->cut++;
    }
    if (!spend(spans, text.length)) return batch_literal("");
    if (G_UNLIKELY(!batch_text_valid(text.data, text.length))) return mend(spans, text, limit);
    return spans->copies ? service_text(spans, text.data, text.length) : text;
}

/* ---- the table of strings ---- */

static Slot *slot_of(const ServiceSpans *spans, guint32 hash, guint32 scope, BatchString text) {
    guint32 at = hash & (spans->n_slots - 1);
    for (;; at = (at + 1) & (spans->n_slots - 1)) {
        Slot *slot = &spans->slots[at];
        if (slot->place == 0) return slot;
        if (slot->hash == hash && slot->scope == scope && slot->length == text.length &&
            memcmp(slot->text, text.data, text.length) == 0)
            return slot;
    }
}

static void grow_table(ServiceSpans *spans) {
    g_autofree Slot *old = spans->slots;
    const guint32 n = spans->n_slots;
    spans->n_slots = 2 * n;
    spans->slots = g_new0(Slot, spans->n_slots);
    for (guint32 i = 0; i < n; i++) {
        const Slot *slot = &old[i];
        if (slot->place == 0) continue;
        *slot_of(spans, slot->hash, slot->scope, (BatchString){slot->text, slot->length}) = *slot;
    }
}

static guint32 add_string(ServiceSpans *spans, BatchString text) {
    if (!check_count(spans, spans->batch->strings->len, LIMIT_BATCH_STRINGS, "too many names and keys")) return 0;
    g_array_append_val(spans->batch->strings, text);
    return spans->batch->strings->len - 1;
}

/* The whole text of a slot: what stands before it, and the text. */
static BatchString whole_text(ServiceSpans *spans, guint32 scope, BatchString text) {
    if (scope == SCOPE_PLAIN) return take_text(spans, text, LIMIT_NAME_BYTES);
    g_autoptr(GString) whole = g_string_new(scope == SCOPE_RESOURCE ? RESOURCE : spans->prefix->str);
    g_string_append_len(whole, text.data, (gssize)MIN(text.length, 2 * LIMIT_NAME_BYTES));
    const BatchString made = {whole->str, (guint32)whole->len};
    const BatchString taken = take_text(spans, made, LIMIT_NAME_BYTES);
    return taken.data == whole->str ? service_text(spans, taken.data, taken.length) : taken;
}

static guint32 intern(ServiceSpans *spans, guint32 scope, BatchString text) {
    const guint32 hash = (guint32)XXH3_64bits_withSeed(text.data, text.length, spans->seed + scope);
    Slot *slot = slot_of(spans, hash, scope, text);
    if (G_LIKELY(slot->place != 0)) return slot->place - 1;

    const BatchString kept = spans->copies ? service_text(spans, text.data, text.length) : text;
    const guint32 place = add_string(spans, whole_text(spans, scope, kept));
    if (spans->fault != NULL) return 0;
    *slot = (Slot){hash, scope, place + 1, kept.length, kept.data};
    if (++spans->used * 2 > spans->n_slots) grow_table(spans);
    return place;
}

/* ---- the service ---- */

void service_begin(ServiceSpans *spans) {
    spans->service++;
    g_array_set_size(spans->attributes, 0);
    spans->name = spans->host = spans->pid = batch_literal("");
    memset(spans->scope, 0, sizeof spans->scope);
    spans->named = FALSE;
}

void service_attribute(ServiceSpans *spans, BatchString key, BatchString value) {
    if (spans->attributes->len >= LIMIT_SPAN_ANNOTATIONS / 2) {
        spans->cut++;
        return;
    }
    const BatchAnnotation attribute = {intern(spans, SCOPE_RESOURCE, key), take_text(spans, value, LIMIT_VALUE_BYTES)};
    if (spans->fault != NULL) return;
    g_array_append_val(spans->attributes, attribute);
    if (batch_text_is(key, "service.name")) spans->name = attribute.value;
    if (batch_text_is(key, "host.name")) spans->host = attribute.value;
    if (batch_text_is(key, "k8s.node.name") && spans->host.length == 0) spans->host = attribute.value;
    if (batch_text_is(key, "process.pid")) spans->pid = attribute.value;
}

void service_scope(ServiceSpans *spans, BatchString name, BatchString version) {
    static const char *const keys[] = {"otel.scope.name", "otel.scope.version"};
    const BatchString texts[] = {name, version};
    for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
        const BatchString text = take_text(spans, texts[i], LIMIT_VALUE_BYTES);
        const guint32 key = text.length > 0 ? intern(spans, SCOPE_PLAIN, batch_literal(keys[i])) : 0;
        spans->scope[i] = (BatchAnnotation){key, text};
    }
}

/* What the tracer id and the prefix of function names begin with: no longer than leaves room for the rest. */
static void append_service(GString *out, BatchString name) {
    const guint32 length = cut_length(name, LIMIT_NAME_BYTES / 4);
    for (guint32 i = 0; i < length; i++) {
        if (name.data[i] == '/')
            g_string_append(out, DIVISION_SLASH);
        else
            g_string_append_c(out, name.data[i]);
    }
}

static void make_names(ServiceSpans *spans) {
    const BatchString host = {spans->host.data, cut_length(spans->host, LIMIT_NAME_BYTES / 4)};
    g_autoptr(GString) tracer = g_string_new(NULL);
    if (spans->name.length == 0) spans->name = batch_literal("unknown_service"); /* OpenTelemetry's own default */
    append_service(tracer, spans->name);

    const gboolean hdfs = process_is_hdfs(tracer->str, tracer->len);
    spans->name_scope = hdfs ? SCOPE_PLAIN : SCOPE_SERVICE + spans->service;
    g_string_assign(spans->prefix, tracer->str);
    g_string_append(spans->prefix, SERVICE_NAME_END);

    if (host.length > 0) {
        g_string_append_c(tracer, '/');
        g_string_append_len(tracer, host.data, (gssize)host.length);
        if (spans->pid.length > 0 && spans->pid.length <= 10) {
            g_string_append_c(tracer, '/');
            g_string_append_len(tracer, spans->pid.data, (gssize)spans->pid.length);
        }
    }
    spans->tracer = add_string(spans, service_text(spans, tracer->str, tracer->len));
    spans->named = TRUE;
}

/* ---- spans ---- */

void service_span_begin(ServiceSpans *spans) {
    if (!check_count(spans, spans->batch->spans->len, LIMIT_BATCH_SPANS, "too many spans: send fewer at a time"))
        return;
    if (G_UNLIKELY(!spans->named)) make_names(spans);
    batch_begin_span(spans->batch, (SpanId){0, 0});
    spans->at_key = 0;
}

static BatchSpan *last_span(const ServiceSpans *spans) {
    return &g_array_index(spans->batch->spans, BatchSpan, spans->batch->spans->len - 1);
}

/* FALSE: no more fit. */
static gboolean has_place(ServiceSpans *spans, guint32 n_of_span, const GArray *all) {
    if (G_UNLIKELY(spans->fault != NULL)) return FALSE;
    if (!check_count(spans, all->len, LIMIT_BATCH_ENTRIES,
                     "too many attributes and events: send fewer spans at a time"))
        return FALSE;
    if (G_LIKELY(n_of_span < LIMIT_SPAN_ANNOTATIONS - 1)) return TRUE; /* one is for the packer: pack.h */
    spans->cut++;
    return FALSE;
}

static guint32 key_of(ServiceSpans *spans, BatchString key) {
    KeyPlace *place = &spans->keys[spans->at_key++ % KEY_PLACES];
    if (G_LIKELY(place->text.length == key.length && key.length > 0 &&
                 memcmp(place->text.data, key.data, key.length) == 0))
        return place->key;
    const guint32 index = intern(spans, SCOPE_PLAIN, key);
    if (!spans->copies) *place = (KeyPlace){key, index};
    return index;
}

void service_span_attribute(ServiceSpans *spans, BatchString key, BatchString value) {
    if (!has_place(spans, last_span(spans)->n_annotations, spans->batch->annotations)) return;
    const guint32 index = key_of(spans, key);
    batch_add_annotation(spans->batch, index, take_text(spans, value, LIMIT_VALUE_BYTES));
}

void service_span_say(ServiceSpans *spans, const char *key, BatchString value) {
    service_span_attribute(spans, batch_literal(key), value);
}

/* Past what 64 bits with a sign hold, it is out of range: the span is refused alone. */
static gint64 clamp_ns(guint64 time_ns) { return (gint64)MIN(time_ns, (guint64)G_MAXINT64); }

void service_span_event(ServiceSpans *spans, guint64 time_ns, BatchString text) {
    if (!has_place(spans, last_span(spans)->n_notes, spans->batch->notes)) return;
    batch_add_note(spans->batch, clamp_ns(time_ns), take_text(spans, text, LIMIT_VALUE_BYTES));
}

/* TRUE once for each trace of the service. */
static gboolean is_first(ServiceSpans *spans, guint64 trace) {
    SeenTrace *seen = &spans->seen[mix64(trace) % SEEN_TRACES];
    if (seen->trace == trace && seen->service == spans->service) return FALSE;
    *seen = (SeenTrace){trace, spans->service};
    return TRUE;
}

/* What was taken before, and is said again of this span. FALSE: no more fits. */
static gboolean say_again(ServiceSpans *spans, const BatchAnnotation *known) {
    if (!has_place(spans, last_span(spans)->n_annotations, spans->batch->annotations)) return FALSE;
    if (!spend(spans, known->value.length)) return FALSE;
    batch_add_annotation(spans->batch, known->key, known->value);
    return TRUE;
}

static void say_of_trace(ServiceSpans *spans, guint64 trace_high) {
    const BatchAnnotation *attributes = (const BatchAnnotation *)spans->attributes->data;
    for (guint i = 0; i < spans->attributes->len; i++)
        if (!say_again(spans, &attributes[i])) return;
    if (trace_high == 0) return;
    char text[17];
    g_snprintf(text, sizeof text, "%016" G_GINT64_MODIFIER "x", trace_high);
    service_span_say(spans, SERVICE_TRACE_HIGH, service_text(spans, text, 16));
}

void service_span_end(ServiceSpans *spans, const ServiceSpan *from) {
    if (spans->fault != NULL) return;
    for (guint i = 0; i < G_N_ELEMENTS(spans->scope); i++)
        if (spans->scope[i].value.length > 0) say_again(spans, &spans->scope[i]);
    const gboolean valid = from->span != 0 && (from->trace | from->trace_high) != 0;
    if (valid && is_first(spans, from->trace)) say_of_trace(spans, from->trace_high);
    const guint32 name = intern(spans, spans->name_scope, from->name);
    if (spans->fault != NULL) return;

    if (from->parent != 0) batch_add_parent(spans->batch, (SpanId){from->trace, from->parent});
    BatchSpan *span = last_span(spans);
    span->id = valid ? (SpanId){from->trace, from->span} : (SpanId){0, 0};
    span->begin_ns = clamp_ns(from->begin_ns);
    span->duration_ns = clamp_ns(from->end_ns) - span->begin_ns;
    span->name = name;
    span->tracer = spans->tracer;
}
