/* Does a batch bring spans under the name of a server that is another principal's (receiver/secure/name_owners.h)? One
 * thread's: it remembers whose the name of each tracer id is, so that a run of spans costs one look, without a lock. */
#pragma once

#include "common/pack/pack.h"
#include "receiver/secure/name_owners.h"

/* Tracer ids that are remembered; then they are asked for anew. */
#define NAME_CHECK_REMEMBERED 32768u

typedef struct NameCheck NameCheck;
/* Both must outlive it. */
NameCheck *name_check_new(NameOwners *owners, Dict *dict);
void name_check_free(NameCheck *check);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NameCheck, name_check_free)

/* runs: PackRun. The source owns from now on what nobody owned. TRUE: one is another's, and that is told. */
gboolean name_check_is_foreign(NameCheck *check, const GArray *runs, const SpanSource *source);
/* After that: are its spans not to be taken? *why: a new string, which says whose the name is and what to do. */
gboolean name_check_refuses(const NameCheck *check, const SpanSource *source, char **why);
