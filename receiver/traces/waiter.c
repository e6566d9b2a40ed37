#include "receiver/traces/waiter.h"

#include <pthread.h>

#include "common/base/clock.h"

/* How often an asker who may leave is looked at. */
#define LOOK_NS (50 * NS_PER_MS)

struct Waiter {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    guint missing;
    gboolean left; /* the asker has gone */
    guint64 sum;
    GError *error;
};

Waiter *waiter_new(guint answers) {
    Waiter *waiter = g_new0(Waiter, 1);
    pthread_mutex_init(&waiter->lock, NULL);
    cond_init_monotonic(&waiter->changed);
    waiter->missing = answers;
    return waiter;
}

static void waiter_free(Waiter *waiter) {
    g_clear_error(&waiter->error);
    pthread_cond_destroy(&waiter->changed);
    pthread_mutex_destroy(&waiter->lock);
    g_free(waiter);
}

void waiter_answer(Waiter *waiter, guint64 amount, GError *error) {
    pthread_mutex_lock(&waiter->lock);
    waiter->missing--;
    waiter->sum += amount;
    if (error && !waiter->error)
        waiter->error = error;
    else
        g_clear_error(&error);
    const gboolean last = waiter->left && waiter->missing == 0;
    /* Under the lock: the asker frees the waiter as soon as it can take it. */
    pthread_cond_signal(&waiter->changed);
    pthread_mutex_unlock(&waiter->lock);
    if (last) waiter_free(waiter);
}

gboolean waiter_wait(Waiter *waiter, guint64 *sum, GError **error) {
    pthread_mutex_lock(&waiter->lock);
    while (waiter->missing > 0) pthread_cond_wait(&waiter->changed, &waiter->lock);
    pthread_mutex_unlock(&waiter->lock);
    gboolean good = waiter->error == NULL;
    if (good && sum) *sum = waiter->sum;
    if (!good) g_propagate_error(error, g_steal_pointer(&waiter->error));
    waiter_free(waiter);
    return good;
}

gboolean waiter_wait_until(Waiter *waiter, gint64 until_ns, gboolean (*gone)(void *arg), void *arg) {
    pthread_mutex_lock(&waiter->lock);
    for (gint64 now_ns;
         waiter->missing > 0 && (now_ns = clock_monotonic_ns(clock_system())) < until_ns && !gone(arg);) {
        const struct timespec until = timespec_of(MIN(until_ns, now_ns + LOOK_NS));
        pthread_cond_timedwait(&waiter->changed, &waiter->lock, &until);
    }
    const gboolean all = waiter->missing == 0;
    waiter->left = TRUE;
    pthread_mutex_unlock(&waiter->lock);
    if (all) waiter_free(waiter);
    return all;
}
