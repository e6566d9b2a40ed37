/* Reading protobuf's wire format from memory, field by field, in place. Private to this folder.
 *
 * Everything is checked against the end of the bytes; the first failure is kept in 'fault' and ends the input. Inline:
 * a span of OTLP has some fifty fields. */
#pragma once

#include <string.h>

#include "common/base/bytes.h"
#include "common/model/batch.h"

typedef enum { PROTO_VARINT, PROTO_FIXED64, PROTO_BYTES, PROTO_FIXED32 = 5 } ProtoType;

typedef struct ProtoReader {
    const guint8 *at, *end;
    const char *fault; /* static; NULL while all is well */
} ProtoReader;

typedef struct ProtoField {
    guint64 key;        /* PROTO_KEY: a field of another type than expected is an unknown one */
    guint64 value;      /* of a number */
    const guint8 *data; /* of bytes */
    guint32 length;
} ProtoField;

#define PROTO_KEY(number, type) ((guint64)(number) << 3 | (type))

static inline ProtoReader proto_reader(const void *data, gsize length) {
    const guint8 *at = data;
    return (ProtoReader){at, at + length, NULL};
}
/* Of a message in a field. */
static inline ProtoReader proto_inside(const ProtoField *field) { return proto_reader(field->data, field->length); }
static inline BatchString proto_text(const ProtoField *field) {
    return (BatchString){(const char *)field->data, field->length};
}

static inline gboolean proto_fault(ProtoReader *r, const char *what) {
    if (r->fault == NULL) r->fault = what;
    r->at = r->end;
    return FALSE;
}

static inline gboolean proto_varint(ProtoReader *r, guint64 *value) {
    if (G_LIKELY(r->at < r->end && *r->at < 0x80)) {
        *value = *r->at++;
        return TRUE;
    }
    guint64 sum = 0;
    for (guint shift = 0; shift < 70 && r->at < r->end; shift += 7) {
        const guint8 byte = *r->at++;
        if (shift == 63 && byte > 1) break;
        sum |= (guint64)(byte & 0x7f) << shift;
        if (byte >= 0x80) continue;
        *value = sum;
        return TRUE;
    }
    return proto_fault(r, "a number of protobuf is cut, or has more than 64 bits");
}

static inline gboolean proto_fixed(ProtoReader *r, gsize size_bytes, ProtoField *field) {
    if ((gsize)(r->end - r->at) < size_bytes) return proto_fault(r, "bytes are missing");
    guint64 little = 0;
    memcpy(&little, r->at, size_bytes);
    field->value = GUINT64_FROM_LE(little);
    r->at += size_bytes;
    return TRUE;
}

static inline gboolean proto_bytes(ProtoReader *r, ProtoField *field) {
    guint64 length;
    if (!proto_varint(r, &length)) return FALSE;
    if (length > (gsize)(r->end - r->at) || length > G_MAXUINT32) return proto_fault(r, "a field runs past the end");
    field->data = r->at;
    field->length = (guint32)length;
    r->at += length;
    return TRUE;
}

/* FALSE at the end, and after a fault. */
static inline gboolean proto_next(ProtoReader *r, ProtoField *field) {
    if (r->at == r->end) return FALSE;
    if (!proto_varint(r, &field->key)) return FALSE;
    if (G_UNLIKELY(field->key < 8)) return proto_fault(r, "a field of protobuf has the number 0");
    switch (field->key & 7) {
    case PROTO_VARINT: return proto_varint(r, &field->value);
    case PROTO_FIXED64: return proto_fixed(r, 8, field);
    case PROTO_BYTES: return proto_bytes(r, field);
    case PROTO_FIXED32: return proto_fixed(r, 4, field);
    default: return proto_fault(r, "this is no protobuf: a field has no type");
    }
}
