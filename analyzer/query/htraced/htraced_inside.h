/* What the files of this folder share. */
#pragma once

#include "analyzer/query/htraced/htraced.h"
#include "common/model/batch.h"

/* Spans in one answer. */
#define HTRACED_SPANS_MOST 10000u

json_t *htraced_query(const Asked *asked, GError **error);
/* In HTrace's JSON; a new reference. batch: for it to use. */
json_t *htraced_span(Archive *archive, const SpanRec *span, SpanBatch *batch);

/* What spans are asked for: all predicates hold. */
typedef struct HtracedPredicate HtracedPredicate;
typedef struct HtracedPredicates {
    GArray *list; /* HtracedPredicate */
    gboolean newest_first;
} HtracedPredicates;
/* "pred" of a query; NULL: none. INPUT; then nothing is to be cleared. */
gboolean htraced_predicates_parse(const json_t *list, HtracedPredicates *predicates, GError **error);
void htraced_predicates_clear(HtracedPredicates *predicates);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(HtracedPredicates, htraced_predicates_clear)
/* Can a record whose spans lie in this time, or this trace, have such spans? */
gboolean htraced_may_fit(const HtracedPredicates *predicates, guint64 trace_id, gint64 begin_ns, gint64 end_ns);
gboolean htraced_fits(const HtracedPredicates *predicates, const SpanBatch *batch, const BatchSpan *span);
