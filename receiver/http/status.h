/* The "receiver" object of GET /api/v1/status (docs/api.md). */
#pragma once

#include <jansson.h>

#include "receiver/state/state.h"

/* New references. */
json_t *status_receiver(const StateSources *sources);
/* Its array of senders, of which no more than these are shown. */
#define STATUS_SENDERS_SHOWN 1024u
json_t *status_senders(Senders *senders); /* for tests */
