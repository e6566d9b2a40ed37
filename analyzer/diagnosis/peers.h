/* Mean and median of a feature over a task's peers, the other counted tasks of its stage, without going through all of
 * them for each: a stage's values are sorted once, and a median that leaves some out is found by bisection. */
#pragma once

#include "analyzer/diagnosis/stragglers.h"

typedef struct PeerFigures {
    guint32 n;
    double mean, median; /* NAN of none */
} PeerFigures;

typedef struct Peers Peers;
/* Keeps the pointers. */
Peers *peers_new(const TaskTable *table, const Stragglers *stragglers);
void peers_free(Peers *peers);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Peers, peers_free)

/* The stage that peers_of() answers for from now on. values: one a task of the table, NAN where not known. */
void peers_load(Peers *peers, const StageTasks *stage, const double *values);
/* Of a task of that stage: its peers on other hosts, and those on its own host. */
void peers_of(const Peers *peers, guint32 task, PeerFigures *others, PeerFigures *same_host);
