#include "common/base/periodic_thread.h"

#include <pthread.h>

#include "common/base/clock.h"
#include "common/base/thread.h"

struct PeriodicThread {
    PeriodicWork work;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    gboolean stopping; /* under the lock */
};

/* FALSE: stop. */
static gboolean rest(PeriodicThread *thread, gint64 pause_ns) {
    const struct timespec until = timespec_of(clock_monotonic_ns(clock_system()) + pause_ns);
    pthread_mutex_lock(&thread->lock);
    int waited = 0;
    while (!thread->stopping && waited == 0) waited = pthread_cond_timedwait(&thread->stopped, &thread->lock, &until);
    const gboolean go_on = !thread->stopping;
    pthread_mutex_unlock(&thread->lock);
    return go_on;
}

static void *work_in_rounds(void *arg) {
    PeriodicThread *thread = arg;
    gint64 pause_ns = thread->work.first_pause_ns;
    while (rest(thread, pause_ns)) pause_ns = thread->work.round(thread->work.arg);
    return NULL;
}

PeriodicThread *periodic_thread_start(const PeriodicWork *work) {
    PeriodicThread *thread = g_new0(PeriodicThread, 1);
    thread->work = *work;
    pthread_mutex_init(&thread->lock, NULL);
    cond_init_monotonic(&thread->stopped);
    thread_start(&thread->thread, work->name, work_in_rounds, thread);
    return thread;
}

void periodic_thread_stop(PeriodicThread *thread) {
    if (thread == NULL) return;
    pthread_mutex_lock(&thread->lock);
    thread->stopping = TRUE;
    pthread_cond_signal(&thread->stopped);
    pthread_mutex_unlock(&thread->lock);
    pthread_join(thread->thread, NULL);
    pthread_cond_destroy(&thread->stopped);
    pthread_mutex_destroy(&thread->lock);
    g_free(thread);
}
