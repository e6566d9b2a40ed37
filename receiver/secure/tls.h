/* TLS as plumbd's ports speak it: certificate, key, and whose certificates clients may show. OpenSSL's own types, so
 * that libevent and transport.h can be handed them; only receiver/secure/ knows what is in them. */
#pragma once

#include <glib.h>

struct ssl_st;
struct ssl_ctx_st;
struct x509_st;

typedef enum { TLS_LEAST_1_2, TLS_LEAST_1_3 } TlsLeast; /* in the order of the table's choices */

typedef struct TlsFiles {
    const char *certificate, *key; /* PEM; both empty: no TLS */
    const char *clients, *crl;     /* PEM: who signs clients' certificates, and which of them are void; may be empty */
    gboolean require_certificate;
    TlsLeast least;
} TlsFiles;

/* A reference. CONFIG: what a file lacks, or which does not fit to which; IO. */
struct ssl_ctx_st *tls_context_new(const TlsFiles *files, GError **error);
struct ssl_ctx_st *tls_context_ref(struct ssl_ctx_st *context);
void tls_context_unref(struct ssl_ctx_st *context);
/* For one connection: its owner's. ahead: more is read from the socket than is asked for, which needs the care of
 * transport.h; libevent does not take it. */
struct ssl_st *tls_session_new(struct ssl_ctx_st *context, gboolean ahead);
/* After its handshake: gives back what is needed no more of the certificates that the peer has shown: all but the names
 * in its own, which tls_principal() reads. A third of what a connection takes otherwise. */
void tls_session_shrink(struct ssl_st *ssl);
/* Nothing more is read of it, as if its peer had ended it: it sent too much that is neither bytes nor their end. */
gboolean tls_session_is_cut(const struct ssl_st *ssl);
/* When its certificate ends, in seconds since the epoch. */
gint64 tls_context_ends_s(const struct ssl_ctx_st *context);
/* "cert:NAME". The name is a URI of the certificate, else a DNS name, else its common name. NULL: it has none. */
char *tls_certificate_principal(const struct x509_st *certificate); /* for tests */
/* Of the certificate that the peer has shown, and we have checked. NULL: none. */
char *tls_principal(const struct ssl_st *ssl);
