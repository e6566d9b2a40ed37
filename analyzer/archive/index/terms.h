/* Terms: what a search can look up without reading records. A record's terms are its pattern, its hosts, its duration
 * in steps, the components of its paths and its other annotation values that begin with a letter.
 *
 * A term is a number of 29 bits made from what it stands for. Different things may have one number: the index says
 * where to look, the record says what is there. */
#pragma once

#include "common/model/span.h"

typedef guint32 Term;

/* The upper bits choose the entry of the index, the lower ones tell its terms apart. Hashes are in the buckets 1 ..
 * TERM_BUCKETS - 1; durations, the longest of all lists, and TERM_ANYTHING, which every search reads, in one each. */
#define TERM_BUCKETS         4096u
#define TERM_BUCKET_DURATION TERM_BUCKETS
#define TERM_BITS            29u
static inline guint16 term_bucket(Term term) { return (guint16)(term >> 16); }
static inline guint16 term_rest(Term term) { return (guint16)term; }

/* The load of bench_load has a term for each 9 to 14 spans of a large trace. A record that has more than this has
 * TERM_ANYTHING alone, and is looked at whatever is asked for. */
#define TERM_ANYTHING    0u
#define TERMS_PER_RECORD (1u << 18)

Term term_pattern(guint32 number);
Term term_host(guint32 host);
/* A whole component of a path. */
Term term_component(const char *text, gsize length);
/* A value of an annotation; key is the dictionary id. */
Term term_value(guint32 key, const char *text, gsize length);

/* Two steps for each power of two of nanoseconds. All durations are in one bucket, so a range is one read. */
#define TERM_DURATION_STEPS 128u
guint term_duration_step(gint64 duration_ns); /* negative ones count as 0 */
Term term_duration(guint step);

/* Does a value that is no path have a term? Numbers have none: they are too many, and nobody looks for an offset. */
static inline gboolean term_value_has(const char *text, gsize length) { return length > 0 && g_ascii_isalpha(text[0]); }

/* Where a path's first '/' is: the text begins with one, or is a URI with a path ("hdfs://nn:8020/a"). NULL: no
 * path. */
const char *path_begin(const char *text, gsize length);
/* The next component at or behind *at; FALSE when there is none. Empty ones do not count. */
gboolean path_next(const char **at, const char *end, const char **component, gsize *length);
