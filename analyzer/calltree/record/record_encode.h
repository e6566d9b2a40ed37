/* The encoder of trace records: record.c writes heads and structure, record_values.c annotations. */
#pragma once

#include "analyzer/calltree/record/record_form.h"
#include "analyzer/calltree/varint.h"

typedef struct Encoder {
    const CallTree *tree;
    const Pattern *pattern;
    guint32 *first; /* per pattern node, and one more: its first place */
    guint32 *node;  /* per place: node of the tree */
    guint32 bits;
    guint8 *at;
    guint64 run;
    Bytes shape; /* with RECORD_SHAPE: the pattern, encoded */
} Encoder;

static inline void put(Encoder *e, guint64 value) { e->at = put_varint(e->at, value); }

static inline void run_break(Encoder *e) {
    put(e, e->run);
    e->run = 0;
}

static inline void run_end(Encoder *e) {
    if (e->run > 0) run_break(e);
}

static inline const SpanRec *span_at(const Encoder *e, guint32 place) { return e->tree->span[e->node[place]]; }
static inline guint32 parent_at(const Encoder *e, guint32 place) { return e->tree->parent[e->node[place]]; }
static inline void expect_place(const Encoder *e, guint32 place) {
    if (place < e->tree->n_nodes) span_expect(span_at(e, place));
}
static inline gboolean is_placeholder(const Pattern *pattern, guint32 q) {
    return pattern->nodes[q].name == NAME_MISSING;
}

static inline gint64 units_of(const Encoder *e, gint64 ns) { return e->bits & RECORD_MS ? ns / 1000000 : ns; }

/* Writes the column of annotations. */
void record_put_annotations(Encoder *e);
