/* Format of a trace record, version 3. Numbers are varints unless said otherwise; "signed" is zig-zag.
 *
 * Head: version (1 byte); bits (RECORD_...); pattern number; number of spans; with RECORD_TRACE_FLAGS TraceFlags; with
 * RECORD_ORPHANS the number of orphans; with RECORD_DROPPED DroppedColumns and, when ids are among them, part and
 * ids_at of RecordHead; signed begin of the trace; its length; with RECORD_SHAPE the pattern (pattern.c), its length
 * before it; with RECORD_DIRECTORY the bytes of counts and times, of tracers and flags, and (RECORD_PARENTS) of
 * parents; with RECORD_PLACES, but for DROPPED_IDS, the bytes of ids. Times are in
 * units of 1 ns, or of 1 ms when the bits have RECORD_MS.
 *
 * Then columns, each of them in the order of places. A place is an instance of a pattern node, that is, a node of the
 * tree; places are ordered by pattern node, then as the tree is. So place 0 is the trace, and the children that have
 * one pattern node and one parent stand together. Places of one pattern node with the same parent are "siblings" here.
 *
 *   counts       (RECORD_COUNTS) for each pattern node but the first, for each place of its parent: siblings - 1, as
 *                runs; the change is the number itself. Without the column all are 0.
 *   times        bits (record_bits.h), two values for each span: its begin, signed, from the parent's begin (from the
 *                trace's where the parent is no span) or, for later siblings, from the begin or the end of the sibling
 *                before, whichever was nearer the last time; its duration, signed with RECORD_REVERSED. record_model.h
 *                says which widths are expected. For the first child of the trace in a pattern node one bit instead:
 *                1: it lasts as long as the trace; 0: the two values follow (expected widths: 0, the trace's length's).
 *   tracers      as runs; expected is what record_model.h says; the change is tracer_token().
 *   flags        (RECORD_FLAGS) as runs; expected is the value before, at first 0.
 *   parents      (RECORD_PARENTS) as runs; expected is none for the trace's children, the missing id for those of a
 *                placeholder, else the tree's parent alone. The change is the number of parents, and per parent a
 *                token: 0 and 16 bytes: an id of another trace; 1 and 8 bytes: an id of this trace that has no place;
 *                else 2 + signed difference of its place to that of the parent before, at first to the tree's
 *                parent (or 0).
 *   annotations  (RECORD_ANNOTATED) as runs; expected are those of the place before of the same pattern node (at first
 *                none), and no notes. The change is a token: KEYS_AS_BEFORE: the same keys as there; KEYS_OWN + n: n
 *                keys (dictionary ids) follow; else it refers to one of the last RECENT_LISTS lists with keys of their
 *                own: KEYS_RECENT + 2k: the keys of the k-th last one, whose place this list then takes; KEYS_RECENT +
 *                2k + 1: keys and values of it. But for the last case then come the values: token * 8 + kind.
 *                VALUE_TEXT: text of 'token' bytes follows; VALUE_NUMBER: the decimal digits of 'token'; VALUE_STEP: of
 *                the number there + signed 'token'; VALUE_RECENT: the same as there ('token' 0), or as the 'token'-th
 *                last of the texts of RECENT_MIN_BYTES and more that followed so far, the last RECENT_TEXTS of them;
 *                VALUE_PREFIX: the first 'token' bytes of the last of these texts, then a VALUE_TEXT with the rest.
 *                Then, with RECORD_NOTES: number of notes, for each: signed time from the span's begin, and a value
 *                that refers to nothing "there".
 *   ids          (but for DROPPED_IDS) 8 bytes big-endian: lower half of the span's id; of placeholders that of the
 *                missing id, 16 bytes with RECORD_FOREIGN. With RECORD_PLACES bits (record_bits.h) instead: what
 *                id_place() makes of the lower half, as signed difference to what record_ids.h expects, a value of
 *                the width that it expects; but where it expects nothing, and of placeholders, the halves themselves,
 *                64 bits each. They are last: nobody needs them to read another column.
 *
 * "As runs": how many places are as expected, then the change of the one that is not, and again; after the last place
 * nothing, but the length of a run that reaches it. Placeholders have ids only. What references copy is limited by
 * record_may_copy(). */
#include "analyzer/calltree/record/record.h"

#include "analyzer/calltree/id_hash.h"
#include "analyzer/calltree/record/record_encode.h"
#include "analyzer/calltree/record/record_ids.h"
#include "analyzer/calltree/record/record_model.h"

/* Nodes and pattern nodes up to which the scratch arrays lie on the C stack. */
#define STACK_NODES 512u

/* Longest encoding of a span without its variable part, which at most doubles, and of the head. */
#define SPAN_BOUND_BYTES 112u
/* Of what is written beside it first: a run and a token, a run and flags, an id. */
#define TRACER_BOUND_BYTES  16u
#define FLAGS_BOUND_BYTES   16u
#define ID_BOUND_BYTES      16u
#define STREAMS_BOUND_BYTES (TRACER_BOUND_BYTES + FLAGS_BOUND_BYTES + ID_BOUND_BYTES)
#define HEAD_BOUND_BYTES    128u

/* Records that may be larger are written into memory of their own, which the system gets back: 'out' keeps what it has.
 */
#define LARGE_BYTES (1u << 20)

static inline guint8 *put_u64(guint8 *at, guint64 value) {
    value = GUINT64_TO_BE(value);
    memcpy(at, &value, sizeof value);
    return at + sizeof value;
}

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

/* ---- which columns there are ---- */

/* The parent in the tree is the first one that is known, or stands for the first; but cycles are cut. */
static inline gboolean parents_plain(const CallTree *tree, guint32 node) {
    return tree->span[node]->n_parents == (tree->parent[node] != 0);
}

static gboolean notes_whole_ms(const SpanRec *span) {
    SpanCursor cursor = span_cursor(span);
    SpanNote note;
    while (span_next_note(&cursor, &note)) {
        if (note.time_ns % 1000000 != 0) return FALSE;
    }
    return TRUE;
}

static guint64 trace_id_of(const CallTree *tree) {
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        if (tree->span[i] != NULL) return tree->span[i]->id.trace;
    }
    return 0;
}

static guint32 foreign_missing(const CallTree *tree) {
    if (tree->counts.placeholders == 0) return 0;
    guint64 trace_id = trace_id_of(tree);
    for (guint32 i = 1; i < tree->n_nodes; i = tree->end[i]) {
        if (tree->span[i] == NULL && tree->missing[i].trace != trace_id) return RECORD_FOREIGN;
    }
    return 0;
}

static gboolean whole_ms(const SpanRec *span) {
    return span->begin_ns % 1000000 == 0 && span->duration_ns % 1000000 == 0 &&
           (span->n_notes == 0 || notes_whole_ms(span));
}

/* Returns the bytes of all spans. */
static gsize choose_columns(Encoder *e) {
    const CallTree *tree = e->tree;
    gboolean ms = tree->end_ns % 1000000 == 0; /* the end may be what 64 bits hold at most */
    guint flags_or = 0, flags_and = G_MAXUINT16;
    gsize size_bytes = 0;

    for (guint32 i = 1; i < tree->n_nodes; i++) {
        const SpanRec *span = tree->span[i];
        if (i + SPANS_AHEAD < tree->n_nodes) span_expect(tree->span[i + SPANS_AHEAD]);
        if (span == NULL) continue;
        ms = ms && whole_ms(span);
        flags_or |= span->flags;
        flags_and &= span->flags;
        size_bytes += span->size_bytes;
        if (span->duration_ns < 0) e->bits |= RECORD_REVERSED;
        if (span->n_annotations > 0) e->bits |= RECORD_ANNOTATED;
        if (span->n_notes > 0) e->bits |= RECORD_ANNOTATED | RECORD_NOTES;
        if (!(e->bits & RECORD_PARENTS) && !parents_plain(tree, i)) e->bits |= RECORD_PARENTS;
    }

    if (ms) e->bits |= RECORD_MS;
    if (flags_or != flags_and || flags_or != record_usual_flags(e->bits)) e->bits |= RECORD_FLAGS;
    if (tree->n_nodes != e->pattern->n_nodes) e->bits |= RECORD_COUNTS;
    if (tree->n_spans >= DIRECTORY_SPANS) e->bits |= RECORD_DIRECTORY;
    e->bits |= foreign_missing(tree);
    return size_bytes;
}

/* ---- columns ---- */

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

static inline Interval interval_of(const Encoder *e, const SpanRec *span) {
    return (Interval){units_of(e, span->begin_ns), units_of(e, span->duration_ns)};
}

static Interval interval_of_trace(const Encoder *e) {
    gint64 begin = units_of(e, e->tree->begin_ns);
    return (Interval){begin, wrapping_sub(units_of(e, e->tree->end_ns), begin)};
}

/* Most traces last as long as their root. */
static void put_root(const Encoder *e, BitWriter *bits, const Interval *trace, const Interval *own) {
    guint64 duration = e->bits & RECORD_REVERSED ? zigzag_of(own->duration) : (guint64)own->duration;
    gboolean whole = own->begin == trace->begin && own->duration == trace->duration;
    bits_put(bits, whole, 1);
    if (whole) return;
    bits_put_value(bits, zigzag_of(wrapping_sub(own->begin, trace->begin)), 0);
    bits_put_value(bits, duration, width_of((guint64)trace->duration));
}

static inline void put_begin(BitWriter *bits, TimeModel *model, const Interval *parent, const Interval *own) {
    guint64 begin = zigzag_of(wrapping_sub(own->begin, parent->begin));
    model_learn(&model->begin, &model->begin_known, bits_put_value(bits, begin, model_begin(model, parent)));
}

static inline void put_step(BitWriter *bits, TimeModel *model, const Interval *before, const Interval *own) {
    guint64 step = zigzag_of(wrapping_sub(own->begin, model_step_from(model, before)));
    model_learn_step(model, before, own->begin, bits_put_value(bits, step, model_step(model, before)));
}

static inline void put_duration(const Encoder *e, BitWriter *bits, TimeModel *model, const Interval *parent,
                                const Interval *own) {
    guint64 duration = e->bits & RECORD_REVERSED ? zigzag_of(own->duration) : (guint64)own->duration;
    guint expected = model_duration(model, parent, own->begin);
    model_learn(&model->duration, &model->duration_known, bits_put_value(bits, duration, expected));
}

/* Streams that grow side by side, so that each span is looked at once. */
typedef struct Streams {
    BitWriter times;
    Encoder tracers; /* for its 'at' and 'run' */
    Encoder flags;
    BitWriter ids;
    TracerModel tracer_model;
    IdModel id_model;
    guint16 flags_before;
} Streams;

static inline void put_tracer(Streams *s, const SpanRec *span, const SpanRec *parent) {
    const guint32 *parents = parent != NULL ? &parent->tracer : NULL;
    if (span->tracer == tracer_model_expect(&s->tracer_model, parents)) {
        s->tracers.run++;
    } else {
        guint64 token = tracer_token(&s->tracer_model, span->tracer);
        run_break(&s->tracers);
        put(&s->tracers, token);
        tracer_written(&s->tracer_model, token, span->tracer);
    }
    tracer_model_learn(&s->tracer_model, parents, span->tracer);
}

static inline void put_flags(Streams *s, const SpanRec *span) {
    if (span->flags == s->flags_before) {
        s->flags.run++;
        return;
    }
    run_break(&s->flags);
    put(&s->flags, span->flags);
    s->flags_before = span->flags;
}

static inline void put_id(Streams *s, const SpanRec *span, const SpanRec *parent, const SpanRec *sibling) {
    IdModel *model = &s->id_model;
    IdContext at = {span->tracer, parent != NULL && parent->tracer == span->tracer,
                    sibling != NULL && sibling->tracer == span->tracer, 0};
    if (at.as_parent) at.parent = id_place(parent->id.span);
    const IdGuess guess = id_model_guess(model, &at);
    const guint64 place = id_place(span->id.span);
    if (guess.kind == ID_UNKNOWN) {
        bits_put_u64(&s->ids, span->id.span);
    } else {
        guint64 missed = zigzag_of(wrapping_sub((gint64)place, (gint64)guess.place));
        guint width = bits_put_value(&s->ids, missed, id_model_width(model, guess.kind));
        id_model_learn_width(model, guess.kind, width);
    }
    id_model_learn(model, &at, place);
}

static void put_missing(Streams *s, const Encoder *e, guint32 q) {
    for (guint32 place = e->first[q]; place < e->first[q + 1]; place++) {
        SpanId missing = e->tree->missing[e->node[place]];
        if (e->bits & RECORD_FOREIGN) bits_put_u64(&s->ids, missing.trace);
        bits_put_u64(&s->ids, missing.span);
    }
}

/* The places of one pattern node. */
static void put_node(Streams *s, const Encoder *e, guint32 q, const Interval *trace) {
    BitWriter bits = s->times;
    TimeModel model = {0};
    Interval before = {0, 0};
    const SpanRec *span_before = NULL;
    guint32 parent_before = G_MAXUINT32;
    tracer_model_node(&s->tracer_model, e->pattern, q);
    id_model_node(&s->id_model);

    for (guint32 place = e->first[q]; place < e->first[q + 1]; place++) {
        const SpanRec *span = span_at(e, place);
        expect_place(e, place + SPANS_AHEAD);
        guint32 parent_node = parent_at(e, place);
        const SpanRec *parent = e->tree->span[parent_node];
        const Interval around = parent != NULL ? interval_of(e, parent) : *trace, own = interval_of(e, span);
        const gboolean later = parent_node == parent_before;
        if (parent_node == 0 && place == e->first[q]) {
            put_root(e, &bits, trace, &own);
        } else {
            later ? put_step(&bits, &model, &before, &own) : put_begin(&bits, &model, &around, &own);
            put_duration(e, &bits, &model, &around, &own);
        }
        put_tracer(s, span, parent);
        if (e->bits & RECORD_FLAGS) put_flags(s, span);
        put_id(s, span, parent, later ? span_before : NULL);
        before = own;
        span_before = span;
        parent_before = parent_node;
    }

    s->times = bits;
}

static inline void append(Encoder *e, const guint8 *from, const guint8 *end) {
    memcpy(e->at, from, (gsize)(end - from));
    e->at += end - from;
}

/* Lengths for the directory. */
typedef struct Lengths {
    gsize times, tracers, parents;
} Lengths;

static void put_nodes(Streams *s, const Encoder *e) {
    const Interval trace = interval_of_trace(e);
    IdSlot few[ID_SLOTS_FEW];
    const guint32 n_slots = id_slots_of(e->tree->n_nodes);
    g_autofree IdSlot *many = n_slots > ID_SLOTS_FEW ? g_new(IdSlot, n_slots) : NULL;
    id_model_init(&s->id_model, many != NULL ? many : few, n_slots);
    for (guint32 q = 1; q < e->pattern->n_nodes; q++) {
        if (is_placeholder(e->pattern, q)) {
            put_missing(s, e, q);
        } else {
            put_node(s, e, q, &trace);
        }
    }
}

/* Returns the ids, which stand beside. */
static Bytes put_streams(Encoder *e, guint8 *beside, Lengths *lengths) {
    gsize n = e->tree->n_nodes;
    guint8 *flags = beside + n * TRACER_BOUND_BYTES, *ids = flags + n * FLAGS_BOUND_BYTES, *start = e->at;
    Streams s = {.times = {.at = e->at}, .tracers = {.at = beside}, .flags = {.at = flags}, .ids = {.at = ids}};
    put_nodes(&s, e);
    e->at = bits_end(&s.times);
    lengths->times += (gsize)(e->at - start);
    start = e->at;
    run_end(&s.tracers);
    run_end(&s.flags);
    append(e, beside, s.tracers.at);
    append(e, flags, s.flags.at);
    lengths->tracers = (gsize)(e->at - start);
    return (Bytes){ids, (gsize)(bits_end(&s.ids) - ids)};
}

/* Of a placeholder: the missing one. */
static inline SpanId id_at(const Encoder *e, guint32 place) {
    const SpanRec *span = span_at(e, place);
    return span != NULL ? span->id : e->tree->missing[e->node[place]];
}

/* Ids that no sequence gave, as those of other programs, are far from each other. */
static void choose_ids(Encoder *e, Bytes *coded) {
    const CallTree *tree = e->tree;
    guint32 n_missing = tree->n_nodes - 1 - tree->n_spans;
    gsize plain_bytes = record_plain_ids_bytes(e->bits, tree->n_spans, n_missing);
    if (coded->size_bytes < plain_bytes) {
        e->bits |= RECORD_PLACES;
        return;
    }
    guint8 *at = (guint8 *)coded->data;
    for (guint32 place = 1; place < tree->n_nodes; place++) {
        SpanId id = id_at(e, place);
        if (span_at(e, place) == NULL && (e->bits & RECORD_FOREIGN)) at = put_u64(at, id.trace);
        at = put_u64(at, id.span);
    }
    coded->size_bytes = plain_bytes;
}

/* ---- parents that the tree does not tell ---- */

/* id -> place; 0: none. */
typedef struct Places {
    guint32 *table;
    guint32 mask;
    guint64 secret;
    guint32 *place_of; /* per node of the tree */
} Places;

static guint32 *places_at(const Encoder *e, const Places *places, SpanId id) {
    guint32 at = span_id_hash(id, places->secret) & places->mask;
    while (places->table[at] != 0 && !span_id_equal(id_at(e, places->table[at]), id)) at = (at + 1) & places->mask;
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
        if (place > 0) *places_at(e, places, id_at(e, place)) = place;
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

/* ---- the whole ---- */

static void put_head(Encoder *e, const RecordHead *head, const Lengths *lengths, gsize ids_bytes) {
    const CallTree *tree = e->tree;

    *e->at++ = RECORD_VERSION;
    put(e, e->bits);
    put(e, head->pattern_number);
    put(e, tree->n_spans);
    if (e->bits & RECORD_TRACE_FLAGS) put(e, head->flags);
    if (e->bits & RECORD_ORPHANS) put(e, tree->counts.orphans);
    if (e->bits & RECORD_DROPPED) put(e, head->dropped);
    if (head->dropped & DROPPED_IDS) {
        put(e, head->part);
        put(e, head->ids_at);
    }

    const Interval trace = interval_of_trace(e);
    put(e, zigzag_of(trace.begin));
    put(e, (guint64)trace.duration);

    if (e->bits & RECORD_SHAPE) {
        put(e, e->shape.size_bytes);
        append(e, e->shape.data, (const guint8 *)e->shape.data + e->shape.size_bytes);
    }
    if (e->bits & RECORD_DIRECTORY) {
        put(e, lengths->times);
        put(e, lengths->tracers);
        if (e->bits & RECORD_PARENTS) put(e, lengths->parents);
    }
    if ((e->bits & RECORD_PLACES) && !(head->dropped & DROPPED_IDS)) put(e, ids_bytes);
}

static void put_ids(Encoder *e, const RecordHead *head, Bytes ids) {
    if (!(head->dropped & DROPPED_IDS)) {
        append(e, ids.data, (const guint8 *)ids.data + ids.size_bytes);
    } else if (head->ids != NULL) {
        g_byte_array_append(head->ids, ids.data, (guint)ids.size_bytes);
    }
}

/* Columns first, behind the longest head; then the head, and they are moved up to it. */
static void put_record(Encoder *e, const RecordHead *head, guint8 *start, gsize span_bytes) {
    guint8 *columns = start + HEAD_BOUND_BYTES + e->shape.size_bytes;
    Lengths lengths = {0, 0, 0};

    e->at = columns;
    put_counts(e);
    lengths.times = (gsize)(e->at - columns);
    gsize main_bytes = (gsize)e->tree->n_nodes * SPAN_BOUND_BYTES + 2 * span_bytes;
    Bytes ids = put_streams(e, columns + main_bytes, &lengths);
    if (!(head->dropped & DROPPED_IDS) || head->ids != NULL) choose_ids(e, &ids);

    guint8 *parents = e->at;
    put_parents(e);
    lengths.parents = (gsize)(e->at - parents);
    if (e->bits & RECORD_ANNOTATED) record_put_annotations(e);
    put_ids(e, head, ids);
    g_assert((gsize)(e->at - columns) <= main_bytes);

    gsize size_bytes = (gsize)(e->at - columns);
    e->at = start;
    put_head(e, head, &lengths, ids.size_bytes);
    memmove(e->at, columns, size_bytes);
    e->at += size_bytes;
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
    if (head->flags != 0) e.bits |= RECORD_TRACE_FLAGS;
    if (tree->counts.orphans != 0) e.bits |= RECORD_ORPHANS;
    if (head->dropped != 0) e.bits |= RECORD_DROPPED;

    g_autoptr(GByteArray) shape = NULL;
    if (head->with_shape) {
        shape = g_byte_array_new();
        pattern_encode(pattern, shape);
        e.shape = (Bytes){shape->data, shape->len};
        e.bits |= RECORD_SHAPE;
    }

    gsize bound = HEAD_BOUND_BYTES + e.shape.size_bytes +
                  (gsize)tree->n_nodes * (SPAN_BOUND_BYTES + STREAMS_BOUND_BYTES) + 2 * span_bytes;

    if (bound > LARGE_BYTES) {
        g_autofree guint8 *large = g_malloc(bound);
        put_record(&e, head, large, span_bytes);
        g_byte_array_append(out, large, (guint)(e.at - large));
        return;
    }

    guint start = out->len;
    g_byte_array_set_size(out, (guint)(start + bound));
    put_record(&e, head, out->data + start, span_bytes);
    g_byte_array_set_size(out, (guint)(e.at - out->data));
}
