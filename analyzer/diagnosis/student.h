/* Student's t, for intervals of few values. */
#pragma once

#include <glib.h>

/* Its quantile with so many degrees of freedom (1 at least) where the standard normal distribution has this one; within
 * 1 % up to 2. */
double student_quantile(double normal, guint freedom);
