/* Sets of 64-bit ids, for the hot paths of the writer: open addressing, and a hash seeded per process, since peers
 * choose the ids. */
#pragma once

#include <glib.h>

#include "common/model/span.h"

/* Traces of a group. */
typedef struct IdSet {
    guint64 *slots; /* 0: free */
    gsize mask;
    gsize used;
    gboolean has_zero;
} IdSet;

void id_set_init(IdSet *set);
void id_set_clear(IdSet *set);
void id_set_empty(IdSet *set); /* memory is kept */
gboolean id_set_has(const IdSet *set, guint64 id);
void id_set_add(IdSet *set, guint64 id);

/* Distinct spans of one trace, found by the lower half of their id. Of several records with one id it keeps the
 * first by span_rec_compare(). */
typedef struct SpanTable {
    const SpanRec **slots; /* NULL: free */
    gsize mask;
    gsize used;
    SpanTexts texts;
} SpanTable;

/* Room for n spans. texts: as of span_rec_compare(). */
void span_table_init(SpanTable *table, gsize n, SpanTexts texts);
void span_table_clear(SpanTable *table);
void span_table_add(SpanTable *table, const SpanRec *span);
gboolean span_table_remove(SpanTable *table, SpanId id); /* FALSE: was not there */
/* Appends what is in it, in order of begin, then id. */
void span_table_list(const SpanTable *table, GPtrArray *spans);
