#include "analyzer/cli/import/log_import.h"

#include <string.h>
#include <sys/stat.h>

#include "analyzer/archive/spark/spark.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "spark-bridge/bridge.h"

/* An HDFS that does not answer is asked again for so long. */
#define HDFS_RETRY_MS 60000u

struct LogImport {
    LogImportOptions options;
    Store *store;
    Archive *archive;
    Storage *storage;
    Positions *positions;
    Bridge *bridge;
    SparkPut put;
    gint64 begin_ns;
};

static gboolean deliver(void *arg, const SparkRecords *records, GError **error) {
    LogImport *import = arg;
    SparkPut put = {0};
    if (!archive_spark_put(import->archive, records, clock_wall_ns(clock_system()) / NS_PER_MS, &put, error))
        return FALSE;
    import->put.added += put.added;
    import->put.changed += put.changed;
    import->put.unchanged += put.unchanged;
    import->put.refused += put.refused;
    const guint64 all = import->put.added + import->put.changed + import->put.unchanged + import->put.refused;
    progress_update(import->options.progress, all, 0, "records");
    return TRUE;
}

static gboolean never(void *arg) {
    (void)arg;
    return FALSE;
}

static void say(void *arg, const char *what) {
    const LogImport *import = arg;
    if (import->options.say != NULL) import->options.say(import->options.arg, what);
}

static gboolean open_store(LogImport *import, const char *folder, GError **error) {
    const StoreOptions options = {.path = folder, .merge = archive_merge};
    GError *why = NULL;
    import->store = store_open_rocksdb(&options, &why);
    if (why != NULL && g_error_matches(why, PLUMB_ERROR, PLUMB_ERROR_BUSY))
        g_prefix_error(&why, "plumb-bridge sends logs to the plumbd that runs on it: ");
    if (why != NULL) g_propagate_error(error, why);
    if (import->store != NULL) import->archive = archive_open(import->store, &(ArchiveOptions){0}, error);
    return import->archive != NULL;
}

/* People name the folder that holds plumbd's store and journal. */
static char *folder_of(const char *told) {
    g_autofree char *inner = g_build_filename(told, "store", NULL), *current = g_build_filename(inner, "CURRENT", NULL);
    return g_file_test(current, G_FILE_TEST_EXISTS) ? g_steal_pointer(&inner) : g_strdup(told);
}

LogImport *log_import_new(const LogImportOptions *options, GError **error) {
    g_autoptr(LogImport) import = g_new0(LogImport, 1);
    import->options = *options;
    import->begin_ns = clock_monotonic_ns(clock_system());
    g_autofree char *folder = folder_of(options->store);
    umask(0077); /* as plumbd's store: for this user alone */
    import->positions = positions_open(NULL, error);
    if (import->positions == NULL || !open_store(import, folder, error)) return NULL;
    import->storage = storage_new(&(StorageOptions){.retry_ms = HDFS_RETRY_MS});
    const BridgeOptions bridge = {.storage = import->storage,
                                  .positions = import->positions,
                                  .deliver = deliver,
                                  .stopped = never,
                                  .say = say,
                                  .arg = import};
    import->bridge = bridge_new(&bridge);
    return g_steal_pointer(&import);
}

void log_import_free(LogImport *import) {
    if (import == NULL) return;
    bridge_free(import->bridge);
    storage_free(import->storage);
    positions_close(import->positions);
    archive_free(import->archive);
    store_close(import->store);
    g_free(import);
}

gboolean log_import_path(LogImport *import, const char *path, GError **error) {
    return bridge_read(import->bridge, path, error);
}

gboolean log_import_finish(LogImport *import, GError **error) {
    return bridge_flush(import->bridge, error) && store_flush(import->store, FALSE, error);
}

static guint64 bad_lines(const LogOutcome *outcome) { return outcome->broken + outcome->too_long; }

static void look_at(void *arg, const LogOutcome *outcome) {
    if (bad_lines(outcome) > 0 || outcome->error != NULL) *(gboolean *)arg = FALSE;
}

gboolean log_import_clean(const LogImport *import) {
    gboolean clean = import->put.refused == 0;
    bridge_outcomes(import->bridge, look_at, &clean);
    return clean;
}

static json_t *text_of(const char *text) {
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    return json_string(valid);
}

static void add_log(void *arg, const LogOutcome *outcome) {
    json_t *log = json_object();
    json_object_set_new(log, "log", text_of(outcome->path));
    if (outcome->app != NULL) json_object_set_new(log, "app", text_of(outcome->app));
    json_object_set_new(log, "lines", json_integer((json_int_t)outcome->lines));
    json_object_set_new(log, "bad_lines", json_integer((json_int_t)bad_lines(outcome)));
    if (outcome->error != NULL) json_object_set_new(log, "error", text_of(outcome->error));
    json_array_append_new(arg, log);
}

json_t *log_import_report(const LogImport *import) {
    json_t *report = json_object(), *logs = json_array(), *records = json_object();
    const BridgeCounts *counts = bridge_counts(import->bridge);
    bridge_outcomes(import->bridge, add_log, logs);
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) {
        if (counts->records[kind] == 0) continue;
        json_object_set_new(records, spark_kind_name((SparkKind)kind), json_integer((json_int_t)counts->records[kind]));
    }
    json_object_set_new(report, "logs", logs);
    json_object_set_new(report, "records", records);
    json_object_set_new(report, "added", json_integer((json_int_t)import->put.added));
    json_object_set_new(report, "changed", json_integer((json_int_t)import->put.changed));
    json_object_set_new(report, "unchanged", json_integer((json_int_t)import->put.unchanged));
    json_object_set_new(report, "refused", json_integer((json_int_t)import->put.refused));
    json_object_set_new(report, "duration_ns", json_integer(clock_monotonic_ns(clock_system()) - import->begin_ns));
    return report;
}
