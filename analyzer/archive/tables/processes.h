/* Role and host of every process, by the dictionary id of its tracer id: asked once per span, so it is a plain array
 * that readers need no lock for. As the dictionary, it lies in a file where nobody uses it. */
#pragma once

#include "common/model/role.h"
#include "common/store/dict.h"

typedef struct ProcessTable ProcessTable;
/* folder: as mapped_new() has it. The dictionary must outlive the table. Errors: NO_SPACE, IO. */
ProcessTable *process_table_new(Dict *dict, const char *folder, GError **error);
void process_table_free(ProcessTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ProcessTable, process_table_free)

/* Makes the host of a tracer id known, with a dictionary entry when it has none: before a span of that process is
 * counted, since rows are kept by host. Once the dictionary is full (LIMIT), new hosts count as host 0 for good.
 * Errors: NO_SPACE, IO. Any thread. */
gboolean process_table_ensure(ProcessTable *table, guint32 tracer, GError **error);
/* Any thread; never fails: local, host 0 when unknown. */
void process_table_get(ProcessTable *table, guint32 tracer, Role *role, guint32 *host);
/* Appends the hosts (guint32) of all NameNodes in the dictionary, each once. Looks only at what is new since the last
 * time. Any thread. */
void process_table_namenodes(ProcessTable *table, GArray *hosts);
/* As dict_rest(). */
void process_table_rest(ProcessTable *table);
