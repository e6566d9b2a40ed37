#include "bench/channel.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/error.h"

/* The receiver sends a ticket when our certificate is good: with TLS 1.3 nothing else tells. */
static int on_ticket(SSL *ssl, SSL_SESSION *session) {
    (void)session;
    ((Channel *)SSL_get_app_data(ssl))->greeted = TRUE;
    return 0;
}

static gboolean use_files(SSL_CTX *context, const ChannelFiles *files, GError **error) {
    const gboolean good =
        SSL_CTX_load_verify_locations(context, files->ca, NULL) == 1 &&
        (files->certificate == NULL || (SSL_CTX_use_certificate_chain_file(context, files->certificate) == 1 &&
                                        SSL_CTX_use_PrivateKey_file(context, files->key, SSL_FILETYPE_PEM) == 1));
    return good || fail(error, PLUMB_ERROR_CONFIG, "TLS: %s", ERR_reason_error_string(ERR_peek_last_error()));
}

SSL_CTX *channel_context_new(const ChannelFiles *files, GError **error) {
    if (files->ca == NULL) return NULL;
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(context,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, on_ticket);
    if (use_files(context, files, error)) return context;
    SSL_CTX_free(context);
    return NULL;
}

void channel_context_free(SSL_CTX *context) { SSL_CTX_free(context); }

void channel_open(Channel *channel, int fd, SSL_CTX *context) {
    *channel = (Channel){.fd = fd};
    if (context == NULL) return;
    channel->ssl = SSL_new(context);
    SSL_set_app_data(channel->ssl, channel);
    SSL_set_fd(channel->ssl, fd);
    SSL_set_connect_state(channel->ssl);
    ERR_clear_error();
    SSL_do_handshake(channel->ssl); /* what fails is told by the next call */
}

void channel_close(Channel *channel) {
    SSL_free(channel->ssl);
    close(channel->fd);
    *channel = (Channel){.fd = -1};
}

static gssize result_of(const Channel *channel, int result, gboolean *wants_room) {
    const int at_errno = errno;
    *wants_room = FALSE;
    switch (SSL_get_error(channel->ssl, result)) {
    case SSL_ERROR_ZERO_RETURN: return 0;
    case SSL_ERROR_WANT_WRITE:
        *wants_room = TRUE;
        errno = EAGAIN;
        return -1;
    case SSL_ERROR_WANT_READ: errno = EAGAIN; return -1;
    case SSL_ERROR_SYSCALL: errno = at_errno != 0 && at_errno != EAGAIN ? at_errno : ECONNRESET; return -1;
    default: errno = EPROTO; return -1;
    }
}

/* Of the parts, what one record holds: an agent has its batch in one piece, too. */
static gsize gather(const struct iovec *parts, guint n, guint8 record[SSL3_RT_MAX_PLAIN_LENGTH]) {
    gsize have = 0;
    for (guint i = 0; i < n; i++) {
        const gsize more = MIN(parts[i].iov_len, SSL3_RT_MAX_PLAIN_LENGTH - have);
        memcpy(record + have, parts[i].iov_base, more);
        have += more;
    }
    return have;
}

gssize channel_send(Channel *channel, const struct iovec *parts, guint n, gboolean *wants_room) {
    if (channel->ssl == NULL) {
        struct msghdr message = {.msg_iov = (struct iovec *)(guintptr)parts, .msg_iovlen = n};
        *wants_room = TRUE;
        return sendmsg(channel->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    guint8 record[SSL3_RT_MAX_PLAIN_LENGTH];
    const gsize size = gather(parts, n, record);
    gsize sent;
    ERR_clear_error();
    errno = 0;
    const int result = SSL_write_ex(channel->ssl, record, size, &sent);
    if (result == 1) return (gssize)sent;
    const gssize end = result_of(channel, result, wants_room);
    if (end == 0) errno = ECONNRESET;
    return -1;
}

gssize channel_receive(Channel *channel, guint8 *into, gsize room) {
    if (channel->ssl == NULL) return recv(channel->fd, into, room, MSG_DONTWAIT);
    gsize got;
    gboolean wants_room;
    ERR_clear_error();
    errno = 0;
    const int result = SSL_read_ex(channel->ssl, into, room, &got);
    return result == 1 ? (gssize)got : result_of(channel, result, &wants_room);
}
