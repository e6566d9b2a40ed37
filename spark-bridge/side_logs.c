#include "spark-bridge/side_logs.h"

#include <string.h>

#include "spark-bridge/logs/operations.h"
#include "spark-bridge/logs/splits.h"
#include "spark-bridge/storage/line_reader.h"

/* A batch is handed on when it is as large as this. */
#define BATCH_BYTES   ((gsize)2 * 1024 * 1024)
#define BATCH_RECORDS 5000u

typedef struct Side {
    const SideOptions *options;
    SparkRecords *records;
} Side;

static gboolean hand_on(Side *side, gboolean all, GError **error) {
    const gsize count = spark_records_count(side->records);
    if (count == 0 || (!all && count < BATCH_RECORDS && spark_records_bytes(side->records) < BATCH_BYTES)) return TRUE;
    if (!side->options->deliver(side->options->arg, side->records, error)) return FALSE;
    spark_records_clear(side->records);
    return TRUE;
}

static gboolean stopped(const Side *side) { return side->options->stopped(side->options->arg); }

static void say(const Side *side, const char *path, const char *format, ...) G_GNUC_PRINTF(3, 4);
static void say(const Side *side, const char *path, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_autofree char *line = g_strdup_printf("%s: %s", path, text);
    side->options->say(side->options->arg, line);
}

/* ---- lines ---- */

typedef struct LineTaker {
    void (*line)(void *log, Bytes line, guint64 number, SparkRecords *records);
    void *log;
    void (*too_long)(void *log, guint64 number);
} LineTaker;

static gboolean any_line(Bytes head) {
    (void)head;
    return TRUE;
}

/* Takes over the file. */
static gboolean read_lines(Side *side, StoredFile *file, const LineTaker *taker, GError **error) {
    g_autoptr(LineReader) reader = line_reader_new(file, NULL, any_line);
    Line line = {0};
    for (;;) {
        const LineState state = line_reader_next(reader, &line, error);
        if (state == LINE_FAILED) return FALSE;
        if (state == LINE_END || stopped(side)) break;
        if (state == LINE_TOO_LONG)
            taker->too_long(taker->log, line.number);
        else
            taker->line(taker->log, line.bytes, line.number, side->records);
        if (!hand_on(side, FALSE, error)) return FALSE;
    }
    line = line_reader_rest(reader);
    if (line.bytes.size_bytes > 0) taker->line(taker->log, line.bytes, line.number, side->records);
    return TRUE;
}

static gboolean need_app(const Side *side, const char *path, GError **error) {
    if (side->options->app != NULL) return TRUE;
    return fail(error, PLUMB_ERROR_CONFIG, "%s does not say which application it is of: add --app APP", path);
}

/* ---- operations ---- */

static void take_operation(void *log, Bytes line, guint64 number, SparkRecords *records) {
    operation_log_line(log, line, number, records);
}

static void take_long_operation(void *log, guint64 number) { operation_log_too_long(log, number); }

static gboolean read_operations(Side *side, StoredFile *file, const char *path, GError **error) {
    const OperationSite site = {side->options->app, side->options->executor, side->options->host};
    g_autoptr(OperationLog) log = operation_log_new(&site);
    const LineTaker taker = {take_operation, log, take_long_operation};
    if (!read_lines(side, file, &taker, error)) return FALSE;
    operation_log_end(log, side->records);
    const OperationCounts *counts = operation_log_counts(log);
    say(side, path, "%" G_GUINT64_FORMAT " operations in %" G_GUINT64_FORMAT " lines", counts->operations,
        counts->lines);
    for (guint i = 0; i < OPERATION_TROUBLE_COUNT; i++) {
        if (counts->troubles[i] == 0) continue;
        say(side, path, "%" G_GUINT64_FORMAT " %s, the first in line %" G_GUINT64_FORMAT, counts->troubles[i],
            operation_trouble_text((OperationTrouble)i), counts->first_line[i]);
    }
    return hand_on(side, TRUE, error);
}

/* ---- splits ---- */

static void take_split(void *log, Bytes line, guint64 number, SparkRecords *records) {
    split_log_line(log, line, number, records);
}

/* No line that says of a split is as long as that. */
static void take_long_split(void *log, guint64 number) {
    (void)log;
    (void)number;
}

static gboolean read_splits(Side *side, StoredFile *file, const char *path, GError **error) {
    const SideOptions *options = side->options;
    GTimeZone *zone = options->zone != NULL ? g_time_zone_new_identifier(options->zone) : g_time_zone_new_utc();
    if (zone == NULL) {
        stored_file_close(file);
        return fail(error, PLUMB_ERROR_CONFIG, "'%s' is no time zone: give one as +02:00 or Europe/Berlin",
                    options->zone);
    }

    const SplitSite site = {options->app, options->executor, options->host, zone};
    g_autoptr(SplitLog) log = split_log_new(&site);
    const LineTaker taker = {take_split, log, take_long_split};
    const gboolean done = read_lines(side, file, &taker, error) && hand_on(side, TRUE, error);

    const SplitCounts *counts = split_log_counts(log);
    if (done)
        say(side, path,
            "%" G_GUINT64_FORMAT " splits; %" G_GUINT64_FORMAT " without a task, %" G_GUINT64_FORMAT
            " without a time, %" G_GUINT64_FORMAT " lines not understood",
            counts->splits, counts->unassigned, counts->untimed, counts->unreadable);

    g_time_zone_unref(zone);
    return done;
}

gboolean side_log_read(SideKind kind, const char *path, const SideOptions *options, GError **error) {
    g_autoptr(SparkRecords) records = spark_records_new();
    Side side = {.options = options, .records = records};
    if (!need_app(&side, path, error)) return FALSE;
    g_autoptr(StoredFile) file = stored_file_open(options->storage, path, error);
    if (file == NULL) return FALSE;
    return kind == SIDE_OPERATIONS ? read_operations(&side, g_steal_pointer(&file), path, error)
                                   : read_splits(&side, g_steal_pointer(&file), path, error);
}
