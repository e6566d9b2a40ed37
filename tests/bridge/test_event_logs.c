/* Which logs a path names, in every layout that Spark has had. */
#include "spark-bridge/events/event_logs.h"

#include <string.h>

#include "tests/bridge/folder.h"

typedef struct Found {
    char *folder;
    Storage *storage;
    GPtrArray *logs;
    guint told;
} Found;

static void count_told(void *arg, const char *path G_GNUC_UNUSED, const GError *error) {
    g_assert_nonnull(error);
    ((Found *)arg)->told++;
}

static Found found_new(void) {
    const StorageOptions options = {.retry_ms = 0};
    return (Found){folder_new(), storage_new(&options), NULL, 0};
}

static void found_clear(Found *found) {
    folder_remove(found->folder);
    storage_free(found->storage);
    if (found->logs != NULL) g_ptr_array_unref(found->logs);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Found, found_clear)

static gint by_text(gconstpointer a, gconstpointer b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Every log as "name: file file" with * for a running one, sorted by name. */
static char *describe(const GPtrArray *logs) {
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < logs->len; i++) {
        const EventLog *log = g_ptr_array_index(logs, i);
        GString *line = g_string_new(log->name);
        if (log->running) g_string_append_c(line, '*');
        g_string_append_c(line, ':');
        for (guint k = 0; k < log->files->len; k++) {
            const EventLogFile *file = &g_array_index(log->files, EventLogFile, k);
            g_autofree char *name = g_path_get_basename(file->path);
            g_string_append_printf(line, " %s#%" G_GUINT64_FORMAT "%s", name, file->number, file->compact ? "c" : "");
        }
        g_ptr_array_add(lines, g_string_free(line, FALSE));
    }
    g_ptr_array_sort(lines, by_text);
    g_ptr_array_add(lines, NULL);
    return g_strjoinv("\n", (char **)lines->pdata);
}

static void assert_found(Found *found, const char *name, const char *expected) {
    g_autofree char *path = g_build_filename(found->folder, name, NULL);
    const EventLogsQuery query = {found->storage, count_told, found};
    g_autoptr(GError) error = NULL;
    if (found->logs != NULL) g_ptr_array_unref(found->logs);
    found->logs = g_ptr_array_new_with_free_func((GDestroyNotify)event_log_free);
    g_assert_true(event_logs_find(&query, path, found->logs, &error));
    g_assert_no_error(error);
    g_autofree char *described = describe(found->logs);
    g_assert_cmpstr(described, ==, expected);
}

static void test_layouts(void) {
    g_auto(Found) found = found_new();
    folder_write(found.folder, "app-1.zstd", "x");
    folder_write(found.folder, "app-2.inprogress", "x");
    folder_write(found.folder, "app-3_2.lz4.inprogress", "x");
    folder_write(found.folder, ".app-1.zstd.crc", "x");
    folder_write(found.folder, "_temporary", "x");

    folder_write(found.folder, "eventlog_v2_app-4/appstatus_app-4.inprogress", "");
    folder_write(found.folder, "eventlog_v2_app-4/events_10_app-4", "x");
    folder_write(found.folder, "eventlog_v2_app-4/events_9_app-4", "x");
    folder_write(found.folder, "eventlog_v2_app-5/appstatus_app-5", "");
    folder_write(found.folder, "eventlog_v2_app-5/events_1_app-5.zstd", "x");
    folder_write(found.folder, "eventlog_v2_app-5/events_2_app-5.zstd", "x");
    folder_write(found.folder, "eventlog_v2_app-5/events_2_app-5.zstd.compact", "x");
    folder_write(found.folder, "eventlog_v2_app-5/events_3_app-5.zstd", "x");

    folder_write(found.folder, "old-app/EVENT_LOG_1", "x");
    folder_write(found.folder, "old-app/SPARK_VERSION_1.1.0", "");
    folder_write(found.folder, "old-done/EVENT_LOG_1", "x");
    folder_write(found.folder, "old-done/APPLICATION_COMPLETE", "");
    folder_write(found.folder, "another-folder/notes", "x");

    assert_found(&found, "",
                 "app-1: app-1.zstd#0\napp-2*: app-2.inprogress#0\napp-3_2*: app-3_2.lz4.inprogress#0\n"
                 "app-4*: events_9_app-4#9 events_10_app-4#10\n"
                 "app-5: events_2_app-5.zstd.compact#2c events_3_app-5.zstd#3\n"
                 "old-app*: EVENT_LOG_1#1\nold-done: EVENT_LOG_1#1");

    assert_found(&found, "eventlog_v2_app-4", "app-4*: events_9_app-4#9 events_10_app-4#10");
    assert_found(&found, "old-done/", "old-done: EVENT_LOG_1#1");
    assert_found(&found, "another-folder", "notes: notes#0");
    g_assert_cmpuint(found.told, ==, 0);
}

/* A log keeps its path when its application ends. */
static void test_either_name(void) {
    g_auto(Found) found = found_new();
    folder_write(found.folder, "app-2.inprogress", "x");
    assert_found(&found, "app-2", "app-2*: app-2.inprogress#0");
    g_autofree char *path = g_strdup(((EventLog *)g_ptr_array_index(found.logs, 0))->path);
    folder_write(found.folder, "app-3", "x");
    assert_found(&found, "app-3.inprogress", "app-3: app-3#0");
    folder_write(found.folder, "app-2", "x");
    assert_found(&found, "app-2", "app-2: app-2#0");
    g_assert_cmpstr(((EventLog *)g_ptr_array_index(found.logs, 0))->path, ==, path);
    /* Both names, for a moment: the final one is the log. */
    assert_found(&found, "", "app-2: app-2#0\napp-3: app-3#0");
}

static void test_nothing_there(void) {
    g_auto(Found) found = found_new();
    const EventLogsQuery query = {found.storage, NULL, NULL};
    g_autoptr(GPtrArray) logs = g_ptr_array_new();
    g_autofree char *path = g_build_filename(found.folder, "nowhere", NULL);
    g_autoptr(GError) error = NULL;
    g_assert_false(event_logs_find(&query, path, logs, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND);
    g_assert_nonnull(strstr(error->message, path));
    assert_found(&found, "", "");
}

static void test_wrong_addresses(void) {
    static const char *const paths[] = {"webhdfs://",       "webhdfs:///x",         "webhdfs://nn/x",
                                        "webhdfs://nn:0/x", "webhdfs://nn:99999/x", "webhdfs://nn:9870,/x"};
    g_auto(Found) found = found_new();
    const EventLogsQuery query = {found.storage, NULL, NULL};
    for (guint i = 0; i < G_N_ELEMENTS(paths); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GPtrArray) logs = g_ptr_array_new();
        g_assert_false(event_logs_find(&query, paths[i], logs, &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CONFIG);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/event-logs/layouts", test_layouts);
    g_test_add_func("/event-logs/either-name", test_either_name);
    g_test_add_func("/event-logs/nothing-there", test_nothing_there);
    g_test_add_func("/event-logs/wrong-addresses", test_wrong_addresses);
    return g_test_run();
}
