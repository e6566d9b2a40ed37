/* What statistics cost, by themselves: traces of a real HDFS, spread over many hosts, into groups as the archive makes
 * them; groups sealed; their values merged four by four, as the store's compaction does.
 *
 * bench_stats MODEL [spans] [hosts] [bytes of a group]. Prints CPU per span, and what keys and values there are. The
 * work depends on the arguments only, so callgrind's counts can be compared. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analyzer/archive/archive.h"
#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/write/trace_version.h"
#include "bench/generate.h"
#include "common/base/clock.h"
#include "common/pack/pack.h"

#define FAN_IN 4u
#define BATCH  100u /* traces made before they are timed */
/* The generator makes a small cluster; a large one is many of it. Ids of its tracers, and of its hosts, which take
 * every eighth id or so as they do beside their processes in a real dictionary, are moved on from copy to copy. */
#define CLUSTER_HOSTS 16u
#define TRACER_STRIDE 509u
#define HOST_STRIDE   128u

static gint64 trace_step_ns = NS_PER_MS;

static gint64 now_ns(void) {
    static gint64 clock_ns = G_GINT64_CONSTANT(1605956000000000000);
    return clock_ns += trace_step_ns;
}

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void stop_on(GError *error) {
    if (error == NULL) return;
    fprintf(stderr, "bench_stats: %s\n", error->message);
    exit(1);
}

typedef struct Bench {
    Archive *archive;
    Generator *generator;
    Packer *packer;
    Compressor *compressor;
    StatsGroup *group;
    GByteArray *spans[BATCH];
    TraceVersion versions[BATCH];
    guint32 numbers[BATCH];
    GPtrArray *list;
    gsize idle_bytes, group_bytes;
    GPtrArray *sealed; /* GHashTable: key -> GByteArray, of each group */
    guint32 clusters;
    GRand *rand;
    double add_ns, seal_ns, merge_ns;
    guint64 n_spans, groups, keys, value_bytes, merged_bytes, merged_in;
    gsize greatest;
} Bench;

static void take_value(void *arg, const StatsKey *key, Bytes value) {
    Bench *bench = arg;
    GByteArray *copy = g_byte_array_new();
    g_byte_array_append(copy, value.data, (guint)value.size_bytes);
    g_hash_table_insert(g_ptr_array_index(bench->sealed, bench->sealed->len - 1), g_bytes_new(key, sizeof *key), copy);
    bench->keys++;
    bench->value_bytes += value.size_bytes;
    bench->greatest = MAX(bench->greatest, value.size_bytes);
}

static GHashTable *values_new(void) {
    return g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref,
                                 (GDestroyNotify)g_byte_array_unref);
}

/* One table out of the first FAN_IN, as a compaction makes one file out of several. */
static void merge_groups(Bench *bench) {
    GHashTable *into = values_new();

    for (guint g = 0; g < FAN_IN; g++) {
        GHashTableIter iter;
        gpointer name;
        g_hash_table_iter_init(&iter, bench->sealed->pdata[g]);
        while (g_hash_table_iter_next(&iter, &name, NULL)) {
            if (g_hash_table_contains(into, name)) continue;
            Bytes values[FAN_IN];
            guint n = 0;
            for (guint i = 0; i < FAN_IN; i++) {
                const GByteArray *value = g_hash_table_lookup(bench->sealed->pdata[i], name);
                if (value == NULL) continue;
                values[n++] = (Bytes){value->data, value->len};
                bench->merged_in += value->len;
            }

            GByteArray *sum = g_byte_array_new();
            double before = cpu_ns();
            if (!stats_value_merge(values, n, sum)) abort();
            bench->merge_ns += cpu_ns() - before;
            bench->merged_bytes += sum->len;
            g_hash_table_insert(into, g_bytes_ref(name), sum);
        }
    }

    g_ptr_array_remove_range(bench->sealed, 0, FAN_IN);
    g_hash_table_unref(into);
}

static void seal(Bench *bench) {
    g_ptr_array_add(bench->sealed, values_new());
    double before = cpu_ns();
    stats_group_seal(bench->group, take_value, bench);
    stats_group_clear(bench->group);
    bench->seal_ns += cpu_ns() - before;
    bench->groups++;
    bench->idle_bytes = stats_group_size_bytes(bench->group);
    if (bench->sealed->len == FAN_IN) merge_groups(bench);
}

static void make_spans(Bench *bench, GByteArray *spans) {
    g_byte_array_set_size(spans, 0);
    g_ptr_array_set_size(bench->list, 0);
    bench->n_spans += generator_trace(bench->generator);
    for (guint p = 0; p < generator_processes(bench->generator); p++) {
        SpanBatch *batch = generator_batch(bench->generator, p);
        if (batch->spans->len == 0) continue;
        packer_begin_batch(bench->packer, batch);
        for (guint s = 0; s < batch->spans->len; s++) packer_span(bench->packer, batch, s, spans);
        generator_batch_done(bench->generator, p);
    }
    GError *error = NULL;
    guint64 trace_id = ((const SpanRec *)(gconstpointer)spans->data)->id.trace;
    spans_point(trace_id, (Bytes){spans->data, spans->len}, bench->list, &error);
    stop_on(error);
    archive_prepare(bench->archive, bench->list, &error);
    stop_on(error);
}

static Archive *one_cluster;

static void process_of_copy(void *arg, guint32 tracer, Role *role, guint32 *host) {
    (void)arg;
    const Lookup *lookup = archive_lookup(one_cluster);
    lookup->process(lookup->arg, tracer % TRACER_STRIDE, role, host);
    *host = *host % HOST_STRIDE + tracer / TRACER_STRIDE * HOST_STRIDE;
}

/* To another copy of the cluster. */
static void move_trace(Bench *bench) {
    guint32 copy = (guint32)g_rand_int_range(bench->rand, 0, (gint32)bench->clusters);
    for (guint i = 0; i < bench->list->len; i++)
        ((SpanRec *)g_ptr_array_index(bench->list, i))->tracer += copy * TRACER_STRIDE;
}

static void make_trace(Bench *bench, guint i) {
    make_spans(bench, bench->spans[i]);
    bench->versions[i] =
        version_make(bench->archive, bench->compressor, (const SpanRec *const *)(gconstpointer)bench->list->pdata,
                     bench->list->len, TIMES_THROUGH_WAITS);
    bench->numbers[i] = pattern_table_number(bench->archive->patterns, bench->versions[i].pattern);
    move_trace(bench);
}

static void add_traces(Bench *bench) {
    for (guint i = 0; i < BATCH; i++) make_trace(bench, i);
    double before = cpu_ns();
    for (guint i = 0; i < BATCH; i++) {
        const StatsTrace trace = version_stats(&bench->versions[i], bench->numbers[i]);
        stats_group_add(bench->group, &trace);
    }
    bench->add_ns += cpu_ns() - before;
    for (guint i = 0; i < BATCH; i++) version_clear(&bench->versions[i]);
    if (stats_group_size_bytes(bench->group) - bench->idle_bytes >= bench->group_bytes) seal(bench);
}

static void report(const Bench *bench) {
    double spans = (double)bench->n_spans, groups = (double)bench->groups;
    printf("%.0f spans, %.0f groups of %.0f spans, %u patterns\n", spans, groups, spans / groups,
           archive_pattern_count(bench->archive));
    printf("add:   %6.1f ns/span\nseal:  %6.1f ns/span\n", bench->add_ns / spans, bench->seal_ns / spans);
    printf("merge: %6.1f ns/span, %.0f %% of the bytes are left\n", bench->merge_ns / spans,
           100 * (double)bench->merged_bytes / (double)bench->merged_in);
    printf("a group: %.0f keys, %.1f B/span, greatest value %zu B\n", (double)bench->keys / groups,
           (double)bench->value_bytes / spans, bench->greatest);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: bench_stats MODEL [spans] [hosts] [bytes of a group]\n");
        return 2;
    }

    GError *error = NULL;
    guint64 wanted = argc > 2 ? g_ascii_strtoull(argv[2], NULL, 10) : 1000000;
    StoreOptions store_options = {.merge = archive_merge};
    ArchiveOptions archive_options = {.clock_tolerance_ns = 10 * NS_PER_MS};
    GeneratorOptions generator_options = {
        .model_path = argv[1], .seed = 1, .hosts = CLUSTER_HOSTS, .nanoseconds = TRUE, .now_ns = now_ns};
    guint32 hosts = argc > 3 ? (guint32)strtoul(argv[3], NULL, 10) : 3000;
    Bench bench = {.group_bytes = argc > 4 ? (gsize)g_ascii_strtoull(argv[4], NULL, 10) : 16u << 20};

    Store *store = store_open_memory(&store_options, &error);
    stop_on(error);
    bench.archive = archive_open(store, &archive_options, &error);
    stop_on(error);
    bench.generator = generator_new(&generator_options, &error);
    stop_on(error);
    NamingRules *rules = naming_rules_new(naming_default_templates, &error);
    stop_on(error);
    bench.packer = packer_new(rules, archive_dict(bench.archive));
    bench.compressor = compressor_new(archive_lookup(bench.archive), 100000);
    one_cluster = bench.archive;
    bench.clusters = MAX(hosts / CLUSTER_HOSTS, 1);
    bench.rand = g_rand_new_with_seed(1);
    Lookup lookup = *archive_lookup(bench.archive);
    lookup.process = process_of_copy;
    bench.group = stats_group_new(&lookup, TRUE);
    bench.idle_bytes = stats_group_size_bytes(bench.group);
    for (guint i = 0; i < BATCH; i++) bench.spans[i] = g_byte_array_new();
    bench.list = g_ptr_array_new();
    bench.sealed = g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_unref);

    trace_step_ns = NS_PER_MS / 100; /* 100,000 traces, 2 million spans, a second: as fast as one machine takes them */
    while (bench.n_spans < wanted) add_traces(&bench);
    if (bench.groups == 0) seal(&bench);
    report(&bench);

    g_rand_free(bench.rand);
    g_ptr_array_unref(bench.sealed);
    for (guint i = 0; i < BATCH; i++) g_byte_array_unref(bench.spans[i]);
    g_ptr_array_unref(bench.list);
    stats_group_free(bench.group);
    compressor_free(bench.compressor);
    packer_free(bench.packer);
    naming_rules_free(rules);
    generator_free(bench.generator);
    archive_free(bench.archive);
    store_close(store);
    return 0;
}
