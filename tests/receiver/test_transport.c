/* TLS on a pair of sockets: what is kept of the certificates that a peer shows, and what is too much of new keys. */
#include "receiver/secure/transport.h"

#include <errno.h>
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

/* Both ends of a connection, whose handshake is over. */
typedef struct Pair {
    Files *files;
    SSL_CTX *context;
    Transport server;
    SSL *client;
    int ends[2];
} Pair;

static void pair_open(Pair *pair, int version) {
    pair->files = files_new();
    const TlsFiles settings = {
        pair->files->certificate, pair->files->key, pair->files->certificate, "", TRUE, TLS_LEAST_1_2};
    g_autoptr(GError) error = NULL;
    pair->context = tls_context_new(&settings, &error);
    g_assert_no_error(error);
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair->ends), ==, 0);
    pair->server = (Transport){.fd = pair->ends[0]};
    transport_accept(&pair->server, pair->context, TRUE);
    pair->client = client_new(pair->files, version, pair->ends[1]);

    gboolean server_done = FALSE, client_done = FALSE;
    for (int i = 0; i < 10 && !(server_done && client_done); i++) {
        client_done = SSL_do_handshake(pair->client) == 1;
        if (!server_done) server_done = transport_greet(&pair->server) == 1;
    }
    g_assert_true(server_done && client_done);
    g_assert_cmpint(SSL_version(pair->client), ==, version);
}

static void pair_close(Pair *pair) {
    transport_clear(&pair->server);
    SSL_free(pair->client);
    close(pair->ends[0]);
    close(pair->ends[1]);
    tls_context_unref(pair->context);
    files_free(pair->files);
}

/* Of a connection that is open: its peer's name, and no key. */
static void test_certificates_shrink(const void *version) {
    Pair pair;
    pair_open(&pair, GPOINTER_TO_INT(version));
    const X509 *shown = SSL_get0_peer_certificate(pair.server.ssl);
    g_assert_null(X509_get0_pubkey(shown));
    g_assert_cmpint(sk_X509_num(SSL_get_peer_cert_chain(pair.server.ssl)), ==, 0);
    g_autofree char *principal = tls_principal(pair.server.ssl);
    g_assert_cmpstr(principal, ==, "cert:" NAME);
    exchange(&pair.server, pair.client);
    pair_close(&pair);
}

static void send_new_key(SSL *client) {
    g_assert_cmpint(SSL_key_update(client, SSL_KEY_UPDATE_NOT_REQUESTED), ==, 1);
    g_assert_cmpint(SSL_do_handshake(client), ==, 1);
}

/* Some are in order. Who sends nothing else is cut off: OpenSSL would read on for as long as they come. */
static void test_new_keys_without_end(void) {
    Pair pair;
    guint8 bytes[16];
    pair_open(&pair, TLS1_3_VERSION);
    for (int i = 0; i < 64; i++) {
        send_new_key(pair.client);
        if (i % 8 == 0) exchange(&pair.server, pair.client);
    }
    exchange(&pair.server, pair.client);
    for (int i = 0; i < 100; i++) send_new_key(pair.client);
    g_assert_cmpint(SSL_write(pair.client, "ping", 4), ==, 4);
    g_assert_cmpint(transport_read(&pair.server, bytes, sizeof bytes), ==, -1);
    g_assert_cmpint(errno, ==, EPROTO);
    g_assert_cmpstr(transport_reason(), ==, "too many key updates");
    pair_close(&pair);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/transport/certificates/1.2", GINT_TO_POINTER(TLS1_2_VERSION), test_certificates_shrink);
    g_test_add_data_func("/transport/certificates/1.3", GINT_TO_POINTER(TLS1_3_VERSION), test_certificates_shrink);
    g_test_add_func("/transport/new keys without end", test_new_keys_without_end);
    return g_test_run();
}
