/* Records of Spark to the bytes of a submitRecords call, in both protocols, by the tables of their fields. */
#include "common/model/spark_fields.h"
#include "common/wire/codec.h"
#include "common/wire/thrift_write.h"

/* How {items, n} lies in every list's struct. */
typedef struct AnyList {
    const guint8 *items;
    guint32 n;
} AnyList;

static const void *at(const SparkField *field, const void *record) { return (const guint8 *)record + field->offset; }

static gsize text_bytes(const char *text) { return text == NULL ? 0 : strlen(text); }

/* Most bytes that a struct can take. */
static gsize form_bytes(const SparkForm *form, const void *record) {
    gsize most = FIELD_BYTES;
    for (guint i = 0; i < form->n_fields; i++) {
        const SparkField *field = &form->fields[i];
        const AnyList *list = at(field, record);
        most += 2 * FIELD_BYTES;
        if (field->type == FIELD_TEXT) most += text_bytes(*(const char *const *)at(field, record));
        if (field->type == FIELD_I64S || field->type == FIELD_DOUBLES) most += (gsize)field->count * FIELD_BYTES;
        if (field->type == FIELD_NUMBERS) most += (gsize)list->n * FIELD_BYTES;
        if (field->type == FIELD_LIST)
            for (guint32 j = 0; j < list->n; j++)
                most += form_bytes(field->items, list->items + j * field->items->size_bytes);
    }
    return most;
}

/* Unknown fields are left out, so the next one may be more than 15 away: then the compact head has the long form. */
static void put_head_of(ThriftWriter *w, const SparkField *field, ThriftTypeCode type) {
    if (!w->compact || field->number - w->last < 16) {
        put_field(w, field->number, type);
        return;
    }
    *w->at++ = compact_type(type);
    put_varint(w, (guint64)field->number << 1);
    w->last = field->number;
}

static void put_list_head(ThriftWriter *w, const SparkField *field, ThriftTypeCode type, guint32 n) {
    put_head_of(w, field, TYPE_LIST);
    put_elements(w, type, n);
}

static void put_number(ThriftWriter *w, gint64 value) {
    if (w->compact)
        put_varint(w, (guint64)value << 1 ^ (guint64)(value >> 63));
    else
        put_be(w, (guint64)value, 8);
}

static void put_number32(ThriftWriter *w, gint32 value) {
    if (w->compact)
        put_varint(w, (guint32)value << 1 ^ (guint32)(value >> 31));
    else
        put_be(w, (guint32)value, 4);
}

/* The compact protocol has the lowest byte first. */
static void put_double(ThriftWriter *w, double value) {
    guint64 bits;
    memcpy(&bits, &value, sizeof bits);
    put_be(w, w->compact ? GUINT64_SWAP_LE_BE(bits) : bits, 8);
}

static void put_struct(ThriftWriter *w, const SparkForm *form, const void *record);

static void put_list_of(ThriftWriter *w, const SparkField *field, const void *value) {
    const AnyList *list = value;
    if (field->type == FIELD_I64S || field->type == FIELD_DOUBLES) {
        const gboolean doubles = field->type == FIELD_DOUBLES;
        put_list_head(w, field, doubles ? TYPE_DOUBLE : TYPE_I64, field->count);
        for (guint i = 0; i < field->count; i++) {
            if (doubles)
                put_double(w, ((const double *)value)[i]);
            else
                put_number(w, ((const gint64 *)value)[i]);
        }
    } else if (field->type == FIELD_NUMBERS) {
        put_list_head(w, field, TYPE_I64, list->n);
        for (guint32 i = 0; i < list->n; i++) put_number(w, ((const SparkNumbers *)value)->items[i]);
    } else {
        put_list_head(w, field, TYPE_STRUCT, list->n);
        for (guint32 i = 0; i < list->n; i++) put_struct(w, field->items, list->items + i * field->items->size_bytes);
        w->last = field->number;
    }
}

static void put_value(ThriftWriter *w, const SparkField *field, const void *value) {
    switch (field->type) {
    case FIELD_I64:
        put_head_of(w, field, TYPE_I64);
        put_number(w, *(const gint64 *)value);
        break;
    case FIELD_I32:
    case FIELD_ENUM:
        put_head_of(w, field, TYPE_I32);
        put_number32(w, *(const gint32 *)value);
        break;
    case FIELD_DOUBLE:
        put_head_of(w, field, TYPE_DOUBLE);
        put_double(w, *(const double *)value);
        break;
    case FIELD_TEXT: {
        const char *text = *(const char *const *)value;
        put_head_of(w, field, TYPE_STRING);
        put_text(w, (BatchString){text, (guint32)strlen(text)});
        break;
    }
    default: put_list_of(w, field, value);
    }
}

static void put_struct(ThriftWriter *w, const SparkForm *form, const void *record) {
    w->last = 0;
    for (guint i = 0; i < form->n_fields; i++) {
        const SparkField *field = &form->fields[i];
        if (field->needed || spark_field_known(field, record)) put_value(w, field, at(field, record));
    }
    put_stop(w);
}

void wire_records_encode(const SparkRecords *records, WireProtocol protocol, gint32 sequence, GByteArray *out) {
    const guint begin = out->len;
    ThriftWriter w = writer_begin(out, 8 * FIELD_BYTES + 16, protocol);
    const ThriftHead head = {.kind = KIND_CALL, .sequence = sequence, .method = {"submitRecords", 13}};

    put_head(&w, &head);
    put_field(&w, 1, TYPE_STRUCT);
    w.last = 0;
    put_i32(&w, 1, WIRE_VERSION);
    gint16 last = w.last;
    writer_end(&w, out);

    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) {
        const GArray *array = records->of[kind];
        const SparkForm *form = spark_form((SparkKind)kind);
        if (array->len == 0) continue;
        w = writer_begin(out, 2 * FIELD_BYTES, protocol);
        w.last = last;
        put_list(&w, WIRE_RECORDS_FIELD(kind), TYPE_STRUCT, array->len);
        last = w.last;
        writer_end(&w, out);

        for (guint i = 0; i < array->len; i++) {
            const void *record = array->data + (gsize)i * form->size_bytes;
            w = writer_begin(out, form_bytes(form, record), protocol);
            put_struct(&w, form, record);
            writer_end(&w, out);
        }
    }

    const guint8 stops[2] = {TYPE_STOP, TYPE_STOP}; /* of the batch and of the arguments */
    g_byte_array_append(out, stops, sizeof stops);
    frame_close(out, begin);
}
