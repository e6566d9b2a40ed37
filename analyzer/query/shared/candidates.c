#include "analyzer/query/shared/candidates.h"

#include "common/base/allowance.h"

/* An id in a hash table. */
#define PART_BYTES 64u

Candidates *candidates_new(guint limit) {
    Candidates *candidates = g_new0(Candidates, 1);
    candidates->list = g_array_new(FALSE, FALSE, sizeof(Candidate));
    candidates->parts = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    candidates->limit = limit;
    return candidates;
}

void candidates_free(Candidates *candidates) {
    if (!candidates) return;
    allowance_release(candidates->charged + g_hash_table_size(candidates->parts) * PART_BYTES);
    g_array_unref(candidates->list);
    g_hash_table_unref(candidates->parts);
    g_free(candidates);
}

gboolean candidates_first_part(Candidates *candidates, guint64 trace_id, const TraceSummary *summary) {
    if (!(summary->flags & TRACE_PART)) return TRUE;
    const gboolean first = g_hash_table_add(candidates->parts, g_memdup2(&trace_id, sizeof trace_id));
    if (first) allowance_charge(PART_BYTES);
    return first;
}

static gint compare(gconstpointer left, gconstpointer right, gpointer unused) {
    (void)unused;
    const Candidate *a = left, *b = right;
    if (a->key != b->key) return a->key > b->key ? -1 : 1;
    if (a->summary.begin_ns != b->summary.begin_ns) return a->summary.begin_ns > b->summary.begin_ns ? -1 : 1;
    if (a->trace_id != b->trace_id) return a->trace_id < b->trace_id ? -1 : 1;
    return 0;
}

gboolean candidate_is_behind(const Candidate *candidate, const Candidate *other) {
    return compare(candidate, other, NULL) > 0;
}

void candidates_finish(Candidates *candidates) {
    allowance_sort(candidates->list->data, candidates->list->len, sizeof(Candidate), compare, NULL);
    if (candidates->limit && candidates->list->len > candidates->limit)
        g_array_set_size(candidates->list, candidates->limit);
}

void candidates_add(Candidates *candidates, const Candidate *candidate) {
    g_array_append_vals(candidates->list, candidate, 1);
    allowance_hold(&candidates->charged, MAX(candidates->charged, candidates->list->len * sizeof *candidate));
    if (candidates->limit && candidates->list->len >= 2 * (gsize)candidates->limit) candidates_finish(candidates);
}
