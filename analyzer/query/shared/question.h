/* What the files of the questions share: what was asked, and how names and periods are written. A question reads its
 * parameters (params.h), reads the archive, and makes one JSON document. This folder holds what more than one question
 * needs for that, and knows none of them. */
#pragma once

#include "analyzer/archive/archive.h"
#include "analyzer/query/shared/json_compact.h"
#include "analyzer/query/shared/params.h"

typedef struct Asked {
    Archive *archive;
    const QueryParams *params; /* names are checked, values are not */
    gint64 now_ns;
    guint rows_max;   /* of the answer, whatever the parameters say */
    JsonRows *rows;   /* for what may be text at once; NULL: all is to be in the document */
    GBytes **columns; /* where an answer in columns goes, its head being the document; NULL: as lists of the document */
} Asked;

/* A row (a function, a node of a tree, a span) is 2 to 3 KB of JSON in memory: no question may take more than 300 MB.
 */
#define ANSWER_ROWS_MAX 100000u

/* How many of 'available' rows the answer may have: limit (0: all) and rows_max decide. Sets "more" when that is not
 * all of them. */
guint answer_rows(const Asked *asked, guint64 limit, guint available, json_t *answer);

/* Bytes as a JSON string; what is not UTF-8 is replaced, so that a document never lacks a field. */
json_t *json_text(const char *data, gsize length);
/* The same as text. */
void json_put_text(JsonText *out, const char *data, gsize length);
/* The text of a dictionary id. */
json_t *json_name(Archive *archive, guint32 id);
json_t *json_count(guint64 value);
/* Milliseconds as nanoseconds; more than JSON's integers have: the greatest of them. */
json_t *json_ns_of_ms(double ms);
/* Rounded to six significant digits. */
json_t *json_number(double value);
/* The same under a name; nothing of NAN and the like. */
void json_set_number(json_t *object, const char *name, double value);
json_t *json_span_id(SpanId id);
json_t *json_trace_id(guint64 trace_id);
json_t *json_pattern_id(PatternId id);
/* Names of DroppedColumns, as a list. */
json_t *json_dropped(guint32 dropped);

/* Order of two dictionary ids by their texts. */
gint compare_ids(Archive *archive, guint32 a, guint32 b);

/* The name of a pattern's node; "(missing parent)" for placeholders. */
const char *node_text(Archive *archive, guint32 name);

/* Adds "since_time_ns" and "until_time_ns": as asked, or where open as far as the stored traces reach; absent when
 * there are none. minutes: widened as statistics are (archive_stats_period()). */
void json_add_period(json_t *object, Archive *archive, Period period, gboolean minutes);

/* "pattern": an id, or enough of its beginning to be the only one (at least 4 digits). *number is left alone when the
 * parameter is absent. INPUT, NOT_FOUND. */
gboolean asked_pattern(const Asked *asked, const char *name, guint32 *number, GError **error);
/* The id in a parameter: 16 hex digits of a trace, 32 of another tracer's trace, or (*one_span) 32 of a span. INPUT
 * also when it was not given. */
gboolean asked_trace(const Asked *asked, const char *name, SpanId *id, gboolean *one_span, GError **error);
/* The dictionary id of a text parameter: 0 when it was not given, G_MAXUINT32 when nothing stored has that name. */
guint32 asked_name(const Asked *asked, const char *name);
/* The functions of all "exclude" (guint32, dictionary ids): names that nothing stored has exclude nothing. */
GArray *asked_excludes(const Asked *asked);
gboolean is_excluded(const GArray *exclude, guint32 function);
