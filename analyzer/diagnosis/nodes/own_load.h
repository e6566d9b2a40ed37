/* How much of a node's slowness its own load explains: a node that has more to do than usual is slower, and not ill.
 * (The idea is that of Perseus, FAST 2023.) */
#pragma once

#include <glib.h>

/* So many points at least tell a slope. */
#define OWN_LOAD_POINTS 12u

/* The median of the slopes between all pairs of points, or of a sample of them when there are many (Theil and Sen): up
 * to 29 % of the points may be wild. 0 when there are too few points, or x hardly varies. */
double theil_sen(const float *x, const float *y, gsize n);
