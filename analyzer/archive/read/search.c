#include "analyzer/archive/read/search.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/index/postings.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

SearchTerms *search_terms_new(void) {
    SearchTerms *terms = g_new0(SearchTerms, 1);
    terms->conditions = g_array_new(FALSE, FALSE, sizeof(GArray *));
    return terms;
}

void search_terms_free(SearchTerms *terms) {
    if (terms == NULL) return;
    for (guint i = 0; i < terms->conditions->len; i++) g_array_unref(g_array_index(terms->conditions, GArray *, i));
    g_array_unref(terms->conditions);
    g_free(terms);
}

gboolean search_terms_any(const SearchTerms *terms) { return terms->conditions->len > 0; }

static GArray *condition_new(SearchTerms *terms) {
    GArray *condition = g_array_new(FALSE, FALSE, sizeof(Term));
    g_array_append_val(terms->conditions, condition);
    return condition;
}

static void condition_one(SearchTerms *terms, Term term) { g_array_append_val(condition_new(terms), term); }

void search_terms_host(SearchTerms *terms, guint32 host) { condition_one(terms, term_host(host)); }

void search_terms_value(SearchTerms *terms, guint32 key, const char *value, gsize length) {
    if (path_begin(value, length) == NULL && term_value_has(value, length))
        condition_one(terms, term_value(key, value, length));
}

void search_terms_component(SearchTerms *terms, const char *text, gsize length) {
    condition_one(terms, term_component(text, length));
}

void search_terms_patterns(SearchTerms *terms, const guint32 *numbers, guint n) {
    GArray *condition = condition_new(terms);
    for (guint i = 0; i < n; i++) g_array_append_vals(condition, &(Term){term_pattern(numbers[i])}, 1);
}

void search_terms_duration(SearchTerms *terms, gint64 min_ns, gint64 max_ns) {
    GArray *condition = condition_new(terms);
    guint last = term_duration_step(max_ns);
    for (guint step = term_duration_step(min_ns); step <= last; step++)
        g_array_append_vals(condition, &(Term){term_duration(step)}, 1);
}

/* ---- the records of one hour that fit ---- */

typedef struct HourSet {
    guint8 all[INDEX_HOUR_SECONDS];
    GArray *points; /* guint64, SearchPlace's */
} HourSet;

struct SearchPlan {
    StoreIter *index;
    const SearchTerms *terms;
    SearchRange range;
    gboolean started, loaded; /* the hour below is in 'set' */
    guint32 hour;
    gsize charged; /* of the allowance, for the points */
    gint64 at;     /* next second of the hour to look at, in the order of the plan */
    HourSet set, one;
};

SearchPlan *search_plan_new(StoreIter *index, const SearchTerms *terms, const SearchRange *range) {
    SearchPlan *plan = g_new0(SearchPlan, 1);
    plan->index = index;
    plan->terms = terms;
    plan->range = *range;
    plan->set.points = g_array_new(FALSE, FALSE, sizeof(guint64));
    plan->one.points = g_array_new(FALSE, FALSE, sizeof(guint64));
    return plan;
}

void search_plan_free(SearchPlan *plan) {
    if (plan == NULL) return;
    allowance_release(plan->charged);
    store_iter_free(plan->index);
    g_array_unref(plan->set.points);
    g_array_unref(plan->one.points);
    g_free(plan);
}

static void set_clear(HourSet *set) {
    memset(set->all, 0, sizeof set->all);
    g_array_set_size(set->points, 0);
}

static void note_point(void *arg, guint32 second, guint16 id_upper) {
    HourSet *set = arg;
    guint64 point = (guint64)second << 16 | id_upper;
    g_array_append_val(set->points, point);
}

static void note_seconds(void *arg, guint32 from, guint32 until) {
    HourSet *set = arg;
    for (guint64 second = from; second <= until; second++) set->all[second % INDEX_HOUR_SECONDS] = 1;
}

static int by_value(const void *a, const void *b) {
    guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
    return (x > y) - (x < y);
}

static guint32 second_of(guint64 point) { return (guint32)(point >> 16); }

/* In order, once each, without those of seconds that count as a whole. */
static void set_tidy(HourSet *set) {
    guint64 *points = (guint64 *)(gpointer)set->points->data;
    guint kept = 0;
    if (set->points->len > 0) qsort(points, set->points->len, sizeof *points, by_value);
    for (guint i = 0; i < set->points->len; i++) {
        if (set->all[second_of(points[i]) % INDEX_HOUR_SECONDS] || (kept > 0 && points[kept - 1] == points[i]))
            continue;
        points[kept++] = points[i];
    }
    g_array_set_size(set->points, kept);
}

/* into = what is in both; both are tidy. */
static void set_intersect(HourSet *into, const HourSet *other) {
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(guint64));
    const guint64 *a = (const guint64 *)(gconstpointer)into->points->data;
    const guint64 *b = (const guint64 *)(gconstpointer)other->points->data;
    guint n = into->points->len, m = other->points->len;
    for (guint i = 0, j = 0; i < n || j < m;) {
        guint64 x = i < n ? a[i] : G_MAXUINT64, y = j < m ? b[j] : G_MAXUINT64, point = MIN(x, y);
        guint32 second = second_of(point) % INDEX_HOUR_SECONDS;
        gboolean left = x == point || into->all[second], right = y == point || other->all[second];
        if (left && right) g_array_append_val(points, point);
        i += x == point;
        j += y == point;
    }
    for (guint i = 0; i < INDEX_HOUR_SECONDS; i++) into->all[i] &= other->all[i];
    g_array_set_size(into->points, 0);
    g_array_append_vals(into->points, points->data, points->len);
}

/* Is there no more than one record in it? To look at that costs no more than to look another condition up. */
static gboolean set_small(const HourSet *set) {
    return set->points->len <= 1 && memchr(set->all, 1, sizeof set->all) == NULL;
}

static int by_term(gconstpointer a, gconstpointer b) {
    Term x = *(const Term *)a, y = *(const Term *)b;
    return (x > y) - (x < y);
}

static gsize points_bytes(const SearchPlan *plan) {
    return ((gsize)plan->set.points->len + plan->one.points->len) * sizeof(guint64);
}

/* Adds what the entries of one bucket say. */
static gboolean read_bucket(SearchPlan *plan, guint16 bucket, const GArray *rests, GError **error) {
    const PostingVisitor visitor = {note_point, note_seconds, NULL, &plan->one};
    gboolean more = iter_seek_key(plan->index, index_key(&(IndexKey){plan->hour, bucket, 0}));
    for (; more; more = store_iter_next(plan->index)) {
        IndexKey key;
        if (!index_key_parse(store_iter_key(plan->index), &key))
            return fail(error, PLUMB_ERROR_CORRUPT, "an entry of the search index has a malformed key");
        if (key.hour != plan->hour || key.bucket != bucket) break;
        if (!postings_visit(store_iter_value(plan->index), plan->hour, rests, &visitor))
            return fail(error, PLUMB_ERROR_CORRUPT, "an entry of the search index is malformed");
        allowance_hold(&plan->charged, points_bytes(plan));
    }
    return iter_finished(plan->index, error);
}

static gboolean read_condition(SearchPlan *plan, GArray *condition, GError **error) {
    g_autoptr(GArray) rests = g_array_new(FALSE, FALSE, sizeof(guint16));
    set_clear(&plan->one);
    g_array_sort(condition, by_term);
    for (guint i = 0; i < condition->len; i++) {
        Term term = g_array_index(condition, Term, i);
        guint16 rest = term_rest(term);
        g_array_append_val(rests, rest);
        if (i + 1 < condition->len && term_bucket(g_array_index(condition, Term, i + 1)) == term_bucket(term)) continue;
        if (!read_bucket(plan, term_bucket(term), rests, error)) return FALSE;
        g_array_set_size(rests, 0);
    }
    set_tidy(&plan->one);
    return TRUE;
}

/* Records that may have anything fit every condition. */
static gboolean add_anything(SearchPlan *plan, GError **error) {
    g_autoptr(GArray) rests = g_array_new(FALSE, FALSE, sizeof(guint16));
    g_array_append_vals(rests, &(guint16){term_rest(TERM_ANYTHING)}, 1);
    set_clear(&plan->one);
    if (!read_bucket(plan, term_bucket(TERM_ANYTHING), rests, error)) return FALSE;
    for (guint i = 0; i < INDEX_HOUR_SECONDS; i++) plan->set.all[i] |= plan->one.all[i];
    g_array_append_vals(plan->set.points, plan->one.points->data, plan->one.points->len);
    set_tidy(&plan->set);
    return TRUE;
}

static gboolean load_hour(SearchPlan *plan, GError **error) {
    set_clear(&plan->set);
    for (guint i = 0; i < plan->terms->conditions->len; i++) {
        if (i > 0 && set_small(&plan->set)) break;
        if (!read_condition(plan, g_array_index(plan->terms->conditions, GArray *, i), error)) return FALSE;
        if (i > 0) {
            set_intersect(&plan->set, &plan->one);
            continue;
        }
        HourSet swap = plan->set;
        plan->set = plan->one;
        plan->one = swap;
    }
    plan->loaded = add_anything(plan, error);
    return plan->loaded;
}

/* To the next hour that has entries, in the order of the plan. *found FALSE: there is none. */
static gboolean next_hour(SearchPlan *plan, gboolean *found, GError **error) {
    guint32 first = plan->range.first / INDEX_HOUR_SECONDS, last = plan->range.last / INDEX_HOUR_SECONDS;
    IndexKey key = {0};
    gboolean more = FALSE;
    *found = FALSE;
    plan->loaded = FALSE;

    if (plan->range.newest_first) {
        guint32 before = plan->started ? plan->hour : last + 1;
        LayoutKey end = index_key(&(IndexKey){before, 0, 0});
        more = before > first && store_iter_seek_before(plan->index, key_bytes(&end));
    } else {
        guint32 from = plan->started ? plan->hour + 1 : first;
        more = from <= last && iter_seek_key(plan->index, index_key(&(IndexKey){from, 0, 0}));
    }

    plan->started = TRUE;
    if (!more) return iter_finished(plan->index, error);
    if (!index_key_parse(store_iter_key(plan->index), &key))
        return fail(error, PLUMB_ERROR_CORRUPT, "an entry of the search index has a malformed key");
    if (key.hour < first || key.hour > last) return TRUE;

    plan->hour = key.hour;
    plan->at = plan->range.newest_first ? INDEX_HOUR_SECONDS - 1 : 0;
    *found = TRUE;
    return load_hour(plan, error);
}

/* The points of one second. */
static void points_of(const GArray *points, guint32 second, SearchPlace *place) {
    const guint64 *all = (const guint64 *)(gconstpointer)points->data;
    guint low = 0, high = points->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (second_of(all[middle]) < second)
            low = middle + 1;
        else
            high = middle;
    }
    place->points = points->len > 0 ? all + low : NULL;
    for (place->n_points = 0; low + place->n_points < points->len; place->n_points++)
        if (second_of(all[low + place->n_points]) != second) break;
}

static gboolean next_in_hour(SearchPlan *plan, SearchPlace *place) {
    const gint64 step = plan->range.newest_first ? -1 : 1;
    for (; plan->at >= 0 && plan->at < INDEX_HOUR_SECONDS; plan->at += step) {
        guint64 second = (guint64)plan->hour * INDEX_HOUR_SECONDS + (guint64)plan->at;
        if (second < plan->range.first || second > plan->range.last) continue;
        *place = (SearchPlace){.second = (guint32)second, .all = plan->set.all[plan->at]};
        if (!place->all) points_of(plan->set.points, place->second, place);
        if (!place->all && place->n_points == 0) continue;
        plan->at += step;
        return TRUE;
    }
    return FALSE;
}

gboolean search_plan_next(SearchPlan *plan, SearchPlace *place, gboolean *found, GError **error) {
    for (*found = TRUE; *found;) {
        if (plan->loaded && next_in_hour(plan, place)) return TRUE;
        if (!next_hour(plan, found, error)) return FALSE;
    }
    return TRUE;
}
