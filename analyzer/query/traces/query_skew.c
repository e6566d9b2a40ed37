/* Clock offsets between hosts over the newest traces of a period. */
#include "analyzer/archive/read/scan.h"
#include "analyzer/query/shared/question.h"
#include "analyzer/query/shared/trace_view.h"
#include "analyzer/query/traces/skew.h"
#include "analyzer/query/traces/trace_answers.h"
#include "common/base/allowance.h"

static gboolean add_spans(Skew *skew, Archive *archive, const GByteArray *bytes) {
    g_autoptr(GPtrArray) records = g_ptr_array_new();
    const SpanRec *span;
    for (gsize at = 0; (span = spans_next(bytes, &at)) != NULL && allowance_goes_on();)
        g_ptr_array_add(records, (gpointer)span);
    if (records->len == 0) return FALSE;
    const SpanTexts texts = lookup_texts(archive_lookup(archive));
    g_autoptr(CallTree) tree =
        tree_build((const SpanRec *const *)records->pdata, records->len, archive_clock_tolerance_ns(archive), &texts);
    skew_add_tree(skew, tree);
    return TRUE;
}

json_t *answer_skew(const Asked *asked, GError **error) {
    Period period;
    guint64 limit = 1000, traces = 0, trace_id;
    if (!params_period(asked->params, asked->now_ns, &period, error) ||
        !params_count(asked->params, "limit", &limit, error))
        return NULL;

    g_autoptr(Skew) skew = skew_new(asked->archive);
    g_autoptr(ArchiveScan) scan = archive_scan_new(asked->archive, period.since_ns, period.until_ns, TRUE);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GError) failure = NULL;
    TraceSummary summary;

    while ((limit == 0 || traces < limit) && archive_scan_next(scan, &trace_id, &summary, &failure)) {
        g_byte_array_set_size(bytes, 0);
        if (!archive_scan_spans(scan, bytes, error)) return NULL;
        traces += add_spans(skew, asked->archive, bytes);
    }

    if (failure) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return NULL;
    }

    json_t *answer = json_object();
    json_object_set_new(answer, "traces", json_count(traces));
    json_object_set_new(answer, "pairs", skew_json(skew));
    return answer;
}
