#include "analyzer/diagnosis/ends/survival.h"

#include <math.h>
#include <stdlib.h>

/* Of equal times those that ended come first: the others last longer. */
static int by_time(const void *left, const void *right) {
    const Lifetime *a = left, *b = right;
    if (a->time != b->time) return a->time < b->time ? -1 : 1;
    return b->ended - a->ended;
}

void survival_init(Survival *survival, Lifetime *lifetimes, guint32 n) {
    double share = 1, sum = 0;
    guint32 ended = 0;
    *survival = (Survival){.times = g_new(double, MAX(n, 1)), .share = g_new(double, MAX(n, 1))};
    qsort(lifetimes, n, sizeof *lifetimes, by_time);
    for (guint32 i = 0; i < n; i++) {
        sum += lifetimes[i].time;
        if (!lifetimes[i].ended) continue;
        ended++;
        share *= 1 - 1 / (double)(n - i);
        const gboolean same = survival->n > 0 && survival->times[survival->n - 1] == lifetimes[i].time;
        if (!same) survival->times[survival->n++] = lifetimes[i].time;
        survival->share[survival->n - 1] = share;
    }
    survival->last = n > 0 ? lifetimes[n - 1].time : 0;
    survival->mean = sum / MAX(ended, 1);
}

void survival_clear(Survival *survival) {
    g_free(survival->times);
    g_free(survival->share);
}

/* How many of the times are not above. */
static guint32 count_until(const Survival *survival, double time) {
    guint32 low = 0, high = survival->n;
    while (low < high) {
        const guint32 middle = low + (high - low) / 2;
        if (survival->times[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first time from 'low' on behind which no more than the share lasts on; n: none. */
static guint32 find_share(const Survival *survival, guint32 low, double share) {
    guint32 high = survival->n;
    while (low < high) {
        const guint32 middle = low + (high - low) / 2;
        if (survival->share[middle] > share)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double survival_draw(const Survival *survival, double so_far, double u) {
    const guint32 first = count_until(survival, so_far);
    const double lasts = first > 0 ? survival->share[first - 1] : 1, share = lasts * u;
    const guint32 at = find_share(survival, first, share);
    if (at < survival->n) return survival->times[at];
    /* It outlasts all that was seen: as if it could end at any moment. */
    const double beyond = survival->n > 0 ? survival->share[survival->n - 1] : 1;
    const double rest = lasts > 0 && beyond > 0 ? share / MIN(beyond, lasts) : u;
    return MAX(so_far, survival->last) - survival->mean * log(CLAMP(rest, 1e-9, 1));
}
