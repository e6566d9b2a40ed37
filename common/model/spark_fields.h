/* The fields of each record of Spark as a table, so that wire, store, JSON and merging are each written once and not
 * once for every kind. */
#pragma once

#include "common/model/spark.h"

typedef enum {
    FIELD_I64,     /* gint64; -1 unknown */
    FIELD_I32,     /* gint32; -1 unknown */
    FIELD_ENUM,    /* of int's size; 0 unknown; < count */
    FIELD_DOUBLE,  /* < 0 unknown */
    FIELD_TEXT,    /* const char *; NULL unknown */
    FIELD_I64S,    /* gint64[count], -1 unknown each */
    FIELD_DOUBLES, /* double[count], < 0 unknown each */
    FIELD_NUMBERS, /* SparkNumbers */
    FIELD_LIST,    /* {items, n} of structs, described by 'items' */
} FieldType;

typedef struct SparkForm SparkForm;

typedef struct SparkField {
    guint8 number; /* on the wire and in stores; only ever added */
    FieldType type;
    guint16 offset;
    guint16 count;   /* of values of an enum, or of an array */
    gboolean key;    /* part of what tells records of the kind apart */
    gboolean needed; /* a record without is refused */
    gboolean grows;  /* of two values (of FIELD_I64S: of each) the greater is kept: what a log says again, from its
                        begin, takes nothing back */
    gint64 most;     /* of FIELD_I64; what is greater, or less than its negative, is unknown. 0: any number */
    const char *name;
    const SparkForm *items; /* of FIELD_LIST */
} SparkField;

/* In the year 2255: what is later is no time, and has no room among ns once it was added to. */
#define SPARK_MOST_MS G_GINT64_CONSTANT(9000000000000)

/* The number as readers of bytes from outside take it for that field. */
static inline gint64 spark_field_number(const SparkField *field, gint64 number) {
    return field->most > 0 && (number > field->most || number < -field->most) ? -1 : number;
}

struct SparkForm {
    const SparkField *fields; /* by number, from 1 without holes */
    guint n_fields;
    guint size_bytes;
};

const SparkForm *spark_form(SparkKind kind);
/* Of SparkPair, which is no kind. */
const SparkForm *spark_pair_form(void);

/* Does the field of the record at 'at' hold anything? */
gboolean spark_field_known(const SparkField *field, const void *record);
void spark_form_init(const SparkForm *form, void *record);
gboolean spark_form_equal(const SparkForm *form, const void *a, const void *b);

/* Why the record cannot be kept: without what tells it from others, or with numbers that no key has room for. NULL: it
 * is fine. */
const char *spark_record_fault(SparkKind kind, const void *record);

/* What is known in 'newer' and not in 'record' or differs from it replaces it; what 'newer' does not know stays. So a
 * record that was told in parts (a task that begins, then ends) or is told again becomes the same in any order of its
 * parts but for values that really changed; a task's status never goes back to running. Memory is shared, not copied.
 */
void spark_record_merge(SparkKind kind, void *record, const void *newer);
