#include "receiver/net/connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "receiver/secure/sasl.h"
#include "receiver/secure/transport.h"
#include "receiver/shared/log.h"

#define PARTIAL_FIRST_BYTES (16u * 1024)
/* An empty buffer goes after so long without traffic. */
#define PARTIAL_KEEP_NS NS_PER_SEC
/* So long a frame may take whose peer has more memory than its share, while others need some. */
#define FRAME_IN_THE_WAY_NS (2 * NS_PER_SEC)

/* A message of a login by Kerberos, on its way to the thread that judges it and back. */
typedef struct LoginStep {
    Errand errand;
    NetContext *context;
    char peer[PEER_NAME_BYTES];
    Connection *connection; /* NULL: it is closed */
    KerberosLogin *login;
    GByteArray *message, *answer;
    KerberosResult result;
    GError *error;
} LoginStep;

struct Connection {
    NetContext *context;
    GList link;            /* in context->connections */
    GList stall_link;      /* in context->stalled, while 'stalled' */
    Stranger stranger;     /* in context->strangers, while it has not logged in and has to */
    QuotaAccount *account; /* NULL: it has no quota, or is not known yet */
    gboolean has_account;  /* 'account' is set, and the connection counts to it */
    Transport transport;
    PeerPlace *place;
    const PackLimit *limit; /* what its peer may add to the dictionary */
    struct event *readable, *writable, *resume;
    struct event *again;              /* for what the transport holds; NULL: it is plain, and holds nothing */
    KerberosLogin *kerberos;          /* a login by it under way; NULL: none, or 'step' has it */
    LoginStep *step;                  /* being judged, and nothing is read meanwhile; NULL: none */
    gboolean login_begun, login_over; /* of SASL; it is over, too, when the first frame comes */
    char *principal;                  /* who has logged in; NULL: nobody */
    TokenMark token;                  /* by which */
    guint roles;                      /* what the peer may do, by the rules of 'generation' */
    guint generation;
    gboolean told_denied; /* the audit log has it that the peer may not send */
    gint64 opened_ns;
    guint8 *partial; /* start of a frame whose end has not come */
    gsize partial_bytes, partial_capacity;
    gsize needed_bytes; /* of partial, to get on */
    GByteArray *out;
    gboolean touched, dead, paused, reading, stalled;
    gint64 last_ns;          /* when the peer last sent something */
    gint64 frame_since_ns;   /* when the first byte of partial came */
    gint64 unread_since_ns;  /* when 'out' stopped moving; 0: it is empty */
    gint64 stalled_since_ns; /* when 'stalled', and then until a frame is taken: it has waited for that one; else 0 */
};

static gint64 now_monotonic_ns(void) { return clock_monotonic_ns(clock_system()); }

static void note_traffic(Connection *connection) {
    connection->last_ns = now_monotonic_ns();
    atomic_store_explicit(&connection->place->active_ns, connection->last_ns, memory_order_relaxed);
}

static void touch(Connection *connection) {
    if (connection->touched) return;
    connection->touched = TRUE;
    g_ptr_array_add(connection->context->touched, connection);
}

/* No event tells of what the transport holds: it is read in the next round. */
static void read_again(Connection *connection) {
    static const struct timeval at_once = {0, 0};
    if (connection->reading && transport_holds(&connection->transport)) evtimer_add(connection->again, &at_once);
}

static void read_on(Connection *connection, gboolean on) {
    if (connection->reading == on) return;
    connection->reading = on;
    if (on) read_again(connection);
    if (on)
        event_add(connection->readable, NULL);
    else
        event_del(connection->readable);
}

static void tell_audit(const Connection *connection, AuditAction action, const char *outcome) {
    const AuditEvent event = {.action = action,
                              .port = connection->context->protocol->port,
                              .principal = connection->principal,
                              .address = peer_place_name(connection->place),
                              .outcome = outcome};
    audit_note(connection->context->audit, &event);
}

static void step_free(void *data) {
    LoginStep *step = data;
    kerberos_login_free(step->login);
    g_byte_array_unref(step->message);
    g_byte_array_unref(step->answer);
    g_clear_error(&step->error);
    g_free(step);
}

/* It has come back, or nobody waits for it any more. */
static LoginStep *leave_step(Connection *connection) {
    LoginStep *step = g_steal_pointer(&connection->step);
    if (step != NULL) peer_buffer(connection->place, step->message->len, 0);
    return step;
}

static void drop_step(Connection *connection) {
    LoginStep *step = leave_step(connection);
    if (step == NULL) return;
    step->connection = NULL;
    if (errands_withdraw(connection->context->errands, &step->errand)) step_free(step);
}

/* Closes it at the end of the round: replies in flight point into it. */
static void give_up(Connection *connection, Counter reason) {
    if (connection->dead) return;
    drop_step(connection);
    connection->dead = TRUE;
    touch(connection);
    read_on(connection, FALSE);
    event_del(connection->writable);
    event_del(connection->resume);
    if (connection->again != NULL) event_del(connection->again);
    closing_tell(&connection->context->port, connection->place, connection->principal, reason);
}

/* FALSE: more than the peer's share, and nothing changed. */
static gboolean set_capacity(Connection *connection, gsize capacity) {
    if (!peer_buffer(connection->place, connection->partial_capacity, capacity)) return FALSE;
    connection->partial_capacity = capacity;
    if (capacity > 0) {
        connection->partial = g_realloc(connection->partial, capacity);
    } else {
        g_free(connection->partial);
        connection->partial = NULL;
    }
    return TRUE;
}

/* Room for at least one more byte and, once they have come, for all of the frame. FALSE: over the peer's share. */
static gboolean grow_partial(Connection *connection, gsize at_least) {
    gsize wanted = MAX(MIN(connection->needed_bytes, 4 * at_least), at_least);
    wanted = MAX(wanted, PARTIAL_FIRST_BYTES);
    return wanted <= connection->partial_capacity || set_capacity(connection, wanted);
}

static void set_strange(Connection *connection, gboolean strange) {
    NetContext *context = connection->context;
    if ((connection->stranger.group != NULL) == strange) return;
    atomic_fetch_add(context->strangers_inside, strange ? 1u : -1u);
    if (strange)
        strangers_add(context->strangers, &connection->stranger, connection->place->peer);
    else
        strangers_remove(context->strangers, &connection->stranger);
}

static void leave_account(Connection *connection) {
    if (!connection->has_account) return;
    connection->has_account = FALSE;
    quota_disconnect(connection->account);
    quota_account_free(g_steal_pointer(&connection->account));
}

static void connection_free(Connection *connection) {
    NetContext *context = connection->context;
    set_strange(connection, FALSE);
    leave_account(connection);
    event_free(connection->readable);
    event_free(connection->writable);
    event_free(connection->resume);
    if (connection->again != NULL) event_free(connection->again);
    set_capacity(connection, 0);
    transport_clear(&connection->transport);
    peer_place_free(connection->place);
    close(connection->transport.fd);
    g_free(connection->principal);
    kerberos_login_free(connection->kerberos);
    g_byte_array_unref(connection->out);
    if (connection->stalled) g_queue_unlink(&context->stalled, &connection->stall_link);
    g_queue_unlink(&context->connections, &connection->link);
    counter_add(context->counters, COUNTER_CONNECTIONS_CLOSED, 1);
    g_free(connection);
}

/* ---- who the peer is ---- */

static gboolean may_send(const Connection *connection) { return access_suffices(connection->roles, ACCESS_WRITE); }

static void set_roles(Connection *connection) {
    const NetContext *context = connection->context;
    connection->generation = security_generation(context->security);
    if (connection->principal != NULL && !security_knows(context->security, connection->principal, connection->token))
        g_clear_pointer(&connection->principal, g_free);
    connection->roles = security_roles(context->security, connection->principal, connection->token, context->open);
    connection->told_denied = FALSE;
    if (connection->principal != NULL || may_send(connection)) set_strange(connection, FALSE);
}

/* Who the peer is is known. FALSE: it has as many connections as it may. */
static gboolean join_account(Connection *connection) {
    const NetContext *context = connection->context;
    leave_account(connection);
    QuotaAccount *account = quota_account(context->quotas, connection->principal, peer_place_name(connection->place));
    if (!quota_connect(account)) {
        quota_refused(account, QUOTA_CONNECTIONS);
        quota_account_free(account);
        return FALSE;
    }
    connection->account = account;
    connection->has_account = TRUE;
    return TRUE;
}

static void on_end(Connection *connection, ssize_t result, int err) {
    if (result < 0 && (err == EAGAIN || err == EINTR)) {
        if (connection->transport.wants_room) event_add(connection->writable, NULL);
        return;
    }
    if (result < 0 && err == EPROTO) {
        give_up(connection, COUNTER_CLOSED_TLS);
        return;
    }
    /* The end of the stream inside of a frame: the sender died, or its batch was cut. */
    give_up(connection, connection->partial_bytes > 0 ? COUNTER_FRAME_CUT : COUNTER_COUNT);
}

/* ---- reading ---- */

static void look_again(const NetContext *context) {
    const struct timeval wait = {0, NET_STALL_PAUSE_MS * 1000};
    evtimer_add(context->unstall, &wait);
}

static void pause_reading(Connection *connection, gint32 ms) {
    struct timeval wait = {ms / 1000, ms % 1000 * 1000};
    read_on(connection, FALSE);
    evtimer_add(connection->resume, &wait);
    connection->paused = TRUE;
}

/* Keeps what is left of a stream that lies in scratch or at 'from' in partial. */
static void keep_rest(Connection *connection, const guint8 *rest, gsize rest_bytes) {
    if (rest_bytes == 0) {
        connection->partial_bytes = 0;
        return;
    }
    gboolean inside = connection->partial_bytes > 0;
    if (!inside && !grow_partial(connection, rest_bytes)) {
        give_up(connection, COUNTER_CLOSED_BUFFERS);
        return;
    }
    memmove(connection->partial, rest, rest_bytes);
    connection->partial_bytes = rest_bytes;
}

/* Is there something to wait for in line? */
static gboolean is_busy(const NetContext *context) {
    const Pressure pressure = intake_pressure(context->intake);
    return pressure == PRESSURE_QUEUES || (pressure == PRESSURE_SHUT && context->protocol->waits_shut);
}

/* Must it wait for room in the queues? One that was in line need not, for one frame. */
static gboolean must_wait(const Connection *connection) {
    const NetContext *context = connection->context;
    if (connection->stalled_since_ns > 0) return FALSE;
    return context->stalled.length > 0 || is_busy(context);
}

/* Has it wait in line. What its peer sends meanwhile stays where the kernel has it, and is no memory of ours. */
static void stall(Connection *connection) {
    NetContext *context = connection->context;
    read_on(connection, FALSE);
    connection->stalled = TRUE;
    connection->stalled_since_ns = now_monotonic_ns();
    g_queue_push_tail_link(&context->stalled, &connection->stall_link);
    if (context->stalled.length == 1) look_again(context);
}

/* Once, until the rules change: its sender tries again and again. */
static void tell_denied(Connection *connection) {
    if (connection->told_denied) return;
    connection->told_denied = TRUE;
    tell_audit(connection, AUDIT_DENIED, "lacks the role write");
}

/* One whole frame. FALSE: nothing more is to be read for now; *pause_ms says for how long, 0 when the connection waits
 * in line or is done with. */
static gboolean take_frame(Connection *connection, Bytes frame, gint32 *pause_ms) {
    NetContext *context = connection->context;
    if (must_wait(connection)) {
        stall(connection);
        return FALSE;
    }
    connection->stalled_since_ns = 0;
    touch(connection);
    if (G_UNLIKELY(!connection->has_account) && !join_account(connection)) {
        give_up(connection, COUNTER_CLOSED_QUOTA);
        return FALSE;
    }

    intake_set_limit(context->intake, connection->limit);
    intake_set_quota(context->intake, connection->account);
    intake_set_allowed(context->intake, may_send(connection));
    const SpanSource source = {connection->principal, peer_place_name(connection->place), context->protocol->port};
    intake_set_source(context->intake, &source);
    if (G_UNLIKELY(!may_send(connection))) tell_denied(connection);

    switch (context->protocol->take(context->intake, frame, connection->out)) {
    case INTAKE_TAKEN: break;
    case INTAKE_LATER:
        /* A sender that does not wait must not keep us busy with what cannot be taken. */
        *pause_ms = intake_pause_ms(context->intake);
        break;
    case INTAKE_BROKEN: give_up(connection, COUNTER_FRAME_GARBAGE); return FALSE;
    }

    if (intake_pending_bytes(context->intake) > NET_PENDING_BYTES) intake_commit(context->intake);
    return TRUE;
}

/* Takes all whole frames off a stream; returns how many bytes that were. */
static gsize take_frames(Connection *connection, Bytes stream) {
    const NetContext *context = connection->context;
    const guint8 *start = stream.data;
    gsize at = 0;
    gint32 pause_ms = 0;
    FrameCut cut;
    connection->needed_bytes = 0;

    while (!connection->dead && at < stream.size_bytes) {
        const Bytes rest = {start + at, stream.size_bytes - at};
        FrameState state = context->protocol->cut(rest, context->limits.frame_bytes, &cut);
        if (state == FRAME_PARTIAL) {
            connection->needed_bytes = cut.needed_bytes;
            break;
        }

        if (state == FRAME_WHOLE) {
            connection->needed_bytes = cut.needed_bytes;
            if (!take_frame(connection, cut.frame, &pause_ms)) break;
            at += cut.needed_bytes;
            continue;
        }
        give_up(connection, state == FRAME_TOO_LARGE ? COUNTER_FRAME_TOO_LARGE : COUNTER_FRAME_GARBAGE);
    }

    if (pause_ms > 0 && !connection->dead && !connection->stalled) pause_reading(connection, pause_ms);
    return at;
}

static void send_out(Connection *connection);

static void refuse_login(Connection *connection, const char *why) {
    sasl_append(connection->out, SASL_ERROR, why);
    tell_audit(connection, AUDIT_LOGIN_REFUSED, why);
    send_out(connection); /* now: at the end of the round there is no connection */
    give_up(connection, COUNTER_CLOSED_BAD_LOGIN);
}

/* Who the peer is is known. */
static void complete_login(Connection *connection, char *principal) {
    g_free(connection->principal);
    connection->principal = principal;
    connection->login_over = TRUE;
    set_roles(connection);
    if (!join_account(connection)) {
        refuse_login(connection, "it has as many connections as quota.connections lets it");
        return;
    }
    tell_audit(connection, AUDIT_LOGIN, "ok");
    sasl_append(connection->out, SASL_COMPLETE, "");
    touch(connection);
}

static void answer_plain(Connection *connection, const SaslMessage *message) {
    g_autofree char *user = NULL, *token = NULL, *principal = NULL;
    if (sasl_plain_parse(message->payload, &user, &token))
        principal = security_token(connection->context->security, user, token, &connection->token);
    if (token != NULL) explicit_bzero(token, strlen(token));
    if (principal == NULL)
        refuse_login(connection, "there is no such token, or it has ended");
    else
        complete_login(connection, g_steal_pointer(&principal));
}

/* On the thread for errands. */
static void step_work(Errand *errand) {
    LoginStep *step = (LoginStep *)errand;
    const Bytes message = {step->message->data, step->message->len};
    step->result = kerberos_login_step(step->login, message, step->answer, &step->error);
}

static void go_on(Connection *connection);

/* Its peer left meanwhile: what it tried is told all the same. */
static void tell_gone(const LoginStep *step) {
    if (step->result != KERBEROS_REFUSED) return;
    const AuditEvent event = {.action = AUDIT_LOGIN_REFUSED,
                              .port = step->context->protocol->port,
                              .address = step->peer,
                              .outcome = step->error->message};
    audit_note(step->context->audit, &event);
}

static void step_back(Errand *errand) {
    LoginStep *step = (LoginStep *)errand;
    Connection *connection = step->connection;
    if (connection == NULL) {
        tell_gone(step);
        step_free(step);
        return;
    }

    leave_step(connection);
    connection->stranger.got_on_ns = now_monotonic_ns();
    connection->opened_ns += connection->stranger.got_on_ns - connection->last_ns; /* the wait was ours */
    switch (step->result) {
    case KERBEROS_GOES_ON:
        connection->kerberos = g_steal_pointer(&step->login);
        sasl_append_bytes(connection->out, SASL_OK, (Bytes){step->answer->data, step->answer->len});
        touch(connection);
        break;
    case KERBEROS_DONE: complete_login(connection, g_strdup(kerberos_login_principal(step->login))); break;
    case KERBEROS_REFUSED: refuse_login(connection, step->error->message); break;
    }
    step_free(step);
    if (!connection->dead) go_on(connection);
}

/* What the answer is: once it was judged. */
static void answer_kerberos(Connection *connection, const SaslMessage *message) {
    NetContext *context = connection->context;
    if (!peer_buffer(connection->place, 0, message->payload.size_bytes)) {
        give_up(connection, COUNTER_CLOSED_BUFFERS);
        return;
    }
    LoginStep *step = g_new0(LoginStep, 1);
    step->errand = (Errand){.work = step_work, .back = step_back, .free = step_free, .home = context->done};
    step->context = context;
    g_strlcpy(step->peer, peer_place_name(connection->place), sizeof step->peer);
    step->connection = connection;
    step->login = g_steal_pointer(&connection->kerberos);
    step->message = g_byte_array_new();
    g_byte_array_append(step->message, message->payload.data, (guint)message->payload.size_bytes);
    step->answer = g_byte_array_new();
    connection->step = step;
    read_on(connection, FALSE);
    errands_give(context->errands, &step->errand);
}

static void begin_login(Connection *connection, const SaslMessage *message) {
    g_autoptr(Kerberos) kerberos = security_kerberos(connection->context->security);
    connection->login_begun = TRUE;
    if (sasl_is_gssapi(message) && kerberos != NULL)
        connection->kerberos = kerberos_login_new(kerberos);
    else if (connection->transport.ssl == NULL)
        refuse_login(connection, "a login needs TLS: others could read it");
    else if (!sasl_is_plain(message))
        refuse_login(connection, kerberos != NULL ? "this receiver knows the mechanisms GSSAPI and PLAIN"
                                                  : "this receiver knows the mechanism PLAIN");
}

static void answer_login(Connection *connection, const SaslMessage *message) {
    connection->stranger.got_on_ns = connection->last_ns;
    if (!connection->login_begun)
        begin_login(connection, message);
    else if (message->status != SASL_OK && message->status != SASL_COMPLETE)
        refuse_login(connection, "the login was broken off");
    else if (connection->kerberos != NULL)
        answer_kerberos(connection, message);
    else
        answer_plain(connection, message);
}

/* What comes before the first frame; returns how many bytes that was. FALSE in *frames: more must come first. */
static gsize take_login(Connection *connection, Bytes stream, gboolean *frames) {
    const guint8 *start = stream.data;
    gsize at = 0;
    *frames = FALSE;
    while (!connection->dead && !connection->login_over && connection->step == NULL && at < stream.size_bytes) {
        SaslMessage message;
        const Bytes rest = {start + at, stream.size_bytes - at};
        switch (sasl_cut(rest, connection->login_begun, &message)) {
        case SASL_FRAMES: connection->login_over = TRUE; break;
        case SASL_PARTIAL: connection->needed_bytes = message.needed_bytes; return at;
        case SASL_GARBAGE: give_up(connection, COUNTER_FRAME_GARBAGE); break;
        case SASL_WHOLE:
            at += message.needed_bytes;
            answer_login(connection, &message);
            break;
        }
    }
    *frames = connection->login_over;
    return at;
}

static gsize take_all(Connection *connection, Bytes stream) {
    if (G_LIKELY(connection->login_over)) return take_frames(connection, stream);
    gboolean frames;
    const gsize at = take_login(connection, stream, &frames);
    if (!frames || connection->dead) return at;
    return at + take_frames(connection, (Bytes){(const guint8 *)stream.data + at, stream.size_bytes - at});
}

static void take_stream(Connection *connection, const guint8 *start, gsize size_bytes) {
    gboolean was_partial = connection->partial_bytes > 0;
    gsize taken = take_all(connection, (Bytes){start, size_bytes});
    if (was_partial && taken > 0) intake_commit(connection->context->intake); /* its frames are about to move */
    if (connection->dead) return;
    if (taken > 0 || !was_partial) connection->frame_since_ns = connection->last_ns;
    keep_rest(connection, start + taken, size_bytes - taken);
}

static void read_some(Connection *connection) {
    NetContext *context = connection->context;
    gboolean partial = connection->partial_bytes > 0;
    if (partial && !grow_partial(connection, connection->partial_bytes + 1)) {
        give_up(connection, COUNTER_CLOSED_BUFFERS);
        return;
    }

    if (!partial && NET_SCRATCH_BYTES - context->scratch_used < NET_READ_BYTES) connections_answer(context, FALSE);
    guint8 *into = partial ? connection->partial + connection->partial_bytes : context->scratch + context->scratch_used;
    gsize room = partial ? connection->partial_capacity - connection->partial_bytes : NET_READ_BYTES;
    ssize_t got = transport_read(&connection->transport, into, room);
    if (got <= 0) {
        on_end(connection, got, errno);
        return;
    }

    counter_add(context->counters, COUNTER_BYTES_RECEIVED, (guint64)got);
    note_traffic(connection);
    if (!partial) {
        context->scratch_used += (gsize)got; /* its frames stay there until they are in the journal */
        take_stream(connection, into, (gsize)got);
        return;
    }

    connection->partial_bytes += (gsize)got;
    take_stream(connection, connection->partial, connection->partial_bytes);
}

static void on_readable(evutil_socket_t fd, short what, void *arg) {
    (void)fd, (void)what;
    Connection *connection = arg;
    if (must_wait(connection))
        stall(connection);
    else
        read_some(connection);
    read_again(connection);
}

static void on_again(evutil_socket_t fd, short what, void *arg) {
    const Connection *connection = arg;
    if (connection->reading) on_readable(fd, what, arg);
}

/* Goes on with what has come. */
static void go_on(Connection *connection) {
    connection->last_ns = now_monotonic_ns(); /* the wait was ours, not the peer's */
    connection->frame_since_ns = connection->last_ns;
    if (!connection->unread_since_ns) read_on(connection, TRUE);
    if (connection->partial_bytes > 0) take_stream(connection, connection->partial, connection->partial_bytes);
}

/* Those in line for which there is room, or that have waited for long enough. */
static void on_unstall(evutil_socket_t fd, short what, void *arg) {
    (void)fd, (void)what;
    NetContext *context = arg;
    const gint64 now_ns = now_monotonic_ns();
    for (GList *first; (first = context->stalled.head) != NULL;) {
        Connection *connection = first->data;
        if (is_busy(context) && now_ns - connection->stalled_since_ns < context->protocol->wait_most_ns) break;
        g_queue_unlink(&context->stalled, first);
        connection->stalled = FALSE;
        if (connection->dead) continue;
        gboolean partial = connection->partial_bytes > 0;
        go_on(connection);
        if (!partial && connection->reading) read_some(connection);
        read_again(connection);
    }
    if (context->stalled.length > 0) look_again(context);
}

static void on_resume(evutil_socket_t fd, short what, void *arg) {
    (void)fd, (void)what;
    Connection *connection = arg;
    connection->paused = FALSE;
    go_on(connection);
}

/* ---- writing ---- */

static void send_out(Connection *connection) {
    GByteArray *out = connection->out;
    while (out->len > 0) {
        ssize_t sent = transport_write(&connection->transport, out->data, out->len);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && errno != EAGAIN) {
            out->len = 0;
            give_up(connection, COUNTER_COUNT);
            return;
        }
        if (sent < 0) break;
        g_byte_array_remove_range(out, 0, (guint)sent);
        connection->unread_since_ns = 0;
    }

    if (connection->dead) return;
    if (out->len == 0) {
        if (!connection->paused && !connection->stalled && connection->step == NULL) read_on(connection, TRUE);
        return;
    }

    /* A peer that does not read its replies is not read from either. */
    if (!connection->unread_since_ns) connection->unread_since_ns = now_monotonic_ns();
    read_on(connection, FALSE);
    event_add(connection->writable, NULL);
    if (out->len > NET_OUT_BYTES_MAX) give_up(connection, COUNTER_CLOSED_UNREAD);
}

static void on_writable(evutil_socket_t fd, short what, void *arg) {
    Connection *connection = arg;
    if (connection->transport.wants_room) {
        connection->transport.wants_room = FALSE;
        if (connection->reading) on_readable(fd, what, connection);
    }
    if (!connection->dead) send_out(connection);
}

static void flush(NetContext *context, gboolean round_ends) {
    guint kept = 0;
    for (guint i = 0; i < context->touched->len; i++) {
        Connection *connection = g_ptr_array_index(context->touched, i);
        if (!connection->dead) send_out(connection);
        if (connection->dead && !round_ends) {
            context->touched->pdata[kept++] = connection; /* somebody up the stack may be at work on it */
            continue;
        }
        connection->touched = FALSE;
        if (connection->dead) connection_free(connection);
    }
    g_ptr_array_set_size(context->touched, (gint)kept);
}

void connections_answer(NetContext *context, gboolean round_ends) {
    intake_commit(context->intake);
    context->scratch_used = 0;
    if (!round_ends && intake_syncs(context->intake)) return; /* one sync for the whole round */
    intake_finish(context->intake);
    flush(context, round_ends);
}

/* ---- life ---- */

void connections_init(NetContext *context) {
    context->port = (ClosingPort){context->protocol->port, context->counters, context->audit};
    context->scratch = g_malloc(NET_SCRATCH_BYTES);
    context->touched = g_ptr_array_new();
    g_queue_init(&context->connections);
    context->strangers = strangers_new();
    g_queue_init(&context->stalled);
    context->unstall = evtimer_new(context->base, on_unstall, context);
}

void connections_clear(NetContext *context) {
    event_free(context->unstall);
    strangers_free(context->strangers);
    g_free(context->scratch);
    g_ptr_array_unref(context->touched);
}

/* It has not logged in, and has to. Past a limit one gives way. */
static void let_strangers_in(Connection *connection) {
    NetContext *context = connection->context;
    set_strange(connection, TRUE);
    if (strangers_count(context->strangers) <= context->limits.strangers) return;
    Connection *gives_way = strangers_who_gives_way(context->strangers, now_monotonic_ns())->owner;
    set_strange(gives_way, FALSE);
    give_up(gives_way, COUNTER_CLOSED_STRANGERS);
}

/* Under TLS its certificate is there, too, if it shows one. */
static void begin_tls(Connection *connection) {
    connection->again = evtimer_new(connection->context->base, on_again, connection);
    connection->principal = tls_principal(connection->transport.ssl);
    if (connection->principal != NULL) tell_audit(connection, AUDIT_LOGIN, "ok");
}

void connection_open(NetContext *context, const Arrival *arrival) {
    Connection *connection = g_new0(Connection, 1);
    PeerPlace *place = arrival->place;
    const int fd = place->fd, on = 1;
    connection->context = context;
    connection->transport = (Transport){.fd = fd, .ssl = arrival->ssl, .holds = arrival->holds};
    connection->place = place;
    connection->limit = name_quota_of(context->quota, peer_place_name(place));
    connection->out = g_byte_array_new();
    note_traffic(connection);
    connection->opened_ns = arrival->opened_ns;
    connection->stranger = (Stranger){.owner = connection, .fd = fd, .spoke = TRUE, .got_on_ns = connection->last_ns};
    connection->login_over = !context->protocol->logs_in;
    if (arrival->ssl != NULL) begin_tls(connection);
    set_roles(connection);

    connection->readable = event_new(context->base, fd, EV_READ | EV_PERSIST, on_readable, connection);
    connection->writable = event_new(context->base, fd, EV_WRITE, on_writable, connection);
    connection->resume = evtimer_new(context->base, on_resume, connection);
    connection->link.data = connection->stall_link.data = connection;
    g_queue_push_tail_link(&context->connections, &connection->link);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (!may_send(connection)) let_strangers_in(connection);
    if (!connection->dead) read_on(connection, TRUE);
}

/* Is a frame that does not end in the way of others? */
static gboolean is_in_the_way(const Connection *connection, gint64 now_ns) {
    return now_ns - connection->frame_since_ns > FRAME_IN_THE_WAY_NS && peer_is_over(connection->place);
}

/* Its memory is free at once, so that no more frames go than have to. */
static void give_way(Connection *connection) {
    give_up(connection, COUNTER_CLOSED_GAVE_WAY);
    connection->partial_bytes = 0;
    set_capacity(connection, 0);
}

static void tick(Connection *connection, gint64 now_ns) {
    const NetLimits *limits = &connection->context->limits;
    if (connection->generation != security_generation(connection->context->security)) {
        set_roles(connection);
        leave_account(connection); /* and joins it again with the next frame */
    }

    if (connection->step != NULL) {
        connection->stranger.got_on_ns = now_ns; /* it waits for us, and does not hang */
    } else if (connection->principal == NULL && !may_send(connection) &&
               now_ns - connection->opened_ns > limits->login_timeout_ns) {
        give_up(connection, COUNTER_CLOSED_NO_LOGIN);
    } else if (connection->unread_since_ns && now_ns - connection->unread_since_ns > limits->frame_timeout_ns) {
        give_up(connection, COUNTER_CLOSED_UNREAD);
    } else if (connection->paused || connection->stalled || connection->unread_since_ns) {
        return;
    } else if (connection->partial_bytes > 0) {
        if (now_ns - connection->frame_since_ns > limits->frame_timeout_ns)
            give_up(connection, COUNTER_CLOSED_SLOW_FRAME);
        else if (is_in_the_way(connection, now_ns))
            give_way(connection);
    } else if (now_ns - connection->last_ns > limits->idle_timeout_ns) {
        give_up(connection, COUNTER_CLOSED_IDLE);
    } else if (connection->partial_capacity > 0 && now_ns - connection->last_ns > PARTIAL_KEEP_NS) {
        set_capacity(connection, 0);
    }
}

void connections_tick(NetContext *context, gint64 now_ns) {
    for (GList *at = context->connections.head; at; at = at->next) tick(at->data, now_ns);
}

void connections_close_all(NetContext *context) {
    for (GList *at = context->connections.head; at; at = at->next) give_up(at->data, COUNTER_COUNT);
    flush(context, TRUE);
}
