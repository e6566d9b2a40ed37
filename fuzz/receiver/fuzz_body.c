/* The body of an HTTP request, in chunks or not: the first byte chooses, the second says in pieces of which size it
 * comes. These are put where the body wants them, if it says so. Pieces change nothing, and what is kept is no more
 * than came. */
#include <string.h>

#include "fuzz/target.h"
#include "receiver/http/body.h"

static BodyState put(HttpBody *body, Bytes piece, gsize *taken) {
    gsize room;
    guint8 *into = http_body_room(body, &room);
    if (into == NULL) return http_body_feed(body, piece, taken);
    *taken = MIN(room, piece.size_bytes);
    memcpy(into, piece.data, *taken);
    return http_body_filled(body, room, *taken);
}

/* piece_bytes: 0: all at once. */
static BodyState feed(HttpBody *body, Bytes data, gsize piece_bytes, gsize *taken) {
    BodyState state = BODY_MORE;
    *taken = 0;
    while (state == BODY_MORE && *taken < data.size_bytes) {
        gsize some = 0;
        Bytes piece = {(const uint8_t *)data.data + *taken, data.size_bytes - *taken};
        if (piece_bytes > 0) piece.size_bytes = MIN(piece.size_bytes, piece_bytes);
        state = piece_bytes > 0 ? put(body, piece, &some) : http_body_feed(body, piece, &some);
        g_assert_cmpuint(some, <=, piece.size_bytes);
        g_assert_true(some > 0 || state != BODY_MORE);
        *taken += some;
    }
    return state;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    const HttpRequest request = {.in_chunks = data[0] & 1, .body_bytes = data[0] & 1 ? 0 : data[0] >> 1};
    const Bytes body = {data + 2, size - 2};
    HttpBody whole, pieces;
    gsize whole_taken, pieces_taken;
    http_body_init(&whole, &request, NULL);
    http_body_init(&pieces, &request, NULL);
    const BodyState state = feed(&whole, body, 0, &whole_taken);
    g_assert_cmpint(feed(&pieces, body, data[1] % 16 + 1u, &pieces_taken), ==, state);
    g_assert_cmpuint(pieces_taken, ==, whole_taken);
    g_assert_cmpuint(whole.bytes->len, <=, whole_taken);
    g_assert_cmpuint(whole.bytes->len, ==, pieces.bytes->len);
    g_assert_true(whole.bytes->len == 0 || memcmp(whole.bytes->data, pieces.bytes->data, whole.bytes->len) == 0);
    http_body_clear(&whole);
    http_body_clear(&pieces);
    return 0;
}
