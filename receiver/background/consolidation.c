#include "receiver/background/consolidation.h"

#include <errno.h>
#include <time.h>

#include "analyzer/archive/consolidation/join.h"
#include "analyzer/archive/consolidation/rollup.h"
#include "analyzer/archive/fill_known.h"
#include "analyzer/archive/kept_ids.h"
#include "analyzer/archive/removed_traces.h"
#include "analyzer/query/nodes/slowdowns.h"
#include "analyzer/query/spark/straggler_watch.h"
#include "analyzer/query/spark/tasks/trace_linker.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/periodic_thread.h"
#include "common/store/store_damage.h"
#include "receiver/shared/log.h"

/* From the end of one pass to the next. */
#define PASS_NS (5 * NS_PER_SEC)
/* Until late spans are looked at again: the longer, the more there was to do the last time. */
#define JOIN_PAUSE_MAX_NS (120 * NS_PER_SEC)
#define JOIN_SHARE        50 /* it is to take 1/50 of the time */
/* Late spans of one trace come in many small pieces over minutes. While there are few in all, they are joined as they
 * come; under load they gather until their trace has become quiet. As many as may wait take some 1 GB of disk. */
static const JoinWhen join_when = {
    .quiet_ns = 2 * NS_PER_MINUTE,
    .most_ns = 10 * NS_PER_MINUTE,
    .few_spans = 10000,
    .most_spans = 8000000,
};
/* At once: some ten milliseconds. */
#define FILL_TRACES 50000u
/* From one look at how the hosts are to the next: it takes a second or two of a large cluster. */
#define JUDGE_NS (5 * NS_PER_MINUTE)
/* Passes without anything new until the store is told. */
#define QUIET_PASSES 2u
/* From one look at tables that cannot be read to the next: all of each is read. */
#define DAMAGE_NS (5 * NS_PER_MINUTE)
/* Until it is ready. */
#define READY_NS (250 * NS_PER_MS)

static gint64 thread_cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (gint64)now.tv_sec * NS_PER_SEC + now.tv_nsec;
}

/* Not before 'from_ns' (monotonic), which it sets for the next time. */
static void join_late(Archive *archive, gint64 *from_ns) {
    static LogLimit limit;
    g_autoptr(GError) error = NULL;
    if (clock_monotonic_ns(clock_system()) < *from_ns) return;
    const gint64 begin_ns = thread_cpu_ns();
    if (!archive_join_due(archive, &join_when, &error))
        log_limited(&limit, LOG_LEVEL_WARNING, "late spans wait: %s", error->message);
    const gint64 pause_ns = MIN((thread_cpu_ns() - begin_ns) * JOIN_SHARE, JOIN_PAUSE_MAX_NS);
    *from_ns = clock_monotonic_ns(clock_system()) + pause_ns;
}

gboolean consolidation_join_few(Archive *archive, GError **error) {
    const JoinWhen few = {G_MAXINT64, G_MAXINT64, join_when.few_spans, G_MAXUINT64};
    return archive_join_due(archive, &few, error);
}

/* Until all are known, the store is asked for each trace. In steps, so that a stop need not wait. TRUE: more is
 * left. */
static gboolean fill_known(Archive *archive) {
    static LogLimit limit;
    gboolean done = FALSE;
    g_autoptr(GError) error = NULL;
    if (archive_fill_known(archive, FILL_TRACES, &done, &error)) return !done;
    log_limited(&limit, LOG_LEVEL_WARNING, "which traces are stored is not known: %s", error->message);
    return FALSE;
}

static void roll_up(Archive *archive) {
    static LogLimit limit;
    g_autoptr(GError) error = NULL;
    if (!archive_roll_up(archive, clock_wall_ns(clock_system()), &error))
        log_limited(&limit, LOG_LEVEL_WARNING, "statistics of hours and days wait: %s", error->message);
}

static void link_tasks(TraceLinker *linker) {
    static LogLimit limit;
    guint linked;
    g_autoptr(GError) error = NULL;
    if (!trace_linker_run(linker, clock_wall_ns(clock_system()) / NS_PER_MS, &linked, &error))
        log_limited(&limit, LOG_LEVEL_WARNING, "links from tasks to traces wait: %s", error->message);
}

static void add_slow_host(void *arg, const char *host, const char *class, double slowdown) {
    slow_hosts_add(arg, &(SlowHost){(char *)host, class, slowdown});
}

static void add_standing(void *arg, const char *class, const char *state, guint hosts) {
    slow_hosts_add_standing(arg, &(HostsStanding){class, state, hosts});
}

/* Not before 'from_ns' (monotonic), which it sets for the next time. */
static void judge_hosts(const ConsolidationOptions *options, gint64 *from_ns) {
    static LogLimit limit;
    g_autoptr(GError) error = NULL;
    if (clock_monotonic_ns(clock_system()) < *from_ns) return;
    Allowance allowance = {.budget = options->questions};
    allowance_begin(&allowance);
    const SlowdownVisitor visitor = {add_slow_host, add_standing, options->slow_hosts};
    const gint64 now_ns = clock_wall_ns(clock_system());
    const gboolean judged = slowdowns_find(options->archive, now_ns, &visitor, &error);
    allowance_end();

    if (judged) {
        slow_hosts_publish(options->slow_hosts, now_ns);
    } else {
        slow_hosts_refuse(options->slow_hosts);
        log_limited(&limit, LOG_LEVEL_WARNING,
                    "which hosts are slow could not be found, what was found last stands: %s", error->message);
    }
    *from_ns = clock_monotonic_ns(clock_system()) + JUDGE_NS;
}

/* Not before 'from_ns' (monotonic), which it sets for the next time. */
static void watch_stragglers(const ConsolidationOptions *options, StragglerWatch *watch, gint64 *from_ns) {
    static LogLimit limit;
    g_autoptr(GError) error = NULL;
    StragglerCounts counts;
    if (clock_monotonic_ns(clock_system()) < *from_ns) return;
    if (straggler_watch_look(watch, options->questions, clock_wall_ns(clock_system()), &counts, &error))
        straggling_set(options->straggling, &counts);
    else
        log_limited(&limit, LOG_LEVEL_WARNING, "stragglers of Spark could not be counted: %s", error->message);
    *from_ns = clock_monotonic_ns(clock_system()) + JUDGE_NS;
}

/* Not before 'from_ns' (monotonic), which it sets for the next time. */
static void check_damages(const ConsolidationOptions *options, gint64 *from_ns) {
    const gint64 now_ns = clock_monotonic_ns(clock_system());
    if (now_ns < *from_ns) return;
    if (*from_ns != 0) store_check_damages(archive_store(options->archive)); /* the opening was a look */
    *from_ns = now_ns + DAMAGE_NS;
}

/* What was stored when it was last looked at, and for how many passes that has been all. */
typedef struct Quiet {
    guint64 spans, waiting;
    guint passes;
} Quiet;

/* Under load files are merged many at a time; what is left of that when nothing more comes takes space, and each
 * question reads it. */
static void look_for_quiet(const ConsolidationOptions *options, Quiet *quiet) {
    Store *store = archive_store(options->archive);
    const ArchiveTotals totals = archive_totals(options->archive);
    if (totals.spans != quiet->spans || totals.late_waiting != quiet->waiting) {
        if (quiet->passes > QUIET_PASSES) store_set_quiet(store, FALSE);
        *quiet = (Quiet){totals.spans, totals.late_waiting, 0};
    } else if (quiet->passes < QUIET_PASSES) {
        quiet->passes++;
    } else if (quiet->passes == QUIET_PASSES && atomic_load(&options->space->level) == SPACE_FINE) {
        store_set_quiet(store, TRUE);
        quiet->passes++;
    }
}

/* Ids that are due to be forgotten, and the journal's last segment at the time that was seen. */
typedef struct Forgetting {
    gint64 before_ns; /* 0: nothing is due */
    guint64 segment;
} Forgetting;

/* Of a store that keeps all ids in its records there are none. */
static gboolean any_ids(const ConsolidationOptions *options, gint64 before_ns) {
    static LogLimit limit;
    g_autoptr(GError) error = NULL;
    gboolean any = FALSE;
    if (!archive_ids_due(options->archive, before_ns, &any, &error))
        log_limited(&limit, LOG_LEVEL_WARNING, "ids stay beside their traces: %s", error->message);
    return any;
}

/* Spans that are replayed after a crash are recognised by their ids: these stay as long as the journal may hold the
 * spans. */
static void forget_ids(const ConsolidationOptions *options, Forgetting *due) {
    static LogLimit limit;
    g_autoptr(GError) error = NULL;
    JournalUsage usage = journal_usage(options->journal);

    if (due->before_ns == 0) {
        const gint64 before_ns = MAX(clock_wall_ns(clock_system()) - options->ids_for_ns, 1);
        if (!any_ids(options, before_ns)) return;
        *due = (Forgetting){before_ns, usage.newest};
    }
    if (usage.segments > 0 && usage.oldest <= due->segment) return;

    /* What came in time for that joins its trace: without ids it would be told from repeats no more. What is damaged
     * never can; all else can later. */
    if (!archive_join(options->archive, &error)) {
        if (!g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_BUSY))
            log_limited(&limit, LOG_LEVEL_WARNING, "late spans wait: %s", error->message);
        if (!g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT)) return;
    }

    g_clear_error(&error);
    if (!archive_forget_ids(options->archive, due->before_ns, &error))
        log_limited(&limit, LOG_LEVEL_WARNING, "ids stay beside their traces: %s", error->message);
    due->before_ns = 0;
}

/* Removed traces that are noted, and the journal's last segment when that was looked at. */
typedef struct RemovedNoted {
    gboolean closed;
    guint32 generation;
    guint64 segment;
} RemovedNoted;

/* What the journal can give no more need not be told from what is new. */
static void forget_removed(const ConsolidationOptions *options, RemovedNoted *removed) {
    static LogLimit limit;
    g_autoptr(GError) error = NULL;
    if (!removed->closed) {
        if (!archive_removed_traces_any(options->archive)) return;
        removed->generation = archive_removed_traces_close(options->archive);
        removed->closed = TRUE;
        removed->segment = journal_usage(options->journal).newest;
    }
    const JournalUsage usage = journal_usage(options->journal);
    if (usage.segments > 0 && usage.oldest <= removed->segment) return;
    if (archive_removed_traces_forget(options->archive, removed->generation, &error))
        removed->closed = FALSE;
    else
        log_limited(&limit, LOG_LEVEL_WARNING, "removed traces stay noted: %s", error->message);
}

/* ---- the thread ---- */

struct Consolidation {
    ConsolidationOptions options;
    PeriodicThread *thread;

    /* of the thread alone */
    TraceLinker *linker;
    StragglerWatch *stragglers;
    Forgetting forgetting;
    RemovedNoted removed;
    Quiet quiet;
    gint64 join_from_ns, judge_from_ns, stragglers_from_ns, damage_from_ns;
};

static gint64 consolidation_round(void *arg) {
    Consolidation *consolidation = arg;
    const ConsolidationOptions *options = &consolidation->options;
    if (admission_is_shut_for(options->admission, ADMISSION_STARTING)) return READY_NS;

    if (fill_known(options->archive)) return 0;
    join_late(options->archive, &consolidation->join_from_ns);
    roll_up(options->archive);
    forget_ids(options, &consolidation->forgetting);
    forget_removed(options, &consolidation->removed);
    link_tasks(consolidation->linker);
    judge_hosts(options, &consolidation->judge_from_ns);
    watch_stragglers(options, consolidation->stragglers, &consolidation->stragglers_from_ns);
    check_damages(options, &consolidation->damage_from_ns);
    look_for_quiet(options, &consolidation->quiet);
    return PASS_NS;
}

Consolidation *consolidation_start(const ConsolidationOptions *options) {
    Consolidation *consolidation = g_new0(Consolidation, 1);
    consolidation->options = *options;
    consolidation->linker = trace_linker_new(options->archive);
    consolidation->stragglers = straggler_watch_new(options->archive);
    const PeriodicWork work = {"consolidation", READY_NS, consolidation_round, consolidation};
    consolidation->thread = periodic_thread_start(&work);
    return consolidation;
}

void consolidation_stop(Consolidation *consolidation) {
    if (consolidation == NULL) return;
    archive_hurry(consolidation->options.archive);
    periodic_thread_stop(consolidation->thread);
    trace_linker_free(consolidation->linker);
    straggler_watch_free(consolidation->stragglers);
    g_free(consolidation);
}
