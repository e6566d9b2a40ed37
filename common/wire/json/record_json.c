#include "common/wire/json/record_json.h"

#include <string.h>

#include "common/base/error.h"
#include "common/base/harmless.h"
#include "common/base/limits.h"
#include "common/model/spark_fields.h"

/* Greater ones lose digits where JSON's numbers are doubles. */
#define EXACT_NUMBER ((gint64)1 << 53)
/* Of all lists of one record: what fits a batch together with others. */
#define MOST_ENTRIES (LIMIT_RECORD_ENTRIES / 4)

/* How {items, n} lies in every list's struct. */
typedef struct AnyList {
    const guint8 *items;
    guint32 n;
} AnyList;

/* ---- writing ---- */

static json_t *number_json(gint64 value) {
    if (value >= -EXACT_NUMBER && value <= EXACT_NUMBER) return json_integer(value);
    char digits[32];
    g_snprintf(digits, sizeof digits, "%" G_GINT64_FORMAT, value);
    return json_string(digits);
}

static void add_fields(json_t *object, const SparkForm *form, const void *record);

static json_t *list_json(const SparkField *field, const void *value) {
    const AnyList *list = value;
    const guint32 n = field->type == FIELD_I64S || field->type == FIELD_DOUBLES ? field->count : list->n;
    json_t *array = json_array();
    for (guint32 i = 0; i < n; i++) {
        json_t *item = NULL;
        if (field->type == FIELD_DOUBLES)
            item = json_real(((const double *)value)[i]);
        else if (field->type == FIELD_I64S)
            item = number_json(((const gint64 *)value)[i]);
        else if (field->type == FIELD_NUMBERS)
            item = number_json(((const gint64 *)(const void *)list->items)[i]);
        else
            add_fields(item = json_object(), field->items, list->items + i * field->items->size_bytes);
        json_array_append_new(array, item);
    }
    return array;
}

static json_t *value_json(const SparkField *field, const void *value) {
    switch (field->type) {
    case FIELD_I64: return number_json(*(const gint64 *)value);
    case FIELD_I32:
    case FIELD_ENUM: return json_integer(*(const gint32 *)value);
    case FIELD_DOUBLE: return json_real(*(const double *)value);
    case FIELD_TEXT: return json_string_nocheck(*(const char *const *)value);
    default: return list_json(field, value);
    }
}

static void add_fields(json_t *object, const SparkForm *form, const void *record) {
    for (guint i = 0; i < form->n_fields; i++) {
        const SparkField *field = &form->fields[i];
        if (!spark_field_known(field, record)) continue;
        json_object_set_new(object, field->name, value_json(field, (const guint8 *)record + field->offset));
    }
}

static int append_piece(const char *data, size_t size, void *out) {
    harmless_json_append(out, data, size);
    return 0;
}

void record_json_write(SparkKind kind, const void *record, GString *out) {
    json_t *object = json_object();
    json_object_set_new(object, RECORD_JSON_KEY, json_string(spark_kind_name(kind)));
    add_fields(object, spark_form(kind), record);
    json_dump_callback(object, append_piece, out, JSON_COMPACT);
    g_string_append_c(out, '\n');
    json_decref(object);
}

/* ---- reading ---- */

typedef struct RecordReader {
    SparkRecords *records;
    guint32 entries;
} RecordReader;

static gboolean bad_value(const char *name, const char *what, GError **error) {
    return fail(error, PLUMB_ERROR_INPUT, "record of Spark, key \"%s\": %s", name, what);
}

static gboolean read_number(const json_t *value, const char *name, gint64 *number, GError **error) {
    if (json_is_integer(value)) {
        *number = json_integer_value(value);
        return TRUE;
    }
    const char *text = json_string_value(value);
    if (text != NULL && g_ascii_string_to_signed(text, 10, G_MININT64, G_MAXINT64, number, NULL)) return TRUE;
    return bad_value(name, "not a whole number", error);
}

static gboolean read_number32(const json_t *value, const char *name, gint32 *number, GError **error) {
    gint64 wide = 0;
    if (!read_number(value, name, &wide, error)) return FALSE;
    if (wide < G_MININT32 || wide > G_MAXINT32) return bad_value(name, "a number out of range", error);
    *number = (gint32)wide;
    return TRUE;
}

static gboolean read_double(const json_t *value, const char *name, double *number, GError **error) {
    if (!json_is_number(value)) return bad_value(name, "not a number", error);
    const double read = json_number_value(value);
    *number = read >= 0 ? read : -1; /* unknown */
    return TRUE;
}

static gboolean read_text(RecordReader *reader, const json_t *value, const char *name, const char **text,
                          GError **error) {
    if (!json_is_string(value)) return bad_value(name, "not a string", error);
    if (json_string_length(value) > LIMIT_VALUE_BYTES)
        return fail(error, PLUMB_ERROR_LIMIT, "record of Spark, key \"%s\": text of %zu bytes, at most %u are taken",
                    name, json_string_length(value), (guint)LIMIT_VALUE_BYTES);
    *text = spark_text_shared(reader->records, json_string_value(value), json_string_length(value));
    return TRUE;
}

/* A newer writer may have more numbers than are known here. */
static gboolean read_array(const SparkField *field, const json_t *value, void *to, GError **error) {
    for (gsize i = 0; i < MIN(json_array_size(value), field->count); i++) {
        const json_t *item = json_array_get(value, i);
        const gboolean good = field->type == FIELD_DOUBLES ? read_double(item, field->name, (double *)to + i, error)
                                                           : read_number(item, field->name, (gint64 *)to + i, error);
        if (!good) return FALSE;
    }
    return TRUE;
}

static gboolean read_fields(RecordReader *reader, const SparkForm *form, const json_t *object, void *record,
                            GError **error);

static gboolean read_list(RecordReader *reader, const SparkField *field, const json_t *value, AnyList *list,
                          GError **error) {
    const gsize n = json_array_size(value);
    if (n > MOST_ENTRIES - reader->entries)
        return fail(error, PLUMB_ERROR_LIMIT, "record of Spark, key \"%s\": more than %u entries", field->name,
                    (guint)MOST_ENTRIES);
    reader->entries += (guint32)n;
    const gboolean numbers = field->type == FIELD_NUMBERS;
    const gsize size = numbers ? sizeof(gint64) : field->items->size_bytes;
    guint8 *items = spark_list(reader->records, n, size);
    for (gsize i = 0; i < n; i++) {
        const json_t *item = json_array_get(value, i);
        void *to = items + i * size;
        if (!(numbers ? read_number(item, field->name, to, error) : read_fields(reader, field->items, item, to, error)))
            return FALSE;
    }
    *list = (AnyList){items, (guint32)n};
    return TRUE;
}

static gboolean read_value(RecordReader *reader, const SparkField *field, const json_t *value, void *to,
                           GError **error) {
    switch (field->type) {
    case FIELD_I64: return read_number(value, field->name, to, error);
    case FIELD_I32: return read_number32(value, field->name, to, error);
    case FIELD_ENUM: {
        gint32 number = 0;
        if (!read_number32(value, field->name, &number, error)) return FALSE;
        *(gint32 *)to = number >= 0 && number < field->count ? number : 0;
        return TRUE;
    }
    case FIELD_DOUBLE: return read_double(value, field->name, to, error);
    case FIELD_TEXT: return read_text(reader, value, field->name, to, error);
    default: break;
    }
    if (!json_is_array(value)) return bad_value(field->name, "not an array", error);
    if (field->type == FIELD_I64S || field->type == FIELD_DOUBLES) return read_array(field, value, to, error);
    return read_list(reader, field, value, to, error);
}

static gboolean read_fields(RecordReader *reader, const SparkForm *form, const json_t *object, void *record,
                            GError **error) {
    spark_form_init(form, record);
    if (!json_is_object(object)) return fail(error, PLUMB_ERROR_INPUT, "record of Spark: an entry is no object");
    for (guint i = 0; i < form->n_fields; i++) {
        const SparkField *field = &form->fields[i];
        const json_t *value = json_object_get(object, field->name);
        if (value != NULL && !read_value(reader, field, value, (guint8 *)record + field->offset, error)) return FALSE;
    }
    return TRUE;
}

gboolean record_json_is(const json_t *object) { return json_object_get(object, RECORD_JSON_KEY) != NULL; }

static gboolean read_kind(const json_t *object, SparkKind *kind, GError **error) {
    const char *name = json_string_value(json_object_get(object, RECORD_JSON_KEY));
    for (guint i = 0; name != NULL && i < SPARK_KIND_COUNT; i++) {
        *kind = (SparkKind)i;
        if (strcmp(spark_kind_name(*kind), name) == 0) return TRUE;
    }
    return bad_value(RECORD_JSON_KEY, "no kind of record that is known", error);
}

gboolean record_json_read(const json_t *object, SparkRecords *records, GError **error) {
    SparkKind kind;
    if (!read_kind(object, &kind, error)) return FALSE;
    RecordReader reader = {records, 0};
    void *record = spark_records_add(records, kind);
    const char *fault = NULL;
    gboolean good = read_fields(&reader, spark_form(kind), object, record, error);
    if (good && (fault = spark_record_fault(kind, record)) != NULL)
        good = fail(error, PLUMB_ERROR_INPUT, "record of Spark: %s", fault);
    if (!good) g_array_set_size(records->of[kind], records->of[kind]->len - 1);
    return good;
}
