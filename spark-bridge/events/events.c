#include "spark-bridge/events/events.h"

#include <string.h>

#include "common/base/limits.h"
#include "common/model/spark_fields.h"
#include "spark-bridge/events/json_events.h"
#include "spark-bridge/events/task_line.h"

/* Records that wait for the application's name: before it come its environment and its executors, a handful. A log
 * whose begin is lost has tasks there: it will not name its application any more. */
#define WAITING_MOST 4096u

/* Of a batch's queries the last ones: as many may run at once in an application. */
#define QUERIES_LOOKED_AT 64u

struct Events {
    TaskGroups groups;
    JsonEvents *json;
    char *app;  /* key; NULL: not named yet */
    char *name; /* of the log */
    SparkRecords *waiting;
    SparkRecords *into;
    const char *app_text; /* key, in the memory of 'into' */
    GHashTable *running;  /* task attempt id -> index + 1 of its record in 'into': a task's end completes it there */
    gint64 newest_ms;     /* in this batch; -1: none */
    gboolean ended;
};

Events *events_new(const char *app, const char *name) {
    Events *events = g_new0(Events, 1);
    task_groups_init(&events->groups);
    events->json = json_events_new(&events->groups);
    events->app = g_strdup(app);
    events->name = g_strdup(name);
    events->waiting = spark_records_new();
    events->running = g_hash_table_new(NULL, NULL);
    events->newest_ms = -1;
    return events;
}

void events_free(Events *events) {
    if (events == NULL) return;
    json_events_free(events->json);
    spark_records_free(events->waiting);
    g_hash_table_unref(events->running);
    g_free(events->app);
    g_free(events->name);
    g_free(events);
}

static const struct {
    const char *name; /* without "SparkListener" */
    EventKind kind;
} kinds[] = {
    {"TaskEnd", EVENT_TASK_END},
    {"TaskStart", EVENT_TASK_START},
    {"StageSubmitted", EVENT_STAGE_SUBMITTED},
    {"StageCompleted", EVENT_STAGE_COMPLETED},
    {"JobStart", EVENT_JOB_START},
    {"JobEnd", EVENT_JOB_END},
    {"ExecutorAdded", EVENT_EXECUTOR_ADDED},
    {"ExecutorRemoved", EVENT_EXECUTOR_REMOVED},
    {"BlockManagerAdded", EVENT_BLOCK_MANAGER_ADDED},
    {"StageExecutorMetrics", EVENT_EXECUTOR_PEAKS},
    {"ResourceProfileAdded", EVENT_PROFILE},
    {"ExecutorExcluded", EVENT_EXCLUDED},
    {"ExecutorExcludedForStage", EVENT_EXCLUDED},
    {"ExecutorUnexcluded", EVENT_INCLUDED},
    {"NodeExcluded", EVENT_EXCLUDED},
    {"NodeExcludedForStage", EVENT_EXCLUDED},
    {"NodeUnexcluded", EVENT_INCLUDED},
    {"ExecutorBlacklisted", EVENT_EXCLUDED}, /* from here on: before 3.1, and later beside the others */
    {"ExecutorBlacklistedForStage", EVENT_EXCLUDED},
    {"ExecutorUnblacklisted", EVENT_INCLUDED},
    {"NodeBlacklisted", EVENT_EXCLUDED},
    {"NodeBlacklistedForStage", EVENT_EXCLUDED},
    {"NodeUnblacklisted", EVENT_INCLUDED},
    {"EnvironmentUpdate", EVENT_ENVIRONMENT},
    {"ApplicationStart", EVENT_APP_START},
    {"ApplicationEnd", EVENT_APP_END},
    {"LogStart", EVENT_LOG_START},
    {"DriverAccumUpdates", EVENT_QUERY_VALUES},
    {"SQLExecutionStart", EVENT_QUERY_START},
    {"SQLExecutionEnd", EVENT_QUERY_END},
    {"SQLAdaptiveExecutionUpdate", EVENT_QUERY_PLAN},
    {"SQLAdaptiveSQLMetricUpdates", EVENT_QUERY_METRICS},
};

/* Events that Spark's own protocol does not know are named by their class. */
EventKind event_kind(const char *name, gsize length) {
    static const char front[] = "SparkListener";
    static const char *const packages[] = {"org.apache.spark.sql.execution.ui.", "org.apache.spark.scheduler."};
    const gsize skip = sizeof front - 1;
    for (guint i = 0; i < G_N_ELEMENTS(packages) && length > 0 && name[0] == 'o'; i++) {
        const gsize package = strlen(packages[i]);
        if (length <= package || memcmp(name, packages[i], package) != 0) continue;
        name += package;
        length -= package;
        break;
    }
    if (length <= skip || memcmp(name, front, skip) != 0) return EVENT_OTHER;
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (strlen(kinds[i].name) == length - skip && memcmp(kinds[i].name, name + skip, length - skip) == 0)
            return kinds[i].kind;
    return EVENT_OTHER;
}

typedef enum { LINE_OF_KIND, LINE_OTHER, LINE_UNCLEAR } LineKind;

/* By the way Spark writes: {"Event":"SparkListenerTaskEnd", ... */
static LineKind line_kind(Bytes line, EventKind *kind) {
    static const char front[] = "{\"Event\":\"";
    const gsize skip = sizeof front - 1;
    const char *text = line.data;
    if (line.size_bytes < skip || memcmp(text, front, skip) != 0) return LINE_UNCLEAR;
    const char *close = memchr(text + skip, '"', line.size_bytes - skip);
    if (close == NULL) return LINE_UNCLEAR;
    *kind = event_kind(text + skip, (gsize)(close - text) - skip);
    return *kind == EVENT_OTHER ? LINE_OTHER : LINE_OF_KIND;
}

gboolean events_wanted(Bytes head) {
    EventKind kind;
    return line_kind(head, &kind) != LINE_OTHER;
}

void events_into(Events *events, SparkRecords *records) {
    events->into = records;
    events->app_text = NULL;
    events->newest_ms = -1;
    g_hash_table_remove_all(events->running);
}

const char *events_app(const Events *events) { return events->app; }

gsize events_waiting(const Events *events) { return spark_records_count(events->waiting); }

gboolean events_ended(const Events *events) { return events->ended; }

static const char *app_text(Events *events) {
    if (events->app_text == NULL) events->app_text = spark_text_shared(events->into, events->app, strlen(events->app));
    return events->app_text;
}

/* Every record begins with its application's key but those of hosts, which no event has. */
static void set_app(SparkKind kind, void *record, const char *app) {
    switch (kind) {
    case SPARK_APP: ((SparkApp *)record)->app = app; break;
    case SPARK_EXECUTOR: ((SparkExecutor *)record)->app = app; break;
    case SPARK_JOB: ((SparkJob *)record)->app = app; break;
    case SPARK_STAGE: ((SparkStage *)record)->app = app; break;
    case SPARK_TASK: ((SparkTask *)record)->app = app; break;
    case SPARK_QUERY: ((SparkQuery *)record)->app = app; break;
    case SPARK_PROFILE: ((SparkProfile *)record)->app = app; break;
    case SPARK_EXCLUSION: ((SparkExclusion *)record)->app = app; break;
    default: g_assert_not_reached();
    }
}

/* The application has a name: what waited for it goes on. */
static void release(Events *events) {
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) {
        const gsize size_bytes = spark_kind_size((SparkKind)kind);
        const GArray *waiting = events->waiting->of[kind];
        for (guint i = 0; i < waiting->len; i++) {
            void *record = waiting->data + i * size_bytes;
            set_app((SparkKind)kind, record, events->app);
            spark_records_copy(events->into, (SparkKind)kind, record);
        }
    }
    spark_records_clear(events->waiting);
}

void events_app_by_name(Events *events) {
    if (events->app != NULL) return;
    events->app = g_strdup(events->name);
    if (events_waiting(events) > 0) release(events);
}

/* A task that began in this batch: its end goes into the same record. */
static gboolean complete_task(Events *events, const SparkTask *task) {
    const guint at = GPOINTER_TO_UINT(g_hash_table_lookup(events->running, GSIZE_TO_POINTER((gsize)task->task)));
    if (at == 0) return FALSE;
    SparkTask *begun = &g_array_index(events->into->of[SPARK_TASK], SparkTask, at - 1);
    if (begun->stage != task->stage || begun->stage_attempt != task->stage_attempt) return FALSE;
    spark_record_merge(SPARK_TASK, begun, task);
    begun->app = app_text(events);
    g_hash_table_remove(events->running, GSIZE_TO_POINTER((gsize)task->task));
    return TRUE;
}

static void add_task(Events *events, EventRecord *record) {
    const SparkTask *task = &record->as.task;
    if (record->event == EVENT_TASK_END && complete_task(events, task)) return;
    GArray *tasks = events->into->of[SPARK_TASK];
    g_array_append_vals(tasks, task, 1);
    if (record->event == EVENT_TASK_START)
        g_hash_table_insert(events->running, GSIZE_TO_POINTER((gsize)task->task), GUINT_TO_POINTER(tasks->len));
}

/* Adaptive execution tells a query's plan again and again, each time whole: in a batch the last one does. */
static gboolean complete_query(Events *events, const SparkQuery *query) {
    const GArray *queries = events->into->of[SPARK_QUERY];
    for (guint i = queries->len; i > 0 && i + QUERIES_LOOKED_AT > queries->len; i--) {
        SparkQuery *known = &g_array_index(queries, SparkQuery, i - 1);
        if (known->query != query->query || known->part != query->part) continue;
        spark_record_merge(SPARK_QUERY, known, query);
        return TRUE;
    }
    return FALSE;
}

static void name_app(Events *events, SparkApp *app) {
    app->log_complete = 0;
    if (events->app != NULL) return; /* a log that begins again after it was named from before */
    if (app->id == NULL || app->id[0] == '\0') app->id = events->name;
    g_autofree char *key = spark_app_key(app->id, app->attempt);
    events->app = g_strndup(key, LIMIT_NAME_BYTES);
}

static void put(Events *events, EventRecord *record) {
    if (record->event == EVENT_APP_START) name_app(events, &record->as.app);
    if (record->event == EVENT_APP_END) events->ended = TRUE;
    if (events->app == NULL) {
        spark_records_copy(events->waiting, record->kind, &record->as);
        if (events_waiting(events) > WAITING_MOST) events_app_by_name(events);
        return;
    }
    if (events_waiting(events) > 0) release(events);
    set_app(record->kind, &record->as, app_text(events));
    if (record->kind == SPARK_QUERY && complete_query(events, &record->as.query)) return;
    if (record->kind == SPARK_TASK)
        add_task(events, record);
    else
        g_array_append_vals(events->into->of[record->kind], &record->as, 1);
}

EventResult events_take(Events *events, Bytes line, const char **problem) {
    if (line.size_bytes == 0) return EVENT_PASSED;
    EventKind kind = EVENT_OTHER;
    const char *text = line.data;
    if (line_kind(line, &kind) == LINE_OTHER) {
        if (text[line.size_bytes - 1] == '}') return EVENT_PASSED;
        *problem = "cut";
        return EVENT_BROKEN;
    }

    EventRecord record = {.texts = events->into};
    if (!task_line_parse(&events->groups, kind, line, &record) &&
        !json_events_parse(events->json, kind, line, &record, problem))
        return EVENT_BROKEN;
    if (record.kind == SPARK_KIND_COUNT) return EVENT_PASSED;

    if (record.kind != SPARK_APP) {
        set_app(record.kind, &record.as, events->name); /* any: what is looked at is the rest */
        const char *fault = spark_record_fault(record.kind, &record.as);
        if (fault != NULL) {
            *problem = fault;
            return EVENT_BROKEN;
        }
    }

    events->newest_ms = MAX(events->newest_ms, record.newest_ms);
    put(events, &record);
    return EVENT_TAKEN;
}

void events_close_batch(Events *events) {
    if (events->app == NULL || events->newest_ms < 0) return;
    SparkApp *app = spark_add_app(events->into);
    app->app = app_text(events);
    app->last_event_ms = events->newest_ms;
}
