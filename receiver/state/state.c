#include "receiver/state/state.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/clock.h"

static gint64 cpu_ns(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_SEC +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * NS_PER_US;
}

static guint64 rss_bytes(void) {
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file) return 0;
    unsigned long size, resident = 0;
    if (fscanf(file, "%lu %lu", &size, &resident) != 2) resident = 0;
    fclose(file);
    return (guint64)resident * (guint64)sysconf(_SC_PAGESIZE);
}

static void collect_shards(State *state, const StateSources *sources, gint64 now_ns) {
    for (guint i = 0; i < sources->n_shards; i++) {
        ShardState shard = shard_state(sources->shards[i]);
        state->open_traces += shard.traces;
        state->open_spans += shard.spans;
        state->open_bytes += shard.bytes;
        state->arena_bytes += shard.arena_bytes;
        state->arena_held_bytes += shard.arena_held_bytes;
        state->queued_bytes += shard.mailbox_bytes;
        state->open_large_traces += shard.large_traces;
        state->spilled_spans += shard.spilled_spans;
        state->spilled_bytes += shard.spilled_bytes;
        state->spill_file_bytes += shard.spill_file_bytes;
        if (shard.oldest_ns) state->lag_ns = MAX(state->lag_ns, now_ns - shard.oldest_ns);
    }
}

void state_collect(State *state, const StateSources *sources) {
    *state = (State){0};
    gint64 now_ns = clock_monotonic_ns(clock_system());
    state->uptime_ns = now_ns - sources->started_ns;

    state->reason = admission_describe(sources->admission);
    if (!state->reason) state->reason = name_quota_describe(sources->quota);
    state->ready = state->reason == NULL;
    state->names = name_quota_state(sources->quota);
    state->recovered = recovery_share(sources->recovery);

    Net *net = atomic_load(sources->net), *hrpc = atomic_load(sources->hrpc);
    if (net) state->connections = net_connections(net);
    if (hrpc) state->connections += net_connections(hrpc);
    state->readers = shares_connections(sources->shares, PEER_READERS);
    state->peers = shares_count(sources->shares);
    state->buffered_bytes = shares_buffered_bytes(sources->shares);
    state->spans_per_s = rate_per_s(sources->rate);

    for (int i = 0; i < COUNTER_COUNT; i++) state->counters[i] = counter_set_sum(sources->counters, (Counter)i);
    collect_shards(state, sources, now_ns);
    state->records_waiting = recorder_waiting(sources->recorder);
    state->queued_bytes += recorder_queued_bytes(sources->recorder);

    JournalUsage journal = journal_usage(sources->journal);
    state->journal_bytes = journal.bytes;
    state->journal_segments = journal.segments;
    state->senders = senders_count(sources->senders);
    state->sampling = atomic_load(sources->sampling);
    state->cpu_ns = cpu_ns();
    state->rss_bytes = rss_bytes();
}

void state_clear(State *state) { g_clear_pointer(&state->reason, g_free); }

guint64 state_closed_early(const State *state) {
    return state->counters[COUNTER_TRACE_MEMORY] + state->counters[COUNTER_TRACE_JOURNAL] +
           state->counters[COUNTER_TRACE_SIZE];
}
