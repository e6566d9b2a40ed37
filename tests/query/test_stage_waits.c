/* Stages in which all tasks wait for one host, in several ways: on spans made by hand, of which it is known. */
#include "tests/query/spark_sample.h"

enum { TASKS = 8, TASK_MS = 100, MOST_READS = 2 };

/* What a DataNode takes of a read: before it begins, from its disk, and for the socket. */
typedef struct Served {
    const char *datanode;
    gint64 server_ms, disk_ms, socket_ms;
} Served;

/* Reads one after the other, and then its own work; a task of Spark takes TASK_MS. */
typedef struct Reader {
    guint64 trace;
    const char *root, *client;
    gint64 begin_ms, own_ms;
    Served served[MOST_READS];
    gboolean computes; /* meanwhile, in another thread, and for longer: it waits for none of its reads */
} Reader;

/* Returns when it ended. */
static gint64 add_read(GArray *rows, const Reader *reader, guint i, gint64 begin_us) {
    const Served *served = &reader->served[i];
    const guint64 t = reader->trace, id = 10 * (i + 1);
    const gint64 server_us = served->server_ms * 1000, disk_us = served->disk_ms * 1000;
    const gint64 socket_us = served->socket_ms * 1000, length_us = server_us + disk_us + socket_us;
    const SpanRow read[] = {
        {t, id, 2, "BlockReaderRemote2#readNextPacket", reader->client, begin_us, length_us, "block=77;bytes=65536", 0},
        {t, id + 1, 2, "OpReadBlockProto", served->datanode, begin_us, length_us, NULL, 0},
        {t, id + 2, id + 1, "BlockSender#readLocal", served->datanode, begin_us + server_us, disk_us, NULL, 0},
        {t, id + 3, id + 1, "BlockSender#writeToSocket", served->datanode, begin_us + server_us + disk_us, socket_us,
         NULL, 0},
    };
    g_array_append_vals(rows, read, G_N_ELEMENTS(read));
    return begin_us + length_us;
}

static void store_reader(Fixture *fixture, const Reader *reader) {
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(SpanRow));
    const gint64 begin_us = reader->begin_ms * 1000;
    gint64 end_us = begin_us;
    for (guint i = 0; i < MOST_READS && reader->served[i].datanode; i++) end_us = add_read(rows, reader, i, end_us);
    end_us += reader->own_ms * 1000;
    const SpanRow above[] = {
        {reader->trace, 1, 0, reader->root, reader->client, begin_us, TASK_MS * 1000, NULL, 0},
        {reader->trace, 2, 1, "DFSInputStream#byteArrayRead", reader->client, begin_us, end_us - begin_us, NULL, 0},
    };
    g_array_append_vals(rows, above, G_N_ELEMENTS(above));
    const SpanRow beside = {reader->trace, 3, 1, "Loader#compute", reader->client, begin_us, TASK_MS * 1000, NULL, 0};
    if (reader->computes) g_array_append_val(rows, beside);
    fixture_store(fixture, (const SpanRow *)(gpointer)rows->data, rows->len);
}

/* What "why" says; others read meanwhile. */
static json_t *why_among(const Reader *task, const Reader *others) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    g_autoptr(SparkRecords) records = spark_records_new();
    sample_app(records)->end_ms = BASE_MS + 10000;
    for (gint64 id = 0; id < TASKS; id++) {
        Reader reader = *task;
        reader.root = "SparkTask";
        reader.trace = task_trace_id(APP, id);
        reader.begin_ms = id * 10;
        store_reader(&fixture, &reader);
        sample_task(records, id, "w1", id * 10, TASK_MS);
        Reader other = *others;
        other.root = "Loader#run";
        other.trace = 0x300 + (guint64)id;
        other.client = "FSClient/c1/9";
        store_reader(&fixture, &other);
    }
    sample_put(&fixture, records);
    return fixture_answer(&fixture, "why", "app=latest");
}

/* Others read from d1, as they should. */
static json_t *why(const Reader *task, const Served *usual) {
    const Reader others = {.served = {*usual}};
    return why_among(task, &others);
}

/* NULL: nothing is said of it. */
static const json_t *stage_in(const json_t *answer) { return json_array_get(json_object_get(answer, "stages"), 0); }

static const Served well = {"DataNode/d1", 1, 1, 1};

static void check_split(const json_t *stage, const char *host, const char *resource, gint64 host_ms) {
    const json_t *suspect = json_object_get(stage, "suspect"), *split = json_object_get(stage, "split");
    g_assert_cmpstr(text_at(suspect, "host"), ==, host);
    g_assert_cmpstr(text_at(suspect, "role"), ==, "datanode");
    g_assert_cmpstr(text_at(suspect, "resource"), ==, resource);
    g_assert_cmpstr(text_at(suspect, "pace"), ==, "slow");
    g_assert_cmpint(number_at(stage, "tasks_waiting"), ==, TASKS);
    g_assert_cmpint(number_at(split, "time_ns"), ==, TASKS * host_ms * NS_PER_MS);
}

/* A fifth of the time each for its processor, its disk and its network: no single one would be told. */
static void split_over_resources(void) {
    const Reader task = {.client = "FSClient/w1/7", .served = {{"DataNode/d2", 20, 22, 18}}};
    json_auto_t *answer = why(&task, &well);
    check_split(stage_in(answer), "d2", "server", 60);
    fixture_check_document("why-split", answer);
    const json_t *split = json_object_get(stage_in(answer), "split");
    const json_t *resources = json_object_get(split, "resources_ns");
    g_assert_cmpint(number_at(resources, "server"), ==, TASKS * 20 * NS_PER_MS);
    g_assert_cmpint(number_at(resources, "disk"), ==, TASKS * 22 * NS_PER_MS);
    g_assert_cmpint(number_at(resources, "network"), ==, TASKS * 18 * NS_PER_MS);
}

/* Its own work is as elsewhere. */
static void split_with_a_slow_disk(void) {
    const Reader task = {.client = "FSClient/w1/7", .served = {{"DataNode/d2", 1, 20, 18}}};
    json_auto_t *answer = why(&task, &well);
    check_split(stage_in(answer), "d2", "disk", 39);
}

/* Both are slow, and each has 30 % of the time: no one host is waited for. */
static void split_over_two_hosts(void) {
    const Reader task = {.client = "FSClient/w1/7",
                         .served = {{"DataNode/d2", 10, 10, 10}, {"DataNode/d3", 10, 10, 10}}};
    json_auto_t *answer = why(&task, &well);
    g_assert_null(stage_in(answer));
}

/* They all read what only d2 has, and it is no slower than others. */
static void split_at_a_well_host(void) {
    const Reader task = {.client = "FSClient/w1/7", .served = {{"DataNode/d2", 20, 20, 20}}};
    const Served usual = {"DataNode/d1", 20, 20, 20};
    json_auto_t *answer = why(&task, &usual);
    g_assert_null(stage_in(answer));
}

/* The DataNode is on the tasks' own host, of which only what the DataNode does counts. */
static void split_at_the_own_host(void) {
    const Reader task = {.client = "FSClient/w1/7", .own_ms = 35, .served = {{"DataNode/w1", 20, 20, 20}}};
    json_auto_t *answer = why(&task, &well);
    check_split(stage_in(answer), "w1", "server", 60);
    const Reader busy = {.client = "FSClient/w1/7", .own_ms = 60, .served = {{"DataNode/w1", 12, 5, 5}}};
    json_auto_t *of_own = why(&busy, &well);
    g_assert_null(stage_in(of_own));
}

/* d2 works as others do, which nobody waits for. */
static void no_slower_than_others_who_hide_it(void) {
    const Reader task = {.client = "FSClient/w1/7", .served = {{"DataNode/d2", 16, 1, 1}, {"DataNode/d2", 16, 1, 1}}};
    const Reader others = {.served = {{"DataNode/d1", 16, 1, 1}}, .computes = TRUE};
    json_auto_t *answer = why_among(&task, &others);
    g_assert_null(stage_in(answer));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/stage-waits/split-over-resources", split_over_resources);
    g_test_add_func("/stage-waits/split-with-a-slow-disk", split_with_a_slow_disk);
    g_test_add_func("/stage-waits/split-over-two-hosts", split_over_two_hosts);
    g_test_add_func("/stage-waits/split-at-a-well-host", split_at_a_well_host);
    g_test_add_func("/stage-waits/split-at-the-own-host", split_at_the_own_host);
    g_test_add_func("/stage-waits/no-slower-than-others-who-hide-it", no_slower_than_others_who_hide_it);
    return g_test_run();
}
