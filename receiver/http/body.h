/* The body of a request that brings spans, as its bytes come: with its length said before, or in chunks. Memory grows
 * by what has come, never by what a length declares. Knows no sockets.
 *
 * What could be read in two ways is refused: a chunk's size is hexadecimal digits and nothing else (extensions, which
 * nobody sends, are not taken), lines end in CR LF, and after the last chunk comes an empty line. */
#pragma once

#include "common/base/bytes.h"
#include "receiver/http/request.h"

typedef enum {
    BODY_MORE,
    BODY_WHOLE,
    BODY_BROKEN,    /* the chunks are malformed */
    BODY_TOO_LARGE, /* over HTTP_SPANS_MAX_BYTES */
} BodyState;

typedef struct HttpBody {
    GByteArray *bytes;
    gboolean in_chunks;
    guint8 step;   /* of a chunk */
    guint8 digits; /* of its size so far */
    gsize left;    /* of the body, or of the chunk */
} HttpBody;

/* bytes: an empty array that it may have; NULL: none. */
void http_body_init(HttpBody *body, const HttpRequest *request, GByteArray *bytes);
void http_body_clear(HttpBody *body);
/* *taken: how many of the bytes are the body's. With BODY_WHOLE, what is behind them is the next request's. */
BodyState http_body_feed(HttpBody *body, Bytes stream, gsize *taken);
/* The same without a copy: room for bytes of which all that come are the body's, *room of them; NULL: what comes next
 * is to be looked at. http_body_filled() says how many came. */
guint8 *http_body_room(HttpBody *body, gsize *room);
BodyState http_body_filled(HttpBody *body, gsize room, gsize came);
