/* What the printers of this folder share: a figure in the unit that its field's name ends in, and points of time that
 * are numbers of steps. */
#pragma once

#include "analyzer/cli/format/field.h"
#include "analyzer/cli/format/style.h"

/* 'value' of the field: a duration for _ns, bytes, bytes per second, else a count. A new string. */
char *figure_text(const Style *style, const char *field, double value);
/* "mean" of "mean_ns", "bytes" of "bytes.total_bytes": as options call it, clean. A new string. */
char *figure_name(const Style *style, const char *field);
/* When step number 'at' of the document begins, in nanoseconds since 1970. */
gint64 figure_step_ns(const json_t *document, gint64 at);
/* The number at place i of the list 'name' of the object, 0 past its end. */
double figure_at(const json_t *object, const char *name, gsize i);
/* "steps of 60 s, 2026-11-21T10:00:00Z to ...". A new string. */
char *figure_steps(const json_t *document, const Style *style);
