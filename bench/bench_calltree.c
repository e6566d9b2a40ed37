/* What closing a trace costs: each step of analyzer/calltree, per span, for traces of several sizes.
 *
 * bench_calltree [seconds per size [hosts [spans]]]. Prints nanoseconds of CPU per span and bytes per span, warm and,
 * what counts in a daemon, with spans that have left the caches since they came. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/calltree/record/record.h"
#include "analyzer/calltree/stats/stats_group.h"
#include "common/model/id_place.h"

#define SHAPES       40u         /* different traces of one size, so that the caches do not hold just one */
#define COLD_BYTES   (96u << 20) /* more than the caches hold */
#define KEY_BYTES    900u
#define KEY_PATH     901u
#define FIRST_TRACER 10000u
#define FIRST_HOST   2000u
#define CLUSTER      16u /* tracers, and hosts, that the traces of one shape use */
#define GROUP_BYTES  (24u << 20)

typedef struct Trace {
    GByteArray *bytes;
    GPtrArray *spans;
} Trace;

enum { STEP_TREE, STEP_PATTERN, STEP_TIMES, STEP_STATS, STEP_RECORD, STEP_SEAL, STEPS };
static const char *const step_names[STEPS] = {"tree", "pattern", "times", "stats", "record", "sealing"};

static const char *text_of(void *arg, guint32 id, gsize *length) {
    static char text[32];
    (void)arg;
    *length = (gsize)snprintf(text, sizeof text, "Function#%u", id);
    return text;
}

static void process_of_tracer(void *arg, guint32 tracer, Role *role, guint32 *host) {
    (void)arg;
    *role = tracer % 4 == 0 ? ROLE_CLIENT : ROLE_DATANODE;
    *host = FIRST_HOST + (tracer - FIRST_TRACER);
}

static guint32 bytes_key(void *arg) {
    (void)arg;
    return KEY_BYTES;
}

static const Lookup lookup = {text_of, process_of_tracer, bytes_key, NULL};

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* A call that reads or writes in packets: some levels of single calls, then many equal ones, every eighth with bytes.
 */
static Trace trace_new(guint n, guint shape, GRand *rand) {
    Trace trace = {g_byte_array_new(), g_ptr_array_new()};
    GArray *ids = g_array_new(FALSE, FALSE, sizeof(SpanId));
    gint64 begin =
        G_GINT64_CONSTANT(1605956000000000000) + g_rand_int_range(rand, 0, 1000000) * G_GINT64_CONSTANT(100000);
    guint64 trace_id = (guint64)g_rand_int(rand) << 32 | g_rand_int(rand);
    guint64 places = (guint64)g_rand_int(rand) << 32 | g_rand_int(rand);

    for (guint i = 0; i < n; i++) {
        guint parent = i == 0 ? 0 : i < 5 ? i - 1 : i % 3 == 0 ? (guint)g_rand_int_range(rand, 2, 5) : 1 + i % 4;
        SpanRec head = {.begin_ns = begin + i * 180000 + g_rand_int_range(rand, 0, 50000)};
        head.duration_ns = i < 5 ? (gint64)(n - i) * 200000 : g_rand_int_range(rand, 1000, 150000);
        head.name = 1 + (i < 5 ? i + shape % 7 : 20 + i % 3 + shape % 5);
        head.tracer = FIRST_TRACER + (i < 3 ? 0 : 4 + (shape % 3) + (i % 3 == 0));
        /* As our agent draws them: one after the other, in each process. */
        head.id = (SpanId){trace_id, id_at_place(places + ((guint64)head.tracer << 48) + i)};
        SpanBuilder builder = span_builder_begin(trace.bytes, &head);
        if (i > 0) span_builder_parent(&builder, g_array_index(ids, SpanId, MIN(parent, i - 1)));
        if (i == 0) span_builder_annotation(&builder, KEY_PATH, "/user/bench/part-00042", 22);
        if (i % 8 == 7) span_builder_annotation(&builder, KEY_BYTES, "65536", 5);
        span_builder_end(&builder);
        g_array_append_val(ids, head.id);
    }

    for (guint at = 0; at < trace.bytes->len;) {
        SpanRec *span = (SpanRec *)(void *)(trace.bytes->data + at);
        g_ptr_array_add(trace.spans, span);
        at += span->size_bytes;
    }

    for (guint i = 0, j = n - 1; i < j; i++, j--) { /* children end, and come, before their parents */
        gpointer swap = trace.spans->pdata[i];
        trace.spans->pdata[i] = trace.spans->pdata[j];
        trace.spans->pdata[j] = swap;
    }

    g_array_unref(ids);
    return trace;
}

typedef struct Bench {
    Compressor *compressor;
    WaitTable *waits;
    StatsGroup *group;
    GByteArray *out;
    guint32 *node_of;
    GHashTable *numbers; /* PatternId -> number */
    guint64 value_bytes, values;
    guint clusters, next_cluster;
    double ns[STEPS];
    gboolean stepwise; /* a clock call after each step */
} Bench;

static double lap(Bench *bench, guint step, double since) {
    if (!bench->stepwise) return 0;
    double now = cpu_ns();
    bench->ns[step] += now - since;
    return now;
}

static guint id_hash(gconstpointer id) {
    guint hash;
    memcpy(&hash, id, sizeof hash);
    return hash;
}

static gboolean id_equal(gconstpointer a, gconstpointer b) { return memcmp(a, b, sizeof(PatternId)) == 0; }

static guint32 number_of(Bench *bench, const Pattern *pattern) {
    gpointer number = g_hash_table_lookup(bench->numbers, &pattern->id);
    if (number != NULL) return GPOINTER_TO_UINT(number);
    number = GUINT_TO_POINTER(1 + g_hash_table_size(bench->numbers));
    g_hash_table_insert(bench->numbers, g_memdup2(&pattern->id, sizeof pattern->id), number);
    return GPOINTER_TO_UINT(number);
}

/* The same trace, on other hosts. */
static void move_trace(Bench *bench, const Trace *trace) {
    if (bench->clusters < 2) return;
    guint32 first = FIRST_TRACER + CLUSTER * (bench->next_cluster++ * 7919u % bench->clusters);
    for (guint i = 0; i < trace->spans->len; i++) {
        SpanRec *span = trace->spans->pdata[i];
        span->tracer = first + (span->tracer - FIRST_TRACER) % CLUSTER;
    }
}

static void count_value(void *arg, const StatsKey *key, Bytes value) {
    Bench *bench = arg;
    (void)key;
    bench->value_bytes += value.size_bytes;
    bench->values++;
}

static void seal_group(Bench *bench) {
    double at = bench->stepwise ? cpu_ns() : 0;
    stats_group_seal(bench->group, count_value, bench);
    stats_group_clear(bench->group);
    lap(bench, STEP_SEAL, at);
}

static void close_trace(Bench *bench, const Trace *trace) {
    move_trace(bench, trace);
    double at = bench->stepwise ? cpu_ns() : 0;
    CallTree *tree = tree_build((const SpanRec *const *)(void *)trace->spans->pdata, trace->spans->len, 1000000, NULL);
    at = lap(bench, STEP_TREE, at);
    Pattern *pattern = compressor_tree(bench->compressor, tree, bench->node_of);
    at = lap(bench, STEP_PATTERN, at);
    const Measured measured = {tree, pattern, bench->node_of};
    gboolean differs;
    TreeTimes *times = times_by_rule(&measured, bench->waits, TIMES_NOW, &differs);
    at = lap(bench, STEP_TIMES, at);
    guint32 number = number_of(bench, pattern);
    const StatsTrace stats = {tree, times, bench->node_of, number, NULL, NULL};
    stats_group_add(bench->group, &stats);
    at = lap(bench, STEP_STATS, at);
    const RecordHead head = {.pattern_number = number};
    record_encode(tree, pattern, bench->node_of, &head, bench->out);
    lap(bench, STEP_RECORD, at);
    times_free(times);
    pattern_unref(pattern);
    tree_free(tree);
}

/* Groups as the archive makes them; returns the bytes of records. */
static guint64 run_for(Bench *bench, const Trace *traces, double seconds, guint64 *n_traces) {
    guint64 bytes = 0;
    *n_traces = 0;
    for (double end = cpu_ns() + seconds * 1e9; cpu_ns() < end;) {
        for (guint i = 0; i < SHAPES; i++) close_trace(bench, &traces[i]);
        *n_traces += SHAPES;
        if (bench->out->len + stats_group_size_bytes(bench->group) < GROUP_BYTES) continue;
        bytes += bench->out->len;
        g_byte_array_set_size(bench->out, 0);
        seal_group(bench);
    }
    bytes += bench->out->len;
    g_byte_array_set_size(bench->out, 0);
    seal_group(bench);
    return bytes;
}

static void trace_clear(Trace *trace) {
    g_byte_array_unref(trace->bytes);
    g_ptr_array_unref(trace->spans);
}

static Trace trace_copy(const Trace *from) {
    Trace trace = {g_byte_array_sized_new(from->bytes->len), g_ptr_array_new()};
    g_byte_array_append(trace.bytes, from->bytes->data, from->bytes->len);
    for (guint i = 0; i < from->spans->len; i++)
        g_ptr_array_add(trace.spans, trace.bytes->data + ((guint8 *)from->spans->pdata[i] - from->bytes->data));
    return trace;
}

/* CPU per span of traces that are each closed once, long after they were made. */
static double run_cold(Bench *bench, const Trace *traces, guint n) {
    guint copies = MAX(1, COLD_BYTES / (traces[0].bytes->len * SHAPES));
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Trace));
    for (guint c = 0; c < copies * SHAPES; c++) {
        Trace copy = trace_copy(&traces[c % SHAPES]);
        g_array_append_val(all, copy);
    }
    double before = cpu_ns();
    for (guint i = 0; i < all->len; i++) {
        close_trace(bench, &g_array_index(all, Trace, i));
        if (bench->out->len + stats_group_size_bytes(bench->group) < GROUP_BYTES) continue;
        g_byte_array_set_size(bench->out, 0);
        seal_group(bench);
    }
    double ns = (cpu_ns() - before) / ((double)all->len * n);
    for (guint i = 0; i < all->len; i++) trace_clear(&g_array_index(all, Trace, i));
    g_byte_array_set_size(bench->out, 0);
    seal_group(bench);
    return ns;
}

static void bench_size(guint n, double seconds, guint hosts) {
    Trace traces[SHAPES];
    GRand *rand = g_rand_new_with_seed(n);
    for (guint i = 0; i < SHAPES; i++) traces[i] = trace_new(n, i, rand);
    Bench bench = {.compressor = compressor_new(&lookup, 100000),
                   .waits = wait_table_new(&lookup),
                   .group = stats_group_new(&lookup, TRUE),
                   .out = g_byte_array_new(),
                   .node_of = g_new(guint32, 2 * n + 1),
                   .numbers = g_hash_table_new_full(id_hash, id_equal, g_free, NULL),
                   .clusters = hosts / CLUSTER};

    guint64 n_traces;
    run_for(&bench, traces, seconds / 4, &n_traces);

    bench.value_bytes = 0;
    double before = cpu_ns();
    guint64 bytes = run_for(&bench, traces, seconds, &n_traces);
    double spans = (double)n_traces * n, all = (cpu_ns() - before) / spans;
    double stats_bytes = (double)bench.value_bytes / spans, cold = run_cold(&bench, traces, n);
    printf("%8u %8.0f %9.0f %9.0f %9.1f %9.1f   ", n, all * n, all, cold, (double)bytes / spans, stats_bytes);

    bench.stepwise = TRUE;
    run_for(&bench, traces, seconds, &n_traces);
    for (guint s = 0; s < STEPS; s++) printf(" %9.0f", bench.ns[s] / ((double)n_traces * n));
    printf("\n");

    g_hash_table_unref(bench.numbers);
    compressor_free(bench.compressor);
    wait_table_free(bench.waits);
    stats_group_free(bench.group);
    g_byte_array_unref(bench.out);
    g_free(bench.node_of);
    g_rand_free(rand);
    for (guint i = 0; i < SHAPES; i++) trace_clear(&traces[i]);
}

int main(int argc, char **argv) {
    static const guint sizes[] = {1, 3, 5, 20, 50, 500, 5000, 100000};
    double seconds = argc > 1 ? atof(argv[1]) : 0.4;
    guint hosts = argc > 2 ? (guint)strtoul(argv[2], NULL, 10) : CLUSTER;
    guint only = argc > 3 ? (guint)strtoul(argv[3], NULL, 10) : 0;
    printf("   spans ns/trace   ns/span      cold    B/span  stats "
           "B/span, of which, per span (with the clock's own cost):\n"
           "%59s",
           "");
    for (guint s = 0; s < STEPS; s++) printf(" %9s", step_names[s]);
    printf("\n");
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        if (only == 0 || only == sizes[i]) bench_size(sizes[i], seconds, hosts);
    }
    return 0;
}
