/* "Did you mean": the known name closest to one that somebody mistyped. */
#pragma once

#include <glib.h>

/* Least number of insertions, deletions, replacements and swaps of neighbours (bytes) that turn a into b. Only the
 * first 64 bytes of each count. */
guint nearest_distance(const char *a, const char *b); /* for tests */

/* The entry of the NULL-terminated list 'known' closest to 'name', or NULL when none is close enough to be meant: more
 * than a third of the longer of the two would have to change, and neither starts with the other. */
const char *nearest_name(const char *name, const char *const *known);
