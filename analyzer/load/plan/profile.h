/* How the rate of a plan goes with the time of day: real traffic has its mornings and nights. */
#pragma once

#include <glib.h>

/* One each ten minutes; they fit a line of a plan's head. */
#define LOAD_PROFILE_MOST       144u
#define LOAD_PROFILE_BYTES_MOST 65536u

typedef struct LoadProfile {
    guint n; /* 0: the rate is the same all day */
    guint minutes[LOAD_PROFILE_MOST];
    double factors[LOAD_PROFILE_MOST];
    gint64 day_ns; /* how long a day takes */
} LoadProfile;

/* Times "HH:MM FACTOR" in their order, one a line or with commas between; # begins a comment. day_ns stays. Errors are
 * CONFIG. */
gboolean load_profile_parse(const char *text, LoadProfile *profile, GError **error);
/* The same on one line: "08:00=0.5,20:00=2". */
char *load_profile_format(const LoadProfile *profile);
/* By what the rate is multiplied at that time: on the straight line between two times, across midnight too. */
double load_profile_factor(const LoadProfile *profile, gint64 at_ns);
/* The mean over so much time since midnight, second by second. */
double load_profile_mean(const LoadProfile *profile, gint64 length_ns);
