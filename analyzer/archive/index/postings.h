/* The search index of a group of records: which record has which term. (layout.h: family "index"; terms.h)
 *
 * The index may say too much (records that were replaced since, terms of one number), never too little: whoever finds a
 * record by it looks whether it is what was asked for. So it is only ever added to. */
#pragma once

#include "analyzer/archive/index/failed_calls.h"
#include "analyzer/archive/index/terms.h"
#include "analyzer/archive/tables/layout.h"
#include "analyzer/calltree/lookup.h"
#include "analyzer/calltree/tree.h"
#include "common/store/store.h"

/* A term that more than one in so many of a group's records have is not listed record by record. Looking for it alone,
 * a scan soon meets one; together with a rarer one, that one's list is read. */
#define POSTINGS_FREQUENT_SHARE 16u
#define POSTINGS_FREQUENT_MIN   64u

typedef struct Postings Postings;
Postings *postings_new(const Lookup *lookup);
void postings_free(Postings *postings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Postings, postings_free)
/* Notes the terms of a record that goes to the store under this key. listed, when not NULL, says (not 0) for each node
 * of the tree that a record which is stored under the same key has it: then its terms are in the index. */
void postings_add(Postings *postings, const TraceKey *key, guint32 pattern, const CallTree *tree, const guint8 *listed);
gsize postings_size_bytes(const Postings *postings);

/* Annotations are looked at here, so calls that failed are found here, too. */
void postings_set_failure_keys(Postings *postings, const FailureKeys *keys);
/* Those of the record that was added last, listed ones included: nodes of its tree (guint32), ascending. */
const GArray *postings_failed(const Postings *postings);

/* Puts everything into the batch, in order of keys, and forgets it. */
void postings_move(Postings *postings, StoreBatch *batch);

/* Hands out what was noted instead, and forgets it. */
typedef void (*PostingTaker)(void *arg, Term term, guint32 second, guint16 id_upper);
void postings_take(Postings *postings, PostingTaker take, void *arg);

/* What an entry says of some terms. A point is a second since the epoch and the upper 16 bits of a trace id; all
 * records of the seconds from..until (both included) may have a frequent term. */
typedef struct PostingVisitor {
    void (*point)(void *arg, guint32 second, guint16 id_upper);
    void (*seconds)(void *arg, guint32 from, guint32 until);
    gboolean (*term)(void *arg, guint16 rest); /* of postings_visit_all() alone: is it to be visited? */
    void *arg;
} PostingVisitor;
/* Of an entry of that hour: the postings of every term in 'rests' (ascending). FALSE: malformed. What lies behind the
 * last of them is not looked at. */
gboolean postings_visit(Bytes entry, guint32 hour, const GArray *rests, const PostingVisitor *visitor);
/* The same of all its terms; everything is looked at. */
gboolean postings_visit_all(Bytes entry, guint32 hour, const PostingVisitor *visitor);
