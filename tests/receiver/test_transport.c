/* TLS on a pair of sockets: what is kept of the certificates that a peer shows. */
#include "receiver/secure/transport.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "receiver/secure/tls.h"

#define NAME "dn1.example"

typedef struct Files {
    char *folder, *certificate, *key;
    X509 *made;
    EVP_PKEY *pair;
} Files;

/* One that signs itself, and serves both sides. */
static X509 *self_signed(EVP_PKEY *pair) {
    X509 *made = X509_new();
    X509_set_version(made, X509_VERSION_3);
    X509_gmtime_adj(X509_getm_notBefore(made), -60);
    X509_gmtime_adj(X509_getm_notAfter(made), 3600);
    X509_NAME *name = X509_get_subject_name(made);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const guint8 *)NAME, -1, -1, 0);
    X509_set_issuer_name(made, name);
    X509_set_pubkey(made, pair);
    g_assert_cmpint(X509_sign(made, pair, EVP_sha256()), >, 0);
    return made;
}

static Files *files_new(void) {
    Files *files = g_new0(Files, 1);
    files->folder = g_dir_make_tmp("plumb-tls-XXXXXX", NULL);
    files->certificate = g_build_filename(files->folder, "own.pem", NULL);
    files->key = g_build_filename(files->folder, "own.key", NULL);
    files->pair = EVP_EC_gen("P-256");
    files->made = self_signed(files->pair);

    FILE *pem = fopen(files->certificate, "w");
    g_assert_true(PEM_write_X509(pem, files->made));
    fclose(pem);
    const int fd = open(files->key, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *key = fdopen(fd, "w");
    g_assert_true(PEM_write_PrivateKey(key, files->pair, NULL, NULL, 0, NULL, NULL));
    fclose(key);
    return files;
}

static void files_free(Files *files) {
    g_unlink(files->certificate);
    g_unlink(files->key);
    g_rmdir(files->folder);
    X509_free(files->made);
    EVP_PKEY_free(files->pair);
    g_free(files->certificate);
    g_free(files->key);
    g_free(files->folder);
    g_free(files);
}

/* It shows its certificate twice: as its own, and as one of a CA. */
static SSL *client_new(const Files *files, int version, int fd) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_max_proto_version(context, version);
    SSL_CTX_use_certificate(context, files->made);
    SSL_CTX_use_PrivateKey(context, files->pair);
    SSL_CTX_add1_chain_cert(context, files->made);
    SSL *client = SSL_new(context);
    SSL_CTX_free(context);
    SSL_set_fd(client, fd);
    SSL_set_connect_state(client);
    return client;
}

static void exchange(Transport *server, SSL *client) {
    guint8 bytes[16];
    g_assert_cmpint(SSL_write(client, "ping", 4), ==, 4);
    g_assert_cmpint(transport_read(server, bytes, sizeof bytes), ==, 4);
    g_assert_cmpint(transport_write(server, bytes, 4), ==, 4);
    g_assert_cmpint(SSL_read(client, bytes, sizeof bytes), ==, 4);
}

/* Of a connection that is open: its peer's name, and no key. */
static void test_certificates_shrink(const void *version) {
    Files *files = files_new();
    const TlsFiles settings = {files->certificate, files->key, files->certificate, "", TRUE, TLS_LEAST_1_2};
    g_autoptr(GError) error = NULL;
    SSL_CTX *context = tls_context_new(&settings, &error);
    g_assert_no_error(error);
    int ends[2];
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), ==, 0);
    Transport server = {.fd = ends[0]};
    transport_accept(&server, context, TRUE);
    SSL *client = client_new(files, GPOINTER_TO_INT(version), ends[1]);

    gboolean server_done = FALSE, client_done = FALSE;
    for (int i = 0; i < 10 && !(server_done && client_done); i++) {
        client_done = SSL_do_handshake(client) == 1;
        if (!server_done) server_done = transport_greet(&server) == 1;
    }
    g_assert_true(server_done && client_done);
    g_assert_cmpint(SSL_version(client), ==, GPOINTER_TO_INT(version));
    const X509 *shown = SSL_get0_peer_certificate(server.ssl);
    g_assert_null(X509_get0_pubkey(shown));
    g_assert_cmpint(sk_X509_num(SSL_get_peer_cert_chain(server.ssl)), ==, 0);
    g_autofree char *principal = tls_principal(server.ssl);
    g_assert_cmpstr(principal, ==, "cert:" NAME);
    exchange(&server, client);

    transport_clear(&server);
    SSL_free(client);
    close(ends[0]);
    close(ends[1]);
    tls_context_unref(context);
    files_free(files);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/transport/certificates/1.2", GINT_TO_POINTER(TLS1_2_VERSION), test_certificates_shrink);
    g_test_add_data_func("/transport/certificates/1.3", GINT_TO_POINTER(TLS1_3_VERSION), test_certificates_shrink);
    return g_test_run();
}
