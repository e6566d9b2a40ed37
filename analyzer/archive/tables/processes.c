#include "analyzer/archive/tables/processes.h"

#include <pthread.h>
#include <stdatomic.h>

#include "common/base/error.h"
#include "common/base/limits.h"
#include "common/base/mapped.h"

/* Entries are made once and never change: 8 bytes, written and read whole, so an atomic access is all the locking. */
#define ENTRY_KNOWN (G_GUINT64_CONSTANT(1) << 63)

/* Hosts of NameNodes, as far as the dictionary was looked through: it has tens of millions of entries in the end. */
typedef struct NameNodes {
    pthread_mutex_t lock;
    guint32 looked;
    GArray *hosts;   /* guint32 */
    GArray *without; /* guint32: processes whose host the dictionary did not have */
} NameNodes;

struct ProcessTable {
    Dict *dict;
    NameNodes namenodes;
    pthread_mutex_t growing;
    Mapped *entries; /* guint64 by tracer id; 0: not known yet */
    _Atomic guint32 n_entries;
};

ProcessTable *process_table_new(Dict *dict, const char *folder, GError **error) {
    Mapped *entries = mapped_new(folder, (LIMIT_DICTIONARY_ENTRIES + 1) * sizeof(guint64), error);
    if (entries == NULL) return NULL;
    ProcessTable *table = g_new0(ProcessTable, 1);
    table->dict = dict;
    table->entries = entries;
    pthread_mutex_init(&table->growing, NULL);
    pthread_mutex_init(&table->namenodes.lock, NULL);
    table->namenodes.hosts = g_array_new(FALSE, FALSE, sizeof(guint32));
    table->namenodes.without = g_array_new(FALSE, FALSE, sizeof(guint32));
    return table;
}

void process_table_free(ProcessTable *table) {
    if (table == NULL) return;
    mapped_free(table->entries);
    pthread_mutex_destroy(&table->growing);
    pthread_mutex_destroy(&table->namenodes.lock);
    g_array_unref(table->namenodes.hosts);
    g_array_unref(table->namenodes.without);
    g_free(table);
}

static _Atomic guint64 *entry_at(const ProcessTable *table, guint32 tracer) {
    return (_Atomic guint64 *)mapped_data(table->entries) + tracer;
}

static guint64 entry_get(const ProcessTable *table, guint32 tracer) {
    if (tracer >= atomic_load_explicit(&table->n_entries, memory_order_acquire)) return 0;
    return atomic_load_explicit(entry_at(table, tracer), memory_order_relaxed);
}

static gboolean have_room(ProcessTable *table, guint32 tracer) {
    if (tracer < table->n_entries) return TRUE;
    pthread_mutex_lock(&table->growing);
    gboolean room = mapped_grow(table->entries, ((gsize)tracer + 1) * sizeof(guint64), NULL);
    if (room && tracer >= table->n_entries) table->n_entries = tracer + 1;
    pthread_mutex_unlock(&table->growing);
    return room;
}

/* Without room, when the disk is full, it is found out again the next time. */
static void entry_set(ProcessTable *table, guint32 tracer, guint64 entry) {
    if (have_room(table, tracer)) atomic_store_explicit(entry_at(table, tracer), entry, memory_order_relaxed);
}

static guint64 entry_pack(Role role, guint32 host) { return ENTRY_KNOWN | (guint64)role << 32 | host; }

static TracerId tracer_parse(ProcessTable *table, guint32 tracer) {
    gsize length = 0;
    const char *text = dict_text(table->dict, tracer, &length);
    return tracer_id_parse(text, length);
}

gboolean process_table_ensure(ProcessTable *table, guint32 tracer, GError **error) {
    if (entry_get(table, tracer) != 0) return TRUE;
    TracerId id = tracer_parse(table, tracer);
    guint32 host = 0;
    g_autoptr(GError) local = NULL;
    if (id.host_length > 0 && !dict_intern(table->dict, id.host, id.host_length, &host, &local)) {
        if (!g_error_matches(local, PLUMB_ERROR, PLUMB_ERROR_LIMIT)) {
            g_propagate_error(error, g_steal_pointer(&local));
            return FALSE;
        }
        host = 0;
    }
    entry_set(table, tracer, entry_pack(id.role, host));
    return TRUE;
}

/* A host that is not in the dictionary yet is not remembered: process_table_ensure() may still add it. */
void process_table_get(ProcessTable *table, guint32 tracer, Role *role, guint32 *host) {
    guint64 entry = entry_get(table, tracer);
    if (entry == 0) {
        TracerId id = tracer_parse(table, tracer);
        guint32 found = id.host_length == 0 ? 0 : dict_find(table->dict, id.host, id.host_length);
        entry = entry_pack(id.role, found);
        if (found != 0) entry_set(table, tracer, entry);
    }
    *role = (Role)(entry >> 32 & 0xff);
    *host = (guint32)entry;
}

static void add_once(GArray *list, guint32 value) {
    for (guint i = 0; i < list->len; i++)
        if (g_array_index(list, guint32, i) == value) return;
    g_array_append_val(list, value);
}

/* TRUE: nothing more is to be found out of this entry. */
static gboolean take_namenode(ProcessTable *table, guint32 tracer) {
    Role role;
    guint32 host;
    process_table_get(table, tracer, &role, &host);
    if (role != ROLE_NAMENODE) return TRUE;
    if (host == 0) return tracer_parse(table, tracer).host_length == 0;
    add_once(table->namenodes.hosts, host);
    return TRUE;
}

void process_table_namenodes(ProcessTable *table, GArray *hosts) {
    NameNodes *known = &table->namenodes;
    const guint32 n = dict_size(table->dict);
    pthread_mutex_lock(&known->lock);
    for (guint i = known->without->len; i-- > 0;)
        if (take_namenode(table, g_array_index(known->without, guint32, i)))
            g_array_remove_index_fast(known->without, i);
    for (; known->looked < n; known->looked++) {
        const guint32 tracer = known->looked + 1;
        if (!take_namenode(table, tracer)) g_array_append_val(known->without, tracer);
    }
    g_array_append_vals(hosts, known->hosts->data, known->hosts->len);
    pthread_mutex_unlock(&known->lock);
}

void process_table_rest(ProcessTable *table) { mapped_rest(table->entries); }
