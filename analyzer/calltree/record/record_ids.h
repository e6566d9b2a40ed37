/* What the id of a place is expected to be, as a place of its process's sequence (common/model/id_place.h). Encoder and
 * decoder ask the same model in the same order, and tell it what they found.
 *
 * A thread draws its ids one after the other, so a span's place is little more than its parent's, and more by the same
 * wherever the same calls come before it. Spans of other threads of the process are some thousands of places away. */
#pragma once

#include <string.h>

#include "analyzer/calltree/record/record_form.h"
#include "common/model/id_place.h"

/* Processes whose last place is remembered: those that share a slot forget each other's. A power of two. */
#define ID_SLOTS_FEW  64u
#define ID_SLOTS_MANY 4096u
/* Records of so many places may have more processes than there are few slots. */
#define ID_MANY_PLACES 512u

/* Where a place comes from: each kind misses its guess by another width. */
typedef enum {
    ID_FIRST,   /* of its pattern node, in the process of its parent: follows the last one of the process */
    ID_CHILD,   /* as far from its parent as the one before it was from its own */
    ID_SIBLING, /* as far from the sibling before as that one was from the one before it */
    ID_OTHER,   /* of another process than its parent: follows the last one of that process */
    ID_KINDS,
    ID_UNKNOWN = ID_KINDS, /* the process was not met before: the id itself */
} IdKind;

typedef struct IdSlot {
    guint64 place;
    guint32 tracer;
} IdSlot;

typedef struct IdModel {
    IdSlot *slots;
    guint32 mask;
    guint32 width[ID_KINDS]; /* running means, times 16 */
    guint64 met[ID_SLOTS_MANY / 64];
    /* Of the pattern node at hand. */
    guint64 before, from_parent, from_sibling;
    gboolean begun;
} IdModel;

/* What is known of the place at hand before its id. */
typedef struct IdContext {
    guint32 tracer;
    gboolean as_parent, as_sibling; /* the parent is a span of the same process; so is the sibling before */
    guint64 parent;                 /* its place, then */
} IdContext;

typedef struct IdGuess {
    guint64 place;
    IdKind kind;
} IdGuess;

static inline guint32 id_slots_of(guint32 n_places) { return n_places < ID_MANY_PLACES ? ID_SLOTS_FEW : ID_SLOTS_MANY; }

/* slots: id_slots_of() of them, of any content. */
static inline void id_model_init(IdModel *model, IdSlot *slots, guint32 n_slots) {
    model->slots = slots;
    model->mask = n_slots - 1;
    for (guint i = 0; i < ID_KINDS; i++) model->width[i] = 0;
    memset(model->met, 0, n_slots / 8);
}

static inline void id_model_node(IdModel *model) {
    model->begun = FALSE;
    model->from_parent = model->from_sibling = 1;
}

static inline gboolean id_model_met(const IdModel *model, guint32 slot, guint32 tracer) {
    return (model->met[slot / 64] >> slot % 64 & 1) != 0 && model->slots[slot].tracer == tracer;
}

static inline IdGuess id_model_guess(const IdModel *model, const IdContext *at) {
    if (at->as_sibling) return (IdGuess){model->before + model->from_sibling, ID_SIBLING};
    if (at->as_parent && model->begun) return (IdGuess){at->parent + model->from_parent, ID_CHILD};
    guint32 slot = at->tracer & model->mask;
    if (!id_model_met(model, slot, at->tracer)) return (IdGuess){0, ID_UNKNOWN};
    return (IdGuess){model->slots[slot].place + 1, at->as_parent ? ID_FIRST : ID_OTHER};
}

static inline guint id_model_width(const IdModel *model, IdKind kind) { return (model->width[kind] + 8) / 16; }

static inline void id_model_learn(IdModel *model, const IdContext *at, guint64 place) {
    guint32 slot = at->tracer & model->mask;
    model->met[slot / 64] |= (guint64)1 << slot % 64;
    model->slots[slot] = (IdSlot){place, at->tracer};
    if (at->as_sibling) {
        model->from_sibling = place - model->before;
    } else if (at->as_parent) {
        model->from_parent = place - at->parent;
        model->begun = TRUE;
    }
    model->before = place;
}

static inline void id_model_learn_width(IdModel *model, IdKind kind, guint width) {
    model->width[kind] =
        (guint32)((gint32)model->width[kind] + ((gint32)(16 * width) - (gint32)model->width[kind]) / 4);
}
