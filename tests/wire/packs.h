/* Packs, written in every way that their form allows. */
#pragma once

#include "common/model/batch.h"

/* All spans of the batch in one pack or several (GByteArray), with the batch's strings as their names: shapes kept or
 * not, names in the pack's table or written out, numbers and texts as such, repeated texts repeated or not; from
 * version 3 on, ids near others or not. */
GPtrArray *packs_random(GRand *rand, const SpanBatch *batch, gint32 version);

/* Pieces of packs by hand. */
void pack_varint(GByteArray *out, guint64 value);
void pack_signed(GByteArray *out, gint64 value);
void pack_u64(GByteArray *out, guint64 value);
