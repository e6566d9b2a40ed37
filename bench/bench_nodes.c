/* What it costs to judge all hosts of a large cluster: bench_nodes [hosts] [functions] [days] [calls].
 *
 * A store gets the statistics of the minutes that the question samples (sample.h), of hosts that differ, each function
 * with so many calls a minute. Then "nodes" and "slow" are asked, and their CPU time is printed. One host is
 * three times slower in the newest eight minutes: it must be found, and no other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/archive/tables/layout.h"
#include "analyzer/archive/write/writer.h"
#include "analyzer/calltree/stats/stats_code.h"
#include "analyzer/query/nodes/sample.h"
#include "analyzer/query/query.h"
#include "common/base/clock.h"
#include "common/pack/pack.h"

#define UNTIL_MINUTE 26785000u
#define SLOW_MINUTES 8u
#define VARIANTS     64u

static double cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void die(const GError *error) {
    if (!error) return;
    fprintf(stderr, "bench_nodes: %s\n", error->message);
    exit(1);
}

typedef struct Bench {
    Store *store;
    Archive *archive;
    guint32 n_hosts, n_functions, calls;
    guint32 *hosts, *functions;
    GBytes *rows[2][VARIANTS]; /* of one host: as usual, and slow */
    guint64 written;
} Bench;

/* Durations around a mean, as the store keeps them. */
static GBytes *make_row(GRand *rand, double mean_ns, guint32 calls) {
    NodeStats stats;
    node_stats_init(&stats);
    for (guint32 i = 0; i < calls; i++) {
        const double ns = mean_ns * (0.4 + 1.2 * g_rand_double(rand));
        dist_add(&stats.duration, (guint64)ns);
        stats.self_ns += (gint64)ns;
        stats.critical_ns += (gint64)ns;
    }
    GByteArray *bytes = g_byte_array_new();
    append_varint(bytes, 0);
    node_put(&stats, node_bits(&stats), bytes);
    node_stats_clear(&stats);
    return g_byte_array_free_to_bytes(bytes);
}

static guint32 intern(Bench *bench, const char *head, guint32 i) {
    g_autofree char *text = g_strdup_printf("%s%u", head, i);
    g_autoptr(GError) error = NULL;
    guint32 id = 0;
    dict_intern(archive_dict(bench->archive), text, strlen(text), &id, &error);
    die(error);
    return id;
}

static void make_names(Bench *bench) {
    bench->functions = g_new(guint32, bench->n_functions);
    bench->hosts = g_new(guint32, bench->n_hosts);
    for (guint32 i = 0; i < bench->n_functions; i++) bench->functions[i] = intern(bench, "BlockSender#work", i);
    for (guint32 i = 0; i < bench->n_hosts; i++) bench->hosts[i] = intern(bench, "host", i);
}

/* The hosts of one cell, from 'first' on; returns where the next cell begins. */
static guint32 put_cell(Bench *bench, StoreBatch *batch, StatsKey *key, guint32 first, guint32 function) {
    g_autoptr(GByteArray) value = g_byte_array_new();
    const guint8 form = FORM_HOSTS;
    guint32 expected = 0, i = first;
    g_byte_array_append(value, &form, 1);
    key->cell = stats_cell(bench->hosts[first]);
    for (; i < bench->n_hosts && stats_cell(bench->hosts[i]) == key->cell; i++) {
        const gboolean slow = i == 7 && key->bucket >= UNTIL_MINUTE - SLOW_MINUTES;
        const guint32 variant = (i * 31 + function * 17 + key->bucket * 7) % VARIANTS;
        gsize size;
        const guint8 *row = g_bytes_get_data(bench->rows[slow][variant], &size);
        append_varint(value, bench->hosts[i] - expected);
        append_varint(value, size);
        g_byte_array_append(value, row, (guint)size);
        expected = bench->hosts[i] + 1;
    }
    const LayoutKey stored = stats_key(key);
    store_batch_put(batch, FAMILY_STATS, key_bytes(&stored), (Bytes){value->data, value->len});
    bench->written += value->len;
    return i;
}

static void put_minute(Bench *bench, guint32 minute) {
    g_autoptr(StoreBatch) batch = store_batch_new(bench->store);
    g_autoptr(GError) error = NULL;
    for (guint32 f = 0; f < bench->n_functions; f++) {
        StatsKey key = {LEVEL_MINUTE, STATS_FUNCTION, minute, bench->functions[f], ROLE_DATANODE, 0, 0};
        for (guint32 at = 0; at < bench->n_hosts;) at = put_cell(bench, batch, &key, at, f);
    }
    store_write(bench->store, batch, FALSE, &error);
    die(error);
}

/* A trace of one span: how far what is stored reaches is told by traces. */
static void put_trace(Bench *bench, guint64 trace, gint64 begin_ns) {
    g_autoptr(GError) error = NULL;
    NamingRules *rules = naming_rules_new(naming_default_templates, &error);
    die(error);
    Packer *packer = packer_new(rules, archive_dict(bench->archive));
    g_autoptr(ArchiveWriter) writer = archive_writer_new(bench->archive);
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    BatchSpan *span = batch_begin_span(batch, (SpanId){trace, 1});
    span->name = batch_intern(batch, "main", 4);
    span->tracer = batch_intern(batch, "Tool", 4);
    span->begin_ns = begin_ns;
    span->duration_ns = 1;
    packer_begin_batch(packer, batch);
    packer_span(packer, batch, 0, bytes);
    archive_writer_add(writer, trace, bytes->data, bytes->len, &error);
    archive_writer_commit(writer, FALSE, &error);
    die(error);
    packer_free(packer);
    naming_rules_free(rules);
}

static void fill(Bench *bench, guint32 days) {
    const MinuteSpan span = {UNTIL_MINUTE - 60 - days * 1440, UNTIL_MINUTE - 60, UNTIL_MINUTE};
    GRand *rand = g_rand_new_with_seed(3000);
    for (guint slow = 0; slow < 2; slow++)
        for (guint i = 0; i < VARIANTS; i++) bench->rows[slow][i] = make_row(rand, slow ? 3e6 : 1e6, bench->calls);
    g_rand_free(rand);

    make_names(bench);
    put_trace(bench, 1, span.learn * NS_PER_MINUTE);
    put_trace(bench, 2, span.until * NS_PER_MINUTE - 2);
    const guint32 figures = bench->n_hosts * bench->n_functions;
    g_autoptr(GArray) minutes = minutes_choose(&span, minutes_affordable(figures, G_MAXSIZE));
    for (guint i = 0; i < minutes->len; i++) put_minute(bench, g_array_index(minutes, guint32, i));
    printf("%u hosts, %u functions, %u days: %u minutes with %u figures each, %.0f MB\n", bench->n_hosts,
           bench->n_functions, days, minutes->len, figures, (double)bench->written / 1e6);
}

static void ask(Bench *bench, const char *question, const char *list) {
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryParams) params = query_params_new();
    const double begin_s = cpu_s();
    json_auto_t *answer = query_run(bench->archive, question, params, UNTIL_MINUTE * NS_PER_MINUTE, &error);
    die(error);
    const double took_s = cpu_s() - begin_s;
    const json_t *found = json_object_get(answer, list);
    const char *host = json_string_value(json_object_get(json_array_get(found, 0), "host"));
    printf("%-6s %6.2f s CPU, %zu found%s%s\n", question, took_s, json_array_size(found), host ? ": " : "",
           host ? host : "");
}

static guint32 number(int argc, char **argv, int i, guint32 otherwise) {
    return argc > i ? (guint32)g_ascii_strtoull(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv) {
    g_autoptr(GError) error = NULL;
    const StoreOptions options = {.merge = archive_merge};
    Bench bench = {.n_hosts = number(argc, argv, 1, 3000),
                   .n_functions = number(argc, argv, 2, 20),
                   .calls = number(argc, argv, 4, 40)};
    g_autoptr(Store) store = bench.store = store_open_memory(&options, &error);
    die(error);
    g_autoptr(Archive) archive = bench.archive = archive_open(store, &(ArchiveOptions){0}, &error);
    die(error);

    fill(&bench, number(argc, argv, 3, 7));
    ask(&bench, "nodes", "spells");
    ask(&bench, "slow", "slow");
    for (guint slow = 0; slow < 2; slow++)
        for (guint i = 0; i < VARIANTS; i++) g_bytes_unref(bench.rows[slow][i]);
    g_free(bench.hosts);
    g_free(bench.functions);
    return 0;
}
