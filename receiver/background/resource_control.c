#include "receiver/background/resource_control.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/periodic_thread.h"
#include "receiver/background/advice.h"
#include "receiver/background/damage_watch.h"
#include "receiver/background/idle_rule.h"
#include "receiver/background/memory.h"
#include "receiver/background/store_watch.h"
#include "receiver/shared/log.h"

#define ROUND_NS (250 * NS_PER_MS)
/* How often what the allocator keeps, and what of the dictionary is not used, goes back to the system. */
#define TRIM_ROUNDS 8
/* As RESOURCE_CONTROL_FLUSH_NS, while files are not merged in some family. */
#define DAMAGED_FLUSH_NS (5 * NS_PER_MINUTE)

/* The mark that the store was last asked to reach, and when to ask again even so. */
typedef struct Flushing {
    guint64 asked;
    gint64 again_ns;
    gboolean failed; /* the last time the store was asked */
} Flushing;

/* What of the senders' spans was seen at the last look. */
typedef struct Advising {
    Advice advice;
    guint64 spans; /* received at the last look */
    gint64 time_ns;
} Advising;

struct ResourceControl {
    ResourceControlOptions options;
    PeriodicThread *thread;
    pthread_mutex_t lock;
    ResourceControlLimits limits; /* under the lock */
    _Atomic gint64 seen_ns;       /* when the last round began */

    /* of the thread alone */
    guint round;
    Flushing flushing;
    StoreWatch watch;
    DamageWatch damage;
    Advising advising;
    OtherMemory others;
};

/* ---- journal ---- */

typedef struct Trim {
    const JournalUsers *users;
    guint64 reached_mark; /* read before, as the journal's lock is held while segments are looked at */
} Trim;

static guint64 oldest_needed(void *arg) {
    const Trim *trim = arg;
    guint64 oldest = JOURNAL_NONE;
    for (guint i = 0; i < trim->users->n_shards; i++)
        oldest = MIN(oldest, shard_needs(trim->users->shards[i], trim->reached_mark));
    return MIN(oldest, recorder_needs(trim->users->recorder, trim->reached_mark));
}

void resource_control_trim(const JournalUsers *users) {
    Trim trim = {users, store_reached_mark(archive_store(users->archive))};
    journal_trim(users->journal, oldest_needed, &trim);
}

/* What open traces and the store's memory keep: to store them sooner makes what is not replayed yet no less. */
static guint64 held_bytes(const JournalUsage *usage) { return usage->bytes - usage->unread_bytes; }

static void bound_journal(const ResourceControlOptions *options) {
    const JournalUsers *users = &options->users;
    const guint64 limit_bytes = atomic_load(&options->view->journal_limit_bytes);
    JournalUsage usage = journal_usage(users->journal);
    gboolean full = usage.bytes > 2 * limit_bytes;
    const char *why =
        usage.unread_bytes > 0
            ? "the journal has twice what it may have (journal.limit, or a quarter of what is free): first some of "
              "what was found in it is recovered"
            : "the journal has twice what it may have (journal.limit, or a quarter of what is free) and the store does "
              "not keep up: see whether its disk works, make room, or raise journal.limit";
    if (admission_set(options->admission, ADMISSION_JOURNAL_FULL, full ? why : NULL))
        log_message(full ? LOG_LEVEL_ERROR : LOG_LEVEL_NOTICE, "%s", full ? why : "the journal has room again");
    if (held_bytes(&usage) <= limit_bytes || admission_is_shut_for(options->admission, ADMISSION_STORE_FAILS)) return;
    guint64 up_to = usage.oldest + (usage.newest - usage.oldest) / 2;
    for (guint i = 0; i < users->n_shards; i++) shard_store_segments(users->shards[i], up_to);
}

/* Asks the store to write out its memory when that keeps the journal from getting shorter. */
static void flush_store(const ResourceControlOptions *options, Flushing *flushing) {
    static LogLimit limit;
    const JournalUsers *users = &options->users;
    Store *store = archive_store(users->archive);
    gint64 now_ns = clock_monotonic_ns(clock_system()), since_ns = recorder_unflushed_since_ns(users->recorder);

    for (guint i = 0; i < users->n_shards; i++) {
        gint64 shard_ns = shard_unflushed_since_ns(users->shards[i]);
        if (shard_ns > 0 && (since_ns == 0 || shard_ns < since_ns)) since_ns = shard_ns;
    }
    if (since_ns == 0) {
        flushing->failed = FALSE;
        return;
    }

    gboolean under_way = store_reached_mark(store) < flushing->asked && now_ns < flushing->again_ns;
    const JournalUsage usage = journal_usage(users->journal);
    const guint64 journal_bytes = held_bytes(&usage);
    const guint64 journal_limit_bytes = atomic_load(&options->view->journal_limit_bytes);
    /* A flush makes a file in each family, however small: compactions pay for it, if there are any. */
    const gint64 wait_ns = journal_bytes > journal_limit_bytes       ? 0
                           : journal_bytes > journal_limit_bytes / 2 ? RESOURCE_CONTROL_FLUSH_NS / 4
                           : store_has_damage(store)                 ? DAMAGED_FLUSH_NS
                                                                     : RESOURCE_CONTROL_FLUSH_NS;
    const gboolean due = now_ns - since_ns >= wait_ns;
    gboolean flush = due && !under_way;

    guint64 mark = store_next_mark(store);
    g_autoptr(GError) error = NULL;
    flushing->failed = !store_set_mark(store, flush, &error);
    if (flushing->failed)
        log_limited(&limit, LOG_LEVEL_WARNING, "the store cannot write out what it has in memory: %s", error->message);
    if (flush) flushing->asked = mark;
    if (flush) flushing->again_ns = now_ns + RESOURCE_CONTROL_FLUSH_NS;

    if (admission_set(options->admission, ADMISSION_STORE_FLUSH, flushing->failed ? error->message : NULL) &&
        !flushing->failed)
        log_message(LOG_LEVEL_NOTICE, "the store writes out what it has in memory again");
}

/* A store that does not recover by itself: receiver/background/store_watch.h. */
static void watch_store(const ResourceControlOptions *options, StoreWatch *watch) {
    Admission *admission = options->admission;
    const gboolean fails = admission_is_shut_for(admission, ADMISSION_STORE_FAILS) ||
                           admission_is_shut_for(admission, ADMISSION_STORE_FLUSH);
    const StoreFolder folder = {options->store_path, options->store_needs_bytes};
    if (!store_watch_look(watch, fails, &folder, clock_monotonic_ns(clock_system()))) return;
    if (options->uses_journal) {
        log_message(LOG_LEVEL_ERROR,
                    "the store takes nothing although files can be written in %s: plumbd ends, to be "
                    "started anew; the journal has what the store lacks",
                    options->store_path);
        options->restart();
    } else {
        log_message(LOG_LEVEL_ERROR,
                    "the store takes nothing although files can be written in %s: start plumbd anew; "
                    "with journal.ack = memory it does not end by itself, since spans would be lost",
                    options->store_path);
    }
}

static void probe_journal(const ResourceControlOptions *options) {
    if (!admission_is_shut_for(options->admission, ADMISSION_JOURNAL_FAILS)) return;
    g_autoptr(GError) error = NULL;
    if (!journal_probe(options->users.journal, &error)) {
        admission_explain(options->admission, ADMISSION_JOURNAL_FAILS, error->message);
        return;
    }
    if (admission_set(options->admission, ADMISSION_JOURNAL_FAILS, NULL))
        log_message(LOG_LEVEL_NOTICE, "the journal can be written again");
}

/* ---- space ---- */

static void watch_space(const ResourceControlOptions *options, guint64 min_free_bytes) {
    guint64 store = space_free_bytes(options->store_path);
    guint64 journal = options->uses_journal ? space_free_bytes(options->journal_path) : G_MAXUINT64;
    const char *path = store <= journal ? options->store_path : options->journal_path;
    guint64 least = MIN(store, journal);
    g_autofree char *why = NULL;
    if (least < min_free_bytes)
        why =
            g_strdup_printf("%.0f MB are free on the file system of %s, less than store.min-free (%.0f MB): make room "
                            "there, shorten retention.traces or lower it",
                            (double)least / 1e6, path, (double)min_free_bytes / 1e6);
    if (!admission_set(options->admission, ADMISSION_STORE_SPACE, why)) return;
    if (why)
        log_message(LOG_LEVEL_ERROR, "%s; no new spans are taken until then", why);
    else
        log_message(LOG_LEVEL_NOTICE, "there is enough free space again");
}

/* Says how much the journal may have; spare files go while there is little room. */
static void bound_disk(const ResourceControlOptions *options, const ResourceControlLimits *limits) {
    const JournalUsers *users = &options->users;
    const char *path = options->uses_journal ? options->journal_path : options->store_path;
    const JournalUsage usage = journal_usage(users->journal);
    JournalRoom room = {.limit_bytes = limits->journal_limit_bytes,
                        .segment_bytes = options->segment_bytes,
                        .free_bytes = space_free_bytes(path),
                        .used_bytes = usage.bytes + usage.spare_bytes,
                        .reserve_bytes = limits->min_free_bytes};
    if (space_is_shared(path, options->store_path))
        room.reserve_bytes = MAX(room.reserve_bytes, limits->thin_free_bytes);
    for (guint i = 0; i < users->n_shards; i++) room.used_bytes += shard_state(users->shards[i]).spill_file_bytes;
    if (space_is_wanted(&room)) journal_drop_spares(users->journal);
    atomic_store(&options->view->journal_limit_bytes, space_for_journal(&room));
}

/* ---- what senders are told ---- */

static void advise(ResourceControl *control, const ResourceControlLimits *limits, Advising *advising) {
    const ResourceControlOptions *options = &control->options;
    const JournalUsers *users = &options->users;
    SharedText *told = options->sampling;
    if (!limits->sampling_auto) {
        advising->advice = (Advice){0};
        atomic_store(told, limits->sampling);
        return;
    }

    gint64 now_ns = clock_monotonic_ns(clock_system());
    guint64 spans = counter_set_sum(options->counters, COUNTER_SPANS);
    AdviceInput input = {.budget = limits->sampling_spans_per_s,
                         .queue_bytes = options->queue_bytes,
                         .try_later = counter_set_sum(options->counters, COUNTER_TRY_LATER),
                         .space_is_thin = atomic_load(&options->space->level) == SPACE_THIN};
    if (advising->time_ns > 0)
        input.spans_per_s = (double)(spans - advising->spans) * 1e9 / (double)MAX(now_ns - advising->time_ns, 1);
    for (guint i = 0; i < users->n_shards; i++) input.queued_bytes += shard_state(users->shards[i]).mailbox_bytes;
    advising->spans = spans;
    advising->time_ns = now_ns;

    const char *why = advice_pressure(&advising->advice, &input), *before = atomic_load(told);
    const char *policy = advice_next(&advising->advice, &input, now_ns);
    atomic_store(told, policy);
    if (strcmp(policy, before) == 0) return;

    if (why)
        log_message(LOG_LEVEL_WARNING, "senders are told to trace %s of each function: %s", policy, why);
    else
        log_message(LOG_LEVEL_NOTICE, "senders are told to trace %s again", policy);
}

/* ---- what open traces may have ---- */

static IdleTimes idle_times_now(const ResourceControlOptions *options, const ResourceControlLimits *limits) {
    const JournalUsage usage = journal_usage(options->users.journal);
    const IdleRuleInput input = {.idle_ns = limits->idle_ns,
                                 .max_age_ns = limits->max_age_ns,
                                 .spans_per_s = rate_per_s(options->rate),
                                 .journal_bytes = held_bytes(&usage),
                                 .journal_limit_bytes = atomic_load(&options->view->journal_limit_bytes)};
    const IdleTimes times = idle_times_of(&input);
    atomic_store(&options->view->idle_ns, times.idle_ns);
    atomic_store(&options->view->large_idle_ns, times.large_idle_ns);
    return times;
}

static void share_out(const ResourceControlOptions *options, OtherMemory *others, const ResourceControlLimits *limits) {
    MemoryUse use = {.resident_bytes = memory_resident_bytes()};
    if (use.resident_bytes == 0) return; /* the shares stay as they are */
    for (guint i = 0; i < options->users.n_shards; i++) {
        ShardState shard = shard_state(options->users.shards[i]);
        use.held_bytes += shard.arena_held_bytes;
        use.used_bytes += shard.arena_bytes;
    }
    const IdleTimes times = idle_times_now(options, limits);
    const ShardShare share = {
        .memory_bytes = memory_for_traces(others, &use, limits->memory_bytes) / options->users.n_shards,
        .disk_bytes = atomic_load(&options->view->journal_limit_bytes) / options->users.n_shards,
        .idle_ns = times.idle_ns,
        .large_idle_ns = times.large_idle_ns,
    };
    for (guint i = 0; i < options->users.n_shards; i++) shard_set_share(options->users.shards[i], &share);
}

/* ---- the thread ---- */

static ResourceControlLimits limits_now(ResourceControl *control) {
    pthread_mutex_lock(&control->lock);
    const ResourceControlLimits limits = control->limits;
    pthread_mutex_unlock(&control->lock);
    return limits;
}

/* What need not be looked at four times a second. */
static void look_each_second(ResourceControl *control, const ResourceControlLimits *limits) {
    const ResourceControlOptions *options = &control->options;
    name_quota_watch(options->quota);
    damage_watch_look(&control->damage, archive_store(options->users.archive));
    advise(control, limits, &control->advising);
    rate_feed(options->rate, counter_set_sum(options->counters, COUNTER_SPANS), clock_monotonic_ns(clock_system()));
}

static gint64 resource_control_round(void *arg) {
    ResourceControl *control = arg;
    const ResourceControlOptions *options = &control->options;
    const ResourceControlLimits limits = limits_now(control);
    const gboolean each_second = control->round % 4 == 0;
    atomic_store(&control->seen_ns, clock_monotonic_ns(clock_system()));

    watch_space(options, limits.min_free_bytes);
    bound_disk(options, &limits);
    probe_journal(options);
    const gboolean rests = control->round % TRIM_ROUNDS == 0;
    if (rests || memory_is_trim_asked()) memory_trim();
    if (rests) archive_rest(options->users.archive);
    if (each_second) look_each_second(control, &limits);

    share_out(options, &control->others, &limits); /* what a group takes while it is written is soon gone */
    resource_control_trim(&options->users);
    flush_store(options, &control->flushing);
    watch_store(options, &control->watch);
    if (each_second) bound_journal(options);
    control->round++;
    return ROUND_NS;
}

ResourceControl *resource_control_start(const ResourceControlOptions *options, const ResourceControlLimits *limits) {
    ResourceControl *control = g_new0(ResourceControl, 1);
    control->options = *options;
    control->limits = *limits;
    atomic_init(&control->seen_ns, clock_monotonic_ns(clock_system()));
    pthread_mutex_init(&control->lock, NULL);
    control->others.expected_bytes = options->others_bytes;
    watch_space(options, limits->min_free_bytes);
    bound_disk(options, limits);
    idle_times_now(options, limits);
    const PeriodicWork work = {"resources", ROUND_NS, resource_control_round, control};
    control->thread = periodic_thread_start(&work);
    return control;
}

gint64 resource_control_seen_ns(ResourceControl *control) { return atomic_load(&control->seen_ns); }

void resource_control_set_limits(ResourceControl *control, const ResourceControlLimits *limits) {
    pthread_mutex_lock(&control->lock);
    control->limits = *limits;
    pthread_mutex_unlock(&control->lock);
}

void resource_control_stop(ResourceControl *control) {
    if (!control) return;
    periodic_thread_stop(control->thread);
    damage_watch_clear(&control->damage);
    pthread_mutex_destroy(&control->lock);
    g_free(control);
}
