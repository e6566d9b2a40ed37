#include "receiver/secure/transport.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include "receiver/secure/tls.h"

void transport_accept(Transport *transport, SSL_CTX *context, gboolean ahead) {
    transport->ssl = tls_session_new(context, ahead);
    SSL_set_fd(transport->ssl, transport->fd);
    SSL_set_accept_state(transport->ssl);
}

/* -1 with errno, or 0 at the end. */
static ssize_t result_of(Transport *transport, int result) {
    const int at_errno = errno;
    switch (SSL_get_error(transport->ssl, result)) {
    case SSL_ERROR_ZERO_RETURN:
        if (!tls_session_is_cut(transport->ssl)) return 0;
        ERR_raise(ERR_LIB_SSL, SSL_R_TOO_MANY_KEY_UPDATES);
        errno = EPROTO;
        return -1;
    case SSL_ERROR_WANT_WRITE:
        transport->wants_room = TRUE;
        errno = EAGAIN;
        return -1;
    case SSL_ERROR_WANT_READ: errno = EAGAIN; return -1;
    case SSL_ERROR_SYSCALL: errno = at_errno != 0 ? at_errno : ECONNRESET; return -1;
    default: errno = EPROTO; return -1;
    }
}

int transport_greet(Transport *transport) {
    ERR_clear_error();
    errno = 0;
    const int result = SSL_do_handshake(transport->ssl);
    if (result != 1) return (int)result_of(transport, result);
    transport->holds = SSL_has_pending(transport->ssl);
    tls_session_shrink(transport->ssl);
    return 1;
}

/* What one read of the socket brings: records of 16 KiB at most, several of them. An event tells of what the socket has
 * beyond; asking for it would be a call of the system that mostly finds nothing. */
static ssize_t read_tls(Transport *transport, guint8 *into, gsize room) {
    gsize have = 0, got;
    transport->holds = FALSE;
    while (have < room) {
        ERR_clear_error();
        errno = 0;
        const int result = SSL_read_ex(transport->ssl, into + have, room - have, &got);
        if (result != 1) {
            const ssize_t end = result_of(transport, result);
            if (have == 0) return end;
            /* An end is told with the next read. */
            transport->holds = end == 0 || errno != EAGAIN;
            return (ssize_t)have;
        }

        have += got;
        if (!SSL_has_pending(transport->ssl)) return (ssize_t)have;
    }
    transport->holds = TRUE;
    return (ssize_t)have;
}

ssize_t transport_read(Transport *transport, guint8 *into, gsize room) {
    if (G_LIKELY(transport->ssl == NULL)) return recv(transport->fd, into, room, 0);
    return read_tls(transport, into, room);
}

ssize_t transport_write(Transport *transport, const guint8 *data, gsize size_bytes) {
    if (G_LIKELY(transport->ssl == NULL)) return send(transport->fd, data, size_bytes, MSG_NOSIGNAL);
    gsize sent;
    ERR_clear_error();
    errno = 0;
    const int result = SSL_write_ex(transport->ssl, data, size_bytes, &sent);
    if (result == 1) return (ssize_t)sent;
    const ssize_t end = result_of(transport, result);
    if (end < 0) return end;
    errno = EPIPE;
    return -1;
}

void transport_clear(Transport *transport) {
    if (transport->ssl == NULL) return;
    ERR_clear_error();
    if (SSL_is_init_finished(transport->ssl)) SSL_shutdown(transport->ssl);
    SSL_free(transport->ssl);
    transport->ssl = NULL;
}

const char *transport_reason(void) {
    const char *text = ERR_reason_error_string(ERR_peek_last_error());
    return text != NULL ? text : "TLS failed";
}
