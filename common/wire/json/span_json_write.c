#include "common/wire/json/span_json.h"

#include <jansson.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/digits.h"
#include "common/base/harmless.h"

/* Up to this many annotations are compared pair by pair to find equal keys; more go through a hash table. */
#define PAIRWISE 16u

/* ---- pieces of text ---- */

static inline void put(GString *out, const char *data, gsize length) {
    if (G_UNLIKELY(out->allocated_len - out->len <= length)) {
        g_string_append_len(out, data, (gssize)length);
        return;
    }
    memcpy(out->str + out->len, data, length);
    out->len += length;
    out->str[out->len] = '\0';
}

static inline void put_literal(GString *out, const char *text) { put(out, text, strlen(text)); }

static int append_piece(const char *data, size_t size, void *out) {
    harmless_json_append(out, data, size);
    return 0;
}

#define EACH(byte) (G_GUINT64_CONSTANT(0x0101010101010101) * (byte))

/* Of eight bytes: the high bit of each that is 'byte'; a false one only behind a true one. */
static inline guint64 has_byte(guint64 word, guint8 byte) {
    const guint64 differs = word ^ EACH(byte);
    return (differs - EACH(0x01)) & ~differs & EACH(0x80);
}

/* Are these eight printable characters of ASCII that stand for themselves? */
static inline gboolean plain_word(const char *data) {
    guint64 word;
    memcpy(&word, data, sizeof word);
    const guint64 harmful =
        word | ((word - EACH(0x20)) & ~word) | has_byte(word, '"') | has_byte(word, '\\') | has_byte(word, 0x7f);
    return (harmful & EACH(0x80)) == 0;
}

static gboolean json_plain(BatchString text, guint32 i) {
    const guint8 c = (guint8)text.data[i];
    if (c < 0x20 || c == '"' || c == '\\') return FALSE;
    gunichar harmful;
    return c < 0x7f || harmless_json_find(text.data + i, text.data + text.length, &harmful) == 0;
}

static gboolean all_plain(BatchString text) {
    guint32 i = 0;
    while (i + sizeof(guint64) <= text.length && plain_word(text.data + i)) i += sizeof(guint64);
    while (i < text.length && json_plain(text, i)) i++;
    return i == text.length;
}

static void write_text(BatchString text, GString *out) {
    if (G_LIKELY(all_plain(text))) {
        put_literal(out, "\"");
        put(out, text.data, text.length);
        put_literal(out, "\"");
        return;
    }
    json_t *string = json_stringn_nocheck(text.data, text.length);
    json_dump_callback(string, append_piece, out, JSON_ENCODE_ANY);
    json_decref(string);
}

/* "key": with a comma before it, unless it is the first of its object. */
static inline void write_key(const char *key, GString *out) {
    if (out->str[out->len - 1] != '{') put_literal(out, ",");
    put_literal(out, "\"");
    put_literal(out, key);
    put_literal(out, "\":");
}

static void write_integer(gint64 number, GString *out) {
    char digits[DIGITS_MOST], *end = digits + sizeof digits, *at = digits_before_signed(end, number);
    put(out, at, (gsize)(end - at));
}

static gint64 floor_ms(__int128 ns) {
    const __int128 ms = ns / NS_PER_MS;
    return (gint64)(ns % NS_PER_MS < 0 ? ms - 1 : ms);
}

static void write_ms(const char *key, __int128 ns, GString *out) {
    /* Divisions of 128 bits are dear, and no span of our time needs one. */
    const gint64 ms = ns >= 0 && ns <= G_MAXINT64 ? (gint64)ns / NS_PER_MS : floor_ms(ns);
    if (ms == 0) return;
    write_key(key, out);
    write_integer(ms, out);
}

/* The end of a span of absurd times needs 65 bits. */
static void write_ns(const char *key, __int128 ns, GString *out) {
    char digits[42], *at = digits + sizeof digits;
    *--at = '"';
    unsigned __int128 rest = ns < 0 ? -(unsigned __int128)ns : (unsigned __int128)ns;
    for (; rest > G_MAXUINT64; rest /= 10) *--at = (char)('0' + (int)(rest % 10));
    at = digits_before(at, (guint64)rest);
    if (ns < 0) *--at = '-';
    *--at = '"';
    write_key(key, out);
    put(out, at, (gsize)(digits + sizeof digits - at));
}

static void write_id(SpanId id, GString *out) {
    char text[1 + SPAN_ID_TEXT_BYTES] = "\"";
    span_id_format(id, text + 1);
    text[SPAN_ID_TEXT_BYTES] = '"'; /* for the zero */
    put(out, text, sizeof text);
}

static void write_times(const BatchSpan *span, GString *out) {
    const __int128 begin_ns = span->begin_ns, end_ns = begin_ns + span->duration_ns;
    write_ms("b", begin_ns, out);
    write_ms("e", end_ns, out);
    guint32 implied = SPAN_MILLISECONDS;
    const gboolean whole_ms = span->begin_ns % NS_PER_MS == 0 && span->duration_ns % NS_PER_MS == 0;
    if (!whole_ms || (span->flags & SPAN_MILLISECONDS) == 0) {
        write_ns("bn", begin_ns, out);
        write_ns("en", end_ns, out);
        implied = 0;
    }
    if (span->flags == implied) return;
    write_key("f", out);
    write_integer(span->flags, out);
}

/* ---- a span ---- */

static gboolean same_text(BatchString a, BatchString b) {
    return a.length == b.length && memcmp(a.data, b.data, a.length) == 0;
}

/* For each annotation: is there a later one of the same key? NULL when all keys differ. */
static GHashTable *repeated_keys(const SpanBatch *batch, const BatchAnnotation *annotations, guint32 n) {
    GHashTable *repeated = NULL;
    g_autoptr(GHashTable) seen = NULL;
    if (n > PAIRWISE) seen = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    for (guint32 i = n; i-- > 0;) {
        const BatchString key = batch_string(batch, annotations[i].key);
        gboolean later = FALSE;
        if (seen != NULL)
            later = !g_hash_table_add(seen, g_bytes_new_static(key.data, key.length));
        else
            for (guint32 j = i + 1; j < n && !later; j++)
                later = same_text(key, batch_string(batch, annotations[j].key));
        if (!later) continue;
        if (repeated == NULL) repeated = g_hash_table_new(NULL, NULL);
        g_hash_table_add(repeated, GUINT_TO_POINTER(i));
    }
    return repeated;
}

static void write_annotations(const SpanBatch *batch, const BatchSpan *span, GString *out) {
    if (span->n_annotations == 0) return;
    const BatchAnnotation *annotations = &g_array_index(batch->annotations, BatchAnnotation, span->annotations_at);
    g_autoptr(GHashTable) repeated = repeated_keys(batch, annotations, span->n_annotations);

    write_key("n", out);
    put_literal(out, "{");
    for (guint32 i = 0; i < span->n_annotations; i++) {
        if (repeated != NULL && g_hash_table_contains(repeated, GUINT_TO_POINTER(i))) continue;
        if (out->str[out->len - 1] != '{') put_literal(out, ",");
        write_text(batch_string(batch, annotations[i].key), out);
        put_literal(out, ":");
        write_text(annotations[i].value, out);
    }
    put_literal(out, "}");
    if (repeated == NULL) return;

    write_key("nl", out);
    for (guint32 i = 0; i < span->n_annotations; i++) {
        put_literal(out, i == 0 ? "[[" : "],[");
        write_text(batch_string(batch, annotations[i].key), out);
        put_literal(out, ",");
        write_text(annotations[i].value, out);
    }
    put_literal(out, "]]");
}

static void write_notes(const SpanBatch *batch, const BatchSpan *span, GString *out) {
    if (span->n_notes == 0) return;
    write_key("t", out);
    for (guint32 i = 0; i < span->n_notes; i++) {
        const BatchNote *note = &g_array_index(batch->notes, BatchNote, span->notes_at + i);
        put_literal(out, i == 0 ? "[{\"t\":" : ",{\"t\":");
        write_integer(floor_ms(note->time_ns), out);
        if (note->time_ns % NS_PER_MS != 0) write_ns("tn", note->time_ns, out);
        write_key("m", out);
        write_text(note->message, out);
        put_literal(out, "}");
    }
    put_literal(out, "]");
}

void span_json_write(const SpanBatch *batch, guint i, GString *out) {
    const BatchSpan *span = batch_span(batch, i);
    put_literal(out, "{");
    if (span_id_valid(span->id)) {
        write_key("a", out);
        write_id(span->id, out);
    }
    write_times(span, out);

    const BatchString name = batch_string(batch, span->name), tracer = batch_string(batch, span->tracer);
    if (name.length > 0) {
        write_key("d", out);
        write_text(name, out);
    }
    if (tracer.length > 0) {
        write_key("r", out);
        write_text(tracer, out);
    }

    write_key("p", out);
    put_literal(out, "[");
    for (guint32 p = 0; p < span->n_parents; p++) {
        if (p > 0) put_literal(out, ",");
        write_id(g_array_index(batch->parents, SpanId, span->parents_at + p), out);
    }
    put_literal(out, "]");

    write_annotations(batch, span, out);
    write_notes(batch, span, out);
    put_literal(out, "}\n");
}
