#include "receiver/net/protocol.h"

#include "common/base/clock.h"
#include "common/wire/htraced/hrpc.h"

const NetProtocol net_thrift = {
    .port = "thrift",
    .cut = frame_cut,
    .take = intake_frame,
    .logs_in = TRUE,
    .wait_most_ns = NS_PER_SEC,
};

const NetProtocol net_hrpc = {
    .port = "hrpc",
    .cut = hrpc_cut,
    .take = intake_hrpc,
    .waits_shut = TRUE,
    .wait_most_ns = 50 * NS_PER_SEC,
};
