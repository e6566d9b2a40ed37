/* Records of Spark in the store: told again they change nothing, told in parts they become whole; found, removed and
 * verified by application. */
#include <string.h>

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/spark/spark.h"
#include "analyzer/archive/verify/verify.h"
#include "common/base/error.h"
#include "tests/archive/fixture.h"
#include "tests/model/records_random.h"

static const ArchiveOptions options = {.clock_tolerance_ns = 0};

static SparkPut put(Fixture *fixture, const SparkRecords *records, gint64 now_ms) {
    SparkPut counts = {0};
    g_autoptr(GError) error = NULL;
    archive_spark_put(fixture->archive, records, now_ms, &counts, &error);
    g_assert_no_error(error);
    return counts;
}

static guint64 verify(Fixture *fixture, guint64 *checked) {
    guint64 differences = 99;
    g_autoptr(GError) error = NULL;
    archive_spark_verify(fixture->archive, NULL, checked, &differences, &error);
    g_assert_no_error(error);
    return differences;
}

static void load(Fixture *fixture, const SparkSelect *select, SparkRecords *into) {
    g_autoptr(GError) error = NULL;
    archive_spark_load(fixture->archive, select, into, &error);
    g_assert_no_error(error);
}

/* The records of a batch as the store should have them: merged by key, in the order of keys. */
static GPtrArray *expected(const SparkRecords *records, SparkKind kind, const char *owner, SparkRecords *memory) {
    const SparkForm *form = spark_form(kind);
    g_autoptr(GTree) tree = g_tree_new_full((GCompareDataFunc)(void *)g_bytes_compare, NULL, NULL, NULL);
    g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);

    for (guint i = 0; i < records->of[kind]->len; i++) {
        const void *record = records->of[kind]->data + (gsize)i * form->size_bytes;
        if (strcmp(*(const char *const *)record, owner) != 0) continue;
        const SparkKey key = spark_record_key(kind, 7, record);
        GBytes *bytes = g_bytes_new(key.bytes, key.size_bytes);
        g_ptr_array_add(keys, bytes);

        void *known = g_tree_lookup(tree, bytes);
        if (known != NULL) {
            spark_record_merge(kind, known, record);
            continue;
        }
        void *copy = spark_list(memory, 1, form->size_bytes);
        memcpy(copy, record, form->size_bytes);
        g_tree_insert(tree, bytes, copy);
    }

    GPtrArray *list = g_ptr_array_new();
    for (GTreeNode *node = g_tree_node_first(tree); node != NULL; node = g_tree_node_next(node))
        g_ptr_array_add(list, g_tree_node_value(node));
    return list;
}

static void assert_stored(Fixture *fixture, const SparkRecords *records, SparkKind kind, const char *owner) {
    g_autoptr(SparkRecords) memory = spark_records_new(), loaded = spark_records_new();
    g_autoptr(GPtrArray) list = expected(records, kind, owner, memory);
    const SparkSelect select = SPARK_SELECT(kind, owner);
    const SparkForm *form = spark_form(kind);
    load(fixture, &select, loaded);
    g_assert_cmpuint(loaded->of[kind]->len, ==, list->len);
    for (guint i = 0; i < list->len; i++)
        g_assert_true(
            spark_form_equal(form, g_ptr_array_index(list, i), loaded->of[kind]->data + (gsize)i * form->size_bytes));
}

static const char *const apps[] = {"app-0", "app-1", "app-2", "app-3"};

static void assert_all_stored(Fixture *fixture, const SparkRecords *records) {
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) {
        if (spark_kind_timed((SparkKind)kind)) continue;
        for (guint i = 0; i < G_N_ELEMENTS(apps); i++) assert_stored(fixture, records, (SparkKind)kind, apps[i]);
    }
    for (guint i = 0; i < records->of[SPARK_SAMPLE]->len; i++)
        assert_stored(fixture, records, SPARK_SAMPLE, spark_sample(records, i)->host);
    for (guint i = 0; i < records->of[SPARK_MARK]->len; i++)
        assert_stored(fixture, records, SPARK_MARK, spark_mark(records, i)->host);
}

static void test_random(gconstpointer rocksdb) {
    for (guint seed = 0; seed < 8; seed++) {
        Fixture fixture;
        fixture_open(&fixture, GPOINTER_TO_INT(rocksdb), &options);
        g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
        g_autoptr(SparkRecords) records = records_random(rand, 30, G_N_ELEMENTS(apps));

        const SparkPut first = put(&fixture, records, 1000);
        g_assert_cmpuint(first.refused, ==, 0);
        g_assert_cmpuint(first.added + first.changed + first.unchanged, ==, spark_records_count(records));
        assert_all_stored(&fixture, records);

        const SparkPut again = put(&fixture, records, 2000);
        g_assert_cmpuint(again.added, ==, 0);
        if (first.changed == 0) g_assert_cmpuint(again.changed, ==, 0);

        fixture_reopen(&fixture);
        assert_all_stored(&fixture, records);

        SparkTotals totals;
        guint64 checked, sum = 0;
        g_autoptr(GError) error = NULL;
        g_assert_cmpuint(verify(&fixture, &checked), ==, 0);
        g_assert_cmpuint(checked, ==, first.added);
        archive_spark_totals(fixture.archive, &totals, &error);
        g_assert_no_error(error);
        for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) sum += totals.records[kind];
        g_assert_cmpuint(sum, ==, first.added);
        g_assert_cmpuint(totals.apps, ==, G_N_ELEMENTS(apps));
        fixture_close(&fixture);
    }
}

static SparkTask *add_task(SparkRecords *records, const char *app, gint64 stage, gint32 attempt, gint64 id) {
    SparkTask *task = spark_add_task(records);
    task->app = app, task->stage = stage, task->stage_attempt = attempt, task->task = id;
    return task;
}

/* A task begins in one batch and ends in another; the end comes first; both are in one. */
static void test_parts(gconstpointer rocksdb) {
    Fixture fixture;
    fixture_open(&fixture, GPOINTER_TO_INT(rocksdb), &options);
    g_autoptr(SparkRecords) begun = spark_records_new(), ended = spark_records_new(), loaded = spark_records_new();

    for (gint64 i = 0; i < 3; i++) {
        SparkTask *task = add_task(begun, "app-1", 4, 0, i);
        task->launch_ms = 1000 + i;
        task->host = "node-1";
        task = add_task(i == 2 ? begun : ended, "app-1", 4, 0, i);
        task->finish_ms = 5000;
        task->status = TASK_SUCCESS;
        task->metrics[METRIC_GC_MS] = 7;
    }

    g_assert_cmpuint(put(&fixture, begun, 1).added, ==, 3);
    g_assert_cmpuint(put(&fixture, ended, 1).changed, ==, 2);
    g_assert_cmpuint(put(&fixture, begun, 1).unchanged, ==, 4);
    g_assert_cmpuint(put(&fixture, ended, 1).unchanged, ==, 2);

    const SparkSelect select = SPARK_SELECT(SPARK_TASK, "app-1");
    load(&fixture, &select, loaded);
    g_assert_cmpuint(loaded->of[SPARK_TASK]->len, ==, 3);
    for (guint i = 0; i < 3; i++) {
        const SparkTask *task = spark_task(loaded, i);
        g_assert_cmpint(spark_task_duration_ms(task), ==, 4000 - (gint64)i);
        g_assert_cmpint(task->status, ==, TASK_SUCCESS);
        g_assert_cmpstr(task->host, ==, "node-1");
        g_assert_cmpstr(task->app, ==, "app-1");
    }
    fixture_close(&fixture);
}

static guint count(Fixture *fixture, const SparkSelect *select) {
    g_autoptr(SparkRecords) loaded = spark_records_new();
    load(fixture, select, loaded);
    return loaded->of[select->kind]->len;
}

static void test_select(gconstpointer rocksdb) {
    Fixture fixture;
    fixture_open(&fixture, GPOINTER_TO_INT(rocksdb), &options);
    g_autoptr(SparkRecords) records = spark_records_new();

    for (gint64 stage = 0; stage < 3; stage++)
        for (gint32 attempt = 0; attempt < 2; attempt++)
            for (gint64 id = 0; id < 5; id++)
                add_task(records, "app-1", stage, attempt, stage * 100 + attempt * 10 + id);
    add_task(records, "app-10", 0, 0, 0);
    for (gint64 second = 0; second < 10; second++) {
        HostSample *sample = spark_add_sample(records);
        sample->host = "node-1", sample->source = "mpstat", sample->time_ns = second * 1000000000;
    }
    put(&fixture, records, 1);

    SparkSelect tasks = SPARK_SELECT(SPARK_TASK, "app-1");
    g_assert_cmpuint(count(&fixture, &tasks), ==, 30);
    tasks.stage = 1;
    g_assert_cmpuint(count(&fixture, &tasks), ==, 10);
    tasks.attempt = 1;
    g_assert_cmpuint(count(&fixture, &tasks), ==, 5);
    tasks.task = 113;
    g_assert_cmpuint(count(&fixture, &tasks), ==, 1);
    tasks.task = 103;
    g_assert_cmpuint(count(&fixture, &tasks), ==, 0);
    tasks.owner = "app-2";
    g_assert_cmpuint(count(&fixture, &tasks), ==, 0);

    SparkSelect samples = SPARK_SELECT(SPARK_SAMPLE, "node-1");
    g_assert_cmpuint(count(&fixture, &samples), ==, 10);
    samples.since_ns = 3000000000;
    samples.until_ns = 7000000000;
    g_assert_cmpuint(count(&fixture, &samples), ==, 4);
    fixture_close(&fixture);
}

static void add_link(SparkRecords *records, const char *app, gint64 task, gint64 trace) {
    SparkLink *link = spark_add_link(records);
    link->app = app, link->task = task, link->trace = trace, link->kind = LINK_SPLIT, link->confidence = 0.5;
}

static void test_links(gconstpointer rocksdb) {
    Fixture fixture;
    fixture_open(&fixture, GPOINTER_TO_INT(rocksdb), &options);
    g_autoptr(SparkRecords) records = spark_records_new(), found = spark_records_new();
    add_link(records, "app-1", 7, -5);
    add_link(records, "app-2", 8, -5);
    add_link(records, "app-2", 9, 5);
    put(&fixture, records, 1);
    g_autoptr(GError) error = NULL;
    archive_spark_links_of(fixture.archive, (guint64)-5, found, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(found->of[SPARK_LINK]->len, ==, 2);
    gint64 sum = spark_link(found, 0)->task + spark_link(found, 1)->task;
    g_assert_cmpint(sum, ==, 15);
    g_assert_cmpstr(spark_link(found, 0)->app, !=, spark_link(found, 1)->app);
    guint64 checked;
    g_assert_cmpuint(verify(&fixture, &checked), ==, 0);
    fixture_close(&fixture);
}

static void add_app(SparkRecords *records, const char *id, gint64 end_ms) {
    SparkApp *app = spark_add_app(records);
    app->app = app->id = id;
    app->end_ms = end_ms;
    add_task(records, id, 0, 0, 1);
    add_link(records, id, 1, end_ms);
}

static SparkRemoved remove_old(Fixture *fixture, SparkRemoval what) {
    SparkRemoved removed;
    g_autoptr(GError) error = NULL;
    archive_spark_remove(fixture->archive, &what, &removed, &error);
    g_assert_no_error(error);
    guint64 checked;
    g_assert_cmpuint(verify(fixture, &checked), ==, 0);
    return removed;
}

static void test_remove_old(gconstpointer rocksdb) {
    Fixture fixture;
    fixture_open(&fixture, GPOINTER_TO_INT(rocksdb), &options);
    g_autoptr(SparkRecords) records = spark_records_new(), late = spark_records_new();

    add_app(records, "app-1", 1000);
    add_app(records, "app-2", 2000);
    add_app(records, "app-3", 3000);
    for (gint64 ms = 500; ms <= 2500; ms += 500) {
        HostSample *sample = spark_add_sample(records);
        sample->host = ms < 1500 ? "node-1" : "node-2", sample->time_ns = ms * 1000000;
        *spark_add_mark(records) = (HostMark){ms < 1500 ? "node-3" : "node-2", ms * 1000000, -1, "note", "done"};
    }
    add_app(late, "app-0", 1);
    put(&fixture, records, 0);
    put(&fixture, late, 9000); /* an old log, read just now: it stays */

    SparkRemoved removed = remove_old(&fixture, (SparkRemoval){.before_ms = 2000});
    g_assert_cmpuint(removed.apps, ==, 1);
    g_assert_cmpuint(removed.records, ==, 3 + 3 + 3); /* and samples and marks of 500, 1000 and 1500 ms */
    SparkTotals totals;
    g_assert_true(archive_spark_totals(fixture.archive, &totals, NULL));
    g_assert_cmpuint(totals.apps, ==, 3);
    g_assert_cmpuint(totals.hosts, ==, 1);
    g_assert_cmpuint(totals.records[SPARK_SAMPLE], ==, 2);
    g_assert_cmpuint(totals.records[SPARK_MARK], ==, 2);

    /* For room: the oldest one, and only if it is older than what is kept whole. */
    removed = remove_old(&fixture, (SparkRemoval){.oldest = TRUE, .oldest_before_ms = 2000});
    g_assert_cmpuint(removed.apps, ==, 0);
    removed = remove_old(&fixture, (SparkRemoval){.oldest = TRUE, .oldest_before_ms = 8000});
    g_assert_cmpuint(removed.apps, ==, 1);

    const SparkSelect gone = SPARK_SELECT(SPARK_TASK, "app-2"), there = SPARK_SELECT(SPARK_TASK, "app-3");
    g_assert_cmpuint(count(&fixture, &gone), ==, 0);
    g_assert_cmpuint(count(&fixture, &there), ==, 1);
    g_autoptr(SparkRecords) links = spark_records_new();
    g_assert_true(archive_spark_links_of(fixture.archive, 2000, links, NULL));
    g_assert_cmpuint(links->of[SPARK_LINK]->len, ==, 0);
    fixture_close(&fixture);
}

/* An old log that was read just now stays, and with it the samples of its time, a minute before and after included. */
static void test_samples_stay_with_their_application(gconstpointer rocksdb) {
    Fixture fixture;
    fixture_open(&fixture, GPOINTER_TO_INT(rocksdb), &options);
    g_autoptr(SparkRecords) records = spark_records_new();
    add_app(records, "app-1", 400000);
    g_array_index(records->of[SPARK_APP], SparkApp, 0).start_ms = 300000;
    for (gint64 ms = 0; ms < 1000000; ms += 10000) {
        HostSample *sample = spark_add_sample(records);
        sample->host = ms < 700000 ? "node-1" : "node-2", sample->time_ns = ms * 1000000;
    }
    put(&fixture, records, 5000000);

    SparkRemoved removed = remove_old(&fixture, (SparkRemoval){.before_ms = 4000000});
    SparkTotals totals;
    g_assert_true(archive_spark_totals(fixture.archive, &totals, NULL));
    g_assert_cmpuint(removed.apps, ==, 0);
    g_assert_cmpuint(totals.records[SPARK_SAMPLE], ==, (460 - 240) / 10);
    g_assert_cmpuint(totals.hosts, ==, 1);

    removed = remove_old(&fixture, (SparkRemoval){.before_ms = 6000000});
    g_assert_true(archive_spark_totals(fixture.archive, &totals, NULL));
    g_assert_cmpuint(removed.apps, ==, 1);
    g_assert_cmpuint(totals.records[SPARK_SAMPLE], ==, 0);
    fixture_close(&fixture);
}

static void change(Fixture *fixture, const SparkKey *key, const char *value) {
    g_autoptr(StoreBatch) batch = store_batch_new(fixture->store);
    if (value != NULL)
        store_batch_put(batch, FAMILY_SPARK, spark_key_bytes(key), (Bytes){value, strlen(value)});
    else
        store_batch_delete(batch, FAMILY_SPARK, spark_key_bytes(key));
    g_assert_true(store_write(fixture->store, batch, FALSE, NULL));
}

/* Whatever is wrong is found. */
static void test_verify(void) {
    for (guint wrong = 0; wrong < 5; wrong++) {
        Fixture fixture;
        fixture_open(&fixture, FALSE, &options);
        g_autoptr(SparkRecords) records = spark_records_new();
        add_app(records, "app-1", 1000);
        put(&fixture, records, 0);

        const guint64 hash = spark_hash_text("app-1");
        const SparkKey task = spark_record_key(SPARK_TASK, hash, spark_task(records, 0));
        const SparkKey owner = spark_owner_key(OWNER_APP, hash);
        const SparkKey way = spark_trace_key(hash, spark_link(records, 0));
        SparkKey other = task;
        other.bytes[other.size_bytes - 1]++;

        guint64 checked;
        g_assert_cmpuint(verify(&fixture, &checked), ==, 0);

        if (wrong == 0) change(&fixture, &task, NULL);
        if (wrong == 1) change(&fixture, &task, "\x0b");
        if (wrong == 2) change(&fixture, &owner, NULL);
        if (wrong == 3) change(&fixture, &way, NULL);
        if (wrong == 4) change(&fixture, &other, "\x08\0");
        g_assert_cmpuint(verify(&fixture, &checked), >, 0);
        fixture_close(&fixture);
    }
}

/* Damaged values are told, never trusted. */
static void test_damage(void) {
    Fixture fixture;
    fixture_open(&fixture, FALSE, &options);
    g_autoptr(GRand) rand = g_rand_new_with_seed(3);
    g_autoptr(SparkRecords) records = records_random(rand, 3, 1);
    put(&fixture, records, 0);

    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) {
        const void *record = records->of[kind]->data;
        const char *owner = *(const char *const *)record;
        const SparkKey key = spark_record_key((SparkKind)kind, spark_hash_text(owner), record);
        g_autoptr(GBytes) whole = NULL;
        g_assert_true(store_get(fixture.store, FAMILY_SPARK, spark_key_bytes(&key), &whole, NULL));

        for (guint i = 0; i < 300; i++) {
            gsize size;
            const guint8 *data = g_bytes_get_data(whole, &size);
            const gsize n = i % 2 == 0 ? (gsize)g_rand_int_range(rand, 0, (gint32)size) : size;
            g_autofree guint8 *copy = g_memdup2(data, MAX(n, 1));
            if (n > 0) copy[g_rand_int_range(rand, 0, (gint32)n)] = (guint8)g_rand_int(rand);
            g_autoptr(StoreBatch) batch = store_batch_new(fixture.store);
            store_batch_put(batch, FAMILY_SPARK, spark_key_bytes(&key), (Bytes){copy, n});
            g_assert_true(store_write(fixture.store, batch, FALSE, NULL));

            const SparkSelect select = SPARK_SELECT((SparkKind)kind, owner);
            g_autoptr(SparkRecords) loaded = spark_records_new();
            g_autoptr(GError) error = NULL;
            if (!archive_spark_load(fixture.archive, &select, loaded, &error))
                g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
        }
    }
    fixture_close(&fixture);
}

static void add_both(const char *name, GTestDataFunc func) {
    static const char *const stores[] = {"memory", "rocksdb"};
    for (gint i = 0; i < 2; i++) {
        g_autofree char *path = g_strdup_printf("/archive/spark/%s/%s", name, stores[i]);
        g_test_add_data_func(path, GINT_TO_POINTER(i), func);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    add_both("random", test_random);
    add_both("parts", test_parts);
    add_both("select", test_select);
    add_both("links", test_links);
    add_both("remove-old", test_remove_old);
    add_both("samples-stay", test_samples_stay_with_their_application);
    g_test_add_func("/archive/spark/verify", test_verify);
    g_test_add_func("/archive/spark/damage", test_damage);
    return g_test_run();
}
