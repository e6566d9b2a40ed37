/* Names of servers, and who owns each: the first principal that sends spans of a NameNode, DataNode or JournalNode of a
 * host owns that name until plumbd ends. So nobody else who may send can write into the figures of a server unseen.
 *
 * A name is what a tracer id has before the process number ("DataNode/10.0.3.17"), without case. Other processes are
 * not judged: many users' clients share a host. Nor are tracer ids without a host, which several servers may have, and
 * hosts longer than any is. All who have not logged in are one principal.
 *
 * There are NAME_OWNERS_MAX names at most, so that a peer that makes names up takes no more memory; further ones are
 * not judged, which the log says once. Any thread; there is one lock. */
#pragma once

#include "receiver/secure/audit.h"

#define NAME_OWNERS_MAX     65536u
#define NAME_HOST_MAX_BYTES 255u

typedef enum {
    NAMES_OFF,
    NAMES_WARN,   /* spans under another's name are counted and told, and taken */
    NAMES_STRICT, /* they are not taken */
} NamesMode;      /* in the order of the choices of access.names */

/* Who sends, by what connection. */
typedef struct SpanSource {
    const char *principal; /* NULL: who has not logged in */
    const char *address;
    const char *port; /* "thrift", "http" */
} SpanSource;
/* Never NULL. */
const char *span_source_principal(const SpanSource *source);

typedef struct NameOwners NameOwners;
/* audit: NULL for none; it must outlive the owners. */
NameOwners *name_owners_new(NamesMode mode, Audit *audit);
void name_owners_free(NameOwners *owners);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NameOwners, name_owners_free)

NamesMode name_owners_mode(const NameOwners *owners);
/* NAMES_OFF forgets all owners. */
void name_owners_set_mode(NameOwners *owners, NamesMode mode);
/* Rises when owners are forgotten. */
guint name_owners_generation(const NameOwners *owners);

/* Whose name a tracer id has: the source's, if it had no owner. Borrowed from 'owners', for their life. NULL: it is not
 * judged. */
const char *name_owners_claim(NameOwners *owners, const char *tracer, const SpanSource *source);
/* Into the log and the audit log, once for each name: the source sends under a name of another. */
void name_owners_tell(NameOwners *owners, const char *tracer, const SpanSource *source);
/* The name within a tracer id, as it came; a new string. */
char *name_owners_name(const char *tracer);
