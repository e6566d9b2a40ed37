/* Random traces for the archive's tests: everything follows from a seed. */
#pragma once

#include "analyzer/archive/archive.h"

typedef struct TestWorld {
    GRand *rand;
    guint32 names[12];
    guint32 receive, mirror, send; /* PacketReceiver#receiveNextPacket, #mirrorPacketTo, DataStreamer#writeTo */
    guint32 ask;                   /* BlockReaderRemote#new */
    guint32 answers;               /* PacketResponder#run */
    guint32 tracers[8];
    guint32 bytes_key, path_key, stream_key, computed_key, exception_key, error_key;
} TestWorld;

/* Interns every string that the traces can use, in a fixed order: two stores made so have the same dictionary. */
void world_init(TestWorld *world, guint32 seed, Dict *dict);
void world_clear(TestWorld *world);

typedef struct TraceShape {
    guint max_spans;
    gint64 begin_ns;    /* the trace begins here ... */
    gint64 spread_ns;   /* ... or up to this much later */
    gint64 duration_ns; /* calls begin within this of their trace's begin */
    gboolean odd;       /* orphans, cycles, several parents, reversed calls */
} TraceShape;

/* A trace as packed records, one behind the other; 'out' is emptied first. */
void world_trace(TestWorld *world, guint64 trace_id, const TraceShape *shape, GByteArray *out);

/* One span; parent 0: none. */
typedef struct TestSpan {
    guint64 trace, span, parent;
    guint32 name, tracer;
    gint64 begin_ns, duration_ns;
} TestSpan;
void test_span_append(GByteArray *out, const TestSpan *span);

/* Records in 'spans': their offsets. */
GArray *span_offsets(const GByteArray *spans); /* guint */
guint span_count(const GByteArray *spans);
