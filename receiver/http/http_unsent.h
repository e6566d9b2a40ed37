/* Answers on their way to readers. They are made faster than a slow reader takes them, so what waits is bounded for all
 * readers together: past the bound the connection whose answer has waited longest is closed, and its reader sees that
 * the answer is not whole. A reader that keeps up is never behind all others. HTTP thread only. */
#pragma once

#include <event2/http.h>
#include <glib.h>

#include "receiver/facts/counters.h"

/* The newest answer waits in any case, however large. */
#define HTTP_UNSENT_MAX_BYTES (64u << 20)

typedef struct HttpUnsent HttpUnsent;
HttpUnsent *http_unsent_new(Counters *counters);
/* When no buffer is left. */
void http_unsent_free(HttpUnsent *unsent);
/* A new buffer of the bytes that are about to be sent, which are not copied. Until they are sent, the connection's
 * callback for its end is used here. */
struct evbuffer *http_unsent_buffer(HttpUnsent *unsent, struct evhttp_request *request, GBytes *body);
