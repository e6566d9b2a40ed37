/* Which file an operation is about: files that are there from the begin, by popularity, and files that the load itself
 * wrote, by age. */
#pragma once

#include "analyzer/load/plan/model.h"

typedef struct Targets Targets;

/* Draws the files that are there from the begin. */
Targets *targets_new(const LoadModel *model, Draws *draws);
void targets_free(Targets *targets);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Targets, targets_free)

guint64 targets_files(const Targets *targets);
gint64 targets_file_bytes(const Targets *targets, guint64 file);
guint64 targets_cut(const Targets *targets); /* files that would be larger */

/* Of those that are there from the begin. */
guint64 targets_pick(const Targets *targets, Draws *draws);
/* A file that is written at 'due_ns', never before the one told last. */
void targets_written(Targets *targets, guint64 file, gint64 due_ns);
/* One of these, old enough at 'due_ns' to be deleted; it is given once. FALSE: there is none. */
gboolean targets_take_old(Targets *targets, Draws *draws, gint64 due_ns, guint64 *file);
