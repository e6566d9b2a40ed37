#include "receiver/background/retention.h"

#include <pthread.h>
#include <time.h>

#include "analyzer/archive/retention/thin.h"
#include "analyzer/archive/spark/spark.h"
#include "common/base/clock.h"
#include "common/base/periodic_thread.h"
#include "common/store/store_skip.h"
#include "receiver/shared/log.h"

#define ROUND_NS  (250 * NS_PER_MS)
#define EXPIRE_NS (10 * NS_PER_SEC)
/* Records of one step: some tens of milliseconds in which late spans are not joined. */
#define STEP_RECORDS 20000u
/* When there is nothing left to thin, until it looks again. */
#define REST_NS (5 * NS_PER_MINUTE)

struct Retention {
    RetentionOptions options;
    PeriodicThread *thread;
    pthread_mutex_t lock;
    RetentionLimits limits; /* under the lock */

    /* of the thread alone */
    SpaceLevel level;
    gint64 expire_ns, rest_ns; /* not before */
    Thinner *thinner;
    guint keep;
    guint64 thinned, expired; /* spans, not told yet */
};

static gint64 now_ns(void) { return clock_monotonic_ns(clock_system()); }

static RetentionLimits limits_now(Retention *retention) {
    pthread_mutex_lock(&retention->lock);
    const RetentionLimits limits = retention->limits;
    pthread_mutex_unlock(&retention->lock);
    return limits;
}

/* ---- space ---- */

static void tell_level(const Retention *retention, const RetentionLimits *limits, guint64 free_bytes) {
    double free_mb = (double)free_bytes / 1e6;
    const char *path = retention->options.store_path;
    if (retention->level == SPACE_THIN)
        log_message(
            LOG_LEVEL_WARNING,
            "%.0f MB are free for %s, less than store.thin-free (%.0f MB): frequent traces are thinned out; make "
            "room there, or shorten retention.traces",
            free_mb, path, (double)limits->thresholds.thin_bytes / 1e6);
    else if (retention->level == SPACE_LOW)
        log_message(LOG_LEVEL_WARNING,
                    "%.0f MB are free for %s, less than store.warn-free "
                    "(%.0f MB): make room there, or shorten retention.traces",
                    free_mb, path, (double)limits->thresholds.warn_bytes / 1e6);
    else
        log_message(LOG_LEVEL_NOTICE, "%.0f MB are free for %s: enough again", free_mb, path);
}

static void look_at_space(Retention *retention, const RetentionLimits *limits) {
    guint64 free_bytes = space_free_bytes(retention->options.store_path);
    SpaceLevel before = retention->level;
    retention->level = space_level(&limits->thresholds, free_bytes, before);
    atomic_store(&retention->options.view->free_bytes, free_bytes);
    atomic_store(&retention->options.view->level, (int)retention->level);
    if (retention->level != before) tell_level(retention, limits, free_bytes);
}

/* ---- age ---- */

/* TRUE: there is more. */
static gboolean expire(Retention *retention, const RetentionLimits *limits) {
    static LogLimit limit;
    g_autoptr(GError) error = NULL;
    ExpireResult result = {0};
    ExpireOptions options = {limits->ages, clock_wall_ns(clock_system()), STEP_RECORDS};
    store_skip_begin(); /* what cannot be read any more goes with what is as old */
    const gboolean done = archive_expire(retention->options.archive, &options, &result, &error);
    store_skip_end();
    if (!done) log_limited(&limit, LOG_LEVEL_WARNING, "what is past its age cannot be removed: %s", error->message);
    retention->expired += result.spans;
    if (result.more) return TRUE;
    if (retention->expired > 0)
        log_message(LOG_LEVEL_INFO, "%" G_GUINT64_FORMAT " spans were past their age and are gone", retention->expired);
    retention->expired = 0;
    return FALSE;
}

/* Applications of Spark: those past their age, and for room one at a time. */
static void remove_applications(const Retention *retention, const RetentionLimits *limits) {
    static LogLimit limit;
    g_autoptr(GError) error = NULL;
    const gint64 wall_ms = clock_wall_ns(clock_system()) / NS_PER_MS;
    const SparkRemoval removal = {
        .before_ms = limits->applications_ns > 0 ? wall_ms - limits->applications_ns / NS_PER_MS : 0,
        .oldest = retention->level >= SPACE_THIN,
        .oldest_before_ms = wall_ms - limits->whole_ns / NS_PER_MS,
    };
    SparkRemoved removed = {0};
    if (removal.before_ms <= 0 && !removal.oldest) return;
    if (!archive_spark_remove(retention->options.archive, &removal, &removed, &error))
        log_limited(&limit, LOG_LEVEL_WARNING, "applications of Spark past their age cannot be removed: %s",
                    error->message);
    if (removed.apps > 0)
        log_message(removal.oldest ? LOG_LEVEL_NOTICE : LOG_LEVEL_INFO,
                    "%" G_GUINT64_FORMAT " applications of Spark are gone, %" G_GUINT64_FORMAT " records: they were %s",
                    removed.apps, removed.records,
                    removal.oldest ? "the oldest, and space is short" : "past their age");
}

/* ---- thinning ---- */

static void thin_end(Retention *retention) {
    g_clear_pointer(&retention->thinner, thinner_free);
    if (retention->thinned > 0)
        log_message(LOG_LEVEL_NOTICE,
                    "%" G_GUINT64_FORMAT " spans of frequent traces were thinned out, %u traces of a "
                    "pattern and hour stay",
                    retention->thinned, retention->keep);
    retention->thinned = 0;
}

static void thin_stop(Retention *retention) {
    if (retention->keep == 0) return;
    thin_end(retention);
    retention->keep = 0;
    retention->rest_ns = 0;
    atomic_store(&retention->options.view->keep, 0);
}

static void thin_begin(Retention *retention, const RetentionLimits *limits) {
    /* Each time through, half as many stay. */
    retention->keep = retention->keep == 0 ? MAX(limits->keep, 1) : MAX(retention->keep / 2, 1);
    gint64 end_ns = MIN(archive_totals(retention->options.archive).last_ns, clock_wall_ns(clock_system()));
    ThinOptions options = {retention->keep, end_ns - limits->whole_ns};
    retention->thinner = thinner_new(retention->options.archive, &options);
    atomic_store(&retention->options.view->keep, retention->keep);
}

/* TRUE: there is more. */
static gboolean thin(Retention *retention, const RetentionLimits *limits) {
    static LogLimit limit;
    if (retention->thinner == NULL) {
        if (now_ns() < retention->rest_ns) return FALSE;
        thin_begin(retention, limits);
    }

    g_autoptr(GError) error = NULL;
    ThinResult result = {.more = TRUE};
    gboolean ok = thinner_step(retention->thinner, STEP_RECORDS, &result, &error);
    retention->thinned += result.spans;
    if (!ok) log_limited(&limit, LOG_LEVEL_WARNING, "traces cannot be thinned out: %s", error->message);
    if (!ok || result.more) return ok;

    thin_end(retention);
    if (retention->keep > 1) return TRUE;

    log_limited(
        &limit, LOG_LEVEL_WARNING,
        "there is nothing left to thin out: make room, or shorten retention.traces; without, no spans are taken "
        "from store.min-free on");
    retention->keep = 0;
    retention->rest_ns = now_ns() + REST_NS;
    return FALSE;
}

/* ---- the thread ---- */

/* What the journal still has of a trace is to be counted before the trace goes; but room comes first. */
static gboolean may_expire(const Retention *retention) {
    return retention->level >= SPACE_THIN || !atomic_load(&retention->options.recovery->goes_on);
}

/* What is past its age goes, every ten seconds. TRUE: there is more of it. */
static gboolean expire_if_due(Retention *retention, const RetentionLimits *limits) {
    if (now_ns() < retention->expire_ns || !may_expire(retention)) return FALSE;
    if (expire(retention, limits)) return TRUE;

    /* What the journal gives again of one that is removed would pass for all of it. */
    if (!atomic_load(&retention->options.recovery->goes_on)) remove_applications(retention, limits);
    retention->expire_ns = now_ns() + EXPIRE_NS;
    return FALSE;
}

static gint64 retention_round(void *arg) {
    Retention *retention = arg;
    const RetentionLimits limits = limits_now(retention);
    look_at_space(retention, &limits);

    gboolean more = expire_if_due(retention, &limits);
    if (retention->level < SPACE_THIN)
        thin_stop(retention);
    else if (thin(retention, &limits))
        more = TRUE;
    return more ? 0 : ROUND_NS;
}

Retention *retention_start(const RetentionOptions *options, const RetentionLimits *limits) {
    Retention *retention = g_new0(Retention, 1);
    retention->options = *options;
    retention->limits = *limits;
    pthread_mutex_init(&retention->lock, NULL);
    const PeriodicWork work = {"retention", ROUND_NS, retention_round, retention};
    retention->thread = periodic_thread_start(&work);
    return retention;
}

void retention_set_limits(Retention *retention, const RetentionLimits *limits) {
    pthread_mutex_lock(&retention->lock);
    retention->limits = *limits;
    pthread_mutex_unlock(&retention->lock);
}

void retention_stop(Retention *retention) {
    if (!retention) return;
    periodic_thread_stop(retention->thread);
    thin_stop(retention);
    pthread_mutex_destroy(&retention->lock);
    g_free(retention);
}
