#include "receiver/secure/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>

#include "common/base/error.h"
#include "common/wire/secure.h"

/* What is read from a socket at once: with OpenSSL's own 16 KiB, large batches cost twice as many calls. */
#define READ_AHEAD_BYTES (64u * 1024)
/* Longer names are nobody's. */
#define NAME_MAX_BYTES 255
/* Records of a handshake that may come after it: with new keys, or the wish for another one, which is refused. OpenSSL
 * reads on until bytes come, however many of these do, so without a limit one peer would have a thread for itself. Who
 * has new keys by itself has them every 2^24 records, or more rarely. */
#define LATE_RECORDS_MOST 64u

static gboolean fail_file(GError **error, const char *key, const char *path) {
    return fail(error, PLUMB_ERROR_CONFIG, "%s: %s: %s", key, path, wire_tls_failure());
}

/* ---- our own certificate ---- */

static gboolean use_key(SSL_CTX *context, const char *path, GError **error) {
    g_autoptr(GError) failure = NULL;
    EVP_PKEY *key = wire_key_read(path, &failure);
    if (failure != NULL) {
        g_propagate_prefixed_error(error, g_steal_pointer(&failure), "tls.key: ");
        return FALSE;
    }
    if (key == NULL)
        return fail(error, PLUMB_ERROR_CONFIG, "tls.key: %s holds no key in PEM without a passphrase", path);
    const gboolean fits = SSL_CTX_use_PrivateKey(context, key) == 1;
    EVP_PKEY_free(key);
    if (!fits) return fail(error, PLUMB_ERROR_CONFIG, "tls.key: %s is not the key of tls.certificate", path);
    return TRUE;
}

static gboolean use_certificate(SSL_CTX *context, const TlsFiles *files, GError **error) {
    if (SSL_CTX_use_certificate_chain_file(context, files->certificate) != 1)
        return fail_file(error, "tls.certificate", files->certificate);
    return use_key(context, files->key, error);
}

/* ---- those of clients ---- */

static gboolean add_crl(SSL_CTX *context, const char *path, GError **error) {
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    X509_LOOKUP *lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
    if (lookup == NULL || X509_load_crl_file(lookup, path, X509_FILETYPE_PEM) < 1)
        return fail_file(error, "tls.crl", path);
    X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
    return TRUE;
}

static gboolean use_clients(SSL_CTX *context, const TlsFiles *files, GError **error) {
    if (files->clients[0] == '\0') return TRUE;
    STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(files->clients);
    if (names == NULL || SSL_CTX_load_verify_locations(context, files->clients, NULL) != 1) {
        sk_X509_NAME_pop_free(names, X509_NAME_free);
        return fail_file(error, "tls.clients", files->clients);
    }
    SSL_CTX_set_client_CA_list(context, names);
    if (files->crl[0] != '\0' && !add_crl(context, files->crl, error)) return FALSE;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | (files->require_certificate ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
                       NULL);
    return TRUE;
}

/* ---- sessions ---- */

/* Is it good now? It, or a CA of it, may have ended, or the next list of those that are void may be due. One whose CA
 * is not in tls.clients, but was shown with it, is not known any more. */
static gboolean is_still_good(const SSL *ssl, X509 *certificate) {
    X509_STORE_CTX *check = X509_STORE_CTX_new();
    const gboolean good =
        check != NULL &&
        X509_STORE_CTX_init(check, SSL_CTX_get_cert_store(SSL_get_SSL_CTX(ssl)), certificate, NULL) == 1 &&
        X509_STORE_CTX_set_default(check, "ssl_client") == 1 && X509_verify_cert(check) == 1;
    X509_STORE_CTX_free(check);
    ERR_clear_error();
    return good;
}

/* Is a session that a ticket brings to go on? Its certificate was checked when it began, and is not shown again. */
static SSL_TICKET_RETURN judge_ticket(SSL *ssl, SSL_SESSION *session, const unsigned char *name, size_t length,
                                      SSL_TICKET_STATUS status, void *arg) {
    (void)name, (void)length, (void)arg;
    if (status != SSL_TICKET_SUCCESS && status != SSL_TICKET_SUCCESS_RENEW) return SSL_TICKET_RETURN_IGNORE_RENEW;
    X509 *certificate = SSL_SESSION_get0_peer(session);
    if (certificate != NULL && !is_still_good(ssl, certificate)) return SSL_TICKET_RETURN_IGNORE_RENEW;
    return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

/* ---- after the handshake ---- */

gboolean tls_session_is_cut(const SSL *ssl) { return GPOINTER_TO_UINT(SSL_get_app_data(ssl)) > LATE_RECORDS_MOST; }

/* Each record, too, has one. TLS 1.3 says what is in it when it is decrypted. */
static void count_late_record(int sent, int version, int type, const void *bytes, size_t length, SSL *ssl, void *arg) {
    (void)version, (void)length, (void)arg;
    const gboolean record = type == SSL3_RT_HEADER || type == SSL3_RT_INNER_CONTENT_TYPE;
    if (sent || !record || *(const guint8 *)bytes != SSL3_RT_HANDSHAKE || !SSL_is_init_finished(ssl)) return;
    SSL_set_app_data(ssl, GUINT_TO_POINTER(GPOINTER_TO_UINT(SSL_get_app_data(ssl)) + 1));
    if (tls_session_is_cut(ssl)) SSL_set_shutdown(ssl, SSL_get_shutdown(ssl) | SSL_RECEIVED_SHUTDOWN);
}

/* ---- life ---- */

static void set_modes(SSL_CTX *context, TlsLeast least) {
    static const unsigned char id[] = "plumbd";
    SSL_CTX_set_min_proto_version(context, least == TLS_LEAST_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION);
    SSL_CTX_set_mode(context,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    /* Frames and requests say where they end, so an end without a farewell hides nothing. */
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_default_read_buffer_len(context, READ_AHEAD_BYTES);
    SSL_CTX_set_session_id_context(context, id, sizeof id - 1);
    /* Tickets alone: no session of a client takes memory here. */
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, 1);
    SSL_CTX_set_session_ticket_cb(context, NULL, judge_ticket, NULL);
    SSL_CTX_set_msg_callback(context, count_late_record);
}

SSL_CTX *tls_context_new(const TlsFiles *files, GError **error) {
    ERR_clear_error();
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (context == NULL) {
        fail(error, PLUMB_ERROR_CONFIG, "TLS: %s", wire_tls_failure());
        return NULL;
    }
    set_modes(context, files->least);
    if (use_certificate(context, files, error) && use_clients(context, files, error)) return context;
    SSL_CTX_free(context);
    return NULL;
}

SSL_CTX *tls_context_ref(SSL_CTX *context) {
    SSL_CTX_up_ref(context);
    return context;
}

void tls_context_unref(SSL_CTX *context) { SSL_CTX_free(context); }

SSL *tls_session_new(SSL_CTX *context, gboolean ahead) {
    SSL *ssl = SSL_new(context);
    if (ssl == NULL) g_error("no memory for a connection with TLS");
    SSL_set_read_ahead(ssl, ahead);
    return ssl;
}

/* OpenSSL keeps the certificate, and those that were shown with it, for the life of the connection, each with its key,
 * taken apart. The key goes when another one takes its place: this one is none, of an algorithm that nobody knows
 * (1.2.3.4). Tickets were sealed before, and have the certificate as it came. */
void tls_session_shrink(SSL *ssl) {
    static const unsigned char no_key[] = {0x30, 0x0b, 0x30, 0x05, 0x06, 0x03, 0x2a,
                                           0x03, 0x04, 0x03, 0x02, 0x00, 0x00};
    STACK_OF(X509) *others = SSL_get_peer_cert_chain(ssl);
    while (sk_X509_num(others) > 0) X509_free(sk_X509_pop(others));

    const X509 *own = SSL_get0_peer_certificate(ssl);
    if (own == NULL) return;
    X509_PUBKEY *key = X509_get_X509_PUBKEY(own);
    const unsigned char *at = no_key;
    if (d2i_X509_PUBKEY(&key, &at, sizeof no_key) == NULL) g_error("no memory for a connection with TLS");
    ERR_clear_error();
}

gint64 tls_context_ends_s(const SSL_CTX *context) {
    struct tm utc;
    if (ASN1_TIME_to_tm(X509_get0_notAfter(SSL_CTX_get0_certificate(context)), &utc) != 1) return 0;
    g_autoptr(GDateTime) ends =
        g_date_time_new_utc(utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
    return ends != NULL ? g_date_time_to_unix(ends) : 0;
}

/* ---- names ---- */

/* A name in print, whole and of ASCII without spaces; NULL: it is none. A URI has a scheme, and nothing else has a ':',
 * so that none can be taken for what a CA has checked in another way. */
static char *name_of(const ASN1_STRING *string, gboolean uri) {
    if (string == NULL) return NULL;
    const char *text = (const char *)ASN1_STRING_get0_data(string);
    const int length = ASN1_STRING_length(string);
    if (length < 1 || length > NAME_MAX_BYTES) return NULL;
    for (int i = 0; i < length; i++)
        if (!g_ascii_isgraph(text[i]) || text[i] == '*' || text[i] == ';') return NULL;
    if ((memchr(text, ':', (gsize)length) != NULL) != uri) return NULL;
    return g_strndup(text, (gsize)length);
}

static char *alternative(const X509 *certificate, int kind) {
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    char *found = NULL;
    for (int i = 0; found == NULL && i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        if (name->type == kind)
            found =
                kind == GEN_URI ? name_of(name->d.uniformResourceIdentifier, TRUE) : name_of(name->d.dNSName, FALSE);
    }
    GENERAL_NAMES_free(names);
    return found;
}

static char *common_name(const X509 *certificate) {
    const X509_NAME *subject = X509_get_subject_name(certificate);
    const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    if (at < 0) return NULL;
    return name_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)), FALSE);
}

char *tls_certificate_principal(const X509 *certificate) {
    g_autofree char *name = alternative(certificate, GEN_URI);
    if (name == NULL) name = alternative(certificate, GEN_DNS);
    if (name == NULL) name = common_name(certificate);
    return name != NULL ? g_strconcat("cert:", name, NULL) : NULL;
}

char *tls_principal(const SSL *ssl) {
    const X509 *certificate = SSL_get0_peer_certificate(ssl);
    if (certificate == NULL || SSL_get_verify_result(ssl) != X509_V_OK) return NULL;
    return tls_certificate_principal(certificate);
}
