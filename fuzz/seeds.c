/* Writes the first inputs of each target's corpus: fuzz_seeds FOLDER. What fuzzers find is added beside them by hand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/calltree/record/record.h"
#include "common/model/fragment.h"
#include "common/wire/json/span_json.h"
#include "common/wire/message.h"
#include "common/wire/otlp/otlp.h"
#include "fuzz/analyzer/sound_store.h"
#include "tests/bridge/packed.h"
#include "tests/calltree/forest.h"
#include "tests/model/records_random.h"
#include "tests/wire/batches.h"
#include "tests/wire/newer.h"
#include "tests/wire/otlp_bodies.h"
#include "tests/wire/packs.h"

static const char *folder;

static void write_seed(const char *target, const char *name, const void *data, gsize size_bytes) {
    g_autofree char *path = g_build_filename(folder, target, name, NULL);
    g_autofree char *parent = g_path_get_dirname(path);
    g_autoptr(GError) error = NULL;
    g_mkdir_with_parents(parent, 0755);
    if (g_file_set_contents(path, data, (gssize)size_bytes, &error)) return;
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

/* The arguments of a frame's call behind a byte that says the protocol. */
static void write_body(const char *target, const char *name, const GByteArray *frame) {
    WireHeader header;
    const Bytes payload = {frame->data + FRAME_HEADER_BYTES, frame->len - FRAME_HEADER_BYTES};
    g_assert_true(wire_header_decode(payload, &header, NULL));
    g_autoptr(GByteArray) out = g_byte_array_new();
    append_u8(out, header.protocol == PROTOCOL_COMPACT);
    append_bytes(out, header.body.data, header.body.size_bytes);
    write_seed(target, name, out->data, out->len);
}

static void seed_frames(void) {
    static const char *const methods[] = {"submit", "submitPlain", "Log"};
    g_autoptr(GByteArray) stream = g_byte_array_new();

    for (int compact = 0; compact < 2; compact++) {
        g_autoptr(GRand) rand = g_rand_new_with_seed(1);
        g_autoptr(SpanBatch) batch = batches_random(rand, 1);
        wire_batch_encode(batch, compact ? PROTOCOL_COMPACT : PROTOCOL_BINARY, 1, stream);
        for (gsize i = 0; i < G_N_ELEMENTS(methods); i++) {
            WireHeader header = {.call = CALL_UNKNOWN, .protocol = compact ? PROTOCOL_COMPACT : PROTOCOL_BINARY};
            const WireReply reply = {.status = (ReplyStatus)i,
                                     .accepted = 300,
                                     .version = 1,
                                     .message = "wait a little",
                                     .sampling = {"close=5/s; 0.01", i == 1 ? 15 : 0}};
            g_strlcpy(header.method, methods[i], sizeof header.method);
            wire_reply_encode(&header, &reply, stream);
            wire_exception_encode(&header, "no such method", stream);
        }
        write_seed("frame", compact ? "both" : "binary", stream->data, stream->len);
    }

    write_seed("frame", "http", "GET / HTTP/1.1\r\n\r\n", 18);
    write_seed("frame", "huge", "\x7f\xff\xff\xff\x80\1\0\1", 8);
}

static void seed_batches(void) {
    for (guint seed = 0; seed < 6; seed++)
        for (int compact = 0; compact < 2; compact++) {
            g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
            g_autoptr(SpanBatch) batch = seed < 4 ? batches_random(rand, seed) : batches_typical(rand, 10);
            NewerOptions options = {.protocol = compact ? PROTOCOL_COMPACT : PROTOCOL_BINARY, .version = 1};
            options.extras = seed == 1;
            options.reversed = seed == 2;
            options.needs = seed == 3 ? WIRE_VERSION + 1 : 0;
            g_autofree char *name = g_strdup_printf("%s-%u", compact ? "compact" : "binary", seed);
            g_autoptr(GByteArray) frame = newer_submit(batch, &options);
            write_body("batch", name, frame);
        }
}

static void seed_packs(void) {
    for (guint seed = 0; seed < 12; seed++) {
        const gint32 version = seed < 6 ? 2 : 3;
        g_autoptr(GRand) rand = g_rand_new_with_seed(seed % 6);
        g_autoptr(SpanBatch) batch = seed % 6 < 4 ? batches_random(rand, seed % 6 + 1) : batches_typical(rand, 10);
        g_autoptr(GPtrArray) packs = packs_random(rand, batch, version);
        const NewerOptions options = {.protocol = seed % 2 == 0 ? PROTOCOL_COMPACT : PROTOCOL_BINARY,
                                      .version = version,
                                      .needs = version,
                                      .packs = packs};
        g_autofree char *name = g_strdup_printf("packs-%u", seed);
        g_autoptr(GByteArray) frame = newer_submit(batch, &options);
        write_body("batch", name, frame);
    }
}

static const char plain_seed[] = /* compact: one span of every field */
    "\1\x19\x1c\x18\x20"
    "0000000000000001000000000000000a"
    "\x19\x18\x20"
    "0000000000000001000000000000000b"
    "\x16\xf6\x8d\xb9\xe8\xc5\x9c\x2d\x16\x0a\x18\4read\x18\x0c"
    "App/10.0.0.5"
    "\x1b\1\x88\4path\x0b/user/anna0\x19\x1c\x16\x22\x18\4half\0\x15\2\0\0";

static void seed_plain(void) {
    const WireHeader header = {.protocol = PROTOCOL_COMPACT, .body = {plain_seed + 1, sizeof plain_seed - 2}};
    g_autoptr(SpanBatch) batch = batch_new();
    g_assert_true(wire_plain_decode(&header, batch, NULL));
    write_seed("plain", "compact", plain_seed, sizeof plain_seed - 1);
    write_seed("plain", "empty", "\1\x19\x0c\0", 4);
    static const char binary[] = "\0\x0f\0\1\x0c\0\0\0\1\x0b\0\1\0\0\0\x20"
                                 "0000000000000001000000000000000a"
                                 "\x0a\0\3\0\0\0\0\0\0\0\5\x0a\0\4\0\0\0\0\0\0\0\5\x0b\0\5\0\0\0\4read\x0b\0\6\0\0\0\1a"
                                 "\x0d\0\7\x0b\x0b\0\0\0\1\0\0\0\1k\0\0\0\1v\0\0";
    write_seed("plain", "binary", binary, sizeof binary - 1);
}

static void seed_records(void) {
    for (guint seed = 0; seed < 6; seed++) {
        g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
        g_autoptr(SparkRecords) records = records_random(rand, seed % 3, 2);
        g_autoptr(GByteArray) frame = g_byte_array_new();
        wire_records_encode(records, seed % 2 == 0 ? PROTOCOL_COMPACT : PROTOCOL_BINARY, 1, frame);
        g_autofree char *name = g_strdup_printf("random-%u", seed);
        write_body("records", name, frame);
        if (seed < 4) write_body("answers", name, frame);
    }
}

static void seed_json(void) {
    for (guint seed = 0; seed < 4; seed++) {
        g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
        g_autoptr(SpanBatch) batch = batches_random(rand, 3);
        g_autoptr(GString) text = g_string_new(seed % 2 == 0 ? "\3" : "\xff");
        for (guint i = 0; i < batch->spans->len; i++) span_json_write(batch, i, text);
        g_autofree char *name = g_strdup_printf("written-%u", seed);
        write_seed("json", name, text->str, text->len);
    }

    static const char *const texts[] = {
        "\7{\"i\":\"74ace74ace74ace7\",\"s\":\"00000000000000a1\",\"b\":10,\"e\":12,\"d\":\"x\",\"r\":\"NameNode\","
        "\"p\":"
        "[\"00000000000000a0\"],\"n\":{\"k\":\"v\",\"k\":\"w\"},\"t\":[{\"t\":5,\"m\":\"hi\"}]}",
        "\1{\"a\":\"0000000000{\"a\":\"00000000000000010000000000000002\",\"bn\":\"1\",\"en\":\"2\"}{\"b\":{\"e\":1}",
        "\5[{\"a\":\"00000000000000010000000000000002\",\"z\":[1.5e-3,true,null,{}]} , x\n{\"d\":\"\\ud83d\\ude00\"}",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autofree char *name = g_strdup_printf("text-%zu", i);
        write_seed("json", name, texts[i], strlen(texts[i]));
    }
}

/* The record's trace, and choices of late spans. */
static void write_tree(const char *name, guint32 seed, const GByteArray *stored, Bytes record) {
    enum { LATE = 24, CHOICES = 4 };
    g_autoptr(GByteArray) out = g_byte_array_new();
    append_u16be(out, (guint16)stored->len);
    append_bytes(out, stored->data, stored->len);
    append_u16be(out, (guint16)record.size_bytes);
    append_bytes(out, record.data, record.size_bytes);
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    for (guint i = 0; i < LATE * CHOICES; i++) append_u8(out, (guint8)g_rand_int_range(rand, 0, 256));
    write_seed("tree", name, out->data, out->len);
}

static void seed_trace(guint32 seed) {
    World world;
    world_init(&world, 0);
    const ForestOptions options = {.max_spans = 12, .kind = seed % 2 == 0 ? FOREST_CLEAN : FOREST_WILD};
    g_autoptr(Forest) forest = forest_new(&world, seed, &options);
    g_autoptr(CallTree) tree =
        tree_build((const SpanRec *const *)(void *)forest->spans->pdata, forest->spans->len, 0, NULL);
    g_autoptr(Compressor) compressor = compressor_new(&world.lookup, 100);
    g_autofree guint32 *node_of = g_new(guint32, tree->n_nodes);
    g_autoptr(Pattern) pattern = compressor_tree(compressor, tree, node_of);

    g_autoptr(GByteArray) stored = g_byte_array_new(), out = g_byte_array_new();
    pattern_encode(pattern, stored);
    append_u16be(out, (guint16)stored->len);
    append_bytes(out, stored->data, stored->len);

    const RecordHead head = {
        .pattern_number = 3, .flags = seed % 3 == 0 ? TRACE_PART : 0, .dropped = seed % 4 == 1 ? DROPPED_IDS : 0};
    record_encode(tree, pattern, node_of, &head, out);
    const Bytes record = {out->data + 2 + stored->len, out->len - 2 - stored->len};
    g_autoptr(GByteArray) spans = g_byte_array_new();
    g_assert_true(record_decode(record, pattern, 7, spans, NULL));

    g_autofree char *name = g_strdup_printf("forest-%u", seed);
    write_seed("pattern", name, stored->data, stored->len);
    write_seed("record", name, out->data, out->len);
    write_tree(name, seed, stored, record);
}

static void seed_journal(void) {
    static const char records[] = "\5first\0\3two\x0bthird again";
    static const struct {
        const char *name, *damage;
        gsize size;
    } cases[] = {
        {"whole", "\0\xff\xff", 3},          {"cut", "\0\0\x60", 3},
        {"header", "\1\0\x20\1\xff\xff", 6}, {"payload", "\1\0\x52\x10\xff\xff", 6},
        {"head", "\1\0\x3a\1\xff\xff", 6},   {"two", "\2\0\x38\1\0\x70\2\xff\xff", 9},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GByteArray) out = g_byte_array_new();
        append_bytes(out, cases[i].damage, cases[i].size);
        append_bytes(out, records, sizeof records - 1);
        write_seed("journal", cases[i].name, out->data, out->len);
    }
}

/* A log of each event, in each format; as lines, as the unpackers take it, and as a file. */
static void seed_event_logs(void) {
    static const char log[] =
        "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"4.3.0\"}\n"
        "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"n\",\"App ID\":\"app-1\",\"Timestamp\":5}\n"
        "{\"Event\":\"SparkListenerEnvironmentUpdate\",\"Spark Properties\":{\"spark.master\":\"yarn\"}}\n"
        "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":7,\"Executor ID\":\"0\",\"Executor "
        "Info\":{\"Host\":\"w\"}}\n"
        "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":0,\"Stage Infos\":[{\"Stage ID\":0,\"Stage Name\":\"s\"}],"
        "\"Stage IDs\":[0],\"Properties\":{\"spark.job.description\":\"d\"}}\n"
        "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":{\"Stage ID\":0,\"RDD Info\":[{\"RDD "
        "ID\":1,\"Scope\":"
        "\"{\\\"id\\\":\\\"0\\\",\\\"name\\\":\\\"map\\\"}\",\"Parent IDs\":[0],\"Storage Level\":{\"Use "
        "Disk\":true}}]}}\n"
        "{\"Event\":\"SparkListenerTaskStart\",\"Stage ID\":0,\"Task Info\":{\"Task ID\":1,\"Host\":\"w\"}}\n"
        "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Task End Reason\":{\"Reason\":\"ExceptionFailure\","
        "\"Class Name\":\"java.io.IOException\"},\"Task Info\":{\"Task ID\":1,\"Accumulables\":[{\"Name\":"
        "\"peakExecutionMemory\",\"Update\":\"7\"}]},\"Task Metrics\":{\"Executor Run Time\":4,\"Shuffle Read "
        "Metrics\":"
        "{\"Local Bytes Read\":3}},\"Task Executor Metrics\":{\"MajorGCTime\":1}}\n"
        "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":0,\"Job "
        "Result\":{\"Result\":\"JobFailed\",\"Exception\":{\"Message\":"
        "\"m\"}}}\n{\"Event\":\"SparkListenerUnpersistRDD\"}\n\nbroken\n{\"Event\":\"SparkListenerApplicationEnd\"}";

    write_seed("events", "all", log, sizeof log - 1);
    for (guint kind = PACKED_PLAIN; kind < PACKED_KINDS; kind++) {
        g_autoptr(GByteArray) packed = g_byte_array_new(), unpack = g_byte_array_new();
        packed_append((PackedKind)kind, (Bytes){log, sizeof log - 1}, 400, packed);
        append_u8(unpack, (guint8)(10 * (PACKED_KINDS - PACKED_PLAIN) + kind - PACKED_PLAIN));
        append_bytes(unpack, packed->data, packed->len);
        write_seed("unpack", packed_kind_name((PackedKind)kind), unpack->data, unpack->len);
        write_seed("event_log", packed_kind_name((PackedKind)kind), packed->data, packed->len);
    }
}

/* plumbd's file, and an analysis file behind a byte that says so. */
static void seed_config(void) {
    static const char *const texts[] = {
        "0# one of each type\n[listen]\nthrift = 127.0.0.1:0\n[journal]\nack = fsync\nsegment = 64M\n[trace]\nidle = "
        "1500ms\nmax-age = 2h\n[receiver]\nshards = 3\n",
        "1[analysis]\nlevel = tree\nroles = client;datanode\nexclude = default;a#b\nprogress = yes\n[roles]\ndatanode "
        "= "
        "x;y\n[colours]\nclient = red\n",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autofree char *name = g_strdup_printf("text-%zu", i);
        write_seed("config", name, texts[i], strlen(texts[i]));
    }
}

/* The first entries of each family, as fuzz_store takes them. */
static void seed_store(void) {
    enum { ENTRIES = 2, MOST_BYTES = 2000 };
    g_autoptr(Store) store = sound_store_copy();
    for (guint family = 0; family < FAMILY_COUNT; family++) {
        g_autoptr(GByteArray) out = g_byte_array_new();
        g_autoptr(StoreIter) iter = store_iter_new(store, (StoreFamily)family);
        gboolean more = store_iter_seek(iter, (Bytes){"", 0});
        const guint wanted = family == FAMILY_META ? G_MAXUINT : ENTRIES; /* of the archive's own, each is another */
        for (guint n = 0; more && n < wanted && out->len < MOST_BYTES; more = store_iter_next(iter), n++) {
            const Bytes key = store_iter_key(iter), value = store_iter_value(iter);
            append_u8(out, (guint8)family);
            append_u8(out, (guint8)key.size_bytes);
            append_u16be(out, (guint16)value.size_bytes);
            append_bytes(out, key.data, key.size_bytes);
            append_bytes(out, value.data, value.size_bytes);
        }
        if (out->len > 0) write_seed("store", store_family_name((StoreFamily)family), out->data, out->len);
    }
}

static void seed_otlp(void) {
    static const char json[] =
        "\1{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":"
        "{\"stringValue\":\"shop\"}}]},\"scopeSpans\":[{\"scope\":{\"name\":\"lib\",\"version\":\"1\"},\"spans\":["
        "{\"traceId\":\"5b8efff798038103d269b633813fc60c\",\"spanId\":\"eee19b7ec3c1b174\",\"name\":\"a\",\"kind\":2,"
        "\"startTimeUnixNano\":\"1790000000000000001\",\"endTimeUnixNano\":1790000000500000002,\"attributes\":["
        "{\"key\":\"l\",\"value\":{\"arrayValue\":{\"values\":[{\"intValue\":\"-1\"},{\"doubleValue\":1.5}]}}}],"
        "\"events\":[{\"timeUnixNano\":\"1\",\"name\":\"e\"}],\"links\":[{\"traceId\":\"\",\"spanId\":\"\"}],"
        "\"status\":{\"code\":2,\"message\":\"m\"}}]}]}]}";
    g_autoptr(GByteArray) body = otlp_body(1, 3), out = g_byte_array_new();
    append_u8(out, OTLP_PROTOBUF);
    append_bytes(out, body->data, body->len);
    write_seed("otlp", "protobuf", out->data, out->len);
    write_seed("otlp", "json", json, sizeof json - 1);

    static const char chunks[] = "\1\3005\r\nhello\r\n00a\r\n0123456789\r\n0\r\n\r\nGET";
    write_seed("body", "chunks", chunks, sizeof chunks - 1);
    write_seed("body", "length", "\024\002hello, next", 13);
}

/* Spans with parents of each kind, annotations that repeat, and notes; the slack's byte before the body. */
static void seed_fragments(void) {
    for (guint n = 1; n <= 4; n++) {
        g_autoptr(GByteArray) records = g_byte_array_new(), tight = g_byte_array_new(), out = g_byte_array_new();
        for (guint i = 0; i < n; i++) {
            const SpanRec head = {.id = {7, i % 3 + 1},
                                  .begin_ns = 1000000 * i,
                                  .duration_ns = 5,
                                  .name = 300 * i,
                                  .tracer = i / 2,
                                  .flags = i == 2 ? SPAN_MILLISECONDS : 0};
            SpanBuilder builder = span_builder_begin(records, &head);
            for (guint parent = 0; parent < i; parent++) span_builder_parent(&builder, (SpanId){7, parent + 1});
            for (guint key = 0; key < n; key++) span_builder_annotation(&builder, key, "a value", 7);
            if (i % 2 == 1) span_builder_note(&builder, 5, "note", 4);
            span_builder_end(&builder);
        }
        fragment_pack(tight, records->data, records->len, n == 3);
        const FragmentHead *head = (const FragmentHead *)(gconstpointer)tight->data;
        append_u8(out, n % 2 == 0 ? 0 : 0xff);
        append_bytes(out, fragment_body(head), head->size_bytes);
        g_autofree char *name = g_strdup_printf("spans-%u", n);
        write_seed("fragment", name, out->data, out->len);
    }
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
        return 2;
    }
    folder = argv[1];
    seed_frames();
    seed_batches();
    seed_packs();
    seed_plain();
    seed_records();
    seed_json();
    seed_journal();
    seed_event_logs();
    seed_config();
    seed_otlp();
    seed_fragments();
    seed_store();
    for (guint32 seed = 1; seed <= 8; seed++) seed_trace(seed);
    return 0;
}
