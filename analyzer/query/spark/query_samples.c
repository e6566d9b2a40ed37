/* What a host was like over time: processor, busiest disk, network, as means over steps of equal length. */
#include <string.h>

#include "analyzer/archive/spark/spark.h"
#include "analyzer/query/spark/diagnosis.h"
#include "analyzer/query/spark/spark_answers.h"
#include "analyzer/query/spark/tasks/asked_app.h"
#include "common/base/clock.h"
#include "common/base/error.h"

#define STEPS_USUAL      120
#define SAMPLE_STEPS_MAX 1000
/* Of what no sample of a step tells. */
#define UNKNOWN (-1.0)

typedef enum { USER, SYSTEM, IOWAIT, STEAL, DISK, RECEIVED, SENT, N_VALUES } Value;
static const char *const value_names[N_VALUES] = {"user", "system",         "iowait",        "steal",
                                                  "disk", "rx_bytes_per_s", "tx_bytes_per_s"};

typedef struct Step {
    guint32 samples, known[N_VALUES];
    double sums[N_VALUES];
} Step;

typedef struct Gathered {
    gint64 since_ns, step_ns;
    guint64 n_steps;
    Step *steps;
    guint64 samples;
    double busiest; /* of any disk in any sample */
    char *disk;     /* that one's name */
} Gathered;

static void gathered_clear(Gathered *gathered) {
    g_free(gathered->steps);
    g_free(gathered->disk);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Gathered, gathered_clear)

static void add(Step *step, Value value, double number) {
    if (number < 0) return;
    step->known[value]++;
    step->sums[value] += number;
}

static void add_disks(Gathered *gathered, Step *step, const HostSample *sample) {
    const HostDisk *busiest = NULL;
    for (guint32 i = 0; i < sample->disks.n; i++) {
        const HostDisk *disk = &sample->disks.items[i];
        if (busiest == NULL || disk->util > busiest->util) busiest = disk;
    }
    if (busiest == NULL) return;
    add(step, DISK, busiest->util);
    if (busiest->util <= gathered->busiest) return;
    gathered->busiest = busiest->util;
    g_free(gathered->disk);
    gathered->disk = g_strdup(busiest->device);
}

static void add_nets(Step *step, const HostSample *sample) {
    double received = UNKNOWN, sent = UNKNOWN;
    for (guint32 i = 0; i < sample->nets.n; i++) {
        const HostNet *net = &sample->nets.items[i];
        if (net->rx_bytes >= 0) received = MAX(received, 0) + net->rx_bytes;
        if (net->tx_bytes >= 0) sent = MAX(sent, 0) + net->tx_bytes;
    }
    add(step, RECEIVED, received);
    add(step, SENT, sent);
}

static gboolean take_sample(void *arg, const void *record) {
    Gathered *gathered = arg;
    const HostSample *sample = record;
    const guint64 i = (guint64)(sample->time_ns - gathered->since_ns) / (guint64)gathered->step_ns;
    if (i >= gathered->n_steps) return TRUE;
    Step *step = &gathered->steps[i];

    gathered->samples++;
    step->samples++;
    add(step, USER, sample->user);
    add(step, SYSTEM, sample->system);
    add(step, IOWAIT, sample->iowait);
    add(step, STEAL, sample->steal);
    add_disks(gathered, step, sample);
    add_nets(step, sample);
    return TRUE;
}

/* ---- the period ---- */

static gboolean take_time(void *arg, const void *record) {
    Period *reached = arg;
    const HostSample *sample = record;
    reached->since_ns = MIN(reached->since_ns, sample->time_ns);
    reached->until_ns = MAX(reached->until_ns, sample->time_ns + 1);
    return TRUE;
}

/* Open sides reach as far as there are samples of the host. */
static gboolean close_period(const Asked *asked, const char *host, Period *period, GError **error) {
    if (period->since_ns != G_MININT64 && period->until_ns != G_MAXINT64) return TRUE;
    const SparkSelect select = SPARK_SELECT(SPARK_SAMPLE, host);
    g_autoptr(SparkRecords) texts = spark_records_new();
    Period reached = {G_MAXINT64, G_MININT64};
    if (!archive_spark_visit(asked->archive, &select, texts, (SparkVisitor){take_time, &reached}, error)) return FALSE;
    if (period->since_ns == G_MININT64) period->since_ns = reached.since_ns;
    if (period->until_ns == G_MAXINT64) period->until_ns = reached.until_ns;
    return TRUE;
}

static gint64 usual_step_ns(gint64 length_ns) {
    static const gint64 seconds[] = {1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200};
    for (guint i = 0; i < G_N_ELEMENTS(seconds); i++)
        if (length_ns / (seconds[i] * NS_PER_SEC) <= STEPS_USUAL) return seconds[i] * NS_PER_SEC;
    return length_ns / STEPS_USUAL;
}

static gint64 floor_to(gint64 time_ns, gint64 unit_ns) {
    const gint64 rest = time_ns % unit_ns;
    return time_ns - (rest < 0 ? rest + unit_ns : rest);
}

static gboolean cut(const Asked *asked, const Period *period, Gathered *gathered, GError **error) {
    if (period->until_ns <= period->since_ns) return TRUE; /* no samples: no steps */
    gathered->step_ns = usual_step_ns(period->until_ns - period->since_ns);
    if (!params_duration(asked->params, "step", &gathered->step_ns, error)) return FALSE;
    if (gathered->step_ns < NS_PER_SEC)
        return fail(error, PLUMB_ERROR_INPUT, "a step has a second or more: use step=1s or a longer one");

    gathered->since_ns = floor_to(period->since_ns, gathered->step_ns);
    const guint64 length_ns = (guint64)period->until_ns - (guint64)gathered->since_ns;
    gathered->n_steps = (length_ns + (guint64)gathered->step_ns - 1) / (guint64)gathered->step_ns;
    if (gathered->n_steps <= SAMPLE_STEPS_MAX) return TRUE;
    return fail(error, PLUMB_ERROR_INPUT,
                "the period has %" G_GUINT64_FORMAT
                " steps, and %d are the most: use a longer step, or a shorter period",
                gathered->n_steps, SAMPLE_STEPS_MAX);
}

/* ---- JSON ---- */

static void add_steps(json_t *answer, const Gathered *gathered) {
    json_t *at = json_array(), *samples = json_array(), *values[N_VALUES];
    for (guint v = 0; v < N_VALUES; v++) values[v] = json_array();

    for (guint64 i = 0; i < gathered->n_steps; i++) {
        const Step *step = &gathered->steps[i];
        if (step->samples == 0) continue;
        json_array_append_new(at, json_count(i));
        json_array_append_new(samples, json_count(step->samples));
        for (guint v = 0; v < N_VALUES; v++)
            json_array_append_new(values[v],
                                  json_number(step->known[v] > 0 ? step->sums[v] / step->known[v] : UNKNOWN));
    }

    json_object_set_new(answer, "at", at);
    json_object_set_new(answer, "samples", samples);
    for (guint v = 0; v < N_VALUES; v++) json_object_set_new(answer, value_names[v], values[v]);
}

json_t *answer_samples(const Asked *asked, GError **error) {
    const char *host = params_text(asked->params, "host");
    Period period = {G_MININT64, G_MAXINT64};
    if (host == NULL) {
        fail(error, PLUMB_ERROR_INPUT, "of which host? Give host=NAME");
        return NULL;
    }
    g_auto(Gathered) gathered = {.busiest = UNKNOWN};
    if (!params_period(asked->params, asked->now_ns, &period, error) || !close_period(asked, host, &period, error) ||
        !cut(asked, &period, &gathered, error))
        return NULL;

    gathered.steps = g_new0(Step, gathered.n_steps + 1);
    if (gathered.n_steps > 0) {
        SparkSelect select = SPARK_SELECT(SPARK_SAMPLE, host);
        select.since_ns = gathered.since_ns;
        select.until_ns = gathered.since_ns + (gint64)gathered.n_steps * gathered.step_ns;
        g_autoptr(SparkRecords) texts = spark_records_new();
        if (!archive_spark_visit(asked->archive, &select, texts, (SparkVisitor){take_sample, &gathered}, error))
            return NULL;
    }

    json_t *answer = json_object();
    json_object_set_new(answer, "host", json_text(host, strlen(host)));
    if (gathered.n_steps > 0) {
        json_object_set_new(answer, "since_time_ns", json_integer(gathered.since_ns));
        json_object_set_new(answer, "until_time_ns",
                            json_integer(gathered.since_ns + (gint64)gathered.n_steps * gathered.step_ns));
        json_object_set_new(answer, "step_ns", json_integer(gathered.step_ns));
    }
    json_object_set_new(answer, "samples_total", json_count(gathered.samples));
    json_add_text(answer, "disk_name", gathered.disk);
    add_steps(answer, &gathered);
    return answer;
}
