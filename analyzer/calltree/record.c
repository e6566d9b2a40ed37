/* Format of a trace record, version 1. Numbers are varints unless said otherwise; "signed" is zig-zag.
 *
 * Head: version (1 byte); bits (RECORD_...); pattern number; TraceFlags; number of spans; number of orphans; signed
 * begin of the trace; its length. Times are in units of 1 ns, or of 1 ms when the bits have RECORD_MS.
 *
 * Then columns, each of them in the order of places. A place is an instance of a pattern node, that is, a node of the
 * tree; places are ordered by pattern node, then as the tree is. So place 0 is the trace, and the children that have
 * one pattern node and one parent stand together. Places of one pattern node with the same parent are "siblings" here.
 *
 *   counts       (RECORD_COUNTS) for each pattern node but the first, for each place of its parent: siblings - 1, as
 *                runs; the change is the number itself. Without the column all are 0.
 *   ids          8 bytes big-endian: lower half of the span's id; of placeholders that of the missing id, 16 bytes
 *                with RECORD_FOREIGN.
 *   begins       signed: from the parent's begin (from the trace's where the parent is no span) or, for later
 *                siblings, from the sibling before: its end with RECORD_AFTER_END, else its begin.
 *   durations    signed with RECORD_REVERSED.
 *   tracers      as runs; the change is the dictionary id. Expected is: of the first place of a pattern node, the
 *                parent's tracer (where that is no span, the one before); if that was right, the same for the others,
 *                else the tracer of the place before.
 *   flags        (RECORD_FLAGS) as runs; expected is the value before, at first 0.
 *   parents      (RECORD_PARENTS) as runs; expected is none for the trace's children, the missing id for those of a
 *                placeholder, else the tree's parent alone. The change is the number of parents, and per parent a
 *                token: 0 and 16 bytes: an id of another trace; 1 and 8 bytes: an id of this trace that is not in the
 *                record; else 2 + signed difference of its place to that of the parent before, at first to the tree's
 *                parent (or 0).
 *   annotations  (RECORD_ANNOTATED) as runs; expected are those of the place before of the same pattern node (at first
 *                none), and no notes. The change is a token: 0: the same keys as there; 1 + n: n keys (dictionary ids)
 *                follow. Then the values: token * 4 + kind; kind 0: text of 'token' bytes follows; 1: the decimal
 *                digits of 'token'; 2: of the number there + signed 'token'; 3: the same as there ('token' 0), or as
 *                the 'token'-th last of the texts of RECENT_MIN_BYTES and more that followed so far, the last
 *                RECENT_TEXTS of them. Then, with RECORD_NOTES: number of notes, for each: signed time from the span's
 *                begin, and a value that refers to nothing "there".
 *
 * "As runs": how many places are as expected, then the change of the one that is not, and again; after the last place
 * nothing, but the length of a run that reaches it. Placeholders have ids only. What "as before" copies is limited by
 * record_may_copy(). */
#include "analyzer/calltree/record.h"

#include "analyzer/calltree/id_hash.h"
#include "analyzer/calltree/record_form.h"
#include "analyzer/calltree/varint.h"
#include "common/base/error.h"

/* Nodes and pattern nodes up to which the scratch arrays lie on the C stack. */
#define STACK_NODES 512u

/* Longest encoding of a span without its variable part, which at most doubles, and of the head. */
#define SPAN_BOUND_BYTES 96u
#define HEAD_BOUND_BYTES 64u

typedef struct Encoder {
    const CallTree *tree;
    const Pattern *pattern;
    guint32 *first; /* per pattern node, and one more: its first place */
    guint32 *node;  /* per place: node of the tree */
    gint64 unit_ns;
    guint32 bits;
    guint8 *at;
    guint64 run;
} Encoder;

static guint8 *put_u64(guint8 *at, guint64 value) {
    value = GUINT64_TO_BE(value);
    memcpy(at, &value, sizeof value);
    return at + sizeof value;
}

static inline void put(Encoder *e, guint64 value) { e->at = put_varint(e->at, value); }

static inline void run_break(Encoder *e) {
    put(e, e->run);
    e->run = 0;
}

static void run_end(Encoder *e) {
    if (e->run > 0) run_break(e);
}

static inline const SpanRec *span_at(const Encoder *e, guint32 place) { return e->tree->span[e->node[place]]; }
static inline guint32 parent_at(const Encoder *e, guint32 place) { return e->tree->parent[e->node[place]]; }

/* Counting sort of the nodes by their pattern nodes. Pre-order of the tree keeps siblings together, and pattern nodes
 * in the order of their parents' places. */
static void order_places(Encoder *e, const guint32 *node_of) {
    guint32 n = e->tree->n_nodes, n_pattern = e->pattern->n_nodes;
    memset(e->first, 0, (n_pattern + 1) * sizeof *e->first);
    for (guint32 i = 0; i < n; i++) e->first[node_of[i] + 1]++;
    for (guint32 q = 0; q < n_pattern; q++) e->first[q + 1] += e->first[q];
    for (guint32 i = 0; i < n; i++) e->node[e->first[node_of[i]]++] = i;
    for (guint32 q = n_pattern; q > 0; q--) e->first[q] = e->first[q - 1];
    e->first[0] = 0;
}

static gboolean parents_plain(const CallTree *tree, guint32 node) {
    const SpanRec *span = tree->span[node];
    guint32 parent = tree->parent[node];
    if (parent == 0) return span->n_parents == 0;
    if (span->n_parents != 1) return FALSE;
    return span_id_equal(span_parents(span)[0], tree->span[parent] ? tree->span[parent]->id : tree->missing[parent]);
}

static gboolean notes_whole_ms(const SpanRec *span) {
    SpanCursor cursor = span_cursor(span);
    SpanNote note;
    while (span_next_note(&cursor, &note)) {
        if (note.time_ns % 1000000 != 0) return FALSE;
    }
    return TRUE;
}

static guint32 foreign_missing(const CallTree *tree, guint64 trace_id) {
    if (tree->counts.placeholders == 0) return 0;
    for (guint32 i = 1; i < tree->n_nodes; i = tree->end[i]) {
        if (tree->span[i] == NULL && tree->missing[i].trace != trace_id) return RECORD_FOREIGN;
    }
    return 0;
}

static guint64 trace_id_of(const CallTree *tree) {
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        if (tree->span[i] != NULL) return tree->span[i]->id.trace;
    }
    return 0;
}

/* Which columns there must be; returns the bytes of all spans. */
static gsize choose_columns(Encoder *e) {
    const CallTree *tree = e->tree;
    gboolean whole_ms = TRUE;
    guint flags_or = 0, flags_and = G_MAXUINT16;
    gsize size_bytes = 0;
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        const SpanRec *span = tree->span[i];
        if (span == NULL) continue;
        whole_ms = whole_ms && span->begin_ns % 1000000 == 0 && span->duration_ns % 1000000 == 0;
        flags_or |= span->flags;
        flags_and &= span->flags;
        size_bytes += span->size_bytes;
        if (span->duration_ns < 0) e->bits |= RECORD_REVERSED;
        if (span->n_annotations > 0) e->bits |= RECORD_ANNOTATED;
        if (span->n_notes > 0) {
            e->bits |= RECORD_ANNOTATED | RECORD_NOTES;
            whole_ms = whole_ms && notes_whole_ms(span);
        }
        if (!(e->bits & RECORD_PARENTS) && !parents_plain(tree, i)) e->bits |= RECORD_PARENTS;
    }
    /* The end may be what 64 bits hold at most. */
    if (whole_ms && tree->end_ns % 1000000 == 0) e->bits |= RECORD_MS;
    if (flags_or != flags_and || flags_or != record_usual_flags(e->bits)) e->bits |= RECORD_FLAGS;
    if (tree->n_nodes != e->pattern->n_nodes) e->bits |= RECORD_COUNTS;
    e->bits |= foreign_missing(tree, trace_id_of(tree));
    e->unit_ns = record_unit_ns(e->bits);
    return size_bytes;
}

/* The first place after 'place' that is no sibling of it. */
static inline guint32 siblings_end(const Encoder *e, guint32 place, guint32 q_end) {
    guint32 parent = parent_at(e, place++);
    while (place < q_end && parent_at(e, place) == parent) place++;
    return place;
}

static void put_counts(Encoder *e) {
    if (!(e->bits & RECORD_COUNTS)) return;
    for (guint32 q = 1; q < e->pattern->n_nodes; q++) {
        for (guint32 place = e->first[q]; place < e->first[q + 1];) {
            guint32 next = siblings_end(e, place, e->first[q + 1]);
            if (next - place == 1) {
                e->run++;
            } else {
                run_break(e);
                put(e, next - place - 1);
            }
            place = next;
        }
    }
    run_end(e);
}

static void put_ids(Encoder *e) {
    for (guint32 place = 1; place < e->tree->n_nodes; place++) {
        const SpanRec *span = span_at(e, place);
        if (span != NULL) {
            e->at = put_u64(e->at, span->id.span);
            continue;
        }
        SpanId missing = e->tree->missing[e->node[place]];
        if (e->bits & RECORD_FOREIGN) e->at = put_u64(e->at, missing.trace);
        e->at = put_u64(e->at, missing.span);
    }
}

static inline gboolean later_sibling(const Encoder *e, guint32 q, guint32 place) {
    return place > e->first[q] && parent_at(e, place) == parent_at(e, place - 1);
}

static inline guint bits_of(gint64 value) { return 64u - (guint)__builtin_clzll(zigzag_of(value) | 1); }

/* Calls one after the other start shortly after the end of the one before, calls side by side after its begin. */
static void choose_reference(Encoder *e) {
    if (!(e->bits & RECORD_COUNTS)) return;
    guint64 after_begin = 0, after_end = 0;
    for (guint32 q = 1; q < e->pattern->n_nodes; q++) {
        for (guint32 place = e->first[q] + 1; place < e->first[q + 1]; place++) {
            const SpanRec *span = span_at(e, place), *before = span_at(e, place - 1);
            if (span == NULL || !later_sibling(e, q, place)) continue;
            gint64 step = wrapping_sub(span->begin_ns, before->begin_ns);
            after_begin += bits_of(step);
            after_end += bits_of(wrapping_sub(step, before->duration_ns));
        }
    }
    if (after_end < after_begin) e->bits |= RECORD_AFTER_END;
}

static gint64 begin_reference(const Encoder *e, guint32 q, guint32 place) {
    if (later_sibling(e, q, place)) {
        const SpanRec *before = span_at(e, place - 1);
        gint64 begin = before->begin_ns / e->unit_ns;
        return e->bits & RECORD_AFTER_END ? wrapping_add(begin, before->duration_ns / e->unit_ns) : begin;
    }
    const SpanRec *parent = e->tree->span[parent_at(e, place)];
    return (parent != NULL ? parent->begin_ns : e->tree->begin_ns) / e->unit_ns;
}

static void put_times(Encoder *e) {
    for (guint32 q = 1; q < e->pattern->n_nodes; q++) {
        for (guint32 place = e->first[q]; place < e->first[q + 1]; place++) {
            const SpanRec *span = span_at(e, place);
            if (span == NULL) break;
            gint64 begin = span->begin_ns / e->unit_ns;
            put(e, zigzag_of(wrapping_sub(begin, begin_reference(e, q, place))));
        }
    }
    for (guint32 place = 1; place < e->tree->n_nodes; place++) {
        const SpanRec *span = span_at(e, place);
        if (span == NULL) continue;
        gint64 duration = span->duration_ns / e->unit_ns;
        put(e, e->bits & RECORD_REVERSED ? zigzag_of(duration) : (guint64)duration);
    }
}

static void put_tracers(Encoder *e) {
    guint32 before = 0;
    for (guint32 q = 1; q < e->pattern->n_nodes; q++) {
        gboolean as_parent = FALSE;
        for (guint32 place = e->first[q]; place < e->first[q + 1]; place++) {
            const SpanRec *span = span_at(e, place);
            if (span == NULL) break;
            const SpanRec *parent = e->tree->span[parent_at(e, place)];
            gboolean first = place == e->first[q];
            guint32 expected = parent != NULL && (first || as_parent) ? parent->tracer : before;
            if (first) as_parent = span->tracer == expected;
            before = span->tracer;
            if (span->tracer == expected) {
                e->run++;
                continue;
            }
            run_break(e);
            put(e, span->tracer);
        }
    }
    run_end(e);
}

static void put_flags(Encoder *e) {
    if (!(e->bits & RECORD_FLAGS)) return;
    guint16 before = 0;
    for (guint32 place = 1; place < e->tree->n_nodes; place++) {
        const SpanRec *span = span_at(e, place);
        if (span == NULL) continue;
        if (span->flags == before) {
            e->run++;
            continue;
        }
        run_break(e);
        put(e, span->flags);
        before = span->flags;
    }
    run_end(e);
}

/* ---- parents that the tree does not tell ---- */

/* id -> place, for spans; 0: none. */
typedef struct Places {
    guint32 *table;
    guint32 mask;
    guint64 secret;
    guint32 *place_of; /* per node of the tree */
} Places;

static guint32 *places_at(const Encoder *e, const Places *places, SpanId id) {
    guint32 at = span_id_hash(id, places->secret) & places->mask;
    while (places->table[at] != 0 && !span_id_equal(span_at(e, places->table[at])->id, id))
        at = (at + 1) & places->mask;
    return &places->table[at];
}

static void places_init(Places *places, const Encoder *e) {
    guint32 n = e->tree->n_nodes, size = 4;
    while (size / 2 < n) size *= 2;
    places->table = g_new0(guint32, size);
    places->mask = size - 1;
    places->secret = span_id_secret();
    places->place_of = g_new(guint32, n);
    for (guint32 place = 0; place < n; place++) {
        places->place_of[e->node[place]] = place;
        const SpanRec *span = span_at(e, place);
        if (span != NULL) *places_at(e, places, span->id) = place;
    }
}

static void places_clear(Places *places) {
    g_free(places->table);
    g_free(places->place_of);
}

static void put_parent_list(Encoder *e, const Places *places, guint32 place) {
    const SpanRec *span = span_at(e, place);
    guint32 parent = parent_at(e, place);
    gint64 before = e->tree->span[parent] != NULL ? places->place_of[parent] : 0;
    put(e, span->n_parents);
    for (guint i = 0; i < span->n_parents; i++) {
        SpanId id = span_parents(span)[i];
        guint32 found = *places_at(e, places, id);
        if (found != 0) {
            put(e, PARENT_PLACE + zigzag_of((gint64)found - before));
            before = found;
        } else if (id.trace == span->id.trace) {
            put(e, PARENT_UNKNOWN);
            e->at = put_u64(e->at, id.span);
        } else {
            put(e, PARENT_FOREIGN);
            e->at = put_u64(put_u64(e->at, id.trace), id.span);
        }
    }
}

static void put_parents(Encoder *e) {
    if (!(e->bits & RECORD_PARENTS)) return;
    Places places;
    places_init(&places, e);
    for (guint32 place = 1; place < e->tree->n_nodes; place++) {
        if (span_at(e, place) == NULL) continue;
        if (parents_plain(e->tree, e->node[place])) {
            e->run++;
            continue;
        }
        run_break(e);
        put_parent_list(e, &places, place);
    }
    run_end(e);
    places_clear(&places);
}

/* ---- annotations and notes ---- */

typedef struct Column {
    const guint8 *start; /* of the column in the record */
    guint64 copied;      /* bytes "as before" */
    RecentTexts recent;
} Column;

static gboolean may_copy(const Encoder *e, Column *column, gsize size_bytes) {
    if (!record_may_copy(column->copied, size_bytes, (gsize)(e->at - column->start))) return FALSE;
    column->copied += size_bytes;
    return TRUE;
}

static gboolean same_text(const char *a, guint32 a_length, const char *b, guint32 b_length) {
    return a_length == b_length && memcmp(a, b, a_length) == 0;
}

static void put_text(Encoder *e, Column *column, const char *text, guint32 length) {
    const RecentTexts *recent = &column->recent;
    for (guint32 back = 1; back <= recent_known(recent); back++) {
        guint32 at = (recent->n - back) % RECENT_TEXTS;
        if (!same_text(recent->text[at], recent->length[at], text, length) || !may_copy(e, column, length)) continue;
        put(e, (guint64)back << 2 | VALUE_AS_BEFORE);
        return;
    }
    put(e, (guint64)length << 2 | VALUE_TEXT);
    memcpy(e->at, text, length);
    e->at += length;
    recent_add(&column->recent, text, length);
}

/* before: NULL when there is no value to refer to. */
static void put_value(Encoder *e, Column *column, const SpanAnnotation *value, const SpanAnnotation *before) {
    gint64 number, number_before;
    if (before != NULL && same_text(before->value, before->length, value->value, value->length) &&
        may_copy(e, column, value->length)) {
        put(e, VALUE_AS_BEFORE);
        return;
    }
    if (!number_of_text(value->value, value->length, &number)) {
        put_text(e, column, value->value, value->length);
        return;
    }
    if (before != NULL && number_of_text(before->value, before->length, &number_before)) {
        guint64 step = zigzag_of(number - number_before);
        if (step < (guint64)number) {
            put(e, step << 2 | VALUE_STEP);
            return;
        }
    }
    put(e, (guint64)number << 2 | VALUE_NUMBER);
}

static gboolean same_keys(const SpanRec *a, const SpanRec *b) {
    if (a->n_annotations != b->n_annotations) return FALSE;
    SpanCursor at_a = span_cursor(a), at_b = span_cursor(b);
    SpanAnnotation of_a, of_b;
    while (span_next_annotation(&at_a, &of_a) && span_next_annotation(&at_b, &of_b)) {
        if (of_a.key != of_b.key) return FALSE;
    }
    return TRUE;
}

static gboolean all_as_before(const Encoder *e, Column *column, const SpanRec *span, const SpanRec *before) {
    if (span->n_notes > 0) return FALSE;
    if (span->n_annotations == 0) return before == NULL || before->n_annotations == 0;
    if (before == NULL || before->n_annotations != span->n_annotations) return FALSE;
    Bytes own = annotations_of(span), others = annotations_of(before);
    if (own.size_bytes != others.size_bytes || memcmp(own.data, others.data, own.size_bytes) != 0) return FALSE;
    return may_copy(e, column, own.size_bytes);
}

static void put_notes(Encoder *e, Column *column, const SpanRec *span) {
    SpanCursor cursor = span_cursor(span);
    SpanNote note;
    put(e, span->n_notes);
    while (span_next_note(&cursor, &note)) {
        put(e, zigzag_of(wrapping_sub(note.time_ns / e->unit_ns, span->begin_ns / e->unit_ns)));
        const SpanAnnotation message = {.value = note.message, .length = note.length};
        put_value(e, column, &message, NULL);
    }
}

static void put_span_annotations(Encoder *e, Column *column, const SpanRec *span, const SpanRec *before) {
    gboolean keys_known = before != NULL ? same_keys(span, before) : span->n_annotations == 0;
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation own, other;
    if (keys_known) {
        put(e, KEYS_AS_BEFORE);
    } else {
        put(e, 1 + (guint64)span->n_annotations);
        while (span_next_annotation(&cursor, &own)) put(e, own.key);
        cursor = span_cursor(span);
    }
    SpanCursor others = span_cursor(before != NULL ? before : span);
    while (span_next_annotation(&cursor, &own)) {
        gboolean refers = keys_known && span_next_annotation(&others, &other);
        put_value(e, column, &own, refers ? &other : NULL);
    }
    if (e->bits & RECORD_NOTES) put_notes(e, column, span);
}

static void put_annotations(Encoder *e) {
    if (!(e->bits & RECORD_ANNOTATED)) return;
    Column column = {.start = e->at};
    for (guint32 q = 1; q < e->pattern->n_nodes; q++) {
        const SpanRec *before = NULL;
        for (guint32 place = e->first[q]; place < e->first[q + 1]; place++) {
            const SpanRec *span = span_at(e, place);
            if (span == NULL) break;
            if (all_as_before(e, &column, span, before)) {
                e->run++;
            } else {
                run_break(e);
                put_span_annotations(e, &column, span, before);
            }
            before = span;
        }
    }
    run_end(e);
}

static void put_head(Encoder *e, const RecordHead *head) {
    const CallTree *tree = e->tree;
    *e->at++ = RECORD_VERSION;
    put(e, e->bits);
    put(e, head->pattern_number);
    put(e, head->flags);
    put(e, tree->n_spans);
    put(e, tree->counts.orphans);
    gint64 begin = tree->begin_ns / e->unit_ns, end = tree->end_ns / e->unit_ns;
    put(e, zigzag_of(begin));
    put(e, (guint64)end - (guint64)begin);
}

void record_encode(const CallTree *tree, const Pattern *pattern, const guint32 *node_of, const RecordHead *head,
                   GByteArray *out) {
    guint32 on_stack[2 * STACK_NODES + 1];
    gsize n_scratch = (gsize)pattern->n_nodes + 1 + tree->n_nodes;
    g_autofree guint32 *on_heap = n_scratch <= G_N_ELEMENTS(on_stack) ? NULL : g_new(guint32, n_scratch);
    Encoder e = {.tree = tree, .pattern = pattern, .first = on_heap != NULL ? on_heap : on_stack};
    e.node = e.first + pattern->n_nodes + 1;
    order_places(&e, node_of);
    gsize span_bytes = choose_columns(&e);
    choose_reference(&e);
    guint start = out->len;
    gsize bound = HEAD_BOUND_BYTES + (gsize)tree->n_nodes * SPAN_BOUND_BYTES + 2 * span_bytes;
    g_byte_array_set_size(out, (guint)(start + bound));
    e.at = out->data + start;
    put_head(&e, head);
    put_counts(&e);
    put_ids(&e);
    put_times(&e);
    put_tracers(&e);
    put_flags(&e);
    put_parents(&e);
    put_annotations(&e);
    g_assert((gsize)(e.at - out->data) <= start + bound);
    g_byte_array_set_size(out, (guint)(e.at - out->data));
}
