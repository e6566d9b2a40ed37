#include "spark-bridge/bridge.h"

#include <string.h>

#include "common/base/clock.h"
#include "spark-bridge/log_run.h"

/* A batch is handed on at this size: some hundred kilobytes on the wire. */
#define BATCH_RECORDS 5000u
#define BATCH_BYTES   ((gsize)4 * 1024 * 1024)
/* Between two looks whether to stop. */
#define LINES_AT_ONCE 1024u
/* Positions are saved no more often: they are a file that is written whole and synced. */
#define SAVE_EVERY_NS NS_PER_SEC

struct Bridge {
    BridgeOptions options;
    SparkRecords *records;
    GHashTable *runs;   /* path -> LogRun, of all logs that were looked at */
    GPtrArray *open;    /* LogRun with a reader; the first was used longest ago */
    GPtrArray *touched; /* LogRun that went on since the last batch was taken */
    BridgeCounts counts;
    gint64 saved_ns;
};

Bridge *bridge_new(const BridgeOptions *options) {
    Bridge *bridge = g_new0(Bridge, 1);
    bridge->options = *options;
    bridge->records = spark_records_new();
    bridge->runs = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)log_run_free);
    bridge->open = g_ptr_array_new();
    bridge->touched = g_ptr_array_new();
    bridge->saved_ns = clock_monotonic_ns(clock_system());
    return bridge;
}

void bridge_free(Bridge *bridge) {
    if (bridge == NULL) return;
    g_ptr_array_unref(bridge->open);
    g_ptr_array_unref(bridge->touched);
    g_hash_table_unref(bridge->runs);
    spark_records_free(bridge->records);
    g_free(bridge);
}

const BridgeCounts *bridge_counts(const Bridge *bridge) { return &bridge->counts; }

static gboolean save(Bridge *bridge, GError **error) {
    bridge->saved_ns = clock_monotonic_ns(clock_system());
    return positions_save(bridge->options.positions, error);
}

/* Hands the batch on, and notes how far each log is that it came from. */
static gboolean flush(Bridge *bridge, GError **error) {
    for (guint i = 0; i < bridge->touched->len; i++) {
        LogRun *run = g_ptr_array_index(bridge->touched, i);
        if (run->events != NULL) events_close_batch(run->events);
    }

    if (spark_records_count(bridge->records) > 0) {
        if (!bridge->options.deliver(bridge->options.arg, bridge->records, error)) {
            positions_save(bridge->options.positions, NULL); /* of batches before; the first error is told */
            return FALSE;
        }
        bridge->counts.batches++;
    }

    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++)
        bridge->counts.records[kind] += bridge->records->of[kind]->len;
    for (guint i = 0; i < bridge->touched->len; i++) {
        LogRun *run = g_ptr_array_index(bridge->touched, i);
        if (run->reader == NULL || log_run_note(run)) positions_set(bridge->options.positions, run->path, &run->at);
    }

    g_ptr_array_set_size(bridge->touched, 0);
    spark_records_clear(bridge->records);
    for (guint i = 0; i < bridge->open->len; i++)
        events_into(((LogRun *)g_ptr_array_index(bridge->open, i))->events, bridge->records);

    if (clock_monotonic_ns(clock_system()) - bridge->saved_ns < SAVE_EVERY_NS) return TRUE;
    return save(bridge, error);
}

gboolean bridge_flush(Bridge *bridge, GError **error) { return flush(bridge, error) && save(bridge, error); }

static void touch(Bridge *bridge, LogRun *run) {
    if (!g_ptr_array_find(bridge->touched, run, NULL)) g_ptr_array_add(bridge->touched, run);
}

/* What the log has given to the batch stays there; where it stands is kept for when that is taken. */
static void close_run(Bridge *bridge, LogRun *run) {
    if (run->reader == NULL) return;
    events_close_batch(run->events);
    /* What waits for a name is read again: the place before it is kept. */
    if (!log_run_note(run)) g_ptr_array_remove(bridge->touched, run);
    log_run_close(run);
    g_ptr_array_remove(bridge->open, run);
}

static gboolean batch_is_full(const Bridge *bridge) {
    return spark_records_count(bridge->records) >= BATCH_RECORDS || spark_records_bytes(bridge->records) >= BATCH_BYTES;
}

static gboolean stopped(const Bridge *bridge) {
    return bridge->options.stopped != NULL && bridge->options.stopped(bridge->options.arg);
}

typedef enum { READ_END, READ_STOPPED, READ_TROUBLE, READ_DAMAGED, READ_FAILED } ReadState;

/* Reads the open file to its present end. */
static ReadState read_file(Bridge *bridge, LogRun *run, GError **error) {
    for (guint lines = 1;; lines++) {
        g_autoptr(GError) why = NULL;
        const LineState state = log_run_line(run, &why);
        if (state == LINE_END) return READ_END;
        if (state == LINE_FAILED) {
            log_run_trouble(run, why);
            /* What broke on the way may be there again; what is damaged stays so. */
            return why->code == PLUMB_ERROR_PEER || why->code == PLUMB_ERROR_IO ? READ_TROUBLE : READ_DAMAGED;
        }
        touch(bridge, run);
        bridge->counts.lines++;
        if (batch_is_full(bridge) && !flush(bridge, error)) return READ_FAILED;
        if (lines % LINES_AT_ONCE == 0 && stopped(bridge)) return READ_STOPPED;
    }
}

/* Reads all files of the log that is open. */
static ReadState read_files(Bridge *bridge, LogRun *run, const EventLog *log, GError **error) {
    for (;;) {
        const ReadState state = read_file(bridge, run, error);
        if (state != READ_END && state != READ_DAMAGED) return state;
        touch(bridge, run);
        g_autoptr(GError) why = NULL;
        if (log_run_next_file(run, log, &why)) continue;
        if (why == NULL) {
            if (state == READ_END) log_run_end(run, log);
            return state;
        }
        log_run_trouble(run, why);
        return READ_TROUBLE;
    }
}

static gboolean open_run(Bridge *bridge, LogRun *run, const EventLog *log) {
    g_autoptr(GError) why = NULL;
    if (run->reader != NULL) return TRUE;
    if (!log_run_open(run, log, bridge->records, &why)) {
        if (why != NULL) log_run_trouble(run, why);
        return FALSE;
    }
    g_ptr_array_add(bridge->open, run);
    return TRUE;
}

static gboolean read_log(Bridge *bridge, LogRun *run, const EventLog *log, GError **error) {
    run->told.running = log->running;
    const gboolean done = log_run_is_done(run, log);
    run->told.unchanged = done && run->told.lines == 0;
    if (done || !open_run(bridge, run, log)) return TRUE;
    const ReadState state = read_files(bridge, run, log, error);
    if (state == READ_FAILED) return FALSE;
    const gboolean more = state == READ_END && bridge->options.follow && !events_ended(run->events);
    if (!more) close_run(bridge, run);
    /* Not looked at again before it changes. */
    if (state == READ_DAMAGED)
        run->at.size_bytes = g_array_index(log->files, EventLogFile, log->files->len - 1).size_bytes;
    if (state == READ_END) g_clear_pointer(&run->error, g_free);
    /* The reader that was used longest ago goes first. */
    if (more && g_ptr_array_remove(bridge->open, run)) g_ptr_array_add(bridge->open, run);
    while (bridge->open->len > BRIDGE_OPEN_LOGS) close_run(bridge, g_ptr_array_index(bridge->open, 0));
    return TRUE;
}

static LogRun *run_of(Bridge *bridge, const EventLog *log) {
    LogRun *run = g_hash_table_lookup(bridge->runs, log->path);
    if (run != NULL) return run;
    run = log_run_new(&bridge->options, log->path);
    g_hash_table_insert(bridge->runs, run->path, run);
    bridge->counts.logs++;
    return run;
}

static void tell_trouble(void *arg, const char *path, const GError *error) {
    Bridge *bridge = arg;
    LogRun *run = g_hash_table_lookup(bridge->runs, path);
    if (run == NULL) {
        run = log_run_new(&bridge->options, path);
        g_hash_table_insert(bridge->runs, run->path, run);
    }
    log_run_trouble(run, error);
}

/* Where the log may grow or get another name. */
static void tell_folders(const Bridge *bridge, const EventLog *log) {
    if (bridge->options.folder == NULL || storage_is_remote(log->path) || log->files->len == 0) return;
    const EventLogFile *file = &g_array_index(log->files, EventLogFile, 0);
    g_autofree char *folder = g_path_get_dirname(file->path);
    bridge->options.folder(bridge->options.arg, folder);
}

/* Logs of the folder that are gone leave no position behind. */
static void forget_gone(Bridge *bridge, const char *path, const GPtrArray *logs) {
    g_autoptr(GHashTable) present = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < logs->len; i++) g_hash_table_add(present, ((EventLog *)g_ptr_array_index(logs, i))->path);
    positions_forget(bridge->options.positions, path, present);
}

gboolean bridge_read(Bridge *bridge, const char *where, GError **error) {
    /* Positions are by path, whatever folder the program was started in. */
    g_autofree char *path = storage_is_remote(where) ? g_strdup(where) : g_canonicalize_filename(where, NULL);
    const EventLogsQuery query = {bridge->options.storage, tell_trouble, bridge};
    g_autoptr(GPtrArray) logs = g_ptr_array_new_with_free_func((GDestroyNotify)event_log_free);
    if (!event_logs_find(&query, path, logs, error)) return FALSE;
    if (bridge->options.folder != NULL && !storage_is_remote(path) && g_file_test(path, G_FILE_TEST_IS_DIR))
        bridge->options.folder(bridge->options.arg, path);
    forget_gone(bridge, path, logs);
    for (guint i = 0; i < logs->len && !stopped(bridge); i++) {
        const EventLog *log = g_ptr_array_index(logs, i);
        if (log->running || logs->len == 1) tell_folders(bridge, log);
        if (!read_log(bridge, run_of(bridge, log), log, error)) return FALSE;
    }
    return TRUE;
}

static gint by_path(gconstpointer a, gconstpointer b) {
    return strcmp((*(LogRun *const *)a)->path, (*(LogRun *const *)b)->path);
}

void bridge_outcomes(const Bridge *bridge, void (*each)(void *arg, const LogOutcome *outcome), void *arg) {
    g_autoptr(GPtrArray) runs = g_ptr_array_new();
    GHashTableIter iter;
    gpointer run;
    g_hash_table_iter_init(&iter, bridge->runs);
    while (g_hash_table_iter_next(&iter, NULL, &run)) g_ptr_array_add(runs, run);
    g_ptr_array_sort(runs, by_path);
    for (guint i = 0; i < runs->len; i++) {
        const LogRun *at = g_ptr_array_index(runs, i);
        LogOutcome outcome = at->told;
        outcome.path = at->path;
        outcome.app = at->app != NULL ? at->app : at->at.app;
        outcome.ended = at->at.ended;
        outcome.broken_lines = at->broken;
        outcome.error = at->error;
        each(arg, &outcome);
    }
}
