/* One trace as columns: up to CALLS_MAX_SPANS spans, in the order of the question "trace". */
#include <string.h>

#include "analyzer/archive/kept_ids.h"
#include "analyzer/calltree/interval.h"
#include "analyzer/calltree/times.h"
#include "analyzer/query/columns/calls.h"
#include "analyzer/query/columns/column_answers.h"
#include "analyzer/query/columns/column_block.h"
#include "analyzer/query/traces/trace_tasks.h"
#include "common/base/allowance.h"
#include "common/base/error.h"
#include "common/model/role.h"

enum { BEGIN, DURATION, SELF, CRITICAL, PARENT, FUNCTION, PROCESS, ID_HIGH, ID_LOW, FLAGS, N_COLUMNS };

/* The widest first, so that nothing is lost between them. Types of functions and processes follow from how many there
 * are. */
static const struct {
    const char *name;
    ColumnType type;
} known[N_COLUMNS] = {
    [BEGIN] = {"begin", COLUMN_F64},       [DURATION] = {"duration", COLUMN_F64}, [SELF] = {"self", COLUMN_F64},
    [CRITICAL] = {"critical", COLUMN_F64}, [PARENT] = {"parent", COLUMN_I32},     [FUNCTION] = {"function", COLUMN_U32},
    [PROCESS] = {"process", COLUMN_U32},   [ID_HIGH] = {"id_high", COLUMN_U32},   [ID_LOW] = {"id_low", COLUMN_U32},
    [FLAGS] = {"flags", COLUMN_U8},
};
#define TIMES   (1u << SELF | 1u << CRITICAL)
#define DEFAULT ((1u << N_COLUMNS) - 1 - TIMES - (1u << ID_HIGH) - (1u << ID_LOW))

/* A name of kinds, by its dictionary id, and its number in the answer. */
typedef struct Names {
    GHashTable *numbers; /* id -> number + 1 */
    guint32 *of_kind;
    guint32 n;
    json_t *list;
} Names;

typedef struct Fill {
    Calls *calls;
    Names functions, processes;
    Column columns[N_COLUMNS];
    Column *at[N_COLUMNS]; /* NULL: not asked for */
    ColumnBlock block;
} Fill;

/* "begin,parent": a bit for each. */
static gboolean asked_columns(const Asked *asked, guint32 *wanted, GError **error) {
    const char *text = params_text(asked->params, "columns");
    if (text == NULL) return TRUE;
    g_auto(GStrv) names = g_strsplit(text, ",", N_COLUMNS + 1);
    *wanted = 0;
    for (guint i = 0; names[i] != NULL; i++) {
        guint column = 0;
        while (column < N_COLUMNS && strcmp(known[column].name, names[i]) != 0) column++;
        if (column == N_COLUMNS)
            return fail(error, PLUMB_ERROR_INPUT,
                        "columns \"%s\" is not understood: use some of begin, duration, self, critical, parent, "
                        "function, process, id_high, id_low, flags, with commas",
                        text);
        *wanted |= 1u << column;
    }
    return TRUE;
}

/* ---- names ---- */

static json_t *process_json(Archive *archive, guint32 tracer_name) {
    gsize length;
    const char *text = dict_text(archive_dict(archive), tracer_name, &length);
    const TracerId tracer = tracer_id_parse(text, length);
    json_t *process = json_object();
    json_object_set_new(process, "process", json_text(tracer.process, tracer.process_length));
    json_object_set_new(process, "role", json_string(role_name(tracer.role)));
    if (tracer.host_length > 0) json_object_set_new(process, "host", json_text(tracer.host, tracer.host_length));
    if (tracer.pid >= 0) json_object_set_new(process, "pid", json_integer(tracer.pid));
    return process;
}

static void add_name(Names *names, const Calls *calls, guint kind, gboolean process) {
    const CallKind *entry = &g_array_index(calls->kinds, CallKind, kind);
    const guint32 id = process ? entry->tracer : entry->name;
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(names->numbers, GUINT_TO_POINTER(id)));
    if (number == 0) {
        number = ++names->n;
        g_hash_table_insert(names->numbers, GUINT_TO_POINTER(id), GUINT_TO_POINTER(number));
        json_array_append_new(names->list, process ? process_json(calls->archive, id) : json_name(calls->archive, id));
    }
    names->of_kind[kind] = number - 1;
}

static void names_init(Names *names, const Calls *calls, gboolean process) {
    names->numbers = g_hash_table_new(NULL, NULL);
    names->of_kind = g_new(guint32, calls->kinds->len + 1);
    names->list = json_array();
    for (guint i = 0; i < calls->kinds->len && allowance_goes_on(); i++) add_name(names, calls, i, process);
}

static void names_clear(Names *names) {
    if (names->numbers != NULL) g_hash_table_unref(names->numbers);
    g_free(names->of_kind);
    json_decref(names->list);
}

/* ---- columns ---- */

static void fill_clear(Fill *fill) {
    names_clear(&fill->functions);
    names_clear(&fill->processes);
    column_block_clear(&fill->block);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Fill, fill_clear)

static void set_real(Column *column, guint32 row, gint64 value) {
    if (column != NULL) ((double *)column->values)[row] = (double)value;
}

static void fill_row(void *arg, guint32 row, const Call *call, gint32 parent) {
    Fill *fill = arg;
    Column *const *at = fill->at;
    set_real(at[BEGIN], row, interval_ns(fill->calls->begin_ns, call->begin_ns));
    set_real(at[DURATION], row, call->duration_ns);
    if (at[PARENT] != NULL) ((gint32 *)at[PARENT]->values)[row] = parent;
    if (at[FUNCTION] != NULL) column_set(at[FUNCTION], row, fill->functions.of_kind[call->kind]);
    if (at[PROCESS] != NULL) column_set(at[PROCESS], row, fill->processes.of_kind[call->kind]);
    if (at[ID_HIGH] != NULL) ((guint32 *)at[ID_HIGH]->values)[row] = (guint32)(call->id >> 32);
    if (at[ID_LOW] != NULL) ((guint32 *)at[ID_LOW]->values)[row] = (guint32)call->id;
    if (at[FLAGS] != NULL) ((guint8 *)at[FLAGS]->values)[row] = (guint8)(call->flags & CALL_ROW_FLAGS);
}

static gboolean fill_times(Fill *fill, const CallTree *tree, GError **error) {
    const Measured measured = {.tree = tree};
    WaitTable *waits = archive_waits(fill->calls->archive);
    gboolean differs;
    g_autoptr(TreeTimes) times = times_by_rule(&measured, waits, TIMES_NOW, &differs);
    if (!allowance_check(error)) return FALSE;

    guint32 row = 0;
    for (guint32 node = 1; node < tree->n_nodes && allowance_goes_on(); node++) {
        if (tree->span[node] == NULL) continue;
        set_real(fill->at[SELF], row, times->self_ns[node]);
        set_real(fill->at[CRITICAL], row, times->critical_ns[node]);
        row++;
    }
    return TRUE;
}

/* Tree and times take memory of their own, for as long as this lasts. */
static gboolean fill_all(Fill *fill, gboolean times, GError **error) {
    Calls *calls = fill->calls;
    const gsize nodes = 1 + (gsize)calls->counts.spans + calls->counts.missing;
    gsize charged = 0;
    if (times) allowance_hold(&charged, nodes * CALLS_TREE_BYTES);
    gboolean good = allowance_check(error);
    g_autoptr(CallTree) tree = times && good ? calls_tree_new(calls) : NULL;

    const CallsWalk walk = {fill_row, fill, tree};
    good = good && calls_each(calls, &walk, error);
    if (good && tree != NULL) {
        calls_drop_links(calls);
        allowance_hold(&charged, nodes * (CALLS_TREE_BYTES + TIMES_NODE_BYTES + sizeof(guint32)));
        good = allowance_check(error) && fill_times(fill, tree, error);
    }
    allowance_hold(&charged, 0);
    return good;
}

static void open_columns(Fill *fill, guint32 wanted) {
    guint n = 0;
    for (guint i = 0; i < N_COLUMNS; i++) {
        if (!(wanted & 1u << i)) continue;
        fill->columns[n] = (Column){known[i].name, known[i].type, NULL};
        if (i == FUNCTION) fill->columns[n].type = column_type_for(fill->functions.n);
        if (i == PROCESS) fill->columns[n].type = column_type_for(fill->processes.n);
        fill->at[i] = &fill->columns[n++];
    }
    fill->block.columns = fill->columns;
    fill->block.n_columns = n;
    fill->block.rows = fill->calls->counts.spans;
}

static gboolean add_head(json_t *answer, const Asked *asked, const Fill *fill, GError **error) {
    const Calls *calls = fill->calls;
    const CallCounts *counts = &calls->counts;
    TraceKept kept;
    PatternId pattern;
    if (!archive_trace_kept(asked->archive, calls->trace_id, &kept, error)) return FALSE;
    calls_add_head(calls, answer);
    json_object_set_new(answer, "begin_time_ns", json_integer(calls->begin_ns));
    json_object_set_new(answer, "duration_ns", json_integer(interval_ns(calls->begin_ns, calls->end_ns)));
    json_object_set_new(answer, "orphans", json_count(counts->orphans));
    json_object_set_new(answer, "cycles", json_count(counts->cycles));
    json_object_set_new(answer, "duplicates", json_count(counts->duplicates));
    json_object_set_new(answer, "missing", json_count(counts->missing));
    json_object_set_new(answer, "incomplete",
                        json_boolean(counts->orphans > 0 || counts->cycles > 0 || counts->roots == 0));
    if (kept.dropped != 0) json_object_set_new(answer, "dropped", json_dropped(kept.dropped));
    if (archive_pattern_id(asked->archive, kept.pattern, &pattern))
        json_object_set_new(answer, "pattern", json_pattern_id(pattern));
    json_object_set(answer, "functions", fill->functions.list);
    json_object_set(answer, "processes", fill->processes.list);
    return trace_tasks_add_to(answer, asked, calls->trace_id, calls->tasks, error);
}

static gsize row_bytes(guint32 wanted) {
    gsize bytes = 0;
    for (guint i = 0; i < N_COLUMNS; i++)
        if (wanted & 1u << i) bytes += known[i].type == COLUMN_F64 ? 8 : known[i].type == COLUMN_U8 ? 1 : 4;
    return bytes + (wanted & TIMES ? CALLS_TREE_BYTES : 0);
}

json_t *answer_trace_columns(const Asked *asked, GError **error) {
    guint32 wanted = DEFAULT;
    CallsAsked calls_asked;
    if (!asked_columns(asked, &wanted, error) || !calls_asked_read(asked, &calls_asked, error)) return NULL;
    calls_asked.times = (wanted & TIMES) != 0;
    calls_asked.row_bytes = row_bytes(wanted);
    g_autoptr(Calls) calls = calls_load(asked, &calls_asked, error);
    if (calls == NULL) return NULL;

    g_auto(Fill) fill = {.calls = calls};
    names_init(&fill.functions, calls, FALSE);
    names_init(&fill.processes, calls, TRUE);
    open_columns(&fill, wanted);
    if (asked->columns == NULL && fill.block.rows > asked->rows_max) {
        fail(error, PLUMB_ERROR_LIMIT, "the trace has %u spans, and a document no more than %u: ask plumbd over HTTP",
             fill.block.rows, asked->rows_max);
        return NULL;
    }
    if (!column_block_open(&fill.block, error) || !fill_all(&fill, calls_asked.times, error)) return NULL;

    json_auto_t *answer = json_object();
    if (!add_head(answer, asked, &fill, error)) return NULL;
    if (asked->columns != NULL)
        *asked->columns = column_block_take(&fill.block, answer);
    else
        column_block_add_json(&fill.block, answer);
    return g_steal_pointer(&answer);
}
