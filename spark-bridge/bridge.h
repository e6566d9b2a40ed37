/* Reads event logs to their present end, hands their records on in batches, and notes how far each log went once its
 * records were taken. Called again, it goes on where logs have grown: that is all that following is.
 *
 * A batch ends between two lines, so nothing is half-read; what was handed on and not noted when the program dies is
 * handed on again, which changes nothing where it is kept. Memory is bounded by a batch and the readers that are kept
 * open for running applications (BRIDGE_OPEN_LOGS), not by logs. */
#pragma once

#include "common/model/spark_records.h"
#include "spark-bridge/events/event_logs.h"
#include "spark-bridge/log_outcome.h"
#include "spark-bridge/storage/line_reader.h"
#include "spark-bridge/storage/positions.h"

/* Running applications whose reader is kept between rounds; more are opened anew where they were. */
#define BRIDGE_OPEN_LOGS 64u

typedef struct Bridge Bridge;

Bridge *bridge_new(const BridgeOptions *options);
void bridge_free(Bridge *bridge);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Bridge, bridge_free)

/* Reads what the path names as far as it goes. Troubles of single logs are told and noted; fails when the path itself
 * cannot be looked at, or records cannot be delivered or positions not be kept. */
gboolean bridge_read(Bridge *bridge, const char *path, GError **error);
/* Hands on what is left and saves the positions. */
gboolean bridge_flush(Bridge *bridge, GError **error);

typedef struct BridgeCounts {
    guint64 logs, batches, plain_bytes, lines;
    guint64 records[SPARK_KIND_COUNT];
} BridgeCounts;
const BridgeCounts *bridge_counts(const Bridge *bridge);
/* Every log that was looked at, in the order of their paths. */
void bridge_outcomes(const Bridge *bridge, void (*each)(void *arg, const LogOutcome *outcome), void *arg);
