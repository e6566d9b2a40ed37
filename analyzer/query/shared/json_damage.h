/* Tables of the store that cannot be read, in answers. */
#pragma once

#include <jansson.h>

#include "analyzer/archive/archive.h"

/* [{"file", "family", "holds", "state", "lost_bytes", "since_time_ns", "why"}] of these families (1 << StoreFamily);
 * NULL: there are none. */
json_t *json_damages(Archive *archive, guint families);
