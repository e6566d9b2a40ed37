#include "receiver/secure/name_owners.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "common/model/role.h"
#include "receiver/secure/access.h"
#include "receiver/shared/log.h"

typedef struct Ownership {
    const char *owner; /* of 'principals' */
    gboolean told;
} Ownership;

struct NameOwners {
    Audit *audit;
    atomic_int mode;
    atomic_uint generation;
    pthread_mutex_t lock; /* of what follows */
    GHashTable *names;    /* name in lower case -> Ownership */
    GHashTable *principals;
    gboolean full; /* that was said */
};

const char *span_source_principal(const SpanSource *source) {
    return source->principal != NULL ? source->principal : ACCESS_ANONYMOUS;
}

static gboolean is_server(const TracerId *id) {
    const gboolean role = id->role == ROLE_NAMENODE || id->role == ROLE_DATANODE || id->role == ROLE_JOURNALNODE;
    return role && id->host_length > 0 && id->host_length <= NAME_HOST_MAX_BYTES;
}

static gsize name_length(const char *tracer, const TracerId *id) {
    return (gsize)(id->host - tracer) + id->host_length;
}

/* A new string; NULL: of none that is judged. */
static char *key_of(const char *tracer) {
    const TracerId id = tracer_id_parse(tracer, strlen(tracer));
    return is_server(&id) ? g_ascii_strdown(tracer, (gssize)name_length(tracer, &id)) : NULL;
}

char *name_owners_name(const char *tracer) {
    const TracerId id = tracer_id_parse(tracer, strlen(tracer));
    return g_strndup(tracer, name_length(tracer, &id));
}

/* ---- life ---- */

NameOwners *name_owners_new(NamesMode mode, Audit *audit) {
    NameOwners *owners = g_new0(NameOwners, 1);
    owners->audit = audit;
    atomic_init(&owners->mode, (int)mode);
    pthread_mutex_init(&owners->lock, NULL);
    owners->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    owners->principals = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return owners;
}

void name_owners_free(NameOwners *owners) {
    if (!owners) return;
    g_hash_table_unref(owners->names);
    g_hash_table_unref(owners->principals);
    pthread_mutex_destroy(&owners->lock);
    g_free(owners);
}

NamesMode name_owners_mode(const NameOwners *owners) {
    return (NamesMode)atomic_load_explicit(&owners->mode, memory_order_relaxed);
}

guint name_owners_generation(const NameOwners *owners) { return atomic_load(&owners->generation); }

void name_owners_set_mode(NameOwners *owners, NamesMode mode) {
    pthread_mutex_lock(&owners->lock);
    atomic_store(&owners->mode, (int)mode);
    if (mode == NAMES_OFF) {
        g_hash_table_remove_all(owners->names);
        owners->full = FALSE;
        atomic_fetch_add(&owners->generation, 1);
    }
    pthread_mutex_unlock(&owners->lock);
}

/* ---- names; with the lock held ---- */

/* Principals stay, also when names are forgotten: others have pointers to them. NULL: there are too many. */
static const char *keep_principal(NameOwners *owners, const char *principal) {
    void *kept;
    if (g_hash_table_lookup_extended(owners->principals, principal, &kept, NULL)) return kept;
    if (g_hash_table_size(owners->principals) >= NAME_OWNERS_MAX) return NULL;
    char *copy = g_strdup(principal);
    g_hash_table_add(owners->principals, copy);
    return copy;
}

static void tell_full(NameOwners *owners) {
    if (owners->full) return;
    owners->full = TRUE;
    log_message(LOG_LEVEL_WARNING,
                "access.names: %u names of servers have owners, which is as many as there may be: who sends under "
                "further names is not judged until plumbd is started anew",
                g_hash_table_size(owners->names));
}

/* key is taken. */
static const char *add_name(NameOwners *owners, char *key, const char *principal) {
    const char *owner = g_hash_table_size(owners->names) < NAME_OWNERS_MAX ? keep_principal(owners, principal) : NULL;
    if (owner == NULL) {
        tell_full(owners);
        g_free(key);
        return NULL;
    }
    Ownership *ownership = g_new0(Ownership, 1);
    ownership->owner = owner;
    g_hash_table_insert(owners->names, key, ownership);
    return owner;
}

/* ---- use ---- */

const char *name_owners_claim(NameOwners *owners, const char *tracer, const SpanSource *source) {
    char *key = key_of(tracer);
    if (key == NULL) return NULL;

    pthread_mutex_lock(&owners->lock);
    const Ownership *found = g_hash_table_lookup(owners->names, key);
    const char *owner = found != NULL ? found->owner : add_name(owners, key, span_source_principal(source));
    pthread_mutex_unlock(&owners->lock);
    if (found != NULL) g_free(key);
    return owner;
}

void name_owners_tell(NameOwners *owners, const char *tracer, const SpanSource *source) {
    static LogLimit limit;
    g_autofree char *key = key_of(tracer), *name = name_owners_name(tracer);
    if (key == NULL) return;

    pthread_mutex_lock(&owners->lock);
    Ownership *found = g_hash_table_lookup(owners->names, key);
    const char *owner = found != NULL && !found->told ? found->owner : NULL;
    if (owner != NULL) found->told = TRUE;
    pthread_mutex_unlock(&owners->lock);
    if (owner == NULL) return;

    g_autofree char *whose = g_strdup_printf("%s is the name of %s", name, owner);
    log_limited(&limit, LOG_LEVEL_WARNING, "%s, which sent under it first: now %s at %s does, too (access.names)",
                whose, span_source_principal(source), source->address);
    const AuditEvent event = {.action = AUDIT_FOREIGN_NAME,
                              .port = source->port,
                              .principal = source->principal,
                              .address = source->address,
                              .outcome = whose};
    audit_note(owners->audit, &event);
}
