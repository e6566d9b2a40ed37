/* Realistic traces without end, for load and measurement: copies of traces that a real HDFS made (bench/model/), with
 * fresh ids, times around now, stretched durations and other numbers in paths and block names.
 *
 * A generator stands for a small cluster: every process of it has a sender's batch, and a trace's spans go to the
 * batches of the processes that made them, as in life. Deterministic for a seed. One thread at a time. */
#pragma once

#include "common/model/batch.h"

typedef struct Generator Generator;

typedef struct GeneratorOptions {
    const char *model_path; /* HTrace JSON */
    guint64 seed;
    guint32 hosts;          /* DataNodes and client hosts to spread over */
    gboolean nanoseconds;   /* give times digits below the millisecond, as the agent does */
    gint64 (*now_ns)(void); /* begin of the next trace */
} GeneratorOptions;

Generator *generator_new(const GeneratorOptions *options, GError **error);
void generator_free(Generator *generator);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Generator, generator_free)

/* Processes of the model: each has a batch of its own. */
guint generator_processes(const Generator *generator);
/* Appends one trace to the batches of its processes; returns its number of spans. */
guint generator_trace(Generator *generator);
SpanBatch *generator_batch(Generator *generator, guint process);
/* After the batch was sent. */
void generator_batch_done(Generator *generator, guint process);
