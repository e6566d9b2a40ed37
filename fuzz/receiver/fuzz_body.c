/* The body of an HTTP request, in chunks or not: the first byte chooses, the second says in pieces of which size it
 * comes, which are put where the body wants them, if it says so. Pieces change nothing, and what is kept is no more than
 * came. */
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

typedef BodyState (*Take)(HttpBody *body, Bytes piece, gsize *taken);

static BodyState feed(Take take, HttpBody *body, const uint8_t *data, gsize size, gsize piece_bytes, gsize *taken) {
    BodyState state = BODY_MORE;
    *taken = 0;
    while (state == BODY_MORE && *taken < size) {
        gsize some = 0;
        const gsize left = size - *taken;
        state = take(body, (Bytes){data + *taken, MIN(piece_bytes, left)}, &some);
        g_assert_cmpuint(some, <=, MIN(piece_bytes, left));
        g_assert_true(some > 0 || state != BODY_MORE);
        *taken += some;
    }
    return state;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    const HttpRequest request = {.in_chunks = data[0] & 1, .body_bytes = data[0] & 1 ? 0 : data[0] >> 1};
    HttpBody whole, pieces;
    gsize whole_taken, pieces_taken;
    http_body_init(&whole, &request, NULL);
    http_body_init(&pieces, &request, NULL);
    const BodyState state = feed(http_body_feed, &whole, data + 2, size - 2, size, &whole_taken);
    g_assert_cmpint(feed(put, &pieces, data + 2, size - 2, data[1] % 16 + 1u, &pieces_taken), ==, state);
    g_assert_cmpuint(pieces_taken, ==, whole_taken);
    g_assert_cmpuint(whole.bytes->len, <=, whole_taken);
    g_assert_cmpuint(whole.bytes->len, ==, pieces.bytes->len);
    g_assert_true(whole.bytes->len == 0 || memcmp(whole.bytes->data, pieces.bytes->data, whole.bytes->len) == 0);
    http_body_clear(&whole);
    http_body_clear(&pieces);
    return 0;
}
