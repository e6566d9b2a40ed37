#include "tests/calltree/simulated.h"

#include "analyzer/calltree/times.h"
#include "tests/calltree/forest.h"

guint add_call(Maker *m, const char *name, guint parent, gint64 from_ns, gint64 to_ns) {
    const SpanRec head = {.id = {TRACE, ++m->last_id},
                          .begin_ns = from_ns + m->skew_ns + m->begin_ns,
                          .duration_ns = to_ns - from_ns,
                          .name = world_name_called(m->world, name),
                          .tracer = world_tracer(m->world, m->tracer)};
    SpanBuilder builder = span_builder_begin(m->bytes, &head);
    if (parent != 0) span_builder_parent(&builder, (SpanId){TRACE, parent});
    span_builder_end(&builder);
    return m->last_id;
}

gint64 service_ns(GRand *rand, gint64 mean_us) {
    return (gint64)(g_rand_double_range(rand, 0.5, 1.5) * (double)(mean_us * US));
}

void measure(const World *world, const GByteArray *bytes, const char *name, double shares[STAGES_MAX]) {
    g_autoptr(WaitTable) table = wait_table_new(&world->lookup);
    g_autoptr(GPtrArray) spans = spans_in(bytes);
    g_autoptr(CallTree) tree = tree_build((const SpanRec *const *)(void *)spans->pdata, spans->len, 0, NULL);
    const Measured measured = {.tree = tree};
    gboolean differs;
    g_autoptr(TreeTimes) times = times_by_rule(&measured, table, TIMES_NOW, &differs);
    gint64 lost_ns = 0, all_ns = 0;

    for (guint32 i = 1; i < tree->n_nodes; i = tree->end[i]) lost_ns += tree->to_ns[i] - tree->from_ns[i];
    for (guint32 i = 1; i < tree->n_nodes; i++) {
        all_ns += times->critical_ns[i];
        if (name != NULL && tree->span[i]->name != world_name_called(world, name)) continue;
        for (guint stage = 0; stage < STAGES_MAX; stage++) {
            if (tree->span[i]->tracer != world_tracer(world, tracer_of(stage))) continue;
            shares[stage] += 100 * (double)times->critical_ns[i] / (double)lost_ns;
        }
    }
    g_assert_true(differs);
    g_assert_cmpint(all_ns, ==, lost_ns);
}
