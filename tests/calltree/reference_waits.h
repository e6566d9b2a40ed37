/* Who waits for whom: what the files of the reference share. */
#pragma once

#include "tests/calltree/reference.h"

typedef struct RefWaits {
    const RefTree *tree;
    const World *world;
    gint64 unit_ns, from_ns, to_ns; /* of all spans */
    gboolean meet;                  /* an application waits, and there is who works, of one chain */
} RefWaits;

gboolean ref_is_one_of(const RefWaits *waits, const RefNode *node, const char *names);
gboolean ref_runs_at(const RefNode *node, gint64 time);
const RefNode *ref_station_of(const RefWaits *waits, const RefNode *node);
gboolean ref_same_scope(const RefWaits *waits, const RefNode *a, char chain_a, const RefNode *b, char chain_b);

void ref_find_arrivals(const RefWaits *waits, RefNode *node);
/* The station of which anything is on its way then; NULL: there is none, or he does not wait for packets. */
RefNode *ref_who_sent(const RefWaits *waits, const RefNode *waiter, gint64 time);
/* A packet that is waited for is one of those on their way. */
void ref_count_packet(const RefWaits *waits, const RefNode *waiter, gint64 from, gint64 to);
/* What comes slowly from all is slow at the reader: it stays with him. */
void ref_count_arrivals(const RefWaits *waits);
