#include "tests/archive/case.h"

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/consolidation/join.h"

void case_open(Case *c, gboolean rocksdb, guint32 max_trace_spans) {
    case_open_with(c, rocksdb, &(ArchiveOptions){.clock_tolerance_ns = NS_PER_MS, .max_trace_spans = max_trace_spans});
}

void case_open_with(Case *c, gboolean rocksdb, const ArchiveOptions *options) {
    fixture_open(&c->fixture, rocksdb, options);
    world_init(&c->world, 7, archive_dict(c->fixture.archive));
    c->writer = archive_writer_new(c->fixture.archive);
    c->spans = g_byte_array_new();
}

void case_close(Case *c) {
    archive_writer_free(c->writer);
    g_byte_array_unref(c->spans);
    world_clear(&c->world);
    fixture_close(&c->fixture);
}

GByteArray *chain(Case *c, guint64 trace, guint first, guint last) {
    g_byte_array_set_size(c->spans, 0);
    for (guint i = first; i <= last; i++) {
        TestSpan span = {trace,     i, i - 1, c->world.names[i % 3], c->world.tracers[i % 4], BASE_NS + i * NS_PER_MS,
                         NS_PER_SEC};
        test_span_append(c->spans, &span);
    }
    return c->spans;
}

void join_late(Case *c) {
    g_autoptr(GError) error = NULL;
    archive_join(c->fixture.archive, &error);
    g_assert_no_error(error);
}

void commit_and_join(Case *c) {
    g_autoptr(GError) error = NULL;
    fixture_commit(c->writer);
    archive_join(c->fixture.archive, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(archive_totals(c->fixture.archive).late_waiting, ==, 0);
}

guint loaded_spans(Case *c, guint64 trace) {
    g_autoptr(GByteArray) spans = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    fixture_load(c->fixture.archive, trace, spans, &error);
    g_assert_no_error(error);
    return span_count(spans);
}

GByteArray *copy_of(const GByteArray *bytes) {
    GByteArray *copy = g_byte_array_new();
    g_byte_array_append(copy, bytes->data, bytes->len);
    return copy;
}
