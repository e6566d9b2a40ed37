/* What a running plumbd can say of itself: one snapshot, from which status (JSON) and metrics (Prometheus) are made, so
 * that both say the same. It asks every part of plumbd, and no part asks it. */
#pragma once

#include "common/base/allowance.h"
#include "receiver/journal/journal.h"
#include "receiver/journal/recovery_view.h"
#include "receiver/net/net.h"
#include "receiver/secure/audit.h"
#include "receiver/secure/port.h"
#include "receiver/secure/quota.h"
#include "receiver/secure/security.h"
#include "receiver/shared/accounts.h"
#include "receiver/shared/admission.h"
#include "receiver/shared/counters.h"
#include "receiver/shared/kafka_view.h"
#include "receiver/shared/name_quota.h"
#include "receiver/shared/senders.h"
#include "receiver/shared/shares.h"
#include "receiver/shared/slow_hosts.h"
#include "receiver/shared/space.h"
#include "receiver/shared/straggling.h"
#include "receiver/shared/tally.h"
#include "receiver/state/control_view.h"
#include "receiver/state/rate.h"
#include "receiver/traces/recorder.h"
#include "receiver/traces/shard.h"

/* The parts of plumbd that say something of themselves in status and metrics. All must outlive whoever has it; nobody
 * does anything to them by way of it. */
typedef struct StateSources {
    Archive *archive;
    Admission *admission;
    CounterSet *counters;
    Senders *senders;
    Shares *shares;
    NameQuota *quota;
    Accounts *accounts;
    Journal *journal;
    Rate *rate;
    const ControlView *view;
    const SharedText *sampling;
    const SpaceView *space;
    SlowHosts *slow_hosts;
    Tally *tally;
    Straggling *straggling;
    const RecoveryView *recovery;
    Shard *const *shards;
    guint n_shards;
    Recorder *recorder;
    const AllowanceBudget *questions;              /* memory of those that are being answered */
    Net *_Atomic const *net, *_Atomic const *hrpc; /* NULL until spans are taken */
    const KafkaView *kafka;
    const char *kafka_topic;
    const PortInfo *ports; /* PORTS */
    Security *security;
    Audit *audit;
    Quotas *quotas;
    gint64 started_ns; /* monotonic */
} StateSources;

typedef struct State {
    gint64 uptime_ns;
    gboolean ready;
    char *reason;     /* why not ready */
    double recovered; /* share of the journal found at the start that is replayed; 1: all */
    NameQuotaState names;
    guint connections;
    guint readers, peers; /* connections over HTTP; peers that have connections */
    gsize buffered_bytes;
    double spans_per_s;
    guint64 counters[COUNTER_COUNT];
    guint64 open_traces, open_large_traces, open_spans, open_bytes, queued_bytes;
    guint64 arena_bytes, arena_held_bytes; /* of open_bytes, those of traces; and what the system sees of those */
    guint64 spilled_spans, spilled_bytes, spill_file_bytes; /* of the open ones: those not in memory */
    guint64 records_waiting;                                /* of Spark: taken, not in the store yet */
    gint64 lag_ns;
    guint64 journal_bytes;
    guint journal_segments;
    guint senders;
    const char *sampling; /* what senders are told; "": nothing */
    gint64 cpu_ns;
    guint64 rss_bytes;
} State;

void state_collect(State *state, const StateSources *sources);
void state_clear(State *state);
/* Traces that were stored before they were complete. */
guint64 state_closed_early(const State *state);
