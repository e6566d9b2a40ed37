/* The HTTP side of the analyses that plumbd runs (receiver/shell/): what there is, begin, stop, and the lines as they
 * come, as server-sent events. An event's id is the number of its line, so a reader whose connection broke goes on
 * where it was (Last-Event-ID).
 *
 * A begin and a stop need a page of our own as Origin, and JSON, which no page of somebody else can send without being
 * asked (docs/security.md). On the HTTP thread. */
#pragma once

#include "receiver/http/server.h"
#include "receiver/shell/shell.h"

typedef struct HttpShell HttpShell;
HttpShell *http_shell_new(struct event_base *base, const ShellSettings *settings, gboolean unguarded);
/* Once nothing comes any more: ends runs and streams. */
void http_shell_end(HttpShell *shell);
void http_shell_free(HttpShell *shell);
/* For HttpServerOptions. */
int http_shell_socket(const HttpShell *shell);
char *http_shell_child_of(HttpShell *shell, int fd, char name[PEER_NAME_BYTES]);

/* {"runs": [...]}; a new reference. */
json_t *http_shell_runs_json(const HttpShell *shell);

/* Each answers the exchange. */
void http_shell_analyses(HttpShell *shell, HttpExchange *exchange);
void http_shell_runs(HttpShell *shell, HttpExchange *exchange);
void http_shell_output(HttpShell *shell, HttpExchange *exchange);
/* masker: of what is asked for; NULL: nothing is masked. */
void http_shell_begin(HttpShell *shell, HttpExchange *exchange, Masker *masker);
void http_shell_stop(HttpShell *shell, HttpExchange *exchange);
