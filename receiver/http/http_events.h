/* GET /api/v1/events: what plumbd itself knows, told when it changes, so that nobody has to ask every few seconds. Each
 * topic is one small document, as it is now. It is made once a second for all readers together, and only while there
 * are any; who reads slowly misses states, never the last one. An event's id is the number of the change, so a reader
 * whose connection broke is told what changed since (Last-Event-ID). On the HTTP thread. */
#pragma once

#include "receiver/http/http_shell.h"
#include "receiver/state/state.h"

typedef struct HttpEvents HttpEvents;
HttpEvents *http_events_new(struct event_base *base, const StateSources *state, HttpShell *shell);
/* Once nothing comes any more. */
void http_events_end(HttpEvents *events);
void http_events_free(HttpEvents *events);
/* Answers the exchange. */
void http_events_stream(HttpEvents *events, HttpExchange *exchange);
