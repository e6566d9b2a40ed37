#include "spark-bridge/log_run.h"

#include <string.h>

LogRun *log_run_new(const BridgeOptions *options, const char *path) {
    LogRun *run = g_new0(LogRun, 1);
    run->options = options;
    run->path = g_strdup(path);
    run->broken = g_array_new(FALSE, FALSE, sizeof(BrokenLine));
    const LogPosition *known = positions_get(options->positions, path);
    if (known == NULL) return run;
    run->at = *known;
    run->at.app = g_strdup(known->app);
    return run;
}

/* What the open file has given. */
static void count_bytes(LogRun *run) {
    if (run->reader == NULL) return;
    run->told.packed_bytes = run->packed_before + line_reader_packed_bytes(run->reader) - run->opened_at.packed_offset;
    run->told.plain_bytes = run->plain_before + line_reader_plain_bytes(run->reader) - run->opened_at.plain_offset;
}

void log_run_close(LogRun *run) {
    count_bytes(run);
    g_clear_pointer(&run->events, events_free);
    g_clear_pointer(&run->reader, line_reader_free);
}

void log_run_free(LogRun *run) {
    if (run == NULL) return;
    log_run_close(run);
    g_array_unref(run->broken);
    g_free(run->at.app);
    g_free(run->app);
    g_free(run->error);
    g_free(run->path);
    g_free(run);
}

static void say(const LogRun *run, const char *what) {
    g_autofree char *text = g_strdup_printf("%s: %s", run->path, what);
    run->options->say(run->options->arg, text);
}

void log_run_trouble(LogRun *run, const GError *error) {
    if (g_strcmp0(run->error, error->message) == 0) return;
    g_free(run->error);
    run->error = g_strdup(error->message);
    run->options->say(run->options->arg, error->message);
}

static const EventLogFile *last_file(const EventLog *log) {
    return log->files->len == 0 ? NULL : &g_array_index(log->files, EventLogFile, log->files->len - 1);
}

gboolean log_run_is_done(const LogRun *run, const EventLog *log) {
    const EventLogFile *last = last_file(log);
    if (last == NULL) return TRUE;
    /* The length of a file that is open in HDFS is only known by reading on. */
    if (log->running && storage_is_remote(last->path)) return FALSE;
    return run->at.number == last->number && run->at.compact == last->compact && run->at.id == last->id &&
           run->at.size_bytes == last->size_bytes && last->size_bytes > 0;
}

/* Another file has the place of the one that was read. */
static void begin_anew(LogRun *run, const EventLogFile *file) {
    run->at.number = file->number;
    run->at.compact = file->compact;
    run->at.id = file->id;
    run->at.at = (ReadPosition){0};
    run->at.size_bytes = 0;
}

/* What HDFS says of the length of a file that is open may be less than what was read of it: none at all of its last
 * block, after the NameNode was started again. */
static gboolean holds(const LogRun *run, const EventLog *log, const EventLogFile *file) {
    const gboolean length_known = !log->running || !storage_is_remote(file->path);
    return run->at.number == file->number && run->at.compact == file->compact && run->at.id == file->id &&
           (!length_known || file->size_bytes >= run->at.at.packed_offset);
}

/* The file to go on with. In a rolling log: the one that was being read; else what came in its place, a compact file or
 * the same under another identity; else the next one. */
static const EventLogFile *file_to_read(LogRun *run, const EventLog *log) {
    const gboolean fresh = run->at.id == 0;
    for (guint i = 0; i < log->files->len; i++) {
        const EventLogFile *file = &g_array_index(log->files, EventLogFile, i);
        if (!fresh && holds(run, log, file)) return file;
    }
    for (guint i = 0; i < log->files->len; i++) {
        const EventLogFile *file = &g_array_index(log->files, EventLogFile, i);
        if (!fresh && file->number < run->at.number) continue;
        if (!fresh && file->number == 0) {
            say(run, "is another file than before: read anew");
            g_clear_pointer(&run->at.app, g_free);
        }
        begin_anew(run, file);
        return file;
    }
    return NULL;
}

static gboolean open_file(LogRun *run, const EventLogFile *file, GError **error) {
    StoredFile *stored = stored_file_open(run->options->storage, file->path, error);
    if (stored == NULL) return FALSE;
    count_bytes(run);
    run->packed_before = run->told.packed_bytes;
    run->plain_before = run->told.plain_bytes;
    line_reader_free(run->reader);
    run->reader = line_reader_new(stored, &run->at.at, events_wanted);
    run->opened_at = run->at.at;
    run->at_end = FALSE;
    run->told.files++;
    return TRUE;
}

gboolean log_run_open(LogRun *run, const EventLog *log, SparkRecords *into, GError **error) {
    const EventLogFile *file = file_to_read(run, log);
    if (file == NULL || !open_file(run, file, error)) return FALSE;
    run->events = events_new(run->at.app, log->name);
    events_into(run->events, into);
    return TRUE;
}

static void note_broken(LogRun *run, guint64 line, const char *problem) {
    run->told.broken++;
    const BrokenLine broken = {run->at.number, line, problem};
    if (run->broken->len < BRIDGE_BROKEN_LINES) g_array_append_val(run->broken, broken);
}

static void take_line(LogRun *run, const Line *line) {
    const char *problem = NULL;
    run->told.lines++;
    switch (events_take(run->events, line->bytes, &problem)) {
    case EVENT_TAKEN: run->told.taken++; break;
    case EVENT_PASSED: run->told.passed++; break;
    case EVENT_BROKEN: note_broken(run, line->number, problem); break;
    }
}

/* A history folder may hold other files, too: they are not a log with thousands of broken lines. */
static gboolean is_no_log(const LogRun *run, const Line *line) {
    return line->number == 1 && run->at.number <= 1 && line->bytes.size_bytes > 0 &&
           *(const char *)line->bytes.data != '{';
}

LineState log_run_line(LogRun *run, GError **error) {
    Line line;
    const LineState state = line_reader_next(run->reader, &line, error);
    run->at_end = state == LINE_END;
    if (state == LINE_READY && is_no_log(run, &line)) {
        fail(error, PLUMB_ERROR_INPUT, "%s is no event log: it does not begin with an event", run->path);
        return LINE_FAILED;
    }
    if (state == LINE_READY) take_line(run, &line);
    if (state == LINE_TOO_LONG) {
        run->told.lines++;
        run->told.too_long++;
        note_broken(run, line.number, "longer than 32 MiB");
    }
    return state;
}

/* A last line without a line feed, of a file that is complete: it is whole, or the writer died in it. */
static void take_rest(LogRun *run) {
    const Line rest = line_reader_rest(run->reader);
    if (rest.bytes.size_bytes == 0) return;
    take_line(run, &rest);
    line_reader_take_rest(run->reader);
}

gboolean log_run_next_file(LogRun *run, const EventLog *log, GError **error) {
    for (guint i = 0; i < log->files->len; i++) {
        const EventLogFile *file = &g_array_index(log->files, EventLogFile, i);
        if (file->number <= run->at.number) continue;
        take_rest(run);
        if (file->number > run->at.number + 1) {
            g_autofree char *gap = g_strdup_printf("files %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT " are missing",
                                                   run->at.number + 1, file->number - 1);
            say(run, gap);
        }
        begin_anew(run, file);
        return open_file(run, file, error);
    }
    return FALSE;
}

static void tell_cut(LogRun *run) {
    g_autoptr(GError) error = NULL;
    fail(&error, PLUMB_ERROR_INPUT, "%s ends in the middle of a %s block: it was cut; what came before is kept",
         run->path, packed_kind_name(line_reader_kind(run->reader)));
    log_run_trouble(run, error);
}

void log_run_end(LogRun *run, const EventLog *log) {
    const Line rest = line_reader_rest(run->reader);
    const gboolean may_grow = run->options->follow || log->running;
    run->told.cut_line = rest.bytes.size_bytes > 0 && may_grow ? rest.number : 0;
    if (!may_grow && line_reader_within(run->reader)) tell_cut(run);
    if (!may_grow) take_rest(run);
    if (!log->running || events_ended(run->events)) events_app_by_name(run->events);
}

gboolean log_run_note(LogRun *run) {
    count_bytes(run);
    if (g_strcmp0(run->app, events_app(run->events)) != 0) {
        g_free(run->app);
        run->app = g_strdup(events_app(run->events));
    }
    if (events_waiting(run->events) > 0) return FALSE;
    if (g_strcmp0(run->at.app, run->app) != 0) {
        g_free(run->at.app);
        run->at.app = g_strdup(run->app);
    }
    run->at.at = line_reader_position(run->reader);
    run->at.size_bytes = run->at_end ? line_reader_file_bytes(run->reader) : 0;
    run->at.ended |= events_ended(run->events);
    return TRUE;
}
