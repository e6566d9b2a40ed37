/* How busy one resource of one host was, as samples told: the mean over any interval in constant time.
 *
 * A sample says what was true on average from the one before it (begin) to itself (end). The mean over an interval
 * weighs every sample with the time it shares with it; for intervals of whole samples that is the sum over the
 * samples divided by their number (eq. 3.1). */
#pragma once

#include <glib.h>

typedef struct UsageSeries UsageSeries;
UsageSeries *usage_new(void);
void usage_free(UsageSeries *series);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(UsageSeries, usage_free)

/* In any order. Samples without length, or that are no number, are passed over. */
void usage_add(UsageSeries *series, gint64 begin_ms, gint64 end_ms, double value);
/* After the last usage_add(), before the first usage_mean(). Where samples overlap, the part that both tell of is taken
 * from the one that ends first. */
void usage_seal(UsageSeries *series);
gsize usage_size(const UsageSeries *series);

/* NAN when samples cover less than half of the interval. An interval without length is the sample around it. */
double usage_mean(const UsageSeries *series, gint64 begin_ms, gint64 end_ms);
