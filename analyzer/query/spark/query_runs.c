/* Two runs of an application: which stages became slower, and whom their tasks waited for longer in HDFS. */
#include <math.h>
#include <string.h>

#include "analyzer/query/spans/change.h"
#include "analyzer/query/spark/diagnosis.h"
#include "analyzer/query/spark/spark_answers.h"
#include "analyzer/query/spark/tasks/run.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/error.h"

#define DEFAULT_LIMIT 20u
/* Of what a stage waited for so much is told. */
#define WAITS_SHOWN 8u
/* Event logs count in ms: what rounding adds to the variance of a duration. */
#define ROUNDING_MS2 (1.0 / 12)

/* A stage on both sides; NULL: it is not there. */
typedef struct Pair {
    RunStage *a, *b;
    double change_ms; /* of a task's mean */
    double z;         /* NAN: a side has a single task */
    double total_ms;  /* over all tasks */
} Pair;

typedef struct WaitPair {
    const RunWait *a, *b;
    double a_ns, b_ns; /* a task */
} WaitPair;

/* ---- which two ---- */

/* The newest run of that name that began before. */
static const AppEntry *earlier_than(const AppList *list, const AppEntry *entry, GError **error) {
    const char *name = entry->app ? entry->app->name : NULL;
    for (guint i = 0; name && i < list->entries->len; i++) {
        const AppEntry *other = &g_array_index(list->entries, AppEntry, i);
        if (other->app && other->app->name && strcmp(other->app->name, name) == 0 &&
            other->app->start_ms < entry->app->start_ms && other->records[SPARK_TASK] > 0)
            return other;
    }
    fail(error, PLUMB_ERROR_NOT_FOUND, "no earlier run of \"%s\" is stored: plumb apps lists what is",
         name ? name : entry->key);
    return NULL;
}

static gboolean find_both(const Asked *asked, const AppList *list, const AppEntry **a, const AppEntry **b,
                          GError **error) {
    const char *first = params_text(asked->params, "a");
    *a = NULL;
    *b = app_list_find(list, params_text(asked->params, "b"), error);
    if (!*b) return FALSE;
    *a = !first || strcmp(first, "earlier") == 0 ? earlier_than(list, *b, error) : app_list_find(list, first, error);
    if (!*a) return FALSE;
    if (*a != *b) return TRUE;
    return fail(error, PLUMB_ERROR_INPUT,
                "both are %s: give two runs, or \"earlier\" for the one before; plumb apps lists them", (*a)->key);
}

/* ---- pairs ---- */

/* The stage with that name, the so-and-so-manieth of them; without a name that with the number. */
static RunStage *namesake(const Run *run, const Run *other, const RunStage *stage) {
    const gint64 number = app_stage(run->tasks, stage->number)->stage;
    for (guint i = 0; i < other->stages->len; i++) {
        RunStage *candidate = run_stage(other, i);
        if (strcmp(candidate->name, stage->name) != 0) continue;
        const gboolean same =
            stage->name[0] ? candidate->nth == stage->nth : app_stage(other->tasks, candidate->number)->stage == number;
        if (same) return candidate;
    }
    return NULL;
}

static gboolean by_name(const RunStage *stage) { return stage->other && strcmp(stage->other->name, stage->name) == 0; }

/* The length of "count" in "count at Words.java:12"; 0: it is named after its plan, or a thread of Spark began it. */
static gsize call_length(const char *name) {
    const char *at = name[0] != '$' ? strstr(name, " at ") : NULL;
    return at ? (gsize)(at - name) : 0;
}

static gboolean alike(const RunStage *a, const RunStage *b) {
    const gsize first = call_length(a->name), second = call_length(b->name);
    if (a->query != b->query || a->tasks != b->tasks) return FALSE;
    return first == 0 || second == 0 || (first == second && strncmp(a->name, b->name, first) == 0);
}

/* Of the stages of a query. */
typedef struct OfQuery {
    GPtrArray *alike; /* RunStage */
    gboolean named;   /* has any a namesake in the other run? */
} OfQuery;

static OfQuery of_query(const Run *run, const RunStage *like) {
    OfQuery found = {g_ptr_array_new(), FALSE};
    for (guint i = 0; i < run->stages->len; i++) {
        RunStage *stage = run_stage(run, i);
        if (stage->query != like->query) continue;
        found.named |= by_name(stage);
        if (!stage->other && alike(stage, like)) g_ptr_array_add(found.alike, stage);
    }
    return found;
}

/* Another version of Spark or of the program may name all stages of a query otherwise, after its plan or after lines of
 * the program: those with the same call and as many tasks belong together in their order, where both runs have as many
 * of them. */
static void match_by_place(const Run *a, const Run *b) {
    for (guint i = 0; i < b->stages->len && allowance_goes_on(); i++) {
        if (run_stage(b, i)->other) continue;
        const OfQuery first = of_query(a, run_stage(b, i)), second = of_query(b, run_stage(b, i));
        const gboolean same = !first.named && !second.named && first.alike->len == second.alike->len;
        for (guint k = 0; same && k < first.alike->len; k++) {
            RunStage *of_a = first.alike->pdata[k], *of_b = second.alike->pdata[k];
            of_a->other = of_b;
            of_b->other = of_a;
        }
        g_ptr_array_unref(first.alike);
        g_ptr_array_unref(second.alike);
    }
}

static void match(const Run *a, const Run *b) {
    for (guint i = 0; i < a->stages->len; i++) run_stage(a, i)->other = namesake(a, b, run_stage(a, i));
    for (guint i = 0; i < b->stages->len; i++) run_stage(b, i)->other = namesake(b, a, run_stage(b, i));
    match_by_place(a, b);
}

static Pair pair_of(RunStage *a, RunStage *b) {
    Pair pair = {a, b, 0, NAN, 0};
    if (!a || !b) {
        pair.total_ms = b ? b->mean_ms * b->tasks : -a->mean_ms * a->tasks;
        return pair;
    }
    pair.change_ms = b->mean_ms - a->mean_ms;
    pair.total_ms = pair.change_ms * b->tasks;
    if (a->tasks > 1 && b->tasks > 1)
        pair.z = pair.change_ms /
                 sqrt((a->variance_ms + ROUNDING_MS2) / a->tasks + (b->variance_ms + ROUNDING_MS2) / b->tasks);
    return pair;
}

static const char *state_of(const Pair *pair) {
    if (!pair->a) return "new";
    if (!pair->b) return "gone";
    const double change = fabs(pair->change_ms);
    const gboolean sure = isnan(pair->z) ? change > 1 : fabs(pair->z) >= CHANGE_MIN_Z;
    if (!sure || change < CHANGE_MIN_PERCENT / 100 * pair->a->mean_ms) return "same";
    return pair->change_ms > 0 ? "slower" : "faster";
}

/* What became slower first, by the time of all tasks. */
static gint most_first(gconstpointer a, gconstpointer b) {
    const Pair *x = a, *y = b;
    if (x->total_ms != y->total_ms) return x->total_ms > y->total_ms ? -1 : 1;
    const guint32 first = x->b ? x->b->number : x->a->number, second = y->b ? y->b->number : y->a->number;
    return (first > second) - (first < second);
}

static gboolean wanted(const Run *run, const RunStage *stage, gint64 number, gint64 attempt) {
    const AppStage *known = app_stage(run->tasks, stage->number);
    return (number < 0 || known->stage == number) && (attempt < 0 || known->attempt == attempt);
}

/* stage, attempt: of b; -1: all, and those of a that b lacks. */
static GArray *pairs_of(const Run *a, const Run *b, gint64 stage, gint64 attempt) {
    GArray *pairs = g_array_new(FALSE, FALSE, sizeof(Pair));
    match(a, b);
    for (guint i = 0; i < b->stages->len; i++) {
        if (!wanted(b, run_stage(b, i), stage, attempt)) continue;
        const Pair pair = pair_of(run_stage(b, i)->other, run_stage(b, i));
        g_array_append_val(pairs, pair);
    }
    for (guint i = 0; stage < 0 && i < a->stages->len; i++) {
        if (run_stage(a, i)->other) continue;
        const Pair pair = pair_of(run_stage(a, i), NULL);
        g_array_append_val(pairs, pair);
    }
    g_array_sort(pairs, most_first);
    return pairs;
}

/* ---- what they waited for ---- */

static gboolean same_wait(const RunWait *a, const RunWait *b) {
    return a->host == b->host && a->function == b->function && a->role == b->role && a->resource == b->resource;
}

static double per_task(const RunStage *stage, const RunWait *wait) {
    return stage && wait && stage->tasks_read > 0 ? (double)wait->ns / stage->tasks_read : 0;
}

static void add_waits(const Pair *pair, const RunStage *of, const RunStage *other, GArray *waits) {
    for (guint i = 0; of && i < of->waits->len; i++) {
        const RunWait *wait = &g_array_index(of->waits, RunWait, i), *there = NULL;
        for (guint j = 0; other && j < other->waits->len && !there; j++) {
            const RunWait *candidate = &g_array_index(other->waits, RunWait, j);
            if (same_wait(wait, candidate)) there = candidate;
        }
        if (of == pair->a && there) continue; /* is listed already */
        const RunWait *a = of == pair->a ? wait : there, *b = of == pair->a ? NULL : wait;
        const WaitPair both = {a, b, per_task(pair->a, a), per_task(pair->b, b)};
        g_array_append_val(waits, both);
    }
}

/* What grew most first. */
static gint by_growth(gconstpointer a, gconstpointer b) {
    const WaitPair *x = a, *y = b;
    const double first = x->b_ns - x->a_ns, second = y->b_ns - y->a_ns;
    if (first != second) return first > second ? -1 : 1;
    const guint32 f = (x->b ? x->b : x->a)->function, s = (y->b ? y->b : y->a)->function;
    return (f > s) - (f < s);
}

static json_t *wait_json(const Asked *asked, const WaitPair *both) {
    const RunWait *wait = both->b ? both->b : both->a;
    json_t *object = json_object();
    json_object_set_new(object, "host", json_name(asked->archive, wait->host));
    json_object_set_new(object, "role", json_string(role_name(wait->role)));
    json_object_set_new(object, "resource", json_string(hdfs_resource_name(wait->resource)));
    json_object_set_new(object, "function", json_name(asked->archive, wait->function));
    json_object_set_new(object, "a_ns", json_integer(llround(both->a_ns)));
    json_object_set_new(object, "b_ns", json_integer(llround(both->b_ns)));
    json_object_set_new(object, "change_ns", json_integer(llround(both->b_ns - both->a_ns)));
    if (!both->b) return object;
    json_object_set_new(object, "task", json_integer(both->b->task));
    json_object_set_new(object, "trace", json_trace_id(both->b->trace));
    return object;
}

static json_t *waits_json(const Asked *asked, const Pair *pair) {
    g_autoptr(GArray) waits = g_array_new(FALSE, FALSE, sizeof(WaitPair));
    json_t *list = json_array();
    add_waits(pair, pair->b, pair->a, waits);
    add_waits(pair, pair->a, pair->b, waits);
    g_array_sort(waits, by_growth);
    for (guint i = 0; i < waits->len && i < WAITS_SHOWN; i++)
        json_array_append_new(list, wait_json(asked, &g_array_index(waits, WaitPair, i)));
    return list;
}

/* ---- JSON ---- */

static void add_mean(json_t *object, const char *name, double value) {
    if (!isnan(value)) json_object_set_new(object, name, json_integer(llround(value)));
}

static json_t *side_json(const Run *run, const RunStage *stage) {
    const AppStage *known = app_stage(run->tasks, stage->number);
    json_t *object = json_object();
    json_object_set_new(object, "stage", json_integer(known->stage));
    json_object_set_new(object, "stage_attempt", json_integer(known->attempt));
    json_object_set_new(object, "tasks", json_count(stage->tasks));
    add_mean(object, "mean_ns", stage->mean_ms * NS_PER_MS);
    json_object_set_new(object, "median_ns",
                        json_integer(llround(run->stragglers->stages[stage->number].median_ms * NS_PER_MS)));
    add_mean(object, "read_bytes", run_stage_mean(run, stage, "read_bytes"));
    add_mean(object, "shuffle_read_bytes", run_stage_mean(run, stage, "shuffle_read_bytes"));
    add_mean(object, "gc_ns", run_stage_mean(run, stage, "jvm_gc_time") * NS_PER_MS);

    json_object_set_new(object, "tasks_read", json_count(stage->tasks_read));
    if (stage->tasks_read > 0) add_mean(object, "hdfs_ns", (double)stage->hdfs_ns / stage->tasks_read);
    return object;
}

static json_t *pair_json(Run *a, Run *b, const Pair *pair, GError **error) {
    if ((pair->a && !run_stage_read(a, pair->a, error)) || (pair->b && !run_stage_read(b, pair->b, error))) return NULL;
    json_t *object = json_object();
    const char *name = (pair->b ? pair->b : pair->a)->name;
    if (name[0]) json_add_text(object, "name", name);
    json_object_set_new(object, "state", json_string(state_of(pair)));
    if (pair->a) json_object_set_new(object, "a", side_json(a, pair->a));
    if (pair->b) json_object_set_new(object, "b", side_json(b, pair->b));
    json_object_set_new(object, "total_change_ns", json_integer(llround(pair->total_ms * NS_PER_MS)));
    if (!pair->a || !pair->b) return object;

    if (!by_name(pair->b)) json_add_text(object, "a_name", pair->a->name);
    add_mean(object, "mean_change_ns", pair->change_ms * NS_PER_MS);
    if (pair->a->mean_ms > 0) json_set_number(object, "times", pair->b->mean_ms / pair->a->mean_ms);
    json_set_number(object, "z", pair->z);
    json_object_set_new(object, "waits", waits_json(b->asked, pair));
    return object;
}

static json_t *app_json(const Asked *asked, const AppEntry *entry) {
    json_t *object = json_object();
    json_add_app(asked, object, entry);
    return object;
}

json_t *answer_runs(const Asked *asked, GError **error) {
    const AppEntry *first, *second;
    guint64 limit = DEFAULT_LIMIT;
    gint64 stage, attempt;
    const char *b_name = params_text(asked->params, "b");
    if (!b_name || !*b_name) {
        fail(error, PLUMB_ERROR_INPUT,
             "\"runs\" needs b: an application's id, the beginning of it, its name, or \"latest\"");
        return NULL;
    }
    if (!params_count(asked->params, "limit", &limit, error) || !asked_stage(asked, &stage, &attempt, error))
        return NULL;
    g_autoptr(AppList) list = app_list_load(asked->archive, error);
    if (!list || !find_both(asked, list, &first, &second, error)) return NULL;

    g_autoptr(Run) a = run_load(asked, first->key, error);
    g_autoptr(Run) b = a ? run_load(asked, second->key, error) : NULL;
    if (!b) return NULL;
    g_autoptr(GArray) pairs = pairs_of(a, b, stage, attempt);
    json_auto_t *answer = json_object();
    json_t *rows = json_array();
    json_object_set_new(answer, "a", app_json(asked, first));
    json_object_set_new(answer, "b", app_json(asked, second));
    json_object_set_new(answer, "stages", rows);
    const guint n = answer_rows(asked, limit, pairs->len, answer);
    for (guint i = 0; i < n; i++) {
        json_t *row = pair_json(a, b, &g_array_index(pairs, Pair, i), error);
        if (!row) return NULL;
        json_array_append_new(rows, row);
    }
    return g_steal_pointer(&answer);
}
