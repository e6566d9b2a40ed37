/* Clock offsets between hosts, from calls that crossed from one to the other.
 *
 * As in NTP: a child on another host began after its parent called and ended before the parent had its answer, so
 * with pb, pe, cb, ce for begins and ends, the clocks differ by offset = ((pb - cb) + (pe - ce)) / 2, wrong by at
 * most half of delay = (pe - pb) - (ce - cb). Of many calls the one with the least delay tells most. Times counted in
 * milliseconds add one millisecond of doubt. A call whose child lasted longer than its parent says nothing. */
#pragma once

#include <jansson.h>

#include "analyzer/archive/archive.h"
#include "analyzer/calltree/tree.h"

typedef struct Skew Skew;
Skew *skew_new(Archive *archive);
void skew_free(Skew *skew);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Skew, skew_free)

void skew_add_tree(Skew *skew, const CallTree *tree);
/* [{"from", "to", "offset_ns", "uncertainty_ns", "samples"}] by names, from < to. offset_ns added to a time of 'to'
 * gives that of 'from'. */
json_t *skew_json(const Skew *skew);
