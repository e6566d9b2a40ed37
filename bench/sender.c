#include "bench/sender.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/wire/message.h"

#define EVENTS       256
#define REPLY_BYTES  16384u
#define RECONNECT_NS (20 * NS_PER_MS)
/* A NameNode's process has so many sending threads, each with a connection. */
#define NAMENODE_THREADS 8u
/* What a sender that is at a rate may be behind and still catch up. */
#define PACE_SLACK_NS (2 * NS_PER_MS)
/* Asks for answers after so many batches. */
#define HEAR_EACH 4u
#define OWN_FIRST 0x7f010000u

typedef struct Connection {
    Channel channel;      /* fd -1: lost */
    gboolean counted;     /* that it is greeted */
    GQueue queue;         /* Frame; the first is under way */
    guint64 offset;       /* of the first frame, sent */
    gboolean waiting_out; /* for room in the socket */
    gboolean told;        /* to wait */
    gint64 retry_ns, begun_ns;
    GByteArray *in; /* half a reply */
} Connection;

struct Sender {
    SenderOptions options;
    Cluster *cluster;
    struct addrinfo *to;
    struct ssl_ctx_st *tls; /* NULL: plain */
    int epoll;
    Connection *connections;
    guint64 unanswered_bytes;
    guint32 lost, told; /* connections */
    gint64 heard_ns;    /* when something was acknowledged last */
    gint64 reconnect_ns;
    gint64 back_ns;  /* when the first of those lost was connected again; 0: none was */
    guint32 greeted; /* connections under TLS */
    guint32 pushed;
    gint64 due_ns; /* when the rate allows the next frame */
    GError *error;
    SenderCounts counts;
};

static gint64 mono_ns(void) { return clock_monotonic_ns(clock_system()); }

static guint latency_cell(gint64 ns) {
    double log2_ns = ns > 1 ? log2((double)ns) : 0;
    return MIN((guint)(log2_ns * LATENCY_STEPS), LATENCIES - 1);
}

gint64 latency_quantile(const guint64 latency[LATENCIES], double share) {
    guint64 all = 0, so_far = 0;
    for (guint i = 0; i < LATENCIES; i++) all += latency[i];
    for (guint i = 0; i < LATENCIES; i++) {
        so_far += latency[i];
        if (all > 0 && (double)so_far >= share * (double)all) return (gint64)exp2((i + 1.0) / LATENCY_STEPS);
    }
    return 0;
}

static void stop_with(Sender *sender, int err, const char *what) {
    if (sender->error == NULL) fail_errno(&sender->error, err, "%s: %s", sender->options.address, what);
}

/* 127.1.0.0 and so on: each connection comes from a host of its own. */
static void bind_own(int fd, guint32 number) {
    const struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(OWN_FIRST + number)};
    (void)!bind(fd, (const struct sockaddr *)&own, sizeof own);
}

/* A connected socket, or -1 with errno. */
static int connect_once(const Sender *sender, guint32 number) {
    const struct addrinfo *to = sender->to;
    int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (sender->options.own_addresses) bind_own(fd, number);
    if (connect(fd, to->ai_addr, to->ai_addrlen) == 0) return fd;
    int err = errno;
    close(fd);
    errno = err;
    return -1;
}

static gboolean open_connection(Sender *sender, guint32 number) {
    Connection *one = &sender->connections[number];
    const int fd = connect_once(sender, number);
    if (fd < 0) return FALSE;
    if (sender->tls != NULL) fcntl(fd, F_SETFL, O_NONBLOCK);
    channel_open(&one->channel, fd, sender->tls);
    one->counted = FALSE;
    one->offset = 0;
    one->waiting_out = FALSE;
    g_byte_array_set_size(one->in, 0);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = number};
    epoll_ctl(sender->epoll, EPOLL_CTL_ADD, fd, &event);
    return TRUE;
}

static void watch_out(Sender *sender, Connection *one, gboolean out) {
    if (one->waiting_out == out) return;
    one->waiting_out = out;
    struct epoll_event event = {.events = EPOLLIN | (out ? EPOLLOUT : 0),
                                .data.u32 = (guint32)(one - sender->connections)};
    epoll_ctl(sender->epoll, EPOLL_CTL_MOD, one->channel.fd, &event);
}

/* What was under way may have come, or not. */
static void lose_connection(Sender *sender, Connection *one) {
    Frame *frame = g_queue_peek_head(&one->queue);
    if (frame != NULL && one->offset >= frame_bytes(frame)) sender->counts.resent += frame->n_spans;
    if (one->counted) sender->greeted--;
    if (sender->lost == 0) sender->back_ns = 0;
    channel_close(&one->channel);
    sender->lost++;
    sender->counts.lost_connections++;
    sender->reconnect_ns = mono_ns() + RECONNECT_NS;
}

static guint parts_from(const Frame *frame, guint64 offset, struct iovec parts[3]) {
    const struct iovec all[3] = {{frame->head->data, frame->head->len},
                                 {frame->spans, frame->spans_bytes},
                                 {(void *)(guintptr)frame->tail, frame->tail_bytes}};
    guint n = 0;
    for (guint i = 0; i < 3; i++) {
        if (offset >= all[i].iov_len) {
            offset -= all[i].iov_len;
            continue;
        }
        parts[n++] = (struct iovec){(guint8 *)all[i].iov_base + offset, all[i].iov_len - offset};
        offset = 0;
    }
    return n;
}

/* Sends of the first frame what the socket takes. */
static void send_some(Sender *sender, Connection *one) {
    Frame *frame = g_queue_peek_head(&one->queue);
    if (frame == NULL || one->channel.fd < 0 || one->told) return;
    const guint64 whole = frame_bytes(frame);
    if (one->begun_ns == 0) one->begun_ns = mono_ns();

    while (one->offset < whole) {
        struct iovec parts[3];
        gboolean wants_room;
        const guint n = parts_from(frame, one->offset, parts);
        const gssize sent = channel_send(&one->channel, parts, n, &wants_room);
        if (sent > 0) {
            one->offset += (guint64)sent;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            watch_out(sender, one, wants_room);
            return;
        } else if (errno != EINTR) {
            lose_connection(sender, one);
            return;
        }
    }

    watch_out(sender, one, FALSE);
}

static void acknowledged(Sender *sender, Connection *one, const WireReply *reply) {
    Frame *frame = g_queue_pop_head(&one->queue);
    SenderCounts *counts = &sender->counts;
    const gint64 now = mono_ns(), took_ns = now - one->begun_ns;

    counts->batches++;
    counts->bytes += frame_bytes(frame);
    counts->accepted += (guint64)reply->accepted;
    counts->refused += (guint64)reply->refused;
    if (frame->acknowledged++ == 0)
        counts->first_time += frame->n_spans;
    else
        counts->again += frame->n_spans;
    counts->latency[latency_cell(took_ns)]++;
    counts->longest_ns = MAX(counts->longest_ns, took_ns);

    sender->unanswered_bytes -= frame_bytes(frame);
    sender->heard_ns = now;
    cluster_release(sender->cluster, frame);

    one->offset = 0;
    one->begun_ns = 0;
    send_some(sender, one);
}

static void answered(Sender *sender, Connection *one, Bytes frame) {
    WireReply reply;
    if (sender->error != NULL) return;
    if (one->queue.head == NULL) {
        stop_with(sender, EPROTO, "answered what was not asked");
    } else if (!wire_reply_decode(frame, &reply, &sender->error)) {
        g_prefix_error(&sender->error, "%s: ", sender->options.address);
    } else if (reply.status == REPLY_OK) {
        acknowledged(sender, one, &reply);
    } else if (reply.status == REPLY_TRY_LATER) {
        sender->counts.try_later++;
        one->offset = 0;
        one->told = TRUE;
        one->retry_ns = mono_ns() + MAX(reply.wait_ms, 1) * NS_PER_MS;
        sender->told++;
    } else {
        fail(&sender->error, PLUMB_ERROR_PEER, "%s: plumbd answered %d: %s", sender->options.address, (int)reply.status,
             reply.message);
    }
}

static void cut_replies(Sender *sender, Connection *one) {
    guint at = 0;
    FrameCut cut;
    while (one->channel.fd >= 0 &&
           frame_cut((Bytes){one->in->data + at, one->in->len - at}, REPLY_BYTES, &cut) == FRAME_WHOLE) {
        answered(sender, one, cut.frame);
        at += (guint)cut.frame.size_bytes + FRAME_HEADER_BYTES;
    }
    if (at > 0) g_byte_array_remove_range(one->in, 0, MIN(at, one->in->len));
}

/* How long it took until all were there again, from the first that could connect. */
static void note_greeting(Sender *sender, Connection *one) {
    if (!one->channel.greeted || one->counted) return;
    one->counted = TRUE;
    if (++sender->greeted < sender->options.connections) return;
    fprintf(stderr, "bench_load: all connections are there\n");
    if (sender->back_ns != 0) sender->counts.reconnect_ns = (guint64)(mono_ns() - sender->back_ns);
    sender->back_ns = 0;
}

static void receive(Sender *sender, Connection *one) {
    guint8 buffer[REPLY_BYTES];
    gssize got;
    while (one->channel.fd >= 0 && (got = channel_receive(&one->channel, buffer, sizeof buffer)) > 0) {
        g_byte_array_append(one->in, buffer, (guint)got);
        cut_replies(sender, one);
        if (one->channel.ssl == NULL) return;
    }
    note_greeting(sender, one);
    if (one->channel.fd < 0) return;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
        if (one->channel.ssl != NULL && !one->waiting_out) send_some(sender, one); /* the handshake went on */
        return;
    }
    lose_connection(sender, one);
}

static void give_up_when_due(Sender *sender, gint64 now) {
    if (sender->error != NULL || now - sender->heard_ns < sender->options.give_up_ms * NS_PER_MS) return;
    if (sender->unanswered_bytes > 0) stop_with(sender, ETIMEDOUT, "nothing was acknowledged for too long");
}

/* Says again what was to wait, and connects again what was lost. */
static void retry_due(Sender *sender, gint64 now) {
    for (guint32 i = 0; sender->told > 0 && i < sender->options.connections; i++) {
        Connection *one = &sender->connections[i];
        if (!one->told || one->retry_ns > now) continue;
        one->told = FALSE;
        sender->told--;
        send_some(sender, one);
    }
    if (sender->lost == 0 || sender->reconnect_ns > now) return;
    sender->reconnect_ns = now + RECONNECT_NS;
    for (guint32 i = 0; sender->lost > 0 && i < sender->options.connections; i++) {
        Connection *one = &sender->connections[i];
        if (one->channel.fd >= 0) continue;
        if (!open_connection(sender, i)) return;
        if (sender->back_ns == 0) sender->back_ns = mono_ns();
        sender->lost--;
        send_some(sender, one);
    }
}

void sender_hear(Sender *sender, gint64 until_ns) {
    struct epoll_event events[EVENTS];
    do {
        gint64 now = mono_ns();
        if (sender->told > 0 || sender->lost > 0) retry_due(sender, now);
        give_up_when_due(sender, now);
        gint64 wait_ns = MAX(until_ns - now, 0);
        if (sender->told > 0 || sender->lost > 0) wait_ns = MIN(wait_ns, NS_PER_MS);
        const struct timespec wait = timespec_of(wait_ns);
        int n = epoll_pwait2(sender->epoll, events, EVENTS, &wait, NULL);
        for (int i = 0; i < n; i++) {
            Connection *one = &sender->connections[events[i].data.u32];
            if (one->channel.fd >= 0 && (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) receive(sender, one);
            if (one->channel.fd >= 0 && (events[i].events & EPOLLOUT) != 0) send_some(sender, one);
        }
    } while (sender->error == NULL && mono_ns() < until_ns);
}

/* The two processes of a host share one; a NameNode has several. */
static guint32 connection_of(const Sender *sender, const Frame *frame) {
    guint32 n = sender->options.connections;
    if (!cluster_is_namenode(sender->cluster, frame->process)) return frame->process / 2 % n;
    return (frame->process * NAMENODE_THREADS + (guint32)(frame->sequence % NAMENODE_THREADS)) % n;
}

/* Time that was not used is lost: after a pause there is no burst. */
static void keep_to_rate(Sender *sender, const Frame *frame) {
    if (sender->options.spans_per_s <= 0) return;
    gint64 now = mono_ns();
    if (sender->due_ns > now) sender_hear(sender, sender->due_ns);
    sender->due_ns =
        MAX(sender->due_ns, now - PACE_SLACK_NS) + (gint64)(frame->n_spans / sender->options.spans_per_s * 1e9);
}

void sender_push(Sender *sender, Frame *frame) {
    keep_to_rate(sender, frame);
    if (sender->error != NULL) {
        cluster_release(sender->cluster, frame);
        return;
    }
    Connection *one = &sender->connections[connection_of(sender, frame)];
    gboolean idle = one->queue.head == NULL;
    g_queue_push_tail(&one->queue, frame);
    if (sender->unanswered_bytes == 0) sender->heard_ns = mono_ns();
    sender->unanswered_bytes += frame_bytes(frame);
    if (idle) send_some(sender, one);
    if (++sender->pushed % HEAR_EACH == 0) sender_hear(sender, 0);
    while (sender->error == NULL && sender->unanswered_bytes > sender->options.most_unanswered_bytes)
        sender_hear(sender, mono_ns() + 10 * NS_PER_MS);
}

gboolean sender_drain(Sender *sender, GError **error) {
    while (sender->error == NULL && sender->unanswered_bytes > 0) sender_hear(sender, mono_ns() + NS_PER_MS);
    if (sender->error == NULL) return TRUE;
    g_propagate_error(error, g_error_copy(sender->error));
    return FALSE;
}

const GError *sender_error(const Sender *sender) { return sender->error; }
SenderCounts sender_counts(const Sender *sender) { return sender->counts; }

static gboolean resolve(Sender *sender, GError **error) {
    const char *colon = strrchr(sender->options.address, ':');
    if (colon == NULL) return fail(error, PLUMB_ERROR_CONFIG, "%s: write host:port", sender->options.address);
    g_autofree char *host = g_strndup(sender->options.address, (gsize)(colon - sender->options.address));
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    int resolved = getaddrinfo(host, colon + 1, &hints, &sender->to);
    if (resolved == 0) return TRUE;
    return fail(error, PLUMB_ERROR_PEER, "%s: %s", sender->options.address, gai_strerror(resolved));
}

static void allow_sockets(guint32 n) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= n + 64) return;
    files.rlim_cur = MIN(files.rlim_max, n + 64);
    setrlimit(RLIMIT_NOFILE, &files);
}

Sender *sender_new(const SenderOptions *options, Cluster *cluster, GError **error) {
    g_autoptr(Sender) sender = g_new0(Sender, 1);
    sender->options = *options;
    sender->cluster = cluster;
    sender->epoll = epoll_create1(EPOLL_CLOEXEC);
    sender->connections = g_new0(Connection, options->connections);
    for (guint32 i = 0; i < options->connections; i++) {
        sender->connections[i].channel.fd = -1;
        sender->connections[i].in = g_byte_array_new();
    }
    if (!resolve(sender, error)) return NULL;
    g_autoptr(GError) failure = NULL;
    sender->tls = channel_context_new(&options->files, &failure);
    if (failure != NULL) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return NULL;
    }
    allow_sockets(options->connections);
    for (guint32 i = 0; i < options->connections; i++) {
        if (open_connection(sender, i)) continue;
        fail_errno(error, errno, "%s: connection %u", options->address, i + 1);
        return NULL;
    }
    return g_steal_pointer(&sender);
}

void sender_free(Sender *sender) {
    if (sender == NULL) return;
    for (guint32 i = 0; i < sender->options.connections; i++) {
        Connection *one = &sender->connections[i];
        for (Frame *frame; (frame = g_queue_pop_head(&one->queue)) != NULL;) cluster_release(sender->cluster, frame);
        if (one->channel.fd >= 0) channel_close(&one->channel);
        g_byte_array_unref(one->in);
    }
    if (sender->epoll >= 0) close(sender->epoll);
    if (sender->to != NULL) freeaddrinfo(sender->to);
    channel_context_free(sender->tls);
    g_clear_error(&sender->error);
    g_free(sender->connections);
    g_free(sender);
}
