/* The accounts in JSON: of the status, and of GET /api/v1/senders (docs/api.md). */
#pragma once

#include <jansson.h>

#include "receiver/state/state.h"

/* A new reference. */
json_t *accounts_status(const StateSources *sources);
/* Puts what only a running plumbd knows into the document of "senders". */
void accounts_senders(const StateSources *sources, json_t *document);
