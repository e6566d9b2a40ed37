#include "common/wire/secure.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <string.h>

#include "common/base/error.h"
#include "common/base/secret_file.h"

gboolean wire_security_is_set(const WireSecurity *security) {
    return security != NULL && (security->ca != NULL || security->certificate != NULL || security->key != NULL ||
                                security->token_file != NULL);
}

const char *wire_tls_failure(void) {
    const char *text = ERR_reason_error_string(ERR_peek_last_error());
    return text != NULL ? text : "it cannot be read";
}

/* A key under a passphrase: nobody is there to be asked. */
static int no_passphrase(char *into, int size, int writing, void *arg) {
    (void)into, (void)size, (void)writing, (void)arg;
    return 0;
}

EVP_PKEY *wire_key_read(const char *path, GError **error) {
    gsize size_bytes;
    char *pem = secret_file_read(path, &size_bytes, error);
    if (pem == NULL) return NULL;
    BIO *bio = BIO_new_mem_buf(pem, (int)size_bytes);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
    BIO_free(bio);
    secret_free(pem, size_bytes);
    return key;
}

static gboolean use_key(SSL_CTX *context, const char *path, GError **error) {
    g_autoptr(GError) failure = NULL;
    EVP_PKEY *key = wire_key_read(path, &failure);
    const gboolean good = key != NULL && SSL_CTX_use_PrivateKey(context, key) == 1;
    EVP_PKEY_free(key);
    if (good) return TRUE;
    if (failure == NULL) return fail(error, PLUMB_ERROR_CONFIG, "%s: %s", path, wire_tls_failure());
    g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}

static gboolean use_files(SSL_CTX *context, const WireSecurity *security, GError **error) {
    if (security->ca == NULL && SSL_CTX_set_default_verify_paths(context) != 1)
        return fail(error, PLUMB_ERROR_CONFIG, "the system's certificates: %s", wire_tls_failure());
    if (security->ca != NULL && SSL_CTX_load_verify_locations(context, security->ca, NULL) != 1)
        return fail(error, PLUMB_ERROR_CONFIG, "%s: %s", security->ca, wire_tls_failure());
    if ((security->certificate == NULL) != (security->key == NULL))
        return fail(error, PLUMB_ERROR_CONFIG, "a certificate needs its key: give --certificate and --key");
    if (security->certificate == NULL) return TRUE;
    if (SSL_CTX_use_certificate_chain_file(context, security->certificate) != 1)
        return fail(error, PLUMB_ERROR_CONFIG, "%s: %s", security->certificate, wire_tls_failure());
    return use_key(context, security->key, error);
}

/* An address in figures is looked for among the certificate's addresses. */
static void expect_host(SSL *ssl, const char *host) {
    unsigned char address[sizeof(struct in6_addr)];
    const gboolean figures = inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (figures) {
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host);
    } else {
        SSL_set1_host(ssl, host);
        SSL_set_tlsext_host_name(ssl, host);
    }
}

SSL *wire_tls_new(const WireSecurity *security, const char *host, int fd, GError **error) {
    ERR_clear_error();
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    g_assert(context != NULL);
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);

    SSL *ssl = NULL;
    if (use_files(context, security, error)) {
        ssl = SSL_new(context);
        expect_host(ssl, host);
        SSL_set_fd(ssl, fd);
        SSL_set_connect_state(ssl);
    }
    SSL_CTX_free(context);
    return ssl;
}

void wire_tls_free(SSL *ssl) {
    if (ssl == NULL) return;
    ERR_clear_error();
    if (SSL_is_init_finished(ssl)) SSL_shutdown(ssl);
    SSL_free(ssl);
}

/* 0 at the end, else -1 with errno. */
static ssize_t result_of(const SSL *ssl, int result, short *events) {
    const int at_errno = errno;
    switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_ZERO_RETURN: return 0;
    case SSL_ERROR_WANT_READ:
        *events = POLLIN;
        errno = EAGAIN;
        return -1;
    case SSL_ERROR_WANT_WRITE:
        *events = POLLOUT;
        errno = EAGAIN;
        return -1;
    case SSL_ERROR_SYSCALL: errno = at_errno != 0 ? at_errno : ECONNRESET; return -1;
    default: errno = EPROTO; return -1;
    }
}

ssize_t wire_tls_send(SSL *ssl, const guint8 *data, gsize size_bytes, short *events) {
    gsize sent;
    ERR_clear_error();
    errno = 0;
    const int result = SSL_write_ex(ssl, data, size_bytes, &sent);
    if (result == 1) return (ssize_t)sent;
    if (result_of(ssl, result, events) == 0) errno = ECONNRESET;
    return -1;
}

ssize_t wire_tls_receive(SSL *ssl, guint8 *into, gsize room, short *events) {
    gsize got;
    ERR_clear_error();
    errno = 0;
    const int result = SSL_read_ex(ssl, into, room, &got);
    return result == 1 ? (ssize_t)got : result_of(ssl, result, events);
}

char *wire_token_read(const char *path, GError **error) {
    gsize size_bytes;
    char *token = secret_file_read(path, &size_bytes, error);
    if (token == NULL) return NULL;
    g_strchomp(token);
    if (token[0] != '\0' && g_str_is_ascii(token) && strpbrk(token, " \t\r\n") == NULL) return token;
    secret_free(token, size_bytes);
    fail(error, PLUMB_ERROR_CONFIG, "%s holds no token, alone in one line", path);
    return NULL;
}

const char *wire_tls_reason(const SSL *ssl) {
    const long verified = SSL_get_verify_result(ssl);
    return verified != X509_V_OK ? X509_verify_cert_error_string(verified) : wire_tls_failure();
}
