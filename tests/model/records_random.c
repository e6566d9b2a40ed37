#include "tests/model/records_random.h"

#include <string.h>

typedef struct AnyList {
    const void *items;
    guint32 n;
} AnyList;

static gint64 random_number(GRand *rand) {
    const guint64 bits = (guint64)g_rand_int(rand) << 32 | g_rand_int(rand);
    return (gint64)(bits >> g_rand_int_range(rand, 1, 64));
}

static const char *random_text(SparkRecords *records, GRand *rand) {
    static const char *const texts[] = {"", "node-17.example.org", "count at Main.scala:17", "Приложение",
                                        "\xf0\x9f\x98\x80 \"\\\n"};
    char own[64];
    if (g_rand_int_range(rand, 0, 3) > 0) {
        const char *text = texts[g_rand_int_range(rand, 0, G_N_ELEMENTS(texts))];
        return spark_text_shared(records, text, strlen(text));
    }
    g_snprintf(own, sizeof own, "text %u", g_rand_int(rand));
    return spark_text(records, own, strlen(own));
}

static void fill(SparkRecords *records, const SparkForm *form, GRand *rand, void *record);

static void fill_list(SparkRecords *records, const SparkField *field, GRand *rand, AnyList *list) {
    const guint32 n = (guint32)g_rand_int_range(rand, 1, g_rand_boolean(rand) ? 4 : 40);
    const gsize bytes = field->type == FIELD_NUMBERS ? sizeof(gint64) : field->items->size_bytes;
    guint8 *items = spark_list(records, n, bytes);
    for (guint32 i = 0; i < n; i++) {
        if (field->type == FIELD_NUMBERS)
            ((gint64 *)(gpointer)items)[i] = random_number(rand);
        else
            fill(records, field->items, rand, items + i * bytes);
    }
    *list = (AnyList){items, n};
}

static void fill_array(const SparkField *field, GRand *rand, void *value) {
    for (guint i = 0; i < field->count; i++) {
        if (g_rand_boolean(rand)) continue;
        if (field->type == FIELD_I64S)
            ((gint64 *)value)[i] = random_number(rand);
        else
            ((double *)value)[i] = g_rand_boolean(rand) ? g_rand_int_range(rand, 0, 1000) : g_rand_double(rand) * 1e12;
    }
}

static void fill_field(SparkRecords *records, const SparkField *field, GRand *rand, void *value) {
    switch (field->type) {
    case FIELD_I64:
        *(gint64 *)value = random_number(rand) & (field->most > 0 ? ((gint64)1 << 43) - 1 : G_MAXINT64);
        break;
    case FIELD_I32: *(gint32 *)value = g_rand_int_range(rand, 0, G_MAXINT32); break;
    case FIELD_ENUM: *(gint32 *)value = g_rand_int_range(rand, 0, field->count); break;
    case FIELD_DOUBLE: *(double *)value = g_rand_double(rand); break;
    case FIELD_TEXT: *(const char **)value = random_text(records, rand); break;
    case FIELD_I64S:
    case FIELD_DOUBLES: fill_array(field, rand, value); break;
    default: fill_list(records, field, rand, value);
    }
}

static void fill(SparkRecords *records, const SparkForm *form, GRand *rand, void *record) {
    spark_form_init(form, record);
    for (guint i = 0; i < form->n_fields; i++) {
        const SparkField *field = &form->fields[i];
        if (field->needed || g_rand_boolean(rand)) fill_field(records, field, rand, (guint8 *)record + field->offset);
    }
}

void records_random_add(SparkRecords *records, SparkKind kind, GRand *rand, guint n_apps) {
    const SparkForm *form = spark_form(kind);
    void *record = spark_records_add(records, kind);
    char app[32];
    fill(records, form, rand, record);
    g_snprintf(app, sizeof app, "app-%d", g_rand_int_range(rand, 0, (gint32)n_apps));
    if (kind != SPARK_SAMPLE && kind != SPARK_MARK)
        *(const char **)record = spark_text_shared(records, app, strlen(app));
    for (guint i = 0; i < form->n_fields; i++) {
        const SparkField *field = &form->fields[i];
        if (field->type == FIELD_I64 && strcmp(field->name, "stage") == 0)
            *(gint64 *)((guint8 *)record + field->offset) = g_rand_int_range(rand, 0, 100);
    }
    if (kind == SPARK_LINK) ((SparkLink *)record)->kind = LINK_SPLIT;
    g_assert_null(spark_record_fault(kind, record));
}

SparkRecords *records_random(GRand *rand, guint n, guint n_apps) {
    SparkRecords *records = spark_records_new();
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++)
        for (guint i = 0; i < n; i++) records_random_add(records, (SparkKind)kind, rand, n_apps);
    return records;
}

/* Field by field, so that a failure names it. */
static void assert_fields_equal(SparkKind kind, const void *left, const void *right) {
    const SparkForm *form = spark_form(kind);
    for (guint f = 0; f < form->n_fields; f++) {
        const SparkForm one = {&form->fields[f], 1, form->size_bytes};
        if (!spark_form_equal(&one, left, right)) g_error("%s.%s differs", spark_kind_name(kind), form->fields[f].name);
    }
}

void records_assert_equal(const SparkRecords *a, const SparkRecords *b) {
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) {
        const SparkForm *form = spark_form((SparkKind)kind);
        g_assert_cmpuint(a->of[kind]->len, ==, b->of[kind]->len);
        for (guint i = 0; i < a->of[kind]->len; i++) {
            const guint8 *left = (const guint8 *)a->of[kind]->data + (gsize)i * form->size_bytes;
            const guint8 *right = (const guint8 *)b->of[kind]->data + (gsize)i * form->size_bytes;
            assert_fields_equal((SparkKind)kind, left, right);
            g_assert_true(spark_form_equal(form, left, right));
        }
    }
}
