#include "analyzer/load/results/report.h"

#include <string.h>

#include "analyzer/load/results/pictures.h"
#include "analyzer/load/results/quantiles.h"

#define NS 1e9

static const char *const names[] = {"p50", "p90", "p95", "p99", "p999"};
static const double probabilities[] = {0.5, 0.9, 0.95, 0.99, 0.999};
G_STATIC_ASSERT(G_N_ELEMENTS(names) == G_N_ELEMENTS(probabilities));

static json_t *quantile_json(Quantile quantile) {
    json_t *object =
        json_pack("{s:I, s:I}", "ns", (json_int_t)quantile.value_ns, "low_ns", (json_int_t)quantile.low_ns);
    json_object_set_new(object, "high_ns", quantile.high_ns < 0 ? json_null() : json_integer(quantile.high_ns));
    return object;
}

static json_t *latency_json(const GArray *samples) {
    Quantiles sorted;
    double sum = 0;
    json_t *object = json_object();
    quantiles_init(&sorted, samples);
    for (gsize i = 0; i < sorted.n; i++) sum += (double)sorted.sorted[i];
    json_object_set_new(object, "mean_ns", json_integer((json_int_t)(sum / (double)sorted.n)));
    Quantile found[G_N_ELEMENTS(probabilities)];
    quantiles_get(&sorted, probabilities, G_N_ELEMENTS(probabilities), found);
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) json_object_set_new(object, names[i], quantile_json(found[i]));
    json_object_set_new(object, "max_ns", json_integer((json_int_t)sorted.sorted[sorted.n - 1]));
    quantiles_clear(&sorted);
    return object;
}

typedef enum { TIME_SERVICE, TIME_WAIT, TIME_HANDED_ON } Time;

static guint64 time_of(const LoadSample *sample, Time time) {
    switch (time) {
    case TIME_SERVICE: return (guint64)sample->service_ns;
    case TIME_WAIT: return (guint64)(sample->latency_ns - sample->service_ns);
    default: return (guint64)sample->late_us * 1000;
    }
}

/* Of all latencies, the part that had passed when operations began. */
static double waited_share(const GArray *samples) {
    double latency = 0, service = 0;
    for (guint i = 0; i < samples->len; i++) {
        const LoadSample *sample = &g_array_index(samples, LoadSample, i);
        latency += (double)sample->latency_ns;
        service += (double)sample->service_ns;
    }
    return latency > 0 ? (latency - service) / latency : 0;
}

/* Quantiles alone, of another of the times. */
static json_t *times_json(const GArray *samples, Time time) {
    g_autofree guint64 *times = g_new(guint64, samples->len);
    for (guint i = 0; i < samples->len; i++) times[i] = time_of(&g_array_index(samples, LoadSample, i), time);
    times_sort(times, samples->len);
    return json_pack("{s:I, s:I, s:I}", "p50_ns", (json_int_t)times_quantile(times, samples->len, 0.5), "p99_ns",
                     (json_int_t)times_quantile(times, samples->len, 0.99), "max_ns",
                     (json_int_t)times[samples->len - 1]);
}

static json_t *kind_json(const char *name, const LoadKindRun *kind, double seconds, gboolean pictures) {
    const double well = (double)(kind->operations - kind->failed - kind->unfinished);
    json_t *object =
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:f}", "kind", name, "operations", (json_int_t)kind->operations, "failed",
                  (json_int_t)kind->failed, "unfinished", (json_int_t)kind->unfinished, "bytes",
                  (json_int_t)kind->bytes, "per_s", seconds > 0 ? well / seconds : 0.0);
    if (kind->samples->len == 0) return object;
    json_object_set_new(object, "latency", latency_json(kind->samples));
    json_object_set_new(object, "service", times_json(kind->samples, TIME_SERVICE));
    if (pictures) json_object_set_new(object, "curve", curve_json(kind->samples));
    return object;
}

/* All kinds as one. Free its samples. */
static LoadKindRun all_kinds(const LoadRun *run) {
    LoadKindRun all = {.samples = g_array_new(FALSE, FALSE, sizeof(LoadSample))};
    for (guint i = 0; i < LOAD_KINDS; i++) {
        const LoadKindRun *kind = &run->kinds[i];
        if (kind->samples->len > 0) g_array_append_vals(all.samples, kind->samples->data, kind->samples->len);
        all.operations += kind->operations;
        all.failed += kind->failed;
        all.unfinished += kind->unfinished;
        all.bytes += kind->bytes;
    }
    return all;
}

static json_t *errors_json(const LoadRun *run) {
    json_t *list = json_array();
    for (guint i = 1; i < run->failures->len; i++) {
        const guint64 n = g_array_index(run->failures, guint64, i);
        const char *text = i < run->texts->len ? run->texts->pdata[i] : NULL;
        if (n == 0) continue;
        json_array_append_new(
            list, json_pack("{s:s, s:I}", "error", text != NULL ? text : "unknown", "operations", (json_int_t)n));
    }
    return list;
}

static json_t *slowest_json(const LoadRun *run, guint most) {
    json_t *list = json_array();
    for (guint i = 0; i < MIN(run->slowest->len, most); i++) {
        const LoadSlow *slow = &g_array_index(run->slowest, LoadSlow, i);
        json_t *object = json_pack("{s:I, s:s, s:I, s:I, s:I, s:b}", "operation", (json_int_t)slow->number, "kind",
                                   load_kind_name(slow->kind), "due_ns", (json_int_t)slow->due_ns, "latency_ns",
                                   (json_int_t)slow->latency_ns, "service_ns", (json_int_t)slow->service_ns,
                                   "unfinished", (int)slow->unfinished);
        if (slow->trace != 0) {
            char id[17];
            g_snprintf(id, sizeof id, "%016" G_GINT64_MODIFIER "x", slow->trace);
            json_object_set_new(object, "trace", json_string(id));
        }
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *head_json(const LoadRun *run) {
    json_t *object = json_object();
    for (guint i = 0; i < run->keys->len; i++)
        json_object_set_new(object, run->keys->pdata[i], json_string(load_run_head(run, run->keys->pdata[i])));
    return object;
}

static json_int_t head_int(GHashTable *head, const char *key) {
    const char *text = g_hash_table_lookup(head, key);
    return text != NULL ? g_ascii_strtoll(text, NULL, 10) : 0;
}

/* Of a run that several hosts shared: those whose results are here. */
static json_t *hosts_json(const LoadRun *run) {
    json_t *list = json_array();
    for (guint i = 0; i < (run->hosts != NULL ? run->hosts->len : 1); i++) {
        GHashTable *head = run->hosts != NULL ? run->hosts->pdata[i] : run->head;
        const char *host = g_hash_table_lookup(head, "host");
        json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:I}", "host", host != NULL ? host : "", "share",
                                              (const char *)g_hash_table_lookup(head, "share"), "clock_behind_ns",
                                              head_int(head, "clock-behind-ns"), "clock_uncertain_ns",
                                              head_int(head, "clock-uncertain-ns")));
    }
    return list;
}

/* Seconds that were measured: the plan's, unless the run ended before. A closed loop may be through with it sooner. */
static double measured_seconds(const LoadRun *run) {
    const gint64 until_ns = run->end == RUN_DONE && !run->closed ? run->warm_up_ns + run->duration_ns
                                                                 : MIN(run->end_ns, run->warm_up_ns + run->duration_ns);
    return (double)MAX(until_ns - run->warm_up_ns, 0) / NS;
}

static double time_at(const json_t *object, const char *key) {
    return (double)json_integer_value(json_object_get(object, key));
}

/* Was the generator so late that the latencies are to a tenth its own? The last kind is all of them. */
static gboolean generator_late(const json_t *document) {
    const json_t *kinds = json_object_get(document, "kinds"), *late = json_object_get(document, "handed_on_late");
    if (late == NULL || json_array_size(kinds) == 0) return FALSE;
    const json_t *latency = json_object_get(json_array_get(kinds, json_array_size(kinds) - 1), "latency");
    const json_t *p50 = json_object_get(latency, "p50"), *p99 = json_object_get(latency, "p99");
    return time_at(late, "p50_ns") > 0.1 * time_at(p50, "ns") || time_at(late, "p99_ns") > 0.1 * time_at(p99, "ns");
}

json_t *load_report(const LoadRun *run, const char *name, const LoadReportOptions *options) {
    LoadKindRun all = all_kinds(run);
    const double seconds = measured_seconds(run);
    const guint64 due = run->handed_on > run->in_warm_up ? run->handed_on - run->in_warm_up : 0;
    const guint64 well = all.operations - all.failed - all.unfinished;

    g_autofree char *shown = g_utf8_make_valid(name, -1); /* of a file: any bytes */
    json_t *document =
        json_pack("{s:s, s:s, s:o, s:f, s:I, s:I, s:I, s:I, s:I}", "result", shown, "end", load_run_end_name(run->end),
                  "head", head_json(run), "seconds", seconds, "due", (json_int_t)due, "done", (json_int_t)well,
                  "missing", (json_int_t)(due > all.operations ? due - all.operations : 0), "damaged_records",
                  (json_int_t)run->damaged, "warm_up_operations", (json_int_t)run->warm_up_seen);
    json_object_set_new(document, "asked_per_s", json_real(seconds > 0 ? (double)due / seconds : 0));
    json_object_set_new(document, "achieved_per_s", json_real(seconds > 0 ? (double)well / seconds : 0));
    if (all.samples->len > 0) {
        json_object_set_new(document, "handed_on_late", times_json(all.samples, TIME_HANDED_ON));
        json_object_set_new(document, "waited_for_thread", times_json(all.samples, TIME_WAIT));
        json_object_set_new(document, "waited_share", json_real(waited_share(all.samples)));
        if (options->pictures) json_object_set_new(document, "timeline", timeline_json(all.samples));
    }

    json_t *kinds = json_array();
    for (guint i = 0; i < LOAD_KINDS; i++)
        if (run->kinds[i].operations > 0)
            json_array_append_new(kinds,
                                  kind_json(load_kind_name((LoadKind)i), &run->kinds[i], seconds, options->pictures));
    if (json_array_size(kinds) > 1) json_array_append_new(kinds, kind_json("all", &all, seconds, options->pictures));
    json_object_set_new(document, "kinds", kinds);
    json_object_set_new(document, "closed", json_boolean(run->closed));
    json_object_set_new(document, "generator_late", json_boolean(!run->closed && generator_late(document)));
    json_object_set_new(document, "errors", errors_json(run));
    if (run->shared) json_object_set_new(document, "hosts", hosts_json(run));
    json_object_set_new(document, "slowest", slowest_json(run, options->slowest));
    g_array_unref(all.samples);
    return document;
}
