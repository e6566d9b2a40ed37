#include "tests/archive/traces.h"

#include <string.h>

#include "common/base/clock.h"

static guint32 must_intern(Dict *dict, const char *text) {
    g_autoptr(GError) error = NULL;
    guint32 id = 0;
    dict_intern(dict, text, strlen(text), &id, &error);
    g_assert_no_error(error);
    return id;
}

void world_init(TestWorld *world, guint32 seed, Dict *dict) {
    static const char *const names[G_N_ELEMENTS(world->names)] = {"FileSystem#createFileSystem",
                                                                  "DFSOutputStream#write",
                                                                  "DFSInputStream#byteArrayRead",
                                                                  "ClientProtocol#create",
                                                                  "ClientProtocol#addBlock",
                                                                  "OpWriteBlockProto",
                                                                  "OpReadBlockProto",
                                                                  "sendBlock",
                                                                  "dataStreamer",
                                                                  "waitForAckedSeqno",
                                                                  "BlockReceiver#receiveBlock",
                                                                  "RDD:HadoopRDD"};
    static const char *const tracers[G_N_ELEMENTS(world->tracers)] = {
        "FSClient/10.0.0.5/11", "FSClient/10.0.0.6/12", "NameNode/10.0.0.1", "DataNode/10.0.0.2",
        "DataNode/10.0.0.3",    "DataNode/10.0.0.4/77", "odd process",       "JournalNode/10.0.0.1"};
    static const char *const hosts[] = {"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"};

    world->rand = g_rand_new_with_seed(seed);
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) world->names[i] = must_intern(dict, names[i]);
    for (guint i = 0; i < G_N_ELEMENTS(tracers); i++) world->tracers[i] = must_intern(dict, tracers[i]);
    for (guint i = 0; i < G_N_ELEMENTS(hosts); i++) must_intern(dict, hosts[i]);

    world->receive = must_intern(dict, "PacketReceiver#receiveNextPacket");
    world->bytes_key = must_intern(dict, "bytes");
    world->path_key = must_intern(dict, "path");
    world->stream_key = must_intern(dict, "stream");
    world->computed_key = must_intern(dict, "exclusiveNs");
    world->exception_key = must_intern(dict, "exception");
    world->error_key = must_intern(dict, "error");
    world->mirror = must_intern(dict, "PacketReceiver#mirrorPacketTo");
    world->send = must_intern(dict, "DataStreamer#writeTo");
    world->ask = must_intern(dict, "BlockReaderRemote#new");
    world->answers = must_intern(dict, "PacketResponder#run");
}

void world_clear(TestWorld *world) { g_clear_pointer(&world->rand, g_rand_free); }

static guint pick(TestWorld *world, guint n) { return (guint)g_rand_int_range(world->rand, 0, (gint32)n); }

static gint64 pick_ns(TestWorld *world, gint64 below) {
    return below <= 0 ? 0 : (gint64)(g_rand_double(world->rand) * (double)below);
}

static guint64 pick_id(TestWorld *world) {
    return (guint64)g_rand_int(world->rand) << 32 | g_rand_int(world->rand) | 1;
}

static void append_extras(TestWorld *world, SpanBuilder *builder) {
    char text[32];
    if (pick(world, 3) == 0) {
        int length = g_snprintf(text, sizeof text, "%u", pick(world, 4) == 0 ? 0 : pick(world, 100000));
        span_builder_annotation(builder, world->bytes_key, text, (guint32)length);
    }
    if (pick(world, 5) == 0) {
        int length = g_snprintf(text, sizeof text, "/user/%u/part", pick(world, 50));
        span_builder_annotation(builder, world->path_key, text, (guint32)length);
    }
    if (pick(world, 6) == 0) span_builder_annotation(builder, world->stream_key, pick(world, 2) == 0 ? "1" : "2", 1);
    if (pick(world, 6) == 0) {
        int length = g_snprintf(text, sizeof text, "%u", pick(world, 2 * NS_PER_MS));
        span_builder_annotation(builder, world->computed_key, text, (guint32)length);
    }
    if (pick(world, 12) == 0) span_builder_annotation(builder, world->exception_key, "java.io.IOException", 19);
    if (pick(world, 12) == 0) span_builder_annotation(builder, world->error_key, "false", 5);
    if (pick(world, 8) == 0) span_builder_note(builder, pick_ns(world, NS_PER_SEC), "waited", 6);
}

/* Parents are earlier spans of the trace; with 'odd' now and then a later one (cycles), a missing one, several. */
static void append_parents(TestWorld *world, SpanBuilder *builder, const GArray *ids, guint i, gboolean odd) {
    guint64 trace = g_array_index(ids, SpanId, 0).trace;
    if (odd && pick(world, 12) == 0) span_builder_parent(builder, (SpanId){trace, pick_id(world)});
    if (odd && pick(world, 30) == 0) span_builder_parent(builder, g_array_index(ids, SpanId, pick(world, ids->len)));
    if (i == 0) return;
    span_builder_parent(builder, g_array_index(ids, SpanId, i - 1 - pick(world, MIN(i, 6))));
    if (odd && pick(world, 6) == 0) span_builder_parent(builder, g_array_index(ids, SpanId, pick(world, i)));
}

void world_trace(TestWorld *world, guint64 trace_id, const TraceShape *shape, GByteArray *out) {
    g_byte_array_set_size(out, 0);
    guint n = 1 + pick(world, shape->max_spans);
    guint n_names = 1 + pick(world, G_N_ELEMENTS(world->names)); /* few names: patterns that repeat */
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(SpanId));

    for (guint i = 0; i < n; i++) {
        SpanId id = {trace_id, pick_id(world)};
        g_array_append_val(ids, id);
    }

    gint64 begin_ns = shape->begin_ns + pick_ns(world, shape->spread_ns);
    for (guint i = 0; i < n; i++) {
        SpanRec head = {.id = g_array_index(ids, SpanId, i),
                        .begin_ns = begin_ns + (i == 0 ? 0 : pick_ns(world, shape->duration_ns)),
                        .duration_ns = pick_ns(world, shape->duration_ns),
                        .name = world->names[pick(world, n_names)],
                        .tracer = world->tracers[pick(world, G_N_ELEMENTS(world->tracers))]};
        if (shape->odd && pick(world, 25) == 0) head.duration_ns = -head.duration_ns;
        if (pick(world, 4) == 0) head.flags = SPAN_MILLISECONDS;
        SpanBuilder builder = span_builder_begin(out, &head);
        append_parents(world, &builder, ids, i, shape->odd);
        append_extras(world, &builder);
        span_builder_end(&builder);
    }
}

void test_span_append(GByteArray *out, const TestSpan *span) {
    SpanRec head = {.id = {span->trace, span->span},
                    .begin_ns = span->begin_ns,
                    .duration_ns = span->duration_ns,
                    .name = span->name,
                    .tracer = span->tracer};
    SpanBuilder builder = span_builder_begin(out, &head);
    if (span->parent != 0) span_builder_parent(&builder, (SpanId){span->trace, span->parent});
    span_builder_end(&builder);
}

GArray *span_offsets(const GByteArray *spans) {
    GArray *offsets = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint at = 0; at < spans->len;) {
        g_array_append_val(offsets, at);
        at += ((const SpanRec *)(gconstpointer)(spans->data + at))->size_bytes;
    }
    return offsets;
}

guint span_count(const GByteArray *spans) {
    g_autoptr(GArray) offsets = span_offsets(spans);
    return offsets->len;
}
