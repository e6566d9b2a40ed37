#include "receiver/http/http_events.h"

#include <string.h>

#include "analyzer/query/shared/json_compact.h"
#include "common/base/clock.h"
#include "receiver/http/event_stream.h"

typedef enum { EVENTS_OF_STATUS, EVENTS_OF_STRAGGLERS, EVENTS_OF_RUNS, N_TOPICS } Topic;
static const char *const names[N_TOPICS] = {"status", "stragglers", "runs"};

typedef struct Reader {
    EventStream stream;
    HttpEvents *owner;
    guint topics; /* 1 << Topic */
    guint64 seen; /* the last change that it was told */
} Reader;

struct HttpEvents {
    const StateSources *state;
    HttpShell *shell;
    GQueue readers;
    struct event *tick;
    guint64 changes; /* from the wall clock on, so that those of a plumbd before are lower */
    json_t *now[N_TOPICS];
    guint64 changed[N_TOPICS]; /* the number of its last change */
};

/* ---- the topics ---- */

static json_t *status_json(const HttpEvents *events) {
    const ArchiveTotals totals = archive_totals(events->state->archive);
    State state;
    state_collect(&state, events->state);
    json_t *document = json_pack("{s:b, s:I, s:I, s:I, s:I, s:I}", "ready", state.ready, "spans_received",
                                 (json_int_t)state.counters[COUNTER_SPANS], "open_spans", (json_int_t)state.open_spans,
                                 "open_traces", (json_int_t)state.open_traces, "stored_traces",
                                 (json_int_t)totals.traces, "stored_spans", (json_int_t)totals.spans);
    state_clear(&state);
    return document;
}

static json_t *stragglers_json(const HttpEvents *events) {
    const StragglerCounts counts = straggling_get(events->state->straggling);
    json_t *causes = json_object();
    for (guint i = 0; i < TOPIC_COUNT; i++)
        if (counts.stragglers[i] > 0)
            json_object_set_new(causes, feature_topic_name((FeatureTopic)i),
                                json_integer((json_int_t)counts.stragglers[i]));
    return json_pack("{s:i, s:I, s:o, s:I}", "apps", (int)counts.apps, "tasks", (json_int_t)counts.tasks, "causes",
                     causes, "unexplained", (json_int_t)counts.unexplained);
}

static json_t *topic_json(const HttpEvents *events, Topic topic) {
    switch (topic) {
    case EVENTS_OF_STRAGGLERS: return stragglers_json(events);
    case EVENTS_OF_RUNS: return http_shell_runs_json(events->shell);
    default: return status_json(events);
    }
}

static void look_at(HttpEvents *events, Topic topic) {
    json_t *now = topic_json(events, topic);
    if (events->now[topic] != NULL && json_equal(events->now[topic], now)) {
        json_decref(now);
        return;
    }
    json_decref(events->now[topic]);
    events->now[topic] = now;
    events->changed[topic] = ++events->changes;
}

/* ---- readers ---- */

/* What changed since it was told, the oldest change first. */
static void write_more(EventStream *stream) {
    Reader *reader = (Reader *)stream;
    const HttpEvents *events = reader->owner;
    g_autoptr(GString) text = g_string_new(NULL);
    for (;;) {
        guint next = N_TOPICS;
        for (guint i = 0; i < N_TOPICS; i++) {
            if (!(reader->topics & 1u << i) || events->changed[i] <= reader->seen) continue;
            if (next == N_TOPICS || events->changed[i] < events->changed[next]) next = i;
        }
        if (next == N_TOPICS) break;
        reader->seen = events->changed[next];
        g_string_append_printf(text, "id: %" G_GUINT64_FORMAT "\n", reader->seen);
        event_stream_add(text, names[next], json_incref(events->now[next]));
    }
    if (text->len > 0) event_stream_write(stream, g_steal_pointer(&text));
}

static void each_reader(HttpEvents *events, void (*what)(EventStream *stream)) {
    for (GList *at = events->readers.head, *next; at != NULL; at = next) {
        next = at->next; /* what is done to one ends no other */
        what(at->data);
    }
}

static void write_or_beat(EventStream *stream) {
    if (!stream->writing) write_more(stream);
    event_stream_beat(stream);
}

static guint topics_of_all(const HttpEvents *events) {
    guint topics = 0;
    for (const GList *at = events->readers.head; at != NULL; at = at->next)
        topics |= ((const Reader *)at->data)->topics;
    return topics;
}

static void on_tick(evutil_socket_t fd, short what, void *arg) {
    (void)fd, (void)what;
    HttpEvents *events = arg;
    const guint topics = topics_of_all(events);
    for (guint i = 0; i < N_TOPICS; i++)
        if (topics & 1u << i) look_at(events, (Topic)i);
    each_reader(events, write_or_beat);
}

/* ---- what is asked ---- */

/* A bit for each; 0: none, or one that there is not. */
static guint topics_in(const char *text) {
    g_auto(GStrv) given = g_strsplit(text, ",", N_TOPICS + 1);
    guint topics = 0;
    for (guint i = 0; given[i] != NULL; i++) {
        guint topic = 0;
        while (topic < N_TOPICS && strcmp(names[topic], given[i]) != 0) topic++;
        if (topic == N_TOPICS) return 0;
        topics |= 1u << topic;
    }
    return topics;
}

static void add_param(void *arg, const char *name, const char *value) {
    guint *topics = arg;
    if (strcmp(name, "topics") == 0) *topics = topics_in(value);
}

void http_events_stream(HttpEvents *events, HttpExchange *exchange) {
    const HttpRequest *request = http_exchange_request(exchange);
    const char *why;
    guint topics = 0;
    guint64 seen = 0;
    const gboolean good = http_query_parse(request->query, add_param, &topics, &why) && topics != 0;
    const gboolean placed =
        request->last_event == NULL || g_ascii_string_to_unsigned(request->last_event, 10, 0, G_MAXINT64, &seen, NULL);

    if (!good || !placed || request->method != HTTP_GET) {
        http_send_error(exchange, 400, "send topics= with some of status, stragglers, runs, and commas, with GET");
    } else if (!event_stream_has_room(&events->readers, http_exchange_peer(exchange))) {
        http_send_error(exchange, 429, "too many read events: close a tab");
    } else {
        Reader *reader = g_new0(Reader, 1);
        *reader = (Reader){.stream.more = write_more, .owner = events, .topics = topics};
        /* A number that was not given yet is of another plumbd. */
        reader->seen = seen <= events->changes ? seen : 0;
        for (guint i = 0; i < N_TOPICS; i++)
            if (topics & 1u << i) look_at(events, (Topic)i);
        event_stream_open(&reader->stream, &events->readers, exchange);
    }
}

/* ---- life ---- */

HttpEvents *http_events_new(struct event_base *base, const StateSources *state, HttpShell *shell) {
    static const struct timeval every = {.tv_sec = 1};
    HttpEvents *events = g_new0(HttpEvents, 1);
    events->state = state;
    events->shell = shell;
    events->changes = (guint64)clock_wall_ns(clock_system()) / NS_PER_MS;
    g_queue_init(&events->readers);
    events->tick = event_new(base, -1, EV_PERSIST, on_tick, events);
    event_add(events->tick, &every);
    return events;
}

void http_events_end(HttpEvents *events) { each_reader(events, event_stream_cut); }

void http_events_free(HttpEvents *events) {
    event_free(events->tick);
    for (guint i = 0; i < N_TOPICS; i++) json_decref(events->now[i]);
    g_free(events);
}
