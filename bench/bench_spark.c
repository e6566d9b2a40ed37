/* Records of Spark in a store on disk: bench_spark [TASKS [FOLDER]]. Writes an application of so many tasks in batches
 * as plumb-bridge sends them, writes them again (nothing changes), reads them as the diagnoses do. CPU time of the
 * process. 0 tasks: only reads. */
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "analyzer/archive/spark/spark.h"

#define BATCH 5000
#define STAGE 20000 /* tasks of one stage */

static double cpu_s(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void die(const GError *error) {
    if (error == NULL) return;
    fprintf(stderr, "bench_spark: %s\n", error->message);
    exit(1);
}

static void add_task(SparkRecords *records, guint64 id) {
    char text[32];
    SparkTask *task = spark_add_task(records);
    const guint64 noise = id * 0x9e3779b97f4a7c15u >> 20;
    task->app = spark_text_shared(records, "app-20260101120000-0001", 23);
    task->stage = (gint64)(id / STAGE), task->stage_attempt = 0, task->task = (gint64)id;
    task->partition = (gint32)(id % STAGE), task->attempt = 0, task->speculative = 0;
    task->executor = spark_text_shared(records, text, (gsize)g_snprintf(text, sizeof text, "%u", (guint)(noise % 200)));
    task->host = spark_text_shared(records, text,
                                   (gsize)g_snprintf(text, sizeof text, "node-%u.example.org", (guint)(noise % 50)));
    task->launch_ms = 1767268800000 + (gint64)(id * 3);
    task->finish_ms = task->launch_ms + 400 + (gint64)(noise % 1000);
    task->locality = (TaskLocality)(1 + noise % 3);
    task->status = TASK_SUCCESS;
    for (guint i = 0; i < TASK_METRIC_COUNT - 8; i++)
        task->metrics[i] = i % 3 == 0 ? 0 : (gint64)((noise >> i) % (i % 2 == 0 ? 100000000 : 3000));
}

static void write_all(Archive *archive, guint64 n, const char *what) {
    g_autoptr(SparkRecords) records = spark_records_new();
    g_autoptr(GError) error = NULL;
    SparkPut sum = {0};
    double made_s = 0;
    const double begin_s = cpu_s();
    for (guint64 id = 0; id < n;) {
        const double make_s = cpu_s();
        spark_records_clear(records);
        for (guint i = 0; i < BATCH && id < n; i++) add_task(records, id++);
        made_s += cpu_s() - make_s;
        SparkPut put;
        archive_spark_put(archive, records, 0, &put, &error);
        die(error);
        sum.added += put.added;
        sum.unchanged += put.unchanged;
    }
    printf("%-16s %6.2f s CPU, %.2f us a task (%" G_GUINT64_FORMAT " added, %" G_GUINT64_FORMAT " unchanged)\n", what,
           cpu_s() - begin_s - made_s, (cpu_s() - begin_s - made_s) * 1e6 / (double)n, sum.added, sum.unchanged);
}

typedef struct Sums {
    guint64 n;
    gint64 duration_ms;
} Sums;

static gboolean add(void *arg, const void *record) {
    Sums *sums = arg;
    sums->n++;
    sums->duration_ms += spark_task_duration_ms(record);
    return TRUE;
}

static void read_all(Archive *archive) {
    const SparkSelect select = SPARK_SELECT(SPARK_TASK, "app-20260101120000-0001");
    g_autoptr(SparkRecords) texts = spark_records_new(), records = spark_records_new();
    g_autoptr(GError) error = NULL;
    Sums sums = {0, 0};
    double begin_s = cpu_s();
    archive_spark_visit(archive, &select, texts, (SparkVisitor){add, &sums}, &error);
    die(error);
    printf("%-16s %6.2f s CPU, %" G_GUINT64_FORMAT " tasks\n", "visit", cpu_s() - begin_s, sums.n);
    begin_s = cpu_s();
    archive_spark_load(archive, &select, records, &error);
    die(error);
    printf("%-16s %6.2f s CPU, %.0f MB\n", "load", cpu_s() - begin_s, (double)spark_records_bytes(records) / 1e6);
}

int main(int argc, char **argv) {
    const guint64 n = argc > 1 ? g_ascii_strtoull(argv[1], NULL, 10) : 1000000;
    g_autofree char *made = argc > 2 ? NULL : g_dir_make_tmp("bench-spark-XXXXXX", NULL);
    const char *folder = argc > 2 ? argv[2] : made;

    g_autoptr(GError) error = NULL;
    const StoreOptions options = {.path = folder, .merge = archive_merge};
    g_autoptr(Store) store = store_open_rocksdb(&options, &error);
    die(error);
    g_autoptr(Archive) archive = archive_open(store, &(ArchiveOptions){0}, &error);
    die(error);

    write_all(archive, n, "write");
    write_all(archive, n, "write again");
    store_flush(store, TRUE, &error);
    die(error);
    printf("%-16s %6.1f bytes a task\n", "on disk",
           (double)store_usage(store).family_bytes[FAMILY_SPARK] / (double)MAX(n, 1));
    read_all(archive);

    if (made != NULL) {
        g_autofree char *command = g_strdup_printf("rm -r '%s'", made);
        if (system(command) != 0) return 1;
    }
    return 0;
}
