/* All parts of plumbd, started and stopped in the right order. Knows no signals and no command line.
 *
 * Threads, who owns what, and how they hear of each other:
 *
 *   main         signals; calls what is below              sigwait
 *   lifecycle    start and orderly stop, so that signals   a signal to main when done
 *                are heard meanwhile
 *   recovery     what the journal held at the start, till  a flag to stop
 *                all of it is with the shards
 *   net-N        its connections, buffers, decoder and     event loop; an eventfd for new connections and the stop
 *                packer (Intake)
 *   shard-N      its open traces and its ArchiveWriter     its mailbox
 *   http         HTTP connections                          event loop; an eventfd for answers of query threads
 *   query        the question at hand; a flush joins       the queue of questions
 *                late spans with one thread (join) more
 *   resources    nothing: disk, journal and memory stay    a timed wait
 *                within their limits
 *   consolidation  joins late spans, sums up statistics    a timed wait
 *   retention    removes records, at their age and for     a timed wait
 *                want of space
 *
 *   net-N  --records (one message per shard and round)-->  shard-N  --groups-->  store
 *     |                                                       ^
 *     '--frames--> journal (one lock, one write)             '-- orders: http's query threads (flush, one trace),
 *                    ^                                            resource control (what keeps old segments)
 *                    '-- segments that nothing needs: resource control
 *
 * Shared: the store and the archive (thread-safe), the dictionary, admission, senders, counters (a block per
 * thread). */
#pragma once

#include "receiver/background/recovery.h"
#include "receiver/settings.h"

typedef struct Daemon Daemon;

/* Binds the ports, opens journal, store and archive, starts shards and HTTP (not ready yet). Nothing new is left on
 * disk when it fails. settings must outlive the daemon. */
Daemon *daemon_open(const Settings *settings, GError **error);
/* Takes spans from then on; what the journal holds is replayed meanwhile. */
gboolean daemon_start(Daemon *daemon, GError **error);
/* Addresses with real ports; borrowed. */
const char *daemon_thrift(const Daemon *daemon);
const char *daemon_http(const Daemon *daemon);
/* Takes over the options that can change while running; settings must outlive the daemon. Not while it stops. */
void daemon_reload(Daemon *daemon, const Settings *settings);
/* Takes no more spans, stores those that were taken, removes the journal. What there is no time for (stop.timeout; not
 * with ack=memory), and what was not replayed yet, stays in the journal. FALSE: the store failed to the end, and what
 * it lacks is in the journal (or, with ack=memory, lost; *error says so). After daemon_start(), whatever that returned.
 */
gboolean daemon_stop(Daemon *daemon, GError **error);
/* After daemon_stop(), or when daemon_start() was never called. */
void daemon_free(Daemon *daemon);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Daemon, daemon_free)
