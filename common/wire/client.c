#include "common/wire/client.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/wire/codec.h"
#include "common/wire/login.h"

/* A reply is some 60 bytes and a message for a person. */
#define REPLY_BYTES 16384u
/* Between two tries to connect again. */
#define RECONNECT_FIRST_MS 20
#define RECONNECT_MOST_MS  1000

struct WireClient {
    char *address; /* as given, for messages */
    char *host, *port;
    const WireSecurity *security; /* NULL: plain */
    struct ssl_st *ssl;           /* NULL: plain, or not connected */
    gint timeout_ms;              /* of connecting, and of every call */
    int fd;                       /* -1: not connected */
    gint32 sequence;
    gboolean answered; /* the last call got a whole answer, be it a reply or an exception */
    GByteArray *request;
};

static gint64 now_ms(void) { return clock_monotonic_ns(clock_system()) / NS_PER_MS; }

static void disconnect(WireClient *client) {
    wire_tls_free(g_steal_pointer(&client->ssl));
    if (client->fd >= 0) close(client->fd);
    client->fd = -1;
}

/* "host:port" or "[v6]:port". */
static gboolean split_address(const char *address, char **host, char **port) {
    const char *colon = strrchr(address, ':');
    if (colon == NULL || colon == address || colon[1] == '\0') return FALSE;
    const gboolean bracketed = address[0] == '[';
    if (bracketed && colon[-1] != ']') return FALSE;
    const char *begin = address + bracketed, *end = colon - bracketed;
    if (begin >= end || (!bracketed && memchr(begin, ':', (gsize)(end - begin)) != NULL)) return FALSE;
    *host = g_strndup(begin, (gsize)(end - begin));
    *port = g_strdup(colon + 1);
    return TRUE;
}

/* Waits until the socket is ready. 0, or an errno. */
static int wait_ready(int fd, short events, gint64 deadline_ms) {
    for (;;) {
        const gint64 left_ms = deadline_ms - now_ms();
        if (left_ms <= 0) return ETIMEDOUT;
        struct pollfd poll_fd = {.fd = fd, .events = events};
        const int ready = poll(&poll_fd, 1, (int)MIN(left_ms, G_MAXINT));
        if (ready > 0) return 0;
        if (ready < 0 && errno != EINTR) return errno;
    }
}

/* A connected socket in *fd; 0, or an errno. */
static int connect_one(const struct addrinfo *to, gint64 deadline_ms, int *out) {
    const int fd = socket(to->ai_family, to->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to->ai_protocol);
    if (fd < 0) return errno;
    int err = connect(fd, to->ai_addr, to->ai_addrlen) == 0 ? 0 : errno;
    if (err == EINPROGRESS || err == EINTR) {
        err = wait_ready(fd, POLLOUT, deadline_ms);
        socklen_t size = sizeof err;
        if (err == 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &size) != 0) err = errno;
    }
    if (err != 0) {
        close(fd);
        return err;
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    *out = fd;
    return 0;
}

void wire_client_close(WireClient *client) {
    if (client == NULL) return;
    disconnect(client);
    if (client->request != NULL) g_byte_array_unref(client->request);
    g_free(client->address);
    g_free(client->host);
    g_free(client->port);
    g_free(client);
}

/* MSG_NOSIGNAL: a receiver that went away is an error here, not a SIGPIPE for the whole program. */
static ssize_t send_some(WireClient *client, const guint8 *data, gsize size_bytes, short *events) {
    *events = POLLOUT;
    if (client->ssl != NULL) return wire_tls_send(client->ssl, data, size_bytes, events);
    return send(client->fd, data, size_bytes, MSG_NOSIGNAL);
}

static ssize_t receive_some(WireClient *client, guint8 *into, gsize room, short *events) {
    *events = POLLIN;
    if (client->ssl != NULL) return wire_tls_receive(client->ssl, into, room, events);
    return recv(client->fd, into, room, 0);
}

/* What has come, at least one byte; 0, or an errno (ECONNRESET when the peer closed). */
static int receive_more(WireClient *client, guint8 *into, gsize room, gint64 deadline_ms, gsize *got) {
    for (;;) {
        short events;
        const gssize result = receive_some(client, into, room, &events);
        if (result == 0) return ECONNRESET;
        if (result > 0) {
            *got = (gsize)result;
            return 0;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            const int err = wait_ready(client->fd, events, deadline_ms);
            if (err != 0) return err;
        } else if (errno != EINTR) {
            return errno;
        }
    }
}

static int send_all(WireClient *client, const guint8 *data, gsize size_bytes, gint64 deadline_ms) {
    while (size_bytes > 0) {
        short events;
        const gssize sent = send_some(client, data, size_bytes, &events);
        if (sent >= 0) {
            data += sent;
            size_bytes -= (gsize)sent;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            const int err = wait_ready(client->fd, events, deadline_ms);
            if (err != 0) return err;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

/* Reads one frame into buffer; 0, or an errno (ECONNRESET when the peer closed, EPROTO when it sent no frame). */
static int receive_frame(WireClient *client, guint8 buffer[REPLY_BYTES], gint64 deadline_ms, Bytes *frame) {
    gsize have = 0;
    for (;;) {
        FrameCut cut;
        const FrameState state = frame_cut((Bytes){buffer, have}, REPLY_BYTES - FRAME_HEADER_BYTES, &cut);
        if (state == FRAME_WHOLE) {
            *frame = cut.frame;
            return cut.frame.size_bytes + FRAME_HEADER_BYTES == have ? 0 : EPROTO;
        }
        if (state != FRAME_PARTIAL) return EPROTO;

        gsize got;
        const int err = receive_more(client, buffer + have, REPLY_BYTES - have, deadline_ms, &got);
        if (err != 0) return err;
        have += got;
    }
}

static gboolean fail_security(WireClient *client, GError **error) {
    fail(error, PLUMB_ERROR_CONFIG,
         "%s: TLS: %s; check the name in the address, --ca, and that plumbd has tls.certificate", client->address,
         wire_tls_reason(client->ssl));
    disconnect(client);
    client->answered = TRUE; /* and will be the next time */
    return FALSE;
}

/* As many bytes; 0, or an errno. */
static int receive_all(WireClient *client, guint8 *into, gsize size_bytes, gint64 deadline_ms) {
    for (gsize have = 0, got; have < size_bytes; have += got) {
        const int err = receive_more(client, into + have, size_bytes - have, deadline_ms, &got);
        if (err != 0) return err;
    }
    return 0;
}

/* Sends the message and gets the receiver's next one: its status, and what it carries. 0, or an errno. */
static int exchange_login(WireClient *client, const GByteArray *message, guint8 *status, GByteArray *said) {
    const gint64 deadline_ms = now_ms() + client->timeout_ms;
    guint8 head[WIRE_LOGIN_HEAD_BYTES];
    int err = send_all(client, message->data, message->len, deadline_ms);
    if (err == 0) err = receive_all(client, head, sizeof head, deadline_ms);
    if (err != 0) return err;

    const guint32 size = (guint32)head[1] << 24 | (guint32)head[2] << 16 | (guint32)head[3] << 8 | head[4];
    if (size > REPLY_BYTES) return EPROTO;
    g_byte_array_set_size(said, size);
    *status = head[0];
    return receive_all(client, said->data, size, deadline_ms);
}

static gboolean log_in(WireClient *client, GError **error) {
    g_autoptr(WireLogin) login = wire_login_new(client->security, client->host);
    g_autoptr(GByteArray) message = g_byte_array_new(), said = g_byte_array_new();
    guint8 status = WIRE_LOGIN_OK;
    while (status == WIRE_LOGIN_OK) {
        if (!wire_login_step(login, (Bytes){said->data, said->len}, message, error)) return FALSE;
        const int err = exchange_login(client, message, &status, said);
        explicit_bzero(message->data, message->len);
        if (err == EPROTO && client->ssl != NULL) return fail_security(client, error);
        if (err != 0) return fail(error, PLUMB_ERROR_PEER, "%s: no login: %s", client->address, g_strerror(err));
    }
    if (status == WIRE_LOGIN_COMPLETE && wire_login_is_over(login)) return TRUE;
    return fail(error, PLUMB_ERROR_CONFIG, "%s: %s is refused: %.*s", client->address, wire_login_by(login),
                (int)said->len, (const char *)said->data);
}

/* The handshake comes with the first bytes. */
static gboolean begin_security(WireClient *client, GError **error) {
    const gboolean tls = wire_security_is_set(client->security);
    if (tls) client->ssl = wire_tls_new(client->security, client->host, client->fd, error);
    const gboolean safe = !tls || client->ssl != NULL;
    if (safe && (!wire_login_is_set(client->security) || log_in(client, error))) return TRUE;
    disconnect(client);
    return FALSE;
}

static gboolean reconnect(WireClient *client, GError **error) {
    const gint64 deadline_ms = now_ms() + client->timeout_ms;
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const int resolved = getaddrinfo(client->host, client->port, &hints, &found);
    if (resolved != 0)
        return fail(error, PLUMB_ERROR_PEER, "%s: %s; check the name and the port", client->address,
                    gai_strerror(resolved));
    int err = EADDRNOTAVAIL;
    for (const struct addrinfo *to = found; to != NULL && client->fd < 0; to = to->ai_next)
        err = connect_one(to, deadline_ms, &client->fd);
    freeaddrinfo(found);
    if (client->fd >= 0) return begin_security(client, error);
    return fail(error, PLUMB_ERROR_PEER, "%s: %s; check that plumbd runs and listens there", client->address,
                g_strerror(err));
}

WireClient *wire_client_connect(const char *address, const WireSecurity *security, gint timeout_ms, GError **error) {
    g_autoptr(WireClient) client = g_new0(WireClient, 1);
    client->fd = -1;
    client->address = g_strdup(address);
    client->security = security;
    client->timeout_ms = timeout_ms;
    client->request = g_byte_array_new();
    if (!split_address(address, &client->host, &client->port)) {
        fail(error, PLUMB_ERROR_PEER, "%s: not an address; write host:port or [IPv6 address]:port", address);
        return NULL;
    }
    return reconnect(client, error) ? g_steal_pointer(&client) : NULL;
}

/* One request and its reply. After an error the connection is of no use: a late reply would answer the wrong call. */
static gboolean exchange(WireClient *client, WireReply *reply, GError **error) {
    const gint64 deadline_ms = now_ms() + client->timeout_ms;
    guint8 buffer[REPLY_BYTES];
    Bytes frame = {NULL, 0};

    int err = send_all(client, client->request->data, client->request->len, deadline_ms);
    if (err == 0) err = receive_frame(client, buffer, deadline_ms, &frame);
    if (err == EPROTO && client->ssl != NULL) return fail_security(client, error);
    if (err != 0) {
        disconnect(client);
        client->answered = err == EPROTO; /* another protocol is spoken there, and will be the next time */
        if (err == EPROTO || err == ETIMEDOUT)
            return fail(error, PLUMB_ERROR_PEER, "%s: %s; is it plumbd's port for spans (listen.thrift)?",
                        client->address, err == EPROTO ? "no Thrift is spoken there" : g_strerror(err));
        return fail(error, PLUMB_ERROR_PEER, "%s: %s; look into the receiver's log", client->address, g_strerror(err));
    }

    client->answered = TRUE;
    gint32 sequence;
    WireReply received;
    if (!reply_decode(frame, &received, &sequence, error)) {
        disconnect(client);
        g_prefix_error(error, "%s: ", client->address);
        return FALSE;
    }
    if (sequence != client->sequence) {
        disconnect(client);
        return fail(error, PLUMB_ERROR_PEER, "%s: the reply belongs to another call", client->address);
    }

    received.sampling = (BatchString){0}; /* it is in the buffer here, and of no use to those who send what is there */
    *reply = received;
    return TRUE;
}

/* What a call carries: one of both. */
typedef struct Cargo {
    const SpanBatch *batch;
    const SparkRecords *records;
} Cargo;

static gboolean submit(WireClient *client, const Cargo *cargo, WireReply *reply, GError **error) {
    client->answered = FALSE;
    if (client->fd < 0 && !reconnect(client, error)) return FALSE;
    g_byte_array_set_size(client->request, 0);
    if (cargo->batch != NULL)
        wire_batch_encode(cargo->batch, PROTOCOL_COMPACT, ++client->sequence, client->request);
    else
        wire_records_encode(cargo->records, PROTOCOL_COMPACT, ++client->sequence, client->request);
    return exchange(client, reply, error);
}

static void sleep_ms(gint64 ms) {
    if (ms > 0) g_usleep((gulong)ms * 1000);
}

static gboolean deliver(WireClient *client, const Cargo *cargo, gint64 give_up_ms, WireReply *reply, GError **error) {
    const gint64 deadline_ms = now_ms() + give_up_ms;
    gint64 pause_ms = RECONNECT_FIRST_MS;

    for (;;) {
        g_autoptr(GError) cause = NULL;
        WireReply received = {.status = REPLY_TRY_LATER};
        const gboolean answered = submit(client, cargo, &received, &cause);
        if (answered && received.status != REPLY_TRY_LATER) {
            *reply = received;
            return TRUE;
        }
        /* An answer that is no reply (an exception) is there on purpose: the same bytes would get it again. */
        if (!answered && client->answered) {
            g_propagate_error(error, g_steal_pointer(&cause));
            return FALSE;
        }

        const gint64 left_ms = deadline_ms - now_ms();
        if (left_ms <= 0) {
            if (answered)
                return fail(error, PLUMB_ERROR_BUSY,
                            "%s: the receiver still takes nothing after %" G_GINT64_FORMAT " ms", client->address,
                            give_up_ms);
            g_propagate_error(error, g_steal_pointer(&cause));
            return FALSE;
        }

        const gint64 wanted_ms = answered ? MAX(received.wait_ms, 1) : pause_ms;
        sleep_ms(MIN(wanted_ms, left_ms));
        if (!answered) pause_ms = MIN(2 * pause_ms, RECONNECT_MOST_MS);
    }
}

gboolean wire_client_submit(WireClient *client, const SpanBatch *batch, WireReply *reply, GError **error) {
    return submit(client, &(Cargo){.batch = batch}, reply, error);
}

gboolean wire_client_deliver(WireClient *client, const SpanBatch *batch, gint64 give_up_ms, WireReply *reply,
                             GError **error) {
    return deliver(client, &(Cargo){.batch = batch}, give_up_ms, reply, error);
}

gboolean wire_client_deliver_records(WireClient *client, const SparkRecords *records, gint64 give_up_ms,
                                     WireReply *reply, GError **error) {
    return deliver(client, &(Cargo){.records = records}, give_up_ms, reply, error);
}
