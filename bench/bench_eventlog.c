/* What reading an event log costs, in processor time: bench_eventlog LOG [TIMES]. Reads, unpacks, cuts into lines,
 * parses and makes records, which are thrown away.
 *
 * A log of a short application has one environment line of a hundred kilobytes and a few tasks; --tasks MIB LOG makes a
 * log of a long one from its lines: all of them once, then its tasks over and over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "spark-bridge/events/events.h"
#include "spark-bridge/storage/line_reader.h"

#define BATCH_RECORDS 5000u

typedef struct Outcome {
    guint64 lines, taken, passed, broken, plain_bytes, packed_bytes, tasks;
} Outcome;

static double cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void take_line(Events *events, SparkRecords *records, const Line *line, Outcome *outcome) {
    const char *problem;
    outcome->lines++;
    switch (events_take(events, line->bytes, &problem)) {
    case EVENT_TAKEN: outcome->taken++; break;
    case EVENT_PASSED: outcome->passed++; break;
    case EVENT_BROKEN:
        if (outcome->broken++ == 0) fprintf(stderr, "line %" G_GUINT64_FORMAT ": %s\n", line->number, problem);
        break;
    }
    if (spark_records_count(records) < BATCH_RECORDS) return;
    events_close_batch(events);
    outcome->tasks += records->of[SPARK_TASK]->len;
    spark_records_clear(records);
    events_into(events, records);
}

static gboolean read_log(const char *path, Outcome *outcome, GError **error) {
    const StorageOptions options = {.retry_ms = 10000};
    g_autoptr(Storage) storage = storage_new(&options);
    StoredFile *file = stored_file_open(storage, path, error);
    if (file == NULL) return FALSE;

    g_autoptr(LineReader) reader = line_reader_new(file, NULL, events_wanted);
    g_autoptr(Events) events = events_new(NULL, "bench");
    g_autoptr(SparkRecords) records = spark_records_new();
    events_into(events, records);

    Line line;
    for (;;) {
        const LineState state = line_reader_next(reader, &line, error);
        if (state == LINE_FAILED) return FALSE;
        if (state == LINE_END) break;
        if (state == LINE_READY) take_line(events, records, &line, outcome);
    }

    outcome->tasks += records->of[SPARK_TASK]->len;
    outcome->plain_bytes += line_reader_plain_bytes(reader);
    outcome->packed_bytes += line_reader_packed_bytes(reader);
    return TRUE;
}

/* Line by line: everything once, then what tells of tasks until there are so many bytes. */
static int make_log(const char *path, const char *mib) {
    g_autofree char *text = NULL;
    gsize size_bytes;
    g_autoptr(GError) error = NULL;
    if (!g_file_get_contents(path, &text, &size_bytes, &error)) {
        fprintf(stderr, "bench_eventlog: %s\n", error->message);
        return 1;
    }
    g_autoptr(GString) tasks = g_string_new(NULL);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++)
        if (strstr(lines[i], "{\"Event\":\"SparkListenerTask") == lines[i])
            g_string_append_printf(tasks, "%s\n", lines[i]);
    guint64 left = g_ascii_strtoull(mib, NULL, 10) * 1024 * 1024;
    fwrite(text, 1, size_bytes, stdout);
    for (; tasks->len > 0 && left >= tasks->len; left -= tasks->len) fwrite(tasks->str, 1, tasks->len, stdout);
    return fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "--tasks") == 0) return make_log(argv[3], argv[2]);
    if (argc < 2) {
        fprintf(stderr, "usage: bench_eventlog LOG [TIMES]\n       bench_eventlog --tasks MIB LOG > BIG_LOG\n");
        return 2;
    }

    const guint64 times = argc > 2 ? g_ascii_strtoull(argv[2], NULL, 10) : 3;
    for (guint64 i = 0; i < times; i++) {
        Outcome outcome = {0};
        g_autoptr(GError) error = NULL;
        const double begin_s = cpu_s();
        if (!read_log(argv[1], &outcome, &error)) {
            fprintf(stderr, "bench_eventlog: %s\n", error->message);
            return 1;
        }

        const double took_s = cpu_s() - begin_s;
        printf("%" G_GUINT64_FORMAT " lines (%" G_GUINT64_FORMAT " taken, %" G_GUINT64_FORMAT
               " passed, %" G_GUINT64_FORMAT " broken), %" G_GUINT64_FORMAT
               " tasks, %.1f MB of %.1f MB: %.3f s of processor time, %.2f GB/s\n",
               outcome.lines, outcome.taken, outcome.passed, outcome.broken, outcome.tasks,
               (double)outcome.plain_bytes / 1e6, (double)outcome.packed_bytes / 1e6, took_s,
               (double)outcome.plain_bytes / took_s / 1e9);
    }
    return 0;
}
