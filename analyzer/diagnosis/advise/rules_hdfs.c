/* Rules about how tasks read HDFS, from their traces: small files and small reads, other hosts, one's own DataNode. */
#include <math.h>

#include "analyzer/diagnosis/advise/rules.h"

#define TASKS_LEAST   4u         /* whose traces were read */
#define SEEN_LEAST    0.5        /* of what Spark says that such tasks read: else traces do not tell how */
#define WAIT_LEAST    0.1        /* of task time, for the NameNode or the network */
#define FILE_BYTES    (16 * MIB) /* a file, or what is read of it at once */
#define CALL_BYTES    (MIB / 4)  /* what a call reads */
#define CALLS_OF_FILE 8.0        /* a file read in fewer calls is read at once */
#define READING_LEAST 0.3        /* of task time, in HDFS */
#define REMOTE_LEAST  0.5        /* of the bytes */
#define LOCAL_LEAST   0.5
#define ROUND_TRIP_MS 1.0 /* what a call costs, however little it reads */

typedef struct Reading {
    const AdviseFacts *facts;
    const AdviseStage *stage;
    const AdviseReads *reads;
    double bytes; /* that these tasks read, from DataNodes and from files of their host */
    double times; /* the stage's task time, by that of the tasks that were read */
} Reading;

static const AdviseStage *stage_of(const AdviseFacts *facts, const AdviseReads *reads) {
    for (guint i = 0; i < facts->stages->len; i++) {
        const AdviseStage *stage = advise_stage(facts, i);
        if (stage->stage == reads->stage && stage->attempt == reads->attempt) return stage;
    }
    return NULL;
}

/* Not all ways to read say how much they read, and a stage may read something that is not HDFS's. */
static gboolean saw_enough(const Reading *reading) {
    const double of_stage = MIN(share_of(reading->reads->tasks, reading->stage->tasks), 1);
    return reading->bytes > 0 && reading->bytes >= SEEN_LEAST * of_stage * reading->stage->sums[METRIC_INPUT_BYTES];
}

static Finding *reading_found(const Reading *reading, const char *rule, double cost_ms, Advice *advice) {
    const AdviseReads *reads = reading->reads;
    Finding *finding = advice_add(advice, rule, FINDING_POSSIBLE);
    g_autofree char *bytes = bytes_text(reads->bytes), *local = bytes_text(reads->local_bytes);
    finding_stage(finding, reading->stage);
    finding_evidence(finding,
                     "traces of %u of %u tasks: %.0f opens of files, %s read from DataNodes and %s from files of the "
                     "own host, in %.0f calls",
                     reads->tasks, reading->stage->tasks, reads->opens, bytes, local, reads->calls);
    finding->cost_ms = cost_ms * reading->times;
    finding->share = share_of(finding->cost_ms, reading->facts->task_ms);
    return finding;
}

/* ---- the NameNode ---- */

/* What the files of the stage's scans have each, by the plan, whatever is read of them; -1: no plan says it. */
static double file_bytes(const Reading *reading) {
    double files = 0, bytes = 0;
    for (guint i = 0; i < reading->facts->scans->len; i++) {
        const AdviseScan *scan = &g_array_index(reading->facts->scans, AdviseScan, i);
        if (scan->stage != reading->stage->stage || scan->files <= 0 || scan->bytes < 0) continue;
        files += scan->files;
        bytes += scan->bytes;
    }
    return files > 0 ? bytes / files : -1;
}

static void larger_pieces(const Reading *reading, gboolean in_pieces, double each, Finding *finding) {
    if (in_pieces) {
        finding->certainty = FINDING_LIKELY;
        finding->risk = g_strdup("Larger pieces need more memory in a task, and fewer tasks run where the data is.");
        finding_change(finding, reading->facts, "spark.sql.files.maxPartitionBytes", bytes_setting(PARTITION_BYTES));
        return;
    }
    finding->advice = g_strdup(each >= 0 ? "Join the files to some of 128 MiB where they are written: each is opened "
                                           "by asking the NameNode."
                                         : "If the files are small, join them to some of 128 MiB where they are "
                                           "written: each is opened by asking the NameNode.");
    if (each < 0) return;
    g_autofree char *size = bytes_text(each);
    finding->certainty = FINDING_LIKELY;
    finding_evidence(finding, "its files have %s each, as the query's plan counted", size);
}

/* A file is opened by asking the NameNode: of small ones that is most of it. Large ones of which little is read, some
 * columns, are not to be joined. */
static void small_opens(const Reading *reading, Advice *advice) {
    const AdviseReads *reads = reading->reads;
    if (reads->opens <= 0 || share_of(reads->opening_ms, reads->task_ms) < WAIT_LEAST) return;
    if (reading->bytes / reads->opens >= FILE_BYTES) return;
    const double each = file_bytes(reading);
    const double piece = advise_bytes(reading->facts, "spark.sql.files.maxPartitionBytes", 1);
    const gboolean in_pieces = reading->stage->sql && piece < FILE_BYTES && (each < 0 || each > piece);
    if (!in_pieces && each >= FILE_BYTES) return;

    Finding *finding = reading_found(reading, "namenode", reads->opening_ms, advice);
    g_autofree char *name = stage_text(reading->stage), *read = bytes_text(reading->bytes / reads->opens);
    const double wanted = MAX(ceil(reading->bytes / PARTITION_BYTES), 1);
    finding->what =
        g_strdup_printf("%s waits for the NameNode in %.0f %% of its time, to open files: it reads %s per open.", name,
                        100 * reads->opening_ms / reads->task_ms, read);
    finding_evidence(finding, "%.2f opens for each MiB", share_of(reads->opens, reading->bytes / MIB));
    finding->formula = g_strdup_printf("time that these tasks waited for the NameNode to open files x %.1f, as the "
                                       "stage has so many times their task time",
                                       reading->times);
    finding->saves_ms = finding->cost_ms * MAX(1 - wanted / reads->opens, 0);
    larger_pieces(reading, in_pieces, each, finding);
}

/* ---- DataNodes ---- */

static void small_reads(const Reading *reading, Advice *advice) {
    const AdviseReads *reads = reading->reads;
    const double calls = reads->calls;
    if (calls < CALLS_OF_FILE * MAX(reads->opens, 1) || reading->bytes / calls >= CALL_BYTES) return;
    if (share_of(reads->hdfs_ms, reads->task_ms) < READING_LEAST) return;

    const double cost_ms = MIN(calls * ROUND_TRIP_MS, reads->hdfs_ms);
    Finding *finding = reading_found(reading, "small-reads", cost_ms, advice);
    g_autofree char *name = stage_text(reading->stage), *each = bytes_text(reading->bytes / calls);
    finding->what = g_strdup_printf("%s reads HDFS by %s at a time.", name, each);
    finding->formula = g_strdup("a millisecond for each call, at most the time in HDFS");
    finding->advice = g_strdup("Read more at once. Text and sequence files: a larger buffer "
                               "(spark.hadoop.io.file.buffer.size). Parquet and ORC, which do not use it: larger row "
                               "groups or stripes where they are written.");
}

/* Is there a DataNode beside any executor? Without one no task can wait for a core where its data is. */
static gboolean beside_datanodes(const AdviseFacts *facts) {
    double near = 0;
    for (guint i = 0; i < facts->reads->len; i++) {
        const AdviseReads *reads = &g_array_index(facts->reads, AdviseReads, i);
        near += reads->own_bytes + reads->local_bytes;
    }
    return near > 0;
}

static void remote_reads(const Reading *reading, Advice *advice) {
    const AdviseReads *reads = reading->reads;
    const double remote = share_of(reads->remote_bytes, reading->bytes);
    const char *wait = "spark.locality.wait";
    if (remote < REMOTE_LEAST || share_of(reads->network_ms, reads->task_ms) < WAIT_LEAST) return;

    Finding *finding = reading_found(reading, "remote-reads", reads->network_ms * remote, advice);
    g_autofree char *name = stage_text(reading->stage), *all = bytes_text(reads->remote_bytes);
    finding->what = g_strdup_printf("%s reads %.0f %% of its bytes from other hosts, and waits for the network.", name,
                                    100 * remote);
    finding_evidence(finding, "%s from DataNodes of other hosts; %.0f of %u tasks ran where Spark knew their data", all,
                     reading->stage->local, reading->stage->tasks);
    finding->formula =
        g_strdup_printf("time that these tasks waited for the network x %.2f x %.1f", remote, reading->times);
    finding->risk = g_strdup("Tasks may wait for a core where their data is.");
    if (time_parse_ms(advise_setting(reading->facts, wait)) == 0 && beside_datanodes(reading->facts))
        finding_change(finding, reading->facts, wait, g_strdup("3s"));
    else
        finding->advice = g_strdup("Executors on the hosts of the DataNodes, or more replicas of what is read often "
                                   "(hdfs dfs -setrep), bring it nearer.");
}

/* Bytes of the own host that come in packets come through its DataNode's socket. Where the DataNode is not known, its
 * host is not. */
static void through_datanode(const Reading *reading, Advice *advice) {
    const AdviseReads *reads = reading->reads;
    const double local = share_of(reads->own_bytes, reading->bytes);
    if (local < LOCAL_LEAST || share_of(reads->network_ms, reads->task_ms) < WAIT_LEAST) return;

    Finding *finding = reading_found(reading, "short-circuit", reads->network_ms * local, advice);
    g_autofree char *name = stage_text(reading->stage);
    const gboolean on = advise_flag(reading->facts, "dfs.client.read.shortcircuit");
    finding->what =
        g_strdup_printf("%s reads %.0f %% of its bytes from its own host, through the DataNode.", name, 100 * local);
    finding->formula =
        g_strdup_printf("time that these tasks waited for the socket x %.2f x %.1f", local, reading->times);
    finding->advice = g_strdup_printf("%s: the DataNodes need dfs.domain.socket.path and a folder for it, and clients "
                                      "the same key and libhadoop.",
                                      on ? "dfs.client.read.shortcircuit is true and does not work"
                                         : "Let clients read the files themselves (dfs.client.read.shortcircuit true)");
}

void rule_hdfs(const AdviseFacts *facts, Advice *advice) {
    gboolean unseen = FALSE;
    if (facts->reads->len == 0 || hosts_to_blame(facts, advice, "hdfs")) return;
    for (guint i = 0; i < facts->reads->len; i++) {
        const AdviseReads *reads = &g_array_index(facts->reads, AdviseReads, i);
        const AdviseStage *stage = stage_of(facts, reads);
        if (stage == NULL || reads->tasks < TASKS_LEAST || reads->task_ms <= 0) continue;
        const Reading reading = {facts, stage, reads, reads->bytes + reads->local_bytes,
                                 MAX(stage->task_ms / reads->task_ms, 1)};

        if (!saw_enough(&reading)) {
            unseen = unseen || share_of(reads->hdfs_ms, reads->task_ms) >= WAIT_LEAST;
            continue;
        }
        small_opens(&reading, advice);
        small_reads(&reading, advice);
        remote_reads(&reading, advice);
        through_datanode(&reading, advice);
    }
    if (unseen)
        advice_unknown(advice, "hdfs",
                       "traces have less than half of the bytes that stages read: they do not tell how");
}
