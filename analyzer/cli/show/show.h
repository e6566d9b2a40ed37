/* The documents of docs/api.md as text for people: one function per question, JSON in, text out. What is shown comes
 * from the document alone, so a table cannot say anything else than --json does. */
#pragma once

#include "analyzer/cli/format/field.h"
#include "analyzer/cli/format/measure_cells.h"
#include "analyzer/cli/format/style.h"

typedef struct ShowOptions {
    Style style;
    MeasureSet set; /* functions, forest */
    gboolean ids;   /* trace: span ids too */
    gboolean brief; /* trace: no annotations and notes */
    gboolean fold;  /* trace: runs of like calls in one row */
} ShowOptions;

typedef void (*Show)(const json_t *document, const ShowOptions *options, GString *out);

void show_status(const json_t *document, const ShowOptions *options, GString *out);
/* The last part of it: a row for the processes of one name on one host. senders: sorted by name. */
void show_status_senders(const json_t *senders, const ShowOptions *options, GString *out);
void show_senders(const json_t *document, const ShowOptions *options, GString *out);
/* A section of the two above; nothing without "accounting". */
void show_accounts(const json_t *accounting, const ShowOptions *options, GString *out);
void show_functions(const json_t *document, const ShowOptions *options, GString *out);
void show_forest(const json_t *document, const ShowOptions *options, GString *out);
void show_traces(const json_t *document, const ShowOptions *options, GString *out);
void show_trace(const json_t *document, const ShowOptions *options, GString *out);
void show_predict(const json_t *document, const ShowOptions *options, GString *out);
void show_hints(const json_t *document, const ShowOptions *options, GString *out);
void show_runs(const json_t *document, const ShowOptions *options, GString *out);
void show_diff(const json_t *document, const ShowOptions *options, GString *out);
void show_verify(const json_t *document, const ShowOptions *options, GString *out);
void show_slow(const json_t *document, const ShowOptions *options, GString *out);
void show_nodes(const json_t *document, const ShowOptions *options, GString *out);
void show_hosts(const json_t *document, const ShowOptions *options, GString *out);
void show_why(const json_t *document, const ShowOptions *options, GString *out);
void show_why_trace(const json_t *document, const ShowOptions *options, GString *out);
void show_stragglers(const json_t *document, const ShowOptions *options, GString *out);
void show_operations(const json_t *document, const ShowOptions *options, GString *out);
void show_advise(const json_t *document, const ShowOptions *options, GString *out);
void show_simulation(const json_t *document, const ShowOptions *options, GString *out);
void show_advise_all(const json_t *document, const ShowOptions *options, GString *out);
void show_drelephant(const json_t *document, const ShowOptions *options, GString *out);
/* "--conf key=value", a line each. */
void show_advise_conf(const json_t *document, const ShowOptions *options, GString *out);
void show_apps(const json_t *document, const ShowOptions *options, GString *out);
void show_stages(const json_t *document, const ShowOptions *options, GString *out);
void show_jobs(const json_t *document, const ShowOptions *options, GString *out);
void show_executors(const json_t *document, const ShowOptions *options, GString *out);
void show_tasks(const json_t *document, const ShowOptions *options, GString *out);
void show_log_import(const json_t *document, const ShowOptions *options, GString *out);
/* One straggler of the document of "why", in one line. */
void show_straggler_line(const json_t *app, const json_t *straggler, const Style *style, GString *out);
/* When a running stage ends, as "ends" tells it, in one line. now_ns: when that was asked. */
void show_end_line(const json_t *app, const json_t *stage, gint64 now_ns, const Style *style, GString *out);
void show_load_plan(const json_t *document, const ShowOptions *options, GString *out);
/* The same as a page with pictures: one file of HTML, with SVG in it. */
void show_load_html(const json_t *document, const ShowOptions *options, GString *out);
/* A search for the greatest rate. */
void show_load_find(const json_t *document, const ShowOptions *options, GString *out);
/* Of a search: a quantile with the kind that it is of, "read:p99"; a new string. */
char *show_load_judged(const json_t *document, const char *quantile);
void show_load_report(const json_t *document, const ShowOptions *options, GString *out);
void show_import(const json_t *document, const ShowOptions *options, GString *out);

/* One trace (the document of the question "trace") for Graphviz, and as Chrome's trace events for Perfetto and
 * chrome://tracing. */
void show_trace_dot(const json_t *document, const ShowOptions *options, GString *out);
void show_trace_chrome(const json_t *document, const ShowOptions *options, GString *out);
void show_trace_otlp(const json_t *document, const ShowOptions *options, GString *out);

/* "2026-11-21T10:00:00Z to 2026-11-21T11:00:00Z", "everything" without bounds. A new string. */
char *show_period(const json_t *document);
/* The field's text, clean. A new string. */
char *show_text(const Style *style, const json_t *object, const char *field);
/* "stage 7.0 (Scan parquet orders)" of a row about a task or a stage; without its name where there is none. A new
 * string. */
char *show_stage_text(const Style *style, const json_t *row);
/* Executors and hosts that got no more tasks, a line each. */
void show_exclusions(const Style *style, const json_t *document, GString *out);
/* Of a trace, which has no resolution_ns of its own: a begin and a duration that are both whole milliseconds were
 * counted in milliseconds. */
gint64 show_resolution(const json_t *trace);
/* A count with its noun: "1 trace", "1,234 traces". A new string. */
char *show_count(double n, const char *singular, const char *plural);
