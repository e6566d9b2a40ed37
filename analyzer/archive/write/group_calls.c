#include "analyzer/archive/write/group_calls.h"

#include <string.h>

#include "analyzer/calltree/interval.h"

/* Of one trace in so many all calls may be examples, and of those that took so long, but only its first calls. */
#define EXAMPLE_SHIFT     60u /* 1 in 16 */
#define EXAMPLE_LONG_NS   NS_PER_SEC
#define EXAMPLE_NODES_MAX 1000u

/* Ours, OpenTelemetry's and Zipkin's. */
static const char *const error_names[POSTINGS_ERROR_KEYS] = {"exception", "error"};

void group_calls_init(GroupCalls *calls, const Archive *archive) {
    *calls = (GroupCalls){.visitor = &archive->options.stored, .processes = {.lookup = &archive->lookup}};
    calls->calls.lookup = &archive->lookup;
    calls->calls.counts.hosts = g_array_new(FALSE, FALSE, sizeof(HostCount));
    calls->calls.counts.functions = g_array_new(FALSE, FALSE, sizeof(FunctionCount));
    calls->calls.errors = g_array_new(FALSE, FALSE, sizeof(ErrorCall));
    calls->calls.examples = g_array_new(FALSE, FALSE, sizeof(ExampleCall));
}

void group_calls_clear(GroupCalls *calls) {
    g_array_unref(calls->calls.counts.hosts);
    g_array_unref(calls->calls.counts.functions);
    g_array_unref(calls->calls.errors);
    g_array_unref(calls->calls.examples);
}

static gboolean wanted(const GroupCalls *calls) { return calls->visitor->visit != NULL; }

void group_calls_watch(GroupCalls *calls, const Archive *archive, Postings *postings) {
    if (!wanted(calls) || calls->dict_size == dict_size(archive->dict)) return;
    calls->dict_size = dict_size(archive->dict);
    for (guint i = 0; i < POSTINGS_ERROR_KEYS; i++)
        if (calls->error_keys[i] == 0)
            calls->error_keys[i] = dict_find(archive->dict, error_names[i], strlen(error_names[i]));
    postings_set_error_keys(postings, calls->error_keys);
}

void group_calls_drop_errors(Postings *postings) { g_array_set_size(postings_errors(postings), 0); }

void group_calls_take_errors(GroupCalls *calls, Postings *postings, const guint8 *counted) {
    GArray *found = postings_errors(postings);
    for (guint i = 0; i < found->len; i++) {
        const ErrorSpan *span = &g_array_index(found, ErrorSpan, i);
        if (counted != NULL && counted[span->node] != 0) continue;
        const ProcessEntry *process = process_of(&calls->processes, span->tracer);
        const ErrorCall error = {span->name, process->role, process->host};
        g_array_append_val(calls->calls.errors, error);
    }
    group_calls_drop_errors(postings);
}

void group_calls_add_examples(GroupCalls *calls, guint64 trace_id, const CallTree *tree) {
    if (!wanted(calls)) return;
    const gboolean many = (trace_id * 0x9e3779b97f4a7c15u) >> EXAMPLE_SHIFT == 0 ||
                          interval_ns(tree->begin_ns, tree->end_ns) >= EXAMPLE_LONG_NS;
    const guint32 n = MIN(tree->n_nodes, many ? EXAMPLE_NODES_MAX : 2u);
    for (guint32 i = 1; i < n; i++) {
        const SpanRec *span = tree->span[i];
        if (span == NULL) continue;
        const ExampleCall example = {trace_id, (guint64)span_length_ns(span), span->begin_ns, span->name,
                                     process_of(&calls->processes, span->tracer)->role};
        g_array_append_val(calls->calls.examples, example);
    }
}

void group_calls_tell(GroupCalls *calls) {
    if (!wanted(calls)) return;
    calls->visitor->visit(calls->visitor->arg, &calls->calls);
    g_array_set_size(calls->calls.counts.hosts, 0);
    g_array_set_size(calls->calls.counts.functions, 0);
    g_array_set_size(calls->calls.errors, 0);
    g_array_set_size(calls->calls.examples, 0);
}

const StatsCounts *group_calls_counts(const GroupCalls *calls) { return wanted(calls) ? &calls->calls.counts : NULL; }
