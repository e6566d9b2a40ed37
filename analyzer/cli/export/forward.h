/* Spans to whoever takes OTLP: those that are stored once, or new ones all the time. */
#pragma once

#include <signal.h>

#include "analyzer/cli/options/invocation.h"

CliExit forward_spans(const Invocation *invocation, const volatile sig_atomic_t *stop);
