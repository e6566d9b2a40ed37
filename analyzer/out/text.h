/* Text from outside, made fit for a terminal. */
#pragma once

#include "analyzer/out/style.h"

/* A copy that is one line and harmless: control characters (a name could carry terminal commands) become \n, \t or
 * \x1b, bidirectional overrides and, without UTF-8, all that is not ASCII become '?'. */
char *text_clean(const Style *style, const char *text);

/* Columns that clean text takes: wide East Asian characters take two, combining ones none. */
guint text_width(const char *text);

/* Cut to at most 'width' columns; an ellipsis marks the cut. */
char *text_cut(const Style *style, const char *text, guint width);
