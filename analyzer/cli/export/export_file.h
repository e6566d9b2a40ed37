/* Spans to standard output or a file: JSON lines of HTrace, or of OTLP. */
#pragma once

#include <signal.h>

#include "analyzer/cli/options/invocation.h"

CliExit export_to_file(const Invocation *invocation, const volatile sig_atomic_t *stop);
