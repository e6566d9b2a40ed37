#include "common/wire/thrift_read.h"

#include "common/base/limits.h"
#include "common/wire/thrift_varint.h"

const guint8 thrift_compact_types[16] = {
    TYPE_STOP,   TYPE_BOOL, TYPE_BOOL, TYPE_BYTE, TYPE_I16,    TYPE_I32,  TYPE_I64,  TYPE_DOUBLE,
    TYPE_STRING, TYPE_LIST, TYPE_SET,  TYPE_MAP,  TYPE_STRUCT, TYPE_STOP, TYPE_STOP, TYPE_STOP,
};

gboolean thrift_fault(ThriftReader *r, PlumbError code, const char *what) {
    if (r->fault == NULL) {
        r->fault = what;
        r->code = code;
    }
    r->at = r->end;
    return FALSE;
}

gboolean thrift_ok(const ThriftReader *r, GError **error) {
    if (r->fault == NULL) return TRUE;
    return fail(error, r->code, "Thrift message: %s", r->fault);
}

static guint64 varint_bytewise(ThriftReader *r) {
    guint64 value = 0;
    for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
        const guint8 byte = *r->at++;
        if (shift == 63 && byte > 1) break; /* the tenth byte holds the last bit only */
        value |= (guint64)(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    return (guint64)thrift_fault(r, PLUMB_ERROR_INPUT, r->at == r->end ? "bytes are missing" : "an over-long number");
}

guint64 thrift_varint_long(ThriftReader *r) {
    guint64 value;
    const guint length = thrift_left(r) < THRIFT_VARINT_BYTES ? 0 : varint_at(r->at, &value);
    if (length == 0) return varint_bytewise(r);
    r->at += length;
    return value;
}

/* Near the end of the bytes; and in the compact protocol the stop and the long form of the field's number. */
gboolean thrift_next_field_long(ThriftReader *r, ThriftField *field) {
    if (r->at == r->end) return thrift_fault(r, PLUMB_ERROR_INPUT, "a struct without an end");
    const guint8 head = *r->at++;
    if (head == TYPE_STOP) return FALSE;
    if (r->protocol == PROTOCOL_BINARY) return thrift_fault(r, PLUMB_ERROR_INPUT, "a struct without an end");

    field->type = thrift_compact_types[head & 15];
    if (field->type == TYPE_STOP) return thrift_fault(r, PLUMB_ERROR_INPUT, "a field of no type");
    const gint32 id = head >> 4 != 0 ? field->id + (head >> 4) : thrift_i32(r);
    if (id < G_MININT16 || id > G_MAXINT16) return thrift_fault(r, PLUMB_ERROR_INPUT, "a field number of over 16 bits");
    field->id = (gint16)id;
    return r->fault == NULL;
}

/* Element types of the compact protocol, booleans among them, come in the low half of a byte. */
static guint8 element_type(const ThriftReader *r, guint8 byte) {
    return r->protocol == PROTOCOL_COMPACT ? thrift_compact_types[byte & 15] : byte;
}

static gboolean type_known(guint8 type) {
    static const guint32 known = 1u << TYPE_BOOL | 1u << TYPE_BYTE | 1u << TYPE_DOUBLE | 1u << TYPE_I16 |
                                 1u << TYPE_I32 | 1u << TYPE_I64 | 1u << TYPE_STRING | 1u << TYPE_STRUCT |
                                 1u << TYPE_MAP | 1u << TYPE_SET | 1u << TYPE_LIST;
    return type < 32 && (known >> type & 1) != 0;
}

/* No element is shorter than a byte, so what claims more of them than there are bytes is refused before any work or
 * memory is spent on it; elements of no type, which would take no bytes, are refused too. */
static gboolean check_elements(ThriftReader *r, guint32 n, gboolean types_known) {
    if (n > thrift_left(r)) return thrift_fault(r, PLUMB_ERROR_INPUT, "more elements than bytes");
    if (n > 0 && !types_known) return thrift_fault(r, PLUMB_ERROR_INPUT, "elements of no type");
    return r->fault == NULL;
}

gboolean thrift_list(ThriftReader *r, guint8 *type, guint32 *n) {
    if (r->at == r->end) return thrift_fault(r, PLUMB_ERROR_INPUT, "bytes are missing");
    const guint8 head = *r->at++;
    const guint8 of = element_type(r, head);
    guint32 size = head >> 4;
    if (r->protocol == PROTOCOL_BINARY)
        size = thrift_u32be(r);
    else if (size == 15)
        size = thrift_varint32(r);
    /* The compact protocol's writers give empty lists a type too, or none; but not one that does not exist. */
    if (r->protocol == PROTOCOL_COMPACT && (head & 15) != 0 && of == TYPE_STOP)
        return thrift_fault(r, PLUMB_ERROR_INPUT, "elements of no type");
    if (!check_elements(r, size, type_known(of))) return FALSE;
    *type = of;
    *n = size;
    return TRUE;
}

gboolean thrift_map(ThriftReader *r, guint8 types[2], guint32 *n) {
    guint8 key = TYPE_STOP, value = TYPE_STOP;
    guint32 size = 0;
    if (r->protocol == PROTOCOL_COMPACT) size = thrift_varint32(r);
    if (r->protocol == PROTOCOL_BINARY || size > 0) {
        const gsize head_bytes = r->protocol == PROTOCOL_BINARY ? 2 : 1;
        if (thrift_left(r) < head_bytes) return thrift_fault(r, PLUMB_ERROR_INPUT, "bytes are missing");
        key = r->protocol == PROTOCOL_BINARY ? r->at[0] : element_type(r, r->at[0] >> 4);
        value = r->protocol == PROTOCOL_BINARY ? r->at[1] : element_type(r, r->at[0]);
        r->at += head_bytes;
    }
    if (r->protocol == PROTOCOL_BINARY) size = thrift_u32be(r);
    if (!check_elements(r, size, type_known(key) && type_known(value))) return FALSE;
    types[0] = key;
    types[1] = value;
    *n = size;
    return TRUE;
}

static void skip_bytes(ThriftReader *r, gsize n) {
    if (n > thrift_left(r))
        thrift_fault(r, PLUMB_ERROR_INPUT, "bytes are missing");
    else
        r->at += n;
}

static void skip_scalar(ThriftReader *r, guint8 type, gboolean in_struct) {
    const gboolean compact = r->protocol == PROTOCOL_COMPACT;
    const char *data;
    guint32 length;
    switch (type) {
    case TYPE_BOOL: skip_bytes(r, compact && in_struct ? 0 : 1); break;
    case TYPE_BYTE: skip_bytes(r, 1); break;
    case TYPE_DOUBLE: skip_bytes(r, 8); break;
    case TYPE_I16:
        if (compact)
            thrift_varint32(r);
        else
            skip_bytes(r, 2);
        break;
    case TYPE_I32: thrift_i32(r); break;
    case TYPE_I64: thrift_i64(r); break;
    case TYPE_STRING: thrift_string(r, &data, &length); break;
    default: thrift_fault(r, PLUMB_ERROR_INPUT, "a value of unknown type");
    }
}

/* A struct, or a container with 'left' elements to go, whose types alternate (in a list they are the same). */
typedef struct SkipLevel {
    gboolean is_struct;
    ThriftField field;
    guint8 types[2];
    guint64 left;
} SkipLevel;

static gboolean begin_level(ThriftReader *r, guint8 type, SkipLevel *level) {
    guint32 n = 0;
    *level = (SkipLevel){.is_struct = type == TYPE_STRUCT};
    if (type == TYPE_STRUCT) return TRUE;
    if (type == TYPE_MAP) {
        if (!thrift_map(r, level->types, &n)) return FALSE;
        level->left = 2 * (guint64)n;
        return TRUE;
    }
    if (!thrift_list(r, &level->types[0], &n)) return FALSE;
    level->types[1] = level->types[0];
    level->left = n;
    return TRUE;
}

/* Type of the next value on a level; FALSE when there is none. */
static gboolean next_value(ThriftReader *r, SkipLevel *level, guint8 *type) {
    if (level->is_struct) {
        if (!thrift_next_field(r, &level->field)) return FALSE;
        *type = level->field.type;
        return TRUE;
    }
    if (level->left == 0 || r->fault != NULL) return FALSE;
    *type = level->types[level->left & 1]; /* of a map, the key has the even count */
    level->left--;
    return TRUE;
}

static gboolean is_compound(guint8 type) { return type >= TYPE_STRUCT && type <= TYPE_LIST; }

/* Structs and lists that a message of ours has around a value, at most: arguments, batch, list of spans, span, list of
 * annotations, annotation; records of Spark have as many. */
#define KNOWN_LEVELS 8u

/* Levels are kept here and not on the call stack: their number is the peer's choice. */
static void skip_compound(ThriftReader *r, guint8 type, guint most_levels) {
    SkipLevel levels[LIMIT_THRIFT_DEPTH + KNOWN_LEVELS];
    guint depth = 0;
    if (begin_level(r, type, &levels[0])) depth = 1;
    while (depth > 0) {
        SkipLevel *level = &levels[depth - 1];
        guint8 next;
        if (!next_value(r, level, &next)) {
            depth--;
        } else if (!is_compound(next)) {
            skip_scalar(r, next, level->is_struct);
        } else if (depth == most_levels) {
            thrift_fault(r, PLUMB_ERROR_LIMIT, "structures nested too deeply");
        } else if (begin_level(r, next, &levels[depth])) {
            depth++;
        }
    }
}

void thrift_skip(ThriftReader *r, guint8 type, gboolean in_struct) {
    if (is_compound(type))
        skip_compound(r, type, LIMIT_THRIFT_DEPTH);
    else
        skip_scalar(r, type, in_struct);
}

void thrift_skip_message(ThriftReader *r) { skip_compound(r, TYPE_STRUCT, LIMIT_THRIFT_DEPTH + KNOWN_LEVELS); }
