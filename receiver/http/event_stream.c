#include "receiver/http/event_stream.h"

#include <string.h>

#include "analyzer/query/shared/json_compact.h"
#include "common/base/clock.h"

#define BEAT_NS (15 * NS_PER_SEC)
/* Of somebody who has logged in: the end of a certificate or of a ticket is seen when the reader connects again. */
#define LOGIN_HOLDS_NS (5 * NS_PER_MINUTE)
/* When a browser connects again. */
#define AGAIN_MS "2000"

gboolean event_stream_has_room(const GQueue *all, const char *peer) {
    guint n = 0;
    for (const GList *at = all->head; at != NULL; at = at->next)
        if (strcmp(http_exchange_peer(((const EventStream *)at->data)->exchange), peer) == 0) n++;
    return n < EVENT_PEER_STREAMS && all->length < EVENT_STREAMS;
}

/* The exchange is its caller's again. */
static HttpExchange *stream_free(EventStream *stream) {
    HttpExchange *exchange = stream->exchange;
    http_exchange_on_gone(exchange, NULL, NULL);
    g_queue_remove(stream->all, stream);
    g_free(stream);
    return exchange;
}

void event_stream_cut(EventStream *stream) { http_cut(stream_free(stream)); }

void event_stream_end(EventStream *stream, GString *text) {
    event_stream_write(stream, text);
    http_send_end(stream_free(stream));
}

static void on_gone(void *stream) { event_stream_cut(stream); }

void event_stream_write(EventStream *stream, GString *text) {
    g_autoptr(GBytes) piece = g_string_free_to_bytes(text);
    stream->writing = TRUE;
    stream->wrote_ns = clock_monotonic_ns(clock_system());
    http_send_piece(stream->exchange, piece);
}

static void on_drained(void *arg) {
    EventStream *stream = arg;
    stream->writing = FALSE;
    stream->more(stream);
}

void event_stream_open(EventStream *stream, GQueue *all, HttpExchange *exchange) {
    stream->all = all;
    stream->exchange = exchange;
    stream->begun_ns = clock_monotonic_ns(clock_system());
    http_exchange_tell_begun(exchange);
    g_queue_push_tail(all, stream);
    http_send_start(exchange, "text/event-stream", on_drained, stream);
    http_exchange_on_gone(exchange, on_gone, stream);
    event_stream_write(stream, g_string_new("retry: " AGAIN_MS "\n\n"));
}

void event_stream_add(GString *to, const char *name, json_t *data) {
    gsize size_bytes;
    g_autofree char *text = json_compact(data, &size_bytes);
    json_decref(data);
    g_string_append_printf(to, "event: %s\ndata: ", name);
    g_string_append_len(to, text, (gssize)size_bytes);
    g_string_append(to, "\n\n");
}

/* Is its reader to connect again, and to be asked again who it is? */
static gboolean is_outdated(const EventStream *stream, gint64 now_ns) {
    const gboolean named = http_exchange_principal(stream->exchange) != NULL;
    return !http_exchange_is_current(stream->exchange) || (named && now_ns - stream->begun_ns >= LOGIN_HOLDS_NS);
}

void event_stream_beat(EventStream *stream) {
    const gint64 now_ns = clock_monotonic_ns(clock_system());
    if (http_exchange_is_gone(stream->exchange) || is_outdated(stream, now_ns))
        event_stream_cut(stream);
    else if (!stream->writing && now_ns - stream->wrote_ns >= BEAT_NS)
        event_stream_write(stream, g_string_new(":\n\n"));
}
