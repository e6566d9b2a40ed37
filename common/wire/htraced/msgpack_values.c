#include "common/wire/htraced/msgpack_values.h"

#define MSGPACK_EMBED_STACK_SIZE MSGPACK_DEPTH
#include <msgpack/unpack_define.h>

/* ---- what the parser calls for each value ---- */

typedef struct Filling {
    GArray *entries;
    gboolean too_many;
} Filling;

/* Numbers of the parser's own errors. */
enum { UNPACK_CUT = 0, UNPACK_DONE = 1, MSGPACK_UNPACK_PARSE_ERROR = -1, MSGPACK_UNPACK_NOMEM_ERROR = -2 };

static inline int put(MsgpackValue *value, MsgpackType type, gint64 number) {
    *value = (MsgpackValue){.type = type, .number = number};
    return 0;
}

#define NUMBER_OF(name, c_type)                                                                                        \
    static inline int value_##name(const Filling *filling, c_type number, MsgpackValue *out) {                         \
        (void)filling;                                                                                                 \
        return put(out, MSGPACK_NUMBER, (gint64)number);                                                               \
    }
NUMBER_OF(uint8, guint8)
NUMBER_OF(uint16, guint16)
NUMBER_OF(uint32, guint32)
NUMBER_OF(int8, gint8)
NUMBER_OF(int16, gint16)
NUMBER_OF(int32, gint32)
NUMBER_OF(int64, gint64)

static inline int value_uint64(const Filling *filling, guint64 number, MsgpackValue *out) {
    (void)filling;
    return put(out, number <= G_MAXINT64 ? MSGPACK_NUMBER : MSGPACK_NOTHING, (gint64)(number & G_MAXINT64));
}

static inline int value_float(const Filling *filling, float number, MsgpackValue *out) {
    (void)filling, (void)number;
    return put(out, MSGPACK_NOTHING, 0);
}

static inline int value_double(const Filling *filling, double number, MsgpackValue *out) {
    (void)filling, (void)number;
    return put(out, MSGPACK_NOTHING, 0);
}

#define NOTHING_OF(name)                                                                                               \
    static inline int value_##name(const Filling *filling, MsgpackValue *out) {                                        \
        (void)filling;                                                                                                 \
        return put(out, MSGPACK_NOTHING, 0);                                                                           \
    }
NOTHING_OF(nil)
NOTHING_OF(true)
NOTHING_OF(false)

#define BYTES_OF(name, kind)                                                                                           \
    static inline int value_##name(const Filling *filling, const char *all, const char *data, guint length,            \
                                   MsgpackValue *out) {                                                                \
        (void)filling, (void)all;                                                                                      \
        *out = (MsgpackValue){.type = (kind), .length = length, .data = data};                                         \
        return 0;                                                                                                      \
    }
BYTES_OF(str, MSGPACK_TEXT)
BYTES_OF(bin, MSGPACK_BYTES)
BYTES_OF(ext, MSGPACK_NOTHING)

static int begin_container(Filling *filling, MsgpackType type, guint length, MsgpackValue *out) {
    const guint at = filling->entries->len;
    const guint64 n = (guint64)length * (type == MSGPACK_MAP ? 2 : 1);
    filling->too_many = n > MSGPACK_ENTRIES - at;
    if (filling->too_many) return MSGPACK_UNPACK_NOMEM_ERROR;
    g_array_set_size(filling->entries, at + (guint)n);
    *out = (MsgpackValue){.type = type, .length = length, .at = at};
    return 0;
}

static inline int value_array(Filling *filling, guint length, MsgpackValue *out) {
    return begin_container(filling, MSGPACK_LIST, length, out);
}

static inline int value_map(Filling *filling, guint length, MsgpackValue *out) {
    return begin_container(filling, MSGPACK_MAP, length, out);
}

static inline int value_array_item(Filling *filling, MsgpackValue *list, MsgpackValue item) {
    g_array_index(filling->entries, MsgpackValue, list->at + list->filled++) = item;
    return 0;
}

static inline int value_map_item(Filling *filling, MsgpackValue *map, MsgpackValue key, MsgpackValue value) {
    value_array_item(filling, map, key);
    return value_array_item(filling, map, value);
}

static inline MsgpackValue value_root(const Filling *filling) {
    (void)filling;
    return (MsgpackValue){.type = MSGPACK_NOTHING};
}

/* ---- the parser ---- */

#define msgpack_unpack_struct(name)    struct parser##name
#define msgpack_unpack_func(ret, name) static inline ret parser##name
#define msgpack_unpack_callback(name)  value##name
#define msgpack_unpack_object          MsgpackValue
#define msgpack_unpack_user            Filling
#include <msgpack/unpack_template.h>

void msgpack_reader_init(MsgpackReader *reader, Bytes bytes) {
    reader->left = bytes;
    reader->entries = g_array_new(FALSE, TRUE, sizeof(MsgpackValue));
}

void msgpack_reader_clear(MsgpackReader *reader) { g_array_unref(reader->entries); }

gboolean msgpack_next(MsgpackReader *reader, MsgpackValue *value, GError **error) {
    struct parser_context parser = {.user = {reader->entries, FALSE}};
    gsize taken = 0;
    g_array_set_size(reader->entries, 0);
    parser_init(&parser);
    const int result = parser_execute(&parser, reader->left.data, reader->left.size_bytes, &taken);

    if (result == UNPACK_CUT) return fail(error, PLUMB_ERROR_INPUT, "bytes are missing");
    if (parser.user.too_many)
        return fail(error, PLUMB_ERROR_LIMIT, "a value of msgpack has more than %u entries", MSGPACK_ENTRIES);
    if (result != UNPACK_DONE)
        return fail(error, PLUMB_ERROR_INPUT, "this is no msgpack, or its values are nested more than %d deep",
                    MSGPACK_DEPTH);
    *value = parser_data(&parser);
    reader->left = (Bytes){(const guint8 *)reader->left.data + taken, reader->left.size_bytes - taken};
    return TRUE;
}
