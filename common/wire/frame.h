/* Thrift frames: a 4-byte big-endian length, then that many bytes. Works on bytes alone; the network files own the
 * sockets. */
#pragma once

#include "common/base/bytes.h"
#include "common/wire/protocol.h"

#define FRAME_HEADER_BYTES 4

typedef enum {
    FRAME_WHOLE,     /* cut->frame is set */
    FRAME_PARTIAL,   /* more bytes are needed */
    FRAME_TOO_LARGE, /* declared length over max_bytes */
    FRAME_GARBAGE,   /* not Thrift at all: the payload starts like neither protocol, or the length is 0 */
} FrameState;

typedef struct FrameCut {
    Bytes frame; /* the payload, a view into the stream */
    gsize
        needed_bytes; /* of FRAME_PARTIAL: how long the stream must get; of FRAME_WHOLE: how much is the frame's; header
                         * included */
    guint32 declared_bytes;
} FrameCut;

/* Looks at the start of a stream. A declared length over max_bytes, and a payload whose first byte is neither 0x80
 * (strict binary) nor 0x82 (compact), are found as soon as 5 bytes are there, before anything is allocated for them. */
FrameState frame_cut(Bytes stream, gsize max_bytes, FrameCut *cut);

/* The protocol of a whole frame's payload. */
WireProtocol frame_protocol(Bytes frame);
