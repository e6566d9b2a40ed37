#include "receiver/traces/waiter.h"

#include <pthread.h>

struct Waiter {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    guint missing;
    guint64 sum;
    GError *error;
};

Waiter *waiter_new(guint answers) {
    Waiter *waiter = g_new0(Waiter, 1);
    pthread_mutex_init(&waiter->lock, NULL);
    pthread_cond_init(&waiter->changed, NULL);
    waiter->missing = answers;
    return waiter;
}

void waiter_answer(Waiter *waiter, guint64 amount, GError *error) {
    pthread_mutex_lock(&waiter->lock);
    waiter->missing--;
    waiter->sum += amount;
    if (error && !waiter->error)
        waiter->error = error;
    else
        g_clear_error(&error);
    /* Under the lock: the asker frees the waiter as soon as it can take it. */
    pthread_cond_signal(&waiter->changed);
    pthread_mutex_unlock(&waiter->lock);
}

gboolean waiter_wait(Waiter *waiter, guint64 *sum, GError **error) {
    pthread_mutex_lock(&waiter->lock);
    while (waiter->missing > 0) pthread_cond_wait(&waiter->changed, &waiter->lock);
    pthread_mutex_unlock(&waiter->lock);
    gboolean good = waiter->error == NULL;
    if (good && sum) *sum = waiter->sum;
    if (!good) g_propagate_error(error, g_steal_pointer(&waiter->error));
    pthread_cond_destroy(&waiter->changed);
    pthread_mutex_destroy(&waiter->lock);
    g_free(waiter);
    return good;
}
