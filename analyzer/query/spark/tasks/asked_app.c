#include "analyzer/query/spark/tasks/asked_app.h"

#include <string.h>

#include "analyzer/archive/read/load.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/nearest.h"

/* In messages. */
#define LISTED 5u
/* Of the first so many tasks of an application a trace is looked for, by ids that follow from theirs. */
#define TASKS_TRIED 100

#define NO_LOG                                                                                                         \
    "Spark writes one where spark.eventLog.enabled=true, which it is not by default; plumb-bridge sends it to "        \
    "plumbd, and `plumb --store DIR import LOG` reads it into a store"

static gboolean add_owner(void *arg, const SparkOwner *owner) {
    AppEntry entry = {.key = owner->name, .begin_ms = owner->written_ms, .written_ms = owner->written_ms};
    memcpy(entry.records, owner->records, sizeof entry.records);
    g_array_append_val(arg, entry);
    return TRUE;
}

static int newest_first(gconstpointer a, gconstpointer b) {
    const AppEntry *x = a, *y = b;
    if (x->begin_ms != y->begin_ms) return x->begin_ms > y->begin_ms ? -1 : 1;
    return -strcmp(x->key, y->key);
}

AppList *app_list_load(Archive *archive, GError **error) {
    g_autoptr(AppList) list = g_new0(AppList, 1);
    list->archive = archive;
    list->records = spark_records_new();
    list->entries = g_array_new(FALSE, TRUE, sizeof(AppEntry));
    if (!archive_spark_owners(archive, OWNER_APP, list->records, (SparkOwnerVisitor){add_owner, list->entries}, error))
        return NULL;

    for (guint i = 0; i < list->entries->len; i++) {
        const SparkSelect select = SPARK_SELECT(SPARK_APP, g_array_index(list->entries, AppEntry, i).key);
        if (!archive_spark_load(archive, &select, list->records, error)) return NULL;
    }

    /* One application has one record at most, in the same order. */
    guint at = 0;
    for (guint i = 0; i < list->entries->len; i++) {
        AppEntry *entry = &g_array_index(list->entries, AppEntry, i);
        if (at >= list->records->of[SPARK_APP]->len) break;
        const SparkApp *app = spark_app(list->records, at);
        if (strcmp(app->app, entry->key) != 0) continue;
        entry->app = app;
        if (app->start_ms >= 0) entry->begin_ms = app->start_ms;
        at++;
    }

    g_array_sort(list->entries, newest_first);
    return g_steal_pointer(&list);
}

void app_list_free(AppList *list) {
    if (list == NULL) return;
    g_array_unref(list->entries);
    spark_records_free(list->records);
    g_free(list);
}

const char *app_entry_id(const AppEntry *entry) {
    return entry->app != NULL && entry->app->id != NULL ? entry->app->id : entry->key;
}

/* ---- finding ---- */

static gboolean named(const AppEntry *entry, const char *text) {
    return entry->app != NULL && entry->app->name != NULL && strcmp(entry->app->name, text) == 0;
}

static gboolean begins(const AppEntry *entry, const char *text) { return g_str_has_prefix(entry->key, text); }

typedef gboolean (*Fits)(const AppEntry *entry, const char *text);

/* How many fit; *found is the newest. The first few are listed. */
static guint count_fitting(const AppList *list, Fits fits, const char *text, const AppEntry **found, GString *keys) {
    guint n = 0;
    for (guint i = 0; i < list->entries->len; i++) {
        const AppEntry *entry = &g_array_index(list->entries, AppEntry, i);
        if (!fits(entry, text)) continue;
        if (n == 0) *found = entry;
        if (n < LISTED) g_string_append_printf(keys, "%s%s", n > 0 ? ", " : "", entry->key);
        if (n == LISTED) g_string_append(keys, ", ...");
        n++;
    }
    return n;
}

/* Did the agent trace tasks of it, though nothing of its event log came? */
static gboolean tasks_were_traced(Archive *archive, const char *app_id) {
    gboolean traced = FALSE;
    for (gint64 task = 0; task < TASKS_TRIED && !traced; task++)
        if (!archive_has_trace(archive, task_trace_id(app_id, task), &traced, NULL)) return FALSE;
    return traced;
}

/* Of a trace's id it lacks digits, or has more. */
static gboolean is_cut_trace_id(const char *text) {
    const gsize digits = strspn(text, "0123456789abcdefABCDEF");
    return text[digits] == '\0' && digits >= 12 && digits != 16 && digits != 32;
}

static void fail_unknown(const AppList *list, const char *text, GError **error) {
    g_autoptr(GPtrArray) known = g_ptr_array_new();
    g_autoptr(GString) newest = g_string_new(NULL);

    for (guint i = 0; i < list->entries->len; i++) {
        const AppEntry *entry = &g_array_index(list->entries, AppEntry, i);
        g_ptr_array_add(known, (gpointer)entry->key);
        if (entry->app != NULL && entry->app->name != NULL) g_ptr_array_add(known, (gpointer)entry->app->name);
        if (i < LISTED) g_string_append_printf(newest, "%s%s", i > 0 ? ", " : "", entry->key);
    }

    g_ptr_array_add(known, NULL);
    const char *nearest = nearest_name(text, (const char *const *)known->pdata);

    if (tasks_were_traced(list->archive, text))
        fail(error, PLUMB_ERROR_NOT_FOUND,
             "tasks of \"%s\" were traced, but its event log was not read, and without it they have no stages and no "
             "peers: " NO_LOG,
             text);
    else if (is_cut_trace_id(text))
        fail(error, PLUMB_ERROR_NOT_FOUND,
             "there is no application \"%s\", and ids of traces have 16 or 32 digits: plumb traces lists them", text);
    else if (list->entries->len == 0)
        fail(error, PLUMB_ERROR_NOT_FOUND,
             "no application of Spark is stored, so none is \"%s\", since no event log was read: " NO_LOG, text);
    else if (nearest != NULL)
        fail(error, PLUMB_ERROR_NOT_FOUND, "there is no application \"%s\": did you mean \"%s\"?", text, nearest);
    else
        fail(error, PLUMB_ERROR_NOT_FOUND, "there is no application \"%s\": the newest are %s; plumb apps lists all",
             text, newest->str);
}

const AppEntry *app_list_find(const AppList *list, const char *text, GError **error) {
    if (strcmp(text, "latest") == 0 && list->entries->len > 0) return &g_array_index(list->entries, AppEntry, 0);
    for (guint i = 0; i < list->entries->len; i++) {
        const AppEntry *entry = &g_array_index(list->entries, AppEntry, i);
        if (strcmp(entry->key, text) == 0) return entry;
    }
    static const Fits ways[] = {named, begins};
    for (guint way = 0; way < G_N_ELEMENTS(ways) && *text != '\0'; way++) {
        const AppEntry *found = NULL;
        g_autoptr(GString) keys = g_string_new(NULL);
        const guint n = count_fitting(list, ways[way], text, &found, keys);
        if (n == 1 || (n > 0 && ways[way] == named)) return found;
        if (n == 0) continue;
        fail(error, PLUMB_ERROR_INPUT, "%u applications begin with \"%s\", the newest first: %s; give more of the id",
             n, text, keys->str);
        return NULL;
    }
    fail_unknown(list, text, error);
    return NULL;
}

const AppEntry *asked_app_entry(const Asked *asked, const AppList *list, GError **error) {
    const char *text = params_text(asked->params, "app");
    if (text != NULL && *text != '\0') return app_list_find(list, text, error);
    fail(error, PLUMB_ERROR_INPUT, "which application? Give its id, the beginning of it, its name, or \"latest\"");
    return NULL;
}

char *asked_app(const Asked *asked, GError **error) {
    g_autoptr(AppList) list = app_list_load(asked->archive, error);
    const AppEntry *entry = list != NULL ? asked_app_entry(asked, list, error) : NULL;
    return entry != NULL ? g_strdup(entry->key) : NULL;
}

gboolean asked_stage(const Asked *asked, gint64 *stage, gint64 *attempt, GError **error) {
    const char *text = params_text(asked->params, "stage");
    *stage = *attempt = -1;
    if (text == NULL) return TRUE;
    g_auto(GStrv) parts = g_strsplit(text, ".", 3);
    guint64 numbers[2] = {0, 0};
    const guint n = g_strv_length(parts);
    gboolean good = n == 1 || n == 2;
    for (guint i = 0; good && i < n; i++)
        good = g_ascii_string_to_unsigned(parts[i], 10, 0, G_MAXINT32, &numbers[i], NULL);
    if (!good)
        return fail(error, PLUMB_ERROR_INPUT, "stage: \"%s\" is none: give its number, or NUMBER.ATTEMPT, as in 3.1",
                    text);
    *stage = (gint64)numbers[0];
    if (n == 2) *attempt = (gint64)numbers[1];
    return TRUE;
}

/* ---- JSON ---- */

void json_add_ms(json_t *object, const char *name, gint64 ms) {
    if (ms >= 0 && ms <= G_MAXINT64 / NS_PER_MS) json_object_set_new(object, name, json_integer(ms * NS_PER_MS));
}

void json_add_text(json_t *object, const char *name, const char *text) {
    if (text != NULL) json_object_set_new(object, name, json_text(text, strlen(text)));
}

gint64 app_silent_ms(const SparkApp *app, gint64 now_ms) {
    if (app->end_ms >= 0 || app->last_event_ms < 0) return -1;
    const gint64 silent_ms = now_ms - app->last_event_ms;
    return silent_ms > APP_SILENT_MS ? silent_ms : -1;
}

/* A log that is complete and has no end is that of an application that was killed. */
static const char *state_of(const SparkApp *app, gint64 now_ms) {
    if (app == NULL) return "unknown";
    if (app->end_ms >= 0) return "ended";
    if (app->log_complete == 1) return "cut off";
    return app_silent_ms(app, now_ms) >= 0 ? "silent" : "running";
}

gboolean app_runs(const SparkApp *app, gint64 now_ms) { return strcmp(state_of(app, now_ms), "running") == 0; }

void json_add_app(const Asked *asked, json_t *object, const AppEntry *entry) {
    const SparkApp *app = entry->app;
    const gint64 now_ms = asked->now_ns / NS_PER_MS;
    json_add_text(object, "app", entry->key);
    json_add_text(object, "id", app_entry_id(entry));
    json_object_set_new(object, "state", json_string(state_of(app, now_ms)));
    if (app == NULL) return;
    json_add_text(object, "attempt", app->attempt);
    json_add_text(object, "name", app->name);
    json_add_text(object, "user", app->user);
    json_add_text(object, "spark_version", app->version);
    json_add_text(object, "driver_host", app->driver_host);
    json_add_ms(object, "begin_time_ns", app->start_ms);
    json_add_ms(object, "end_time_ns", app->end_ms);
    json_add_ms(object, "last_event_time_ns", app->last_event_ms);
    if (app->log_complete != 1) json_add_ms(object, "silent_ns", app_silent_ms(app, now_ms));
    const gint64 end_ms = app->end_ms >= 0 ? app->end_ms : app->last_event_ms;
    if (app->start_ms >= 0 && end_ms >= app->start_ms) json_add_ms(object, "duration_ns", end_ms - app->start_ms);
}
