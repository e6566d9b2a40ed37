/* A small archive in memory, built from tables of spans, and questions to it. */
#pragma once

#include <jansson.h>

#include "analyzer/archive/write/writer.h"
#include "analyzer/query/query.h"
#include "common/pack/pack.h"

typedef struct Fixture {
    Store *store;
    NamingRules *rules;
    Archive *archive;
    Packer *packer;
    ArchiveWriter *writer;
} Fixture;

void fixture_init(Fixture *fixture);
/* With traces kept in parts of so many spans; 0: the default. */
void fixture_init_parts(Fixture *fixture, guint32 max_trace_spans);
void fixture_clear(Fixture *fixture);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Fixture, fixture_clear)

/* One span. Times are microseconds, begin relative to SAMPLE_BASE_NS. */
typedef struct SpanRow {
    guint64 trace, span, parent; /* parent 0: none */
    const char *name;
    const char *tracer;
    gint64 begin_us, duration_us;
    const char *annotations; /* "key=value;@MICROSECONDS=note"; NULL: none */
    guint32 flags;
} SpanRow;

/* 2020-11-21T10:53:00Z: the start of a minute. */
#define SAMPLE_BASE_NS G_GINT64_CONSTANT(1605955980000000000)

void row_to_batch(const SpanRow *row, SpanBatch *batch);
/* Packs what is in the batch and stores it, traces whole. All spans must be taken. */
void fixture_store_batch(Fixture *fixture, const SpanBatch *batch);
/* The same, but spans of traces that are stored already wait. */
void fixture_put_batch(Fixture *fixture, const SpanBatch *batch);
void fixture_store(Fixture *fixture, const SpanRow *rows, gsize n);

/* params: "name=value&name=value", nothing escaped. now is one hour after SAMPLE_BASE_NS. */
json_t *fixture_ask(Fixture *fixture, const char *question, const char *params, GError **error);
/* The same; any error fails the test. */
json_t *fixture_answer(Fixture *fixture, const char *question, const char *params);
QueryParams *params_from_text(const char *text);

/* The answer is the document tests/data/query/FILE.json, which was checked by hand; with PLUMB_WRITE_DOCUMENTS set it
 * becomes that. */
void fixture_check_document(const char *file, const json_t *answer);

/* The element of a list of objects whose field has that text; NULL when there is none. */
json_t *row_where(const json_t *list, const char *field, const char *text);
gint64 number_at(const json_t *object, const char *field);
const char *text_at(const json_t *object, const char *field);

/* Spans of a small HDFS: writes, reads, a trace with a missing parent, one with bad times, one cycle. */
extern const SpanRow sample_rows[];
extern const gsize sample_count;
