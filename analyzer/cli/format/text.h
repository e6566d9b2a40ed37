/* Text from outside, made fit for a terminal. */
#pragma once

#include "analyzer/cli/format/style.h"

/* A harmless copy on one line (common/base/harmless.h); without UTF-8, all that is not ASCII becomes '?'. */
char *text_clean(const Style *style, const char *text);

/* Columns that clean text takes: wide East Asian characters take two, combining ones none. */
guint text_width(const char *text);

/* Cut to at most 'width' columns; an ellipsis marks the cut. */
char *text_cut(const Style *style, const char *text, guint width);
/* The same, but of "ClientNamenodeProtocol#create" the class is cut, as "ClientNa…#create": by what comes after it such
 * names are told apart. */
char *text_cut_name(const Style *style, const char *name, guint width);
