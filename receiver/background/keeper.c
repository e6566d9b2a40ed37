#include "receiver/background/keeper.h"

#include <pthread.h>
#include <time.h>

#include "analyzer/archive/spark/spark.h"
#include "analyzer/archive/thin.h"
#include "common/base/clock.h"
#include "receiver/facts/log.h"

#define ROUND_NS  (250 * NS_PER_MS)
#define RETAIN_NS (10 * NS_PER_SEC)
/* Records of one step: some tens of milliseconds in which late spans are not joined. */
#define STEP_RECORDS 20000u
/* When there is nothing left to thin, until it looks again. */
#define REST_NS (5 * NS_PER_MINUTE)

struct Keeper {
    KeeperOptions options;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    KeeperLimits limits; /* under the lock */
    gboolean stopping;   /* under the lock */

    /* of the thread alone */
    SpaceLevel level;
    gint64 retain_ns, rest_ns; /* not before */
    Thinner *thinner;
    guint keep;
    guint64 thinned, expired; /* spans, not told yet */
};

static gint64 now_ns(void) { return clock_monotonic_ns(clock_system()); }

/* FALSE: stop. */
static gboolean wait_round(Keeper *keeper, gint64 ns, KeeperLimits *limits) {
    gint64 until_ns = now_ns() + ns;
    const struct timespec until = timespec_of(until_ns);
    pthread_mutex_lock(&keeper->lock);
    int waited = 0;
    while (!keeper->stopping && waited == 0) waited = pthread_cond_timedwait(&keeper->changed, &keeper->lock, &until);
    gboolean go_on = !keeper->stopping;
    *limits = keeper->limits;
    pthread_mutex_unlock(&keeper->lock);
    return go_on;
}

/* ---- space ---- */

static void tell_level(const Keeper *keeper, const KeeperLimits *limits, guint64 free_bytes) {
    double free_mb = (double)free_bytes / 1e6;
    const char *path = keeper->options.store_path;
    if (keeper->level == SPACE_THIN)
        log_message(
            LOG_LEVEL_WARNING,
            "%.0f MB are free for %s, less than store.thin-free (%.0f MB): frequent traces are thinned out; make "
            "room there, or shorten retention.traces",
            free_mb, path, (double)limits->marks.thin_bytes / 1e6);
    else if (keeper->level == SPACE_LOW)
        log_message(LOG_LEVEL_WARNING,
                    "%.0f MB are free for %s, less than store.warn-free (%.0f MB): make room there, or shorten "
                    "retention.traces",
                    free_mb, path, (double)limits->marks.warn_bytes / 1e6);
    else
        log_message(LOG_LEVEL_NOTICE, "%.0f MB are free for %s: enough again", free_mb, path);
}

static void look_at_space(Keeper *keeper, const KeeperLimits *limits) {
    guint64 free_bytes = space_free_bytes(keeper->options.store_path);
    SpaceLevel before = keeper->level;
    keeper->level = space_level(&limits->marks, free_bytes, before);
    atomic_store(&keeper->options.view->free_bytes, free_bytes);
    atomic_store(&keeper->options.view->level, (int)keeper->level);
    if (keeper->level != before) tell_level(keeper, limits, free_bytes);
}

/* ---- age ---- */

/* TRUE: there is more. */
static gboolean retain(Keeper *keeper, const KeeperLimits *limits) {
    static LogLimit limit;
    g_autoptr(GError) error = NULL;
    RetainResult result = {0};
    RetainOptions options = {limits->ages, clock_wall_ns(clock_system()), STEP_RECORDS};
    if (!archive_retain(keeper->options.archive, &options, &result, &error))
        log_limited(&limit, LOG_LEVEL_WARNING, "what is past its age cannot be removed: %s", error->message);
    keeper->expired += result.spans;
    if (result.more) return TRUE;
    if (keeper->expired > 0)
        log_message(LOG_LEVEL_INFO, "%" G_GUINT64_FORMAT " spans were past their age and are gone", keeper->expired);
    keeper->expired = 0;
    return FALSE;
}

/* Applications of Spark: those past their age, and for room one at a time. */
static void retain_applications(const Keeper *keeper, const KeeperLimits *limits) {
    static LogLimit limit;
    g_autoptr(GError) error = NULL;
    const gint64 wall_ms = clock_wall_ns(clock_system()) / NS_PER_MS;
    const SparkRetain retain = {
        .before_ms = limits->applications_ns > 0 ? wall_ms - limits->applications_ns / NS_PER_MS : 0,
        .oldest = keeper->level >= SPACE_THIN,
        .oldest_before_ms = wall_ms - limits->whole_ns / NS_PER_MS,
    };
    SparkRetained removed = {0};
    if (retain.before_ms <= 0 && !retain.oldest) return;
    if (!archive_spark_retain(keeper->options.archive, &retain, &removed, &error))
        log_limited(&limit, LOG_LEVEL_WARNING, "applications of Spark past their age cannot be removed: %s",
                    error->message);
    if (removed.apps > 0)
        log_message(retain.oldest ? LOG_LEVEL_NOTICE : LOG_LEVEL_INFO,
                    "%" G_GUINT64_FORMAT " applications of Spark are gone, %" G_GUINT64_FORMAT " records: they were %s",
                    removed.apps, removed.records, retain.oldest ? "the oldest, and space is short" : "past their age");
}

/* ---- thinning ---- */

static void thin_end(Keeper *keeper) {
    g_clear_pointer(&keeper->thinner, thinner_free);
    if (keeper->thinned > 0)
        log_message(LOG_LEVEL_NOTICE,
                    "%" G_GUINT64_FORMAT " spans of frequent traces were thinned out, %u traces of a "
                    "pattern and hour stay",
                    keeper->thinned, keeper->keep);
    keeper->thinned = 0;
}

static void thin_stop(Keeper *keeper) {
    if (keeper->keep == 0) return;
    thin_end(keeper);
    keeper->keep = 0;
    keeper->rest_ns = 0;
    atomic_store(&keeper->options.view->keep, 0);
}

static void thin_begin(Keeper *keeper, const KeeperLimits *limits) {
    /* Each time through, half as many stay. */
    keeper->keep = keeper->keep == 0 ? MAX(limits->keep, 1) : MAX(keeper->keep / 2, 1);
    gint64 end_ns = MIN(archive_totals(keeper->options.archive).last_ns, clock_wall_ns(clock_system()));
    ThinOptions options = {keeper->keep, end_ns - limits->whole_ns};
    keeper->thinner = thinner_new(keeper->options.archive, &options);
    atomic_store(&keeper->options.view->keep, keeper->keep);
}

/* TRUE: there is more. */
static gboolean thin(Keeper *keeper, const KeeperLimits *limits) {
    static LogLimit limit;
    if (keeper->thinner == NULL) {
        if (now_ns() < keeper->rest_ns) return FALSE;
        thin_begin(keeper, limits);
    }
    g_autoptr(GError) error = NULL;
    ThinResult result = {.more = TRUE};
    gboolean ok = thinner_step(keeper->thinner, STEP_RECORDS, &result, &error);
    keeper->thinned += result.spans;
    if (!ok) log_limited(&limit, LOG_LEVEL_WARNING, "traces cannot be thinned out: %s", error->message);
    if (!ok || result.more) return ok;
    thin_end(keeper);
    if (keeper->keep > 1) return TRUE;
    log_limited(
        &limit, LOG_LEVEL_WARNING,
        "there is nothing left to thin out: make room, or shorten retention.traces; without, no spans are taken "
        "from store.min-free on");
    keeper->keep = 0;
    keeper->rest_ns = now_ns() + REST_NS;
    return FALSE;
}

/* ---- the thread ---- */

/* What the journal still has of a trace is to be counted before the trace goes; but room comes first. */
static gboolean may_retain(const Keeper *keeper) {
    return keeper->level >= SPACE_THIN || !atomic_load(&keeper->options.recovery->goes_on);
}

static void *run(void *arg) {
    Keeper *keeper = arg;
    pthread_setname_np(pthread_self(), "keeper");
    KeeperLimits limits;
    gint64 pause_ns = ROUND_NS;
    while (wait_round(keeper, pause_ns, &limits)) {
        pause_ns = ROUND_NS;
        look_at_space(keeper, &limits);
        if (now_ns() >= keeper->retain_ns && may_retain(keeper)) {
            if (retain(keeper, &limits)) {
                pause_ns = 0;
            } else {
                /* What the journal gives again of one that is gone would pass for all of it. */
                if (!atomic_load(&keeper->options.recovery->goes_on)) retain_applications(keeper, &limits);
                keeper->retain_ns = now_ns() + RETAIN_NS;
            }
        }
        if (keeper->level < SPACE_THIN)
            thin_stop(keeper);
        else if (thin(keeper, &limits))
            pause_ns = 0;
    }
    thin_stop(keeper);
    return NULL;
}

Keeper *keeper_start(const KeeperOptions *options, const KeeperLimits *limits) {
    Keeper *keeper = g_new0(Keeper, 1);
    keeper->options = *options;
    keeper->limits = *limits;
    pthread_mutex_init(&keeper->lock, NULL);
    cond_init_monotonic(&keeper->changed);
    int err = pthread_create(&keeper->thread, NULL, run, keeper);
    if (err != 0) g_error("cannot start a thread: %s", g_strerror(err));
    return keeper;
}

void keeper_set_limits(Keeper *keeper, const KeeperLimits *limits) {
    pthread_mutex_lock(&keeper->lock);
    keeper->limits = *limits;
    pthread_mutex_unlock(&keeper->lock);
}

void keeper_stop(Keeper *keeper) {
    if (!keeper) return;
    pthread_mutex_lock(&keeper->lock);
    keeper->stopping = TRUE;
    pthread_cond_signal(&keeper->changed);
    pthread_mutex_unlock(&keeper->lock);
    pthread_join(keeper->thread, NULL);
    pthread_cond_destroy(&keeper->changed);
    pthread_mutex_destroy(&keeper->lock);
    g_free(keeper);
}
