#include "receiver/http/http_shell.h"

#include <string.h>

#include "analyzer/query/shared/json_compact.h"
#include "common/base/error.h"
#include "receiver/http/event_stream.h"
#include "receiver/http/masked.h"
#include "receiver/secure/access.h"

/* Written at once to one reader, who takes it before more is written. */
#define PIECE_BYTES (64u * 1024)
/* When somebody who was refused may try again. */
#define RETRY_S 5

typedef struct Reader {
    EventStream stream;
    ShellRun *run;
    guint next; /* line */
} Reader;

struct HttpShell {
    Shell *shell;
    GQueue readers;
    struct event *tick;
    const ShellSettings *settings;
};

/* ---- answers ---- */

static void send_json(HttpExchange *exchange, int code, json_t *document) {
    g_autoptr(GBytes) body = json_compact_bytes(document);
    http_send(exchange, code, "application/json", body);
}

static void refuse(HttpExchange *exchange, const GError *error) {
    const gboolean busy = g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_BUSY);
    const gboolean input = g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
    if (busy) http_retry_after(exchange, RETRY_S);
    http_send_error(exchange, busy ? 429 : input ? 400 : 500, error->message);
}

void http_shell_analyses(HttpShell *shell, HttpExchange *exchange) {
    const ShellSettings *settings = shell->settings;
    g_autofree char *off = shell_off(shell->shell);
    json_t *document =
        json_pack("{s:b, s:o, s:{s:i, s:i, s:I, s:I}}", "enabled", off == NULL, "analyses", plan_list(), "limits",
                  "at_once", (int)settings->at_once, "per_peer", (int)settings->per_peer, "time_ns",
                  (json_int_t)settings->limits.time_ns, "output_bytes", (json_int_t)settings->limits.output_bytes);
    if (off != NULL) json_object_set_new(document, "why", json_string(off));
    send_json(exchange, 200, document);
}

json_t *http_shell_runs_json(const HttpShell *shell) { return json_pack("{s:o}", "runs", shell_list(shell->shell)); }

void http_shell_runs(HttpShell *shell, HttpExchange *exchange) {
    send_json(exchange, 200, http_shell_runs_json(shell));
}

/* ---- begin and stop ---- */

/* NULL: it was answered. */
static json_t *command_of(HttpShell *shell, HttpExchange *exchange) {
    const HttpRequest *request = http_exchange_request(exchange);
    const char *type = request->content_type;
    g_autofree char *off = shell_off(shell->shell);

    if (request->origin == NULL) {
        http_send_error(exchange, 400, "only a page of this server may ask for this: send its address as Origin");
    } else if (off != NULL) {
        http_send_error(exchange, 403, off);
    } else if (type == NULL || g_ascii_strncasecmp(type, "application/json", 16) != 0 ||
               strchr("; \t", type[16]) == NULL) {
        http_send_error(exchange, 415, "send application/json");
    } else {
        g_autoptr(GByteArray) body = http_exchange_take_body(exchange);
        json_error_t why;
        json_t *command = json_loadb((const char *)body->data, body->len, JSON_REJECT_DUPLICATES, &why);
        if (json_is_object(command)) return command;
        json_decref(command);
        http_send_error(exchange, 400, "the body is no JSON object");
    }
    return NULL;
}

static const char *who_asks(const HttpExchange *exchange) {
    const char *principal = http_exchange_principal(exchange);
    return principal != NULL ? principal : ACCESS_ANONYMOUS;
}

static json_t *masked_value(Masker *masker, const char *name, const json_t *value) {
    if (!json_is_string(value)) return json_deep_copy(value);
    g_autofree char *masked = masked_param(masker, name, json_string_value(value));
    return json_string(masked);
}

/* Neither the log, nor the list of runs, nor the list of processes is to say in clear what the store does not. */
static void mask_parameters(Masker *masker, json_t *command) {
    json_t *parameters = json_object_get(command, "parameters"), *value;
    const char *name;
    void *next;
    json_object_foreach_safe(parameters, next, name, value) {
        if (!json_is_array(value)) {
            json_object_set_new(parameters, name, masked_value(masker, name, value));
            continue;
        }
        json_t *list = json_array();
        for (gsize i = 0; i < json_array_size(value); i++)
            json_array_append_new(list, masked_value(masker, name, json_array_get(value, i)));
        json_object_set_new(parameters, name, list);
    }
}

void http_shell_begin(HttpShell *shell, HttpExchange *exchange, Masker *masker) {
    json_t *command = command_of(shell, exchange);
    if (command == NULL) return;
    if (masker != NULL) mask_parameters(masker, command);
    g_autoptr(GError) error = NULL;
    const ShellRun *run = shell_begin(shell->shell, command, who_asks(exchange), http_exchange_peer(exchange), &error);
    json_decref(command);
    if (run == NULL)
        refuse(exchange, error);
    else
        send_json(exchange, 202, shell_run_json(run));
}

void http_shell_stop(HttpShell *shell, HttpExchange *exchange) {
    json_t *command = command_of(shell, exchange);
    if (command == NULL) return;
    const char *id = json_string_value(json_object_get(command, "id"));
    ShellRun *run = id != NULL ? shell_find(shell->shell, id) : NULL;
    const char *who = who_asks(exchange);
    json_decref(command);
    if (run == NULL) {
        http_send_error(exchange, 404, "there is no such run, or it is kept no longer: shell/runs lists them");
    } else if (strcmp(run->who, who) != 0 && !access_suffices(http_exchange_roles(exchange), ACCESS_ADMIN)) {
        http_send_error(exchange, 403, "somebody else began this run: only they and admin may stop it");
    } else {
        shell_stop_run(run, who);
        send_json(exchange, 202, shell_run_json(run));
    }
}

/* ---- lines as they come ---- */

static void write_end(Reader *reader) {
    GString *text = g_string_new(NULL);
    event_stream_add(text, "end", shell_run_json(reader->run));
    event_stream_end(&reader->stream, text);
}

/* What its reader lacks, as far as it fits, once what was written before is taken. */
static void write_more(EventStream *stream) {
    Reader *reader = (Reader *)stream;
    const Child *child = reader->run->child;
    if (stream->writing) return;
    if (reader->next >= child_lines(child)) {
        if (child_state(child) != CHILD_RUNNING) write_end(reader);
        return;
    }
    GString *text = g_string_new(NULL);
    while (reader->next < child_lines(child) && text->len < PIECE_BYTES) {
        g_string_append_printf(text, "id: %u\n", reader->next + 1);
        event_stream_add(text, "line", json_string(child_line(child, reader->next++)));
    }
    event_stream_write(stream, text);
}

typedef struct Asked {
    char *id, *after;
} Asked;

static void add_param(void *arg, const char *name, const char *value) {
    Asked *asked = arg;
    char **field = strcmp(name, "id") == 0 ? &asked->id : strcmp(name, "after") == 0 ? &asked->after : NULL;
    if (field == NULL || *field != NULL) return;
    *field = g_strdup(value);
}

static void start_stream(HttpShell *shell, HttpExchange *exchange, ShellRun *run, guint next) {
    Reader *reader = g_new0(Reader, 1);
    *reader = (Reader){.stream.more = write_more, .run = run, .next = next};
    event_stream_open(&reader->stream, &shell->readers, exchange);
}

void http_shell_output(HttpShell *shell, HttpExchange *exchange) {
    const HttpRequest *request = http_exchange_request(exchange);
    const char *why;
    guint64 after = 0;
    Asked asked = {0};
    const gboolean good = http_query_parse(request->query, add_param, &asked, &why) && asked.id != NULL;
    ShellRun *run = good ? shell_find(shell->shell, asked.id) : NULL;
    const char *from = request->last_event != NULL ? request->last_event : asked.after;
    const gboolean placed = from == NULL || g_ascii_string_to_unsigned(from, 10, 0, G_MAXINT32, &after, NULL);
    g_free(asked.id);

    if (!good || !placed || request->method != HTTP_GET)
        http_send_error(exchange, 400, "send id=RUN with GET, and after=N or Last-Event-ID, the number of a line");
    else if (run == NULL)
        http_send_error(exchange, 404, "there is no such run, or it is kept no longer: shell/runs lists them");
    else if (!event_stream_has_room(&shell->readers, http_exchange_peer(exchange)))
        http_send_error(exchange, 429, "too many read the output of runs: close a tab");
    else
        start_stream(shell, exchange, run, (guint)after);
    g_free(asked.after);
}

/* ---- what happens meanwhile ---- */

static void each_reader(HttpShell *shell, const ShellRun *run, void (*what)(EventStream *stream)) {
    for (GList *at = shell->readers.head, *next; at != NULL; at = next) {
        Reader *reader = at->data;
        next = at->next; /* what is done to one ends no other */
        if (run == NULL || reader->run == run) what(&reader->stream);
    }
}

static void on_changed(void *arg, ShellRun *run) { each_reader(arg, run, write_more); }

static void on_forgotten(void *arg, ShellRun *run) { each_reader(arg, run, event_stream_cut); }

static void on_tick(evutil_socket_t fd, short what, void *arg) {
    (void)fd, (void)what;
    HttpShell *shell = arg;
    shell_tick(shell->shell);
    each_reader(shell, NULL, event_stream_beat);
}

/* ---- life ---- */

HttpShell *http_shell_new(struct event_base *base, const ShellSettings *settings, gboolean unguarded) {
    static const struct timeval every = {.tv_sec = 1};
    HttpShell *shell = g_new0(HttpShell, 1);
    shell->settings = settings;
    g_queue_init(&shell->readers);
    const ShellOptions options = {base, settings, unguarded, on_changed, on_forgotten, shell};
    shell->shell = shell_new(&options);
    shell->tick = event_new(base, -1, EV_PERSIST, on_tick, shell);
    event_add(shell->tick, &every);
    return shell;
}

int http_shell_socket(const HttpShell *shell) { return shell_socket(shell->shell); }

char *http_shell_child_of(HttpShell *shell, int fd, char name[PEER_NAME_BYTES]) {
    return shell_child_of(shell->shell, fd, name);
}

void http_shell_end(HttpShell *shell) {
    each_reader(shell, NULL, event_stream_cut);
    shell_end(shell->shell);
}

void http_shell_free(HttpShell *shell) {
    event_free(shell->tick);
    shell_free(shell->shell);
    g_free(shell);
}
