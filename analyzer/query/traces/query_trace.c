/* One trace as a tree: every span with all that is known of it. */
#include <string.h>

#include "analyzer/archive/kept_ids.h"
#include "analyzer/query/shared/question.h"
#include "analyzer/query/shared/trace_view.h"
#include "analyzer/query/traces/skew.h"
#include "analyzer/query/traces/trace_answers.h"
#include "analyzer/query/traces/trace_rows.h"
#include "analyzer/query/traces/trace_tasks.h"
#include "common/base/allowance.h"
#include "common/base/error.h"

/* A span is some 400 bytes of JSON, and 2 KiB as a document: this keeps an answer below 50 MB unless more is asked for.
 */
#define DEFAULT_LIMIT 20000u

static guint32 count_children(const CallTree *tree, guint32 node) {
    guint32 n = 0;
    for (guint32 c = node + 1; c < tree->end[node]; c = tree->end[c]) n++;
    return n;
}

static json_t *missing_json(const CallTree *tree, guint32 node, guint32 depth) {
    json_t *row = json_object();
    json_object_set_new(row, "span", json_span_id(tree->missing[node]));
    json_object_set_new(row, "depth", json_integer(depth));
    json_object_set_new(row, "children", json_count(count_children(tree, node)));
    return row;
}

/* In pre-order. A missing parent is a row of its own list; "at" says before which span it stands. */
static void add_nodes(json_t *answer, const Asked *asked, const TraceView *view, guint64 limit, JsonText *text) {
    const CallTree *tree = view->tree;
    const guint most = answer_rows(asked, limit, tree->n_spans, answer);
    g_auto(TraceRows) rows = {asked->archive, view, text, g_string_new(NULL)};
    json_t *missing = json_array();
    json_object_set_new(answer, "spans", json_null());
    json_object_set_new(answer, "missing", missing);

    g_autofree guint32 *depths = g_new(guint32, tree->n_nodes);
    depths[0] = G_MAXUINT32; /* so that its children have 0 */
    guint shown = 0;
    trace_rows_begin(&rows);

    for (guint32 i = 1; i < tree->n_nodes && shown < most; i++) {
        if (!allowance_goes_on_with(tree->span[i] ? tree->span[i]->size_bytes : 0)) break;
        depths[i] = depths[tree->parent[i]] + 1;
        if (tree->span[i]) {
            trace_rows_add(&rows, i, depths[i]);
            shown++;
        } else {
            json_t *row = missing_json(tree, i, depths[i]);
            json_object_set_new(row, "at", json_count(shown));
            json_array_append_new(missing, row);
        }
    }

    trace_rows_end(&rows);
}

/* As text for a caller that wants text, else into the document. */
static gboolean add_spans(json_t *answer, const Asked *asked, const TraceView *view, guint64 limit, GError **error) {
    g_auto(JsonText) own = {NULL, 0, 0};
    JsonText *text = asked->rows ? &asked->rows->text : &own;
    add_nodes(answer, asked, view, limit, text);
    if (!allowance_check(error)) return FALSE;
    if (asked->rows) {
        asked->rows->member = "spans";
        return TRUE;
    }
    json_error_t why;
    json_t *spans = json_loadb(text->data, text->used, JSON_ALLOW_NUL, &why);
    if (!spans) return fail(error, PLUMB_ERROR_CORRUPT, "the spans are no JSON at byte %d: %s", why.position, why.text);
    json_object_set_new(answer, "spans", spans);
    return TRUE;
}

static void add_head(json_t *answer, Archive *archive, const TraceView *view) {
    const CallTree *tree = view->tree;
    g_autofree guint32 *node_of = g_new(guint32, tree->n_nodes);
    g_autoptr(Compressor) compressor = compressor_new(archive_lookup(archive), 0);
    g_autoptr(Pattern) pattern = compressor_tree(compressor, tree, node_of);
    json_object_set_new(answer, "trace", json_trace_id(view->trace_id));
    json_object_set_new(answer, "pattern", json_pattern_id(pattern->id));
    json_object_set_new(answer, "begin_time_ns", json_integer(tree->begin_ns));
    json_object_set_new(answer, "duration_ns", json_integer(tree->end_ns - tree->begin_ns));
    json_object_set_new(answer, "spans_total", json_count(tree->n_spans));
    json_object_set_new(answer, "orphans", json_count(tree->counts.orphans));
    json_object_set_new(answer, "cycles", json_count(tree->counts.cycles));
    json_object_set_new(answer, "duplicates", json_count(tree->counts.duplicates + tree->counts.conflicts));
    json_object_set_new(answer, "incomplete", json_boolean(tree_incomplete(tree)));
}

static gboolean has_span(const CallTree *tree, SpanId id) {
    for (guint32 i = 1; i < tree->n_nodes && allowance_goes_on(); i++) {
        if (tree->span[i] && span_id_equal(tree->span[i]->id, id)) return TRUE;
    }
    return FALSE;
}

json_t *answer_trace(const Asked *asked, GError **error) {
    SpanId id;
    gboolean one_span = FALSE;
    guint64 limit = DEFAULT_LIMIT, part = 1;
    if (!asked_trace(asked, "id", &id, &one_span, error) || !params_count(asked->params, "limit", &limit, error) ||
        !params_count(asked->params, "part", &part, error)) {
        return NULL;
    }
    if (part == 0) {
        fail(error, PLUMB_ERROR_INPUT, "parts of a trace are counted from 1");
        return NULL;
    }
    g_autoptr(TraceView) view = trace_view_load_from(asked->archive, id.trace, (guint)MIN(part - 1, G_MAXUINT), error);
    if (!view) return NULL;

    if (one_span && !has_span(view->tree, id)) {
        fail(error, PLUMB_ERROR_NOT_FOUND, "trace %016" G_GINT64_MODIFIER "x is there, but has no span %s", id.trace,
             params_text(asked->params, "id"));
        return NULL;
    }
    TraceKept kept;
    if (!archive_trace_kept(asked->archive, id.trace, &kept, error)) return NULL;

    g_autoptr(Skew) skew = skew_new(asked->archive);
    skew_add_tree(skew, view->tree);

    json_auto_t *answer = json_object();
    add_head(answer, asked->archive, view);
    if (!allowance_check(error) || !trace_tasks_add(answer, asked, view, error)) return NULL;
    if (view->load.parts > 1) {
        json_object_set_new(answer, "parts", json_count(view->load.parts));
        json_object_set_new(answer, "first_part", json_count(part));
        json_object_set_new(answer, "parts_shown", json_count(view->load.loaded));
    }

    if (view->load.late_left) json_object_set_new(answer, "waiting", json_true());
    if (kept.dropped != 0) json_object_set_new(answer, "dropped", json_dropped(kept.dropped));
    if (!add_spans(answer, asked, view, limit, error)) return NULL;
    json_object_set_new(answer, "skew", skew_json(skew));
    return g_steal_pointer(&answer);
}
