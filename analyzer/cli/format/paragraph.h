/* Text that is broken into lines. */
#pragma once

#include "analyzer/cli/format/style.h"

/* Appends clean text, indented by so many blanks, broken at blanks to the style's width (where it has one), each line
 * ended. */
void paragraph_append(const Style *style, guint indent, const char *text, GString *out);
/* The same; lines after the first are indented by two more. */
void paragraph_append_hanging(const Style *style, guint indent, const char *text, GString *out);
