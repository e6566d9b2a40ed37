#include "analyzer/query/query.h"

#include <string.h>

#include "analyzer/query/bottleneck/bottleneck_answers.h"
#include "analyzer/query/columns/column_answers.h"
#include "analyzer/query/forest/forest_answers.h"
#include "analyzer/query/htraced/htraced.h"
#include "analyzer/query/jaeger/jaeger.h"
#include "analyzer/query/jaeger/zipkin.h"
#include "analyzer/query/nodes/node_answers.h"
#include "analyzer/query/shared/json_damage.h"
#include "analyzer/query/spans/span_answers.h"
#include "analyzer/query/spark/predict/predict_answers.h"
#include "analyzer/query/spark/spark_answers.h"
#include "analyzer/query/traces/trace_answers.h"
#include "common/base/allowance.h"
#include "common/base/error.h"
#include "common/base/nearest.h"
#include "common/store/store_skip.h"

typedef struct Question {
    const char *name;
    json_t *(*answer)(const Asked *asked, GError **error);
    const char *const *allowed; /* NULL-terminated */
    gboolean records;           /* of Spark and of hosts */
} Question;

/* What follows a question's function: the names of its parameters, and what it reads. */
#define ALLOW(...)      ((const char *const[]){__VA_ARGS__, NULL}), FALSE
#define OF_RECORDS(...) ((const char *const[]){__VA_ARGS__, NULL}), TRUE

/* docs/recipes.md says what else a new question needs. */
static const Question questions[] = {
    {"status", answer_status, ALLOW(NULL)},
    {"senders", answer_senders, ALLOW(NULL)},
    {"functions", answer_functions,
     ALLOW("since", "until", "host", "role", "function", "exclude", "by", "sort", "limit")},
    {"series", answer_series,
     ALLOW("since", "until", "host", "role", "function", "by", "field", "step", "sort", "limit")},
    {"series/columns", answer_series_columns,
     ALLOW("since", "until", "host", "role", "function", "by", "field", "step", "sort", "limit")},
    {"distribution", answer_distribution,
     ALLOW("since", "until", "host", "role", "function", "pattern", "node", "of", "step")},
    {"forest", answer_forest,
     ALLOW("since", "until", "host", "role", "function", "exclude", "level", "pattern", "sort", "limit")},
    {"traces", answer_traces,
     ALLOW("since", "until", "host", "role", "function", "path", "annotation", "min_duration", "max_duration",
           "call_min_duration", "call_max_duration", "min_spans", "max_spans", "incomplete", "pattern", "summary",
           "sort", "limit", "after")},
    {"contrast", answer_contrast,
     ALLOW("since", "until", "host", "role", "function", "path", "annotation", "min_duration", "max_duration",
           "call_min_duration", "call_max_duration", "min_spans", "max_spans", "incomplete", "pattern", "a_since",
           "a_until", "a_min_duration", "a_max_duration", "limit")},
    {"names", answer_names, ALLOW("kind", "text", "since", "until", "role", "limit")},
    {"trace", answer_trace, ALLOW("id", "limit", "part")},
    {"trace/columns", answer_trace_columns, ALLOW("id", "columns", "part")},
    {"trace/find", answer_trace_find, ALLOW("id", "text", "part", "limit")},
    {"trace/notes", answer_trace_notes, ALLOW("id", "part")},
    {"span", answer_span, ALLOW("id")},
    {"diff", answer_diff, ALLOW("kind", "a", "b", "since", "until", "host", "role", "by", "sort", "limit")},
    {"skew", answer_skew, ALLOW("since", "until", "limit")},
    {"verify", answer_verify, ALLOW(NULL)},
    {"stragglers", answer_stragglers,
     OF_RECORDS("app", "stage", "method", "ratio", "lambda_p", "lambda_q", "lambda_t", "lambda_e", "lambda_w", "window",
                "peers", "edge", "lambda_ca", "lambda_cq", "scope", "hdfs", "evidence", "sort", "limit")},
    {"operations", answer_operations, OF_RECORDS("app", "stage", "top", "clusters", "scale", "limit")},
    {"pipelines", answer_pipelines, OF_RECORDS("app", "stage", "limit")},
    {"samples", answer_samples, OF_RECORDS("host", "since", "until", "step")},
    {"advise", answer_advise,
     OF_RECORDS("app", "method", "node", "limits", "all", "simulate", "since", "until", "limit")},
    {"apps", answer_apps, OF_RECORDS("advice", "limit")},
    {"stages", answer_stages, OF_RECORDS("app", "stage", "sort", "limit")},
    {"jobs", answer_jobs, OF_RECORDS("app", "limit")},
    {"executors", answer_executors, OF_RECORDS("app", "sort", "limit")},
    {"tasks", answer_tasks, OF_RECORDS("app", "stage", "task", "status", "host", "sort", "limit")},
    {"tasks/columns", answer_task_columns, OF_RECORDS("app", "stage", "causes")},
    {"runs", answer_runs, OF_RECORDS("a", "b", "stage", "limit")},
    {"why", answer_why,
     OF_RECORDS("app", "trace", "stage", "task", "status", "method", "lambda_p", "lambda_q", "lambda_t", "lambda_e",
                "lambda_w", "window", "peers", "edge", "evidence", "limit")},
    {"nodes", answer_nodes, ALLOW("host", "since", "until", "method", "hint", "limit")},
    {"ends", answer_ends, OF_RECORDS("app", "stage")},
    {"predict", answer_predict, OF_RECORDS("app", "on", "stage", "since", "until", "limit")},
    {"marks", answer_marks, OF_RECORDS("since", "until", "host", "kind", "limit")},
    {"slow", answer_slow, ALLOW("since", "until", "limit")},
    {"bottleneck", answer_bottleneck, ALLOW("since", "until", "root", "traces", "limit")},
    {"hosts", answer_hosts, OF_RECORDS("host", "app", "since", "until", "limit")},
};

const char *question_name(guint i) { return i < G_N_ELEMENTS(questions) ? questions[i].name : NULL; }

static const Question *question_find(const char *name, GError **error) {
    const char *names[G_N_ELEMENTS(questions) + 1] = {NULL};
    if (!g_utf8_validate(name, -1, NULL)) {
        fail(error, PLUMB_ERROR_INPUT, "the question's name is not UTF-8");
        return NULL;
    }
    for (gsize i = 0; i < G_N_ELEMENTS(questions); i++) {
        if (strcmp(questions[i].name, name) == 0) return &questions[i];
        names[i] = questions[i].name;
    }
    const char *nearest = nearest_name(name, names);
    g_autofree char *known = g_strjoinv(", ", (char **)names);
    if (nearest)
        fail(error, PLUMB_ERROR_INPUT, "there is no question \"%s\": did you mean \"%s\"?", name, nearest);
    else
        fail(error, PLUMB_ERROR_INPUT, "there is no question \"%s\": there are %s", name, known);
    return NULL;
}

/* As one of the table, or as Jaeger, Zipkin or htraced are asked. */
static json_t *make_answer(const char *question, const Asked *asked, GError **error) {
    if (jaeger_is(question)) return jaeger_answer(asked, question, error);
    if (zipkin_is(question)) return zipkin_answer(asked, question, error);
    if (htraced_is(question)) return htraced_answer(asked, question, error);
    const Question *found = question_find(question, error);
    if (!found || !params_check(asked->params, question, found->allowed, error)) return NULL;
    return found->answer(asked, error);
}

json_t *question_answer(const char *question, const Asked *asked, GError **error) {
    g_autoptr(GError) failure = NULL;
    if (!query_reads_all(question)) store_skip_begin();
    json_auto_t *answer = make_answer(question, asked, &failure);
    const StoreReads reads = store_skip_end();
    json_t *damages = answer ? json_damages(asked->archive, reads.families) : NULL;
    if (damages) json_object_set_new(answer, "unreadable", damages);
    /* Past the allowance documents lack values (json_memory.h), or what was read ended early, and no error says so, or
     * one that is only its consequence. */
    if (!allowance_check(error)) return NULL;
    if (failure == NULL) return g_steal_pointer(&answer);
    g_propagate_error(error, g_steal_pointer(&failure));
    return NULL;
}

gboolean query_reads_all(const char *question) { return strcmp(question, "verify") == 0; }

gboolean query_reads_records(const char *question) {
    for (gsize i = 0; i < G_N_ELEMENTS(questions); i++)
        if (strcmp(questions[i].name, question) == 0) return questions[i].records;
    return FALSE;
}

gboolean query_is_large(const char *question) {
    return g_str_has_prefix(question, "trace/") || g_str_has_prefix(question, "tasks/");
}

json_t *query_run(Archive *archive, const char *question, const QueryParams *params, gint64 now_ns, GError **error) {
    const Asked asked = {archive, params, now_ns, ANSWER_ROWS_MAX, NULL, NULL};
    return question_answer(question, &asked, error);
}

json_t *query_run_rows(const Query *query, JsonRows *rows, GError **error) {
    const Asked asked = {query->archive, query->params, query->now_ns, ANSWER_ROWS_MAX, rows, query->columns};
    return question_answer(query->question, &asked, error);
}
