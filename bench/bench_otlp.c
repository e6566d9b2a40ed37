/* Nanoseconds of CPU per span of OTLP, bodies of 2,000 spans in protobuf: reading, making the journal's
 * frame, packing.
 *
 * bench_otlp                        the stages alone
 * bench_otlp PORT BODIES [gzip]     sends so many bodies to the plumbd at that HTTP port of this machine, one after the
 *                                   other; plumbd's CPU is what its /proc/PID/stat says before and after */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "common/pack/pack.h"
#include "common/wire/message.h"
#include "common/wire/otlp/otlp.h"
#include "tests/wire/otlp_bodies.h"

#define SPANS     2000u
#define BODIES    50u
#define LEAST_SEC 1.0

typedef struct Bench {
    GPtrArray *bodies; /* GByteArray */
    ServiceSpans *spans;
    SpanBatch *batch;
    GByteArray *frame, *packed;
    Packer *packer;
    double decode_s, encode_s, pack_s;
    guint64 n, body_bytes, frame_bytes, packed_bytes;
} Bench;

static double cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void stop(const char *why) {
    fprintf(stderr, "bench_otlp: %s\n", why);
    exit(1);
}

/* ---- the stages ---- */

static void take(Bench *bench, const GByteArray *body) {
    g_autoptr(GError) error = NULL;
    guint32 refused[PACK_RESULT_COUNT] = {0};
    const double begin_s = cpu_s();
    if (!otlp_decode(bench->spans, OTLP_PROTOBUF, (Bytes){body->data, body->len}, bench->batch, &error))
        stop(error->message);
    const double decoded_s = cpu_s();
    g_byte_array_set_size(bench->frame, 0);
    wire_batch_encode_packed(bench->batch, bench->frame);
    const double encoded_s = cpu_s();
    g_byte_array_set_size(bench->packed, 0);
    packer_begin_batch(bench->packer, bench->batch);
    const guint n = packer_group(bench->packer, bench->batch);
    for (guint i = 0; i < n; i++) packer_fragment(bench->packer, bench->batch, i, bench->packed, refused);
    const double packed_s = cpu_s();

    bench->decode_s += decoded_s - begin_s;
    bench->encode_s += encoded_s - decoded_s;
    bench->pack_s += packed_s - encoded_s;
    bench->n += bench->batch->spans->len;
    bench->body_bytes += body->len;
    bench->frame_bytes += bench->frame->len;
    bench->packed_bytes += bench->packed->len;
}

static void measure(void) {
    g_autoptr(GError) error = NULL;
    const StoreOptions options = {0};
    Store *store = store_open_memory(&options, &error);
    Dict *dict = store != NULL ? dict_open(store, &error) : NULL;
    if (dict == NULL) stop(error->message);
    g_autoptr(NamingRules) rules = naming_rules_new(naming_default_templates, &error);
    Bench bench = {.bodies = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref),
                   .spans = service_spans_new(),
                   .batch = batch_new(),
                   .frame = g_byte_array_new(),
                   .packed = g_byte_array_new(),
                   .packer = packer_new(rules, dict)};

    for (guint i = 0; i < BODIES; i++) g_ptr_array_add(bench.bodies, otlp_body(i, SPANS));
    while (bench.decode_s + bench.encode_s + bench.pack_s < LEAST_SEC)
        for (guint i = 0; i < BODIES; i++) take(&bench, g_ptr_array_index(bench.bodies, i));
    const double n = (double)bench.n;
    printf("decode  %7.1f ns/span   %6.1f bytes/span of the body\n", bench.decode_s / n * 1e9,
           (double)bench.body_bytes / n);
    printf("encode  %7.1f ns/span   %6.1f of the journal\n", bench.encode_s / n * 1e9, (double)bench.frame_bytes / n);
    printf("pack    %7.1f ns/span   %6.1f packed\n", bench.pack_s / n * 1e9, (double)bench.packed_bytes / n);

    g_ptr_array_unref(bench.bodies);
    service_spans_free(bench.spans);
    batch_free(bench.batch);
    g_byte_array_unref(bench.frame);
    g_byte_array_unref(bench.packed);
    packer_free(bench.packer);
    dict_free(dict);
    store_close(store);
}

/* ---- the whole way ---- */

static GByteArray *pack_body(GByteArray *body) {
    z_stream stream = {.next_in = body->data, .avail_in = body->len};
    if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) stop("no memory for zlib");
    GByteArray *out = g_byte_array_new();
    g_byte_array_set_size(out, (guint)deflateBound(&stream, body->len));
    stream.next_out = out->data;
    stream.avail_out = out->len;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) stop("zlib did not pack the body");
    g_byte_array_set_size(out, out->len - stream.avail_out);
    deflateEnd(&stream);
    g_byte_array_unref(body);
    return out;
}

static int connect_to(guint16 port) {
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) stop("no plumbd at that port");
    return fd;
}

static void send_all(int fd, const void *data, gsize size_bytes) {
    for (const guint8 *at = data, *end = at + size_bytes; at < end;) {
        const ssize_t sent = write(fd, at, (gsize)(end - at));
        if (sent <= 0) stop("plumbd closed the connection");
        at += sent;
    }
}

static void post(int fd, const GByteArray *body, gboolean gzip) {
    char answer[4096];
    g_autofree char *head = g_strdup_printf("POST /v1/traces HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                                            "Content-Type: application/x-protobuf\r\n%sContent-Length: %u\r\n\r\n",
                                            gzip ? "Content-Encoding: gzip\r\n" : "", body->len);
    send_all(fd, head, strlen(head));
    send_all(fd, body->data, body->len);
    const ssize_t got = read(fd, answer, sizeof answer - 1); /* it is short, and comes at once */
    answer[MAX(got, 0)] = '\0';
    if (!g_str_has_prefix(answer, "HTTP/1.1 200 ")) stop(answer);
}

static void send_bodies(guint16 port, guint n, gboolean gzip) {
    const int fd = connect_to(port);
    for (guint i = 0; i < n; i++) {
        GByteArray *body = otlp_body(i, SPANS);
        if (gzip) body = pack_body(body);
        post(fd, body, gzip);
        g_byte_array_unref(body);
    }
    close(fd);
    printf("%u spans sent\n", n * SPANS);
}

int main(int argc, char **argv) {
    if (argc < 3)
        measure();
    else
        send_bodies((guint16)atoi(argv[1]), (guint)MAX(atoi(argv[2]), 1), argc > 3);
    return 0;
}
