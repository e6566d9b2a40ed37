/* The best traces of a scan, by a key, in bounded memory: at most twice the limit are held. */
#pragma once

#include "analyzer/archive/archive.h"

typedef struct Candidate {
    guint64 trace_id;
    gint64 key; /* greater is better; among equals the later begin, then the smaller id */
    TraceSummary summary;
} Candidate;

typedef struct Candidates {
    GArray *list;  /* Candidate */
    guint limit;   /* 0: all */
    gsize charged; /* to the thread's allowance, for the list */
    GHashTable
        *parts; /* trace ids of which a part was seen: a trace kept in parts is listed once, by the part met first */
} Candidates;

Candidates *candidates_new(guint limit);
void candidates_free(Candidates *candidates);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Candidates, candidates_free)

/* FALSE when a part of this trace was met before. Only asks and remembers; adds nothing. */
gboolean candidates_first_part(Candidates *candidates, guint64 trace_id, const TraceSummary *summary);
/* Does it stand behind 'other' in this order? */
gboolean candidate_is_behind(const Candidate *candidate, const Candidate *other);
void candidates_add(Candidates *candidates, const Candidate *candidate);
/* Best first, at most limit. */
void candidates_finish(Candidates *candidates);
