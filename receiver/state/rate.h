/* How many spans come in a second. */
#pragma once

#include <glib.h>

/* Spans per second over the last ten seconds: fed once a second by the resource control thread, read by any. */
#define RATE_SECONDS 10
typedef struct Rate Rate;
Rate *rate_new(void);
void rate_free(Rate *rate);
void rate_feed(Rate *rate, guint64 total, gint64 now_ns);
double rate_per_s(Rate *rate);
