/* Stored spans on their way out: JSON lines of HTrace, OTLP, Parquet. */
#pragma once

#include "analyzer/cli/options/invocation.h"

extern const Command command_export;
