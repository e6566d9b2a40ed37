#include "analyzer/diagnosis/nodes/class_series.h"

#include <math.h>

#include "analyzer/diagnosis/nodes/median.h"
#include "common/base/allowance.h"

void all_series_free(AllSeries *all) {
    if (!all) return;
    allowance_release(all->charged);
    g_array_unref(all->series);
    g_array_unref(all->windows);
    g_free(all);
}

/* What jobs of one class say of one window. */
typedef struct Votes {
    WeightedValue *of[MEASURES];
    gsize n, room;
    double predicted_ns; /* of the self time */
    ClassWindow sum;
} Votes;

typedef struct Builder {
    const NodeGrid *grid;
    const Residuals *residuals;
    guint32 until;
    guint32 calls_least; /* windows are put together until there are so many */
    WorkClass only;      /* WORK_NONE: all classes */
    Votes votes[WORK_CLASSES];
    ClassWindow pending[WORK_CLASSES]; /* calls 0: none */
    GArray *done[WORK_CLASSES];        /* ClassWindow of the node under way */
} Builder;

static void votes_add(Votes *votes, const float value[MEASURES], float weight) {
    if (votes->n == votes->room) {
        votes->room = MAX(16, votes->room * 2);
        for (guint m = 0; m < MEASURES; m++) votes->of[m] = g_renew(WeightedValue, votes->of[m], votes->room);
    }
    for (guint m = 0; m < MEASURES; m++) votes->of[m][votes->n] = (WeightedValue){value[m], weight};
    votes->n++;
}

/* Of calls, the sums; of residuals and the like, means by calls. */
static void window_add(ClassWindow *into, const ClassWindow *window) {
    const float before = (float)into->calls, now = (float)window->calls, all = before + now;
    if (into->calls == 0) {
        *into = *window;
        return;
    }
    for (guint m = 0; m < MEASURES; m++)
        into->residual[m] = (into->residual[m] * before + window->residual[m] * now) / all;
    /* The variance of a mean of two, by their calls. */
    into->variance = (into->variance * before * before + window->variance * now * now) / (all * all);
    into->blamed = (into->blamed * before + window->blamed * now) / all;
    into->alone = (into->alone * before + window->alone * now) / all;
    into->unused = (into->unused * before + window->unused * now) / all;
    into->last = window->last;
    into->calls += window->calls;
    into->bytes += window->bytes;
    into->self_ns += window->self_ns;
    into->critical_ns += window->critical_ns;
    into->lost_ns += window->lost_ns;
    into->lost_critical_ns += window->lost_critical_ns;
    into->lost_beside_ns += window->lost_beside_ns;
}

static void votes_count(Builder *builder, WorkClass class) {
    Votes *votes = &builder->votes[class];
    ClassWindow *pending = &builder->pending[class], *window = &votes->sum;
    if (votes->n == 0) {
        votes->sum = (ClassWindow){.calls = 0};
        return;
    }

    for (guint m = 0; m < MEASURES; m++) window->residual[m] = (float)median_weighted(votes->of[m], votes->n);
    if (class == WORK_PROCESSOR && window->self_ns > 0 && votes->predicted_ns > 0)
        window->residual[MEASURE_TAIL] = (float)log((double)window->self_ns / votes->predicted_ns);
    const float calls = (float)window->calls;
    window->variance /= calls * calls; /* so far the sum of calls times spread */
    window->blamed /= calls;
    window->alone /= calls;
    window->unused /= calls;

    const gint64 begin_ns = grid_window_ns(builder->grid, window->first);
    if (pending->calls > 0 && begin_ns - grid_window_ns(builder->grid, pending->first) >= CLASS_WINDOW_MAX_NS)
        pending->calls = 0;
    window_add(pending, window);
    if (pending->calls >= builder->calls_least) {
        g_array_append_vals(builder->done[class], pending, 1);
        pending->calls = 0;
    }

    votes->n = 0;
    votes->predicted_ns = 0;
    votes->sum = (ClassWindow){.calls = 0};
}

static void count_all(Builder *builder) {
    for (guint class = 0; class < WORK_CLASSES; class ++) votes_count(builder, (WorkClass) class);
}

/* What sums have of an observation of which so much of the time was predicted. */
static void votes_sum(Votes *votes, const Observation *observation, double predicted_share) {
    ClassWindow *sum = &votes->sum;
    const double lost = MAX(0, 1 - predicted_share);
    sum->calls += observation->calls;
    sum->variance += (float)observation->calls * observation->spread;
    sum->bytes += observation->bytes;
    sum->self_ns += observation->self_ns;
    sum->critical_ns += observation->critical_ns;
    sum->lost_ns += (gint64)(lost * (double)observation->self_ns);
    sum->lost_critical_ns += (gint64)(lost * (double)observation->critical_ns);
    votes->predicted_ns += (double)observation->self_ns * predicted_share;
}

/* The rest is told by what it is a part of. */
static void votes_sum_beside(Votes *votes, const Observation *observation, double predicted_share) {
    const gint64 lost_ns = (gint64)(MAX(0, 1 - predicted_share) * (double)observation->critical_ns);
    votes->sum.critical_ns += observation->critical_ns;
    votes->sum.lost_critical_ns += lost_ns;
    votes->sum.lost_beside_ns += lost_ns;
}

static void add_observation(Builder *builder, guint32 i) {
    const Observation *observation = grid_at(builder->grid, i);
    const WorkClass class = grid_class(builder->grid, observation->job);
    if (builder->only != WORK_NONE && builder->only != class) return;
    Votes *votes = &builder->votes[class];
    const Residuals *residuals = builder->residuals;
    const float value[MEASURES] = {residuals->of[MEASURE_MEAN][i], residuals->of[MEASURE_TAIL][i]};
    if (isnan(value[MEASURE_MEAN]) || isnan(value[MEASURE_TAIL])) return;

    const float calls = (float)observation->calls;
    ClassWindow *sum = &votes->sum;
    if (grid_is_beside(builder->grid, observation->job)) {
        votes_sum_beside(votes, observation, exp(-(double)value[MEASURE_MEAN]));
        return;
    }
    sum->first = sum->last = observation->window;
    votes_sum(votes, observation, exp(-(double)value[MEASURE_MEAN]));
    sum->alone += residuals->alone[i] ? calls : 0;
    sum->unused += residuals->used[i] ? 0 : calls;
    sum->blamed += residuals->blamed && residuals->blamed[i] ? calls : 0;
    votes_add(votes, value, calls);
}

static void node_finish(Builder *builder, AllSeries *all, guint32 node) {
    for (guint class = 0; class < WORK_CLASSES; class ++) {
        GArray *done = builder->done[class];
        const ClassSeries series = {(WorkClass) class, node, all->windows->len, done->len};
        builder->pending[class].calls = 0;
        if (done->len == 0) continue;
        g_array_append_vals(all->windows, done->data, done->len);
        g_array_append_val(all->series, series);
        g_array_set_size(done, 0);
    }
    allowance_hold(&all->charged, all->windows->len * sizeof(ClassWindow) + all->series->len * sizeof(ClassSeries));
}

static void add_node(Builder *builder, guint32 node) {
    const NodeGrid *grid = builder->grid;
    guint32 window = G_MAXUINT32;
    const guint32 end = grid->by_node.start[node + 1];
    for (guint32 at = grid->by_node.start[node]; at < end && allowance_goes_on(); at++) {
        const guint32 i = grid->by_node.order[at];
        if (grid_at(grid, i)->window >= builder->until) break;
        if (grid_at(grid, i)->window != window) count_all(builder);
        window = grid_at(grid, i)->window;
        add_observation(builder, i);
    }
    count_all(builder);
}

/* ---- all nodes at once ---- */

static void add_moment(Builder *builder, Polish *const *polish, guint32 job, guint32 window) {
    const NodeGrid *grid = builder->grid;
    const guint32 key = job * grid->n_windows + window;
    float value[MEASURES];
    for (guint m = 0; m < MEASURES; m++) value[m] = polish[m]->moment[key] - polish[m]->level[job];
    if (isnan(value[MEASURE_MEAN]) || isnan(value[MEASURE_TAIL]) || grid_is_beside(grid, job)) return;

    Votes *votes = &builder->votes[grid_class(grid, job)];
    const double predicted_share = exp(-(double)value[MEASURE_MEAN]);
    float calls = 0;
    const gboolean ill = builder->residuals->all_ill[grid_class(grid, job) * grid->n_windows + window];

    votes->sum.first = votes->sum.last = window;
    for (guint32 at = grid->by_moment.start[key]; at < grid->by_moment.start[key + 1]; at++) {
        const Observation *observation = grid_at(grid, grid->by_moment.order[at]);
        calls += (float)observation->calls;
        votes_sum(votes, observation, predicted_share);
    }
    votes->sum.unused += ill ? calls : 0;
    votes_add(votes, value, calls);
}

static void add_everybody(Builder *builder, Polish *const *polish) {
    for (guint32 window = 0; window < builder->until; window++) {
        for (guint32 job = 0; job < builder->grid->n_jobs && allowance_goes_on(); job++) {
            if (builder->only != WORK_NONE && builder->only != grid_class(builder->grid, job)) continue;
            add_moment(builder, polish, job, window);
        }
        count_all(builder);
    }
}

static void builder_init(Builder *builder) {
    for (guint class = 0; class < WORK_CLASSES; class ++)
        builder->done[class] = g_array_new(FALSE, FALSE, sizeof(ClassWindow));
}

static void builder_clear(Builder *builder) {
    for (guint class = 0; class < WORK_CLASSES; class ++) {
        g_array_unref(builder->done[class]);
        for (guint m = 0; m < MEASURES; m++) g_free(builder->votes[class].of[m]);
    }
}

GArray *class_minutes(const NodeGrid *grid, const Residuals *residuals, Polish *const *polish, guint32 node,
                      WorkClass class) {
    Builder builder = {.grid = grid, .residuals = residuals, .until = grid->n_windows, .calls_least = 1, .only = class};
    builder_init(&builder);
    if (node < grid->n_nodes)
        add_node(&builder, node);
    else
        add_everybody(&builder, polish);
    GArray *minutes = g_array_ref(builder.done[class]);
    builder_clear(&builder);
    return minutes;
}

AllSeries *all_series_new(const NodeGrid *grid, const Residuals *residuals, Polish *const *polish, guint32 until) {
    AllSeries *all = g_new0(AllSeries, 1);
    all->series = g_array_new(FALSE, FALSE, sizeof(ClassSeries));
    all->windows = g_array_new(FALSE, FALSE, sizeof(ClassWindow));
    all->window_ns = grid->window_ns;

    Builder builder = {
        .grid = grid, .residuals = residuals, .until = until, .calls_least = CLASS_CALLS_LEAST, .only = WORK_NONE};
    builder_init(&builder);
    for (guint32 node = 0; node < grid->n_nodes && allowance_goes_on(); node++) {
        add_node(&builder, node);
        node_finish(&builder, all, node);
    }
    if (polish) {
        add_everybody(&builder, polish);
        node_finish(&builder, all, grid->n_nodes);
    }
    builder_clear(&builder);
    return all;
}
