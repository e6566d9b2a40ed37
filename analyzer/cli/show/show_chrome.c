/* Chrome's trace event format, as Perfetto reads it: one process row per process ("M" process_name), spans as complete
 * events ("X"), and an arrow ("s" to "f") for every parent in another process.
 *
 * Events of one thread row must nest, and spans of one process may overlap freely, so each process gets as many rows
 * ("lanes") as it needs: a span goes to the first lane where it lies within the innermost open span or behind all.
 * Spans come sorted by begin, the longer first. Times are microseconds since the begin of the trace (a double would
 * round nanoseconds since the epoch); the begin itself is in otherData. */
#include <string.h>

#include "analyzer/cli/show/show.h"
#include "common/base/harmless.h"

typedef struct Slice {
    const json_t *span;
    guint process; /* index, from 0 */
    guint lane;
    gint64 begin_ns, end_ns; /* since the begin of the trace; end >= begin */
} Slice;

typedef struct Process {
    GPtrArray *names; /* of tracers: char * */
    const char *host; /* borrowed from the document */
    gint64 pid;       /* -1: unknown */
    GPtrArray *lanes; /* of GArray of gint64: ends of the slices that are open, innermost last */
} Process;

typedef struct Chart {
    GArray *slices;
    GPtrArray *processes;
    GHashTable *process_of; /* key -> index + 1 */
    GHashTable *slice_of;   /* span id -> index + 1 */
    json_t *events;
} Chart;

static void process_free(void *data) {
    Process *process = data;
    g_ptr_array_unref(process->names);
    g_ptr_array_unref(process->lanes);
    g_free(process);
}

static void lane_free(void *data) { g_array_free(data, TRUE); }

/* One program may trace under several names (a client of HDFS has its own besides the application's): where the pid is
 * known, it tells processes apart. */
static char *process_key(const json_t *span) {
    const char *host = field_text(span, "host");
    if (field_present(span, "pid") && field_int(span, "pid") >= 0)
        return g_strdup_printf("%" G_GINT64_FORMAT "/%s", field_int(span, "pid"), host);
    return g_strdup_printf("%s//%s", field_text(span, "process"), host);
}

static void add_name(Process *process, const char *name) {
    if (g_ptr_array_find_with_equal_func(process->names, name, g_str_equal, NULL)) return;
    g_ptr_array_add(process->names, g_strdup(name));
}

static Process *process_new(const json_t *span) {
    Process *process = g_new0(Process, 1);
    process->names = g_ptr_array_new_with_free_func(g_free);
    process->host = field_text(span, "host");
    process->pid = field_present(span, "pid") ? field_int(span, "pid") : -1;
    process->lanes = g_ptr_array_new_with_free_func(lane_free);
    return process;
}

static guint process_index(Chart *chart, const json_t *span) {
    char *key = process_key(span);
    guint index = GPOINTER_TO_UINT(g_hash_table_lookup(chart->process_of, key));
    if (index == 0) {
        g_ptr_array_add(chart->processes, process_new(span));
        index = chart->processes->len;
        g_hash_table_insert(chart->process_of, g_steal_pointer(&key), GUINT_TO_POINTER(index));
    }
    g_free(key);
    add_name(g_ptr_array_index(chart->processes, index - 1), field_text(span, "process"));
    return index - 1;
}

/* "Workload, FSClient/10.0.0.5 (pid 4005)"; a new string. */
static char *process_name(const Process *process) {
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < process->names->len; i++)
        g_string_append_printf(out, "%s%s", i > 0 ? ", " : "", (const char *)g_ptr_array_index(process->names, i));
    if (*process->host != '\0') g_string_append_printf(out, "/%s", process->host);
    if (process->pid >= 0) g_string_append_printf(out, " (pid %" G_GINT64_FORMAT ")", process->pid);
    return g_string_free(out, FALSE);
}

static gint slice_order(gconstpointer a, gconstpointer b) {
    const Slice *x = a, *y = b;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

/* Takes slices that ended before 'slice' begins off the lane; does the rest contain it? */
static gboolean lane_takes(GArray *lane, const Slice *slice) {
    while (lane->len > 0 && g_array_index(lane, gint64, lane->len - 1) <= slice->begin_ns)
        g_array_set_size(lane, lane->len - 1);
    return lane->len == 0 || g_array_index(lane, gint64, lane->len - 1) >= slice->end_ns;
}

static void place(Chart *chart, Slice *slice) {
    Process *process = g_ptr_array_index(chart->processes, slice->process);
    guint lane = 0;
    while (lane < process->lanes->len && !lane_takes(g_ptr_array_index(process->lanes, lane), slice)) lane++;
    if (lane == process->lanes->len) g_ptr_array_add(process->lanes, g_array_new(FALSE, FALSE, sizeof(gint64)));
    GArray *open = g_ptr_array_index(process->lanes, lane);
    g_array_append_val(open, slice->end_ns);
    slice->lane = lane;
}

static void place_all(Chart *chart, const json_t *document) {
    gint64 begin_ns = field_int(document, "begin_time_ns");
    gsize i;
    const json_t *span;
    json_array_foreach((json_t *)field_list(document, "spans"), i, span) {
        Slice slice = {.span = span, .process = process_index(chart, span)};
        slice.begin_ns = field_int(span, "begin_time_ns") - begin_ns;
        slice.end_ns = slice.begin_ns + MAX(field_int(span, "duration_ns"), 0);
        g_array_append_val(chart->slices, slice);
    }
    g_array_sort(chart->slices, slice_order);
    for (guint s = 0; s < chart->slices->len; s++) {
        Slice *slice = &g_array_index(chart->slices, Slice, s);
        place(chart, slice);
        g_hash_table_insert(chart->slice_of, (char *)field_text(slice->span, "span"), GUINT_TO_POINTER(s + 1));
    }
}

static json_t *microseconds(gint64 ns) {
    return ns % 1000 == 0 ? json_integer(ns / 1000) : json_real((double)ns / 1000);
}

static json_t *event(const char *phase, const Slice *slice, gint64 time_ns) {
    return json_pack("{s:s, s:o, s:i, s:i}", "ph", phase, "ts", microseconds(time_ns), "pid", (int)slice->process + 1,
                     "tid", (int)slice->lane + 1);
}

static void add_slice(Chart *chart, const Slice *slice) {
    static const char *const facts[] = {"span",        "role",        "description", "self_ns",
                                        "critical_ns", "annotations", "notes",       "flags"};
    json_t *args = json_object();
    for (guint i = 0; i < G_N_ELEMENTS(facts); i++) {
        json_t *value = json_object_get(slice->span, facts[i]);
        if (value != NULL) json_object_set(args, facts[i], value);
    }
    json_t *added = event("X", slice, slice->begin_ns);
    json_object_set_new(added, "dur", microseconds(slice->end_ns - slice->begin_ns));
    json_object_set_new(added, "name", json_string(field_text(slice->span, "function")));
    json_object_set_new(added, "cat", json_string(field_text(slice->span, "role")));
    json_object_set_new(added, "args", args);
    json_array_append_new(chart->events, added);
}

static void add_flow_end(Chart *chart, const Slice *slice, gint64 time_ns, const char *phase, const char *id) {
    json_t *added = event(phase, slice, time_ns);
    json_object_set_new(added, "id", json_string(id));
    json_object_set_new(added, "name", json_string("call"));
    json_object_set_new(added, "cat", json_string("call"));
    if (*phase == 'f') json_object_set_new(added, "bp", json_string("e")); /* binds to the slice around it */
    json_array_append_new(chart->events, added);
}

static void add_flows(Chart *chart, const Slice *slice) {
    gsize i;
    const json_t *parent;
    json_array_foreach((json_t *)field_list(slice->span, "parents"), i, parent) {
        const char *parent_id = json_string_value(parent);
        guint known = parent_id != NULL ? GPOINTER_TO_UINT(g_hash_table_lookup(chart->slice_of, parent_id)) : 0;
        if (known == 0) continue;
        const Slice *from = &g_array_index(chart->slices, Slice, known - 1);
        if (from->process == slice->process) continue;
        g_autofree char *id = g_strdup_printf("%s-%zu", field_text(slice->span, "span"), i);
        /* Within the parent, even where clocks disagree. */
        gint64 leaves_ns = CLAMP(slice->begin_ns, from->begin_ns, from->end_ns);
        add_flow_end(chart, from, leaves_ns, "s", id);
        add_flow_end(chart, slice, slice->begin_ns, "f", id);
    }
}

static void add_process_names(Chart *chart) {
    for (guint i = 0; i < chart->processes->len; i++) {
        const Process *process = g_ptr_array_index(chart->processes, i);
        g_autofree char *name = process_name(process);
        json_array_append_new(chart->events, json_pack("{s:s, s:s, s:i, s:{s:s}}", "ph", "M", "name", "process_name",
                                                       "pid", (int)i + 1, "args", "name", name));
        json_array_append_new(chart->events,
                              json_pack("{s:s, s:s, s:i, s:{s:i}}", "ph", "M", "name", "process_sort_index", "pid",
                                        (int)i + 1, "args", "sort_index", (int)i));
    }
}

void show_trace_chrome(const json_t *document, const ShowOptions *options, GString *out) {
    (void)options;

    Chart chart = {.slices = g_array_new(FALSE, FALSE, sizeof(Slice)),
                   .processes = g_ptr_array_new_with_free_func(process_free),
                   .process_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                   .slice_of = g_hash_table_new(g_str_hash, g_str_equal),
                   .events = json_array()};

    place_all(&chart, document);
    add_process_names(&chart);
    for (guint i = 0; i < chart.slices->len; i++) add_slice(&chart, &g_array_index(chart.slices, Slice, i));
    for (guint i = 0; i < chart.slices->len; i++) add_flows(&chart, &g_array_index(chart.slices, Slice, i));

    json_t *file = json_pack("{s:o, s:s, s:{s:s, s:I}}", "traceEvents", chart.events, "displayTimeUnit", "ns",
                             "otherData", "trace", field_text(document, "trace"), "begin_time_ns",
                             (json_int_t)field_int(document, "begin_time_ns"));
    char *text = json_dumps(file, JSON_COMPACT | JSON_REAL_PRECISION(15));
    harmless_json_append(out, text, strlen(text));
    g_string_append_c(out, '\n');
    free(text);
    json_decref(file);

    g_array_free(chart.slices, TRUE);
    g_ptr_array_unref(chart.processes);
    g_hash_table_unref(chart.process_of);
    g_hash_table_unref(chart.slice_of);
}
