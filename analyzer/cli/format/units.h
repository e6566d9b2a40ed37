/* Numbers as people read them: three significant digits and a unit that fits, never more digits than were measured.
 * All return new strings. Bytes count in thousands (1 MB = 1,000,000 bytes). */
#pragma once

#include "analyzer/cli/format/style.h"

/* "3.21 ms", "41.0 µs", "92.4 s", "27.8 h". With resolution_ns 1,000,000, 3 ms is "3 ms" and never "3.00 ms". */
char *unit_duration(const Style *style, double ns, gint64 resolution_ns);
/* How long ago something was, in whole units of which there are two at least: "119 s", "3 h". */
char *unit_age(double ns);
/* A duration with a sign: "+3.21 ms". */
char *unit_duration_signed(const Style *style, double ns, gint64 resolution_ns);
/* For a column of durations: takes text and gives it back with a blank after a unit of one letter, so that numbers
 * stand above numbers ("92.4 s " above "3.21 ms"). */
char *unit_in_column(char *text);
/* How fine the mean of n durations is that were each counted in resolution_ns: the error of a mean shrinks with the
 * square root of n, so each hundredfold n gives one more digit. */
gint64 unit_mean_resolution(gint64 resolution_ns, gint64 n);

/* Exact with separators up to six digits ("123,456"), then "12.3 M". */
char *unit_count(double count);
char *unit_bytes(double bytes);       /* "512 B", "81.0 MB" */
char *unit_bytes_per_s(double bytes); /* "81.0 MB/s" */
char *unit_per_s(double count);       /* "512 k/s" */
char *unit_percent(double percent);   /* "+12.3 %" */

/* "2026-11-21T10:00:00.123Z": UTC, so that it can be given back to --since; as fine as resolution_ns, at most
 * microseconds. "" for 0. */
char *unit_time(gint64 time_ns, gint64 resolution_ns);
