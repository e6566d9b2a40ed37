/* Random batches, and what it means that two are the same. */
#pragma once

#include "common/model/batch.h"

/* Every shape a batch can have: no and many parents (also of other traces), equal annotation keys, empty and long
 * strings, text beyond ASCII, extreme numbers, with and without a sender. The indices are valid, ids may be (0,0). */
SpanBatch *batches_random(GRand *rand, guint n_spans);

/* Spans as HDFS makes them: few names, one parent, some with annotations. */
SpanBatch *batches_typical(GRand *rand, guint n_spans);

/* Same spans in the same order, strings compared as bytes and not by index. Fails the test that calls it. */
void batches_assert_spans_equal(const SpanBatch *a, const SpanBatch *b);
/* And the same string table and sender. */
void batches_assert_equal(const SpanBatch *a, const SpanBatch *b);
