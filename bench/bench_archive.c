/* What storing a trace costs: realistic traces into an archive over RocksDB, one writer, groups of 4 MiB.
 *
 * bench_archive columns FOLDER says where the bytes of a store's records are. bench_archive join FOLDER joins the
 * late spans that wait in a store (which is changed by it), and says what that costs.
 *
 * bench_archive MODEL FOLDER [traces] [hosts] [late]. Every late-th trace comes in two halves, the second after its
 * first was stored (0, the default: none). Prints CPU per trace and span of adding and committing, what the families
 * hold, bytes per span on disk after compaction, and how long questions take. The folder must not exist; it is left
 * behind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/archive/archive.h"
#include "analyzer/archive/consolidation/join.h"
#include "analyzer/archive/consolidation/rollup.h"
#include "analyzer/archive/read/period_stats.h"
#include "analyzer/archive/verify/verify.h"
#include "analyzer/archive/write/writer.h"
#include "bench/generate.h"
#include "common/base/clock.h"
#include "common/pack/pack.h"

#define GROUP_BYTES (4u << 20)
#define CHUNK       2000u /* traces made before they are timed */

static gint64 now_ns(void) {
    /* 1 ms from trace to trace: 1,000 traces a second. */
    static gint64 clock_ns = G_GINT64_CONSTANT(1605956000000000000);
    return clock_ns += NS_PER_MS;
}

static double cpu_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void stop_on(GError *error) {
    if (error == NULL) return;
    fprintf(stderr, "bench_archive: %s\n", error->message);
    exit(1);
}

typedef struct Bench {
    Store *store;
    Archive *archive;
    ArchiveWriter *writer;
    Generator *generator;
    Packer *packer;
    GByteArray *spans;
    GArray *ends; /* guint: of each trace in spans */
    double add_ns, commit_ns, process_ns;
    guint64 traces, n_spans, groups;
    guint late;
    double late_ns;
} Bench;

static void make_chunk(Bench *bench, guint n) {
    g_byte_array_set_size(bench->spans, 0);
    g_array_set_size(bench->ends, 0);
    for (guint i = 0; i < n; i++) {
        bench->n_spans += generator_trace(bench->generator);
        for (guint p = 0; p < generator_processes(bench->generator); p++) {
            SpanBatch *batch = generator_batch(bench->generator, p);
            if (batch->spans->len == 0) continue;
            packer_begin_batch(bench->packer, batch);
            for (guint s = 0; s < batch->spans->len; s++) {
                PackResult result = packer_span(bench->packer, batch, s, bench->spans);
                if (result != PACK_OK) fprintf(stderr, "%s\n", pack_result_text(result));
            }
            generator_batch_done(bench->generator, p);
        }
        g_array_append_val(bench->ends, bench->spans->len);
    }
}

static void commit(Bench *bench) {
    GError *error = NULL;
    double before = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    archive_writer_commit(bench->writer, FALSE, &error);
    stop_on(error);
    bench->commit_ns += cpu_ns(CLOCK_THREAD_CPUTIME_ID) - before;
    bench->groups++;
}

static double add(Bench *bench, const guint8 *spans, guint size) {
    GError *error = NULL;
    double before = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    archive_writer_add(bench->writer, ((const SpanRec *)(gconstpointer)spans)->id.trace, spans, size, &error);
    stop_on(error);
    return cpu_ns(CLOCK_THREAD_CPUTIME_ID) - before;
}

static guint half_of(const guint8 *spans, guint size) {
    guint at = 0;
    while (at < size / 2) at += ((const SpanRec *)(gconstpointer)(spans + at))->size_bytes;
    return at;
}

static gboolean is_late(const Bench *bench, guint i) { return bench->late != 0 && i % bench->late == 0; }

static void add_chunk(Bench *bench) {
    guint at = 0;
    for (guint i = 0; i < bench->ends->len; i++) {
        guint end = g_array_index(bench->ends, guint, i);
        const guint8 *spans = bench->spans->data + at;
        bench->add_ns += add(bench, spans, is_late(bench, i) ? half_of(spans, end - at) : end - at);
        at = end;
        if (archive_writer_pending_bytes(bench->writer) >= GROUP_BYTES) commit(bench);
    }
    if (bench->late == 0) return;
    commit(bench);
    for (guint i = at = 0; i < bench->ends->len; i++) {
        guint end = g_array_index(bench->ends, guint, i);
        guint half = half_of(bench->spans->data + at, end - at);
        if (is_late(bench, i) && half < end - at)
            bench->late_ns += add(bench, bench->spans->data + at + half, end - at - half);
        at = end;
    }
}

static void print_families(Bench *bench) {
    static const char *const names[FAMILY_COUNT] = {"meta",    "dict",  "trace", "trace_id",
                                                    "pattern", "stats", "index", "late"};
    printf("%-10s %10s %14s %12s\n", "family", "entries", "bytes", "bytes/span");
    for (StoreFamily family = FAMILY_META; family < FAMILY_COUNT; family++) {
        guint64 entries = 0, bytes = 0;
        g_autoptr(StoreIter) iter = store_iter_new(bench->store, family);
        for (gboolean more = store_iter_seek(iter, (Bytes){"", 0}); more; more = store_iter_next(iter)) {
            entries++;
            bytes += store_iter_key(iter).size_bytes + store_iter_value(iter).size_bytes;
        }
        printf("%-10s %10" G_GUINT64_FORMAT " %14" G_GUINT64_FORMAT " %12.2f\n", names[family], entries, bytes,
               (double)bytes / (double)bench->n_spans);
    }
}

/* Where the bytes of the records are, column by column. */
static void print_columns(Bench *bench) {
    GError *error = NULL;
    gsize records = 0;
    RecordSizes sum = {.head = 0};

    g_autoptr(StoreIter) iter = store_iter_new(bench->store, FAMILY_TRACE);
    for (gboolean more = store_iter_seek(iter, (Bytes){"", 0}); more; more = store_iter_next(iter), records++) {
        TraceSummary summary;
        RecordSizes one;
        const Bytes record = store_iter_value(iter);
        g_autoptr(Pattern) shape = NULL; /* a rare one stands in the record */
        if (record_summary(record, &summary, &error) && record_shape(record, &shape, &error)) {
            const Pattern *pattern = shape != NULL ? shape : archive_pattern(bench->archive, summary.pattern);
            record_sizes(record, pattern, &one, &error);
        }
        stop_on(error);
        gsize *into = (gsize *)&sum;
        for (guint i = 0; i < sizeof one / sizeof(gsize); i++) into[i] += ((const gsize *)&one)[i];
    }

    const struct {
        const char *name;
        gsize bytes;
    } columns[] = {{"head", sum.head},
                   {"counts", sum.counts},
                   {"times", sum.times},
                   {"tracers", sum.tracers},
                   {"flags", sum.flags},
                   {"parents", sum.parents},
                   {"annotations", sum.annotations},
                   {"ids", sum.ids}};

    printf("%-12s %12s %12s   of %zu records\n", "column", "bytes/record", "bytes/span", records);
    for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
        printf("%-12s %12.2f %12.3f\n", columns[i].name, (double)columns[i].bytes / (double)records,
               (double)columns[i].bytes / (double)bench->n_spans);
}

static void no_visit(void *arg, const StatsKey *key, StatsRow *row) {
    (void)key;
    (void)row;
    ++*(guint *)arg;
}

static void print_answers(Bench *bench) {
    GError *error = NULL;
    guint rows = 0;
    StatsFilter filter = {.kind = STATS_FUNCTION, .since_ns = 0, .until_ns = G_MAXINT64, .role = -1};
    double before = cpu_ns(CLOCK_MONOTONIC);
    archive_stats(bench->archive, &filter, no_visit, &rows, &error);
    printf("functions, all time: %u rows in %.1f ms\n", rows, (cpu_ns(CLOCK_MONOTONIC) - before) / 1e6);
    filter.kind = STATS_PATTERN;
    rows = 0;
    before = cpu_ns(CLOCK_MONOTONIC);
    archive_stats(bench->archive, &filter, no_visit, &rows, &error);
    printf("patterns, all time: %u rows in %.1f ms\n", rows, (cpu_ns(CLOCK_MONOTONIC) - before) / 1e6);
    before = cpu_ns(CLOCK_MONOTONIC);
    VerifyResult result = {.traces = 0};
    archive_verify(bench->archive, NULL, &result, &error);
    stop_on(error);
    printf("verify: %.2f us a span, %" G_GUINT64_FORMAT " rows, %" G_GUINT64_FORMAT " differences\n",
           (cpu_ns(CLOCK_MONOTONIC) - before) / 1e3 / (double)result.spans, result.rows, result.differences);
}

static double patterns_ms(Bench *bench) {
    GError *error = NULL;
    guint rows = 0;
    StatsFilter filter = {.kind = STATS_PATTERN, .since_ns = 0, .until_ns = G_MAXINT64, .role = -1};
    double before = cpu_ns(CLOCK_MONOTONIC);
    archive_stats(bench->archive, &filter, no_visit, &rows, &error);
    stop_on(error);
    return (cpu_ns(CLOCK_MONOTONIC) - before) / 1e6;
}

/* What late spans cost the shard, and the thread that joins them. */
static void print_late(Bench *bench) {
    GError *error = NULL;
    guint64 waiting = archive_totals(bench->archive).late_waiting;
    if (waiting == 0) return;
    printf("%" G_GUINT64_FORMAT " late spans: put down in %.3f us each\n", waiting,
           bench->late_ns / 1e3 / (double)waiting);
    double before = cpu_ns(CLOCK_THREAD_CPUTIME_ID), waiting_ms = patterns_ms(bench);
    archive_join(bench->archive, &error);
    stop_on(error);
    printf("joined in %.3f us each\n", (cpu_ns(CLOCK_THREAD_CPUTIME_ID) - before) / 1e3 / (double)waiting);
    printf("patterns before and after: %.1f and %.1f ms\n", waiting_ms, patterns_ms(bench));
}

/* Everything is long over. */
static void print_roll_up(Bench *bench) {
    GError *error = NULL;
    guint64 rows = 0;
    g_autoptr(StoreIter) iter = store_iter_new(bench->store, FAMILY_STATS);
    for (gboolean more = store_iter_seek(iter, (Bytes){"", 0}); more; more = store_iter_next(iter)) rows++;
    double before = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    archive_roll_up(bench->archive, G_MAXINT64 / 2, &error);
    stop_on(error);
    double spent_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID) - before;
    printf("rolled up: %" G_GUINT64_FORMAT " rows of minutes in %.2f ms, %.2f us each\n", rows, spent_ns / 1e6,
           spent_ns / 1e3 / (double)rows);
}

static void report(Bench *bench) {
    GError *error = NULL;
    double traces = (double)bench->traces, spans = (double)bench->n_spans;

    printf("%.0f traces, %.0f spans (%.1f a trace), %" G_GUINT64_FORMAT " groups, %u patterns\n", traces, spans,
           spans / traces, bench->groups, archive_pattern_count(bench->archive));
    printf("add:    %8.2f us/trace %8.3f us/span\n", bench->add_ns / 1e3 / traces, bench->add_ns / 1e3 / spans);
    printf("commit: %8.2f us/trace %8.3f us/span\n", bench->commit_ns / 1e3 / traces, bench->commit_ns / 1e3 / spans);
    print_late(bench);

    double before = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    store_flush(bench->store, TRUE, &error);
    stop_on(error);
    double compact_ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - before;
    printf("background and last compaction: %.3f and %.3f us/span\n",
           (bench->process_ns - bench->add_ns - bench->commit_ns - bench->late_ns) / 1e3 / spans,
           compact_ns / 1e3 / spans);

    StoreUsage usage = store_usage(bench->store);
    printf("disk: %" G_GUINT64_FORMAT " bytes, %.1f a span\n", usage.disk_bytes, (double)usage.disk_bytes / spans);

    print_families(bench);
    print_columns(bench);
    print_roll_up(bench);
    print_answers(bench);
}

/* Of a store that is there. */
static int columns_of(const char *folder) {
    GError *error = NULL;
    StoreOptions options = {.path = folder, .read_only = TRUE, .merge = archive_merge};
    Bench bench = {.store = store_open_rocksdb(&options, &error)};
    stop_on(error);
    bench.archive = archive_open(bench.store, &(ArchiveOptions){0}, &error);
    stop_on(error);
    bench.n_spans = archive_totals(bench.archive).spans;
    print_columns(&bench);
    archive_free(bench.archive);
    store_close(bench.store);
    return 0;
}

/* The late spans of a store that is there, joined to their traces. */
static int join_of(const char *folder) {
    GError *error = NULL;
    /* As plumbd opens it. */
    StoreOptions options = {.path = folder,
                            .merge = archive_merge,
                            .no_log = TRUE,
                            .write_buffer_bytes = 16u << 20,
                            .cache_bytes = 16u << 20};

    double before = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    Store *store = store_open_rocksdb(&options, &error);
    stop_on(error);
    double opened = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    Archive *archive = archive_open(store, &(ArchiveOptions){0}, &error);
    stop_on(error);
    guint64 waiting = MAX(archive_totals(archive).late_waiting, 1);
    printf("store and archive opened: %.3f and %.3f s\n", (opened - before) / 1e9,
           (cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - opened) / 1e9);

    double thread = cpu_ns(CLOCK_THREAD_CPUTIME_ID), process = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    double begun = cpu_ns(CLOCK_MONOTONIC);
    archive_join(archive, &error);
    stop_on(error);
    double joined = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    printf("%" G_GUINT64_FORMAT " late spans joined in %.2f s: %.3f us each of this thread, %.3f of all\n", waiting,
           (cpu_ns(CLOCK_MONOTONIC) - begun) / 1e9, (cpu_ns(CLOCK_THREAD_CPUTIME_ID) - thread) / 1e3 / (double)waiting,
           (joined - process) / 1e3 / (double)waiting);

    store_flush(store, TRUE, &error);
    stop_on(error);
    printf("with flushes and compaction: %.3f us each\n",
           (cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - process) / 1e3 / (double)waiting);
    StoreUsage usage = store_usage(store);
    printf("disk: %" G_GUINT64_FORMAT " bytes\n", usage.disk_bytes);

    archive_free(archive);
    store_close(store);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "columns") == 0) return columns_of(argv[2]);
    if (argc == 3 && strcmp(argv[1], "join") == 0) return join_of(argv[2]);
    if (argc < 3) {
        fprintf(
            stderr,
            "usage: bench_archive MODEL FOLDER [traces] [hosts] [late]\n       bench_archive columns|join FOLDER\n");
        return 2;
    }

    GError *error = NULL;
    guint wanted = argc > 3 ? (guint)strtoul(argv[3], NULL, 10) : 20000;
    StoreOptions store_options = {.path = argv[2], .merge = archive_merge};
    GeneratorOptions generator_options = {.model_path = argv[1], .seed = 1, .hosts = 8, .nanoseconds = TRUE};
    generator_options.now_ns = now_ns;
    if (argc > 4) generator_options.hosts = (guint32)strtoul(argv[4], NULL, 10);
    guint late = argc > 5 ? (guint)strtoul(argv[5], NULL, 10) : 0;
    ArchiveOptions archive_options = {.clock_tolerance_ns = 10 * NS_PER_MS};

    Bench bench = {.store = store_open_rocksdb(&store_options, &error), .late = late};
    stop_on(error);
    bench.archive = archive_open(bench.store, &archive_options, &error);
    stop_on(error);
    bench.generator = generator_new(&generator_options, &error);
    stop_on(error);
    NamingRules *rules = naming_rules_new(naming_default_templates, &error);
    stop_on(error);
    bench.packer = packer_new(rules, archive_dict(bench.archive));
    bench.writer = archive_writer_new(bench.archive);
    bench.spans = g_byte_array_new();
    bench.ends = g_array_new(FALSE, FALSE, sizeof(guint));

    while (bench.traces < wanted) {
        make_chunk(&bench, CHUNK);
        double before = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
        add_chunk(&bench);
        bench.process_ns += cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - before;
        bench.traces += CHUNK;
    }
    commit(&bench);
    report(&bench);

    archive_writer_free(bench.writer);
    packer_free(bench.packer);
    naming_rules_free(rules);
    generator_free(bench.generator);
    g_byte_array_unref(bench.spans);
    g_array_unref(bench.ends);
    archive_free(bench.archive);
    store_close(bench.store);
    return 0;
}
