/* A memory store that can be made to fail, with all that shards and intakes need around it. */
#pragma once

#include "receiver/net/intake.h"

typedef struct Fixture {
    char *folder; /* of the journal */
    Store *store;
    Archive *archive;
    Journal *journal;
    Admission *admission;
    CounterSet *counters;
    Senders *senders;
    Accounts *accounts;
    NamingRules *rules;
    Shard **shards;
    guint n_shards;
    OpenLimits limits;
    gsize mailbox_bytes;
    guint64 replayed; /* of ShardOptions */
    SharedText sampling;
} Fixture;

/* With defaults that close nothing by themselves; change limits before fixture_start(). */
Fixture *fixture_new(void);
void fixture_start(Fixture *fixture, guint n_shards);
/* Stops the shards, unless the test did. */
void fixture_free(Fixture *fixture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Fixture, fixture_free)

IntakeOptions fixture_intake(const Fixture *fixture);
/* Writes to the store fail, as on a full disk, until it is called again. */
void fixture_store_fails(gboolean fails);
/* Each shard gets a trace of one span, and waits in the middle of storing it; so does whoever else writes. */
#define FIXTURE_HELD_TRACE 1000000u
Waiter *fixture_hold_shards(Fixture *fixture);
void fixture_let_go(Waiter *waiter);
/* Reading from the store finds damage, until it is called again. */
void fixture_store_damaged(gboolean damaged);
/* The mark that covers what the store has been given up to now. */
void fixture_next_mark(guint64 mark);
gboolean fixture_flush(Fixture *fixture, guint64 *closed);
guint64 fixture_count(Fixture *fixture, Counter counter);
/* Waits until a condition holds; a test that waits for ever is ended by ctest. */
#define WAIT_FOR(condition)                                                                                            \
    while (!(condition)) g_usleep(200)

/* The payload of a submit frame: n spans of one trace, numbered from first on; number 1 is the root. */
GByteArray *fixture_frame(guint64 trace, guint64 first, guint n);
/* The same spans, as shards get them. */
typedef struct FixtureSpans {
    guint64 trace, first;
    guint n;
} FixtureSpans;
void fixture_put(Shard *shard, FixtureSpans spans, JournalSegment *segment);
