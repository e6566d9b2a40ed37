#include "analyzer/query/spark/query_why_trace.h"

#include "analyzer/query/spark/suspects.h"
#include "analyzer/query/spark/tasks/facts_json.h"
#include "analyzer/query/spark/tasks/hdfs_nodes.h"
#include "analyzer/query/traces/trace_tasks.h"
#include "common/base/clock.h"

#define DEFAULT_LIMIT 8u
/* So many of those that were waited for are compared with what is normal: each is a read of statistics. */
#define COMPARED 6u
/* What is slow is told as the reason when it made the trace longer by this share. */
#define REASON_SHARE 0.1
/* A DataNode that does not answer holds up for long: clients give up after a minute. */
#define SILENT_LEAST_NS (5 * NS_PER_SEC)
/* Many small files: so many in one trace, and of the time in HDFS this share for the NameNode. */
#define FILES_MANY     10u
#define NAMENODE_SHARE 0.25

/* ---- the trace ---- */

/* The earliest span without parents, else the earliest of all. */
static const SpanRec *root_of(const CallTree *tree) {
    const SpanRec *root = NULL;
    for (guint pass = 0; !root && pass < 2; pass++) {
        for (guint32 i = 1; i < tree->n_nodes; i++) {
            const SpanRec *span = tree->span[i];
            if (!span || (pass == 0 && span->n_parents > 0)) continue;
            if (!root || span->begin_ns < root->begin_ns) root = span;
        }
    }
    return root;
}

static void add_head(json_t *answer, const Asked *asked, const TraceView *view) {
    const CallTree *tree = view->tree;
    const SpanRec *root = root_of(tree);
    const Lookup *lookup = archive_lookup(asked->archive);
    Role role;
    guint32 host;
    lookup->process(lookup->arg, root->tracer, &role, &host);

    json_object_set_new(answer, "trace", json_trace_id(view->trace_id));
    json_object_set_new(answer, "root", json_name(asked->archive, root->name));
    json_object_set_new(answer, "role", json_string(role_name(role)));
    if (host) json_object_set_new(answer, "host", json_name(asked->archive, host));
    json_object_set_new(answer, "begin_time_ns", json_integer(tree->begin_ns));
    json_object_set_new(answer, "duration_ns", json_integer(tree->end_ns - tree->begin_ns));
    json_object_set_new(answer, "spans", json_count(tree->n_spans));
    json_object_set_new(answer, "incomplete", json_boolean(tree_incomplete(tree)));
    if (view->load.parts <= 1) return;
    json_object_set_new(answer, "parts", json_count(view->load.parts));
    json_object_set_new(answer, "parts_shown", json_count(view->load.loaded));
}

/* ---- whom it waited for ---- */

/* Adds "silent": DataNodes that gave no answer meanwhile. Who waits for one waits at another, or at nobody: then that
 * is no reason. */
static gboolean add_silent(json_t *answer, Standing *standing, gint64 least_ns, json_t *reason, GError **error) {
    json_t *silent = standing_silent(standing, least_ns, error);
    if (!silent) return FALSE;
    if (json_array_size(silent) == 0) {
        json_decref(silent);
        return TRUE;
    }
    if (reason) json_object_del(reason, "reason");
    json_object_set_new(answer, "silent", silent);
    return TRUE;
}

/* Adds "waits"; the one that made the trace longest beyond what is normal is marked as the reason. */
static gboolean add_waits(json_t *answer, const Asked *asked, const TraceView *view, const HdfsFacts *facts,
                          GError **error) {
    guint64 limit = DEFAULT_LIMIT;
    if (!params_count(asked->params, "limit", &limit, error)) return FALSE;
    g_autoptr(GArray) suspects = suspects_of_shares(asked->archive, facts->shares);
    const gint64 duration_ns = view->tree->end_ns - view->tree->begin_ns;
    json_int_t most_ns = (json_int_t)((double)duration_ns * REASON_SHARE);
    json_t *list = json_array(), *reason = NULL;
    json_object_set_new(answer, "waits", list);
    g_autoptr(Standing) standing = standing_new(asked, (Period){view->tree->begin_ns, view->tree->end_ns + 1});

    gboolean all_normal = TRUE;
    const guint n = answer_rows(asked, limit, suspects->len, answer);
    for (guint i = 0; i < n; i++) {
        const Suspect *suspect = &g_array_index(suspects, Suspect, i);
        json_t *object = suspect_json(asked->archive, suspect);
        json_array_append_new(list, object);
        if (i < COMPARED && !suspect_add_evidence(asked, view, suspect, object, error)) return FALSE;
        const json_t *more = json_object_get(object, "more_ns");
        const char *pace = json_string_value(json_object_get(object, "pace"));
        all_normal = all_normal && g_strcmp0(pace, pace_name(PACE_NORMAL)) == 0;
        /* Since when is asked of what may be slow only: the answer costs as much as that of "nodes". Of JournalNodes
         * others are slow, too, when one is waited for. */
        const gboolean may_be_slow = g_strcmp0(pace, pace_name(PACE_NORMAL)) != 0 || suspect->role == ROLE_JOURNALNODE;
        if (i < COMPARED && may_be_slow && !suspect_add_standing(suspect, standing, object, error)) return FALSE;
        if (g_strcmp0(pace, pace_name(PACE_SLOW)) != 0 || json_integer_value(more) < most_ns) continue;
        most_ns = json_integer_value(more);
        reason = object;
    }

    if (reason) json_object_set_new(reason, "reason", json_true());
    const gint64 least_ns = (gint64)((double)duration_ns * REASON_SHARE);
    return all_normal || add_silent(answer, standing, MAX(least_ns, SILENT_LEAST_NS), reason, error);
}

/* Many files, of which the NameNode is asked for each: what takes time then is their number. */
static gboolean many_files(const HdfsFacts *facts) {
    return facts->files >= FILES_MANY && (double)facts->namenode_ns >= NAMENODE_SHARE * (double)facts->hdfs_ns;
}

json_t *answer_why_trace(const Asked *asked, GError **error) {
    SpanId id;
    gboolean one_span = FALSE;
    if (!asked_trace(asked, "trace", &id, &one_span, error)) return NULL;
    g_autoptr(TraceView) view = trace_view_load(asked->archive, id.trace, error);
    if (!view) return NULL;

    g_autoptr(HdfsReader) reader = hdfs_reader_new(asked->archive);
    g_auto(HdfsFacts) facts;
    hdfs_facts_init(&facts);
    hdfs_reader_add_view(reader, view, TRUE, &facts);
    hdfs_facts_finish(&facts);

    json_auto_t *answer = json_object();
    json_t *hdfs = json_object();
    add_head(answer, asked, view);
    json_add_facts(hdfs, asked->archive, &facts);
    json_object_set_new(hdfs, "many_files", json_boolean(many_files(&facts)));
    json_object_set_new(answer, "hdfs", hdfs);
    if (!trace_tasks_add(answer, asked, view, error) || !add_waits(answer, asked, view, &facts, error)) return NULL;
    return g_steal_pointer(&answer);
}
