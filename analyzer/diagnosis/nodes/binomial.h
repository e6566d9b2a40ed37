/* The binomial distribution, exactly. */
#pragma once

#include <glib.h>

/* The chance that so many or more of the calls fail, when each does with this chance. */
double binomial_tail(guint64 calls, guint64 failed, double chance);
