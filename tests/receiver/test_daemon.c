/* The whole daemon in this process: start, reload, stop, and starts that are refused leave nothing behind. */
#include "receiver/daemon.h"

#include <glib/gstdio.h>
#include <pthread.h>
#include <string.h>

#include "common/base/error.h"
#include "common/wire/client.h"

typedef struct Setup {
    char *folder;
    Config *config;
    Settings *settings;
    GPtrArray *earlier; /* Settings that a daemon may still look at */
} Setup;

/* name=value; value may be of two parts. */
static void override(Setup *setup, const char *name, const char *value, const char *more) {
    g_autoptr(GError) error = NULL;
    g_autofree char *assignment = g_strconcat(name, "=", value, more, NULL);
    config_override(setup->config, assignment, &error);
    g_assert_no_error(error);
    if (setup->settings) g_ptr_array_add(setup->earlier, setup->settings);
    setup->settings = settings_new(setup->config, &error);
    g_assert_no_error(error);
}

static Setup setup_new(void) {
    Setup setup = {.folder = g_dir_make_tmp("plumb-daemon-XXXXXX", NULL), .config = config_new(settings_table)};
    setup.earlier = g_ptr_array_new_with_free_func((GDestroyNotify)settings_free);
    override(&setup, "listen.thrift", "127.0.0.1:0", NULL);
    override(&setup, "listen.http", "127.0.0.1:0", NULL);
    override(&setup, "store.path", setup.folder, "/store");
    override(&setup, "journal.path", setup.folder, "/journal");
    override(&setup, "store.min-free", "0", NULL);
    override(&setup, "receiver.shards", "3", NULL);
    override(&setup, "receiver.net-threads", "2", NULL);
    return setup;
}

static void remove_tree(const char *path) {
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *inner = g_build_filename(path, name, NULL);
        remove_tree(inner);
    }
    g_remove(path);
}

static void setup_clear(Setup *setup) {
    remove_tree(setup->folder);
    g_free(setup->folder);
    settings_free(setup->settings);
    g_ptr_array_unref(setup->earlier);
    config_free(setup->config);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Setup, setup_clear)

#define MIB ((gsize)1 << 20)

/* What takes memory beside open traces follows from memory.limit, unless it is set. */
static void test_parts_of_memory(void) {
    static const struct {
        const char *limit;
        gsize buffers, questions, trace;
    } cases[] = {
        {"1G", 256 * MIB, 256 * MIB, 4 * MIB},
        {"368M", 92 * MIB, 92 * MIB, 4 * MIB},
        {"64M", 64 * MIB, 16 * MIB, 2 * MIB}, /* two of the largest frames, small questions */
    };
    g_auto(Setup) setup = setup_new();
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        override(&setup, "memory.limit", cases[i].limit, NULL);
        g_assert_cmpuint(setup.settings->buffer_bytes, ==, cases[i].buffers);
        g_assert_cmpuint(setup.settings->question_bytes, ==, cases[i].questions);
        g_assert_cmpuint(setup.settings->trace_bytes, ==, cases[i].trace);
    }

    override(&setup, "listen.buffer-limit", "100M", NULL);
    g_assert_cmpuint(setup.settings->buffer_bytes, ==, 100 * MIB);
}

static Daemon *started(Setup *setup) {
    g_autoptr(GError) error = NULL;
    Daemon *daemon = daemon_open(setup->settings, &error);
    g_assert_no_error(error);
    daemon_start(daemon, &error);
    g_assert_no_error(error);
    return daemon;
}

static void send_spans(const char *address, const WireSecurity *security, guint64 trace, guint n) {
    g_autoptr(GError) error = NULL;
    g_autoptr(SpanBatch) batch = batch_new();
    for (guint i = 1; i <= n; i++) {
        BatchSpan *span = batch_begin_span(batch, (SpanId){trace, i});
        span->begin_ns = i;
        span->name = batch_intern(batch, "op", 2);
        span->tracer = batch_intern(batch, "Client/h", 8);
        if (i > 1) batch_add_parent(batch, (SpanId){trace, 1});
    }
    g_autoptr(WireClient) client = wire_client_connect(address, security, 10000, &error);
    g_assert_no_error(error);
    WireReply reply;
    wire_client_deliver(client, batch, 60000, &reply, &error);
    g_assert_no_error(error);
    g_assert_cmpint(reply.accepted, ==, (gint32)n);
}

static guint64 stored_spans(Setup *setup) {
    g_autoptr(GError) error = NULL;
    StoreOptions options = {.path = setup->settings->store_path, .merge = archive_merge, .read_only = TRUE};
    g_autoptr(Store) store = store_open_rocksdb(&options, &error);
    g_assert_no_error(error);
    ArchiveOptions archive_options = {0};
    g_autoptr(Archive) archive = archive_open(store, &archive_options, &error);
    g_assert_no_error(error);
    guint64 spans = archive_totals(archive).spans;
    g_clear_pointer(&archive, archive_free); /* before the store */
    return spans;
}

static void test_life(void) {
    g_auto(Setup) setup = setup_new();
    for (guint round = 1; round <= 3; round++) {
        g_autoptr(Daemon) daemon = started(&setup);
        for (guint64 trace = 1; trace <= 50; trace++) send_spans(daemon_thrift(daemon), NULL, round * 1000 + trace, 20);
        g_autoptr(GError) error = NULL;
        daemon_stop(daemon, &error);
        g_assert_no_error(error);
        g_clear_pointer(&daemon, daemon_free);
        g_assert_cmpuint(stored_spans(&setup), ==, round * 1000);
    }
}

/* ---- many who come at once ---- */

#define COMERS 6u
#define VISITS 8u

typedef struct Comer {
    pthread_t thread;
    const char *thrift, *http;
    WireSecurity security;
    guint number;
} Comer;

/* Each visit is a connection of its own, with a handshake; another goes to the HTTP port and ends after that. */
static void *come(void *arg) {
    const Comer *comer = arg;
    for (guint visit = 1; visit <= VISITS; visit++) {
        send_spans(comer->thrift, &comer->security, comer->number * 1000 + visit, 5);
        g_autoptr(WireClient) reader = wire_client_connect(comer->http, &comer->security, 10000, NULL);
        g_assert_nonnull(reader);
    }
    return NULL;
}

static void make_certificate(Setup *setup) {
    g_autofree char *command = g_strdup_printf("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 "
                                               "-nodes -days 2 -subj /CN=localhost -addext "
                                               "subjectAltName=IP:127.0.0.1 -keyout %s/key -out %s/certificate",
                                               setup->folder, setup->folder);
    g_autoptr(GError) error = NULL;
    int status;
    g_spawn_command_line_sync(command, NULL, NULL, &status, &error);
    g_assert_no_error(error);
    g_assert_cmpint(status, ==, 0);
    override(setup, "tls.key", setup->folder, "/key");
    override(setup, "tls.certificate", setup->folder, "/certificate");
}

/* Several threads accept, and make handshakes, while certificates are read anew. */
static void test_many_come(void) {
    g_auto(Setup) setup = setup_new();
    override(&setup, "receiver.net-threads", "3", NULL);
    make_certificate(&setup);
    g_autoptr(Daemon) daemon = started(&setup);

    Comer comers[COMERS];
    for (guint i = 0; i < COMERS; i++) {
        comers[i] = (Comer){.thrift = daemon_thrift(daemon),
                            .http = daemon_http(daemon),
                            .security.ca = setup.settings->security.tls.certificate,
                            .number = i + 1};
        g_assert_cmpint(pthread_create(&comers[i].thread, NULL, come, &comers[i]), ==, 0);
    }
    for (guint i = 0; i < 10; i++) daemon_reload(daemon, setup.settings);
    for (guint i = 0; i < COMERS; i++) pthread_join(comers[i].thread, NULL);

    g_autoptr(GError) error = NULL;
    daemon_stop(daemon, &error);
    g_assert_no_error(error);
    g_clear_pointer(&daemon, daemon_free);
    g_assert_cmpuint(stored_spans(&setup), ==, COMERS * VISITS * 5);
}

static void test_stop_without_start(void) {
    g_auto(Setup) setup = setup_new();
    g_autoptr(Daemon) daemon = daemon_open(setup.settings, NULL);
    g_assert_nonnull(daemon);
    g_assert_true(daemon_stop(daemon, NULL));
}

static void assert_refused(Setup *setup, PlumbError code, const char *says) {
    g_autoptr(GError) error = NULL;
    g_assert_null(daemon_open(setup->settings, &error));
    g_assert_error(error, PLUMB_ERROR, (gint)code);
    g_assert_nonnull(strstr(error->message, says));
}

static void test_store_of_a_newer_version(void) {
    g_auto(Setup) setup = setup_new();
    StoreOptions options = {.path = setup.settings->store_path, .merge = archive_merge};
    Store *store = store_open_rocksdb(&options, NULL);
    StoreBatch *batch = store_batch_new(store);
    store_batch_put(batch, FAMILY_META, (Bytes){"format", 6}, (Bytes){"\0\0\0\x63", 4});
    g_assert_true(store_write(store, batch, FALSE, NULL));
    store_batch_free(batch);
    store_close(store);
    assert_refused(&setup, PLUMB_ERROR_VERSION, "newer");
    g_assert_false(g_file_test(setup.settings->journal_path, G_FILE_TEST_EXISTS));
}

static void test_store_path_is_a_file(void) {
    g_auto(Setup) setup = setup_new();
    g_assert_true(g_file_set_contents(setup.settings->store_path, "x", 1, NULL));
    assert_refused(&setup, PLUMB_ERROR_IO, setup.settings->store_path);
    g_assert_false(g_file_test(setup.settings->journal_path, G_FILE_TEST_EXISTS));
}

static void test_two_of_them(void) {
    g_auto(Setup) setup = setup_new();
    g_autoptr(Daemon) daemon = started(&setup);
    assert_refused(&setup, PLUMB_ERROR_BUSY, "in use");
    send_spans(daemon_thrift(daemon), NULL, 5, 10);
    g_autofree char *thrift = g_strdup(daemon_thrift(daemon));
    override(&setup, "journal.path", setup.folder, "/other");
    override(&setup, "listen.thrift", thrift, NULL);
    assert_refused(&setup, PLUMB_ERROR_BUSY, "taken");
    g_assert_true(daemon_stop(daemon, NULL));
}

int main(int argc, char **argv) {
    g_autoptr(GError) first = g_error_new_literal(PLUMB_ERROR, PLUMB_ERROR_INPUT, "before there are threads");
    log_set_level(LOG_LEVEL_ERROR);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/daemon/parts_of_memory", test_parts_of_memory);
    g_test_add_func("/daemon/life", test_life);
    g_test_add_func("/daemon/many-come", test_many_come);
    g_test_add_func("/daemon/stop-without-start", test_stop_without_start);
    g_test_add_func("/daemon/newer-store", test_store_of_a_newer_version);
    g_test_add_func("/daemon/store-is-a-file", test_store_path_is_a_file);
    g_test_add_func("/daemon/two", test_two_of_them);
    return g_test_run();
}
