/* What the ports for spans have of their own: how requests are cut out of a stream, what takes them, and how long a
 * sender waits.
 *
 * A sender over Thrift is told to try later. HTrace's client over HRPC cannot send anything again once it was answered:
 * the answer's bytes lie where the begin of its request was. So it waits instead, for as long as it has patience
 * (htraced.io.timeout.ms, a minute), and is answered when its spans are taken. */
#pragma once

#include "common/wire/frame.h"
#include "receiver/net/intake.h"

typedef struct NetProtocol {
    const char *port; /* in logs */
    FrameState (*cut)(Bytes stream, gsize max_bytes, FrameCut *cut);
    IntakeResult (*take)(Intake *intake, Bytes frame, GByteArray *out);
    gboolean logs_in;    /* TLS and a login may come first */
    gboolean waits_shut; /* while nothing can be taken, too */
    gint64 wait_most_ns; /* in line; then it is told to try later */
} NetProtocol;

extern const NetProtocol net_thrift, net_hrpc;
