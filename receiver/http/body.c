#include "receiver/http/body.h"

/* What is expected next of chunks. */
enum { STEP_SIZE, STEP_SIZE_LF, STEP_DATA, STEP_DATA_CR, STEP_DATA_LF, STEP_END_CR, STEP_END_LF };
/* Of a chunk's size: more are more than any body has. */
#define SIZE_DIGITS 8
/* Room that is made at once: as much again as has come, between these. */
#define ROOM_LEAST ((gsize)16 * 1024)
#define ROOM_MOST  ((gsize)256 * 1024)

void http_body_init(HttpBody *body, const HttpRequest *request, GByteArray *bytes) {
    *body = (HttpBody){.bytes = bytes != NULL ? bytes : g_byte_array_new(),
                       .in_chunks = request->in_chunks,
                       .step = STEP_SIZE,
                       .left = request->body_bytes};
    if (request->in_chunks) body->left = 0;
}

void http_body_clear(HttpBody *body) { g_clear_pointer(&body->bytes, g_byte_array_unref); }

/* The bytes of the body, or of a chunk, that are there. */
static gsize take_data(HttpBody *body, const guint8 *data, gsize available) {
    const gsize n = MIN(available, body->left);
    g_byte_array_append(body->bytes, data, (guint)n);
    body->left -= n;
    return n;
}

static BodyState size_digit(HttpBody *body, guint8 c) {
    const int digit = g_ascii_xdigit_value((char)c);
    if (digit >= 0 && body->digits < SIZE_DIGITS) {
        body->left = body->left << 4 | (gsize)digit;
        body->digits++;
        return BODY_MORE;
    }
    if (c != '\r' || body->digits == 0) return BODY_BROKEN;
    if (body->left > HTTP_SPANS_MAX_BYTES - body->bytes->len) return BODY_TOO_LARGE;
    body->step = STEP_SIZE_LF;
    return BODY_MORE;
}

/* One byte that is no data. */
static BodyState step(HttpBody *body, guint8 c) {
    switch (body->step) {
    case STEP_SIZE: return size_digit(body, c);
    case STEP_SIZE_LF:
        body->step = body->left > 0 ? STEP_DATA : STEP_END_CR;
        return c == '\n' ? BODY_MORE : BODY_BROKEN;
    case STEP_DATA_CR: body->step = STEP_DATA_LF; return c == '\r' ? BODY_MORE : BODY_BROKEN;
    case STEP_DATA_LF:
        body->step = STEP_SIZE;
        body->digits = 0;
        return c == '\n' ? BODY_MORE : BODY_BROKEN;
    case STEP_END_CR: body->step = STEP_END_LF; return c == '\r' ? BODY_MORE : BODY_BROKEN;
    default: return c == '\n' ? BODY_WHOLE : BODY_BROKEN;
    }
}

static BodyState feed_chunks(HttpBody *body, const guint8 *data, gsize size_bytes, gsize *taken) {
    BodyState state = BODY_MORE;
    while (state == BODY_MORE && *taken < size_bytes) {
        if (body->step == STEP_DATA) {
            *taken += take_data(body, data + *taken, size_bytes - *taken);
            if (body->left == 0) body->step = STEP_DATA_CR;
        } else {
            state = step(body, data[(*taken)++]);
        }
    }
    return state;
}

BodyState http_body_feed(HttpBody *body, Bytes stream, gsize *taken) {
    *taken = 0;
    if (body->in_chunks) return feed_chunks(body, stream.data, stream.size_bytes, taken);
    if (stream.size_bytes > 0) *taken = take_data(body, stream.data, stream.size_bytes);
    return body->left == 0 ? BODY_WHOLE : BODY_MORE;
}

guint8 *http_body_room(HttpBody *body, gsize *room) {
    if (body->left == 0 || (body->in_chunks && body->step != STEP_DATA)) return NULL;
    const guint have = body->bytes->len;
    *room = MIN(body->left, CLAMP(have, ROOM_LEAST, ROOM_MOST));
    g_byte_array_set_size(body->bytes, have + (guint)*room);
    return body->bytes->data + have;
}

BodyState http_body_filled(HttpBody *body, gsize room, gsize came) {
    g_byte_array_set_size(body->bytes, body->bytes->len - (guint)(room - came));
    body->left -= came;
    if (body->left > 0) return BODY_MORE;
    if (!body->in_chunks) return BODY_WHOLE;
    body->step = STEP_DATA_CR;
    return BODY_MORE;
}
