#include "analyzer/diagnosis/ends/stage_end.h"

#include <math.h>
#include <string.h>

#include "analyzer/diagnosis/ends/survival.h"
#include "analyzer/diagnosis/order.h"
#include "common/base/allowance.h"

/* Plays: so many where there is time, of so many tasks in all. */
#define PLAYS_MOST  200u
#define PLAYS_LEAST 20u
#define TASKS_MOST  2000000u
/* Of more tasks that wait, some are played one behind the other as one. */
#define WAITING_MOST 50000u
#define SEED         19u

typedef struct Slot {
    double free_ms, factor;
} Slot;

typedef struct Play {
    const StageNow *now;
    const double *factors; /* of the hosts, with what their tasks say */
    double *played;        /* these in this play: off by as much as they may be */
    guint32 *ended;        /* tasks of each host that ended */
    Survival survival;     /* of durations on a host with factor 1 */
    GRand *rand;
    double unsure; /* the deviation of ln of a duration */
    Slot *slots;   /* a heap: the one that is free first is on top */
    guint32 n_slots;
} Play;

/* ---- hosts ---- */

/* Lifetimes, relative to the factors of the hosts: those of host h are at start[h] to start[h + 1]. */
static Lifetime *lifetimes_by_host(const StageNow *now, const double *factors, guint32 *start) {
    Lifetime *lifetimes = g_new(Lifetime, MAX(now->n, 1));
    g_autofree guint32 *at = g_new(guint32, now->n_hosts + 1);
    memset(start, 0, (now->n_hosts + 1) * sizeof *start);
    for (guint32 i = 0; i < now->n; i++) start[now->tasks[i].host + 1]++;
    for (guint32 host = 0; host < now->n_hosts; host++) start[host + 1] += start[host];
    memcpy(at, start, (now->n_hosts + 1) * sizeof *start);
    for (guint32 i = 0; i < now->n; i++) {
        const StageTask *task = &now->tasks[i];
        lifetimes[at[task->host]++] = (Lifetime){task->ms / factors[task->host], task->ended};
    }
    return lifetimes;
}

static double median_of(Lifetime *lifetimes, guint32 n) {
    Survival survival;
    survival_init(&survival, lifetimes, n);
    const double median = survival_draw(&survival, 0, 0.5);
    survival_clear(&survival);
    return median;
}

/* What a host's own tasks say beside its factor, by their median and that of all: weighed by how many ended. */
static void learn_factors(const StageNow *now, double *factors, guint32 *ended) {
    g_autofree guint32 *start = g_new(guint32, now->n_hosts + 1);
    g_autofree Lifetime *lifetimes = lifetimes_by_host(now, now->factors, start);
    g_autofree double *medians = g_new(double, MAX(now->n_hosts, 1));
    for (guint32 i = 0; i < now->n; i++) ended[now->tasks[i].host] += now->tasks[i].ended;
    for (guint32 host = 0; host < now->n_hosts && allowance_goes_on(); host++)
        medians[host] = median_of(lifetimes + start[host], start[host + 1] - start[host]);

    const double usual = median_of(lifetimes, now->n);
    for (guint32 host = 0; host < now->n_hosts; host++) {
        const double weight = ended[host] / (ended[host] + STAGE_END_PRIOR);
        factors[host] = now->factors[host];
        if (ended[host] > 0 && medians[host] > 0 && usual > 0)
            factors[host] *= exp(log(medians[host] / usual) * weight);
    }
}

static void learn_lifetimes(Play *play) {
    const StageNow *now = play->now;
    g_autofree Lifetime *lifetimes = g_new(Lifetime, MAX(now->n, 1));
    double n = 0, sum = 0, squares = 0;
    for (guint32 i = 0; i < now->n; i++) {
        const StageTask *task = &now->tasks[i];
        const double ms = task->ms / play->factors[task->host];
        lifetimes[i] = (Lifetime){ms, task->ended};
        if (!task->ended) continue;
        n++;
        sum += ms;
        squares += ms * ms;
    }
    const double variance = MAX(0, squares / n - sum * sum / (n * n));
    play->unsure = sum > 0 ? sqrt(log1p(variance * n * n / (sum * sum))) : 0;
    survival_init(&play->survival, lifetimes, now->n);
}

/* u: as of survival_draw(). */
static double left_of(const Play *play, const StageTask *task, double u) {
    const double factor = play->played[task->host];
    return MAX(0, factor * survival_draw(&play->survival, task->ms / factor, u) - task->ms);
}

/* ---- a play ---- */

static double draw_normal(GRand *rand) {
    const double u = 1 - g_rand_double(rand), v = g_rand_double(rand);
    return sqrt(-2 * log(u)) * cos(2 * G_PI * v);
}

/* unsure: of one task's duration, as of a mean of n it is by the root of n less. */
static void draw_factors(Play *play) {
    const StageNow *now = play->now;
    guint64 all = 0;
    for (guint32 host = 0; host < now->n_hosts; host++) all += play->ended[host];
    const double common = play->unsure / sqrt((double)MAX(all, 1)) * draw_normal(play->rand);
    for (guint32 host = 0; host < now->n_hosts; host++) {
        const double own = play->unsure / sqrt(play->ended[host] + STAGE_END_PRIOR) * draw_normal(play->rand);
        play->played[host] = play->factors[host] * exp(common + own);
    }
}

static void sift_down(Slot *slots, guint32 n, guint32 at) {
    for (guint32 child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && slots[child + 1].free_ms < slots[child].free_ms) child++;
        if (slots[at].free_ms <= slots[child].free_ms) return;
        const Slot earlier = slots[child];
        slots[child] = slots[at];
        slots[at] = earlier;
    }
}

static void fill_slots(Play *play) {
    const StageNow *now = play->now;
    play->n_slots = 0;
    for (guint32 i = 0; i < now->n && allowance_goes_on(); i++) {
        const StageTask *task = &now->tasks[i];
        if (task->ended) continue;
        const double left_ms = left_of(play, task, g_rand_double(play->rand));
        play->slots[play->n_slots++] = (Slot){left_ms, play->played[task->host]};
    }
    if (now->waiting > 0)
        for (; play->n_slots < MAX(now->slots, 1); play->n_slots++) play->slots[play->n_slots] = (Slot){0, 1};
    for (guint32 i = play->n_slots / 2; i-- > 0;) sift_down(play->slots, play->n_slots, i);
}

/* How long it takes until the last task ends. */
static double play_once(Play *play) {
    const guint32 waiting = play->now->waiting, together = 1 + waiting / WAITING_MOST;
    double end_ms = 0;
    draw_factors(play);
    fill_slots(play);
    for (guint32 i = 0; i < waiting && allowance_goes_on(); i += together) {
        Slot *slot = &play->slots[0];
        const double ms = survival_draw(&play->survival, 0, g_rand_double(play->rand));
        slot->free_ms += slot->factor * ms * MIN(together, waiting - i);
        sift_down(play->slots, play->n_slots, 0);
    }
    for (guint32 i = 0; i < play->n_slots; i++) end_ms = MAX(end_ms, play->slots[i].free_ms);
    return end_ms;
}

/* ---- what is told ---- */

static void find_last(Play *play, StageEnd *end) {
    const StageNow *now = play->now;
    memcpy(play->played, play->factors, now->n_hosts * sizeof *play->played);
    const double usual = survival_draw(&play->survival, 0, 0.5);
    for (guint32 i = 0; i < now->n && allowance_goes_on(); i++) {
        if (now->tasks[i].ended) continue;
        const double left_ms = left_of(play, &now->tasks[i], 0.5), factor = play->factors[now->tasks[i].host];
        if (end->last != G_MAXUINT32 && left_ms <= end->last_left_ms) continue;
        end->last = i;
        end->last_left_ms = left_ms;
        end->last_factor = factor;
        end->last_times = usual > 0 ? now->tasks[i].ms / (usual * factor) : 0;
    }
}

/* Each task counts the same, and a running one what it has had of the median. */
static void tell_progress(const StageNow *now, StageEnd *end) {
    g_autofree double *values = g_new(double, MAX(now->n, 1));
    guint32 ended = 0;
    double done = 0;
    for (guint32 i = 0; i < now->n; i++)
        if (now->tasks[i].ended) values[ended++] = now->tasks[i].ms;
    const double usual = order_median(values, ended), all = (double)now->n + now->waiting;
    for (guint32 i = 0; i < now->n && usual > 0; i++)
        if (!now->tasks[i].ended) done += MIN(now->tasks[i].ms / usual, 1);
    end->progress = all > 0 ? (ended + done) / all : 0;
    end->naive_ms = end->progress > 0 ? (1 - end->progress) * now->elapsed_ms / end->progress : 0;
    end->known = ended >= STAGE_END_LEAST;
}

void stage_end_predict(const StageNow *now, StageEnd *end) {
    *end = (StageEnd){.last = G_MAXUINT32};
    tell_progress(now, end);
    if (!end->known) return;

    g_autofree double *factors = g_new(double, MAX(now->n_hosts, 1));
    g_autofree double *played = g_new(double, MAX(now->n_hosts, 1));
    g_autofree guint32 *of_host = g_new0(guint32, MAX(now->n_hosts, 1));
    g_autofree Slot *slots = g_new(Slot, (gsize)now->n + now->slots + 1);
    learn_factors(now, factors, of_host);
    Play play = {.now = now,
                 .factors = factors,
                 .played = played,
                 .ended = of_host,
                 .rand = g_rand_new_with_seed(SEED),
                 .slots = slots};
    learn_lifetimes(&play);

    const guint64 tasks = (guint64)now->n + MIN(now->waiting, WAITING_MOST) + 1;
    const guint32 plays = (guint32)CLAMP(TASKS_MOST / tasks, PLAYS_LEAST, PLAYS_MOST);
    double ends[PLAYS_MOST];
    for (guint32 i = 0; i < plays; i++) ends[i] = allowance_goes_on() ? play_once(&play) : 0;
    end->left_ms = order_median(ends, plays);
    end->least_ms = order_quantile(ends, plays, 0.05);
    end->most_ms = order_quantile(ends, plays, 0.95);
    find_last(&play, end);

    g_rand_free(play.rand);
    survival_clear(&play.survival);
}
