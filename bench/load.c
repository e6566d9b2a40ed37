/* The load client: sends generated traces to plumbd over Thrift as fast as it is taken (or at a rate), or writes them
 * as JSON lines. Prints one JSON object with what was sent and what it cost this process. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "bench/generate.h"
#include "common/base/clock.h"
#include "common/wire/client.h"
#include "common/wire/span_json.h"

#define GIVE_UP_MS (10 * 60 * 1000)
/* A process sends what it has after so long, full batch or not: the span receiver's default. */
#define FLUSH_NS (NS_PER_SEC / 2)

static char *thrift = NULL;
static char *model = NULL;
static gint64 spans = 1000000;
static gint threads = 2;
static gint batch_spans = 2000;
static gint64 seed = 1;
static gint hosts = 16;
static gboolean nanoseconds = FALSE;
static gint64 rate = 0;

static const GOptionEntry options[] = {
    {"thrift", 0, 0, G_OPTION_ARG_STRING, &thrift, "plumbd's span port; without it JSON lines go to stdout",
     "HOST:PORT"},
    {"model", 0, 0, G_OPTION_ARG_FILENAME, &model, "traces to copy (HTrace JSON)", "FILE"},
    {"spans", 0, 0, G_OPTION_ARG_INT64, &spans, "how many to send, in all", "N"},
    {"threads", 0, 0, G_OPTION_ARG_INT, &threads, "sending threads, a generated cluster each", "N"},
    {"batch", 0, 0, G_OPTION_ARG_INT, &batch_spans, "spans of a batch", "N"},
    {"seed", 0, 0, G_OPTION_ARG_INT64, &seed, "of the generator", "N"},
    {"hosts", 0, 0, G_OPTION_ARG_INT, &hosts, "hosts of the cluster", "N"},
    {"nanoseconds", 0, 0, G_OPTION_ARG_NONE, &nanoseconds, "times with all digits, not in milliseconds", NULL},
    {"rate", 0, 0, G_OPTION_ARG_INT64, &rate, "spans per second in all; 0: as fast as they are taken", "N"},
    {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
};

typedef struct Sender {
    guint number;
    gint64 goal;
    gint64 sent, refused;
    GError *error;
} Sender;

static gint64 wall_now_ns(void) { return clock_wall_ns(clock_system()); }

static gboolean send_batch(Generator *generator, guint process, WireClient *client, Sender *sender) {
    SpanBatch *batch = generator_batch(generator, process);
    if (batch->spans->len == 0) return TRUE;
    WireReply reply;
    if (!wire_client_deliver(client, batch, GIVE_UP_MS, &reply, &sender->error)) return FALSE;
    if (reply.status != REPLY_OK) {
        g_set_error(&sender->error, G_OPTION_ERROR, 0, "plumbd answered %d: %s", (int)reply.status, reply.message);
        return FALSE;
    }
    sender->sent += reply.accepted;
    sender->refused += reply.refused;
    generator_batch_done(generator, process);
    return TRUE;
}

/* Keeps to the rate over the whole run: sleeps until this many spans are due. */
static void wait_until_due(gint64 start_ns, gint64 made) {
    if (rate <= 0) return;
    gint64 due_ns = start_ns + (gint64)((double)made * threads / (double)rate * 1e9);
    gint64 left_us = (due_ns - clock_monotonic_ns(clock_system())) / NS_PER_US;
    if (left_us > 0) g_usleep((gulong)left_us);
}

/* Sends the batches that are full or, once in FLUSH_NS, all. */
static gboolean send_due(Generator *generator, WireClient *client, Sender *sender, gint64 *flushed_ns) {
    gint64 now_ns = clock_monotonic_ns(clock_system());
    gboolean all = now_ns - *flushed_ns >= FLUSH_NS;
    if (all) *flushed_ns = now_ns;
    for (guint p = 0; p < generator_processes(generator); p++) {
        guint waiting = generator_batch(generator, p)->spans->len;
        if (!all && waiting < (guint)batch_spans) continue;
        if (!send_batch(generator, p, client, sender)) return FALSE;
    }
    return TRUE;
}

static gboolean run_sender(Sender *sender) {
    GeneratorOptions generator_options = {.model_path = model,
                                          .seed = (guint64)seed + sender->number,
                                          .hosts = (guint32)hosts,
                                          .nanoseconds = nanoseconds,
                                          .now_ns = wall_now_ns};
    g_autoptr(Generator) generator = generator_new(&generator_options, &sender->error);
    if (generator == NULL) return FALSE;
    g_autoptr(WireClient) client = wire_client_connect(thrift, 30000, &sender->error);
    if (client == NULL) return FALSE;
    gint64 start_ns = clock_monotonic_ns(clock_system()), flushed_ns = start_ns, made = 0;
    while (made < sender->goal) {
        made += generator_trace(generator);
        wait_until_due(start_ns, made);
        if (!send_due(generator, client, sender, &flushed_ns)) return FALSE;
    }
    for (guint p = 0; p < generator_processes(generator); p++)
        if (!send_batch(generator, p, client, sender)) return FALSE;
    return TRUE;
}

static void *sender_thread(void *arg) {
    run_sender(arg);
    return NULL;
}

static int write_json(void) {
    GeneratorOptions generator_options = {.model_path = model,
                                          .seed = (guint64)seed,
                                          .hosts = (guint32)hosts,
                                          .nanoseconds = nanoseconds,
                                          .now_ns = wall_now_ns};
    g_autoptr(GError) error = NULL;
    g_autoptr(Generator) generator = generator_new(&generator_options, &error);
    if (generator == NULL) {
        fprintf(stderr, "bench_load: %s\n", error->message);
        return 1;
    }
    g_autoptr(GString) text = g_string_new(NULL);
    for (gint64 made = 0; made < spans;) {
        made += generator_trace(generator);
        for (guint p = 0; p < generator_processes(generator); p++) {
            SpanBatch *batch = generator_batch(generator, p);
            for (guint i = 0; i < batch->spans->len; i++) span_json_write(batch, i, text);
            generator_batch_done(generator, p);
        }
        if (fwrite(text->str, 1, text->len, stdout) != text->len) return 1;
        g_string_truncate(text, 0);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}

static void print_result(const Sender *senders, gint64 elapsed_ns) {
    gint64 sent = 0, refused = 0;
    for (gint i = 0; i < threads; i++) {
        sent += senders[i].sent;
        refused += senders[i].refused;
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    double seconds = (double)elapsed_ns / 1e9;
    printf("{\"spans\": %" PRId64 ", \"refused\": %" PRId64 ", \"seconds\": %.3f, \"spans_per_s\": %.0f, "
           "\"client_cpu_us_per_span\": %.3f}\n",
           sent, refused, seconds, (double)sent / seconds, cpu_s * 1e6 / (double)MAX(sent, 1));
}

static int send_all(void) {
    g_autofree Sender *senders = g_new0(Sender, (gsize)threads);
    g_autofree pthread_t *running = g_new0(pthread_t, (gsize)threads);
    gint64 start_ns = clock_monotonic_ns(clock_system());
    for (gint i = 0; i < threads; i++) {
        senders[i] = (Sender){.number = (guint)i, .goal = spans / threads};
        pthread_create(&running[i], NULL, sender_thread, &senders[i]);
    }
    int status = 0;
    for (gint i = 0; i < threads; i++) {
        pthread_join(running[i], NULL);
        if (senders[i].error == NULL) continue;
        fprintf(stderr, "bench_load: %s\n", senders[i].error->message);
        g_clear_error(&senders[i].error);
        status = 1;
    }
    print_result(senders, clock_monotonic_ns(clock_system()) - start_ns);
    return status;
}

int main(int argc, char **argv) {
    g_autoptr(GOptionContext) context = g_option_context_new("- generates traces and sends them to plumbd");
    g_option_context_add_main_entries(context, options, NULL);
    g_autoptr(GError) error = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &error) || model == NULL || threads < 1 || spans < 1) {
        fprintf(stderr, "bench_load: %s\n", error != NULL ? error->message : "--model FILE is needed");
        return 2;
    }
    return thrift != NULL ? send_all() : write_json();
}
