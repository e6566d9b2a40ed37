/* What is normal for a function, and whether calls were slower than that.
 *
 * A host is compared with the others in the same period; where no other ran the function then, with the others in the
 * 24 hours before; where none did (there is one NameNode, or one DataNode), with itself in these 24 hours. */
#pragma once

#include "analyzer/calltree/stats/node_stats.h"
#include "analyzer/query/shared/question.h"

typedef enum NormalOf { NORMAL_ALL, NORMAL_THERE, NORMAL_ELSEWHERE, NORMAL_BEFORE, NORMAL_COUNT } NormalOf;

typedef struct Normals {
    Period period;
    NodeStats of[NORMAL_COUNT];
} Normals;

/* The hour in which it lies. */
Period normal_hour(gint64 time_ns);

typedef struct NormalAsk {
    guint32 function;
    guint32 host; /* 0: unknown; then all hosts are elsewhere */
    Period period;
} NormalAsk;
gboolean normals_load(Archive *archive, const NormalAsk *ask, Normals *normals, GError **error);
void normals_clear(Normals *normals);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Normals, normals_clear)

/* Adds "normal", "normal_on_host", "normal_elsewhere" and "normal_before" (measures, each only where there are calls)
 *  and the period. */
void json_add_normals(json_t *object, Archive *archive, Normals *normals);

typedef enum Pace { PACE_UNKNOWN, PACE_NORMAL, PACE_SLOW } Pace;
const char *pace_name(Pace pace); /* "unknown", "normal", "slow" */

/* Compared is a mean over calls: of their self time, since what a call waited for in others is theirs; or of their
 * critical time, where a function works at nothing and is waited for (work_is_waited()). Slow: it is at least
 * PACE_TIMES the usual one (of critical times PACE_TIMES_CRITICAL: whom all wait for hangs on little), and the
 * difference more than PACE_ERRORS standard errors of as many usual calls. Their deviation is that of their whole
 * times, since that of self times is not kept; of critical times it is taken to be their mean. How much of a call
 * is critical hangs on its caller, too (of one that reads with many threads next to nothing is), so
 * PACE_CRITICAL_FLOOR_NS is added to both means: only what stands still for longer is told. Unknown: there is
 * nothing to compare with. */
#define PACE_TIMES             1.5
#define PACE_TIMES_CRITICAL    3.0
#define PACE_CRITICAL_FLOOR_NS 10e6
#define PACE_ERRORS            3.0
typedef enum PaceOf { PACE_OF_SELF, PACE_OF_CRITICAL } PaceOf;
typedef struct PaceFound {
    Pace pace;
    NormalOf basis; /* NORMAL_ELSEWHERE or NORMAL_BEFORE; not of PACE_UNKNOWN */
    double usual_ns, times;
} PaceFound;
/* ns: of all those calls. */
PaceFound normals_pace(const Normals *normals, PaceOf of, gint64 ns, guint64 calls);
/* The same of all calls there. */
PaceFound normals_pace_there(const Normals *normals, PaceOf of);
