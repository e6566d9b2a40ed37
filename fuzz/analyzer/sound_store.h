/* A small sound store, of spans and of records of Spark, for what damages it. */
#pragma once

#include "common/store/store.h"

/* A copy in memory. */
Store *sound_store_copy(void);
