/* What works on records of any kind through the table of their fields: initial values, copies, comparison, merging. */
#include <string.h>

#include "common/base/limits.h"
#include "common/model/spark_fields.h"
#include "common/model/spark_records.h"

/* How {items, n} lies in every list's struct. */
typedef struct AnyList {
    const void *items;
    guint32 n;
} AnyList;
G_STATIC_ASSERT(sizeof(AnyList) == sizeof(SparkPairs) && sizeof(AnyList) == sizeof(SparkNumbers));
G_STATIC_ASSERT(sizeof(TaskStatus) == sizeof(gint32));

static inline void *at(const SparkField *field, const void *record) { return (guint8 *)record + field->offset; }

static gsize field_bytes(const SparkField *field) {
    switch (field->type) {
    case FIELD_I64:
    case FIELD_DOUBLE: return 8;
    case FIELD_I32:
    case FIELD_ENUM: return 4;
    case FIELD_TEXT: return sizeof(const char *);
    case FIELD_I64S:
    case FIELD_DOUBLES: return (gsize)field->count * 8;
    case FIELD_NUMBERS:
    case FIELD_LIST: return sizeof(AnyList);
    }
    return 0;
}

static void init_field(const SparkField *field, void *value) {
    switch (field->type) {
    case FIELD_I64:
    case FIELD_I64S:
        for (guint i = 0; i < MAX(field->count, 1); i++) ((gint64 *)value)[i] = -1;
        break;
    case FIELD_I32: *(gint32 *)value = -1; break;
    case FIELD_DOUBLE:
    case FIELD_DOUBLES:
        for (guint i = 0; i < MAX(field->count, 1); i++) ((double *)value)[i] = -1;
        break;
    default: break; /* zero */
    }
}

void spark_form_init(const SparkForm *form, void *record) {
    memset(record, 0, form->size_bytes);
    for (guint i = 0; i < form->n_fields; i++) init_field(&form->fields[i], at(&form->fields[i], record));
}

gboolean spark_field_known(const SparkField *field, const void *record) {
    const void *value = at(field, record);

    switch (field->type) {
    case FIELD_I64: return *(const gint64 *)value != -1;
    case FIELD_I32: return *(const gint32 *)value != -1;
    case FIELD_ENUM: return *(const gint32 *)value != 0;
    case FIELD_DOUBLE: return *(const double *)value >= 0;
    case FIELD_TEXT: return *(const char *const *)value != NULL;
    case FIELD_I64S:
        for (guint i = 0; i < field->count; i++) {
            if (((const gint64 *)value)[i] != -1) return TRUE;
        }
        return FALSE;
    case FIELD_DOUBLES:
        for (guint i = 0; i < field->count; i++) {
            if (((const double *)value)[i] >= 0) return TRUE;
        }
        return FALSE;
    case FIELD_NUMBERS:
    case FIELD_LIST: return ((const AnyList *)value)->n > 0;
    }
    return FALSE;
}

static void copy_list(const SparkField *field, SparkRecords *into, AnyList *list) {
    const gsize bytes = field->type == FIELD_NUMBERS ? sizeof(gint64) : field->items->size_bytes;
    guint8 *items = spark_list(into, list->n, bytes);
    for (guint i = 0; i < list->n; i++) {
        const guint8 *from = (const guint8 *)list->items + i * bytes;
        if (field->type == FIELD_NUMBERS)
            memcpy(items + i * bytes, from, bytes);
        else
            spark_form_copy(field->items, into, from, items + i * bytes);
    }
    list->items = items;
}

void spark_form_copy(const SparkForm *form, SparkRecords *into, const void *from, void *to) {
    memmove(to, from, form->size_bytes);
    for (guint i = 0; i < form->n_fields; i++) {
        const SparkField *field = &form->fields[i];
        if (field->type == FIELD_TEXT) {
            const char **text = at(field, to);
            if (*text != NULL) *text = spark_text_shared(into, *text, strlen(*text));
        } else if (field->type == FIELD_NUMBERS || field->type == FIELD_LIST) {
            copy_list(field, into, at(field, to));
        }
    }
}

static gboolean list_equal(const SparkField *field, const AnyList *a, const AnyList *b) {
    if (a->n != b->n) return FALSE;
    if (a->n == 0) return TRUE;
    if (field->type == FIELD_NUMBERS) return memcmp(a->items, b->items, a->n * sizeof(gint64)) == 0;
    const gsize bytes = field->items->size_bytes;
    for (guint i = 0; i < a->n; i++) {
        if (!spark_form_equal(field->items, (const guint8 *)a->items + i * bytes, (const guint8 *)b->items + i * bytes))
            return FALSE;
    }
    return TRUE;
}

gboolean spark_form_equal(const SparkForm *form, const void *a, const void *b) {
    for (guint i = 0; i < form->n_fields; i++) {
        const SparkField *field = &form->fields[i];
        const void *left = at(field, a), *right = at(field, b);
        gboolean equal;
        if (field->type == FIELD_TEXT)
            equal = g_strcmp0(*(const char *const *)left, *(const char *const *)right) == 0;
        else if (field->type == FIELD_NUMBERS || field->type == FIELD_LIST)
            equal = list_equal(field, left, right);
        else
            equal = memcmp(left, right, field_bytes(field)) == 0;
        if (!equal) return FALSE;
    }
    return TRUE;
}

static void merge_array(const SparkField *field, void *value, const void *newer) {
    for (guint i = 0; i < field->count; i++) {
        const gboolean known =
            field->type == FIELD_I64S ? ((const gint64 *)newer)[i] != -1 : ((const double *)newer)[i] >= 0;
        if (field->grows && ((const gint64 *)newer)[i] <= ((const gint64 *)value)[i]) continue;
        if (known) memcpy((guint8 *)value + i * 8, (const guint8 *)newer + i * 8, 8);
    }
}

void spark_record_merge(SparkKind kind, void *record, const void *newer) {
    const SparkForm *form = spark_form(kind);
    for (guint i = 0; i < form->n_fields; i++) {
        const SparkField *field = &form->fields[i];
        if (field->type == FIELD_I64S || field->type == FIELD_DOUBLES)
            merge_array(field, at(field, record), at(field, newer));
        else if (field->grows && *(const gint64 *)at(field, record) >= *(const gint64 *)at(field, newer))
            continue;
        else if (spark_field_known(field, newer))
            memcpy(at(field, record), at(field, newer), field_bytes(field));
    }
}

/* Numbers of stages and attempts have 32 bits in the store's keys. */
static gboolean fits_key(const SparkField *field, const void *record) {
    const gint64 number = *(const gint64 *)at(field, record);
    return number >= -1 && (strcmp(field->name, "stage") != 0 || number < (gint64)G_MAXUINT32);
}

const char *spark_record_fault(SparkKind kind, const void *record) {
    const SparkForm *form = spark_form(kind);
    for (guint i = 0; i < form->n_fields; i++) {
        const SparkField *field = &form->fields[i];
        if (field->needed && !spark_field_known(field, record)) return "a record without what tells it from others";
        if (!field->key) continue;
        if (field->type == FIELD_I32 && *(const gint32 *)at(field, record) < -1) return "a negative number";
        if (field->type == FIELD_I64 && kind != SPARK_LINK && kind != SPARK_OPERATION && !fits_key(field, record))
            return "a number out of range";
        const char *text = field->type == FIELD_TEXT ? *(const char *const *)at(field, record) : NULL;
        if (text != NULL && kind != SPARK_SPLIT && strlen(text) > LIMIT_NAME_BYTES) return "a name over its limit";
    }
    return kind == SPARK_LINK && ((const SparkLink *)record)->kind == LINK_NONE ? "a link of no kind" : NULL;
}
