/* Random forests for tests: what senders may send, with everything that goes wrong. */
#pragma once

#include "common/model/span.h"
#include "tests/calltree/world.h"

typedef struct Forest {
    guint64 trace_id;
    gint64 unit_ns; /* all times are base_ns + a small multiple of it */
    gint64 base_ns;
    GByteArray *bytes;  /* the records */
    GPtrArray *spans;   /* const SpanRec *, in order of arrival */
    gboolean conflicts; /* some id came with two contents */
} Forest;

typedef enum {
    FOREST_WILD,      /* what may go wrong does */
    FOREST_CLEAN,     /* no orphans, cycles, duplicates, reversed times */
    FOREST_PIPELINES, /* clean; a block is written through one to three DataNodes, and packets come at any time */
    FOREST_READS,     /* clean; blocks are asked for and sent, each call at any time */
    FOREST_ROOTS,     /* the same, and the reader's calls are roots */
    FOREST_JOURNAL    /* clean; edits are synced, each call at any time, and sent to JournalNodes */
} ForestKind;

typedef struct ForestOptions {
    guint max_spans;
    ForestKind kind;
} ForestOptions;

/* The same seed gives the same forest but for the world's ids. */
Forest *forest_new(const World *world, guint32 seed, const ForestOptions *options);
void forest_free(Forest *forest);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Forest, forest_free)

/* Pointers to records that lie one behind the other. */
GPtrArray *spans_in(const GByteArray *bytes);
void spans_shuffle(GPtrArray *spans, guint32 seed);

/* Says which forest failed and how to see it again, then aborts. */
void forest_failed(guint32 seed, const char *file, int line, const char *what) G_GNUC_NORETURN;
#define forest_check(seed, condition)                                                                                  \
    do {                                                                                                               \
        if (!(condition)) forest_failed((seed), __FILE__, __LINE__, #condition);                                       \
    } while (0)
