/* What the two forms of a request to htraced share. Private to this folder. */
#pragma once

#include "common/base/error.h"
#include "common/model/batch.h"

#define HTRACED_NUM_SPANS "NumSpans"

/* Spans without a tracer id get this one, which the request names for all of them. */
void htraced_set_tracer(SpanBatch *batch, const char *tracer, gsize length);
/* LIMIT: a batch so large could not be journaled. */
gboolean htraced_batch_fits(const SpanBatch *batch, GError **error);
