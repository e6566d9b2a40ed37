/* submitRecords: records of Spark and of hosts, read by the tables of their fields. */
#include "common/base/limits.h"
#include "common/model/spark_fields.h"
#include "common/wire/codec.h"

/* Entries take at least this much of the frame: the end of a struct, a number. A record has the text of its key too. */
enum { LEAST_ENTRY_BYTES = 1, LEAST_RECORD_BYTES = 3 };

typedef struct RecordsReader {
    ThriftReader r;
    SparkRecords *records;
    guint32 entries, n_records, refused;
} RecordsReader;

static void *at(const SparkField *field, void *record) { return (guint8 *)record + field->offset; }

static double read_double(ThriftReader *r) {
    guint64 bits = thrift_u64be(r);
    if (r->protocol == PROTOCOL_COMPACT) bits = GUINT64_SWAP_LE_BE(bits);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value >= 0 && value <= G_MAXDOUBLE ? value : -1; /* what is no number is unknown */
}

static void read_text(RecordsReader *d, const char **value) {
    BatchString text = {NULL, 0};
    thrift_text(&d->r, LIMIT_VALUE_BYTES, &text);
    if (text.data != NULL) *value = spark_text_shared(d->records, text.data, text.length);
}

/* An enum's value that is newer than this receiver is unknown to it. */
static void read_enum(ThriftReader *r, const SparkField *field, gint32 *value) {
    const gint32 number = thrift_i32(r);
    *value = number >= 0 && number < field->count ? number : 0;
}

static gboolean list_head(RecordsReader *d, ThriftTypeCode type, guint32 *n) {
    if (!thrift_list_of(&d->r, type, LEAST_ENTRY_BYTES, LIMIT_RECORD_ENTRIES, n)) return FALSE;
    if (*n > LIMIT_RECORD_ENTRIES - d->entries)
        return thrift_fault(&d->r, PLUMB_ERROR_LIMIT, "too many entries in the lists of one batch");
    d->entries += *n;
    return TRUE;
}

/* A newer sender may have more numbers than are known here. */
static void read_array(RecordsReader *d, const SparkField *field, void *value) {
    const gboolean doubles = field->type == FIELD_DOUBLES;
    guint32 n;
    if (!thrift_list_of(&d->r, doubles ? TYPE_DOUBLE : TYPE_I64, LEAST_ENTRY_BYTES, LIMIT_NAME_BYTES, &n)) return;
    for (guint32 i = 0; i < n && d->r.fault == NULL; i++) {
        const double real = doubles ? read_double(&d->r) : 0;
        const gint64 number = doubles ? 0 : thrift_i64(&d->r);
        if (i >= field->count) continue;
        if (doubles)
            ((double *)value)[i] = real;
        else
            ((gint64 *)value)[i] = number;
    }
}

static void read_numbers(RecordsReader *d, SparkNumbers *value) {
    guint32 n;
    if (!list_head(d, TYPE_I64, &n)) return;
    gint64 *items = spark_list(d->records, n, sizeof *items);
    for (guint32 i = 0; i < n && d->r.fault == NULL; i++) items[i] = thrift_i64(&d->r);
    *value = (SparkNumbers){items, n};
}

static void read_struct(RecordsReader *d, const SparkForm *form, void *record);

static void read_list(RecordsReader *d, const SparkField *field, void *value) {
    struct {
        const void *items;
        guint32 n;
    } *list = value;
    guint32 n;
    if (!list_head(d, TYPE_STRUCT, &n)) return;
    guint8 *items = spark_list(d->records, n, field->items->size_bytes);
    for (guint32 i = 0; i < n && d->r.fault == NULL; i++)
        read_struct(d, field->items, items + i * field->items->size_bytes);
    list->items = items;
    list->n = n;
}

static ThriftTypeCode type_of(FieldType type) {
    switch (type) {
    case FIELD_I64: return TYPE_I64;
    case FIELD_I32:
    case FIELD_ENUM: return TYPE_I32;
    case FIELD_DOUBLE: return TYPE_DOUBLE;
    case FIELD_TEXT: return TYPE_STRING;
    default: return TYPE_LIST;
    }
}

static void read_value(RecordsReader *d, const SparkField *field, void *value) {
    switch (field->type) {
    case FIELD_I64: *(gint64 *)value = spark_field_number(field, thrift_i64(&d->r)); break;
    case FIELD_I32: *(gint32 *)value = thrift_i32(&d->r); break;
    case FIELD_ENUM: read_enum(&d->r, field, value); break;
    case FIELD_DOUBLE: *(double *)value = read_double(&d->r); break;
    case FIELD_TEXT: read_text(d, value); break;
    case FIELD_I64S:
    case FIELD_DOUBLES: read_array(d, field, value); break;
    case FIELD_NUMBERS: read_numbers(d, value); break;
    case FIELD_LIST: read_list(d, field, value); break;
    }
}

static void read_struct(RecordsReader *d, const SparkForm *form, void *record) {
    guint32 seen = 0;
    spark_form_init(form, record);
    for (ThriftField field = {0}; thrift_next_field(&d->r, &field);) {
        const gboolean known = field.id >= 1 && field.id <= (gint)form->n_fields;
        const SparkField *to = known ? &form->fields[field.id - 1] : NULL;
        if (!known || field.type != (guint8)type_of(to->type)) {
            thrift_skip(&d->r, field.type, TRUE);
            continue;
        }
        if ((seen & SEEN(field.id)) != 0 && field.type == TYPE_LIST)
            thrift_fault(&d->r, PLUMB_ERROR_INPUT, "a list comes twice");
        seen |= SEEN(field.id);
        read_value(d, to, at(to, record));
    }
}

static void read_records(RecordsReader *d, SparkKind kind) {
    guint32 n;
    if (!thrift_list_of(&d->r, TYPE_STRUCT, LEAST_RECORD_BYTES, LIMIT_BATCH_RECORDS - d->n_records, &n)) return;
    d->n_records += n;
    for (guint32 i = 0; i < n && d->r.fault == NULL; i++) {
        void *record = spark_records_add(d->records, kind);
        read_struct(d, spark_form(kind), record);
        if (spark_record_fault(kind, record) == NULL) continue;
        g_array_set_size(d->records->of[kind], d->records->of[kind]->len - 1);
        d->refused++;
    }
}

static void read_batch(RecordsReader *d, WireVersions *versions) {
    ThriftReader *r = &d->r;
    guint32 seen = 0;

    for (ThriftField field = {0}; thrift_next_field(r, &field);) {
        const gboolean newer = versions->needs > WIRE_VERSION;
        const gint kind = field.id - WIRE_RECORDS_FIELD(0);

        if (field_key(&field) == FIELD_KEY(1, TYPE_I32)) {
            versions->version = thrift_i32(r);
            seen |= SEEN(1);
        } else if (field_key(&field) == FIELD_KEY(2, TYPE_I32)) {
            versions->needs = thrift_i32(r);
        } else if (!newer && kind >= 0 && kind < SPARK_KIND_COUNT && field.type == TYPE_LIST) {
            if ((seen & SEEN(field.id)) != 0) thrift_fault(r, PLUMB_ERROR_INPUT, "a list comes twice");
            seen |= SEEN(field.id);
            read_records(d, (SparkKind)kind);
        } else {
            thrift_skip(r, field.type, TRUE);
        }
    }

    if (versions->needs > WIRE_VERSION)
        spark_records_clear(d->records);
    else
        thrift_require(r, seen, SEEN(1));
}

gboolean wire_records_decode(const WireHeader *header, SparkRecords *records, WireVersions *versions, guint32 *refused,
                             GError **error) {
    RecordsReader d = {.r = thrift_reader(header->body, header->protocol), .records = records};
    WireVersions found = {.version = 0, .needs = 1};
    guint32 seen = 0;
    spark_records_clear(records);

    for (ThriftField field = {0}; thrift_next_field(&d.r, &field);) {
        if (field_key(&field) != FIELD_KEY(1, TYPE_STRUCT)) {
            thrift_skip(&d.r, field.type, TRUE);
            continue;
        }
        if ((seen & SEEN(1)) != 0) thrift_fault(&d.r, PLUMB_ERROR_INPUT, "a batch comes twice");
        seen |= SEEN(1);
        read_batch(&d, &found);
    }

    thrift_require(&d.r, seen, SEEN(1));
    if (d.r.fault == NULL && d.r.at != d.r.end) thrift_fault(&d.r, PLUMB_ERROR_INPUT, "bytes are left over");
    if (!thrift_ok(&d.r, error)) {
        spark_records_clear(records);
        return FALSE;
    }

    *versions = found;
    *refused = d.refused;
    return TRUE;
}
