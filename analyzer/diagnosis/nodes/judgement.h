/* Which nodes are ill, in which class of work, since when.
 *
 * A window of a node and class is bad when its calls took SLOWDOWN_LEAST times as long as predicted or more, and that
 * is Z_LEAST times what its windows usually vary by: in the mean, or in the tail, since a page cache hides a slow disk
 * from most calls; and what is lost by it is LOST_LEAST_SHARE of the window or more. Of BAD_OF windows BAD_LEAST must
 * be bad for the node to be suspected; GOOD_LEAST good ones in a row clear it. The spell begins where onset.h says. */
#pragma once

#include "analyzer/diagnosis/nodes/class_series.h"
#include "analyzer/diagnosis/nodes/spell_run.h"

#define SLOWDOWN_LEAST 1.5
#define Z_LEAST        3.0
/* 60 ms of a minute: less is nobody's trouble, however surely it is there. */
#define LOST_LEAST_SHARE 0.001
/* What the windows vary by is never taken to be less than 5 %. */
#define USUAL_LEAST 0.04879 /* ln 1.05 */
/* A node of whose class fewer windows were seen is not judged: it is still learned. Nor one of whose windows so few
 * were not suspected themselves: most of LEARN_LEAST. */
#define LEARN_LEAST 5u
#define WELL_LEAST  3u

typedef struct Spell {
    WorkClass class;
    guint32 node;        /* n_nodes: all at once */
    guint32 first, last; /* windows of the grid: the first bad one, and the last */
    guint32 sure;        /* the window with which it was suspected */
    guint32 earliest;    /* the first window that may be its begin: those before belong to an earlier spell */
    gint64 begin_ns;     /* within the window 'first' (onset.h) */
    gboolean open;       /* not cleared until the end */
    gboolean busy;       /* the node's own load explains it: not ill */
    NodeMeasure measure; /* that is slower, the mean of equals */
    double slowdown, z;  /* of the bad windows: medians */
    double load_share;   /* of ln slowdown, how much the node's own load explains */
    gboolean alone;      /* compared with its own past only */
    WorkClass part_of;   /* not WORK_NONE: it follows from a spell of this class (consequences.h) */
    guint32 calls, bad_windows;
    gint64 self_ns, critical_ns, lost_ns, lost_critical_ns, lost_beside_ns; /* of the bad windows */
} Spell;

/* What the windows of a series usually are, learned from those before 'until' that are in use. What was suspected is
 * not in use, but was seen: or a fault that begins early would be told, and forgotten when more is learned. */
typedef struct Usual {
    guint32 windows; /* so many */
    gboolean known;  /* enough to judge by */
    double centre[MEASURES], deviation[MEASURES];
} Usual;
Usual usual_of(const AllSeries *all, const ClassSeries *series, guint32 until);
/* How many times the usual deviation a window is above its prediction. */
double usual_z(const Usual *usual, const ClassWindow *window, NodeMeasure measure);

/* Marks the bad windows, and appends the spells. blamed: the other method's verdict decides. */
void series_judge(const AllSeries *all, const ClassSeries *series, guint32 until, gboolean blamed, GArray *spells);
