/* Numbers as pictures made of characters, for a look at a shape; the number itself stands beside them. All return new
 * strings; without UTF-8 they are of ASCII. */
#pragma once

#include "analyzer/cli/format/style.h"

/* 'value' of 'most' as a bar of at most 'width' columns, eighths of one included. What is more than 0 is seen. */
char *bar_text(const Style *style, double value, double most, guint width);
/* A column for each value, as high as it is of the greatest; a blank for NAN. */
char *bar_spark(const Style *style, const double *values, gsize n);
/* A column for each count, as dark as it is of 'most', by its logarithm; a blank for 0. */
char *bar_shades(const Style *style, const double *counts, gsize n, double most);
