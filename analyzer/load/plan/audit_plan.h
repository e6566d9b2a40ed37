/* A plan of what a NameNode was asked for, from its audit log (audit_line.h). The log has no sizes: they are drawn as
 * those of any plan are. Paths become numbers; a file that is read before the log makes it is made before the load.
 *
 * The log is read twice: first for what is read and how long it goes, then for the operations. */
#pragma once

#include "analyzer/load/plan/audit_line.h"
#include "analyzer/load/plan/plan.h"

typedef struct AuditOptions {
    double speed;       /* of the replay: 2 is twice as fast as the log */
    gint64 duration_ns; /* of the plan, warm-up included; no more of the log is replayed. 0: all of it */
    LoadModel model;    /* of the sizes: seed, max_file_bytes, size_unit_bytes; clients; warm_up_ns */
} AuditOptions;

/* What became of the lines. */
typedef struct AuditSums {
    guint64 lines, operations; /* operations: of the plan */
    guint64 refused;           /* allowed=false */
    guint64 other_lines;       /* of other loggers */
    guint64 later;             /* past the duration */
    gint64 end_ns;             /* of the plan, warm-up included */
    GHashTable *left_out;      /* char * of a command -> guint64 *: those that have no kind */
} AuditSums;

typedef struct AuditPlan AuditPlan;

AuditPlan *audit_plan_new(const AuditOptions *options);
void audit_plan_free(AuditPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AuditPlan, audit_plan_free)

/* The first time through, piece by piece; then audit_plan_turn() once; then the pieces again. Errors: INPUT, with the
 * number of the line; LIMIT. */
gboolean audit_plan_scan(AuditPlan *plan, Bytes piece, GError **error);
/* INPUT: there is no operation in it. */
gboolean audit_plan_turn(AuditPlan *plan, LoadPlanWrite write, void *arg, GError **error);
gboolean audit_plan_read(AuditPlan *plan, Bytes piece, GError **error);
/* The end of the plan. Errors of 'write'. Its left_out belongs to the plan. */
gboolean audit_plan_end(AuditPlan *plan, LoadPlanSums *sums, AuditSums *of_log, GError **error);
