#include "analyzer/archive/write/group_calls.h"

#include "analyzer/calltree/interval.h"

/* Of one trace in so many all calls may be examples, and of those that took so long, but only its first calls. */
#define EXAMPLE_SHIFT     60u /* 1 in 16 */
#define EXAMPLE_LONG_NS   NS_PER_SEC
#define EXAMPLE_NODES_MAX 1000u

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

void group_calls_add_errors(GroupCalls *calls, const CallTree *tree, const GArray *failed, const guint8 *counted) {
    for (guint i = 0; i < failed->len && wanted(calls); i++) {
        const guint32 node = g_array_index(failed, guint32, i);
        if (counted != NULL && counted[node] != 0) continue;
        const ProcessEntry *process = process_of(&calls->processes, tree->span[node]->tracer);
        const ErrorCall error = {tree->span[node]->name, process->role, process->host};
        g_array_append_val(calls->calls.errors, error);
    }
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
