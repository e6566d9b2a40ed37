/* Server-sent events to one reader. What it lacks is written once it has taken what was written before, so that no
 * more waits for it than one piece; and a beat is written where nothing comes, so that no proxy ends the connection,
 * and a reader that has left is noticed. It is cut when the rules about roles change, when the session ends that its
 * reader is in, and every five minutes where somebody has logged in: browsers connect again by themselves, and go on
 * where they were. On the HTTP thread. */
#pragma once

#include <jansson.h>

#include "receiver/http/server.h"

/* Of all and of one peer: each has a connection for as long as it reads. */
#define EVENT_STREAMS      64u
#define EVENT_PEER_STREAMS 16u

/* The first member of a struct from g_new0(), which is freed when the stream ends. */
typedef struct EventStream {
    GQueue *all; /* it is in there */
    HttpExchange *exchange;
    gboolean writing; /* a piece is on its way */
    gint64 begun_ns, wrote_ns;
    /* Writes what its reader lacks, if anything; called when it is not writing. */
    void (*more)(struct EventStream *stream);
} EventStream;

gboolean event_stream_has_room(const GQueue *all, const char *peer);
/* Takes the exchange. */
void event_stream_open(EventStream *stream, GQueue *all, HttpExchange *exchange);
/* Both free it. cut: its reader sees that it is not whole. text is taken over; what is written last is. */
void event_stream_cut(EventStream *stream);
void event_stream_end(EventStream *stream, GString *text);
/* text is taken over. */
void event_stream_write(EventStream *stream, GString *text);
/* data is taken over. */
void event_stream_add(GString *to, const char *name, json_t *data);
/* Each second; may end it. */
void event_stream_beat(EventStream *stream);
