/* submit through Thrift's own C library, c_glib: what tests hold our decoder against. In a library of its own
 * (plumb_wire_reference), because no program uses it: c_glib skips unknown fields with a recursion as deep as the peer
 * likes, leaks when a struct breaks off, and (0.17) 32 bytes of every object of a generated class. */
#pragma once

#include "common/wire/message.h"

/* As wire_batch_decode, for bytes that it accepts; strings are copied into the batch. */
gboolean wire_batch_decode_reference(const WireHeader *header, SpanBatch *batch, WireVersions *versions,
                                     GError **error);
