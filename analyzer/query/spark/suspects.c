#include "analyzer/query/spark/suspects.h"

#include <string.h>

#include "analyzer/query/spans/functions.h"
#include "common/base/clock.h"
#include "common/base/error.h"

/* ---- one task's ---- */

static HdfsResource resource_of(const HdfsShare *share) {
    return share->resource == HDFS_SOCKET ? HDFS_NETWORK : share->resource;
}

typedef struct Sum {
    guint32 tracer;
    gint64 ns, of[HDFS_RESOURCE_COUNT];
} Sum;

/* What a task computed in its own client is nobody's; a network without a known end still is the network. */
static void sum_shares(const GArray *shares, GArray *sums) {
    for (guint i = 0; i < shares->len; i++) {
        const HdfsShare *share = &g_array_index(shares, HdfsShare, i);
        Sum *sum = NULL;
        for (guint k = 0; !sum && k < sums->len; k++)
            if (g_array_index(sums, Sum, k).tracer == share->tracer) sum = &g_array_index(sums, Sum, k);
        if (!sum) {
            const Sum fresh = {.tracer = share->tracer};
            g_array_append_val(sums, fresh);
            sum = &g_array_index(sums, Sum, sums->len - 1);
        }
        sum->ns += share->ns;
        sum->of[resource_of(share)] += share->ns;
    }
}

gboolean suspect_find(Archive *archive, const TaskHdfs *hdfs, Suspect *suspect) {
    const GArray *shares = hdfs->facts.shares;
    g_autoptr(GArray) sums = g_array_new(FALSE, FALSE, sizeof(Sum));
    sum_shares(shares, sums);

    const Sum *most = NULL;
    for (guint i = 0; i < sums->len; i++) {
        const Sum *sum = &g_array_index(sums, Sum, i);
        if (!most || sum->ns > most->ns) most = sum;
    }
    if (!most) return FALSE;

    const Lookup *lookup = archive_lookup(archive);
    Suspect found = {.tracer = most->tracer, .process_ns = most->ns};
    for (guint i = 0; i < HDFS_RESOURCE_COUNT; i++) {
        if (most->of[i] <= found.ns) continue;
        found.ns = most->of[i];
        found.resource = (HdfsResource)i;
    }

    /* Shares are sorted: the first that fits took most. */
    for (guint i = 0; i < shares->len && found.name == 0; i++) {
        const HdfsShare *share = &g_array_index(shares, HdfsShare, i);
        if (share->tracer == found.tracer && resource_of(share) == found.resource) found.name = share->name;
    }

    found.role = ROLE_LOCAL;
    if (found.tracer) lookup->process(lookup->arg, found.tracer, &found.role, &found.host);
    *suspect = found;
    return TRUE;
}

json_t *suspect_json(Archive *archive, const Suspect *suspect) {
    json_t *object = json_object();
    if (suspect->tracer) {
        json_object_set_new(object, "process", json_name(archive, suspect->tracer));
        json_object_set_new(object, "host", json_name(archive, suspect->host));
        json_object_set_new(object, "role", json_string(role_name(suspect->role)));
    }
    json_object_set_new(object, "resource", json_string(hdfs_resource_name(suspect->resource)));
    json_object_set_new(object, "function", json_name(archive, suspect->name));
    json_object_set_new(object, "time_ns", json_integer(suspect->ns));
    json_object_set_new(object, "process_time_ns", json_integer(suspect->process_ns));
    return object;
}

/* ---- evidence ---- */

/* A call of the suspect's function that the task waited for: by the process itself, or by the client for it. */
static gboolean is_call(const CallTree *tree, guint32 node, const Suspect *suspect) {
    const SpanRec *span = tree->span[node];
    if (!span || span->name != suspect->name) return FALSE;
    return suspect->resource == HDFS_NETWORK || suspect->tracer == 0 || span->tracer == suspect->tracer;
}

static json_t *path_json(Archive *archive, const TraceView *view, guint32 node) {
    const CallTree *tree = view->tree;
    const Lookup *lookup = archive_lookup(archive);
    g_autoptr(GArray) up = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 at = node; at != 0; at = tree->parent[at]) g_array_append_val(up, at);

    json_t *path = json_array();
    for (guint i = up->len; i-- > 0;) {
        const guint32 at = g_array_index(up, guint32, i);
        const SpanRec *span = tree->span[at];
        if (!span) continue;
        Role role;
        guint32 host;
        lookup->process(lookup->arg, span->tracer, &role, &host);

        json_t *step = json_object();
        json_object_set_new(step, "function", json_name(archive, span->name));
        json_object_set_new(step, "role", json_string(role_name(role)));
        json_object_set_new(step, "host", json_name(archive, host));
        json_object_set_new(step, "offset_ns", json_integer(span->begin_ns - tree->begin_ns));
        json_object_set_new(step, "duration_ns", json_integer(span->duration_ns));
        json_object_set_new(step, "self_ns", json_integer(view->times->self_ns[at]));
        json_array_append_new(path, step);
    }

    return path;
}

static gboolean add_calls(const Asked *asked, const TaskHdfs *hdfs, const Suspect *suspect, json_t *object,
                          GError **error) {
    g_autoptr(TraceView) view = trace_view_load(asked->archive, hdfs->trace, error);
    if (!view) return FALSE;

    const CallTree *tree = view->tree;
    guint32 longest = 0;
    guint64 calls = 0;
    gint64 total_ns = 0;

    for (guint32 i = 1; i < tree->n_nodes; i++) {
        if (!is_call(tree, i, suspect)) continue;
        const gint64 ns = tree->to_ns[i] - tree->from_ns[i];
        calls++;
        total_ns += ns;
        if (longest == 0 || ns > tree->to_ns[longest] - tree->from_ns[longest]) longest = i;
    }

    json_object_set_new(object, "calls", json_count(calls));
    json_object_set_new(object, "calls_total_ns", json_integer(total_ns));
    if (longest == 0) return TRUE;
    json_object_set_new(object, "longest_call_ns", json_integer(tree->to_ns[longest] - tree->from_ns[longest]));
    json_object_set_new(object, "path", path_json(asked->archive, view, longest));
    return TRUE;
}

/* Statistics of the function in the hour of the task's trace; of all hosts for 0. */
static gboolean add_normal(const Asked *asked, const Suspect *suspect, const Period *period, json_t *object,
                           GError **error) {
    const gboolean of_client =
        suspect->resource == HDFS_NETWORK &&
        hdfs_call_class(dict_text(archive_dict(asked->archive), suspect->name, NULL), ROLE_CLIENT) != CALL_APPLICATION;
    const guint32 hosts[] = {0, of_client ? 0 : suspect->host};
    static const char *const names[] = {"normal", "normal_on_host"};

    for (guint i = 0; i < G_N_ELEMENTS(hosts); i++) {
        if (i > 0 && hosts[i] == 0) continue;
        g_autoptr(GArray) rows = function_rows_new();
        const FunctionFilter filter = {
            .period = *period, .roles = ALL_ROLES, .function = suspect->name, .host = hosts[i]};
        if (!function_rows_load(asked->archive, &filter, rows, error)) return FALSE;
        if (rows->len == 0) continue;

        NodeStats all;
        node_stats_init(&all);
        for (guint k = 0; k < rows->len; k++) node_stats_merge(&all, &g_array_index(rows, FunctionRow, k).stats);

        json_t *measure = json_object();
        measure_add(measure, &all);
        node_stats_clear(&all);
        json_object_set_new(object, names[i], measure);
    }

    return TRUE;
}

gboolean suspect_add_evidence(const Asked *asked, const TaskHdfs *hdfs, const Suspect *suspect, json_t *object,
                              GError **error) {
    const gint64 hour_ns = 60 * NS_PER_MINUTE;
    if (!add_calls(asked, hdfs, suspect, object, error)) return FALSE;
    const gint64 begin_ns = hdfs->trace_begin_ns;
    const Period period = {begin_ns - begin_ns % hour_ns, begin_ns - begin_ns % hour_ns + hour_ns};
    json_add_period(object, asked->archive, period, TRUE);
    return add_normal(asked, suspect, &period, object, error);
}

/* ---- summed over tasks ---- */

typedef struct SuspectSum {
    Suspect suspect; /* the one that explains most */
    guint32 tasks;
    double explains_ms, most_ms;
    gint64 since_ms;
} SuspectSum;

struct Suspects {
    GArray *sums; /* SuspectSum: as many as there are hosts that were waited for, times the resources */
};

Suspects *suspects_new(void) {
    Suspects *suspects = g_new0(Suspects, 1);
    suspects->sums = g_array_new(FALSE, TRUE, sizeof(SuspectSum));
    return suspects;
}

void suspects_free(Suspects *suspects) {
    if (!suspects) return;
    g_array_unref(suspects->sums);
    g_free(suspects);
}

void suspects_add(Suspects *suspects, const Suspect *suspect, double explains_ms, gint64 begin_ms) {
    SuspectSum *sum = NULL;

    for (guint i = 0; !sum && i < suspects->sums->len; i++) {
        SuspectSum *known = &g_array_index(suspects->sums, SuspectSum, i);
        if (known->suspect.host == suspect->host && known->suspect.role == suspect->role &&
            known->suspect.resource == suspect->resource) {
            sum = known;
        }
    }

    if (!sum) {
        const SuspectSum fresh = {.suspect = *suspect, .since_ms = begin_ms, .most_ms = explains_ms};
        g_array_append_val(suspects->sums, fresh);
        sum = &g_array_index(suspects->sums, SuspectSum, suspects->sums->len - 1);
    }

    if (explains_ms > sum->most_ms) {
        sum->suspect = *suspect;
        sum->most_ms = explains_ms;
    }

    sum->tasks++;
    sum->explains_ms += explains_ms;
    sum->since_ms = MIN(sum->since_ms, begin_ms);
}

static gint by_cost(gconstpointer a, gconstpointer b) {
    const SuspectSum *x = a, *y = b;
    if (x->explains_ms != y->explains_ms) return x->explains_ms > y->explains_ms ? -1 : 1;
    return x->suspect.host < y->suspect.host ? -1 : x->suspect.host > y->suspect.host;
}

json_t *suspects_json(Archive *archive, const Suspects *suspects) {
    json_t *list = json_array();
    g_array_sort(suspects->sums, by_cost);
    for (guint i = 0; i < suspects->sums->len; i++) {
        const SuspectSum *sum = &g_array_index(suspects->sums, SuspectSum, i);
        json_t *object = json_object();
        if (sum->suspect.host) json_object_set_new(object, "host", json_name(archive, sum->suspect.host));
        if (sum->suspect.tracer) json_object_set_new(object, "process", json_name(archive, sum->suspect.tracer));
        json_object_set_new(object, "role", json_string(role_name(sum->suspect.role)));
        json_object_set_new(object, "resource", json_string(hdfs_resource_name(sum->suspect.resource)));
        json_object_set_new(object, "function", json_name(archive, sum->suspect.name));
        json_object_set_new(object, "tasks", json_integer(sum->tasks));
        json_object_set_new(object, "explains_ns", json_integer((gint64)(sum->explains_ms * NS_PER_MS)));
        json_object_set_new(object, "since_time_ns", json_integer(sum->since_ms * NS_PER_MS));
        json_array_append_new(list, object);
    }
    return list;
}
