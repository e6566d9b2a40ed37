#include "analyzer/query/spark/stage_waits.h"

#include <string.h>

#include "analyzer/diagnosis/order.h"
#include "analyzer/query/spark/diagnosis.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"

/* Many small files: so many a task, and of the time in HDFS this share for the NameNode, which is asked for each. */
#define FILES_OF_TASK  10u
#define NAMENODE_SHARE 0.25

/* ---- whom the tasks of a stage waited for ---- */

/* Of a host, or of one of its resources. */
typedef struct WaitSum {
    gint64 ns;
    gint64 task_ns; /* of the task at hand */
    guint32 waiting;
} WaitSum;

typedef struct ResourceSum {
    WaitSum sum;
    Suspect suspect;
    gint64 most_ns; /* of one function of it, which then names it */
} ResourceSum;

/* A host that tasks of the stage waited for. */
typedef struct HostSum {
    guint32 host;
    Role role;
    WaitSum sum;
    ResourceSum of[HDFS_RESOURCE_COUNT];
} HostSum;

static HostSum *host_sum(GArray *sums, const Suspect *suspect) {
    for (guint i = 0; i < sums->len; i++) {
        HostSum *sum = &g_array_index(sums, HostSum, i);
        if (sum->host == suspect->host && sum->role == suspect->role) return sum;
    }
    const HostSum fresh = {.host = suspect->host, .role = suspect->role};
    g_array_append_val(sums, fresh);
    return &g_array_index(sums, HostSum, sums->len - 1);
}

static void add_wait(WaitSum *sum, gint64 ns) {
    sum->ns += ns;
    sum->task_ns += ns;
}

static void add_resource(ResourceSum *resource, const Suspect *suspect) {
    const gint64 process_ns = resource->suspect.process_ns + suspect->process_ns;
    add_wait(&resource->sum, suspect->ns);
    if (suspect->ns > resource->most_ns) {
        resource->most_ns = suspect->ns;
        resource->suspect = *suspect;
    }
    resource->suspect.ns = resource->sum.ns;
    resource->suspect.process_ns = process_ns;
}

static void end_task(WaitSum *sum, gint64 duration_ns) {
    if ((double)sum->task_ns >= STAGE_WAIT_SHARE * (double)duration_ns) sum->waiting++;
    sum->task_ns = 0;
}

static void add_task(Archive *archive, const HdfsFacts *facts, gint64 duration_ns, GArray *sums) {
    g_autoptr(GArray) suspects = suspects_of_shares(archive, facts->shares);
    for (guint i = 0; i < suspects->len; i++) {
        const Suspect *suspect = &g_array_index(suspects, Suspect, i);
        if (suspect->role == ROLE_CLIENT || suspect->role == ROLE_LOCAL) continue; /* itself, or nobody */
        HostSum *host = host_sum(sums, suspect);
        add_wait(&host->sum, suspect->ns);
        add_resource(&host->of[suspect->resource], suspect);
    }
    for (guint i = 0; i < sums->len; i++) {
        HostSum *host = &g_array_index(sums, HostSum, i);
        end_task(&host->sum, duration_ns);
        for (guint k = 0; k < HDFS_RESOURCE_COUNT; k++) end_task(&host->of[k].sum, duration_ns);
    }
}

typedef struct StageReading {
    const Asked *asked;
    const TaskTable *table;
    StageWait *wait;
    GArray *sums;
} StageReading;

static void read_task(void *arg, guint32 row, const TaskHdfs *hdfs) {
    const StageReading *reading = arg;
    StageWait *wait = reading->wait;
    const gint64 duration_ns = (gint64)task_duration_ms(reading->table, row) * NS_PER_MS;
    wait->read++;
    wait->duration_ns += duration_ns;
    wait->hdfs_ns += hdfs->facts.hdfs_ns;
    wait->namenode_ns += hdfs->facts.namenode_ns;
    wait->bytes += hdfs->facts.bytes;
    wait->files += hdfs->facts.files;
    add_task(reading->asked->archive, &hdfs->facts, duration_ns, reading->sums);
}

static gboolean read_stage(const Asked *asked, AppCauses *causes, StageWait *wait, GArray *sums, GError **error) {
    StageReading reading = {asked, causes->tasks->table, wait, sums};
    return app_hdfs_visit_stage(causes->hdfs, causes->stragglers, wait->stage,
                                (TaskHdfsVisitor){read_task, &reading, STAGE_TASKS_READ}, error);
}

static Period period_of(const AppCauses *causes, guint32 stage) {
    const StageTasks *tasks = &causes->stragglers->stages[stage];
    const TaskTable *table = causes->tasks->table;
    gint64 first_ms = G_MAXINT64, last_ms = G_MININT64;
    for (guint32 i = 0; i < tasks->n; i++) {
        const guint32 row = causes->stragglers->order[tasks->first + i];
        first_ms = MIN(first_ms, table->begin_ms[row]);
        last_ms = MAX(last_ms, table->end_ms[row]);
    }
    return (Period){first_ms * NS_PER_MS, (last_ms + 1) * NS_PER_MS};
}

/* ---- which host, and what of it ---- */

typedef struct Judging {
    const Asked *asked;
    const AppCauses *causes;
    Standing *standing;
    StageWait *wait;
} Judging;

static gboolean all_wait(const StageWait *wait, const WaitSum *sum) {
    return (double)sum->ns >= STAGE_WAIT_SHARE * (double)wait->duration_ns &&
           sum->waiting >= STAGE_WAITING_SHARE * wait->read;
}

/* The network's calls are the clients': of no use for judging a server. */
static gboolean judge(const Judging *judging, const Suspect *suspect, PaceFound *pace, GError **error) {
    if (suspect->resource == HDFS_NETWORK) return TRUE;
    Archive *archive = judging->asked->archive;
    g_auto(Normals) normals = {.period = {0}};
    const NormalAsk ask = {suspect->name, suspect->host, period_of(judging->causes, judging->wait->stage)};
    if (!normals_load(archive, &ask, &normals, error)) return FALSE;
    *pace = normals_pace_there(&normals, PACE_OF_SELF);
    if (pace->pace != PACE_SLOW && work_is_waited(dict_text(archive_dict(archive), suspect->name, NULL), suspect->role))
        *pace = normals_pace_there(&normals, PACE_OF_CRITICAL);
    return TRUE;
}

/* What of the host took most; 'but': apart from that. NULL: nothing. */
static const ResourceSum *most_of(const HostSum *host, HdfsResource but) {
    const ResourceSum *most = NULL;
    for (guint i = 0; i < HDFS_RESOURCE_COUNT; i++) {
        const ResourceSum *sum = &host->of[i];
        if (i != but && sum->sum.ns > 0 && (!most || sum->sum.ns > most->sum.ns)) most = sum;
    }
    return most;
}

static void name_resource(StageWait *wait, const Suspect *suspect, const WaitSum *waiting) {
    wait->waits = TRUE;
    wait->suspect = *suspect;
    wait->waiting = waiting->waiting;
}

static void name_split(StageWait *wait, const HostSum *host, const Suspect *suspect) {
    name_resource(wait, suspect, &host->sum);
    wait->split = TRUE;
    wait->host_ns = host->sum.ns;
    for (guint i = 0; i < HDFS_RESOURCE_COUNT; i++) wait->split_ns[i] = host->of[i].sum.ns;
}

/* Whoever has no processor is slow in all that he does: where none of its own work was waited for, another function of
 * it shows that. */
static gboolean name_by_spell(const Judging *judging, const HostSum *host, GError **error) {
    StageWait *wait = judging->wait;
    const StandingAsk ask = {host->host, 1u << WORK_PROCESSOR | 1u << WORK_STANDSTILL,
                             period_of(judging->causes, wait->stage)};
    if (!standing_slow_in(judging->standing, &ask, &wait->by_spell, error)) return FALSE;
    if (!wait->by_spell) return TRUE;
    const ResourceSum *shown = &host->of[HDFS_SERVER];
    if (shown->sum.ns == 0) shown = most_of(host, HDFS_NETWORK);
    if (!shown) shown = &host->of[HDFS_NETWORK];
    Suspect suspect = shown->suspect;
    if (!judge(judging, &suspect, &wait->pace, error)) return FALSE;
    suspect.resource = HDFS_SERVER;
    suspect.ns = host->of[HDFS_SERVER].sum.ns;
    name_split(wait, host, &suspect);
    return TRUE;
}

/* No resource has as much by itself. Its processor is named when its work is slow and takes a good part of that, else
 * what takes most of what can be compared, when that is slow. */
static gboolean name_by_pace(const Judging *judging, const HostSum *host, GError **error) {
    const ResourceSum *server = &host->of[HDFS_SERVER], *most = most_of(host, HDFS_NETWORK);
    const ResourceSum *const candidates[] = {
        (double)server->sum.ns >= STAGE_WAIT_SHARE * (double)host->sum.ns ? server : NULL, most};
    for (guint i = 0; i < G_N_ELEMENTS(candidates); i++) {
        PaceFound pace = {.pace = PACE_UNKNOWN};
        if (!candidates[i]) continue;
        if (!judge(judging, &candidates[i]->suspect, &pace, error)) return FALSE;
        if (pace.pace != PACE_SLOW || pace.times < STAGE_TIMES_USUAL) continue;
        judging->wait->pace = pace;
        name_split(judging->wait, host, &candidates[i]->suspect);
        return TRUE;
    }
    return TRUE;
}

/* Of all hosts, the one that was waited for most, how much the next one was, and the resource that was. */
typedef struct MostWaited {
    const HostSum *host;
    gint64 second_ns;
    const ResourceSum *resource;
} MostWaited;

static MostWaited most_waited(const GArray *sums) {
    MostWaited most = {NULL, 0, NULL};
    for (guint i = 0; i < sums->len; i++) {
        const HostSum *host = &g_array_index(sums, HostSum, i);
        const ResourceSum *resource = most_of(host, HDFS_RESOURCE_COUNT);
        if (!most.resource || resource->sum.ns > most.resource->sum.ns) most.resource = resource;
        if (most.host && host->sum.ns <= most.host->sum.ns) {
            most.second_ns = MAX(most.second_ns, host->sum.ns);
            continue;
        }
        most.second_ns = most.host ? most.host->sum.ns : 0;
        most.host = host;
    }
    return most;
}

static gboolean is_of(const ResourceSum *resource, const HostSum *host) {
    return resource == &host->of[resource->suspect.resource];
}

/* Of another host only what can be judged. */
static gboolean find_host(const Judging *judging, AppCauses *causes, GError **error) {
    StageWait *wait = judging->wait;
    g_autoptr(GArray) sums = g_array_new(FALSE, FALSE, sizeof(HostSum));
    if (!read_stage(judging->asked, causes, wait, sums, error)) return FALSE;
    const MostWaited most = most_waited(sums);
    if (!most.host || wait->read < STAGE_TASKS_LEAST) return TRUE;
    if (all_wait(wait, &most.host->sum) && !name_by_spell(judging, most.host, error)) return FALSE;
    if (wait->waits) return TRUE;

    const ResourceSum *resource = most.resource;
    if (all_wait(wait, &resource->sum) && (is_of(resource, most.host) || resource->suspect.resource != HDFS_NETWORK)) {
        name_resource(wait, &resource->suspect, &resource->sum);
        return judge(judging, &wait->suspect, &wait->pace, error);
    }
    const gboolean alone = most.host->sum.ns >= STAGE_TIMES_OTHERS * most.second_ns;
    return !alone || !all_wait(wait, &most.host->sum) || name_by_pace(judging, most.host, error);
}

/* ---- earlier runs ---- */

typedef struct Runs {
    GPtrArray *tasks, *stragglers; /* AppTasks, Stragglers of each run */
} Runs;

static void runs_clear(Runs *runs) {
    g_ptr_array_unref(runs->tasks);
    g_ptr_array_unref(runs->stragglers);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Runs, runs_clear)

static gboolean is_earlier_run(const AppEntry *entry, const SparkApp *app) {
    return entry->app && entry->app->name && app->name && strcmp(entry->app->name, app->name) == 0 &&
           entry->app->start_ms < app->start_ms && entry->records[SPARK_TASK] > 0 &&
           entry->records[SPARK_TASK] <= STAGE_RUN_TASKS;
}

/* The newest ones, whose list is sorted by that. */
static gboolean load_runs(const Asked *asked, const AppList *list, const SparkApp *app, Runs *runs, GError **error) {
    for (guint i = 0; i < list->entries->len && runs->tasks->len < STAGE_RUNS_MOST; i++) {
        const AppEntry *entry = &g_array_index(list->entries, AppEntry, i);
        if (!is_earlier_run(entry, app)) continue;
        AppTasks *tasks = app_tasks_load(asked->archive, entry->key, asked->now_ns / NS_PER_MS, error);
        if (!tasks) return FALSE;
        g_ptr_array_add(runs->tasks, tasks);
        g_ptr_array_add(runs->stragglers, stragglers_find(tasks->table, STRAGGLER_RATIO));
    }
    return TRUE;
}

/* The median of the same stage in a run, of as many tasks; -1: it has none. */
static double median_in(const AppTasks *tasks, const Stragglers *stragglers, const AppStage *like, guint32 n) {
    for (guint32 s = 0; s < stragglers->n_stages; s++) {
        const AppStage *stage = app_stage(tasks, s);
        if (stage->stage != like->stage || stage->attempt != like->attempt) continue;
        return stragglers->stages[s].n_counted == n ? stragglers->stages[s].median_ms : -1;
    }
    return -1;
}

static void compare_runs(const AppCauses *causes, const Runs *runs, StageWait *wait) {
    double medians[STAGE_RUNS_MOST];
    const StageTasks *stage = &causes->stragglers->stages[wait->stage];
    for (guint i = 0; i < runs->tasks->len; i++) {
        const double median_ms = median_in(runs->tasks->pdata[i], runs->stragglers->pdata[i],
                                           app_stage(causes->tasks, wait->stage), stage->n_counted);
        if (median_ms >= 0) medians[wait->earlier_runs++] = median_ms;
    }
    if (wait->earlier_runs == 0) return;
    wait->earlier_ms = order_median(medians, wait->earlier_runs);
    wait->times_earlier = stage->median_ms / MAX(wait->earlier_ms, 1);
}

/* ---- the stages ---- */

static gboolean many_files(const StageWait *wait) {
    return wait->read > 0 && wait->files >= (guint64)FILES_OF_TASK * wait->read &&
           (double)wait->namenode_ns >= NAMENODE_SHARE * (double)wait->hdfs_ns &&
           (double)wait->namenode_ns >= STAGE_WAIT_SHARE * (double)wait->duration_ns;
}

static gboolean worth_telling(const StageWait *wait) {
    return (wait->waits && (wait->by_spell || wait->pace.pace != PACE_NORMAL)) || many_files(wait) ||
           (wait->earlier_runs > 0 && wait->times_earlier >= STAGE_TIMES_EARLIER);
}

/* By the time that tasks took. */
static gint most_first(gconstpointer a, gconstpointer b) {
    const StageWait *x = a, *y = b;
    if (x->duration_ns != y->duration_ns) return x->duration_ns > y->duration_ns ? -1 : 1;
    return x->stage < y->stage ? -1 : 1;
}

/* About what its tasks took, ms. */
static double cost_ms(const StageTasks *stage) { return stage->n_counted * stage->median_ms; }

static gint by_cost(gconstpointer a, gconstpointer b, gpointer arg) {
    const Stragglers *stragglers = arg;
    const guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
    const double first = cost_ms(&stragglers->stages[x]), second = cost_ms(&stragglers->stages[y]);
    if (first != second) return first > second ? -1 : 1;
    return x < y ? -1 : 1;
}

/* The numbers of the stages that can be judged, those that took most first: of many not all are read. */
static GArray *stages_to_read(const Stragglers *stragglers) {
    GArray *stages = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 s = 0; s < stragglers->n_stages; s++)
        if (stragglers->stages[s].n_counted >= STAGE_TASKS_LEAST) g_array_append_val(stages, s);
    allowance_sort(stages->data, stages->len, sizeof(guint32), by_cost, (gpointer)stragglers);
    return stages;
}

GArray *stage_waits_find(const Asked *asked, AppCauses *causes, const AppList *list, Standing *standing,
                         GError **error) {
    g_autoptr(GArray) found = g_array_new(FALSE, TRUE, sizeof(StageWait));
    g_auto(Runs) runs = {g_ptr_array_new_with_free_func((GDestroyNotify)app_tasks_free),
                         g_ptr_array_new_with_free_func((GDestroyNotify)stragglers_free)};
    if (!load_runs(asked, list, &causes->tasks->app, &runs, error)) return NULL;
    gint64 stage, attempt;
    guint32 read = 0;
    if (!asked_stage(asked, &stage, &attempt, error)) return NULL;

    g_autoptr(GArray) stages = stages_to_read(causes->stragglers);
    for (guint i = 0; i < stages->len; i++) {
        StageWait wait = {.stage = g_array_index(stages, guint32, i)};
        const AppStage *known = app_stage(causes->tasks, wait.stage);
        if ((stage >= 0 && known->stage != stage) || (attempt >= 0 && known->attempt != attempt)) continue;
        compare_runs(causes, &runs, &wait);
        const Judging judging = {asked, causes, standing, &wait};
        if (read < STAGE_TASKS_READ_ALL && !find_host(&judging, causes, error)) return NULL;
        read += wait.read;
        if (worth_telling(&wait)) g_array_append_val(found, wait);
    }

    g_array_sort(found, most_first);
    return g_steal_pointer(&found);
}

/* ---- JSON ---- */

static json_t *earlier_json(const StageWait *wait) {
    json_t *object = json_object();
    json_object_set_new(object, "runs", json_count(wait->earlier_runs));
    json_object_set_new(object, "median_ns", json_integer((gint64)(wait->earlier_ms * NS_PER_MS)));
    json_set_number(object, "times", wait->times_earlier);
    return object;
}

/* The resource that has the most time, of those that are not told yet. */
static guint next_split(const StageWait *wait, guint32 told) {
    guint most = HDFS_RESOURCE_COUNT;
    for (guint i = 0; i < HDFS_RESOURCE_COUNT; i++) {
        if (told & 1u << i || wait->split_ns[i] <= 0) continue;
        if (most == HDFS_RESOURCE_COUNT || wait->split_ns[i] > wait->split_ns[most]) most = i;
    }
    return most;
}

static json_t *split_json(const StageWait *wait) {
    json_t *object = json_object(), *resources = json_object();
    guint i;
    json_object_set_new(object, "time_ns", json_integer(wait->host_ns));
    json_object_set_new(object, "resources_ns", resources);
    for (guint32 told = 0; (i = next_split(wait, told)) < HDFS_RESOURCE_COUNT; told |= 1u << i)
        json_object_set_new(resources, hdfs_resource_name((HdfsResource)i), json_integer(wait->split_ns[i]));
    return object;
}

static json_t *stage_json(const AppCauses *causes, const StageWait *wait) {
    const AppStage *stage = app_stage(causes->tasks, wait->stage);
    const StageTasks *tasks = &causes->stragglers->stages[wait->stage];
    json_t *object = json_object();
    json_object_set_new(object, "stage", json_integer(stage->stage));
    json_object_set_new(object, "stage_attempt", json_integer(stage->attempt));
    json_object_set_new(object, "tasks", json_integer(tasks->n_counted));
    json_object_set_new(object, "median_ns", json_integer((gint64)(tasks->median_ms * NS_PER_MS)));

    json_object_set_new(object, "tasks_read", json_integer(wait->read));
    json_object_set_new(object, "duration_ns", json_integer(wait->duration_ns));
    json_object_set_new(object, "time_ns", json_integer(wait->hdfs_ns));
    json_object_set_new(object, "namenode_ns", json_integer(wait->namenode_ns));
    json_object_set_new(object, "files", json_count(wait->files));
    json_object_set_new(object, "bytes", json_integer(wait->bytes));
    json_object_set_new(object, "many_files", json_boolean(many_files(wait)));
    if (wait->earlier_runs > 0) json_object_set_new(object, "earlier", earlier_json(wait));

    if (wait->waits) json_object_set_new(object, "tasks_waiting", json_integer(wait->waiting));
    if (wait->split) json_object_set_new(object, "split", split_json(wait));
    return object;
}

json_t *stage_waits_json(const AppCauses *causes, const GArray *found, Archive *archive, Standing *standing,
                         GError **error) {
    json_auto_t *list = json_array();
    for (guint i = 0; i < found->len; i++) {
        const StageWait *wait = &g_array_index(found, StageWait, i);
        json_t *object = stage_json(causes, wait);
        json_array_append_new(list, object);
        if (!wait->waits) continue;
        json_t *suspect = suspect_json(archive, &wait->suspect);
        json_object_set_new(object, "suspect", suspect);
        suspect_add_pace(suspect, &wait->suspect, &wait->pace);
        if (!suspect_add_standing(&wait->suspect, standing, suspect, error)) return NULL;
    }
    return g_steal_pointer(&list);
}
