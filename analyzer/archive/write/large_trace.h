/* Large traces are opened one at a time.
 *
 * Making spans, tree and record of a part of 100,000 spans takes 20 to 30 MB for moments, with long annotations
 * more. Shards and the joining of late spans would each take that at the same time. */
#pragma once

#include "analyzer/archive/tables/pattern_numbers.h"

/* Waits until nobody else has a large trace open, when one of so many spans, or bytes of them, is. Returns whether
 * large_trace_end() is to be called, by the same thread. */
gboolean large_trace_begin(Archive *archive, guint64 n_spans, guint64 bytes);
void large_trace_end(Archive *archive);
