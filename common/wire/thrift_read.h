/* Reading Thrift's binary and compact protocol from memory. Private to common/wire.
 *
 * Everything is checked against the end of the bytes. The first failure is kept in 'fault' and ends the input, so that
 * loops over fields and elements stop by themselves: look at 'fault' once, at the end. Inline, because these are the
 * few instructions that every span costs some twenty times. */
#pragma once

#include <string.h>

#include "common/base/bytes.h"
#include "common/base/error.h"
#include "common/wire/protocol.h"

/* Types as the binary protocol numbers them; the compact protocol's are translated. */
typedef enum {
    TYPE_STOP = 0,
    TYPE_BOOL = 2,
    TYPE_BYTE = 3,
    TYPE_DOUBLE = 4,
    TYPE_I16 = 6,
    TYPE_I32 = 8,
    TYPE_I64 = 10,
    TYPE_STRING = 11,
    TYPE_STRUCT = 12,
    TYPE_MAP = 13,
    TYPE_SET = 14,
    TYPE_LIST = 15,
} ThriftTypeCode;

typedef struct ThriftReader {
    const guint8 *at;
    const guint8 *end;
    WireProtocol protocol;
    PlumbError code;   /* of the fault */
    const char *fault; /* static; NULL while all is well */
} ThriftReader;

typedef struct ThriftField {
    gint16 id; /* of the field before, in the compact protocol: start a struct with {0} */
    guint8 type;
} ThriftField;

/* One number for id and type, for switches: a field of another type than expected is an unknown one. */
#define FIELD_KEY(id, type) ((guint32)(guint16)(id) << 8 | (type))
static inline guint32 field_key(const ThriftField *field) { return FIELD_KEY(field->id, field->type); }

static inline ThriftReader thrift_reader(Bytes bytes, WireProtocol protocol) {
    const guint8 *at = bytes.data;
    return (ThriftReader){at, at + bytes.size_bytes, protocol, PLUMB_ERROR_INPUT, NULL};
}

static inline gsize thrift_left(const ThriftReader *r) { return (gsize)(r->end - r->at); }

/* Compact type to type code; 0 for what is none. */
extern const guint8 thrift_compact_types[16];

/* Sets the fault, unless there is one. Always FALSE. */
gboolean thrift_fault(ThriftReader *r, PlumbError code, const char *what);
/* The longer way of thrift_varint. */
guint64 thrift_varint_long(ThriftReader *r);
gboolean thrift_next_field_long(ThriftReader *r, ThriftField *field);
/* Skips a value of that type. in_struct: it is a field's, where the compact protocol has booleans in the field's head.
 */
void thrift_skip(ThriftReader *r, guint8 type, gboolean in_struct);
void thrift_skip_message(ThriftReader *r); /* a struct with known fields and unknown ones, which may nest as deep */

static inline guint64 thrift_varint(ThriftReader *r) {
    if (G_LIKELY(r->at < r->end && *r->at < 0x80)) return *r->at++;
    return thrift_varint_long(r);
}

static inline guint32 thrift_u32be(ThriftReader *r) {
    guint32 value;
    if (G_UNLIKELY(thrift_left(r) < sizeof value))
        return (guint32)thrift_fault(r, PLUMB_ERROR_INPUT, "bytes are missing");
    memcpy(&value, r->at, sizeof value);
    r->at += sizeof value;
    return GUINT32_FROM_BE(value);
}

static inline guint64 thrift_u64be(ThriftReader *r) {
    guint64 value;
    if (G_UNLIKELY(thrift_left(r) < sizeof value))
        return (guint64)thrift_fault(r, PLUMB_ERROR_INPUT, "bytes are missing");
    memcpy(&value, r->at, sizeof value);
    r->at += sizeof value;
    return GUINT64_FROM_BE(value);
}

static inline guint32 thrift_varint32(ThriftReader *r) {
    const guint64 value = thrift_varint(r);
    if (G_UNLIKELY(value > G_MAXUINT32)) return (guint32)thrift_fault(r, PLUMB_ERROR_INPUT, "a number of over 32 bits");
    return (guint32)value;
}

static inline gint32 thrift_i32(ThriftReader *r) {
    if (r->protocol == PROTOCOL_BINARY) return (gint32)thrift_u32be(r);
    const guint32 coded = thrift_varint32(r);
    return (gint32)(coded >> 1 ^ -(coded & 1));
}

static inline gint64 thrift_i64(ThriftReader *r) {
    if (r->protocol == PROTOCOL_BINARY) return (gint64)thrift_u64be(r);
    const guint64 coded = thrift_varint(r);
    return (gint64)(coded >> 1 ^ -(coded & 1));
}

/* FALSE at the end of the struct and after a fault. */
static inline gboolean thrift_next_field(ThriftReader *r, ThriftField *field) {
    if (r->protocol == PROTOCOL_BINARY) {
        if (G_UNLIKELY(thrift_left(r) < 3)) return thrift_next_field_long(r, field);
        field->type = r->at[0];
        if (field->type == TYPE_STOP) {
            r->at++;
            return FALSE;
        }
        field->id = (gint16)((guint16)r->at[1] << 8 | r->at[2]);
        r->at += 3;
        return TRUE;
    }
    if (G_UNLIKELY(r->at == r->end || *r->at < 0x10 || field->id > G_MAXINT16 - 15))
        return thrift_next_field_long(r, field);
    field->type = thrift_compact_types[*r->at & 15];
    field->id = (gint16)(field->id + (*r->at >> 4));
    r->at++;
    return field->type != TYPE_STOP || thrift_fault(r, PLUMB_ERROR_INPUT, "a field of no type");
}

/* Bytes of a string, in place. */
static inline gboolean thrift_string(ThriftReader *r, const char **data, guint32 *length) {
    const guint32 n = r->protocol == PROTOCOL_BINARY ? thrift_u32be(r) : thrift_varint32(r);
    if (G_UNLIKELY(n > thrift_left(r))) return thrift_fault(r, PLUMB_ERROR_INPUT, "a string runs past the end");
    if (G_UNLIKELY(r->fault != NULL)) return FALSE;
    *data = (const char *)r->at;
    *length = n;
    r->at += n;
    return TRUE;
}

/* Head of a list or set. There are never more elements than bytes left. */
gboolean thrift_list(ThriftReader *r, guint8 *type, guint32 *n);

/* Head of a map: types of its keys and values. */
gboolean thrift_map(ThriftReader *r, guint8 types[2], guint32 *n);

/* FALSE with *error when there was a fault. */
gboolean thrift_ok(const ThriftReader *r, GError **error);
