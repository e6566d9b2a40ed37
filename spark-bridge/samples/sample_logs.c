#include "spark-bridge/samples/sample_logs.h"

#include <string.h>

#define PIECE_BYTES   ((gsize)256 * 1024)
#define HEAD_BYTES    ((gsize)1024)
#define BATCH_RECORDS 5000u

typedef struct SampleLog {
    char *path;
    SampleReader *reader; /* NULL: not begun */
    guint64 id, offset;
    gboolean finished;
} SampleLog;

struct SampleLogs {
    SampleLogsOptions options;
    char *host, *zone, *date; /* owned copies that the options point to */
    GPtrArray *list;          /* SampleLog */
    SparkRecords *records;
};

static void sample_log_free(gpointer data) {
    SampleLog *log = data;
    sample_reader_free(log->reader);
    g_free(log->path);
    g_free(log);
}

SampleLogs *sample_logs_new(const SampleLogsOptions *options, GError **error) {
    g_autoptr(SampleReader) tried = sample_reader_new(&options->samples, error);
    if (tried == NULL) return NULL;
    SampleLogs *logs = g_new0(SampleLogs, 1);
    logs->options = *options;
    logs->options.samples.host = logs->host = g_strdup(options->samples.host);
    logs->options.samples.zone = logs->zone = g_strdup(options->samples.zone);
    logs->options.samples.date = logs->date = g_strdup(options->samples.date);
    logs->list = g_ptr_array_new_with_free_func(sample_log_free);
    logs->records = spark_records_new();
    return logs;
}

void sample_logs_free(SampleLogs *logs) {
    if (logs == NULL) return;
    g_ptr_array_unref(logs->list);
    spark_records_free(logs->records);
    g_free(logs->host);
    g_free(logs->zone);
    g_free(logs->date);
    g_free(logs);
}

static SampleLog *log_of(const SampleLogs *logs, const char *path) {
    for (guint i = 0; i < logs->list->len; i++) {
        SampleLog *log = g_ptr_array_index(logs->list, i);
        if (strcmp(log->path, path) == 0) return log;
    }
    return NULL;
}

gboolean sample_logs_is(SampleLogs *logs, const char *path) {
    if (log_of(logs, path) != NULL) return TRUE;
    StoredFacts facts = {0};
    if (!storage_look(logs->options.storage, path, &facts, NULL)) return FALSE;
    const gboolean folder = facts.folder;
    stored_facts_clear(&facts);
    g_autoptr(StoredFile) file = folder ? NULL : stored_file_open(logs->options.storage, path, NULL);
    char head[HEAD_BYTES];
    const gssize n = file != NULL ? stored_file_read(file, 0, head, sizeof head, NULL) : 0;
    if (n <= 0 || !samples_recognise((Bytes){head, (gsize)n})) return FALSE;
    SampleLog *log = g_new0(SampleLog, 1);
    log->path = g_strdup(path);
    g_ptr_array_add(logs->list, log);
    return TRUE;
}

static gboolean hand_on(SampleLogs *logs, guint least, GError **error) {
    if (spark_records_count(logs->records) < MAX(least, 1)) return TRUE;
    const gboolean taken = logs->options.deliver(logs->options.arg, logs->records, error);
    spark_records_clear(logs->records);
    return taken;
}

/* Another file of that name, or one that was emptied: from its begin. */
static void begin_again(SampleLogs *logs, SampleLog *log, guint64 id) {
    sample_reader_free(log->reader);
    log->reader = sample_reader_new(&logs->options.samples, NULL);
    log->id = id;
    log->offset = 0;
    log->finished = FALSE;
}

static gboolean read_pieces(SampleLogs *logs, SampleLog *log, StoredFile *file, GError **error) {
    g_autofree char *piece = g_malloc(PIECE_BYTES);
    while (logs->options.stopped == NULL || !logs->options.stopped(logs->options.arg)) {
        const gssize n = stored_file_read(file, log->offset, piece, PIECE_BYTES, error);
        if (n < 0) return FALSE;
        if (n == 0) break;
        sample_reader_feed(log->reader, (Bytes){piece, (gsize)n}, logs->records);
        log->offset += (guint64)n;
        if (!hand_on(logs, BATCH_RECORDS, error)) return FALSE;
    }
    return TRUE;
}

gboolean sample_logs_read(SampleLogs *logs, const char *path, GError **error) {
    SampleLog *log = log_of(logs, path);
    StoredFacts facts = {0};
    if (log == NULL) return fail(error, PLUMB_ERROR_INPUT, "%s: no log of samples", path);
    if (!storage_look(logs->options.storage, path, &facts, error)) return FALSE;

    const guint64 id = facts.id, size_bytes = facts.size_bytes;
    stored_facts_clear(&facts);
    if (log->reader == NULL || log->id != id || size_bytes < log->offset) begin_again(logs, log, id);
    if (log->finished) return TRUE;

    g_autoptr(StoredFile) file = stored_file_open(logs->options.storage, path, error);
    if (file == NULL || !read_pieces(logs, log, file, error)) {
        spark_records_clear(logs->records);
        begin_again(logs, log, id); /* what was not taken is read again: it changes nothing where it was */
        return FALSE;
    }

    if (!logs->options.follow) {
        sample_reader_finish(log->reader, logs->records);
        log->finished = TRUE;
    }
    return hand_on(logs, 1, error);
}

/* ---- what became of them ---- */

void sample_logs_outcomes(const SampleLogs *logs, void (*each)(void *arg, const SampleLogOutcome *outcome), void *arg) {
    for (guint i = 0; i < logs->list->len; i++) {
        const SampleLog *log = g_ptr_array_index(logs->list, i);
        const SampleLogOutcome outcome = {log->path,
                                          log->reader != NULL ? sample_reader_counts(log->reader) : (SampleCounts){0}};
        each(arg, &outcome);
    }
}

char *sample_log_text(const SampleLogOutcome *outcome) {
    const SampleCounts *counts = &outcome->counts;
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%s: %" G_GUINT64_FORMAT " samples", outcome->path, counts->samples);

    if (counts->samples > 0) {
        const gint64 minutes = ABS(counts->zone_offset_s) / 60;
        g_string_append_printf(text, ", clock UTC%s%02d:%02d%s", counts->zone_offset_s < 0 ? "-" : "+",
                               (int)(minutes / 60), (int)(minutes % 60),
                               counts->zone_assumed ? " (this machine's zone, since the log names none: --zone)" : "");
    }

    if (counts->date_ambiguous) g_string_append(text, "; its date was read month first (--day-first)");
    if (counts->without_time > 0)
        g_string_append_printf(text,
                               "; %" G_GUINT64_FORMAT " rows or reports without a time (--date, --since and --every)",
                               counts->without_time);
    if (counts->clock_steps > 0)
        g_string_append_printf(text, "; its clock was set back %" G_GUINT64_FORMAT " times", counts->clock_steps);
    if (counts->devices_left_out > 0)
        g_string_append_printf(text, "; %" G_GUINT64_FORMAT " disks or interfaces past the first 256 left out",
                               counts->devices_left_out);
    if (counts->bad_lines > 0)
        g_string_append_printf(
            text, "; %" G_GUINT64_FORMAT " lines make no sense, the first is line %" G_GUINT64_FORMAT ": %s",
            counts->bad_lines, counts->first_bad_line, counts->first_bad_reason);

    return g_string_free(text, FALSE);
}
