/* All parts of plumbd, started and stopped in the right order. Knows no signals and no command line.
 *
 * docs/ARCHITECTURE.md says which threads there are, and what each owns. How they hear of each other:
 *
 *   main                                    sigwait
 *   lifecycle                               is started for a start or a stop; a signal to main when done
 *   recovery                                a flag to stop
 *   net-N                                   event loop; an eventfd for new connections and the stop
 *   shard-N, recorder                       a mailbox
 *   http                                    event loop; an eventfd for answers of query threads
 *   query                                   the queue of questions
 *   join                                    a lock over what is left to join
 *   resources, consolidation, retention,    a timed wait
 *   watchdog
 *
 *   net-N  --fragments (one message per shard and round)-->  shard-N  --groups-->  store
 *     |                                                       ^
 *     '--frames--> journal (one lock, one write)             '-- orders: query threads (flush, one trace),
 *                    ^                                            resource control (what keeps old segments)
 *                    '-- segments that nothing needs: resource control
 *
 * Shared: the store and the archive (thread-safe), the dictionary, admission, senders, counters (a block per
 * thread). */
#pragma once

#include "receiver/background/recovery.h"
#include "receiver/settings.h"

typedef struct Daemon Daemon;

/* Sent to the process when only a new one can go on (store_watch.h): whoever waits for signals ends it at once, with a
 * code that has it started anew. */
#define DAEMON_RESTART_SIGNAL SIGUSR2

/* Binds the ports, opens journal, store and archive, starts shards and HTTP (not ready yet). Nothing new is left on
 * disk when it fails. settings must outlive the daemon. */
Daemon *daemon_open(const Settings *settings, GError **error);
/* Takes spans from then on; what the journal holds is replayed meanwhile. */
gboolean daemon_start(Daemon *daemon, GError **error);
/* Addresses with real ports; borrowed. */
const char *daemon_thrift(const Daemon *daemon);
const char *daemon_http(const Daemon *daemon);
const char *daemon_hrpc(const Daemon *daemon); /* NULL: off */
/* Takes over the options that can change while running; settings must outlive the daemon. Not while it stops. */
void daemon_reload(Daemon *daemon, const Settings *settings);
/* The configuration is bad, and all stays; files that log rotation has moved away are opened anew all the same. */
void daemon_refuse_reload(Daemon *daemon, const char *why);
/* Takes no more spans, stores those that were taken, removes the journal. What there is no time for (stop.timeout; not
 * with ack=memory), and what was not replayed yet, stays in the journal. FALSE: the store failed to the end, and what
 * it lacks is in the journal (or, with ack=memory, lost; *error says so). After daemon_start(), whatever that returned.
 */
gboolean daemon_stop(Daemon *daemon, GError **error);
/* After daemon_stop(), or when daemon_start() was never called. */
void daemon_free(Daemon *daemon);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Daemon, daemon_free)
