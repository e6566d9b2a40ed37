/* What requests took, added up by whatever is told apart, and by the second in which a request began. */
#pragma once

#include "analyzer/query/bottleneck/estimate.h"
#include "common/model/role.h"

/* What is told apart, and by which numbers. */
typedef enum {
    TALLY_OPERATION, /* name of the root */
    TALLY_SIZE,      /* name of the root, class of size */
    TALLY_FUNCTION,  /* name, role */
    TALLY_WAIT,      /* role (ROLE_LOCAL: of nobody), resource */
    TALLY_PROCESS,   /* tracer */
    TALLY_CALL,      /* tracer, name, resource */
    TALLY_OF_SIZE,   /* name of the root << 3 | class of size, role, resource: a wait of these requests */
    TALLY_KINDS
} TallyKind;

typedef struct TallyKey {
    guint32 kind; /* TallyKind */
    guint32 a, b, c;
} TallyKey;

typedef struct TallySecond {
    guint32 second; /* its number */
    guint32 calls;
    gint64 total_ns, self_ns, critical_ns;
} TallySecond;

typedef struct Tally {
    TallyKey key;
    TallySecond all; /* the sum; its second is of no meaning */
    gint64 bytes;
    GArray *seconds; /* TallySecond; of one second there may be several */
} Tally;

typedef struct Tallies Tallies;
Tallies *tallies_new(void);
void tallies_free(Tallies *tallies);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Tallies, tallies_free)
/* What is added from now on is of this second since 1970: they come in any order, as the clocks of hosts differ. */
void tallies_in_second(Tallies *tallies, gint64 second);
guint tallies_seconds(const Tallies *tallies); /* how many there were */
/* The one with that key, to which these times (their second is not looked at) were added. */
Tally *tallies_add(Tallies *tallies, TallyKey key, const TallySecond *times);
const Tally *tallies_find(const Tallies *tallies, TallyKey key); /* NULL: nothing was added */
/* All of a kind, those with most critical-path time first. A new array of const Tally *. */
GPtrArray *tallies_of(const Tallies *tallies, TallyKind kind);

/* Of one second; as a double, for estimates. */
typedef double (*TallyField)(const TallySecond *times);
double tally_calls(const TallySecond *times);
double tally_total(const TallySecond *times);
double tally_critical(const TallySecond *times);
/* One value for each second, 0 where there is nothing. A new array. */
double *tally_values(const Tallies *tallies, const Tally *tally, TallyField field);
