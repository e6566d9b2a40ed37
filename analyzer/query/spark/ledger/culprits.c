#include "analyzer/query/spark/ledger/culprits.h"

#include <string.h>

#include "analyzer/diagnosis/replay.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"

typedef struct Culprit {
    const char *feature, *host;
    FeatureTopic topic;
    double explains_ms, saves_ms;
    GArray *causes; /* CulpritCause, by straggler, so by stage */
} Culprit;

static void culprit_clear(gpointer data) {
    Culprit *culprit = data;
    g_array_unref(culprit->causes);
}

static Culprit *culprit_of(GArray *culprits, const CulpritCause *cause) {
    for (guint i = 0; i < culprits->len; i++) {
        Culprit *known = &g_array_index(culprits, Culprit, i);
        if (strcmp(known->feature, cause->feature) == 0 && g_strcmp0(known->host, cause->host) == 0) return known;
    }
    const Culprit fresh = {.feature = cause->feature,
                           .host = cause->host,
                           .topic = cause->topic,
                           .causes = g_array_new(FALSE, FALSE, sizeof(CulpritCause))};
    g_array_append_val(culprits, fresh);
    return &g_array_index(culprits, Culprit, culprits->len - 1);
}

static GArray *find_culprits(const GArray *causes) {
    GArray *culprits = g_array_new(FALSE, FALSE, sizeof(Culprit));
    g_array_set_clear_func(culprits, culprit_clear);
    for (guint i = 0; i < causes->len && allowance_goes_on(); i++) {
        const CulpritCause *cause = &g_array_index(causes, CulpritCause, i);
        Culprit *culprit = culprit_of(culprits, cause);
        culprit->explains_ms += cause->explains_ms;
        g_array_append_vals(culprit->causes, cause, 1);
    }
    return culprits;
}

/* ---- the replay ---- */

/* The judged tasks of a stage, in the order of their begin. */
typedef struct Replayed {
    guint32 n, slots;
    guint32 *place; /* of each task of the stage, in its order; G_MAXUINT32: not judged */
    double *took;
} Replayed;

static void replayed_clear(Replayed *replayed) {
    g_free(replayed->place);
    g_free(replayed->took);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Replayed, replayed_clear)

static Replayed replayed_of(const TaskTable *table, const Stragglers *stragglers, const StageTasks *stage) {
    Replayed replayed = {.place = g_new(guint32, (gsize)stage->n + 1), .took = g_new0(double, (gsize)stage->n + 1)};
    g_autofree double *begins = g_new(double, (gsize)stage->n + 1), *durations = g_new(double, (gsize)stage->n + 1);
    g_autofree guint32 *order = g_new(guint32, (gsize)stage->n + 1);
    for (guint32 i = 0; i < stage->n; i++) {
        const guint32 row = stragglers->order[stage->first + i];
        const gboolean judged = table->flags[row] & ROW_JUDGED;
        replayed.place[i] = judged ? replayed.n : G_MAXUINT32;
        if (!judged) continue;
        begins[replayed.n] = (double)table->begin_ms[row];
        durations[replayed.n++] = task_duration_ms(table, row);
    }

    replayed.slots = MAX(1, replay_slots(begins, durations, replayed.n));
    replay_order(begins, replayed.n, order);
    for (guint32 i = 0; i < replayed.n; i++) replayed.took[order[i]] = durations[i];
    for (guint32 i = 0; i < stage->n; i++)
        if (replayed.place[i] != G_MAXUINT32) replayed.place[i] = order[replayed.place[i]];
    return replayed;
}

typedef struct Replay {
    const TaskTable *table;
    const Stragglers *stragglers;
} Replay;

static guint32 task_of(const Replay *replay, const CulpritCause *cause) {
    return replay->stragglers->list[cause->straggler].task;
}

/* Of causes[0..n), all of one stage. */
static double saved_ms(const Replay *replay, const CulpritCause *causes, guint n) {
    const Stragglers *stragglers = replay->stragglers;
    const StageTasks *stage = &stragglers->stages[replay->table->stage[task_of(replay, &causes[0])]];
    g_auto(Replayed) replayed = replayed_of(replay->table, stragglers, stage);
    const double whole_ms = replay_ms(replayed.took, replayed.n, replayed.slots);

    guint next = 0;
    for (guint32 i = 0; i < stage->n && next < n; i++) {
        if (stragglers->order[stage->first + i] != task_of(replay, &causes[next])) continue;
        if (replayed.place[i] != G_MAXUINT32) replayed.took[replayed.place[i]] -= causes[next].explains_ms;
        next++;
    }
    return MAX(0, whole_ms - replay_ms(replayed.took, replayed.n, replayed.slots));
}

static void replay_culprit(const Replay *replay, Culprit *culprit) {
    const CulpritCause *causes = &g_array_index(culprit->causes, CulpritCause, 0);
    const guint32 *stage = replay->table->stage;
    guint from = 0;
    while (from < culprit->causes->len && allowance_goes_on()) {
        guint until = from + 1;
        while (until < culprit->causes->len &&
               stage[task_of(replay, &causes[until])] == stage[task_of(replay, &causes[from])])
            until++;
        culprit->saves_ms += saved_ms(replay, causes + from, until - from);
        from = until;
    }
}

/* ---- the answer ---- */

static gint by_explained(gconstpointer a, gconstpointer b) {
    const Culprit *x = a, *y = b;
    if (x->explains_ms != y->explains_ms) return x->explains_ms > y->explains_ms ? -1 : 1;
    return g_strcmp0(x->host, y->host);
}

static gint by_saved(gconstpointer a, gconstpointer b) {
    const Culprit *x = a, *y = b;
    if (x->saves_ms != y->saves_ms) return x->saves_ms > y->saves_ms ? -1 : 1;
    return by_explained(a, b);
}

json_t *culprits_json(const TaskTable *table, const Stragglers *stragglers, const GArray *causes) {
    const Replay replay = {table, stragglers};
    g_autoptr(GArray) culprits = find_culprits(causes);
    g_array_sort(culprits, by_explained);
    if (culprits->len > CULPRITS_MOST) g_array_set_size(culprits, CULPRITS_MOST);
    for (guint i = 0; i < culprits->len; i++) replay_culprit(&replay, &g_array_index(culprits, Culprit, i));
    g_array_sort(culprits, by_saved);

    json_t *list = json_array();
    for (guint i = 0; i < culprits->len; i++) {
        const Culprit *culprit = &g_array_index(culprits, Culprit, i);
        json_t *object = json_object();
        json_object_set_new(object, "feature", json_string(culprit->feature));
        json_object_set_new(object, "topic", json_string(feature_topic_name(culprit->topic)));
        if (culprit->host) json_object_set_new(object, "host", json_string(culprit->host));
        json_object_set_new(object, "tasks", json_integer(culprit->causes->len));
        json_object_set_new(object, "explains_ns", json_integer((gint64)(culprit->explains_ms * NS_PER_MS)));
        json_object_set_new(object, "saves_ns", json_integer((gint64)(culprit->saves_ms * NS_PER_MS)));
        json_array_append_new(list, object);
    }
    return list;
}
