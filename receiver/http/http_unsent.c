#include "receiver/http/http_unsent.h"

#include <event2/buffer.h>

#include "receiver/facts/log.h"

struct HttpUnsent {
    Counters *counters;
    GQueue waiting;      /* Unsent, oldest first */
    GHashTable *readers; /* GBytes -> how many wait for it: one answer may be for many */
    gsize size_bytes;    /* of these */
};

typedef struct Unsent {
    HttpUnsent *all;
    GBytes *body;
    struct evhttp_connection *connection; /* NULL: does not wait (any more) */
    GList link;
} Unsent;

HttpUnsent *http_unsent_new(Counters *counters) {
    HttpUnsent *unsent = g_new0(HttpUnsent, 1);
    unsent->counters = counters;
    unsent->readers = g_hash_table_new(NULL, NULL);
    g_queue_init(&unsent->waiting);
    return unsent;
}

void http_unsent_free(HttpUnsent *unsent) {
    if (!unsent) return;
    g_hash_table_unref(unsent->readers);
    g_free(unsent);
}

static void set_readers(HttpUnsent *all, GBytes *body, int more) {
    int n = GPOINTER_TO_INT(g_hash_table_lookup(all->readers, body)) + more;
    if (n == 0) {
        g_hash_table_remove(all->readers, body);
        all->size_bytes -= g_bytes_get_size(body);
        return;
    }
    if (n == 1 && more > 0) all->size_bytes += g_bytes_get_size(body);
    g_hash_table_replace(all->readers, body, GINT_TO_POINTER(n));
}

static void leave(Unsent *one) {
    if (!one->connection) return;
    evhttp_connection_set_closecb(one->connection, NULL, NULL);
    one->connection = NULL;
    g_queue_unlink(&one->all->waiting, &one->link);
    set_readers(one->all, one->body, -1);
}

static void on_closed(struct evhttp_connection *connection, void *one) {
    (void)connection;
    leave(one);
}

static void on_gone(const void *data, size_t size_bytes, void *arg) {
    (void)data;
    (void)size_bytes;
    Unsent *one = arg;
    leave(one);
    g_bytes_unref(one->body);
    g_free(one);
}

/* libevent gives the buffer back some time after its connection is closed; it does not count any more. */
static void cut_oldest(HttpUnsent *all) {
    static LogLimit limit;
    Unsent *oldest = g_queue_peek_head(&all->waiting);
    struct evhttp_connection *connection = oldest->connection;
    log_limited(&limit, LOG_LEVEL_WARNING,
                "an answer of %zu bytes over HTTP is cut off: its reader is slow, and %zu bytes of answers wait",
                g_bytes_get_size(oldest->body), all->size_bytes);
    counter_add(all->counters, COUNTER_HTTP_CUT, 1);
    leave(oldest);
    evhttp_connection_free(connection);
}

static void wait_for_reader(HttpUnsent *all, Unsent *one, struct evhttp_connection *connection) {
    one->connection = connection;
    one->link.data = one;
    g_queue_push_tail_link(&all->waiting, &one->link);
    set_readers(all, one->body, 1);
    evhttp_connection_set_closecb(connection, on_closed, one);
    while (all->size_bytes > HTTP_UNSENT_MAX_BYTES && all->waiting.length > 1) cut_oldest(all);
}

struct evbuffer *http_unsent_buffer(HttpUnsent *unsent, struct evhttp_request *request, GBytes *body) {
    struct evbuffer *buffer = evbuffer_new();
    gsize size_bytes;
    const void *data = g_bytes_get_data(body, &size_bytes);
    struct evhttp_connection *connection = evhttp_request_get_connection(request);
    if (size_bytes == 0) return buffer;
    Unsent *one = g_new0(Unsent, 1);
    one->all = unsent;
    one->body = g_bytes_ref(body);
    evbuffer_add_reference(buffer, data, size_bytes, on_gone, one);
    if (connection) wait_for_reader(unsent, one, connection);
    return buffer;
}
