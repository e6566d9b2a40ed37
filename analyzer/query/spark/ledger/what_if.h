/* What an application would gain without a cause: its stages are replayed with what the cause explains taken out of
 * their tasks (diagnosis/replay.h). Orders causes by seconds of the application, not by tasks: what a stage ends later
 * by is the last task's doing. */
#pragma once

#include <jansson.h>

#include "analyzer/query/spark/ledger/app_ledger.h"

/* Of the main causes of all stragglers, the WHAT_IF_MOST that explain most, those first that save most:
 * [{"feature", "topic", "host", "tasks", "explains_ns", "saves_ns"}]. saves_ns is the sum over the stages, which is the
 * application's as far as they ran one after the other. */
#define WHAT_IF_MOST 8u
json_t *what_if_json(const AppLedger *ledger);
