#include "receiver/http/metrics/cluster_metrics.h"

#include <stdlib.h>

#include "common/base/clock.h"

#define OTHER "(other)"
#define NONE  "(none)"

/* The begin of a line: the name's end and all labels but the last brace are put by the caller's function. */
typedef struct Rows {
    Exposition *out;
    Dict *dict;
    const GArray *rows; /* TallyRow */
} Rows;

static const TallyRow *row_at(const Rows *rows, guint i) { return &g_array_index(rows->rows, TallyRow, i); }

static void append_name(const Rows *rows, const TallyRow *row) {
    const char *text = row->id != 0 ? dict_text(rows->dict, row->id, NULL) : NONE;
    exposition_label(rows->out, row->other ? OTHER : text);
}

/* ---- functions ---- */

static void function_labels(const Rows *rows, const char *name, const TallyRow *row) {
    g_string_append_printf(rows->out->text, "plumbd_function_%s{function=\"", name);
    append_name(rows, row);
    g_string_append_printf(rows->out->text, "\",role=\"%s\"", role_name((Role)row->role));
}

static void append_example(Exposition *out, const TallyExample *example) {
    if (!out->open_metrics || example->trace_id == 0) return;
    g_string_append_printf(out->text, " # {trace_id=\"%016" G_GINT64_MODIFIER "x\"} ", example->trace_id);
    exposition_seconds(out, example->duration_ns);
    g_string_append_c(out->text, ' ');
    exposition_seconds(out, (guint64)MAX(example->begin_ns, 0));
}

static void write_steps(const Rows *rows, const TallyRow *row) {
    Exposition *out = rows->out;
    guint64 calls = 0;
    for (guint i = 0; i < STATS_STEPS; i++) {
        calls += row->steps->calls[i];
        function_labels(rows, "seconds_bucket", row);
        g_string_append(out->text, ",le=\"");
        if (i < STATS_STEPS - 1)
            exposition_seconds(out, stats_step_ns[i]);
        else
            g_string_append(out->text, "+Inf");
        g_string_append(out->text, "\"} ");
        exposition_number(out, calls);
        append_example(out, &row->steps->examples[i]);
        g_string_append_c(out->text, '\n');
    }

    function_labels(rows, "seconds_sum", row);
    g_string_append(out->text, "} ");
    exposition_seconds(out, row->total_ns);
    g_string_append_c(out->text, '\n');
    function_labels(rows, "seconds_count", row);
    g_string_append(out->text, "} ");
    exposition_number(out, calls);
    g_string_append_c(out->text, '\n');
}

static void write_functions(Rows *rows) {
    Exposition *out = rows->out;
    exposition_head(out, "function_seconds", "histogram",
                    "Durations of the calls of a function, by role of their process, since the start");
    for (guint i = 0; i < rows->rows->len; i++) write_steps(rows, row_at(rows, i));

    exposition_head(out, "function_self_seconds_total", "counter",
                    "Of these, the time that calls spent in no call below them");
    for (guint i = 0; i < rows->rows->len; i++) {
        function_labels(rows, "self_seconds_total", row_at(rows, i));
        g_string_append(out->text, "} ");
        exposition_seconds(out, row_at(rows, i)->self_ns);
        g_string_append_c(out->text, '\n');
    }

    exposition_head(out, "function_errors_total", "counter",
                    "Calls that say that they failed: with an annotation exception, or error");
    for (guint i = 0; i < rows->rows->len; i++) {
        function_labels(rows, "errors_total", row_at(rows, i));
        g_string_append(out->text, "} ");
        exposition_number(out, row_at(rows, i)->errors);
        g_string_append_c(out->text, '\n');
    }
}

/* ---- hosts ---- */

/* "{host="...",role="...",class="..."} " of each row, one behind the other: they are needed three times. */
typedef struct HostLabels {
    GString *text;
    GArray *ends; /* gsize */
} HostLabels;

static HostLabels host_labels(const Rows *rows) {
    HostLabels labels = {g_string_new(NULL), g_array_new(FALSE, FALSE, sizeof(gsize))};
    const Rows into = {&(Exposition){labels.text, FALSE}, rows->dict, rows->rows};
    for (guint i = 0; i < rows->rows->len; i++) {
        const TallyRow *row = row_at(rows, i);
        g_string_append(labels.text, "{host=\"");
        append_name(&into, row);
        g_string_append(labels.text, "\",role=\"");
        g_string_append(labels.text, role_name((Role)row->role));
        g_string_append(labels.text, "\",class=\"");
        g_string_append(labels.text, row->class != WORK_NONE ? work_class_name((WorkClass)row->class) : "other");
        g_string_append(labels.text, "\"} ");
        g_array_append_val(labels.ends, labels.text->len);
    }
    return labels;
}

typedef enum { HOST_CALLS, HOST_SECONDS, HOST_ERRORS } HostFigure;

static void write_host_figure(const Rows *rows, const HostLabels *labels, HostFigure figure, const char *name) {
    Exposition *out = rows->out;
    gsize begin = 0;
    for (guint i = 0; i < rows->rows->len; i++) {
        const TallyRow *row = row_at(rows, i);
        const gsize end = g_array_index(labels->ends, gsize, i), from = begin;
        begin = end;
        if (figure == HOST_ERRORS && row->errors == 0) continue;
        g_string_append(out->text, name);
        g_string_append_len(out->text, labels->text->str + from, (gssize)(end - from));
        if (figure == HOST_SECONDS)
            exposition_seconds(out, row->self_ns);
        else
            exposition_number(out, figure == HOST_CALLS ? row->calls : row->errors);
        g_string_append_c(out->text, '\n');
    }
}

static void write_hosts(const Rows *rows) {
    HostLabels labels = host_labels(rows);
    exposition_head(rows->out, "host_calls_total", "counter",
                    "Calls on a host, by role of their process and class of work, since the start");
    write_host_figure(rows, &labels, HOST_CALLS, "plumbd_host_calls_total");
    exposition_head(rows->out, "host_self_seconds_total", "counter",
                    "Time that these calls spent in no call below them");
    write_host_figure(rows, &labels, HOST_SECONDS, "plumbd_host_self_seconds_total");
    exposition_head(rows->out, "host_errors_total", "counter", "Those of these calls that say that they failed");
    write_host_figure(rows, &labels, HOST_ERRORS, "plumbd_host_errors_total");
    g_string_free(labels.text, TRUE);
    g_array_unref(labels.ends);
}

/* ---- judgements ---- */

static void write_slow_host(void *arg, const SlowHost *host) {
    Exposition *out = arg;
    g_string_append(out->text, "plumbd_node_slowdown{host=\"");
    exposition_label(out, host->host);
    g_string_append_printf(out->text, "\",class=\"%s\"} %.3f\n", host->class, host->slowdown);
}

static void write_standing(void *arg, const HostsStanding *standing) {
    const Exposition *out = arg;
    g_string_append_printf(out->text, "plumbd_nodes{class=\"%s\",state=\"%s\"} %u\n", standing->class, standing->state,
                           standing->hosts);
}

static void write_slow_hosts(Exposition *out, SlowHosts *hosts) {
    exposition_head(out, "node_slowdown", "gauge",
                    "Hosts that are suspected to be slow, by class of work: times as long as predicted");
    slow_hosts_foreach(hosts, write_slow_host, out);
    exposition_head(out, "nodes", "gauge",
                    "Hosts by class of work and how they stand in it, when they were judged last (docs/nodes.md)");
    slow_hosts_foreach_standing(hosts, write_standing, out);
    exposition_head(out, "judged_time_seconds", "gauge",
                    "When the hosts were judged last, seconds since 1970; 0: not since the start");
    g_string_append(out->text, "plumbd_judged_time_seconds ");
    exposition_seconds(out, (guint64)slow_hosts_published_ns(hosts));
    g_string_append_c(out->text, '\n');
    exposition_head(out, "judgements_refused_total", "counter",
                    "Looks for slow hosts that found no memory or failed: what was found last stands");
    g_string_append_printf(out->text, "plumbd_judgements_refused_total %" G_GUINT64_FORMAT "\n",
                           slow_hosts_refused(hosts));
}

/* ---- Spark ---- */

static void write_straggling(Exposition *out, const StragglerCounts *counts) {
    exposition_head(out, "spark_stragglers", "gauge",
                    "Tasks of Spark that were stragglers, by what made them slow: of applications of the last hour");
    for (guint i = 0; i < TOPIC_COUNT; i++)
        g_string_append_printf(out->text, "plumbd_spark_stragglers{cause=\"%s\"} %" G_GUINT64_FORMAT "\n",
                               feature_topic_name((FeatureTopic)i), counts->stragglers[i]);
    g_string_append_printf(out->text, "plumbd_spark_stragglers{cause=\"unknown\"} %" G_GUINT64_FORMAT "\n",
                           counts->unexplained);
    exposition_head(out, "spark_tasks", "gauge", "Tasks of these applications");
    g_string_append_printf(out->text, "plumbd_spark_tasks %" G_GUINT64_FORMAT "\n", counts->tasks);
    exposition_head(out, "spark_applications", "gauge",
                    "Applications of the last hour, the newest 20: looked at, and refused for memory or time");
    g_string_append_printf(out->text, "plumbd_spark_applications{state=\"counted\"} %u\n", counts->apps);
    g_string_append_printf(out->text, "plumbd_spark_applications{state=\"refused\"} %u\n", counts->refused);
}

void cluster_metrics_write(const StateSources *sources, Exposition *out) {
    Dict *dict = archive_dict(sources->archive);
    GArray *functions = tally_functions(sources->tally), *hosts = tally_hosts(sources->tally);
    write_functions(&(Rows){out, dict, functions});
    write_hosts(&(Rows){out, dict, hosts});
    write_slow_hosts(out, sources->slow_hosts);
    const StragglerCounts straggling = straggling_get(sources->straggling);
    write_straggling(out, &straggling);
    tally_rows_free(functions);
    tally_rows_free(hosts);
}
