/* Bytes that grow, written in place: reserve the most that comes, write, note the end. For what is too hot for a
 * GByteArray. */
#pragma once

#include <glib.h>
#include <string.h>

typedef struct Buffer {
    guint8 *bytes;
    gsize size, room;
} Buffer;

static inline void buffer_clear(Buffer *buffer) { g_clear_pointer(&buffer->bytes, g_free); }

/* Where the next byte goes, with room for so many more. */
static inline guint8 *buffer_reserve(Buffer *buffer, gsize more) {
    if (G_UNLIKELY(buffer->size + more > buffer->room)) {
        buffer->room = MAX(2 * buffer->room, buffer->size + more);
        buffer->bytes = (guint8 *)g_realloc(buffer->bytes, buffer->room);
    }
    return buffer->bytes + buffer->size;
}

static inline void buffer_end(Buffer *buffer, const guint8 *end) { buffer->size = (gsize)(end - buffer->bytes); }

static inline void buffer_add(Buffer *buffer, const void *bytes, gsize size) {
    memcpy(buffer_reserve(buffer, size), bytes, size);
    buffer->size += size;
}
