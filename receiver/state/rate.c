#include "receiver/state/rate.h"

#include <pthread.h>

struct Rate {
    pthread_mutex_t lock;
    guint64 totals[RATE_SECONDS + 1];
    gint64 times_ns[RATE_SECONDS + 1];
    guint n, at; /* entries, position of the next */
};

Rate *rate_new(void) {
    Rate *rate = g_new0(Rate, 1);
    pthread_mutex_init(&rate->lock, NULL);
    return rate;
}

void rate_free(Rate *rate) {
    if (!rate) return;
    pthread_mutex_destroy(&rate->lock);
    g_free(rate);
}

void rate_feed(Rate *rate, guint64 total, gint64 now_ns) {
    pthread_mutex_lock(&rate->lock);
    rate->totals[rate->at] = total;
    rate->times_ns[rate->at] = now_ns;
    rate->at = (rate->at + 1) % (RATE_SECONDS + 1);
    rate->n = MIN(rate->n + 1, RATE_SECONDS + 1);
    pthread_mutex_unlock(&rate->lock);
}

double rate_per_s(Rate *rate) {
    pthread_mutex_lock(&rate->lock);
    double per_s = 0;
    if (rate->n >= 2) {
        guint newest = (rate->at + RATE_SECONDS) % (RATE_SECONDS + 1);
        guint oldest = rate->n > RATE_SECONDS ? rate->at : 0;
        gint64 passed_ns = rate->times_ns[newest] - rate->times_ns[oldest];
        if (passed_ns > 0) per_s = (double)(rate->totals[newest] - rate->totals[oldest]) * 1e9 / (double)passed_ns;
    }
    pthread_mutex_unlock(&rate->lock);
    return per_s;
}
