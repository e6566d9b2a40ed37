/* Packs bytes as Spark's writers do, for tests. */
#pragma once

#include "spark-bridge/storage/unpack.h"

/* Appends 'plain' to 'out' in frames or blocks of at most block_bytes each; for lz4 and snappy with a stream's head and
 * end, so that calling it again makes a file of several streams. */
void packed_append(PackedKind kind, Bytes plain, gsize block_bytes, GByteArray *out);
/* Text that packs: lines of words. */
GByteArray *packed_words(guint32 seed, gsize size_bytes);
