/* The client against a receiver of the test's own, which answers by a script: one action for each request. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/error.h"
#include "common/wire/client.h"
#include "tests/wire/batches.h"

typedef enum {
    ANSWER_OK,
    ANSWER_TRY_LATER,
    ANSWER_REFUSED,
    ANSWER_EXCEPTION,
    ANSWER_OTHER_SEQUENCE,
    ANSWER_GARBAGE,
    ANSWER_HUGE,
    ANSWER_BYTEWISE, /* a good answer, one byte a packet */
    CLOSE,           /* after the request was read */
    CLOSE_AT_ONCE,   /* instead of reading it */
    SILENCE,         /* until the client closes */
} Action;

typedef struct Peer {
    const Action *actions;
    gsize n_actions;
    int listener;
    char address[32];
    pthread_t thread;
    guint spans[16]; /* received with each request; G_MAXUINT: not read */
    GByteArray *stream;
} Peer;

static void answer(const WireHeader *header, Action action, int fd) {
    g_autoptr(GByteArray) out = g_byte_array_new();
    WireHeader other = *header;
    other.sequence++;
    const WireReply ok = {.status = REPLY_OK, .accepted = 3, .version = 1};
    const WireReply later = {.status = REPLY_TRY_LATER, .wait_ms = 1, .version = 1};
    const WireReply refused = {.status = REPLY_REFUSED, .message = "over a limit"};
    switch (action) {
    case ANSWER_TRY_LATER: wire_reply_encode(header, &later, out); break;
    case ANSWER_REFUSED: wire_reply_encode(header, &refused, out); break;
    case ANSWER_EXCEPTION: wire_exception_encode(header, "broken", out); break;
    case ANSWER_OTHER_SEQUENCE: wire_reply_encode(&other, &ok, out); break;
    case ANSWER_GARBAGE: append_bytes(out, "HTTP/1.1 400 Bad Request\r\n", 26); break;
    case ANSWER_HUGE: append_bytes(out, "\x7f\xff\xff\xff\x82", 5); break;
    default: wire_reply_encode(header, &ok, out);
    }
    const gsize piece = action == ANSWER_BYTEWISE ? 1 : out->len;
    for (gsize at = 0; at < out->len; at += piece) g_assert_cmpint(send(fd, out->data + at, piece, MSG_NOSIGNAL), >, 0);
}

/* FALSE when the client closed. */
static gboolean read_request(Peer *peer, int fd, FrameCut *cut) {
    guint8 buffer[65536];
    while (frame_cut((Bytes){peer->stream->data, peer->stream->len}, G_MAXINT, cut) != FRAME_WHOLE) {
        const gssize got = recv(fd, buffer, sizeof buffer, 0);
        if (got <= 0) return FALSE;
        append_bytes(peer->stream, buffer, (gsize)got);
    }
    return TRUE;
}

static guint count_spans(Bytes frame, WireHeader *header) {
    g_autoptr(SpanBatch) batch = batch_new();
    WireVersions versions;
    g_autoptr(GError) error = NULL;
    wire_header_decode(frame, header, &error);
    g_assert_no_error(error);
    wire_batch_decode(header, batch, &versions, &error);
    g_assert_no_error(error);
    return batch->spans->len;
}

static void *peer_run(void *arg) {
    Peer *peer = arg;
    int fd = -1;

    for (gsize i = 0; i < peer->n_actions; i++) {
        if (fd < 0) {
            fd = accept(peer->listener, NULL, NULL);
            g_byte_array_set_size(peer->stream, 0);
        }

        const Action action = peer->actions[i];
        peer->spans[i] = G_MAXUINT;
        FrameCut cut;
        if (action != CLOSE_AT_ONCE) {
            WireHeader header;
            if (!read_request(peer, fd, &cut)) g_error("the client closed before request %zu", i);
            peer->spans[i] = count_spans(cut.frame, &header);
            if (action == SILENCE) {
                guint8 byte;
                g_assert_cmpint(recv(fd, &byte, 1, 0), <=, 0);
            } else if (action != CLOSE) {
                answer(&header, action, fd);
            }
            g_byte_array_remove_range(peer->stream, 0, (guint)cut.needed_bytes);
        }

        if (action == ANSWER_OK || action == ANSWER_TRY_LATER || action == ANSWER_REFUSED || action == ANSWER_BYTEWISE)
            continue;
        close(fd);
        fd = -1;
    }
    if (fd >= 0) close(fd);
    return NULL;
}

static void peer_start(Peer *peer, const Action *actions, gsize n_actions) {
    *peer = (Peer){.actions = actions, .n_actions = n_actions, .stream = g_byte_array_new()};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    peer->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(bind(peer->listener, (struct sockaddr *)&address, size), ==, 0);
    g_assert_cmpint(listen(peer->listener, 8), ==, 0);
    g_assert_cmpint(getsockname(peer->listener, (struct sockaddr *)&address, &size), ==, 0);
    g_snprintf(peer->address, sizeof peer->address, "127.0.0.1:%u", ntohs(address.sin_port));
    g_assert_cmpint(pthread_create(&peer->thread, NULL, peer_run, peer), ==, 0);
}

static void peer_stop(Peer *peer) {
    pthread_join(peer->thread, NULL);
    close(peer->listener);
    g_byte_array_unref(peer->stream);
}

#define LONG_MS 60000 /* never reached */

static SpanBatch *three_spans(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    return batches_typical(rand, 3);
}

static const struct {
    const char *what;
    Action actions[6];
    gsize n_actions;
    int code; /* of the last submit; -1: good */
    ReplyStatus status;
} submits[] = {
    {"answered", {ANSWER_OK}, 1, -1, REPLY_OK},
    {"byte by byte", {ANSWER_BYTEWISE, ANSWER_BYTEWISE}, 2, -1, REPLY_OK},
    {"many calls on one connection", {ANSWER_OK, ANSWER_TRY_LATER, ANSWER_OK, ANSWER_REFUSED}, 4, -1, REPLY_REFUSED},
    {"try later is an answer", {ANSWER_TRY_LATER}, 1, -1, REPLY_TRY_LATER},
    {"exception", {ANSWER_EXCEPTION}, 1, PLUMB_ERROR_PEER, 0},
    {"answer to another call", {ANSWER_OTHER_SEQUENCE}, 1, PLUMB_ERROR_PEER, 0},
    {"no Thrift", {ANSWER_GARBAGE}, 1, PLUMB_ERROR_PEER, 0},
    {"absurd answer", {ANSWER_HUGE}, 1, PLUMB_ERROR_PEER, 0},
    {"closed", {CLOSE}, 1, PLUMB_ERROR_PEER, 0},
    {"connects again after a close", {CLOSE, ANSWER_OK}, 2, -1, REPLY_OK},
    {"and after an exception", {ANSWER_EXCEPTION, ANSWER_OK}, 2, -1, REPLY_OK},
};

static void test_submit(void) {
    g_autoptr(SpanBatch) batch = three_spans();
    for (gsize i = 0; i < G_N_ELEMENTS(submits); i++) {
        g_test_message("%s", submits[i].what);
        Peer peer;
        peer_start(&peer, submits[i].actions, submits[i].n_actions);
        g_autoptr(GError) error = NULL;
        g_autoptr(WireClient) client = wire_client_connect(peer.address, NULL, LONG_MS, &error);
        g_assert_no_error(error);

        WireReply reply = {.accepted = -7};
        for (gsize n = 0; n < submits[i].n_actions; n++) {
            g_clear_error(&error);
            wire_client_submit(client, batch, &reply, &error);
        }
        peer_stop(&peer);

        for (gsize n = 0; n < submits[i].n_actions; n++) g_assert_cmpuint(peer.spans[n], ==, 3);
        if (submits[i].code >= 0) {
            g_assert_error(error, PLUMB_ERROR, submits[i].code);
            g_assert_nonnull(strstr(error->message, peer.address));
            g_assert_cmpint(reply.accepted, ==, -7);
            continue;
        }

        g_assert_no_error(error);
        g_assert_cmpint(reply.status, ==, submits[i].status);
    }
}

static const struct {
    const char *what;
    Action actions[6];
    gsize n_actions;
    int code;
    ReplyStatus status;
} deliveries[] = {
    {"at once", {ANSWER_OK}, 1, -1, REPLY_OK},
    {"after waiting", {ANSWER_TRY_LATER, ANSWER_TRY_LATER, ANSWER_OK}, 3, -1, REPLY_OK},
    {"after lost connections", {CLOSE, CLOSE_AT_ONCE, ANSWER_OK}, 3, -1, REPLY_OK},
    {"after both", {ANSWER_TRY_LATER, CLOSE, ANSWER_TRY_LATER, ANSWER_BYTEWISE}, 4, -1, REPLY_OK},
    {"refused is final", {ANSWER_REFUSED}, 1, -1, REPLY_REFUSED},
    {"an exception is final", {ANSWER_EXCEPTION}, 1, PLUMB_ERROR_PEER, 0},
};

static void test_deliver(void) {
    g_autoptr(SpanBatch) batch = three_spans();
    for (gsize i = 0; i < G_N_ELEMENTS(deliveries); i++) {
        g_test_message("%s", deliveries[i].what);
        Peer peer;
        peer_start(&peer, deliveries[i].actions, deliveries[i].n_actions);
        g_autoptr(GError) error = NULL;
        g_autoptr(WireClient) client = wire_client_connect(peer.address, NULL, LONG_MS, &error);
        g_assert_no_error(error);
        WireReply reply;
        const gboolean good = wire_client_deliver(client, batch, LONG_MS, &reply, &error);
        peer_stop(&peer);
        g_assert_true(good == (deliveries[i].code < 0));
        if (good)
            g_assert_cmpint(reply.status, ==, deliveries[i].status);
        else
            g_assert_error(error, PLUMB_ERROR, deliveries[i].code);
    }
}

static void test_gives_up(void) {
    g_autoptr(SpanBatch) batch = three_spans();
    static const Action later[] = {ANSWER_TRY_LATER};
    Peer peer;
    WireReply reply;
    g_autoptr(GError) error = NULL;
    peer_start(&peer, later, 1);
    g_autoptr(WireClient) client = wire_client_connect(peer.address, NULL, LONG_MS, &error);
    g_assert_no_error(error);
    g_assert_false(wire_client_deliver(client, batch, 0, &reply, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_BUSY);
    peer_stop(&peer);

    g_clear_error(&error); /* now nobody listens */
    g_assert_false(wire_client_deliver(client, batch, 30, &reply, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_PEER);
}

/* A receiver that takes the request and never answers. */
static void test_timeout(void) {
    g_autoptr(SpanBatch) batch = three_spans();
    static const Action actions[] = {SILENCE, ANSWER_OK};
    Peer peer;
    WireReply reply;
    g_autoptr(GError) error = NULL;
    peer_start(&peer, actions, 2);
    g_autoptr(WireClient) client = wire_client_connect(peer.address, NULL, 200, &error);
    g_assert_no_error(error);
    g_assert_false(wire_client_submit(client, batch, &reply, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_PEER);
    g_clear_error(&error);
    g_assert_true(wire_client_deliver(client, batch, LONG_MS, &reply, &error));
    peer_stop(&peer);
}

/* More than the sockets' buffers hold, and the peer closes without reading: an error, no SIGPIPE. */
static void test_no_sigpipe(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    g_autoptr(SpanBatch) batch = batches_typical(rand, 190000);
    static const Action actions[] = {CLOSE_AT_ONCE};
    Peer peer;
    WireReply reply;
    g_autoptr(GError) error = NULL;
    peer_start(&peer, actions, 1);
    g_autoptr(WireClient) client = wire_client_connect(peer.address, NULL, LONG_MS, &error);
    g_assert_no_error(error);
    g_assert_false(wire_client_submit(client, batch, &reply, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_PEER);
    peer_stop(&peer);
}

static void test_addresses(void) {
    static const char *const bad[] = {"",           "localhost", ":9410",
                                      "localhost:", "[::1]",     "::1:9410",
                                      "[::1:9410",  "[]:9410",   "127.0.0.1:no-such-service"};
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(wire_client_connect(bad[i], NULL, 1000, &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_PEER);
    }
    wire_client_close(NULL);
}

static void test_refused_connection(void) {
    Peer peer;
    peer_start(&peer, NULL, 0);
    peer_stop(&peer);
    g_autoptr(GError) error = NULL;
    g_assert_null(wire_client_connect(peer.address, NULL, 1000, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_PEER);
    g_assert_nonnull(strstr(error->message, peer.address));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client/submit", test_submit);
    g_test_add_func("/client/deliver", test_deliver);
    g_test_add_func("/client/gives-up", test_gives_up);
    g_test_add_func("/client/timeout", test_timeout);
    g_test_add_func("/client/no-sigpipe", test_no_sigpipe);
    g_test_add_func("/client/addresses", test_addresses);
    g_test_add_func("/client/refused-connection", test_refused_connection);
    return g_test_run();
}
