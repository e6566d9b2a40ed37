/* Values of msgpack, one after the other, from memory. The library's parser finds them; what they hold is put into one
 * array, which is bounded, since the library itself makes room for as many entries as a value declares. Texts and bytes
 * stay where they are. Private to this folder. */
#pragma once

#include "common/base/bytes.h"
#include "common/base/error.h"

/* Entries of one value, with all that lies in it: more than the largest span has (base/limits.h). */
#define MSGPACK_ENTRIES 65536u
/* Lists and maps within each other: a span has three. */
#define MSGPACK_DEPTH 8

typedef enum {
    MSGPACK_NOTHING, /* nil, and what HTrace does not use: reals, truth values, extensions, numbers past 63 bits */
    MSGPACK_NUMBER,
    MSGPACK_TEXT,
    MSGPACK_BYTES,
    MSGPACK_LIST,
    MSGPACK_MAP,
} MsgpackType;

typedef struct MsgpackValue {
    MsgpackType type;
    guint32 length; /* bytes of a text, entries of a list, pairs of a map */
    guint32 at;     /* of a list or map: the first entry among all; a key and its value are two */
    guint32 filled; /* the reader's */
    union {
        gint64 number;
        const char *data;
    };
} MsgpackValue;

typedef struct MsgpackReader {
    Bytes left;
    GArray *entries; /* MsgpackValue, of the value that was read last */
} MsgpackReader;

void msgpack_reader_init(MsgpackReader *reader, Bytes bytes);
void msgpack_reader_clear(MsgpackReader *reader);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(MsgpackReader, msgpack_reader_clear)
/* The next value; what the one before held is gone. Errors: INPUT (no msgpack, cut), LIMIT. */
gboolean msgpack_next(MsgpackReader *reader, MsgpackValue *value, GError **error);

static inline const MsgpackValue *msgpack_entry(const MsgpackReader *reader, const MsgpackValue *of, guint32 i) {
    return &g_array_index(reader->entries, MsgpackValue, of->at + i);
}
