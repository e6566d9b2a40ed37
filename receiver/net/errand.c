#include "receiver/net/errand.h"

#include <pthread.h>
#include <sys/resource.h>

#include "common/base/clock.h"
#include "common/base/thread.h"
#include "receiver/net/acceptor.h"

/* So long a stop waits for the one that is under way. */
#define LAST_NS NS_PER_SEC

struct Errands {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    GQueue waiting;                    /* Errand */
    gboolean working, stopping, ended; /* ended: the thread is not waited for any more */
};

/* The next one; NULL: there is none any more. With the lock held. */
static Errand *take(Errands *errands) {
    while (!errands->stopping && errands->waiting.length == 0) pthread_cond_wait(&errands->changed, &errands->lock);
    if (errands->stopping) return NULL;
    Errand *errand = errands->waiting.head->data;
    g_queue_unlink(&errands->waiting, &errand->link);
    errand->waits = FALSE;
    return errand;
}

static void *errands_main(void *arg) {
    Errands *errands = arg;
    setpriority(PRIO_PROCESS, 0, ACCEPTOR_NICE); /* of this thread alone; nothing is lost if it may not */
    pthread_mutex_lock(&errands->lock);
    for (Errand *errand; (errand = take(errands)) != NULL;) {
        errands->working = TRUE;
        pthread_mutex_unlock(&errands->lock);
        errand->work(errand);
        pthread_mutex_lock(&errands->lock);
        errands->working = FALSE;
        if (errands->ended)
            errand_drop(errand); /* it has no home any more */
        else
            inbox_put(errand->home, errand);
    }
    pthread_cond_broadcast(&errands->changed);
    pthread_mutex_unlock(&errands->lock);
    return NULL;
}

Errands *errands_start(void) {
    Errands *errands = g_new0(Errands, 1);
    pthread_mutex_init(&errands->lock, NULL);
    cond_init_monotonic(&errands->changed);
    g_queue_init(&errands->waiting);
    thread_start(&errands->thread, "tickets", errands_main, errands);
    return errands;
}

void errands_stop(Errands *errands) {
    if (!errands) return;
    const struct timespec until = timespec_of(clock_monotonic_ns(clock_system()) + LAST_NS);
    pthread_mutex_lock(&errands->lock);
    errands->stopping = TRUE;
    pthread_cond_broadcast(&errands->changed);
    int waited = 0;
    while (errands->working && waited == 0) waited = pthread_cond_timedwait(&errands->changed, &errands->lock, &until);
    errands->ended = errands->working;
    pthread_mutex_unlock(&errands->lock);
    if (errands->ended)
        pthread_detach(errands->thread);
    else
        pthread_join(errands->thread, NULL);
}

void errands_free(Errands *errands) {
    if (!errands) return;
    if (errands->ended) return; /* its thread has it, until the process ends */
    pthread_cond_destroy(&errands->changed);
    pthread_mutex_destroy(&errands->lock);
    g_free(errands);
}

void errands_give(Errands *errands, Errand *errand) {
    errand->link = (GList){.data = errand};
    pthread_mutex_lock(&errands->lock);
    errand->waits = TRUE;
    g_queue_push_tail_link(&errands->waiting, &errand->link);
    pthread_cond_signal(&errands->changed);
    pthread_mutex_unlock(&errands->lock);
}

gboolean errands_withdraw(Errands *errands, Errand *errand) {
    pthread_mutex_lock(&errands->lock);
    const gboolean waits = errand->waits;
    if (waits) g_queue_unlink(&errands->waiting, &errand->link);
    pthread_mutex_unlock(&errands->lock);
    return waits;
}
