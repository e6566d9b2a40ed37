/* Spans of simulated work, for the tests of the critical path through waits. */
#pragma once

#include "common/base/clock.h"
#include "tests/calltree/world.h"

#define TRACE      7u
#define STAGES_MAX 5u
#define US         G_GINT64_CONSTANT(1000)

/* Each DataNode on a host of its own, which is not that of the first process. */
static inline guint tracer_of(guint server) { return 4 * (1 + server); }

typedef struct Maker {
    const World *world;
    GByteArray *bytes;
    guint last_id;
    guint tracer;
    gint64 skew_ns, begin_ns; /* the clock of the host is ahead; when the block was begun */
} Maker;

/* parent: 0: none. Returns its id. */
guint add_call(Maker *m, const char *name, guint parent, gint64 from_ns, gint64 to_ns);

/* What came before by so many packets; 0: nothing did. */
static inline gint64 before(const gint64 *times, guint packet, guint by) {
    return packet >= by ? times[packet - by] : 0;
}
/* From half to one and a half of the average. */
gint64 service_ns(GRand *rand, gint64 mean_us);

/* The shares of all that a root lost, in percent, of each DataNode's calls of this name. NULL: of all of its calls. */
void measure(const World *world, const GByteArray *bytes, const char *name, double shares[STAGES_MAX]);
