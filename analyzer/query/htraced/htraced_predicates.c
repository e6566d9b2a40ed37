#include <stdlib.h>
#include <string.h>

#include "analyzer/query/htraced/htraced_inside.h"
#include "common/base/clock.h"

/* In the order of their words below. */
typedef enum { OP_CONTAINS, OP_EQUALS, OP_AT_MOST, OP_AT_LEAST, OP_ABOVE } Op;
typedef enum { FIELD_ID, FIELD_NAME, FIELD_BEGIN, FIELD_END, FIELD_DURATION, FIELD_TRACER } Field;

struct HtracedPredicate {
    Op op;
    Field field;
    SpanId id;
    gint64 ms;
    char *text;
};

#define PREDICATES_MOST 64u

/* The place of the word in the list; -1: it is none of them. */
static int word_of(const json_t *value, const char *const *words) {
    const char *text = json_string_value(value);
    for (int i = 0; text != NULL && words[i] != NULL; i++)
        if (strcmp(text, words[i]) == 0) return i;
    return -1;
}

static gboolean parse_ms(const char *text, gint64 *ms) {
    char *end;
    *ms = g_ascii_strtoll(text, &end, 10);
    return end != text && *end == '\0';
}

static gboolean parse_value(HtracedPredicate *predicate, GError **error) {
    if (predicate->field == FIELD_NAME || predicate->field == FIELD_TRACER) return TRUE;
    if (predicate->op == OP_CONTAINS)
        return fail(error, PLUMB_ERROR_INPUT, "query: \"cn\" is for description and tracerid");
    const gboolean good = predicate->field == FIELD_ID
                              ? span_id_parse(predicate->text, strlen(predicate->text), &predicate->id)
                              : parse_ms(predicate->text, &predicate->ms);
    return good || fail(error, PLUMB_ERROR_INPUT,
                        "query: \"val\" is neither an id of 32 hexadecimal digits nor a number of milliseconds");
}

/* htraced takes the key in any case; its own client writes "Val". */
static const json_t *value_of(const json_t *object) {
    const json_t *value = json_object_get(object, "val");
    return value != NULL ? value : json_object_get(object, "Val");
}

static gboolean parse_predicate(const json_t *object, HtracedPredicate *predicate, GError **error) {
    static const char *const ops[] = {"cn", "eq", "le", "ge", "gt", NULL};
    static const char *const fields[] = {"spanid", "description", "begin", "end", "duration", "tracerid", NULL};
    const int op = word_of(json_object_get(object, "op"), ops);
    const int field = word_of(json_object_get(object, "field"), fields);
    const char *text = json_string_value(value_of(object));
    if (op < 0 || field < 0 || text == NULL)
        return fail(error, PLUMB_ERROR_INPUT,
                    "query: a predicate has \"op\" (cn, eq, le, ge, gt), \"field\" (spanid, description, begin, end, "
                    "duration, tracerid) and \"val\", a text");
    *predicate = (HtracedPredicate){.op = (Op)op, .field = (Field)field, .text = (char *)text};
    if (!parse_value(predicate, error)) return FALSE;
    predicate->text = g_strdup(text);
    return TRUE;
}

static void predicate_clear(void *data) {
    HtracedPredicate *predicate = data;
    g_free(predicate->text);
}

gboolean htraced_predicates_parse(const json_t *list, HtracedPredicates *predicates, GError **error) {
    g_auto(HtracedPredicates) parsed = {g_array_new(FALSE, FALSE, sizeof(HtracedPredicate)), FALSE};
    g_array_set_clear_func(parsed.list, predicate_clear);
    if (list != NULL && !json_is_null(list) && (!json_is_array(list) || json_array_size(list) > PREDICATES_MOST))
        return fail(error, PLUMB_ERROR_INPUT, "query: \"pred\" is a list of up to %u predicates", PREDICATES_MOST);
    for (gsize i = 0; i < json_array_size(list); i++) {
        HtracedPredicate predicate;
        if (!parse_predicate(json_array_get(list, i), &predicate, error)) return FALSE;
        g_array_append_val(parsed.list, predicate);
        if (i == 0) parsed.newest_first = predicate.op == OP_AT_MOST;
    }
    *predicates = parsed;
    parsed.list = NULL;
    return TRUE;
}

void htraced_predicates_clear(HtracedPredicates *predicates) { g_clear_pointer(&predicates->list, g_array_unref); }

/* ---- what fits ---- */

static gboolean holds(Op op, int order) {
    switch (op) {
    case OP_AT_MOST: return order <= 0;
    case OP_AT_LEAST: return order >= 0;
    case OP_ABOVE: return order > 0;
    default: return order == 0;
    }
}

static gboolean text_fits(const HtracedPredicate *predicate, BatchString text) {
    const gsize length = strlen(predicate->text);
    if (predicate->op == OP_CONTAINS) return g_strstr_len(text.data, text.length, predicate->text) != NULL;
    const int order = memcmp(text.data, predicate->text, MIN(text.length, length));
    return holds(predicate->op, order != 0 ? order : (text.length > length) - (text.length < length));
}

static gboolean ms_fits(const HtracedPredicate *predicate, gint64 ns) {
    const gint64 ms = ns / NS_PER_MS;
    return holds(predicate->op, (ms > predicate->ms) - (ms < predicate->ms));
}

static gboolean fits(const HtracedPredicate *predicate, const SpanBatch *batch, const BatchSpan *span) {
    switch (predicate->field) {
    case FIELD_ID: return holds(predicate->op, span_id_compare(span->id, predicate->id));
    case FIELD_NAME: return text_fits(predicate, batch_string(batch, span->name));
    case FIELD_TRACER: return text_fits(predicate, batch_string(batch, span->tracer));
    case FIELD_BEGIN: return ms_fits(predicate, span->begin_ns);
    case FIELD_END: return ms_fits(predicate, span->begin_ns + span->duration_ns);
    default: return ms_fits(predicate, span->duration_ns);
    }
}

gboolean htraced_fits(const HtracedPredicates *predicates, const SpanBatch *batch, const BatchSpan *span) {
    for (guint i = 0; i < predicates->list->len; i++)
        if (!fits(&g_array_index(predicates->list, HtracedPredicate, i), batch, span)) return FALSE;
    return TRUE;
}

static gboolean may_fit(const HtracedPredicate *predicate, guint64 trace_id, gint64 begin_ns, gint64 end_ns) {
    const gboolean equals = predicate->op == OP_EQUALS;
    if (predicate->field == FIELD_ID) return !equals || predicate->id.trace == trace_id;
    if (predicate->field != FIELD_BEGIN && predicate->field != FIELD_END) return TRUE;
    const gboolean below = equals || predicate->op == OP_AT_MOST;
    const gboolean above = equals || predicate->op == OP_AT_LEAST || predicate->op == OP_ABOVE;
    return (!below || begin_ns / NS_PER_MS <= predicate->ms) && (!above || end_ns / NS_PER_MS >= predicate->ms);
}

gboolean htraced_may_fit(const HtracedPredicates *predicates, guint64 trace_id, gint64 begin_ns, gint64 end_ns) {
    for (guint i = 0; i < predicates->list->len; i++)
        if (!may_fit(&g_array_index(predicates->list, HtracedPredicate, i), trace_id, begin_ns, end_ns)) return FALSE;
    return TRUE;
}
