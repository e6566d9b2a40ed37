#include "analyzer/archive/verify/verify_index.h"

#include <string.h>

#include "analyzer/archive/index/postings.h"
#include "common/base/allowance.h"

/* What the records of an hour must be found by is gathered as numbers of 8 bytes, sorted, and marked while the index's
 * entries of that hour are read, which are in the same order: bucket by bucket, term by term. Nothing is looked up. An
 * hour with more than fits here is read again for each load: 100 million postings take half a second. */
#define MOST_WANTED (2u << 20)

/* A posting that must be there: term, second of the hour, upper bits of the trace id. */
#define ID_BITS     16u
#define SECOND_BITS 12u
#define TERM_SHIFT  (ID_BITS + SECOND_BITS)
#define FOUND       (G_GUINT64_CONSTANT(1) << 63)
G_STATIC_ASSERT(INDEX_HOUR_SECONDS <= 1u << SECOND_BITS);
G_STATIC_ASSERT(TERM_SHIFT + TERM_BITS < 63);

struct IndexCheck {
    StoreIter *index;
    Postings *postings;
    IndexDiffers differs;
    void *arg;
    GArray *wanted; /* guint64, of 'hour'; sorted when it is looked up */
    guint32 hour;
    guint64 pattern, duration; /* terms of the record at hand */
    gboolean any;              /* records were noted */
    guint32 read_below;        /* hours whose entries were looked at as a whole */
    guint64 lost;              /* of 'hour' */
    guint64 first_lost;
    /* Places in 'wanted' while an entry is read. */
    guint16 bucket;
    guint64 term, bucket_at, bucket_end, run_at, run_end;
    gboolean bad;
};

IndexCheck *index_check_new(Archive *archive, StoreIter *index, IndexDiffers differs, void *arg) {
    IndexCheck *check = g_new0(IndexCheck, 1);
    check->index = index;
    check->postings = postings_new(&archive->lookup);
    check->differs = differs;
    check->arg = arg;
    check->wanted = g_array_new(FALSE, FALSE, sizeof(guint64));
    return check;
}

void index_check_free(IndexCheck *check) {
    if (check == NULL) return;
    postings_free(check->postings);
    g_array_unref(check->wanted);
    g_free(check);
}

static guint64 want_of(guint64 term, guint32 second, guint16 id_upper) {
    return term << TERM_SHIFT | (guint64)(second % INDEX_HOUR_SECONDS) << ID_BITS | id_upper;
}

static void want(IndexCheck *check, guint64 term, guint32 second, guint16 id_upper) {
    guint64 wanted = want_of(term, second, id_upper);
    g_array_append_val(check->wanted, wanted);
}

/* ---- finding ---- */

static guint64 *wanted_list(const IndexCheck *check) { return (guint64 *)(gpointer)check->wanted->data; }

/* The first in [from, end) that is not below 'value', marks aside. */
static guint64 not_below(const IndexCheck *check, guint64 from, guint64 end, guint64 value) {
    const guint64 *list = wanted_list(check);
    while (from < end) {
        guint64 middle = from + (end - from) / 2;
        if ((list[middle] & ~FOUND) < value)
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

static gboolean find_term(void *arg, guint16 rest) {
    IndexCheck *check = arg;
    check->term = (guint64)check->bucket << 16 | rest;
    check->run_at = not_below(check, check->run_end, check->bucket_end, want_of(check->term, 0, 0));
    check->run_end = not_below(check, check->run_at, check->bucket_end, want_of(check->term + 1, 0, 0));
    return check->run_at < check->run_end;
}

/* Points ascend, so what lies before this one is done with. */
static void find_point(void *arg, guint32 second, guint16 id_upper) {
    IndexCheck *check = arg;
    check->bad |= second / INDEX_HOUR_SECONDS != check->hour;
    guint64 value = want_of(check->term, second, id_upper);
    check->run_at = not_below(check, check->run_at, check->run_end, value);
    guint64 *at = wanted_list(check) + check->run_at;
    while (check->run_at < check->run_end && (*at & ~FOUND) == value) {
        *at++ |= FOUND;
        check->run_at++;
    }
}

static void find_seconds(void *arg, guint32 from, guint32 until) {
    IndexCheck *check = arg;
    check->bad |= from / INDEX_HOUR_SECONDS != check->hour || until / INDEX_HOUR_SECONDS != check->hour;
    if (check->bad) return;
    guint64 *list = wanted_list(check), end = want_of(check->term, until, G_MAXUINT16);
    guint64 at = not_below(check, check->run_at, check->run_end, want_of(check->term, from, 0));
    for (; at < check->run_end && (list[at] & ~FOUND) <= end; at++) list[at] |= FOUND;
}

/* Marks what an entry of the hour says. FALSE: it is malformed. */
static gboolean find_entry(IndexCheck *check, const IndexKey *key, Bytes value) {
    static const PostingVisitor visitor = {find_point, find_seconds, find_term, NULL};
    const guint64 first = (guint64)key->bucket << 16;
    if (check->bucket_end == 0 || check->bucket != key->bucket) {
        check->bucket = key->bucket;
        check->bucket_at = not_below(check, 0, check->wanted->len, want_of(first, 0, 0));
        check->bucket_end = not_below(check, check->bucket_at, check->wanted->len, want_of(first + (1u << 16), 0, 0));
    }
    check->run_at = check->run_end = check->bucket_at;
    check->bad = FALSE;
    PostingVisitor find = visitor;
    find.arg = check;
    return postings_visit_all(value, key->hour, &find) && !check->bad;
}

static gboolean skip_term(void *arg, guint16 rest) {
    (void)arg;
    (void)rest;
    return FALSE;
}

/* ---- records that may have anything ---- */

typedef struct Anything {
    guint8 all[INDEX_HOUR_SECONDS];
    GHashTable *points; /* second of the hour << 16 | upper bits of the trace id */
} Anything;

static gpointer anything_point(guint32 second, guint16 id_upper) {
    return GUINT_TO_POINTER((second % INDEX_HOUR_SECONDS) << ID_BITS | id_upper);
}

static void anything_note(void *arg, guint32 second, guint16 id_upper) {
    g_hash_table_add(((Anything *)arg)->points, anything_point(second, id_upper));
}

static void anything_note_seconds(void *arg, guint32 from, guint32 until) {
    const guint32 last = MIN(until - from, INDEX_HOUR_SECONDS - 1);
    for (guint32 i = 0; i <= last; i++) ((Anything *)arg)->all[((guint64)from + i) % INDEX_HOUR_SECONDS] = 1;
}

static gboolean anything_read(IndexCheck *check, Anything *anything, GError **error) {
    const PostingVisitor visitor = {anything_note, anything_note_seconds, NULL, anything};
    const guint16 bucket = term_bucket(TERM_ANYTHING);
    g_autoptr(GArray) rests = g_array_new(FALSE, FALSE, sizeof(guint16));
    g_array_append_vals(rests, &(guint16){term_rest(TERM_ANYTHING)}, 1);
    gboolean more = iter_seek_key(check->index, index_key(&(IndexKey){check->hour, bucket, 0}));
    for (; more; more = store_iter_next(check->index)) {
        IndexKey key;
        if (!index_key_parse(store_iter_key(check->index), &key)) continue; /* reported already */
        if (key.hour != check->hour || key.bucket != bucket) break;
        postings_visit(store_iter_value(check->index), key.hour, rests, &visitor);
    }
    return iter_finished(check->index, error);
}

static gboolean count_lost(IndexCheck *check, GError **error) {
    const guint64 *list = wanted_list(check);
    Anything anything = {.points = NULL};
    for (guint i = 0; i < check->wanted->len && allowance_goes_on(); i++) {
        if (list[i] & FOUND) continue;
        if (anything.points == NULL) {
            anything.points = g_hash_table_new(NULL, NULL);
            if (!anything_read(check, &anything, error)) break;
        }
        const guint32 second = (guint32)(list[i] >> ID_BITS) & ((1u << SECOND_BITS) - 1);
        if (anything.all[second] || g_hash_table_contains(anything.points, anything_point(second, (guint16)list[i])))
            continue;
        if (check->lost++ == 0) check->first_lost = list[i];
    }
    if (anything.points != NULL) g_hash_table_unref(anything.points);
    return iter_finished(check->index, error);
}

/* ---- hour by hour ---- */

static void report(IndexCheck *check, guint32 hour, const char *what) {
    /* Times end with the year 9999, numbers of hours do not. */
    g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc((gint64)hour * INDEX_HOUR_SECONDS);
    g_autofree char *begin = time != NULL ? g_date_time_format(time, "from %FT%TZ") : g_strdup_printf("%u", hour);
    g_autofree char *text = g_strdup_printf("search index, hour %s: %s", begin, what);
    check->differs(check->arg, text);
}

/* Entries of the hours before 'until', from 'from' on: those of the hour at hand mark what is wanted. */
static gboolean read_hours(IndexCheck *check, guint32 from, guint64 until, GError **error) {
    static const PostingVisitor skip = {NULL, NULL, skip_term, NULL};
    check->bucket_end = 0;

    gboolean more = iter_seek_key(check->index, index_key(&(IndexKey){from, 0, 0}));
    for (; more; more = store_iter_next(check->index)) {
        IndexKey key;
        if (!index_key_parse(store_iter_key(check->index), &key)) {
            check->differs(check->arg, "an entry of the search index has a malformed key: searches that meet it fail");
            continue;
        }

        if (key.hour >= until) break;
        const Bytes value = store_iter_value(check->index);
        const gboolean wanted = check->any && key.hour == check->hour;
        const gboolean whole = wanted ? find_entry(check, &key, value) : postings_visit_all(value, key.hour, &skip);
        if (whole || key.hour < check->read_below) continue;

        g_autofree char *what =
            g_strdup_printf("an entry of bucket %u is malformed: searches that need it fail; "
                            "plumb export, then plumb import into a new store, makes the index anew",
                            key.bucket);
        report(check, key.hour, what);
    }
    return iter_finished(check->index, error);
}

static gint by_number(gconstpointer a, gconstpointer b, gpointer unused) {
    (void)unused;
    const guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
    return (x > y) - (x < y);
}

/* Looks for what is wanted, and forgets it. */
static gboolean look_up(IndexCheck *check, GError **error) {
    if (check->wanted->len == 0) return TRUE;
    allowance_sort(check->wanted->data, check->wanted->len, sizeof(guint64), by_number, NULL);
    if (!read_hours(check, MIN(check->read_below, check->hour), (guint64)check->hour + 1, error) ||
        !count_lost(check, error))
        return FALSE;
    check->read_below = check->hour + 1;
    g_array_set_size(check->wanted, 0);
    return TRUE;
}

static gboolean close_hour(IndexCheck *check, GError **error) {
    if (!look_up(check, error)) return FALSE;
    if (check->lost > 0) {
        const guint32 second = (guint32)(check->first_lost >> ID_BITS) & ((1u << SECOND_BITS) - 1);
        g_autofree char *what = g_strdup_printf(
            "%" G_GUINT64_FORMAT " terms of stored records are missing, one of them of a trace whose id begins with "
            "%04x, at %u:%02u: searches by function, host, path or duration may not find them; "
            "plumb export, then plumb import into a new store, makes the index anew",
            check->lost, (guint)(check->first_lost & G_MAXUINT16), second / 60, second % 60);
        report(check, check->hour, what);
    }
    check->lost = 0;
    return TRUE;
}

/* A record with very many terms is found whatever is asked for, or by each of them if they came with late spans: it is
 * enough then that it is found by what all records have. */
static void want_term(void *arg, Term term, guint32 second, guint16 id_upper) {
    IndexCheck *check = arg;
    if (term != TERM_ANYTHING) {
        want(check, term, second, id_upper);
        return;
    }
    want(check, check->pattern, second, id_upper);
    want(check, check->duration, second, id_upper);
}

gboolean index_check_note(IndexCheck *check, const TraceKey *key, guint32 pattern, const CallTree *tree,
                          GError **error) {
    const guint32 hour = key->second / INDEX_HOUR_SECONDS;
    if (check->any && hour != check->hour && !close_hour(check, error)) return FALSE;
    check->any = TRUE;
    check->hour = hour;
    check->pattern = term_pattern(pattern);
    check->duration = term_duration(term_duration_step(tree->end_ns - tree->begin_ns));
    postings_add(check->postings, key, pattern, tree, NULL);
    postings_take(check->postings, want_term, check);
    return check->wanted->len < MOST_WANTED || look_up(check, error);
}

gboolean index_check_finish(IndexCheck *check, GError **error) {
    if (!close_hour(check, error)) return FALSE;
    check->any = FALSE;
    return read_hours(check, check->read_below, G_MAXUINT64, error);
}
