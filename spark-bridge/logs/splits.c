#include "spark-bridge/logs/splits.h"

#include <string.h>

#include "spark-bridge/logs/log_text.h"
#include "spark-bridge/logs/log_time.h"

static const char tid_text[] = "(TID ";

struct SplitLog {
    SplitSite site;
    GHashTable *running; /* task attempt ids, as gint64 * */
    SplitCounts counts;
};

/* A line, as far as it is understood. */
typedef struct Said {
    LogText line, message; /* message: from where it begins */
    gint64 task;
    gint64 time_ms;
    guint64 number;
} Said;

/* Of a file. */
typedef struct Part {
    LogText path;
    gint64 start, length;
} Part;

SplitLog *split_log_new(const SplitSite *site) {
    SplitLog *log = g_new0(SplitLog, 1);
    if (site != NULL) log->site = *site;
    log->running = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    return log;
}

void split_log_free(SplitLog *log) {
    if (log == NULL) return;
    g_hash_table_unref(log->running);
    g_free(log);
}

const SplitCounts *split_log_counts(const SplitLog *log) { return &log->counts; }

/* "(TID 7)" or "(TID 7, host, ...)": the first in the text. -1: there is none. */
static gint64 task_in(LogText text) {
    const char *at = log_text_find(text, tid_text);
    if (at == NULL) return -1;
    at += sizeof tid_text - 1;
    const char *end = at;
    while (end < text.data + text.length && g_ascii_isdigit(*end)) end++;
    gint64 task = -1;
    log_text_natural(log_text_between(at, end), &task);
    return task;
}

static LogText from(LogText line, const char *at) { return log_text_between(at, line.data + line.length); }

static void runs(SplitLog *log, LogText line, gboolean begins) {
    const gint64 task = task_in(line);
    if (task < 0) return;
    if (!begins)
        g_hash_table_remove(log->running, &task);
    else if (g_hash_table_size(log->running) < SPLIT_MOST_RUNNING)
        g_hash_table_add(log->running, g_memdup2(&task, sizeof task));
}

static gint64 only_running(const SplitLog *log) {
    if (g_hash_table_size(log->running) != 1) return -1;
    GHashTableIter tasks;
    gpointer task;
    g_hash_table_iter_init(&tasks, log->running);
    return g_hash_table_iter_next(&tasks, &task, NULL) ? *(const gint64 *)task : -1;
}

static void unreadable(SplitLog *log, const Said *said) {
    if (log->counts.unreadable++ == 0) log->counts.first_unreadable_line = said->number;
}

static const char *shared(SparkRecords *records, const char *value) {
    return value == NULL ? NULL : spark_text_shared(records, value, strlen(value));
}

static void add(SplitLog *log, const Said *said, Part part, SparkRecords *records) {
    SparkSplit *split = spark_add_split(records);
    split->app = shared(records, log->site.app);
    split->executor = shared(records, log->site.executor);
    split->host = shared(records, log->site.host);
    split->task = said->task >= 0 ? said->task : only_running(log);
    split->path = spark_text(records, part.path.data, part.path.length);
    split->start = part.start;
    split->length = part.length;
    split->time_ms = said->time_ms;
    log->counts.splits++;
    log->counts.unassigned += split->task < 0;
    if (split->time_ms < 0 && log->counts.untimed++ == 0) log->counts.first_untimed_line = said->number;
}

static LogText until_any(LogText text, const char *stops) {
    gsize n = 0;
    while (n < text.length && (text.data[n] == '\0' || strchr(stops, text.data[n]) == NULL)) n++;
    return (LogText){text.data, n};
}

/* No path begins with a zero byte, where texts of records end. */
static gboolean no_path(LogText text) { return text.length == 0 || text.data[0] == '\0'; }

/* "<path>:<start>+<length>"; a path may have colons, pluses and blanks. */
static gboolean range(SplitLog *log, const Said *said, LogText text, SparkRecords *records) {
    const char *plus = no_path(text) ? NULL : memrchr(text.data, '+', text.length);
    if (plus == NULL) return FALSE;
    const char *colon = memrchr(text.data, ':', (gsize)(plus - text.data));
    gint64 start, length;
    if (colon == NULL || colon == text.data || !log_text_natural(log_text_between(colon + 1, plus), &start) ||
        !log_text_natural(until_any(from(text, plus + 1), " ,\"]\r"), &length) || start > G_MAXINT64 - length)
        return FALSE;
    add(log, said, (Part){log_text_between(text.data, colon), start, length}, records);
    return TRUE;
}

/* "Paths:/a:0+10,/b:0+20 Locations:host1:; " */
static gboolean combined(SplitLog *log, const Said *said, LogText text, SparkRecords *records) {
    const char *locations = log_text_find(text, " Locations:");
    LogText rest = log_text_between(text.data, locations != NULL ? locations : text.data + text.length);
    gboolean any = FALSE;
    while (rest.length > 0) {
        /* A path may have a comma: a part ends where a range does. */
        gsize n = until_any(rest, ",").length;
        while (n < rest.length && (n == 0 || !g_ascii_isdigit(rest.data[n - 1])))
            n += 1 + until_any(log_text_after(rest, n + 1), ",").length;
        any |= range(log, said, (LogText){rest.data, n}, records);
        rest = log_text_after(rest, n + 1);
    }
    return any;
}

static void hadoop_split(SplitLog *log, const Said *said, LogText text, SparkRecords *records) {
    log->counts.lines++;
    text = log_text_trimmed(text);
    const gboolean read = log_text_begins(text, "Paths:")
                              ? combined(log, said, log_text_after(text, strlen("Paths:")), records)
                              : range(log, said, text, records);
    if (!read) unreadable(log, said);
}

/* "<path>, range: 0-123, partition values: [empty row]" */
static void scanned_file(SplitLog *log, const Said *said, LogText text, SparkRecords *records) {
    static const char mark[] = ", range: ";
    log->counts.lines++;
    text = log_text_trimmed(text);
    const char *at = log_text_find(text, mark);
    if (at == NULL || at == text.data || no_path(text)) {
        unreadable(log, said);
        return;
    }
    const LogText numbers = until_any(from(text, at + sizeof mark - 1), ", \"\r");
    const char *dash = log_text_find(numbers, "-");
    gint64 start, end;
    if (dash == NULL || !log_text_natural(log_text_between(numbers.data, dash), &start) ||
        !log_text_natural(from(numbers, dash + 1), &end) || end < start)
        unreadable(log, said);
    else
        add(log, said, (Part){log_text_between(text.data, at), start, end - start}, records);
}

/* Lines that are JSON ({"ts":"2026-11-21T20:46:04.123Z","level":"INFO","msg":"...",...}) say the time there. */
static gint64 time_of(const SplitLog *log, LogText line) {
    static const char key[] = "\"ts\":\"";
    if (!log_text_begins(line, "{")) return log_time_ms(line, log->site.zone);
    const char *at = log_text_find(line, key);
    return at == NULL ? -1 : log_time_ms(from(line, at + sizeof key - 1), log->site.zone);
}

/* The message of a line that is JSON ends with its string. No path of HDFS or URI has a quotation mark unescaped. */
static LogText message(LogText line, const char *at) {
    const LogText rest = from(line, at);
    return log_text_begins(line, "{") ? until_any(rest, "\"") : rest;
}

static const char *after(LogText line, const char *mark) {
    const char *at = log_text_find(line, mark);
    return at == NULL ? NULL : at + strlen(mark);
}

void split_log_line(SplitLog *log, Bytes bytes, guint64 number, SparkRecords *records) {
    const LogText line = log_text(bytes);
    if (line.length == 0 || line.length > SPLIT_MOST_LINE_BYTES) return;
    const char *at;
    if (log_text_find(line, "Running task ") != NULL)
        runs(log, line, TRUE);
    else if (log_text_find(line, "Finished task ") != NULL || log_text_find(line, "Exception in task ") != NULL ||
             log_text_find(line, "Executor killed task ") != NULL)
        runs(log, line, FALSE);
    else if ((at = after(line, "Input split: ")) != NULL || (at = after(line, " input split: ")) != NULL) {
        const Said said = {line, message(line, at), task_in(line), time_of(log, line), number};
        hadoop_split(log, &said, said.message, records);
    } else if ((at = after(line, "Reading File path: ")) != NULL) {
        const Said said = {line, message(line, at), task_in(line), time_of(log, line), number};
        scanned_file(log, &said, said.message, records);
    }
}
