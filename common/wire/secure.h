/* The client's side of TLS, for the blocking client (client.h): on a socket that does not block, with a deadline on
 * everything. */
#pragma once

#include <glib.h>
#include <sys/types.h>

struct ssl_st;
struct evp_pkey_st;

/* Files, each NULL when there is none; with any of them there is TLS. The login is in login.h. */
typedef struct WireSecurity {
    const char *ca;                /* PEM: who signs receivers' certificates; NULL: whom the system trusts */
    const char *certificate, *key; /* PEM: ours */
    const char *token_file;        /* a secret file with a token, by which we log in */
    gboolean negotiate;            /* log in by the ticket of Kerberos in the cache, rather than by a token */
} WireSecurity;

/* Is there to be TLS? security: NULL for none. */
gboolean wire_security_is_set(const WireSecurity *security);

/* A session on the socket; host is the name that the receiver's certificate must have. Errors: CONFIG, IO. */
struct ssl_st *wire_tls_new(const WireSecurity *security, const char *host, int fd, GError **error);
void wire_tls_free(struct ssl_st *ssl);
/* As send() and recv(); -1 with EAGAIN: wait for *events of poll(); with EPROTO: wire_tls_reason() says what. */
ssize_t wire_tls_send(struct ssl_st *ssl, const guint8 *data, gsize size_bytes, short *events);
ssize_t wire_tls_receive(struct ssl_st *ssl, guint8 *into, gsize room, short *events);
/* A token without the line's end; secret_free() it. */
char *wire_token_read(const char *path, GError **error);
/* What was wrong: of the receiver's certificate, if that was it; static. */
const char *wire_tls_reason(const struct ssl_st *ssl);

/* ---- of both sides ---- */

/* What OpenSSL says of the last failure; static. */
const char *wire_tls_failure(void);
/* The key in a secret file, in PEM and without a passphrase: EVP_PKEY_free() it. NULL with an error (CONFIG, IO) when
 * the file cannot be read; NULL without one when it holds no such key: wire_tls_failure() says why. */
struct evp_pkey_st *wire_key_read(const char *path, GError **error);
