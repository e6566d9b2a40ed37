/* HTTP/1 requests, from bytes alone: no sockets. What could be read in two ways is refused, so that nobody before us (a
 * proxy, a browser) can have read it in another one: two Content-Length, a folded line, a control character, an escaped
 * zero byte. */
#pragma once

#include "common/base/bytes.h"
#include "common/base/limits.h"

/* Requests have no body to speak of, but those that bring spans; headers are a browser's. */
#define HTTP_HEAD_MAX_BYTES (16u * 1024)
#define HTTP_BODY_MAX_BYTES (64u * 1024)
/* Of a ticket in base64, beside the rest of a head: tickets of Active Directory have all groups of a user. */
#define HTTP_TICKET_MAX_BYTES (64u * 1024)
#define HTTP_SPANS_MAX_BYTES  LIMIT_FRAME_BYTES

typedef enum { HTTP_GET, HTTP_HEAD, HTTP_POST } HttpMethod;

/* What a request brings, by method and path; of HTTP_COMMAND it is a few lines for the shell, or a mark, no spans. */
typedef enum { HTTP_NO_SPANS, HTTP_OTLP, HTTP_ZIPKIN, HTTP_HTRACED, HTTP_COMMAND } HttpSpans;

typedef struct HttpRequest {
    HttpMethod method;
    HttpSpans spans;     /* HTTP_NO_SPANS: the body is dropped */
    gboolean chunks;     /* the peer understands them: HTTP/1.1 */
    gboolean keep_alive; /* more may come on the connection */
    gboolean continues;  /* waits for "100 Continue" before it sends the body */
    gboolean in_chunks;  /* the body comes in chunks: only of one that brings spans */
    gsize body_bytes;
    char *content_type, *content_encoding; /* NULL: none */
    char *path;                            /* as it came, without the query */
    char *query;                           /* as it came; NULL: none */
    char *host;                            /* with the port, if there is one; NULL: HTTP/1.0 without */
    char *origin;                          /* NULL: none */
    gboolean embedded;                     /* a page of another site has it asked, and not as the next page */
    char *authorization, *cookie;          /* NULL: none; secrets */
    gboolean by_cookie;                    /* the cookie says who asks, and nothing else does */
    char *refused;                         /* why what it shows is no login; NULL: it is, or shows nothing */
    char *known;                           /* If-None-Match: the tag of what the peer has; NULL: none */
    char *last_event;                      /* Last-Event-ID: what the reader of a stream has; NULL: none */
    gboolean gzip;                         /* the peer unpacks it */
    gboolean open_metrics;                 /* it takes OpenMetrics, no less than Prometheus's older text */
} HttpRequest;

/* How far a head has come. Zeroed before each. */
typedef struct HttpHead {
    gsize seen;      /* bytes that were looked at */
    gboolean ticket; /* it has one, and so is longer than others may be */
} HttpHead;
typedef enum {
    HEAD_PARTIAL,
    HEAD_GROWS, /* the same, and a ticket in it makes it longer than HTTP_HEAD_MAX_BYTES; said once */
    HEAD_WHOLE, /* *head_bytes: with the empty line at its end */
    HEAD_TOO_LONG,
} HttpHeadState;
#define HTTP_TICKET_HEAD_BYTES (HTTP_HEAD_MAX_BYTES + HTTP_TICKET_MAX_BYTES)
/* stream: what is here of it, all of it again each time. tickets: are any taken? What follows "Authorization:
 * Negotiate" then does not count to HTTP_HEAD_MAX_BYTES; the line must begin within them. */
HttpHeadState http_head_look(HttpHead *head, Bytes stream, gboolean tickets, gsize *head_bytes);
/* head: all lines, without the empty one. On failure *code is the status to answer with, and nothing more can be read
 * of the connection: INPUT. */
gboolean http_request_parse(Bytes head, HttpRequest *request, int *code, GError **error);
/* Of no more use once somebody has logged in by it, and long. */
void http_request_forget_login(HttpRequest *request);
void http_request_clear(HttpRequest *request);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(HttpRequest, http_request_clear)

/* What a status of ours is called; static. */
const char *http_reason(int code);

/* Calls 'add' for each name=value of a query, both decoded. FALSE, and *why (static): it is malformed. */
typedef void (*HttpQueryAdd)(void *arg, const char *name, const char *value);
gboolean http_query_parse(const char *query, HttpQueryAdd add, void *arg, const char **why);
