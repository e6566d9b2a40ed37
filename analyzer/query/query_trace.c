/* One trace as a tree: every span with all that is known of it. */
#include <string.h>

#include "analyzer/query/question.h"
#include "analyzer/query/skew.h"
#include "analyzer/query/trace_tasks.h"
#include "analyzer/query/trace_view.h"
#include "common/base/clock.h"
#include "common/base/error.h"

/* A span is some 2 KiB of JSON in memory: this keeps an answer below 50 MB unless more is asked for. */
#define DEFAULT_LIMIT 20000u

/* HTrace's keys are unique, other senders' need not be: a key that comes again makes its value a list. */
static void set_annotation(json_t *object, const char *key, json_t *value) {
    json_t *known = json_object_get(object, key);
    if (!known) {
        json_object_set_new(object, key, value);
        return;
    }
    if (!json_is_array(known)) {
        json_t *list = json_array();
        json_array_append(list, known);
        json_object_set_new(object, key, list);
        known = list;
    }
    json_array_append_new(known, value);
}

static void add_lists(json_t *row, Archive *archive, const SpanRec *span, guint skip) {
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    SpanNote note;
    json_t *annotations = json_object(), *notes = json_array();
    while (span_next_annotation(&cursor, &annotation)) {
        if (skip > 0) {
            skip--;
            continue;
        }
        json_t *value = json_text(annotation.value, annotation.length);
        set_annotation(annotations, dict_text(archive_dict(archive), annotation.key, NULL), value);
    }
    while (span_next_note(&cursor, &note)) {
        json_t *object = json_object();
        json_object_set_new(object, "time_ns", json_integer(note.time_ns));
        json_object_set_new(object, "message", json_text(note.message, note.length));
        json_array_append_new(notes, object);
    }
    if (json_object_size(annotations)) json_object_set(row, "annotations", annotations);
    if (json_array_size(notes)) json_object_set(row, "notes", notes);
    json_decref(annotations);
    json_decref(notes);
}

static void add_process(json_t *row, Archive *archive, const SpanRec *span) {
    gsize length;
    const char *text = dict_text(archive_dict(archive), span->tracer, &length);
    TracerId tracer = tracer_id_parse(text, length);
    json_object_set_new_nocheck(row, "role", json_string_nocheck(role_name(tracer.role)));
    json_object_set_new_nocheck(row, "process", json_text(tracer.process, tracer.process_length));
    if (tracer.host_length) json_object_set_new_nocheck(row, "host", json_text(tracer.host, tracer.host_length));
    if (tracer.pid >= 0) json_object_set_new_nocheck(row, "pid", json_integer(tracer.pid));
}

static void add_flags(json_t *row, guint8 flags) {
    static const struct {
        NodeFlags flag;
        const char *name;
    } names[] = {{NODE_ORPHAN, "orphan"},
                 {NODE_CYCLE_CUT, "cycle"},
                 {NODE_REVERSED, "reversed"},
                 {NODE_OUTSIDE_PARENT, "outside parent"}};
    json_t *list = NULL;
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        if (!(flags & names[i].flag)) continue;
        if (!list) list = json_array();
        json_array_append_new(list, json_string(names[i].name));
    }
    if (list) json_object_set_new_nocheck(row, "flags", list);
}

static json_t *span_json(Archive *archive, const TraceView *view, guint32 node, guint32 depth) {
    const SpanRec *span = view->tree->span[node];
    g_autoptr(GString) description = g_string_new(NULL);
    guint skip = 0;
    span_description(archive, span, description, &skip);
    json_t *row = json_object(), *parents = json_array();
    for (guint i = 0; i < span->n_parents; i++) json_array_append_new(parents, json_span_id(span_parents(span)[i]));
    json_object_set_new_nocheck(row, "span", json_span_id(span->id));
    json_object_set_new_nocheck(row, "parents", parents);
    json_object_set_new_nocheck(row, "depth", json_integer(depth));
    json_object_set_new_nocheck(row, "function", json_name(archive, span->name));
    json_object_set_new_nocheck(row, "description", json_text(description->str, description->len));
    add_process(row, archive, span);
    json_object_set_new_nocheck(row, "begin_time_ns", json_integer(span->begin_ns));
    json_object_set_new_nocheck(row, "duration_ns", json_integer(span->duration_ns));
    json_object_set_new_nocheck(row, "self_ns", json_integer(view->times->self_ns[node]));
    json_object_set_new_nocheck(row, "critical_ns", json_integer(view->times->critical_ns[node]));
    json_object_set_new_nocheck(row, "resolution_ns", json_integer(span->flags & SPAN_MILLISECONDS ? NS_PER_MS : 1));
    add_lists(row, archive, span, skip);
    add_flags(row, view->tree->flags[node]);
    return row;
}

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
static void add_nodes(json_t *answer, const Asked *asked, const TraceView *view, guint64 limit) {
    const CallTree *tree = view->tree;
    const guint most = answer_rows(asked, limit, tree->n_spans, answer);
    json_t *spans = json_array(), *missing = json_array();
    json_object_set_new(answer, "spans", spans);
    json_object_set_new(answer, "missing", missing);
    g_autofree guint32 *depths = g_new(guint32, tree->n_nodes);
    depths[0] = G_MAXUINT32; /* so that its children have 0 */
    guint shown = 0;
    for (guint32 i = 1; i < tree->n_nodes && shown < most; i++) {
        depths[i] = depths[tree->parent[i]] + 1;
        if (tree->span[i]) {
            json_array_append_new(spans, span_json(asked->archive, view, i, depths[i]));
            shown++;
        } else {
            json_t *row = missing_json(tree, i, depths[i]);
            json_object_set_new(row, "at", json_count(shown));
            json_array_append_new(missing, row);
        }
    }
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
    for (guint32 i = 1; i < tree->n_nodes; i++) {
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
    guint32 dropped;
    if (!archive_trace_dropped(asked->archive, id.trace, &dropped, error)) return NULL;
    g_autoptr(Skew) skew = skew_new(asked->archive);
    skew_add_tree(skew, view->tree);
    json_auto_t *answer = json_object();
    add_head(answer, asked->archive, view);
    if (!trace_tasks_add(answer, asked, view, error)) return NULL;
    if (view->load.parts > 1) {
        json_object_set_new(answer, "parts", json_count(view->load.parts));
        json_object_set_new(answer, "first_part", json_count(part));
        json_object_set_new(answer, "parts_shown", json_count(view->load.loaded));
    }
    if (dropped != 0) json_object_set_new(answer, "dropped", json_dropped(dropped));
    add_nodes(answer, asked, view, limit);
    json_object_set_new(answer, "skew", skew_json(skew));
    return g_steal_pointer(&answer);
}
