/* Nanoseconds of CPU per span to encode and decode a batch: our coders, and c_glib on the same bytes; and HTrace JSON.
 *
 * bench_decode [JSON file to take the spans from]; without it, spans of one parent, every eighth with an annotation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/limits.h"
#include "common/wire/json/span_json.h"
#include "common/wire/reference/reference.h"

#define SPANS     10000u
#define LEAST_SEC 0.5

static double cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void stop(const GError *error) {
    fprintf(stderr, "bench_decode: %s\n", error->message);
    exit(1);
}

static SpanBatch *made_batch(void) {
    static const char *const names[] = {"DFSOutputStream#write", "dataStreamer", "OpWriteBlockProto"};
    SpanBatch *batch = batch_new();
    GRand *rand = g_rand_new_with_seed(1);
    guint32 indices[G_N_ELEMENTS(names)];
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) indices[i] = batch_intern(batch, names[i], strlen(names[i]));
    const guint32 tracer = batch_intern(batch, "FSClient/10.0.0.5/4242", 22), key = batch_intern(batch, "path", 4);
    for (guint i = 0; i < SPANS; i++) {
        const SpanId id = {(guint64)(i / 100) << 32 | 77, (guint64)g_rand_int(rand) << 32 | g_rand_int(rand)};
        BatchSpan *span = batch_begin_span(batch, id);
        span->begin_ns = G_GINT64_CONSTANT(1605956000000000000) + (gint64)i * 12345;
        span->duration_ns = g_rand_int_range(rand, 1000, 90000000);
        span->name = indices[i % G_N_ELEMENTS(indices)];
        span->tracer = tracer;
        batch_add_parent(batch, (SpanId){id.trace, (guint64)g_rand_int(rand) << 32});
        if (i % 8 == 0) batch_add_annotation(batch, key, batch_copy(batch, "/user/anna/part-00001", 21));
    }
    g_rand_free(rand);
    return batch;
}

static SpanBatch *file_batch(const char *path) {
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    gsize length, consumed;
    if (!g_file_get_contents(path, &text, &length, &error)) stop(error);
    SpanBatch *batch = batch_new();
    g_autoptr(SpanJsonReader) reader = span_json_reader_new();
    span_json_feed(reader, (Bytes){text, length}, SPANS, batch, &consumed);
    if (batch->spans->len > 0) return batch;
    fprintf(stderr, "bench_decode: %s: no spans\n", path);
    exit(1);
}

typedef gboolean (*Decode)(const WireHeader *header, SpanBatch *batch, WireVersions *versions, GError **error);

static void report(const char *what, const char *protocol, double ns_per_span, double bytes_per_span) {
    printf("%-22s %-8s %8.1f ns/span %7.1f bytes/span\n", what, protocol, ns_per_span, bytes_per_span);
}

static void measure_decode(const char *what, Decode decode, const WireHeader *header, guint spans) {
    g_autoptr(SpanBatch) batch = batch_new();
    g_autoptr(GError) error = NULL;
    WireVersions versions;
    guint64 decoded = 0;
    const double begin_s = cpu_s();
    double took_s;
    do {
        if (!decode(header, batch, &versions, &error)) stop(error);
        decoded += spans;
        took_s = cpu_s() - begin_s;
    } while (took_s < LEAST_SEC);
    report(what, header->protocol == PROTOCOL_COMPACT ? "compact" : "binary", took_s / (double)decoded * 1e9,
           (double)header->body.size_bytes / spans);
}

static void measure_protocol(const SpanBatch *batch, WireProtocol protocol) {
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GError) error = NULL;
    guint64 encoded = 0;
    const double begin_s = cpu_s();
    double took_s;
    do {
        g_byte_array_set_size(bytes, 0);
        wire_batch_encode(batch, protocol, 1, bytes);
        encoded += batch->spans->len;
        took_s = cpu_s() - begin_s;
    } while (took_s < LEAST_SEC);
    report("encode", protocol == PROTOCOL_COMPACT ? "compact" : "binary", took_s / (double)encoded * 1e9,
           (double)bytes->len / batch->spans->len);

    FrameCut cut;
    WireHeader header;
    frame_cut((Bytes){bytes->data, bytes->len}, LIMIT_FRAME_BYTES, &cut);
    if (!wire_header_decode(cut.frame, &header, &error)) stop(error);
    measure_decode("decode", wire_batch_decode, &header, batch->spans->len);
    measure_decode("decode, c_glib", wire_batch_decode_reference, &header, batch->spans->len);
}

static void measure_json(const SpanBatch *batch) {
    g_autoptr(GString) text = g_string_new(NULL);
    double begin_s = cpu_s(), took_s;
    guint64 spans = 0;
    do {
        g_string_truncate(text, 0);
        for (guint i = 0; i < batch->spans->len; i++) span_json_write(batch, i, text);
        spans += batch->spans->len;
        took_s = cpu_s() - begin_s;
    } while (took_s < LEAST_SEC);
    const double bytes = (double)text->len / batch->spans->len;
    report("write", "JSON", took_s / (double)spans * 1e9, bytes);

    g_autoptr(SpanBatch) read = batch_new();
    begin_s = cpu_s();
    spans = 0;
    do {
        gsize consumed;
        g_autoptr(SpanJsonReader) reader = span_json_reader_new();
        batch_clear(read);
        span_json_feed(reader, (Bytes){text->str, text->len}, G_MAXUINT, read, &consumed);
        spans += read->spans->len;
        took_s = cpu_s() - begin_s;
    } while (took_s < LEAST_SEC);
    report("read", "JSON", took_s / (double)spans * 1e9, bytes);
}

int main(int argc, char **argv) {
    g_autoptr(SpanBatch) batch = argc > 1 ? file_batch(argv[1]) : made_batch();
    measure_protocol(batch, PROTOCOL_BINARY);
    measure_protocol(batch, PROTOCOL_COMPACT);
    measure_json(batch);
    return 0;
}
