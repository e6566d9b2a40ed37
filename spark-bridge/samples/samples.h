/* Samples of the operating system, from what sysstat's tools print: mpstat, iostat -x, sar (-u, -d, -n DEV), sadf -d as
 * text in any locale, and the JSON of sadf -j, iostat -o JSON and mpstat -o JSON.
 *
 * Columns are found by their names, which no locale translates, never by position. Numbers have a point or a comma.
 * Clocks are of 12 or 24 hours, in Latin, Chinese, Japanese or Korean writing; dates are read in every order that
 * sysstat's locales have. A log's clock is the host's wall clock: its offset from UTC is the one that the log says (ISO
 * times, sadf), else that of SampleOptions.zone, else that of this machine; it stands in each record. Times of day that
 * pass midnight go on to the next day.
 *
 * What iostat prints first is the mean since the machine started: it is passed over. So are the means at the end. */
#pragma once

#include "common/base/bytes.h"
#include "common/model/spark_records.h"
#include "spark-bridge/samples/samples_clock.h"

/* The longest line: sar with hundreds of columns has 4 KB. */
#define SAMPLE_LINE_BYTES 65536u

typedef struct SampleOptions {
    const char *host;   /* NULL: the log's */
    const char *zone;   /* "UTC", "+02:00", "Asia/Shanghai"; NULL: the log's, else this machine's */
    const char *date;   /* "2026-11-21": of the log's begin; NULL: its own */
    DateOrder order;    /* of dates such as 10/11/2026; DATE_UNKNOWN: the month first, as in the C locale */
    gint64 start_ns;    /* of logs without times (iostat without -t): of the first report; else -1 */
    gint64 interval_ns; /* between their reports; else -1 */
} SampleOptions;

#define SAMPLE_OPTIONS_NONE ((SampleOptions){.start_ns = -1, .interval_ns = -1})

typedef struct SampleCounts {
    guint64 bytes, lines, samples;
    guint64 bad_lines, first_bad_line; /* line numbers begin with 1 */
    const char *first_bad_reason;      /* static; NULL: none is bad */
    guint64 without_time;              /* rows that no date or time is known for */
    guint64 devices_left_out;
    guint64 clock_steps;     /* times that were before the one before */
    gboolean date_ambiguous; /* a date was read month first that could be day first, and nobody said which */
    gboolean zone_assumed;   /* nothing but this machine's zone told the offset */
    gint64 zone_offset_s;    /* the last one that was used */
} SampleCounts;

typedef struct SampleReader SampleReader;
/* CONFIG: the zone or date makes no sense. Copies the options. */
SampleReader *sample_reader_new(const SampleOptions *options, GError **error);
void sample_reader_free(SampleReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SampleReader, sample_reader_free)

/* A piece of a log, cut anywhere: whole samples in it are appended as SPARK_SAMPLE records. Never fails: what makes no
 * sense is counted. */
void sample_reader_feed(SampleReader *reader, Bytes piece, SparkRecords *into);
/* The log's end: its last line and sample. */
void sample_reader_finish(SampleReader *reader, SparkRecords *into);
SampleCounts sample_reader_counts(const SampleReader *reader);

/* Do these first bytes of a file look like one of these logs? */
gboolean samples_recognise(Bytes head);
