#include "tests/calltree/forest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/model/id_place.h"

typedef struct Maker {
    Forest *forest;
    const World *world;
    const ForestOptions *options;
    GRand *rand;
    SpanId ids[256];
    guint n_ids;
    guint64 first_place;
    guint names; /* few names make many equal subtrees */
    guint first_name;
    gboolean streams; /* some spans say to which stream they belong */
    guint tracers;
} Maker;

static guint below(Maker *m, guint n) { return (guint)g_rand_int_range(m->rand, 0, (gint32)n); }
static gboolean one_in(Maker *m, guint n) { return below(m, n) == 0; }
static gboolean wrong(Maker *m, guint n) { return m->options->kind == FOREST_WILD && one_in(m, n); }

static SpanId new_id(Maker *m) {
    SpanId id = {m->forest->trace_id, 0};
    /* Ids near each other and far apart. */
    switch (below(m, 4)) {
    case 0: id.span = (guint64)below(m, 1000) + 1; break;
    case 1: id.span = (guint64)g_rand_int(m->rand) << 32 | g_rand_int(m->rand); break;
    default: id.span = id_at_place(m->first_place + m->n_ids + 64 * below(m, 3)); /* as our agent draws them */
    }
    for (guint i = 0; i < m->n_ids; i++) {
        if (m->ids[i].span == id.span) return new_id(m);
    }
    m->ids[m->n_ids++] = id;
    return id;
}

static SpanId random_parent(Maker *m, guint i) {
    if (wrong(m, 25)) return m->ids[below(m, m->n_ids)]; /* also itself, also a later one: cycles */
    if (wrong(m, 25)) return (SpanId){m->forest->trace_id, 0xdead0000u + below(m, 3)}; /* never comes */
    if (wrong(m, 40)) return (SpanId){m->forest->trace_id + 1, below(m, 3) == 0 ? m->ids[0].span : 77};
    if (i == 0) return m->ids[0];
    return one_in(m, 3) ? m->ids[i - 1] : m->ids[below(m, i)];
}

/* The first spans of a pipeline; below the last of them, what is below these, and the streamer, packets are handled. */
static const struct {
    const char *name;
    guint parent;
} pipeline[] = {{"a", 0},
                {"waitForAckedSeqno", 0},
                {"dataStreamer", 0},
                {"OpWriteBlockProto", 2},
                {"OpWriteBlockProto", 3},
                {"OpWriteBlockProto", 4}};
#define STREAMER 2u
#define STATIONS 3u

static void add_station(Maker *m, SpanBuilder *builder, guint i, guint32 name) {
    const guint known = G_N_ELEMENTS(pipeline);
    if (i == 0) return;
    guint parent = i < known ? pipeline[i].parent : STATIONS + below(m, (one_in(m, 3) ? i : known) - STATIONS);
    if (name == world_name_called(m->world, "DataStreamer#writeTo")) parent = STREAMER;
    span_builder_parent(builder, m->ids[parent]);
}

/* What goes on for long goes on from the begin. */
static void be_in_pipeline(Maker *m, SpanRec *head, guint i) {
    static const char *const names[] = {"PacketReceiver#receiveNextPacket",
                                        "PacketReceiver#receiveNextPacket",
                                        "PacketReceiver#mirrorPacketTo",
                                        "DataStreamer#writeTo",
                                        "ReplicaOutputStreams#writeDataToDisk",
                                        "PacketResponder#run",
                                        "PipelineAck#readFields"};
    const gboolean packet = i >= G_N_ELEMENTS(pipeline);
    head->name = world_name_called(m->world, packet ? names[below(m, G_N_ELEMENTS(names))] : pipeline[i].name);
    if (packet) return;
    head->begin_ns = m->forest->base_ns;
    head->duration_ns = 60 * m->forest->unit_ns;
}

/* The spans of a read, again and again. */
static const struct {
    const char *name;
    guint back; /* to its parent; 0: the first span of all */
} reads[] = {{"BlockReaderRemote#new", 0},
             {"OpReadBlockProto", 1},
             {"BlockSender#new", 1},
             {"sendBlock", 2},
             {"BlockReaderRemote2#readNextPacket", 0}};

static void add_reader(Maker *m, SpanBuilder *builder, guint i) {
    const guint back = i > 0 ? reads[(i - 1) % G_N_ELEMENTS(reads)].back : 0;
    if (back == 0 && m->options->kind == FOREST_ROOTS && !one_in(m, 3)) return;
    if (i > 0) span_builder_parent(builder, m->ids[back > 0 ? i - back : 0]);
}

static void be_in_read(Maker *m, SpanRec *head, guint i) {
    head->name =
        world_name_called(m->world, i > 0 ? reads[(i - 1) % G_N_ELEMENTS(reads)].name : "DFSInputStream#byteArrayRead");
    if (i > 0) return;
    head->begin_ns = m->forest->base_ns;
    head->duration_ns = 60 * m->forest->unit_ns;
}

static void be_in_journal(Maker *m, SpanRec *head, guint i) {
    static const char *const names[] = {"FSEditLog#logSync",
                                        "IPCLoggerChannel#sendEdits",
                                        "IPCLoggerChannel#sendEdits",
                                        "IPCLoggerChannel#sendEdits",
                                        "QJournalProtocolService#journal",
                                        "a",
                                        "dataStreamer",
                                        "RDD:HadoopRDD",
                                        "ClientNamenodeProtocol#addBlock"};
    head->name = world_name_called(m->world, i > 0 ? names[below(m, G_N_ELEMENTS(names))] : names[8]);
    if (i > 0) return;
    head->begin_ns = m->forest->base_ns;
    head->duration_ns = 60 * m->forest->unit_ns;
}

static void add_parents(Maker *m, SpanBuilder *builder, guint i) {
    guint n = i == 0 || one_in(m, 15) ? 0 : 1;
    if (i == 0 && wrong(m, 8)) n = 1;
    while (n > 0 && n < 6 && one_in(m, 8)) n++;
    for (guint p = 0; p < n; p++) span_builder_parent(builder, random_parent(m, i));
}

static void add_annotations(Maker *m, SpanBuilder *builder) {
    static const char *const values[] = {"",
                                         "0",
                                         "4096",
                                         "/user/x/part-00001",
                                         "1073741825",
                                         "1073741826",
                                         "7",
                                         "007",
                                         "-3",
                                         "999999999999999999",
                                         "12a",
                                         "1000000000000000000",
                                         "x",
                                         "\xc3\xa4",
                                         "184467440737095516160"};

    if (one_in(m, 2)) {
        const char *value = values[below(m, G_N_ELEMENTS(values))];
        span_builder_annotation(builder, world_bytes_key(m->world), value, (guint32)strlen(value));
    }

    for (guint k = 0; k < 4; k++) {
        if (!one_in(m, 3)) continue;
        const char *value = values[below(m, G_N_ELEMENTS(values))];
        span_builder_annotation(builder, world_key(m->world, k), value, (guint32)strlen(value));
    }
}

static void add_stream(Maker *m, SpanBuilder *builder) {
    static const char *const values[] = {"1", "16386", ""};
    if (!m->streams || !one_in(m, 3)) return;
    const char *value = values[below(m, G_N_ELEMENTS(values))];
    span_builder_annotation(builder, world_key(m->world, WORLD_STREAM), value, (guint32)strlen(value));
}

/* Also of spans that are no operations: they do not mean it so. */
static void add_computed(Maker *m, SpanBuilder *builder) {
    static const char *const more[] = {"", "x7", "-1", "18446744073709551616"};
    if (one_in(m, 2)) return;
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, m->forest->unit_ns * below(m, 30));
    const char *value = one_in(m, 8) ? more[below(m, G_N_ELEMENTS(more))] : text;
    span_builder_annotation(builder, world_key(m->world, WORLD_COMPUTED), value, (guint32)strlen(value));
}

static void add_notes(Maker *m, SpanBuilder *builder, gboolean fine) {
    static const char *const messages[] = {"", "12", "Lost a packet", "0012"};
    while (one_in(m, 5)) {
        const char *message = messages[below(m, G_N_ELEMENTS(messages))];
        gint64 time = m->forest->base_ns + m->forest->unit_ns * below(m, 50) + (fine ? below(m, 3) : 0);
        span_builder_note(builder, time, message, (guint32)strlen(message));
    }
}

static void add_span(Maker *m, guint i, gboolean annotated) {
    Forest *forest = m->forest;
    SpanRec head = {
        .id = m->ids[i],
        .begin_ns = forest->base_ns + forest->unit_ns * below(m, 40),
        .duration_ns = forest->unit_ns * below(m, one_in(m, 2) ? 8 : 60),
        .flags = forest->unit_ns == 1000000 && !one_in(m, 30) ? SPAN_MILLISECONDS : 0,
    };
    guint tracer = below(m, m->tracers);
    head.name = world_name(m->world, (m->first_name + below(m, m->names)) % WORLD_NAMES);
    head.tracer = world_tracer(m->world, tracer);
    if (m->options->kind == FOREST_PIPELINES) be_in_pipeline(m, &head, i);
    if (m->options->kind == FOREST_JOURNAL) be_in_journal(m, &head, i);
    if (m->options->kind == FOREST_READS || m->options->kind == FOREST_ROOTS) be_in_read(m, &head, i);
    if (wrong(m, 20)) head.duration_ns = -head.duration_ns;
    SpanBuilder builder = span_builder_begin(forest->bytes, &head);
    if (m->options->kind == FOREST_PIPELINES)
        add_station(m, &builder, i, head.name);
    else if (m->options->kind == FOREST_READS || m->options->kind == FOREST_ROOTS)
        add_reader(m, &builder, i);
    else
        add_parents(m, &builder, i);
    if (annotated) add_annotations(m, &builder);
    add_stream(m, &builder);
    add_computed(m, &builder);
    if (annotated && one_in(m, 4)) add_notes(m, &builder, one_in(m, 10));
    span_builder_end(&builder);
}

GPtrArray *spans_in(const GByteArray *bytes) {
    GPtrArray *spans = g_ptr_array_new();
    for (guint at = 0; at < bytes->len;) {
        SpanRec *span = (SpanRec *)(void *)(bytes->data + at);
        g_ptr_array_add(spans, span);
        at += span->size_bytes;
    }
    return spans;
}

void spans_shuffle(GPtrArray *spans, guint32 seed) {
    GRand *rand = g_rand_new_with_seed(seed);
    for (guint i = spans->len; i > 1; i--) {
        guint j = (guint)g_rand_int_range(rand, 0, (gint32)i);
        gpointer swap = spans->pdata[i - 1];
        spans->pdata[i - 1] = spans->pdata[j];
        spans->pdata[j] = swap;
    }
    g_rand_free(rand);
}

Forest *forest_new(const World *world, guint32 seed, const ForestOptions *options) {
    Forest *forest = g_new0(Forest, 1);
    Maker m = {forest, world, options, g_rand_new_with_seed(seed), {{0}}, .n_ids = 0};
    g_assert(options->max_spans <= G_N_ELEMENTS(m.ids));

    forest->trace_id = one_in(&m, 10) ? 0 : g_rand_int(m.rand);
    forest->unit_ns = one_in(&m, 2) ? 1000000 : 1;
    forest->base_ns = one_in(&m, 10) ? -20 * forest->unit_ns : G_GINT64_CONSTANT(1605956000) * 1000000000;
    forest->bytes = g_byte_array_new();

    m.first_place = (guint64)g_rand_int(m.rand) << 32;
    m.names = 1 + below(&m, one_in(&m, 2) ? 3 : WORLD_NAMES);
    m.first_name = one_in(&m, 2) ? 0 : below(&m, WORLD_NAMES);
    m.streams = one_in(&m, 4);
    m.tracers = 1 + below(&m, one_in(&m, 2) ? 2 : WORLD_TRACERS);
    guint n = 1 + below(&m, one_in(&m, 3) ? options->max_spans : MIN(options->max_spans, 8u));
    gboolean annotated = one_in(&m, 2);

    for (guint i = 0; i < n; i++) new_id(&m);
    for (guint i = 0; i < n; i++) add_span(&m, i, annotated);
    for (guint i = 0; i < n; i++) {
        if (!wrong(&m, 12)) continue;
        forest->conflicts = TRUE;
        add_span(&m, i, annotated);
    }

    forest->spans = spans_in(forest->bytes);
    for (guint i = 0; i < n; i++) {
        while (wrong(&m, 6)) g_ptr_array_add(forest->spans, forest->spans->pdata[below(&m, forest->spans->len)]);
    }
    spans_shuffle(forest->spans, seed);
    g_rand_free(m.rand);
    return forest;
}

void forest_free(Forest *forest) {
    if (forest == NULL) return;
    g_byte_array_unref(forest->bytes);
    g_ptr_array_unref(forest->spans);
    g_free(forest);
}

void forest_failed(guint32 seed, const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: forest of seed %u: %s\nTo see it first: PLUMB_TEST_SEED=%u\n", file, line, seed, what,
            seed);
    abort();
}
