#include "analyzer/archive/spark/spark_code.h"

#include <string.h>

enum { CLASS_NUMBER, CLASS_DOUBLE, CLASS_BYTES };

/* Bits of an array's varint. */
G_STATIC_ASSERT(TASK_METRIC_COUNT <= 64 && JVM_FEATURE_COUNT <= 64);
/* Whole numbers up to here are exact in a double, and twice them fit a varint. */
#define WHOLE_MOST 9007199254740992.0
/* An entry of a list takes a byte at least: bounds what a damaged value can ask for. */
#define NUMBER_BYTES 10u

typedef struct AnyList {
    const guint8 *items;
    guint32 n;
} AnyList;

static void *at(const SparkField *field, const void *record) { return (guint8 *)record + field->offset; }

/* ---- encoding ---- */

static void append_tag(GByteArray *out, const SparkField *field, guint class) {
    append_varint(out, (guint64)field->number << 2 | class);
}

static void append_double(GByteArray *out, double value) {
    guint64 bits;
    memcpy(&bits, &value, sizeof bits);
    bits = GUINT64_TO_LE(bits);
    append_bytes(out, &bits, sizeof bits);
}

static void append_sized(GByteArray *out, const SparkField *field, const GByteArray *body) {
    append_tag(out, field, CLASS_BYTES);
    append_varint(out, body->len);
    append_bytes(out, body->data, body->len);
}

static void encode_array(const SparkField *field, const void *value, GByteArray *out) {
    const gboolean doubles = field->type == FIELD_DOUBLES;
    const gint64 *numbers = value;
    const double *reals = value;
    g_autoptr(GByteArray) body = g_byte_array_sized_new(64);

    guint64 known = 0;
    for (guint i = 0; i < field->count; i++)
        if (doubles ? reals[i] >= 0 : numbers[i] != -1) known |= (guint64)1 << i;
    append_varint(body, known);

    for (guint i = 0; i < field->count; i++) {
        if ((known >> i & 1) == 0) continue;
        if (!doubles) {
            append_zigzag(body, numbers[i]);
        } else if (reals[i] < WHOLE_MOST && (double)(guint64)reals[i] == reals[i]) {
            append_varint(body, (guint64)reals[i] << 1);
        } else {
            append_varint(body, 1);
            append_double(body, reals[i]);
        }
    }

    append_sized(out, field, body);
}

static void encode_list(const SparkField *field, const AnyList *list, GByteArray *out) {
    g_autoptr(GByteArray) body = g_byte_array_new(), item = g_byte_array_new();
    for (guint32 i = 0; i < list->n; i++) {
        if (field->type == FIELD_NUMBERS) {
            append_zigzag(body, ((const gint64 *)(gconstpointer)list->items)[i]);
            continue;
        }
        g_byte_array_set_size(item, 0);
        spark_encode(field->items, list->items + i * field->items->size_bytes, FALSE, item);
        append_varint(body, item->len);
        append_bytes(body, item->data, item->len);
    }
    append_sized(out, field, body);
}

static void encode_field(const SparkField *field, const void *value, GByteArray *out) {
    switch (field->type) {
    case FIELD_I64:
        append_tag(out, field, CLASS_NUMBER);
        append_zigzag(out, *(const gint64 *)value);
        break;
    case FIELD_I32:
    case FIELD_ENUM:
        append_tag(out, field, CLASS_NUMBER);
        append_zigzag(out, *(const gint32 *)value);
        break;
    case FIELD_DOUBLE:
        append_tag(out, field, CLASS_DOUBLE);
        append_double(out, *(const double *)value);
        break;
    case FIELD_TEXT: {
        const char *text = *(const char *const *)value;
        append_tag(out, field, CLASS_BYTES);
        append_varint(out, strlen(text));
        append_bytes(out, text, strlen(text));
        break;
    }
    case FIELD_I64S:
    case FIELD_DOUBLES: encode_array(field, value, out); break;
    case FIELD_NUMBERS:
    case FIELD_LIST: encode_list(field, value, out); break;
    }
}

void spark_encode(const SparkForm *form, const void *record, gboolean owned, GByteArray *out) {
    for (guint i = owned ? 1 : 0; i < form->n_fields; i++) {
        const SparkField *field = &form->fields[i];
        if (spark_field_known(field, record)) encode_field(field, at(field, record), out);
    }
}

/* ---- decoding ---- */

/* Most numbers of a task are small, and there are thirty of them. */
static inline guint64 take_varint(ByteReader *r) {
    return G_LIKELY(r->at < r->end && *r->at < 0x80) ? *r->at++ : read_varint(r);
}

static inline gint64 take_zigzag(ByteReader *r) {
    const guint64 coded = take_varint(r);
    return (gint64)(coded >> 1 ^ -(coded & 1));
}

static double read_double(ByteReader *r) {
    guint64 bits = 0;
    const guint8 *data = read_bytes(r, sizeof bits);
    if (data != NULL) memcpy(&bits, data, sizeof bits);
    bits = GUINT64_FROM_LE(bits);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static ByteReader read_sized(ByteReader *r) {
    const guint64 length = take_varint(r);
    if (length > reader_left(r)) r->failed = TRUE;
    const guint8 *data = r->failed ? NULL : read_bytes(r, (gsize)length);
    ByteReader body = byte_reader(data != NULL ? data : (const guint8 *)"", data != NULL ? (gsize)length : 0);
    body.failed = r->failed;
    return body;
}

static void decode_array(const SparkField *field, ByteReader body, void *value) {
    const gboolean doubles = field->type == FIELD_DOUBLES;
    guint64 known = take_varint(&body);
    for (guint i = 0; known != 0 && !body.failed; i++, known >>= 1) {
        if ((known & 1) == 0) continue;
        if (doubles) {
            const guint64 coded = take_varint(&body);
            const double real = (coded & 1) != 0 ? read_double(&body) : (double)(coded >> 1);
            if (i < field->count) ((double *)value)[i] = real;
        } else {
            const gint64 number = take_zigzag(&body);
            if (i < field->count) ((gint64 *)value)[i] = number;
        }
    }
}

static gboolean decode_numbers(ByteReader body, SparkRecords *into, SparkNumbers *list) {
    const gsize most = reader_left(&body); /* a byte each, at least */
    gint64 *items = g_new(gint64, most + 1);
    guint32 n = 0;
    while (reader_left(&body) > 0 && !body.failed) items[n++] = take_zigzag(&body);
    gint64 *kept = spark_list(into, n, sizeof *kept);
    if (n > 0) memcpy(kept, items, n * sizeof *kept);
    g_free(items);
    *list = (SparkNumbers){kept, n};
    return !body.failed;
}

static guint32 count_items(ByteReader body) {
    guint32 n = 0;
    for (; reader_left(&body) > 0 && !body.failed; n++) read_sized(&body);
    return body.failed ? 0 : n;
}

static gboolean decode_list(const SparkField *field, ByteReader body, SparkRecords *into, AnyList *list) {
    const guint32 n = count_items(body);
    const gsize bytes = field->items->size_bytes;
    if (n == 0) return reader_left(&body) == 0;
    guint8 *items = spark_list(into, n, bytes);
    for (guint32 i = 0; i < n; i++) {
        const ByteReader item = read_sized(&body);
        if (!spark_decode(field->items, (Bytes){item.at, reader_left(&item)}, NULL, into, items + i * bytes))
            return FALSE;
    }
    *list = (AnyList){items, n};
    return TRUE;
}

/* An enum's value that is newer than this program is unknown to it. */
static void decode_number(const SparkField *field, gint64 number, void *value) {
    if (field->type == FIELD_I64)
        *(gint64 *)value = spark_field_number(field, number);
    else if (field->type == FIELD_I32)
        *(gint32 *)value = number < G_MININT32 || number > G_MAXINT32 ? -1 : (gint32)number;
    else if (field->type == FIELD_ENUM)
        *(gint32 *)value = number < 0 || number >= field->count ? 0 : (gint32)number;
}

static gboolean decode_bytes(const SparkField *field, ByteReader body, SparkRecords *into, void *value) {
    switch (field->type) {
    case FIELD_TEXT:
        *(const char **)value = spark_text_shared(into, (const char *)body.at, reader_left(&body));
        return TRUE;
    case FIELD_I64S:
    case FIELD_DOUBLES: decode_array(field, body, value); return TRUE;
    case FIELD_NUMBERS: return decode_numbers(body, into, value);
    case FIELD_LIST: return decode_list(field, body, into, value);
    default: return FALSE;
    }
}

gboolean spark_decode(const SparkForm *form, Bytes value, const char *owner, SparkRecords *into, void *record) {
    ByteReader r = byte_reader(value.data, value.size_bytes);
    spark_form_init(form, record);
    if (owner != NULL) *(const char **)at(&form->fields[0], record) = owner;

    while (reader_left(&r) > 0 && !r.failed) {
        const guint64 tag = take_varint(&r);
        const guint64 number = tag >> 2;
        const SparkField *field = number >= 1 && number <= form->n_fields ? &form->fields[number - 1] : NULL;

        switch (tag & 3) {
        case CLASS_NUMBER: {
            const gint64 read = take_zigzag(&r);
            if (field != NULL) decode_number(field, read, at(field, record));
            break;
        }
        case CLASS_DOUBLE: {
            const double read = read_double(&r);
            if (field != NULL && field->type == FIELD_DOUBLE) *(double *)at(field, record) = read;
            break;
        }
        case CLASS_BYTES: {
            const ByteReader body = read_sized(&r);
            if (r.failed || (field != NULL && !decode_bytes(field, body, into, at(field, record)))) return FALSE;
            break;
        }
        default: return FALSE;
        }
    }
    return !r.failed;
}
