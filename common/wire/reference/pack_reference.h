/* Packs read a second time, without regard to speed: what tests hold pack_decode.c against. Part of
 * plumb_wire_reference. */
#pragma once

#include "common/base/bytes.h"
#include "common/model/batch.h"

/* The spans of a pack that packs_decode accepts, copied behind those of the batch. */
void pack_reference(Bytes pack, SpanBatch *batch);
