/* Nanoseconds of CPU per span on the way from a frame to its closed trace: decoding, packing, appending to open traces,
 * opening those again. Batches of 170 spans of 3,000 processes, each with spans of 40 traces, every trace in batches of
 * four processes: about what a busy cluster sends in half a second.
 *
 * bench_intake [batches, 6000 unless told: half of their traces are open at the same time]
 * bench_intake SEGMENT, a file of a journal: the frames that are in it */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/archive/archive.h"
#include "common/base/limits.h"
#include "common/pack/pack.h"
#include "common/wire/codec.h"
#include "receiver/journal/journal_format.h"
#include "receiver/traces/open_traces.h"

#define PROCESSES    3000u
#define NAMES        200u
#define BATCH_SPANS  170u
#define BATCH_TRACES 40u
#define TRACE_PARTS  4u
#define ROUNDS       3u
/* Traces that are open at the same time when the frames come from a journal. */
#define JOURNAL_TRACES 20000u

typedef struct Bench {
    GPtrArray *frames; /* GBytes */
    guint traces_left; /* open when others are closed */
    Store *store;
    Archive *archive;
    NamingRules *rules;
    Packer *packer;
    OpenTraces *traces;
    double decode_s, pack_s, append_s, open_s;
    guint64 spans, fragments, wire_bytes, packed_bytes, open_bytes, held_bytes, open_traces, open_spans;
} Bench;

static double cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void stop_on(const GError *error) {
    if (error == NULL) return;
    fprintf(stderr, "bench_intake: %s\n", error->message);
    exit(1);
}

static guint64 spread(guint64 number) { return trace_id_hash(number + 1); }

static GBytes *make_frame(guint number, guint n_batches, GRand *rand) {
    g_autoptr(SpanBatch) batch = batch_new();
    g_autofree char *process = g_strdup_printf("DataNode/10.0.%u.%u/4011", number % PROCESSES / 250, number % 250);
    guint32 tracer = batch_intern(batch, process, strlen(process)), path = batch_intern(batch, "path", 4);
    guint64 parents[BATCH_TRACES] = {0};

    for (guint i = 0; i < BATCH_SPANS; i++) {
        guint which = (guint)g_rand_int_range(rand, 0, BATCH_TRACES);
        /* Those of one trace come far apart. */
        guint64 trace = (guint64)(number % (n_batches / TRACE_PARTS)) * BATCH_TRACES + which;
        SpanId id = {spread(trace), spread((guint64)number << 20 | i)};
        g_autofree char *name = g_strdup_printf("DFSOutputStream#function%d", g_rand_int_range(rand, 0, NAMES));
        BatchSpan *span = batch_begin_span(batch, id);
        span->begin_ns = G_GINT64_CONSTANT(1605956000000000000) + (gint64)i * 300000 + g_rand_int_range(rand, 0, 90000);
        span->duration_ns = g_rand_int_range(rand, 1000, 90000000);
        span->tracer = tracer;
        span->name = batch_intern(batch, name, strlen(name));
        batch_add_parent(batch, (SpanId){id.trace, parents[which] ? parents[which] : 1});
        if (i % 3 == 0) parents[which] = id.span;
        if (i % 4 == 0) batch_add_annotation(batch, path, batch_copy(batch, "/user/anna/part-00001", 21));
    }

    GByteArray *bytes = g_byte_array_new();
    wire_batch_encode(batch, PROTOCOL_COMPACT, 1, bytes);
    g_byte_array_remove_range(bytes, 0, FRAME_HEADER_BYTES);
    return g_byte_array_free_to_bytes(bytes);
}

static void make_frames(Bench *bench, guint n_batches) {
    GRand *rand = g_rand_new_with_seed(1);
    for (guint i = 0; i < n_batches; i++) g_ptr_array_add(bench->frames, make_frame(i, n_batches, rand));
    g_rand_free(rand);
    bench->traces_left = n_batches / TRACE_PARTS * BATCH_TRACES / 2;
}

static void read_frames(Bench *bench, const char *path) {
    GError *error = NULL;
    JournalReader reader;
    Bytes payload;
    g_autoptr(GMappedFile) map = g_mapped_file_new(path, FALSE, &error);
    stop_on(error);
    g_autoptr(GBytes) file = g_mapped_file_get_bytes(map);
    journal_reader_init(&reader, (Bytes){g_bytes_get_data(file, NULL), g_bytes_get_size(file)},
                        (JournalSource){NULL, NULL}, &error);
    stop_on(error);
    while (journal_reader_next(&reader, &payload))
        g_ptr_array_add(bench->frames, g_bytes_new(payload.data, payload.size_bytes));
    bench->traces_left = JOURNAL_TRACES;
}

static void take(Bench *bench, guint number, SpanBatch *batch, GByteArray *packed) {
    GError *error = NULL;
    WireHeader header;
    WireVersions versions;
    guint32 refused[PACK_RESULT_COUNT] = {0};
    gsize frame_bytes;
    const guint8 *frame = g_bytes_get_data(g_ptr_array_index(bench->frames, number), &frame_bytes);

    double begin_s = cpu_s();
    wire_header_decode((Bytes){frame, frame_bytes}, &header, &error);
    wire_batch_decode(&header, batch, &versions, &error);
    stop_on(error);
    double decoded_s = cpu_s();

    packer_begin_batch(bench->packer, batch);
    const guint n = packer_group(bench->packer, batch);
    for (guint i = 0; i < n; i++)
        if (!packer_fragment(bench->packer, batch, i, packed, refused)) stop_on(packer_take_error(bench->packer));
    double packed_s = cpu_s();

    bench->decode_s += decoded_s - begin_s;
    bench->pack_s += packed_s - decoded_s;
    bench->spans += batch->spans->len;
    bench->wire_bytes += frame_bytes;
}

/* As a shard does. */
static void append(Bench *bench, const GByteArray *packed, gint64 now_ns) {
    const guint8 *at = packed->data, *end = at + packed->len;
    double begin_s = cpu_s();
    while (at < end) {
        const FragmentHead *fragments[OPEN_TRACES_EXPECTED];
        guint n = 0;
        for (; at < end && n < OPEN_TRACES_EXPECTED; at += fragment_size_bytes(fragments[n++]))
            fragments[n] = (const FragmentHead *)(gconstpointer)at;
        open_traces_expect(bench->traces, fragments, n);
        for (guint i = 0; i < n; i++) open_traces_add(bench->traces, fragments[i], now_ns);
        bench->fragments += n;
    }
    bench->append_s += cpu_s() - begin_s;
    bench->packed_bytes += packed->len;
}

/* The oldest beyond so many. */
static void close_traces(Bench *bench, guint left, GByteArray *records) {
    double begin_s = cpu_s();
    while (open_traces_count(bench->traces) > left) {
        OpenTrace *trace = open_traces_first(bench->traces);
        g_byte_array_set_size(records, 0);
        open_traces_unpack(bench->traces, trace, records, NULL);
        open_traces_remove(bench->traces, trace);
    }
    bench->open_s += cpu_s() - begin_s;
}

static void run(Bench *bench, gint64 now_ns) {
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(GByteArray) packed = g_byte_array_new(), records = g_byte_array_new();
    const guint n_batches = bench->frames->len;
    for (guint i = 0; i < n_batches; i++) {
        take(bench, i, batch, packed);
        if (i % 20 < 19 && i + 1 < n_batches) continue;
        append(bench, packed, now_ns + i);
        g_byte_array_set_size(packed, 0);
        close_traces(bench, bench->traces_left, records);
    }
    bench->open_bytes = open_traces_bytes(bench->traces);
    bench->held_bytes = open_traces_held_bytes(bench->traces);
    bench->open_traces = open_traces_count(bench->traces);
    bench->open_spans = open_traces_spans(bench->traces);
}

/* What the first round costs is memory that nobody had yet. */
static void forget_times(Bench *bench) {
    bench->decode_s = bench->pack_s = bench->append_s = bench->open_s = 0;
    bench->spans = bench->fragments = bench->wire_bytes = bench->packed_bytes = 0;
}

static void report(const Bench *bench) {
    const double spans = (double)bench->spans, last = (double)bench->open_spans;
    printf("%.0f spans, %.1f in a fragment; %.1f bytes a span on the wire, %.1f packed\n", spans,
           spans / (double)bench->fragments, (double)bench->wire_bytes / spans, (double)bench->packed_bytes / spans);
    printf("decode  %7.1f ns/span\npack    %7.1f ns/span\nappend  %7.1f ns/span\nunpack  %7.1f ns/span\n",
           bench->decode_s / spans * 1e9, bench->pack_s / spans * 1e9, bench->append_s / spans * 1e9,
           bench->open_s / spans * 1e9);
    printf("%.0f open traces of %.1f spans: %.0f bytes each, %.1f a span; %.1f a span held of the system\n",
           (double)bench->open_traces, last / (double)bench->open_traces,
           (double)bench->open_bytes / (double)bench->open_traces, (double)bench->open_bytes / last,
           (double)bench->held_bytes / last);
}

int main(int argc, char **argv) {
    GError *error = NULL;
    const int n_batches = argc > 1 ? atoi(argv[1]) : 6000;
    Bench bench = {.frames = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref)};
    StoreOptions store = {.merge = archive_merge};
    ArchiveOptions archive = {.clock_tolerance_ns = 0};
    OpenLimits limits = {.idle_ns = G_GINT64_CONSTANT(30000000000), .max_age_ns = G_GINT64_CONSTANT(300000000000)};

    bench.store = store_open_memory(&store, &error);
    stop_on(error);
    bench.archive = archive_open(bench.store, &archive, &error);
    stop_on(error);
    bench.rules = naming_rules_new(naming_default_templates, &error);
    bench.packer = packer_new(bench.rules, archive_dict(bench.archive));
    bench.traces = open_traces_new(&limits);

    if (n_batches > 0)
        make_frames(&bench, (guint)MAX(n_batches, (int)TRACE_PARTS));
    else
        read_frames(&bench, argv[1]);

    for (guint round = 0; round < ROUNDS; round++) {
        run(&bench, (gint64)round * G_GINT64_CONSTANT(1000000000));
        if (round == 0) forget_times(&bench);
    }
    if (bench.spans > 0) report(&bench);

    g_ptr_array_unref(bench.frames);
    open_traces_free(bench.traces);
    packer_free(bench.packer);
    naming_rules_free(bench.rules);
    archive_free(bench.archive);
    store_close(bench.store);
    return 0;
}
