/* An entry of the index: for each of its terms, ascending, the rest of the term (u16, big-endian) and a varint n.
 *   n > 0: n postings, ascending: a varint, the second's difference to the one before (the first: to the hour's begin),
 *          and the upper 16 bits of the trace id (u16, big-endian);
 *   n = 0: the term is frequent; two varints: the first second of the group's records in this hour, less the hour's
 *          begin, and how many seconds more there are. */
#include "analyzer/archive/index/postings.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/calltree/process_cache.h"
#include "analyzer/calltree/varint.h"

/* Slots of a record's table, at first and at most; powers of two, as are all sizes. A record with more terms than that
 * has its table emptied: what repeats is then listed twice, which encode_run() mends, and the table stays in the near
 * caches. */
#define SEEN_FIRST 256u
#define SEEN_MOST  16384u

/* Values of the last keys, and the tracers met last: what repeats within a record is neither cut nor hashed again. */
#define LAST_VALUES  16u
#define LAST_TRACERS 1024u

typedef struct Posting {
    Term term;
    guint32 second;
    guint16 id_upper;
} Posting;

/* Terms of the record at hand: a slot is in use when its turn is the present one. */
typedef struct SeenTerm {
    Term term;
    guint32 turn;
} SeenTerm;

/* The last value of a key in the record at hand, all of whose terms were added. */
typedef struct LastValue {
    guint32 turn; /* of the record */
    guint32 key;
    guint32 length;
    const char *text; /* borrowed from the tree's spans */
} LastValue;

typedef struct LastTracer {
    guint32 turn; /* of the record */
    guint32 tracer;
} LastTracer;

struct Postings {
    ProcessCache processes;
    GArray *list;    /* Posting */
    GArray *seconds; /* guint32, of each record */
    guint record;    /* where the terms of the record at hand begin in 'list' */
    guint32 record_turn;
    guint32 turn;       /* of the table of terms: a new one when it grows, too */
    guint n_seen;       /* in that table */
    guint32 seen_slots; /* of the record at hand: small ones stay in the nearest cache */
    guint32 seen_room;
    SeenTerm *seen; /* at most half full */
    LastValue values[LAST_VALUES];
    LastTracer tracers[LAST_TRACERS];
    FailureKeys failure_keys;
    GArray *failed; /* guint32: nodes of the record at hand */
};

Postings *postings_new(const Lookup *lookup) {
    Postings *postings = g_new0(Postings, 1);
    postings->processes.lookup = lookup;
    postings->list = g_array_new(FALSE, FALSE, sizeof(Posting));
    postings->seconds = g_array_new(FALSE, FALSE, sizeof(guint32));
    postings->failed = g_array_new(FALSE, FALSE, sizeof(guint32));
    failure_keys_init(&postings->failure_keys);
    postings->seen_slots = postings->seen_room = SEEN_FIRST;
    postings->seen = g_new0(SeenTerm, SEEN_FIRST);
    return postings;
}

void postings_free(Postings *postings) {
    if (postings == NULL) return;
    g_array_unref(postings->list);
    g_array_unref(postings->seconds);
    g_array_unref(postings->failed);
    g_free(postings->seen);
    g_free(postings);
}

void postings_set_failure_keys(Postings *postings, const FailureKeys *keys) { postings->failure_keys = *keys; }

const GArray *postings_failed(const Postings *postings) { return postings->failed; }

gsize postings_size_bytes(const Postings *postings) {
    return postings->list->len * sizeof(Posting) + postings->seconds->len * sizeof(guint32);
}

/* ---- collecting ---- */

/* The slot of a term, or the free one where it belongs. */
static SeenTerm *seen_slot(const Postings *postings, Term term) {
    for (guint32 i = (guint32)((guint64)term * 0x9e3779b97f4a7c15u >> 32);; i++) {
        SeenTerm *seen = &postings->seen[i & (postings->seen_slots - 1)];
        if (seen->turn != postings->turn || seen->term == term) return seen;
    }
}

/* Empties the table. */
static void seen_begin(Postings *postings, guint32 slots) {
    if (slots > postings->seen_room) {
        g_free(postings->seen);
        postings->seen = g_new0(SeenTerm, slots);
        postings->seen_room = slots;
        postings->turn = 0;
    }
    postings->seen_slots = slots;
    if (++postings->turn != 0) return;
    memset(postings->seen, 0, postings->seen_room * sizeof *postings->seen);
    postings->turn = 1;
}

static void seen_grow(Postings *postings) {
    gboolean anew = postings->seen_slots == SEEN_MOST;
    seen_begin(postings, anew ? SEEN_MOST : 2 * postings->seen_slots);
    if (anew) postings->n_seen = 0;
    if (anew) return;
    for (guint i = postings->record; i < postings->list->len; i++) {
        Term term = g_array_index(postings->list, Posting, i).term;
        *seen_slot(postings, term) = (SeenTerm){term, postings->turn};
    }
}

/* Of the record at hand. */
static gboolean too_many(const Postings *postings) {
    return postings->list->len - postings->record >= TERMS_PER_RECORD;
}

static void add_term(Postings *postings, const TraceKey *key, Term term) {
    if (too_many(postings)) return; /* overflow() follows */
    SeenTerm *seen = seen_slot(postings, term);
    if (seen->turn == postings->turn) return;
    *seen = (SeenTerm){term, postings->turn};
    Posting posting = {term, key->second, (guint16)(key->trace_id >> 48)};
    g_array_append_val(postings->list, posting);
    if (++postings->n_seen > postings->seen_slots / 2) seen_grow(postings);
}

/* How much of the value is as in the last one of its key; which it takes the place of. */
static gsize value_known(Postings *postings, const SpanAnnotation *value) {
    LastValue *last = &postings->values[value->key % LAST_VALUES];
    const LastValue before = *last;
    *last = (LastValue){postings->record_turn, value->key, value->length, value->value};
    if (before.turn != postings->record_turn || before.key != value->key) return 0;
    gsize same = text_common_prefix(before.text, value->value, MIN(before.length, value->length));
    /* One that ends where the other goes on has another last component. */
    return same == value->length && same != before.length ? same - 1 : same;
}

static void add_value(Postings *postings, const TraceKey *key, const SpanAnnotation *annotation) {
    if (annotation->length == 0 || g_ascii_isdigit(annotation->value[0])) return; /* no path, and no term */
    gsize known = value_known(postings, annotation);
    if (known == annotation->length) return;
    const char *end = annotation->value + annotation->length, *at = path_begin(annotation->value, annotation->length);
    if (at == NULL) {
        if (term_value_has(annotation->value, annotation->length))
            add_term(postings, key, term_value(annotation->key, annotation->value, annotation->length));
        return;
    }
    /* Components that end within what is known were added with the last value. */
    const char *slash = annotation->value + known;
    while (slash > at && *--slash != '/') continue;
    if (slash > at) at = slash;
    const char *component;
    gsize length;
    while (path_next(&at, end, &component, &length)) add_term(postings, key, term_component(component, length));
}

/* key: NULL: without its terms. TRUE: the call failed. */
static gboolean add_span(Postings *postings, const TraceKey *key, const SpanRec *span) {
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    gboolean failed = FALSE;
    while (span_next_annotation(&cursor, &annotation)) {
        failed |= is_failure(&postings->failure_keys, &annotation);
        if (key != NULL) add_value(postings, key, &annotation);
    }
    return failed;
}

static void add_tracer(Postings *postings, const TraceKey *key, guint32 tracer) {
    LastTracer *last = &postings->tracers[tracer % LAST_TRACERS];
    if (last->turn == postings->record_turn && last->tracer == tracer) return;
    *last = (LastTracer){postings->record_turn, tracer};
    guint32 host = process_of(&postings->processes, tracer)->host;
    if (host != 0) add_term(postings, key, term_host(host));
}

/* A record with too many terms is listed under TERM_ANYTHING instead. */
static void overflow(Postings *postings, const TraceKey *key) {
    g_array_set_size(postings->list, postings->record);
    Posting posting = {TERM_ANYTHING, key->second, (guint16)(key->trace_id >> 48)};
    g_array_append_val(postings->list, posting);
}

static void record_begin(Postings *postings) {
    postings->record = postings->list->len;
    postings->n_seen = 0;
    g_array_set_size(postings->failed, 0);
    seen_begin(postings, SEEN_FIRST);
    if (++postings->record_turn != 0) return;
    memset(postings->values, 0, sizeof postings->values);
    memset(postings->tracers, 0, sizeof postings->tracers);
    postings->record_turn = 1;
}

void postings_add(Postings *postings, const TraceKey *key, guint32 pattern, const CallTree *tree,
                  const guint8 *listed) {
    record_begin(postings);
    g_array_append_val(postings->seconds, key->second);
    add_term(postings, key, term_pattern(pattern));
    add_term(postings, key, term_duration(term_duration_step(tree->end_ns - tree->begin_ns)));
    guint32 tracer = 0;
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        const SpanRec *span = tree->span[i];
        if (i + SPANS_AHEAD < tree->n_nodes) span_expect(tree->span[i + SPANS_AHEAD]);
        if (span == NULL) continue;
        const gboolean terms = (listed == NULL || listed[i] == 0) && !too_many(postings);
        if (terms && span->tracer != tracer) {
            add_tracer(postings, key, span->tracer);
            tracer = span->tracer;
        }
        if (span->n_annotations > 0 && add_span(postings, terms ? key : NULL, span))
            g_array_append_val(postings->failed, i);
    }
    if (too_many(postings)) overflow(postings, key);
}

/* ---- in order ---- */

#define RADIX_BITS 10u
#define RADIX      (1u << RADIX_BITS)

static void sort_by_term(GArray *list) {
    guint n = list->len;
    g_autofree Posting *other = g_new(Posting, n);
    Posting *from = (Posting *)(gpointer)list->data, *to = other;
    for (guint shift = 0; shift < TERM_BITS; shift += RADIX_BITS) {
        guint at[RADIX] = {0};
        for (guint i = 0; i < n; i++) at[from[i].term >> shift & (RADIX - 1)]++;
        for (guint i = 0, sum = 0; i < RADIX; i++) {
            guint count = at[i];
            at[i] = sum;
            sum += count;
        }
        for (guint i = 0; i < n; i++) to[at[from[i].term >> shift & (RADIX - 1)]++] = from[i];
        Posting *swap = from;
        from = to;
        to = swap;
    }
    if (from == other) memcpy(list->data, other, n * sizeof *other);
}

static inline gboolean before(const Posting *a, const Posting *b) {
    return a->second != b->second ? a->second < b->second : a->id_upper < b->id_upper;
}

static int by_place(const void *a, const void *b) {
    const Posting *x = a, *y = b;
    return before(x, y) ? -1 : before(y, x);
}

/* Postings of one term: mostly few, mostly in order. */
static void sort_run(Posting *run, guint n) {
    if (n > 32) {
        qsort(run, n, sizeof *run, by_place);
        return;
    }
    for (guint i = 1; i < n; i++) {
        Posting posting = run[i];
        guint j = i;
        for (; j > 0 && before(&posting, &run[j - 1]); j--) run[j] = run[j - 1];
        run[j] = posting;
    }
}

/* ---- writing ---- */

/* The records of a group that began in one hour. */
typedef struct HourGroup {
    guint32 hour, first, last; /* seconds */
    guint n_records;
    guint64 stamp; /* of the group: two groups' entries never have one key */
} HourGroup;

static guint8 *put_u16(guint8 *at, guint16 value) {
    at[0] = (guint8)(value >> 8);
    at[1] = (guint8)value;
    return at + 2;
}

static void encode_frequent(const HourGroup *group, Term term, GByteArray *out) {
    guint8 rest[2];
    put_u16(rest, term_rest(term));
    append_bytes(out, rest, sizeof rest);
    append_varint(out, 0);
    append_varint(out, group->first - group->hour * INDEX_HOUR_SECONDS);
    append_varint(out, group->last - group->first);
}

static void encode_run(const HourGroup *group, const Posting *run, guint n, GByteArray *out) {
    guint distinct = 1;
    for (guint i = 1; i < n; i++) distinct += before(&run[i - 1], &run[i]);
    guint8 coded[2 + VARINT_MAX_BYTES], *at = put_u16(coded, term_rest(run->term));
    append_bytes(out, coded, (gsize)(put_varint(at, distinct) - coded));
    guint32 second = group->hour * INDEX_HOUR_SECONDS;
    for (guint i = 0; i < n; i++) {
        if (i > 0 && !before(&run[i - 1], &run[i])) continue;
        at = put_u16(put_varint(coded, run[i].second - second), run[i].id_upper);
        append_bytes(out, coded, (gsize)(at - coded));
        second = run[i].second;
    }
}

/* Sorted by term. */
static void write_entries(const HourGroup *group, Posting *list, guint n, StoreBatch *batch) {
    g_autoptr(GByteArray) value = g_byte_array_new();
    guint frequent = MAX(POSTINGS_FREQUENT_MIN, group->n_records / POSTINGS_FREQUENT_SHARE);
    for (guint i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n && list[i + run].term == list[i].term;) run++;
        if (run > frequent) {
            encode_frequent(group, list[i].term, value);
        } else {
            sort_run(&list[i], run);
            encode_run(group, &list[i], run, value);
        }
        guint16 bucket = term_bucket(list[i].term);
        if (i + run < n && term_bucket(list[i + run].term) == bucket) continue;
        LayoutKey key = index_key(&(IndexKey){group->hour, bucket, group->stamp});
        store_batch_put(batch, FAMILY_INDEX, key_bytes(&key), (Bytes){value->data, value->len});
        g_byte_array_set_size(value, 0);
    }
}

static void note_record(HourGroup *group, guint32 second) {
    group->first = group->n_records == 0 ? second : MIN(group->first, second);
    group->last = group->n_records == 0 ? second : MAX(group->last, second);
    group->n_records++;
}

static int by_hour(gconstpointer a, gconstpointer b) {
    guint32 x = ((const HourGroup *)a)->hour, y = ((const HourGroup *)b)->hour;
    return (x > y) - (x < y);
}

/* HourGroup, ascending. */
static GArray *list_hours(const Postings *postings) {
    GArray *hours = g_array_new(FALSE, FALSE, sizeof(HourGroup));
    g_autoptr(GHashTable) places = g_hash_table_new(NULL, NULL);
    guint64 stamp = (guint64)g_random_int() << 32 | g_random_int();

    for (guint i = 0; i < postings->seconds->len; i++) {
        guint32 second = g_array_index(postings->seconds, guint32, i), hour = second / INDEX_HOUR_SECONDS;
        gpointer place;
        HourGroup *last = hours->len > 0 ? &g_array_index(hours, HourGroup, hours->len - 1) : NULL;

        if (last == NULL || last->hour != hour) {
            if (g_hash_table_lookup_extended(places, GUINT_TO_POINTER(hour), NULL, &place)) {
                last = &g_array_index(hours, HourGroup, GPOINTER_TO_UINT(place));
            } else {
                HourGroup group = {.hour = hour, .stamp = stamp};
                g_hash_table_insert(places, GUINT_TO_POINTER(hour), GUINT_TO_POINTER(hours->len));
                g_array_append_val(hours, group);
                last = &g_array_index(hours, HourGroup, hours->len - 1);
            }
        }

        note_record(last, second);
    }

    g_array_sort(hours, by_hour);
    return hours;
}

static int by_hour_of_second(gconstpointer a, gconstpointer b) {
    guint32 x = ((const Posting *)a)->second / INDEX_HOUR_SECONDS,
            y = ((const Posting *)b)->second / INDEX_HOUR_SECONDS;
    if (x != y) return x < y ? -1 : 1;
    Term s = ((const Posting *)a)->term, t = ((const Posting *)b)->term;
    return (s > t) - (s < t);
}

void postings_move(Postings *postings, StoreBatch *batch) {
    GArray *list = postings->list;
    g_autoptr(GArray) hours = list_hours(postings);
    if (hours->len == 1)
        sort_by_term(list);
    else
        g_array_sort(list, by_hour_of_second);
    for (guint h = 0, from = 0, until; h < hours->len; h++, from = until) {
        const HourGroup *group = &g_array_index(hours, HourGroup, h);
        Posting *first = &g_array_index(list, Posting, from);
        for (until = from; until < list->len; until++)
            if (g_array_index(list, Posting, until).second / INDEX_HOUR_SECONDS != group->hour) break;
        write_entries(group, first, until - from, batch);
    }
    g_array_set_size(list, 0);
    g_array_set_size(postings->seconds, 0);
}

void postings_take(Postings *postings, PostingTaker take, void *arg) {
    for (guint i = 0; i < postings->list->len; i++) {
        const Posting *posting = &g_array_index(postings->list, Posting, i);
        take(arg, posting->term, posting->second, posting->id_upper);
    }
    g_array_set_size(postings->list, 0);
    g_array_set_size(postings->seconds, 0);
}

/* ---- reading ---- */

static gboolean visit_run(ByteReader *reader, guint32 hour, gboolean wanted, const PostingVisitor *visitor) {
    guint64 n = get_varint(reader), second = (guint64)hour * INDEX_HOUR_SECONDS;
    if (n == 0) {
        guint64 from = second + get_varint(reader), until = from + get_varint(reader);
        if (reader->failed || until > G_MAXUINT32 || from > until) return FALSE;
        if (wanted) visitor->seconds(visitor->arg, (guint32)from, (guint32)until);
        return TRUE;
    }
    for (guint64 i = 0; i < n; i++) {
        second += get_varint(reader);
        guint16 id_upper = read_u16be(reader);
        if (reader->failed || second > G_MAXUINT32) return FALSE;
        if (wanted) visitor->point(visitor->arg, (guint32)second, id_upper);
    }
    return TRUE;
}

gboolean postings_visit(Bytes entry, guint32 hour, const GArray *rests, const PostingVisitor *visitor) {
    ByteReader reader = byte_reader(entry.data, entry.size_bytes);
    guint next = 0;
    while (reader_left(&reader) > 0) {
        guint16 rest = read_u16be(&reader);
        while (next < rests->len && g_array_index(rests, guint16, next) < rest) next++;
        if (next == rests->len && !reader.failed) return TRUE;
        gboolean wanted = next < rests->len && g_array_index(rests, guint16, next) == rest;
        if (reader.failed || !visit_run(&reader, hour, wanted, visitor)) return FALSE;
    }
    return TRUE;
}

gboolean postings_visit_all(Bytes entry, guint32 hour, const PostingVisitor *visitor) {
    ByteReader reader = byte_reader(entry.data, entry.size_bytes);
    for (gint last = -1; reader_left(&reader) > 0;) {
        guint16 rest = read_u16be(&reader);
        if (reader.failed || (gint)rest <= last) return FALSE;
        if (!visit_run(&reader, hour, visitor->term(visitor->arg, rest), visitor)) return FALSE;
        last = rest;
    }
    return entry.size_bytes > 0;
}
