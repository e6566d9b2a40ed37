/* A distribution that is summed once, written once and then empty again: from plain values, or from stored forms. Its
 * counts lie in a table with an entry per bucket, so adding costs a few instructions however many buckets are in use;
 * that table is 24 KB, so a builder is for one distribution after the other, a Dist for many side by side. */
#pragma once

#include "analyzer/calltree/stats/dist_code.h"

#define DIST_BUILDER_WORDS ((DIST_BUCKETS + 63) / 64)

typedef struct DistBuilder {
    SketchHead head; /* when not dense, count and sum alone; else all but its squares: */
    Wide squares;
    gboolean dense;  /* counts, not few */
    guint64 *counts; /* NULL: not needed so far; zero when not dense */
    guint64 few[DIST_EXACT_MAX];
    guint64 used[DIST_BUILDER_WORDS]; /* when dense: bit of each bucket whose count is not 0 */
} DistBuilder;

void dist_builder_init(DistBuilder *builder);
void dist_builder_clear(DistBuilder *builder);
/* Values above DIST_VALUE_MAX are for the caller to cut. */
void dist_builder_add(DistBuilder *builder, const guint64 *values, gsize n);
/* FALSE: malformed; the builder is then of no use. *count and *sum are told of what was added. */
gboolean dist_builder_add_encoded(DistBuilder *builder, ByteReader *reader, guint64 *count, guint64 *sum);
/* Writes what dist_encode() would into dist_builder_room() bytes, and is empty again; returns the end. */
gsize dist_builder_room(const DistBuilder *builder);
guint8 *dist_builder_put(DistBuilder *builder, guint8 *at);
