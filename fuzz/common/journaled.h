/* What is accepted can be journaled: it comes back from a frame as it is, so that no start refuses what was
 * acknowledged. */
#pragma once

#include "common/model/batch.h"

/* Aborts where it does not. */
void check_journaled(const SpanBatch *batch);
