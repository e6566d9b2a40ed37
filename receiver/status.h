/* The "receiver" object of GET /api/v1/status (docs/api.md). */
#pragma once

#include <jansson.h>

#include "receiver/state.h"

/* A new reference. */
json_t *status_receiver(StateSources *sources);
