/* What the times and tracers of a place are expected to be. Encoder and decoder ask the same model in the same order,
 * and tell it what they found. */
#pragma once

#include "analyzer/calltree/record/record_form.h"

/* An interval in units of the record. */
typedef struct Interval {
    gint64 begin;
    gint64 duration;
} Interval;

/* Of the places of one pattern node. Widths are running means, times 16. */
typedef struct TimeModel {
    guint32 begin, step, duration;
    gboolean begin_known, step_known, duration_known;
    gboolean from_begin; /* calls one after the other begin after the end of the one before, side by side its begin */
} TimeModel;

static inline guint model_width(guint32 mean) { return (mean + 8) / 16; }

static inline void model_learn(guint32 *mean, gboolean *known, guint width) {
    *mean = *known ? (guint32)((gint32)*mean + ((gint32)(16 * width) - (gint32)*mean) / 2) : 16 * width;
    *known = TRUE;
}

/* Of the begin, from the parent's. */
static inline guint model_begin(const TimeModel *model, const Interval *parent) {
    if (model->begin_known) return model_width(model->begin);
    guint width = parent->duration > 0 ? width_of((guint64)parent->duration) : 0;
    return width > 2 ? width - 2 : 0;
}

/* Of the begin of a later sibling, from the one before. */
static inline guint model_step(const TimeModel *model, const Interval *before) {
    if (model->step_known) return model_width(model->step);
    return before->duration > 0 ? width_of((guint64)before->duration) : 0;
}

/* Of the duration: at first, what its parent has left. */
static inline guint model_duration(const TimeModel *model, const Interval *parent, gint64 begin) {
    if (model->duration_known) return model_width(model->duration);
    gint64 left = wrapping_sub(wrapping_add(parent->begin, parent->duration), begin);
    return left > 0 ? width_of((guint64)left) : 0;
}

static inline gint64 model_step_from(const TimeModel *model, const Interval *before) {
    return model->from_begin ? before->begin : wrapping_add(before->begin, before->duration);
}

static inline void model_learn_step(TimeModel *model, const Interval *before, gint64 begin, guint width) {
    model_learn(&model->step, &model->step_known, width);
    gint64 after_begin = wrapping_sub(begin, before->begin);
    guint by_begin = width_of(zigzag_of(after_begin));
    guint by_end = width_of(zigzag_of(wrapping_sub(after_begin, before->duration)));
    if (by_begin != by_end) model->from_begin = by_begin < by_end;
}

typedef struct TracerModel {
    guint32 of_role[ROLE_COUNT]; /* the last */
    guint32 recent[RECENT_TRACERS];
    guint32 n_recent; /* ever */
    /* Of the pattern node at hand. */
    guint32 before;
    guint8 role;
    gboolean parent_alike; /* its role is that of its parent */
    gboolean begun, as_parent;
} TracerModel;

/* A client calls the NameNode: the parent's tracer is not to be expected where the roles differ. */
static inline void tracer_model_node(TracerModel *model, const Pattern *pattern, guint32 q) {
    const PatternNode *node = &pattern->nodes[q], *parent = &pattern->nodes[node->parent];
    model->role = (guint8)node->role;
    model->parent_alike = parent->role == node->role;
    model->begun = FALSE;
}

/* parent: NULL when it is no span. */
static inline guint32 tracer_model_expect(const TracerModel *model, const guint32 *parent) {
    if (!model->begun) return parent != NULL && model->parent_alike ? *parent : model->of_role[model->role];
    return parent != NULL && model->as_parent ? *parent : model->before;
}

static inline void tracer_model_learn(TracerModel *model, const guint32 *parent, guint32 tracer) {
    if (!model->begun) model->as_parent = parent != NULL && *parent == tracer;
    model->begun = TRUE;
    model->before = model->of_role[model->role] = tracer;
}

/* Tokens of tracers that are not as expected: k for the k-th last that was written out, else RECENT_TRACERS + id. */
static inline guint64 tracer_token(const TracerModel *model, guint32 tracer) {
    for (guint32 k = 0; k < MIN(model->n_recent, RECENT_TRACERS); k++) {
        if (model->recent[(model->n_recent - 1 - k) % RECENT_TRACERS] == tracer) return k;
    }
    return (guint64)RECENT_TRACERS + tracer;
}

static inline gboolean tracer_of_token(const TracerModel *model, guint64 token, guint32 *tracer) {
    if (token >= RECENT_TRACERS) {
        *tracer = (guint32)(token - RECENT_TRACERS);
        return token - RECENT_TRACERS <= G_MAXUINT32;
    }
    if (token >= model->n_recent) return FALSE;
    *tracer = model->recent[(model->n_recent - 1 - token) % RECENT_TRACERS];
    return TRUE;
}

static inline void tracer_written(TracerModel *model, guint64 token, guint32 tracer) {
    if (token >= RECENT_TRACERS) model->recent[model->n_recent++ % RECENT_TRACERS] = tracer;
}
