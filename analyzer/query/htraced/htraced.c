#include "analyzer/query/htraced/htraced.h"

#include <string.h>

#include "analyzer/query/htraced/htraced_inside.h"
#include "analyzer/query/shared/trace_view.h"
#include "common/base/allowance.h"
#include "common/wire/json/span_json.h"

#define SPAN     HTRACED_QUESTIONS "span/"
#define CHILDREN "/children"
#define LIM_MOST 8u /* hexadecimal digits: htraced reads 32 bits */

json_t *htraced_span(Archive *archive, const SpanRec *span, SpanBatch *batch) {
    g_autoptr(GString) text = g_string_new(NULL);
    batch_clear(batch);
    query_span_to_batch(archive, span, batch);
    span_json_write(batch, 0, text);
    return json_loadb(text->str, text->len, JSON_ALLOW_NUL, NULL);
}

/* ---- the version ---- */

static json_t *answer_version(void) {
    return json_pack("{s:s, s:s}", "ReleaseVersion", "plumbd " PLUMB_VERSION, "GitVersion", "");
}

/* ---- one span ---- */

/* Of "span/ID" and "span/ID/children". */
static gboolean parse_span(const char *question, SpanId *id, gboolean *children) {
    if (!g_str_has_prefix(question, SPAN)) return FALSE;
    const char *text = question + strlen(SPAN), *end = strchr(text, '/');
    *children = end != NULL;
    if (end != NULL && strcmp(end, CHILDREN) != 0) return FALSE;
    return span_id_parse(text, end != NULL ? (gsize)(end - text) : strlen(text), id);
}

gboolean htraced_asks_for(const char *question, guint64 *trace_id) {
    SpanId id;
    gboolean children;
    if (!parse_span(question, &id, &children)) return FALSE;
    *trace_id = id.trace;
    return TRUE;
}

static json_t *answer_span(const Asked *asked, SpanId id, const TraceView *view) {
    g_autoptr(SpanBatch) batch = batch_new();
    const SpanRec *span;
    for (gsize at = 0; (span = spans_next(view->bytes, &at)) != NULL && allowance_goes_on_with(span->size_bytes);)
        if (span_id_equal(span->id, id)) return htraced_span(asked->archive, span, batch);
    return NULL;
}

static gboolean has_parent(const SpanRec *span, SpanId id) {
    for (guint i = 0; i < span->n_parents; i++)
        if (span_id_equal(span_parents(span)[i], id)) return TRUE;
    return FALSE;
}

/* Their ids. */
static json_t *answer_children(SpanId id, const TraceView *view, guint64 limit) {
    json_t *ids = json_array();
    const SpanRec *span;
    for (gsize at = 0; (span = spans_next(view->bytes, &at)) != NULL && json_array_size(ids) < limit &&
                       allowance_goes_on_with(span->size_bytes);)
        if (has_parent(span, id)) json_array_append_new(ids, json_span_id(span->id));
    return ids;
}

/* Hexadecimal, as htraced reads it. */
static gboolean parse_limit(const Asked *asked, guint64 *limit, GError **error) {
    const char *text = params_text(asked->params, "lim");
    const gsize length = text != NULL ? strlen(text) : 0;
    if (length == 0 || length > LIM_MOST || strspn(text, "0123456789abcdefABCDEF") != length)
        return fail(error, PLUMB_ERROR_INPUT, "parameter 'lim' is required: how many children, in hexadecimal digits");
    *limit = MIN(g_ascii_strtoull(text, NULL, 16), asked->rows_max);
    return TRUE;
}

static json_t *answer_about(const Asked *asked, SpanId id, gboolean children, GError **error) {
    guint64 limit = 0;
    if (children && !parse_limit(asked, &limit, error)) return NULL;
    g_autoptr(GError) problem = NULL;
    g_autoptr(TraceView) view = trace_view_load(asked->archive, id.trace, &problem);
    if (view == NULL && !(children && g_error_matches(problem, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND))) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return NULL;
    }
    if (children) return view != NULL ? answer_children(id, view, limit) : json_array();
    json_t *span = answer_span(asked, id, view);
    if (span == NULL) fail(error, PLUMB_ERROR_NOT_FOUND, "there is no such span");
    return span;
}

/* ---- all ---- */

json_t *htraced_answer(const Asked *asked, const char *question, GError **error) {
    const char *path = question + strlen(HTRACED_QUESTIONS);
    SpanId id;
    gboolean children;
    if (!params_check_text(asked->params, error)) return NULL;
    if (strcmp(path, "server/version") == 0 || strcmp(path, "server/info") == 0) return answer_version();
    if (strcmp(path, "query") == 0) return htraced_query(asked, error);
    if (parse_span(question, &id, &children)) return answer_about(asked, id, children, error);
    fail(error, PLUMB_ERROR_INPUT,
         "there is no such path: docs/ecosystem.md has those of htraced; a span's id has 32 hexadecimal digits");
    return NULL;
}
