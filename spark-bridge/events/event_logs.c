#include "spark-bridge/events/event_logs.h"

#include <string.h>

#define RUNNING ".inprogress"
#define COMPACT ".compact"
#define ROLLING "eventlog_v2_"
#define EVENTS  "events_"
#define STATUS  "appstatus_"
#define OLD     "EVENT_LOG_"

void event_log_free(EventLog *log) {
    if (log == NULL) return;
    g_free(log->path);
    g_free(log->name);
    if (log->files != NULL) g_array_unref(log->files);
    g_free(log);
}

static void clear_file(gpointer file) { g_free(((EventLogFile *)file)->path); }

/* Cuts the ending off, when it is there. */
static gboolean cut_ending(char *text, const char *ending) {
    if (!g_str_has_suffix(text, ending)) return FALSE;
    text[strlen(text) - strlen(ending)] = '\0';
    return TRUE;
}

static EventLog *log_new(const char *path, const char *name) {
    static const char *const codecs[] = {".zstd", ".lz4", ".snappy", ".lzf"};
    EventLog *log = g_new0(EventLog, 1);
    log->path = g_strdup(path);
    log->running = cut_ending(log->path, RUNNING);
    log->name = g_strdup(g_str_has_prefix(name, ROLLING) ? name + strlen(ROLLING) : name);
    cut_ending(log->name, RUNNING);
    for (guint i = 0; i < G_N_ELEMENTS(codecs); i++)
        if (cut_ending(log->name, codecs[i])) break;
    log->files = g_array_new(FALSE, TRUE, sizeof(EventLogFile));
    g_array_set_clear_func(log->files, clear_file);
    return log;
}

static void add_file(EventLog *log, const char *path, const StoredFacts *facts, guint64 number) {
    EventLogFile file = {.path = g_strdup(path),
                         .number = number,
                         .compact = g_str_has_suffix(path, COMPACT),
                         .id = facts->id,

                         .size_bytes = facts->size_bytes};
    g_array_append_val(log->files, file);
    log->changed_ms = MAX(log->changed_ms, facts->changed_ms);
}

static EventLog *single_log(const char *path, const StoredFacts *facts) {
    EventLog *log = log_new(path, facts->name);
    add_file(log, path, facts, 0);
    return log;
}

/* N of "events_N_app"; 0: it is another name. */
static guint64 events_number(const char *name) {
    if (!g_str_has_prefix(name, EVENTS)) return 0;
    char *end;
    const guint64 number = g_ascii_strtoull(name + strlen(EVENTS), &end, 10);
    return *end == '_' && g_ascii_isdigit(name[strlen(EVENTS)]) ? number : 0;
}

static gint by_number(gconstpointer a, gconstpointer b) {
    const EventLogFile *left = a, *right = b;
    if (left->number != right->number) return left->number < right->number ? -1 : 1;
    return (gint)left->compact - (gint)right->compact;
}

/* The last compact file stands for itself and all before it. */
static void drop_compacted(GArray *files) {
    for (guint i = files->len; i > 0; i--) {
        if (!g_array_index(files, EventLogFile, i - 1).compact) continue;
        if (i > 1) g_array_remove_range(files, 0, i - 1);
        return;
    }
}

static EventLog *rolling_log(const char *path, const StoredFacts *facts, const GArray *entries) {
    EventLog *log = log_new(path, facts->name);
    for (guint i = 0; i < entries->len; i++) {
        const StoredFacts *entry = &g_array_index(entries, StoredFacts, i);
        const guint64 number = events_number(entry->name);
        g_autofree char *child = storage_join(path, entry->name);
        if (number > 0 && !entry->folder) add_file(log, child, entry, number);
        log->running |= g_str_has_prefix(entry->name, STATUS) && g_str_has_suffix(entry->name, RUNNING);
    }
    g_array_sort(log->files, by_number);
    drop_compacted(log->files);
    return log;
}

/* Spark 1.0 to 1.2: EVENT_LOG_1 beside SPARK_VERSION_1.1.0 and, when it is done, APPLICATION_COMPLETE. */
static EventLog *old_log(const char *path, const StoredFacts *facts, const GArray *entries) {
    EventLog *log = log_new(path, facts->name);
    gboolean complete = FALSE;
    for (guint i = 0; i < entries->len; i++) {
        const StoredFacts *entry = &g_array_index(entries, StoredFacts, i);
        g_autofree char *child = storage_join(path, entry->name);
        if (g_str_has_prefix(entry->name, OLD) && !entry->folder)
            add_file(log, child, entry, g_ascii_strtoull(entry->name + strlen(OLD), NULL, 10));
        complete |= strcmp(entry->name, "APPLICATION_COMPLETE") == 0;
    }
    log->running = !complete;
    g_array_sort(log->files, by_number);
    return log;
}

/* The log that the folder is; NULL: it is none. */
static EventLog *folder_log(const char *path, const StoredFacts *facts, const GArray *entries) {
    gboolean old = FALSE, rolling = g_str_has_prefix(facts->name, ROLLING);
    for (guint i = 0; i < entries->len; i++) {
        const char *name = g_array_index(entries, StoredFacts, i).name;
        old |= g_str_has_prefix(name, OLD);
        rolling |= events_number(name) > 0;
    }
    if (rolling) return rolling_log(path, facts, entries);
    return old ? old_log(path, facts, entries) : NULL;
}

static gboolean is_log_name(const char *name) { return name[0] != '.' && name[0] != '_'; }

static gboolean has_entry(const GArray *entries, const char *name) {
    for (guint i = 0; i < entries->len; i++)
        if (strcmp(g_array_index(entries, StoredFacts, i).name, name) == 0) return TRUE;
    return FALSE;
}

/* The same log under its final name: Spark was between writing the one and removing the other. */
static gboolean is_superseded(const GArray *entries, const char *name) {
    g_autofree char *final = g_strdup(name);
    return cut_ending(final, RUNNING) && has_entry(entries, final);
}

static void add_folder_entry(const EventLogsQuery *query, const char *path, const StoredFacts *facts, GPtrArray *logs) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) entries = storage_list(query->storage, path, &error);
    if (entries == NULL) {
        if (!g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND) && query->told != NULL)
            query->told(query->arg, path, error);
        return;
    }
    EventLog *log = folder_log(path, facts, entries);
    if (log != NULL) g_ptr_array_add(logs, log);
}

static void add_history(const EventLogsQuery *query, const char *path, const GArray *entries, GPtrArray *logs) {
    for (guint i = 0; i < entries->len; i++) {
        const StoredFacts *entry = &g_array_index(entries, StoredFacts, i);
        if (!is_log_name(entry->name)) continue;
        g_autofree char *child = storage_join(path, entry->name);
        if (entry->folder)
            add_folder_entry(query, child, entry, logs);
        else if (!is_superseded(entries, entry->name))
            g_ptr_array_add(logs, single_log(child, entry));
    }
}

static gint by_change(gconstpointer a, gconstpointer b) {
    const EventLog *left = *(EventLog *const *)a, *right = *(EventLog *const *)b;
    if (left->changed_ms != right->changed_ms) return left->changed_ms < right->changed_ms ? -1 : 1;
    return strcmp(left->path, right->path);
}

/* The path under the name that the log has now: with ".inprogress" while it runs, without when it has ended. */
static char *look_either(const EventLogsQuery *query, const char *path, StoredFacts *facts, GError **error) {
    g_autoptr(GError) first = NULL;
    if (storage_look(query->storage, path, facts, &first)) return g_strdup(path);
    g_autofree char *other = g_strdup(path);
    const gboolean was_running = cut_ending(other, RUNNING);
    char *present = was_running ? g_strdup(other) : g_strconcat(path, RUNNING, NULL);
    if (g_error_matches(first, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND) &&
        storage_look(query->storage, present, facts, NULL))
        return present;
    g_free(present);
    g_propagate_error(error, g_steal_pointer(&first));
    return NULL;
}

gboolean event_logs_find(const EventLogsQuery *query, const char *path, GPtrArray *logs, GError **error) {
    StoredFacts facts = {0};
    g_autofree char *bare = g_strdup(path);
    while (strlen(bare) > 1 && !g_str_has_suffix(bare, "//") && cut_ending(bare, "/")) {
    }

    g_autofree char *present = look_either(query, bare, &facts, error);
    if (present == NULL) return FALSE;

    gboolean done = TRUE;
    if (!facts.folder) {
        g_ptr_array_add(logs, single_log(present, &facts));
    } else {
        g_autoptr(GArray) entries = storage_list(query->storage, present, error);
        done = entries != NULL;
        EventLog *log = done ? folder_log(present, &facts, entries) : NULL;
        g_autoptr(GPtrArray) found = g_ptr_array_new();
        if (log != NULL)
            g_ptr_array_add(found, log);
        else if (done)
            add_history(query, present, entries, found);
        g_ptr_array_sort(found, by_change);
        g_ptr_array_extend_and_steal(logs, g_steal_pointer(&found));
    }

    stored_facts_clear(&facts);
    return done;
}
