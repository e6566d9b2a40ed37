/* The load client: a generated cluster (bench/cluster.h) sends its spans to plumbd over Thrift as fast as they are
 * taken, or at a rate; or they are written as JSON lines. Prints one JSON object: the ledger of what was made, sent,
 * acknowledged, repeated, late and withheld, and what it cost this process. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "bench/sender.h"
#include "common/base/clock.h"
#include "common/wire/json/span_json.h"
#include "common/wire/message.h"

/* Late by so much of the run at most, that there is something to be late for. */
#define LATE_SHARE_OF_RUN 3

static char *thrift = NULL, *model = NULL, *begin = NULL, *ledger_path = NULL;
static ChannelFiles files;
static gint64 spans = 1000000, seed = 1, rate = 0, largest = 1000000, open_traces = 0;
static gint threads = 1, batch_spans = 2000, hosts = 3000, namenodes = 4, connections = 0, jobs = 4096;
static gint unanswered_mib = 8, give_up_s = 600;
static gboolean nanoseconds = FALSE, captured_only = FALSE, structs = FALSE, random_ids = FALSE, own_addresses = FALSE;
static double cluster_rate = 3e6, flush_s = 0.5, late_by_s = 120, late = 0.02, repeated = 0.01, withheld = 0.005;
static double hold_s = 0, seconds_most = 0;

static const GOptionEntry options[] = {
    {"model", 0, 0, G_OPTION_ARG_FILENAME, &model, "captured traces that all is made of (HTrace JSON)", "FILE"},
    {"thrift", 0, 0, G_OPTION_ARG_STRING, &thrift, "plumbd's span port; without it JSON lines go to stdout",
     "HOST:PORT"},
    {"spans", 0, 0, G_OPTION_ARG_INT64, &spans, "how many to make, in all (1000000)", "N"},
    {"seed", 0, 0, G_OPTION_ARG_INT64, &seed, "the same load for the same seed, options and --begin (1)", "N"},
    {"begin", 0, 0, G_OPTION_ARG_STRING, &begin, "begin of the first trace, ns since the epoch (so that it ends now)",
     "NS"},
    {"nanoseconds", 0, 0, G_OPTION_ARG_NONE, &nanoseconds, "times with all digits, not in milliseconds", NULL},
    {"captured", 0, 0, G_OPTION_ARG_NONE, &captured_only,
     "only copies of the captured traces: no jobs, no other methods", NULL},
    {"structs", 0, 0, G_OPTION_ARG_NONE, &structs,
     "spans as structs, as any program can send them, not as packs, the agent's way", NULL},
    {"random-ids", 0, 0, G_OPTION_ARG_NONE, &random_ids,
     "ids of spans as other programs draw them, not from a sequence of the process, as the agent's are", NULL},
    {"hosts", 0, 0, G_OPTION_ARG_INT, &hosts, "hosts, with a client and a DataNode each (3000)", "N"},
    {"namenodes", 0, 0, G_OPTION_ARG_INT, &namenodes, "NameNodes (4)", "N"},
    {"cluster-rate", 0, 0, G_OPTION_ARG_DOUBLE, &cluster_rate,
     "spans that the cluster makes in a second of its own time (3e6)", "N"},
    {"flush", 0, 0, G_OPTION_ARG_DOUBLE, &flush_s, "a process sends after so long, of the cluster's time (0.5)",
     "SECONDS"},
    {"batch", 0, 0, G_OPTION_ARG_INT, &batch_spans, "or when it has so many spans (2000)", "N"},
    {"jobs", 0, 0, G_OPTION_ARG_INT, &jobs, "traces under way at the same time (4096)", "N"},
    {"largest", 0, 0, G_OPTION_ARG_INT64, &largest, "most spans of a trace, about (1000000)", "N"},
    {"late", 0, 0, G_OPTION_ARG_DOUBLE, &late, "share of the spans from senders that stall (0.02)", "SHARE"},
    {"late-by", 0, 0, G_OPTION_ARG_DOUBLE, &late_by_s,
     "for about so long, of the cluster's time (120, at most a third of the run)", "SECONDS"},
    {"repeated", 0, 0, G_OPTION_ARG_DOUBLE, &repeated, "share that is sent twice (0.01)", "SHARE"},
    {"withheld", 0, 0, G_OPTION_ARG_DOUBLE, &withheld, "share that is never sent (0.005)", "SHARE"},
    {"open", 0, 0, G_OPTION_ARG_INT64, &open_traces, "traces begun before all else and completed after it (0)", "N"},
    {"hold", 0, 0, G_OPTION_ARG_DOUBLE, &hold_s, "waits so long before it completes them (0)", "SECONDS"},
    {"connections", 0, 0, G_OPTION_ARG_INT, &connections, "to plumbd (as many as hosts)", "N"},
    {"own-addresses", 0, 0, G_OPTION_ARG_NONE, &own_addresses, "each from an address of its own, 127.1.0.0 and on",
     NULL},
    {"ca", 0, 0, G_OPTION_ARG_FILENAME, &files.ca, "TLS, with plumbd's certificate signed by this CA (PEM)", "FILE"},
    {"certificate", 0, 0, G_OPTION_ARG_FILENAME, &files.certificate, "ours, with --key (PEM)", "FILE"},
    {"key", 0, 0, G_OPTION_ARG_FILENAME, &files.key, "its key (PEM)", "FILE"},
    {"threads", 0, 0, G_OPTION_ARG_INT, &threads, "sending threads: as many clusters on the same hosts (1)", "N"},
    {"unanswered", 0, 0, G_OPTION_ARG_INT, &unanswered_mib, "waits for answers with so much under way (8)", "MiB"},
    {"seconds", 0, 0, G_OPTION_ARG_DOUBLE, &seconds_most, "makes no more after so long; 0: until all are made (0)",
     "SECONDS"},
    {"rate", 0, 0, G_OPTION_ARG_INT64, &rate, "spans per second in all; 0: as fast as they are taken (0)", "N"},
    {"give-up", 0, 0, G_OPTION_ARG_INT, &give_up_s, "ends when nothing was acknowledged for so long (600)", "SECONDS"},
    {"ledger", 0, 0, G_OPTION_ARG_FILENAME, &ledger_path, "one JSON line for each sender: sent, dropped, batches",
     "FILE"},
    {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
};

typedef struct Lane {
    guint number;
    Cluster *cluster;
    Sender *sender;
    GString *ledger;
    ClusterCounts made;
    SenderCounts sent;
    guint32 functions;
    GError *error;
} Lane;

static gint64 begin_ns;
/* By a signal: no more is made, and what was made is sent and accounted for. */
static volatile sig_atomic_t ended = 0;

static void end_early(int number) {
    (void)number;
    ended = 1;
}

static gint64 mono_ns(void) { return clock_monotonic_ns(clock_system()); }

static ClusterOptions cluster_options(guint lane, guint lanes) {
    gint64 late_ns = (gint64)(MIN(late_by_s, (double)spans / cluster_rate / LATE_SHARE_OF_RUN) * 1e9);

    return (ClusterOptions){.model_path = model,
                            .seed = (guint64)seed,
                            .lane = lane,
                            .lanes = lanes,
                            .hosts = (guint32)hosts,
                            .namenodes = (guint32)namenodes,
                            .captured_only = captured_only,
                            .structs = structs,
                            .random_ids = random_ids,
                            .nanoseconds = nanoseconds,
                            .begin_ns = begin_ns,
                            .spans_per_s = cluster_rate,
                            .flush_ns = (gint64)(flush_s * 1e9),
                            .batch_spans = (guint32)batch_spans,
                            .jobs = (guint32)jobs,
                            .largest_spans = largest,
                            .late = late,
                            .repeated = repeated,
                            .withheld = withheld,
                            .late_ns = late_ns};
}

static void deliver_to_sender(void *arg, Frame *frame) { sender_push(((Lane *)arg)->sender, frame); }

static guint64 share_of(gint64 all, const Lane *lane) {
    return (guint64)(all / threads + (lane->number < (guint64)(all % threads)));
}

static void run_until(const Lane *lane, guint64 goal) {
    gint64 start_ns = mono_ns();
    gint64 end_ns = seconds_most > 0 ? start_ns + (gint64)(seconds_most * 1e9) : G_MAXINT64;
    while (cluster_counts(lane->cluster).made < goal && mono_ns() < end_ns && !ended) {
        if (sender_error(lane->sender) != NULL) return;
        cluster_step(lane->cluster);
    }
}

static gboolean run_lane(Lane *lane) {
    ClusterOptions options_of_lane = cluster_options(lane->number, (guint)threads);
    options_of_lane.deliver = deliver_to_sender;
    options_of_lane.arg = lane;
    lane->cluster = cluster_new(&options_of_lane, &lane->error);
    if (lane->cluster == NULL) return FALSE;

    SenderOptions to = {.address = thrift,
                        .connections = (guint32)MAX(connections / threads, 1),
                        .most_unanswered_bytes = ((guint64)unanswered_mib << 20) / (guint64)threads,
                        .spans_per_s = (double)rate / (double)threads,
                        .give_up_ms = give_up_s * 1000LL,
                        .files = files,
                        .own_addresses = own_addresses};
    lane->sender = sender_new(&to, lane->cluster, &lane->error);
    if (lane->sender == NULL) return FALSE;

    const guint64 open_here = share_of(open_traces, lane), goal = share_of(spans, lane);
    cluster_begin_open(lane->cluster, open_here);
    if (open_here > 0) cluster_flush(lane->cluster);
    run_until(lane, goal);
    if (hold_s > 0) sender_hear(lane->sender, mono_ns() + (gint64)(hold_s * 1e9));

    cluster_complete_open(lane->cluster, open_here);
    cluster_finish(lane->cluster);
    return sender_drain(lane->sender, &lane->error);
}

static void write_ledger(Lane *lane) {
    lane->ledger = g_string_new(NULL);
    for (guint32 p = 0; p < cluster_processes(lane->cluster); p++) {
        ClusterSender one = cluster_sender(lane->cluster, p);
        if (one.batches == 0) continue;
        g_string_append_printf(lane->ledger,
                               "{\"sender\": \"%s\", \"spans_sent\": %" PRIu64 ", \"dropped\": %" PRIu64
                               ", \"batches\": %" PRIu64 "}\n",
                               one.id, one.sent, one.dropped, one.batches);
    }
}

static void *lane_thread(void *arg) {
    Lane *lane = arg;
    run_lane(lane);
    if (lane->cluster != NULL) {
        lane->made = cluster_counts(lane->cluster);
        lane->functions = cluster_functions(lane->cluster);
        if (ledger_path != NULL) write_ledger(lane);
    }
    if (lane->sender != NULL) lane->sent = sender_counts(lane->sender);
    sender_free(lane->sender);
    cluster_free(lane->cluster);
    return NULL;
}

typedef struct JsonLines {
    Cluster *cluster;
    GString *text;
} JsonLines;

static void write_frame(void *arg, Frame *frame) {
    JsonLines *lines = arg;
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_byte_array_append(bytes, frame->head->data, frame->head->len);
    g_byte_array_append(bytes, frame->spans, frame->spans_bytes);
    g_byte_array_append(bytes, frame->tail, frame->tail_bytes);
    g_autoptr(SpanBatch) batch = batch_new();
    WireHeader header;
    WireVersions versions;
    g_autoptr(GError) error = NULL;
    Bytes payload = {bytes->data + FRAME_HEADER_BYTES, bytes->len - FRAME_HEADER_BYTES};
    if (!wire_header_decode(payload, &header, &error) || !wire_batch_decode(&header, batch, &versions, &error))
        g_error("bench_load: made what cannot be read: %s", error->message);
    for (guint i = 0; i < batch->spans->len; i++) span_json_write(batch, i, lines->text);
    cluster_release(lines->cluster, frame);
}

static int write_json(void) {
    g_autoptr(GString) text = g_string_new(NULL);
    ClusterOptions o = cluster_options(0, 1);
    JsonLines lines = {.text = text};
    o.deliver = write_frame;
    o.arg = &lines;

    g_autoptr(GError) error = NULL;
    g_autoptr(Cluster) cluster = lines.cluster = cluster_new(&o, &error);
    if (cluster == NULL) {
        fprintf(stderr, "bench_load: %s\n", error->message);
        return 1;
    }

    gboolean whole = FALSE;
    while (!whole) {
        whole = cluster_counts(cluster).made >= (guint64)spans;
        if (whole)
            cluster_finish(cluster);
        else
            cluster_step(cluster);
        if (fwrite(text->str, 1, text->len, stdout) != text->len) return 1;
        g_string_truncate(text, 0);
    }

    return fflush(stdout) == 0 ? 0 : 1;
}

/* Field after field, all of them sums of guint64. */
static void add_all(guint64 *to, const guint64 *from, gsize n) {
    for (gsize i = 0; i < n; i++) to[i] += from[i];
}

static double cpu_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void print_result(const Lane *lanes, double seconds) {
    ClusterCounts made = {0};
    SenderCounts sent = {0};

    for (gint i = 0; i < threads; i++) {
        guint64 largest_so_far = MAX(made.largest, lanes[i].made.largest);
        add_all((guint64 *)&made, (const guint64 *)&lanes[i].made, sizeof made / sizeof(guint64));
        made.largest = largest_so_far;
        gint64 longest_ns = MAX(sent.longest_ns, lanes[i].sent.longest_ns);
        add_all((guint64 *)&sent, (const guint64 *)&lanes[i].sent, sizeof sent / sizeof(guint64));
        sent.longest_ns = longest_ns;
    }

    const guint64 all = sent.first_time + sent.again;
    printf("{\"traces\": %" PRIu64 ", \"made\": %" PRIu64 ", \"withheld\": %" PRIu64 ", \"spans\": %" PRIu64
           ", \"late\": %" PRIu64 ", \"repeated\": %" PRIu64 ",\n \"acknowledged\": %" PRIu64 ", \"accepted\": %" PRIu64
           ", \"refused\": %" PRIu64 ", \"resent\": %" PRIu64 ", \"batches\": %" PRIu64 ", \"try_later\": %" PRIu64
           ", \"lost_connections\": %" PRIu64 ",\n",
           made.traces, made.made, made.withheld, made.sent, made.late, made.repeated, all, sent.accepted, sent.refused,
           sent.resent, sent.batches, sent.try_later, sent.lost_connections);
    printf(" \"largest_trace\": %" PRIu64 ", \"functions\": %u, \"begin_time_ns\": %" PRId64
           ", \"wire_bytes_per_span\": %.1f, \"ack_p50_ms\": %.3f, \"ack_p99_ms\": %.3f, \"ack_max_ms\": %.3f,\n",
           made.largest, lanes[0].functions, begin_ns, (double)sent.bytes / (double)MAX(all, 1),
           (double)latency_quantile(sent.latency, 0.5) / 1e6, (double)latency_quantile(sent.latency, 0.99) / 1e6,
           (double)sent.longest_ns / 1e6);
    printf(" \"reconnect_s\": %.3f, \"seconds\": %.3f, \"spans_per_s\": %.0f, \"client_cpu_us_per_span\": %.3f}\n",
           (double)sent.reconnect_ns / 1e9, seconds, (double)all / seconds, cpu_seconds() * 1e6 / (double)MAX(all, 1));
}

static gboolean save_ledger(const Lane *lanes) {
    if (ledger_path == NULL) return TRUE;
    g_autoptr(GString) all = g_string_new(NULL);
    for (gint i = 0; i < threads; i++) {
        if (lanes[i].ledger == NULL) continue;
        g_string_append_len(all, lanes[i].ledger->str, (gssize)lanes[i].ledger->len);
        g_string_free(lanes[i].ledger, TRUE);
    }
    g_autoptr(GError) error = NULL;
    if (g_file_set_contents(ledger_path, all->str, (gssize)all->len, &error)) return TRUE;
    fprintf(stderr, "bench_load: %s\n", error->message);
    return FALSE;
}

static int send_all(void) {
    g_autofree Lane *lanes = g_new0(Lane, (gsize)threads);
    g_autofree pthread_t *running = g_new0(pthread_t, (gsize)threads);
    gint64 start_ns = mono_ns();
    for (gint i = 0; i < threads; i++) {
        lanes[i].number = (guint)i;
        pthread_create(&running[i], NULL, lane_thread, &lanes[i]);
    }
    int status = 0;
    for (gint i = 0; i < threads; i++) {
        pthread_join(running[i], NULL);
        if (lanes[i].error == NULL) continue;
        fprintf(stderr, "bench_load: %s\n", lanes[i].error->message);
        g_clear_error(&lanes[i].error);
        status = 1;
    }
    print_result(lanes, (double)(mono_ns() - start_ns) / 1e9);
    return save_ledger(lanes) ? status : 1;
}

static const char *mistake(void) {
    if (model == NULL) return "--model FILE is needed";
    if (threads < 1 || spans < 1 || jobs < 1 || batch_spans < 1 || open_traces < 0) return "numbers begin with 1";
    if (hosts < 1 || hosts > 50000 || namenodes < 1 || namenodes > 64) return "1 to 50,000 hosts and 1 to 64 NameNodes";
    if (cluster_rate < 1 || flush_s <= 0 || late_by_s <= 0) return "rates and times are greater than 0";
    if (late < 0 || late > 0.5 || repeated < 0 || repeated > 0.5 || withheld < 0 || withheld > 0.5)
        return "shares are between 0 and 0.5";
    if ((files.certificate == NULL) != (files.key == NULL) || (files.key != NULL && files.ca == NULL))
        return "--certificate goes with --key and --ca";
    return NULL;
}

int main(int argc, char **argv) {
    g_autoptr(GOptionContext) context = g_option_context_new("- generates traces and sends them to plumbd");
    g_option_context_add_main_entries(context, options, NULL);
    g_autoptr(GError) error = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &error) || mistake() != NULL) {
        fprintf(stderr, "bench_load: %s\n", error != NULL ? error->message : mistake());
        return 2;
    }
    if (connections <= 0) connections = hosts;
    begin_ns = begin != NULL ? g_ascii_strtoll(begin, NULL, 10)
                             : clock_wall_ns(clock_system()) - (gint64)((double)spans / cluster_rate * 1e9);
    if (thrift == NULL) return write_json();
    signal(SIGPIPE, SIG_IGN); /* of OpenSSL */
    signal(SIGTERM, end_early);
    signal(SIGINT, end_early);
    return send_all();
}
