/* Results of a load: what became of each operation. The executor (tracer-patches/load) writes them as they happen; the
 * format is in docs/load.md. A file whose writer was killed is read as far as it goes.
 *
 * What is due in the warm-up is only counted. */
#pragma once

#include "analyzer/load/plan/plan.h"

#define LOAD_RECORD_BYTES 64u
#define LOAD_SLOWEST      100u /* are kept of a run */

/* One operation that ended well, or had not ended when the run did. */
typedef struct LoadSample {
    gint64 latency_ns; /* since it was due; of one that had not ended: at least */
    gint64 service_ns; /* since it was begun */
    guint32 second;    /* in which it was due */
    guint32 late_us;   /* how late it was handed on */
} LoadSample;

typedef struct LoadKindRun {
    GArray *samples;                        /* LoadSample */
    guint64 operations, failed, unfinished; /* all; those of them */
    gint64 bytes;
} LoadKindRun;

typedef struct LoadSlow {
    LoadKind kind;
    gboolean unfinished;
    guint64 number, trace;
    gint64 due_ns, latency_ns, service_ns;
} LoadSlow;

/* As results number them, but for the last: a file without an end. */
typedef enum {
    RUN_DONE,
    RUN_INTERRUPTED,
    RUN_ERRORS,
    RUN_LAG,
    RUN_RESULT,
    RUN_LATENCY,
    RUN_BYTES,
    RUN_SPACE,
    RUN_KILLED
} LoadRunEnd;

typedef struct LoadRun {
    GHashTable *head; /* lines before the records: char * -> char * */
    GPtrArray *keys;  /* of head, in their order */
    gint64 warm_up_ns, duration_ns;
    LoadKindRun kinds[LOAD_KINDS];
    GPtrArray *texts; /* char * of errors by number; NULL where there is none */
    GArray *failures; /* guint64: how often, by number */
    GArray *slowest;  /* LoadSlow: the slowest first, once the run is read */
    GPtrArray *hosts; /* GHashTable: heads of all that were merged, its own first; NULL: none were */
    LoadRunEnd end;
    gint64 end_ns;        /* when the run ended; of one that was killed, the last that is known */
    guint64 handed_on;    /* operations that were due until then, warm-up included */
    gboolean shared;      /* of one of several hosts: has the others' numbers between its own */
    gboolean closed;      /* of a closed loop: operations were due when they were begun */
    gboolean sessions;    /* of a plan with sessions: some operations were due when others had ended */
    guint64 seen;         /* operations in the file */
    guint64 in_warm_up;   /* of the plan */
    guint64 warm_up_seen; /* of these, in the file */
    guint64 records;
    guint64 damaged;   /* records whose check sum is wrong, or that make no sense */
    guint64 cut_bytes; /* of a last record that is not whole */
} LoadRun;

/* Reads a result piece by piece. */
typedef struct LoadRunReader LoadRunReader;
LoadRunReader *load_run_reader_new(void); /* for tests */
void load_run_reader_free(LoadRunReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LoadRunReader, load_run_reader_free)
/* Errors: INPUT, VERSION. */
gboolean load_run_read(LoadRunReader *reader, Bytes piece, GError **error); /* for tests */
/* The run; free it with load_run_free(). INPUT when not even the head is whole. */
LoadRun *load_run_read_end(LoadRunReader *reader, GError **error); /* for tests */
void load_run_free(LoadRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LoadRun, load_run_free)

/* A whole file. Errors: IO besides. */
LoadRun *load_run_open(const char *path, GError **error);
/* Results of hosts that shared a plan as one. Takes 'other' into 'run', which is the first or has been merged before.
 * Errors: INPUT, when they are not of one run, or a share is there twice. */
gboolean load_run_merge(LoadRun *run, const LoadRun *other, GError **error);
/* Of the head; "" without. */
const char *load_run_head(const LoadRun *run, const char *key);
const char *load_run_end_name(LoadRunEnd end);
/* Of LoadSlow, the slowest first. */
gint load_slow_compare(gconstpointer a, gconstpointer b);
