/* Records of Spark: ids of tasks' traces, the batch and its memory, merging of what is told in parts. */
#include <stdlib.h>
#include <string.h>

#include "common/model/plan_label.h"
#include "common/model/spark_fields.h"
#include "common/model/spark_records.h"

static void test_trace_ids(void) {
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(TEST_DATA_DIR "/task_trace_ids.txt", &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    guint checked = 0;
    for (guint i = 0; lines[i] != NULL; i++) {
        if (lines[i][0] == '#' || lines[i][0] == '\0') continue;
        g_auto(GStrv) parts = g_strsplit(lines[i], " ", 3);
        g_assert_cmphex(task_trace_id(parts[0], g_ascii_strtoll(parts[1], NULL, 10)), ==,
                        g_ascii_strtoull(parts[2], NULL, 16));
        checked++;
    }
    g_assert_cmpuint(checked, >=, 9);
}

static void test_app_key(void) {
    static const struct {
        const char *attempt, *key;
    } cases[] = {{NULL, "app-1"}, {"", "app-1"}, {"1", "app-1"}, {"2", "app-1_2"}, {"b", "app-1_b"}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *key = spark_app_key("app-1", cases[i].attempt);
        g_assert_cmpstr(key, ==, cases[i].key);
    }
}

static void test_names(void) {
    for (guint i = 0; i < TASK_METRIC_COUNT; i++) {
        g_assert_nonnull(task_metrics[i].name);
        g_assert_nonnull(task_metrics[i].unit);
        g_assert_nonnull(task_metrics[i].spark);
        for (guint j = 0; j < i; j++) g_assert_cmpstr(task_metrics[i].name, !=, task_metrics[j].name);
    }
    for (guint i = 0; i < JVM_FEATURE_COUNT; i++) g_assert_nonnull(jvm_features[i].name);
    for (guint i = 1; i < LOCALITY_COUNT; i++) {
        const char *name = task_locality_name((TaskLocality)i);
        g_assert_cmpint(task_locality_parse(name, strlen(name)), ==, i);
    }
    g_assert_cmpint(task_locality_parse("PROCESS", 7), ==, LOCALITY_UNKNOWN);
}

/* Numbers of fields are kept in stores: from 1 without holes. */
static void check_form(const SparkForm *form) {
    for (guint i = 0; i < form->n_fields; i++) {
        const SparkField *field = &form->fields[i];
        g_assert_cmpuint(field->number, ==, i + 1);
        g_assert_nonnull(field->name);
        g_assert_cmpuint(field->offset, <, form->size_bytes);
        g_assert_true((field->type == FIELD_LIST) == (field->items != NULL));
        for (guint j = 0; j < i; j++) {
            g_assert_cmpuint(field->offset, !=, form->fields[j].offset);
            g_assert_cmpstr(field->name, !=, form->fields[j].name);
        }
        if (field->items != NULL) check_form(field->items);
    }
}

static void test_forms(void) {
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) {
        check_form(spark_form((SparkKind)kind));
        g_assert_true(spark_form((SparkKind)kind)->fields[0].key);
    }
}

static SparkStage *add_stage(SparkRecords *records) {
    SparkStage *stage = spark_add_stage(records);
    stage->app = spark_text_shared(records, "app-1", 5);
    stage->stage = 3;
    stage->attempt = 0;
    gint64 *parents = spark_list(records, 2, sizeof *parents);
    parents[0] = 1, parents[1] = 2;
    stage->parents = (SparkNumbers){parents, 2};
    SparkRdd *rdds = spark_list(records, 1, sizeof *rdds);
    spark_form_init(spark_form(SPARK_STAGE)->fields[10].items, rdds);
    rdds[0].id = 12;
    rdds[0].name = spark_text(records, "HadoopRDD", 9);
    rdds[0].parents = stage->parents;
    stage->rdds = (SparkRdds){rdds, 1};
    return stage;
}

static void test_batch(void) {
    g_autoptr(SparkRecords) records = spark_records_new();
    SparkTask *task = spark_add_task(records);
    g_assert_null(task->app);
    g_assert_cmpint(task->task, ==, -1);
    g_assert_cmpint(task->status, ==, TASK_RUNNING);
    g_assert_cmpint(task->metrics[TASK_METRIC_COUNT - 1], ==, -1);
    g_assert_cmpint(spark_task_duration_ms(task), ==, -1);
    const char *shared = spark_text_shared(records, "node-17", 7);
    g_assert_true(spark_text_shared(records, "node-17/", 7) == shared);
    g_assert_true(spark_text(records, "node-17", 7) != shared);
    g_assert_null(spark_text(records, NULL, 0));
    g_autofree char *large = g_strnfill(300000, 'x');
    memcpy(large + 65534, "\xd0\xb6\xd0\xb6", 4);
    g_assert_cmpuint(strlen(spark_text_shared(records, large, 65534)), ==, 65534);
    g_assert_cmpuint(strlen(spark_text_shared(records, large, 300000)), ==, 65536); /* a limit between characters */
    memmove(large + 65535, large + 65534, 4);
    g_assert_cmpuint(strlen(spark_text_shared(records, large, 300000)), <=, 65535); /* and inside of one */
    g_assert_true(spark_text_shared(records, "node-17", 7) == shared);
    g_assert_cmpuint((guintptr)spark_list(records, 3, 8) % 8, ==, 0);
    g_assert_null(spark_list(records, 0, 8));

    g_assert_cmpstr(spark_text(records, "a\0b", 3), ==, "a");
    g_assert_cmpstr(spark_text_shared(records,
                                      "a\xff"
                                      "b",
                                      3),
                    ==,
                    "a\xef\xbf\xbd"
                    "b");
    SparkStage *stage = add_stage(records);
    g_autoptr(SparkRecords) copies = spark_records_new();
    spark_records_copy(copies, SPARK_STAGE, stage);
    for (guint i = 0; i < 100; i++) spark_records_copy(copies, SPARK_STAGE, spark_stage(copies, 0));
    const SparkForm *form = spark_form(SPARK_STAGE);
    g_assert_true(spark_form_equal(form, stage, spark_stage(copies, 100)));
    spark_records_clear(records);
    g_assert_cmpuint(spark_records_count(records), ==, 0);
    const SparkStage *copy = spark_stage(copies, 50);
    g_assert_cmpstr(copy->rdds.items[0].name, ==, "HadoopRDD");
    g_assert_cmpint(copy->rdds.items[0].parents.items[1], ==, 2);
    g_assert_cmpuint(spark_records_count(copies), ==, 101);
}

/* What differs is seen, wherever it is. */
static void test_equal(void) {
    g_autoptr(SparkRecords) records = spark_records_new();
    add_stage(records);
    add_stage(records);
    const SparkForm *form = spark_form(SPARK_STAGE);
    SparkStage *other = &g_array_index(records->of[SPARK_STAGE], SparkStage, 1);
    const SparkStage *first = spark_stage(records, 0);
    g_assert_true(spark_form_equal(form, first, other));
    ((SparkRdd *)other->rdds.items)->call_site = "textFile at Main.scala:3";
    g_assert_false(spark_form_equal(form, first, other));
    ((SparkRdd *)other->rdds.items)->call_site = NULL;
    other->parents.n = 1;
    g_assert_false(spark_form_equal(form, first, other));
    other->parents.n = 2;
    other->completed_ms = 5;
    g_assert_false(spark_form_equal(form, first, other));
}

static void test_merge(void) {
    SparkTask begun, ended, both;
    spark_record_init(SPARK_TASK, &begun);
    spark_record_init(SPARK_TASK, &ended);

    begun.launch_ms = 1000;
    begun.host = "node-1";
    begun.metrics[METRIC_GC_MS] = 7;
    ended.finish_ms = 3000;
    ended.status = TASK_FAILED;
    ended.metrics[METRIC_RUN_MS] = 1900;

    both = begun;
    spark_record_merge(SPARK_TASK, &both, &ended);
    g_assert_cmpint(spark_task_duration_ms(&both), ==, 2000);
    g_assert_cmpstr(both.host, ==, "node-1");
    g_assert_cmpint(both.metrics[METRIC_GC_MS], ==, 7);
    g_assert_cmpint(both.metrics[METRIC_RUN_MS], ==, 1900);

    /* The other order, and again: the same, and it does not run again. */
    SparkTask turned = ended;
    spark_record_merge(SPARK_TASK, &turned, &begun);
    g_assert_true(spark_form_equal(spark_form(SPARK_TASK), &both, &turned));
    spark_record_merge(SPARK_TASK, &turned, &begun);
    g_assert_cmpint(turned.status, ==, TASK_FAILED);
}

static void test_fault(void) {
    SparkTask task;
    spark_record_init(SPARK_TASK, &task);
    task.app = "app-1", task.stage = 3, task.stage_attempt = 0;

    g_assert_nonnull(spark_record_fault(SPARK_TASK, &task));
    task.task = 9;
    g_assert_null(spark_record_fault(SPARK_TASK, &task));
    task.stage = G_MAXUINT32;
    g_assert_nonnull(spark_record_fault(SPARK_TASK, &task));
    task.stage = -2;
    g_assert_nonnull(spark_record_fault(SPARK_TASK, &task));
    task.stage = 3, task.stage_attempt = -5;
    g_assert_nonnull(spark_record_fault(SPARK_TASK, &task));

    g_autofree char *name = g_strnfill(2000, 'x');
    task.stage_attempt = 0, task.app = name;
    g_assert_nonnull(spark_record_fault(SPARK_TASK, &task));

    SparkLink link;
    spark_record_init(SPARK_LINK, &link);
    link.app = "app-1", link.task = 9, link.trace = -17;
    g_assert_nonnull(spark_record_fault(SPARK_LINK, &link));
    link.kind = LINK_SCOPE;
    g_assert_null(spark_record_fault(SPARK_LINK, &link));
}

static void test_plan_labels(void) {
    static const SparkPair place = {"Location", "InMemoryFileIndex(2 paths)[hdfs://n1/tables/orders/, hdfs://n1/x]"};
    static const struct {
        const char *name, *text;
        gboolean located;
        const char *expected;
    } table[] = {
        {"Scan parquet ", "FileScan parquet [id#1L]", TRUE, "Scan parquet orders"},
        {"Scan parquet spark_catalog.default.orders", NULL, TRUE, "Scan parquet orders"},
        {"Scan orc sales.orders", NULL, FALSE, "Scan orc sales.orders"},
        {"Scan text ", NULL, FALSE, "Scan text"},
        {"Exchange", "Exchange hashpartitioning(customer#12L, day#3, 200), ENSURE_REQUIREMENTS, [plan_id=42]", FALSE,
         "Exchange hashpartitioning(customer, day)"},
        {"Exchange", "Exchange rangepartitioning(id#1 ASC NULLS FIRST, 8), ENSURE_REQUIREMENTS", FALSE,
         "Exchange rangepartitioning(id ASC NULLS FIRST)"},
        {"Exchange", "Exchange SinglePartition, ENSURE_REQUIREMENTS, [plan_id=1]", FALSE, "Exchange SinglePartition"},
        {"Exchange", "Exchange hashpartitioning(pmod(a#1, 7)#2, 8", FALSE, "Exchange hashpartitioning(pmod(a, 7), 8"},
        {"Exchange", NULL, FALSE, "Exchange"},
        {"SortMergeJoin", "SortMergeJoin [a#1], [b#2], Inner", FALSE, "SortMergeJoin"},
        {" ", NULL, FALSE, NULL},
        {NULL, NULL, FALSE, NULL},
    };
    for (guint i = 0; i < G_N_ELEMENTS(table); i++) {
        const SparkPlanNode node = {
            .name = table[i].name, .text = table[i].text, .metadata = {&place, table[i].located ? 1 : 0}};
        g_autofree char *label = plan_node_label(&node);
        g_assert_cmpstr(label, ==, table[i].expected);
    }
    g_autofree char *text = g_strdup_printf("Exchange hashpartitioning(%0200d)", 1);
    g_autofree char *label = plan_node_label(&(SparkPlanNode){.name = "Exchange", .text = text});
    g_assert_cmpuint(strlen(label), ==, 64);
    g_assert_true(g_str_has_suffix(label, "..."));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/spark/trace-ids", test_trace_ids);
    g_test_add_func("/spark/app-key", test_app_key);
    g_test_add_func("/spark/names", test_names);
    g_test_add_func("/spark/forms", test_forms);
    g_test_add_func("/spark/batch", test_batch);
    g_test_add_func("/spark/equal", test_equal);
    g_test_add_func("/spark/merge", test_merge);
    g_test_add_func("/spark/fault", test_fault);
    g_test_add_func("/spark/plan-labels", test_plan_labels);
    return g_test_run();
}
