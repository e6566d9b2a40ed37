#include "receiver/watchdog.h"

#include <systemd/sd-daemon.h>

#include "common/base/clock.h"
#include "common/base/periodic_thread.h"
#include "receiver/shared/log.h"

/* There is none: its shard looks, and answers. */
#define NO_TRACE 0

struct Watchdog {
    WatchdogOptions options;
    gint64 within_ns; /* so often it wants to be told */
    PeriodicThread *thread;
};

/* Whatever they answer: that the store fails is not for us. */
static void ask_shards(const WatchdogOptions *options) {
    Waiter *waiter = waiter_new(options->n_shards);
    for (guint i = 0; i < options->n_shards; i++) shard_store_trace(options->shards[i], NO_TRACE, waiter);
    waiter_wait(waiter, NULL, NULL);
}

/* The name of a thread that was not seen for too long; NULL: all were. */
static const char *missed(const Watchdog *watchdog) {
    const WatchdogOptions *options = &watchdog->options;
    const gint64 since_ns = clock_monotonic_ns(clock_system()) - watchdog->within_ns / 2;
    if (net_seen_ns(options->net) < since_ns) return "a network thread";
    if (options->hrpc && net_seen_ns(options->hrpc) < since_ns) return "the network thread of HRPC";
    if (http_seen_ns(options->http) < since_ns) return "the HTTP thread";
    if (resource_control_seen_ns(options->control) < since_ns) return "resource control";
    return NULL;
}

static gint64 watchdog_round(void *arg) {
    Watchdog *watchdog = arg;
    static LogLimit limit;
    ask_shards(&watchdog->options);
    const char *who = missed(watchdog);
    if (who == NULL)
        sd_notify(0, "WATCHDOG=1");
    else
        log_limited(&limit, LOG_LEVEL_ERROR, "%s was not seen at work for %.0f s: if that goes on, plumbd is ended",
                    who, (double)watchdog->within_ns / 2 / NS_PER_SEC);
    return watchdog->within_ns / 4;
}

Watchdog *watchdog_start(const WatchdogOptions *options) {
    uint64_t within_us = 0;
    if (sd_watchdog_enabled(0, &within_us) <= 0) return NULL;
    Watchdog *watchdog = g_new0(Watchdog, 1);
    watchdog->options = *options;
    watchdog->within_ns = (gint64)within_us * NS_PER_US;
    http_seen_ns(options->http); /* it has a step to show up */
    const PeriodicWork work = {"watchdog", watchdog->within_ns / 4, watchdog_round, watchdog};
    watchdog->thread = periodic_thread_start(&work);
    return watchdog;
}

void watchdog_stop(Watchdog *watchdog) {
    if (!watchdog) return;
    periodic_thread_stop(watchdog->thread);
    g_free(watchdog);
}
