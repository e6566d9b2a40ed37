/* Where records that may have certain terms are, told by the search index (postings.h). */
#pragma once

#include "analyzer/archive/archive.h"
#include "analyzer/archive/index/terms.h"
#include "analyzer/archive/read/search_terms.h"

/* Conditions that must all hold; each holds when one of its terms is there. */
struct SearchTerms {
    GArray *conditions; /* GArray of Term, each */
};

typedef struct SearchPlan SearchPlan;
typedef struct SearchRange {
    guint32 first, last; /* seconds, both included */
    gboolean newest_first;
} SearchRange;
/* 'index' is an iterator over the index; the plan takes it over. terms must outlive the plan. */
SearchPlan *search_plan_new(StoreIter *index, const SearchTerms *terms, const SearchRange *range);
void search_plan_free(SearchPlan *plan);

/* Records to look at in one second. */
typedef struct SearchPlace {
    guint32 second;
    gboolean all;          /* any record of it */
    const guint64 *points; /* otherwise: second << 16 | upper 16 bits of the trace id, ascending */
    guint n_points;
} SearchPlace;
/* The next second of the range. *found FALSE: there is none. */
gboolean search_plan_next(SearchPlan *plan, SearchPlace *place, gboolean *found, GError **error);
