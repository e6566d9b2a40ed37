/* Plans of a load: which operation is due when, on which file. Drawn from a seed, so that the same options give the
 * same bytes on every machine (portable.h); executed by tracer-patches/load. The format: docs/load.md.
 *
 * Each quantity has random numbers of its own, which depend on the seed alone: another mix leaves the due times as they
 * are, other due times leave the sizes. */
#pragma once

#include "analyzer/load/plan/kinds.h"
#include "analyzer/load/plan/profile.h"
#include "common/base/bytes.h"

/* More would not fit in the executor's memory, or in a day. */
#define LOAD_OPERATIONS_MOST 50000000u
#define LOAD_FILES_MOST      10000000u
#define LOAD_CLIENTS_MOST    10000u
#define LOAD_SESSION_MOST    10000u
#define LOAD_FILE_MOST_BYTES (G_GINT64_CONSTANT(1) << 40)
#define LOAD_SECONDS_MOST    (7 * 24 * 3600)

typedef enum { GAPS_PARETO, GAPS_LOMAX, GAPS_POISSON, GAPS_EVEN } LoadGaps;

/* What is drawn. load_preset() fills it in; what a user says goes over it. */
typedef struct LoadModel {
    const char *preset; /* its name */
    guint64 seed;
    double alpha;        /* part of the source cluster's rate; ignored with a rate */
    double rate;         /* operations a second, always the same; 0: by alpha */
    double persistence;  /* how much of the logarithm of a second's rate goes on into the next: 0 to below 1 */
    LoadProfile profile; /* the rate of a second is multiplied by it; the plan begins at midnight */
    gint64 warm_up_ns;   /* marked, and left out of reports */
    gint64 ramp_ns;      /* of the warm-up, from its begin: the rate rises to the full one, second by second */
    gint64 duration_ns;  /* after it */
    LoadGaps gaps;       /* between operations */
    LoadMix mix;
    guint64 files;          /* made before the load begins */
    gint64 max_file_bytes;  /* larger ones are cut to it */
    gint64 size_unit_bytes; /* of the drawn sizes of requests */
    guint clients;
    guint session;      /* operations of a session: each but the first waits for the one before; 0 is 1 */
    double zipf;        /* exponent of the files' popularity; 0: all alike */
    gboolean recent;    /* most reads go to files with few of the bytes */
    double compress;    /* deleted files are by so much younger than those of the source; 0: any age */
    guint64 files_seed; /* of the files that are made before; 0: seed */
    const char *more;   /* further lines of the head, each with its line feed; NULL: none */
} LoadModel;

/* "alicloud", "table15", "yahoo". FALSE: there is none of this name. */
gboolean load_preset(const char *name, LoadModel *model);
/* Whether what it says can be drawn. Errors are CONFIG and name the option. */
gboolean load_model_check(const LoadModel *model, GError **error);
/* "pareto". */
const char *load_gaps_name(LoadGaps gaps);

/* What a plan comes to. */
typedef struct LoadPlanSums {
    guint64 files;      /* that are made before: those of the model, and those to be renamed, deleted or appended to */
    guint64 files_cut;  /* of the model's, to max_file_bytes */
    guint64 operations; /* warm-up included */
    guint64 of_kind[LOAD_KINDS];
    guint64 requests_cut; /* reads that would go over the end of their file, writes larger than max_file_bytes */
    gint64 fill_bytes, read_bytes, write_bytes;
    gint64 last_due_ns;
} LoadPlanSums;

/* Takes the next piece of a plan. */
typedef gboolean (*LoadPlanWrite)(void *arg, Bytes piece, GError **error);
/* Draws a plan whose model is checked. Errors: LIMIT (too many operations), and what write says. */
gboolean load_plan_draw(const LoadModel *model, LoadPlanWrite write, void *arg, LoadPlanSums *sums, GError **error);

/* A plan that was drawn, read line by line: load_plan_read() for each piece, then load_plan_read_end(). */
typedef struct LoadPlanReader LoadPlanReader;

typedef struct LoadOperation {
    gint64 due_ns;    /* of one that follows: when its session comes */
    gboolean follows; /* it is due when the one before it in the plan has ended */
    LoadKind kind;
    guint client;
    guint64 file;
    gint64 offset, size_bytes;
} LoadOperation;

/* Called for each operation; may be NULL. */
typedef void (*LoadPlanEach)(void *arg, const LoadOperation *operation);
LoadPlanReader *load_plan_reader_new(LoadPlanEach each, void *arg);
void load_plan_reader_free(LoadPlanReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LoadPlanReader, load_plan_reader_free)
/* Errors: INPUT, with the number of the line; VERSION; LIMIT. */
gboolean load_plan_read(LoadPlanReader *reader, Bytes piece, GError **error);
/* INPUT also when the plan is not whole. sums: as far as a plan tells; files_cut and requests_cut are 0. */
gboolean load_plan_read_end(LoadPlanReader *reader, LoadPlanSums *sums, GError **error);
/* The value of a line of the head ("seed"), borrowed; NULL without. */
const char *load_plan_head(const LoadPlanReader *reader, const char *key);
/* The model that a plan was drawn from, once its head is read: load_plan_draw() makes the same bytes of it, 'more' left
 * out. Errors: INPUT, when another program wrote the plan, or it is of an audit log. */
gboolean load_plan_model(const LoadPlanReader *reader, LoadModel *model, GError **error);
