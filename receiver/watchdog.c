#include "receiver/watchdog.h"

#include <pthread.h>
#include <systemd/sd-daemon.h>

#include "common/base/clock.h"
#include "receiver/facts/log.h"

/* There is none: its shard looks, and answers. */
#define NO_TRACE 0

struct Watchdog {
    WatchdogOptions options;
    gint64 within_ns; /* so often it wants to be told */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    gboolean stopping; /* under the lock */
};

/* FALSE: stop. */
static gboolean wait_step(Watchdog *watchdog) {
    const struct timespec until = timespec_of(clock_monotonic_ns(clock_system()) + watchdog->within_ns / 4);
    pthread_mutex_lock(&watchdog->lock);
    int waited = 0;
    while (!watchdog->stopping && waited == 0)
        waited = pthread_cond_timedwait(&watchdog->changed, &watchdog->lock, &until);
    const gboolean go_on = !watchdog->stopping;
    pthread_mutex_unlock(&watchdog->lock);
    return go_on;
}

/* Whatever they answer: that the store fails is not for us. */
static void ask_shards(const StateSources *sources) {
    Waiter *waiter = waiter_new(sources->n_shards);
    for (guint i = 0; i < sources->n_shards; i++) shard_store_trace(sources->shards[i], NO_TRACE, waiter);
    waiter_wait(waiter, NULL, NULL);
}

/* The name of a thread that was not seen for too long; NULL: all were. */
static const char *missed(const Watchdog *watchdog) {
    const WatchdogOptions *options = &watchdog->options;
    const gint64 since_ns = clock_monotonic_ns(clock_system()) - watchdog->within_ns / 2;
    Net *net = atomic_load(&options->sources->net);
    if (net && net_seen_ns(net) < since_ns) return "a network thread";
    if (http_seen_ns(options->http) < since_ns) return "the HTTP thread";
    if (resource_control_seen_ns(options->control) < since_ns) return "resource control";
    return NULL;
}

static void *run(void *arg) {
    Watchdog *watchdog = arg;
    static LogLimit limit;
    pthread_setname_np(pthread_self(), "watchdog");
    while (wait_step(watchdog)) {
        ask_shards(watchdog->options.sources);
        const char *who = missed(watchdog);
        if (who == NULL)
            sd_notify(0, "WATCHDOG=1");
        else
            log_limited(&limit, LOG_LEVEL_ERROR, "%s was not seen at work for %.0f s: if that goes on, plumbd is ended",
                        who, (double)watchdog->within_ns / 2 / NS_PER_SEC);
    }
    return NULL;
}

Watchdog *watchdog_start(const WatchdogOptions *options) {
    uint64_t within_us = 0;
    if (sd_watchdog_enabled(0, &within_us) <= 0) return NULL;
    Watchdog *watchdog = g_new0(Watchdog, 1);
    watchdog->options = *options;
    watchdog->within_ns = (gint64)within_us * NS_PER_US;
    pthread_mutex_init(&watchdog->lock, NULL);
    cond_init_monotonic(&watchdog->changed);
    http_seen_ns(options->http); /* it has a step to show up */
    int err = pthread_create(&watchdog->thread, NULL, run, watchdog);
    if (err != 0) g_error("cannot start a thread: %s", g_strerror(err));
    return watchdog;
}

void watchdog_stop(Watchdog *watchdog) {
    if (!watchdog) return;
    pthread_mutex_lock(&watchdog->lock);
    watchdog->stopping = TRUE;
    pthread_cond_signal(&watchdog->changed);
    pthread_mutex_unlock(&watchdog->lock);
    pthread_join(watchdog->thread, NULL);
    pthread_cond_destroy(&watchdog->changed);
    pthread_mutex_destroy(&watchdog->lock);
    g_free(watchdog);
}
