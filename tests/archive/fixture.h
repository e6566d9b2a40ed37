/* A store with an archive in it, and what the tests ask of both. */
#pragma once

#include "analyzer/archive/archive.h"
#include "analyzer/archive/read/period_stats.h"
#include "analyzer/archive/verify/verify.h"
#include "analyzer/archive/write/writer.h"

typedef struct Fixture {
    gboolean rocksdb;
    char *folder; /* of RocksDB */
    ArchiveOptions options;
    Store *store;
    Archive *archive;
} Fixture;

void fixture_open(Fixture *fixture, gboolean rocksdb, const ArchiveOptions *options);
/* Closes and opens again: the archive, and a store that keeps something. */
void fixture_reopen(Fixture *fixture);
/* Removes the store's folder. */
void fixture_close(Fixture *fixture);

void fixture_add(ArchiveWriter *writer, const GByteArray *spans);
void fixture_commit(ArchiveWriter *writer);
/* Verifies; prints the first differences when there are any. Returns their number. */
guint64 fixture_verify(Fixture *fixture, VerifyResult *result);
void fixture_assert_sound(Fixture *fixture);

/* Everything the store holds of traces, index and statistics, as sorted lines of text: patterns by id, not by number,
 * so that two stores compare whatever the order in which their traces came. But for patterns' rows of all hosts. */
GPtrArray *fixture_dump(Fixture *fixture);
void assert_same_dump(const GPtrArray *a, const GPtrArray *b);

/* archive_stats() against a sum over all spans of 'traces' (GByteArray each, distinct spans). */
void fixture_assert_stats(Fixture *fixture, const StatsFilter *filter, const GPtrArray *traces);
/* All of a trace, late spans that wait included: archive_load_parts() without bounds. */
gboolean fixture_load(Archive *archive, guint64 trace_id, GByteArray *spans, GError **error);
/* Every trace loads with exactly its spans. */
void fixture_assert_traces(Fixture *fixture, const GPtrArray *traces);
