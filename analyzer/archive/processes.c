#include "analyzer/archive/processes.h"

#include "common/base/error.h"
#include "common/base/limits.h"

/* Entries are made once and never change: 8 bytes, written and read whole, so an atomic access is all the locking. The
 * array grows by chunks that stay where they are. */
#define CHUNK_ENTRIES 4096u
#define CHUNKS        (LIMIT_DICTIONARY_ENTRIES / CHUNK_ENTRIES + 1)
#define ENTRY_KNOWN   (G_GUINT64_CONSTANT(1) << 63)

struct ProcessTable {
    Dict *dict;
    guint64 *chunks[CHUNKS];
};

ProcessTable *process_table_new(Dict *dict) {
    ProcessTable *table = g_new0(ProcessTable, 1);
    table->dict = dict;
    return table;
}

void process_table_free(ProcessTable *table) {
    if (table == NULL) return;
    for (guint i = 0; i < CHUNKS; i++) g_free(table->chunks[i]);
    g_free(table);
}

static guint64 entry_get(const ProcessTable *table, guint32 tracer) {
    if (tracer / CHUNK_ENTRIES >= CHUNKS) return ENTRY_KNOWN; /* no dictionary has it */
    const guint64 *chunk = __atomic_load_n(&table->chunks[tracer / CHUNK_ENTRIES], __ATOMIC_ACQUIRE);
    return chunk == NULL ? 0 : __atomic_load_n(&chunk[tracer % CHUNK_ENTRIES], __ATOMIC_RELAXED);
}

static void entry_set(ProcessTable *table, guint32 tracer, guint64 entry) {
    guint64 **at = &table->chunks[tracer / CHUNK_ENTRIES];
    guint64 *chunk = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (chunk == NULL) {
        guint64 *made = g_new0(guint64, CHUNK_ENTRIES);
        if (__atomic_compare_exchange_n(at, &chunk, made, FALSE, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            chunk = made;
        } else {
            g_free(made);
        }
    }
    __atomic_store_n(&chunk[tracer % CHUNK_ENTRIES], entry, __ATOMIC_RELAXED);
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
