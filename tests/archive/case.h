/* One archive, one writer, spans in a row: for tests of one situation each. */
#pragma once

#include "analyzer/archive/write/writer.h"
#include "common/base/clock.h"
#include "tests/archive/fixture.h"
#include "tests/archive/traces.h"

#define BASE_NS (G_GINT64_CONSTANT(1700000040) * NS_PER_SEC) /* the start of a minute */

typedef struct Case {
    Fixture fixture;
    TestWorld world;
    ArchiveWriter *writer;
    GByteArray *spans;
} Case;

void case_open(Case *c, gboolean rocksdb, guint32 max_trace_spans);
void case_open_with(Case *c, gboolean rocksdb, const ArchiveOptions *options);
void case_close(Case *c);
/* Empties the scratch and appends spans first .. last, each the child of the one before, a millisecond apart. */
GByteArray *chain(Case *c, guint64 trace, guint first, guint last);
void join_late(Case *c);
/* Commits, and brings late spans to their traces; the statistics stay as they are. */
void commit_and_join(Case *c);
guint loaded_spans(Case *c, guint64 trace);
GByteArray *copy_of(const GByteArray *bytes);
