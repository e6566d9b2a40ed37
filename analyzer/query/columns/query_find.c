/* Which calls of a trace have a text? Their numbers, as of the question "trace/columns" with the same parts. */
#include <string.h>

#include "analyzer/query/columns/calls.h"
#include "analyzer/query/columns/column_answers.h"
#include "common/base/error.h"

/* A page marks so many; the answer stays below 100 kB. */
#define DEFAULT_LIMIT 10000u
#define TEXT_LEAST    2u

typedef struct Found {
    json_t *rows;
    guint32 n;
    guint64 most;
} Found;

static void add_found(void *arg, guint32 row, const Call *call, gint32 parent) {
    (void)parent;
    Found *found = arg;
    if (!(call->flags & CALL_FOUND)) return;
    if (found->n++ < found->most) json_array_append_new(found->rows, json_integer(row));
}

json_t *answer_trace_find(const Asked *asked, GError **error) {
    CallsAsked wanted;
    guint64 limit = DEFAULT_LIMIT;
    const char *text = params_text(asked->params, "text");
    if (!calls_asked_read(asked, &wanted, error) || !params_count(asked->params, "limit", &limit, error)) return NULL;
    if (text == NULL || strlen(text) < TEXT_LEAST) {
        fail(error, PLUMB_ERROR_INPUT, "text is missing: give at least %u characters of what is looked for",
             TEXT_LEAST);
        return NULL;
    }
    g_autofree char *lower = g_ascii_strdown(text, -1);
    wanted.find = lower;
    g_autoptr(Calls) calls = calls_load(asked, &wanted, error);
    if (calls == NULL) return NULL;

    json_auto_t *answer = json_object();
    calls_add_head(calls, answer);
    Found found = {json_array(), 0, MIN(limit == 0 ? asked->rows_max : limit, asked->rows_max)};
    json_object_set_new(answer, "rows", found.rows);
    const CallsWalk walk = {add_found, &found, NULL};
    if (!calls_each(calls, &walk, error)) return NULL;
    json_object_set_new(answer, "found", json_integer(found.n));
    if (found.n > found.most) json_object_set_new(answer, "more", json_true());
    return g_steal_pointer(&answer);
}
