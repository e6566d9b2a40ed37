/* Messages of senders that know more, or less, than this version: written through c_glib, field by field. */
#pragma once

#include "common/model/batch.h"
#include "common/wire/frame.h"

typedef struct NewerOptions {
    WireProtocol protocol;
    gboolean extras;   /* every struct has unknown fields of every type, before, between and after the known ones */
    guint deep;        /* every struct has an unknown field of structs that are nested so deep; 0: none */
    gboolean reversed; /* fields come in descending order */
    gint32 version;
    gint32 needs;               /* 0: left out */
    guint32 leave_out;          /* bit i: field i of each span is left out */
    guint32 leave_out_of_batch; /* likewise of the batch */
    const GPtrArray *packs;     /* GByteArray; not NULL: they have the spans, and the batch's list has none */
} NewerOptions;

/* A whole frame with a submit call. */
GByteArray *newer_submit(const SpanBatch *batch, const NewerOptions *options);

/* Appends a struct of nothing but unknown fields, structs nested 'depth' deep in each other. */
GByteArray *newer_deep(WireProtocol protocol, guint depth);
