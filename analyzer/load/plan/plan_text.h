/* Writes a plan: its head, then files and operations in their order, then the end. */
#pragma once

#include "analyzer/load/plan/plan.h"

typedef struct PlanText {
    GString *text; /* the head is appended to it */
    guint64 hash;
    guint64 next_number; /* of files and folders */
    LoadPlanSums sums;
    LoadPlanWrite write;
    void *arg;
} PlanText;

void plan_text_init(PlanText *text, LoadPlanWrite write, void *arg);
void plan_text_clear(PlanText *text);
/* A file that is made before the load: its number. */
guint64 plan_text_file(PlanText *text, gint64 size_bytes);
/* Counts it, and its bytes. Errors: LIMIT, when there are too many; those of 'write'. */
gboolean plan_text_operation(PlanText *text, const LoadOperation *operation, GError **error);
/* Writes what has come together, if it is much. */
gboolean plan_text_flush_much(PlanText *text, GError **error);
gboolean plan_text_end(PlanText *text, GError **error);
