#include "tests/query/spark_sample.h"

#include <string.h>

#include "analyzer/archive/spark/spark.h"

SparkTask *sample_task(SparkRecords *records, gint64 id, const char *host, gint64 launch_ms, gint64 duration_ms) {
    SparkTask *task = spark_add_task(records);
    task->app = APP;
    task->stage = 1;
    task->stage_attempt = 0;
    task->task = id;
    task->partition = (gint32)id;
    task->attempt = 0;
    task->executor = "1";
    task->host = spark_text_shared(records, host, strlen(host));
    task->launch_ms = BASE_MS + launch_ms;
    task->finish_ms = duration_ms < 0 ? -1 : BASE_MS + launch_ms + duration_ms;
    task->status = duration_ms < 0 ? TASK_RUNNING : TASK_SUCCESS;
    task->locality = LOCALITY_NODE;
    return task;
}

SparkApp *sample_app(SparkRecords *records) {
    SparkApp *app = spark_add_app(records);
    app->app = app->id = APP;
    app->name = "count words";
    app->start_ms = BASE_MS;
    return app;
}

void sample_put(Fixture *fixture, const SparkRecords *records) {
    SparkPut done;
    g_autoptr(GError) error = NULL;
    archive_spark_put(fixture->archive, records, BASE_MS, &done, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(done.refused, ==, 0);
}

void sample_read(Fixture *fixture, const Read *read) {
    const gint64 begin = read->begin_ms * 1000, disk = read->disk_ms * 1000, end = begin + 3000 + disk;
    const guint64 t = read->trace;
    const char *client = read->client, *node = read->datanode;
    const guint64 up = read->in_task ? 2 : 0;
    const SpanRow rows[] = {
        {t, 3, up, "DFSInputStream#byteArrayRead", client, begin + 1000, end - begin - 1000, read->notes, 0},
        {t, 4, 3, "BlockReaderRemote2#readNextPacket", client, begin + 1500, end - begin - 2000, "block=77;bytes=65536",
         0},
        {t, 5, 3, "OpReadBlockProto", node, begin + 1200, end - begin - 1400, NULL, 0},
        {t, 6, 5, "BlockSender#new", node, begin + 1300, 100, "block=77", 0},
        {t, 7, 5, "BlockSender#readLocal", node, begin + 1600, disk, "bytes=65536", 0},
        {t, 1, 0, "SparkTask", client, begin, end - begin, "app=" APP, 0},
        {t, 2, 1, "RDD:org.apache.spark.rdd.HadoopRDD", client, begin + 500, end - begin - 500, NULL, 0},
    };
    fixture_store(fixture, rows, read->in_task ? 7 : 5);
}

/* Eight tasks of 100 ms; d2 takes 300 ms from its disk for tasks 5 and 6, which take 400. Task 7 takes as long, with
 * nothing to show for it. */
void sample_slow_disk(Fixture *fixture) {
    g_autoptr(SparkRecords) records = spark_records_new();
    sample_app(records);
    for (gint64 id = 0; id < 8; id++) {
        const gboolean slow = id == 5 || id == 6;
        SparkTask *task = sample_task(records, id, id % 2 ? "w1" : "w2", id * 10, slow || id == 7 ? 400 : 100);
        task->metrics[METRIC_INPUT_BYTES] = 65536;
        const Read read = {task_trace_id(APP, id),
                           id % 2 ? "FSClient/w1/7" : "FSClient/w2/8",
                           slow ? "DataNode/d2" : "DataNode/d1",
                           id * 10,
                           slow ? 300 : 2,
                           "path=/in/part",
                           TRUE};
        sample_read(fixture, &read);
    }
    sample_put(fixture, records);
}
