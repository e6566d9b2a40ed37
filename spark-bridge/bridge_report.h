/* What plumb-bridge says at its end: a JSON document for programs, lines for people. */
#pragma once

#include "spark-bridge/bridge.h"
#include "spark-bridge/bridge_send.h"

typedef struct BridgeReport {
    const Bridge *bridge;
    const BridgeSent *sent; /* NULL: nothing was to be sent */
    gint64 duration_ns;
} BridgeReport;

/* New texts. */
char *bridge_report_json(const BridgeReport *report);
char *bridge_report_text(const BridgeReport *report);
/* Was everything read and taken? Logs of running applications may lack their end. */
gboolean bridge_report_clean(const BridgeReport *report);
