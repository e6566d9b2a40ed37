/* What the readers of the two forms share; private to samples*.c. */
#pragma once

#include "spark-bridge/samples/samples.h"
#include "spark-bridge/samples/samples_clock.h"
#include "spark-bridge/samples/samples_row.h"

#define COLUMNS_MAX 64u

typedef enum { FORM_UNKNOWN, FORM_TEXT, FORM_JSON } SampleForm;

typedef enum {
    TABLE_NONE,     /* not one that is read */
    TABLE_TIMED,    /* mpstat, sar: each row begins with a time */
    TABLE_REPORT,   /* iostat: rows belong to the report's time */
    TABLE_DATABASE, /* sadf -d: fields between semicolons */
} TableKind;

typedef struct TextState {
    TableKind table;
    Column columns[COLUMNS_MAX];
    guint n_columns;
    gboolean averaged; /* the means at the end of a section were seen */
    guint64 reports;   /* of iostat; the first is the mean since the machine started */
    gboolean stamped;  /* the report's time came before it */
} TextState;

#define JSON_DEPTH 32u
#define JSON_TEXT  128u

typedef struct JsonState {
    guint depth;
    guint32 objects; /* bit d: level d is an object */
    gboolean in_text, escaped, in_word, after_colon, broken;
    char text[JSON_TEXT]; /* of the string or word at hand; what is longer is cut */
    guint length;
    char key[JSON_TEXT];
    SampleRow row; /* of the innermost object */
    gboolean bad_value;
    ClockTime time;
    gboolean utc, in_stamp;
    gint64 interval_s;     /* 0: not said */
    gboolean first_report; /* of iostat: since the machine started */
    gboolean stamps_are_texts;
} JsonState;

struct SampleReader {
    char *host, *log_host;
    GTimeZone *zone;
    gboolean zone_given;
    DateOrder order;
    gint64 given_day; /* G_MININT64: none */
    gint64 start_ns, given_interval_ns;
    SampleCounts counts;
    SampleForm form;
    GString *line;
    gboolean line_too_long;
    TextState text;
    JsonState json;

    gint64 first_day, day;           /* of the log, and of the last time; G_MININT64: not known */
    gint64 last_local_s;             /* the last time on the log's clock; G_MININT64: none */
    gint64 time_ns;                  /* of the block; -1: not known */
    gint64 before_ns;                /* of the sample before it; -1: none */
    gint64 interval_ns;              /* the last one that was known */
    gint32 offset_s, block_offset_s; /* of the last time, and of the block's */
    const char *source;
    SampleBlock block;
};

/* A line that makes no sense; the reason is static. */
void sample_bad_line(SampleReader *reader, const char *reason);
/* What the log's head says. The option's host and date come first. */
void sample_set_host(SampleReader *reader, const char *host, gsize length);
void sample_set_day(SampleReader *reader, gint64 day);
/* Forgets the times before: another log, or a section that begins again. */
void sample_restart_clock(SampleReader *reader);

/* The instant of a time; of a time of day alone the day is that which is nearest to the time before. FALSE: no day is
 * known. */
gboolean sample_instant(SampleReader *reader, const ClockTime *time, gint64 *ns);
/* Rows from now on are of that instant (-1: unknown). Those of another one are handed on as a sample first. */
void sample_begin(SampleReader *reader, gint64 time_ns, SparkRecords *into);
void sample_flush(SampleReader *reader, SparkRecords *into);

void sample_text_line(SampleReader *reader, char *line, SparkRecords *into);
void sample_json_bytes(SampleReader *reader, const char *data, gsize n, SparkRecords *into);
