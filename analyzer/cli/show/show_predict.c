/* What the model of hosts is good for: how long an application's tasks would take elsewhere, and where work should go.
 */
#include <string.h>

#include "analyzer/cli/format/paragraph.h"
#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"
#include "common/base/clock.h"
#include "common/base/harmless.h"

#define EVENT_LOG_NS NS_PER_MS /* event logs count in milliseconds */

/* ---- predictions ---- */

static void show_stage(const Style *style, const json_t *stage, GString *out) {
    static const TableColumn columns[] = {
        {"host", TRUE, 0, 0}, {"a task", FALSE, 0, 0}, {"times", FALSE, 0, 0}, {"known", FALSE, 0, 0}};
    g_autofree char *name = show_text(style, stage, "name");
    g_autofree char *seen = unit_duration(style, field_number(stage, "seen_ns"), EVENT_LOG_NS);
    g_autofree char *tasks = show_count(field_number(stage, "tasks_read"), "task", "tasks");
    g_autofree char *head = g_strdup_printf(
        "stage %" G_GINT64_FORMAT ".%" G_GINT64_FORMAT "%s%s: took %s a task (%s looked at)", field_int(stage, "stage"),
        field_int(stage, "stage_attempt"), name[0] ? " " : "", name, seen, tasks);
    g_string_append_c(out, '\n');
    paragraph_append_hanging(style, 0, head, out);

    const json_t *hosts = field_list(stage, "hosts"), *host;
    gsize i;
    if (json_array_size(hosts) == 0) {
        g_string_append(out, "  nothing is known of the hosts for what it does\n");
        return;
    }
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    json_array_foreach((json_t *)hosts, i, host) {
        table_cell(table, show_text(style, host, "host"), COLOUR_NONE);
        table_cell(table, unit_in_column(unit_duration(style, field_number(host, "predicted_ns"), EVENT_LOG_NS)),
                   COLOUR_NONE);
        table_cell(table, g_strdup_printf("%.2f", field_number(host, "times")), COLOUR_NONE);
        table_cell(table, g_strdup_printf("%.0f %%", 100 * field_number(host, "known_share")), COLOUR_NONE);
    }
    table_print(table, out);
}

void show_predict(const json_t *document, const ShowOptions *options, GString *out) {
    const Style *style = &options->style;
    const json_t *stages = field_list(document, "stages"), *stage;
    g_autofree char *app = show_text(style, document, "app"), *name = show_text(style, document, "name");
    gsize i;
    g_autofree char *head =
        g_strdup_printf("%s%s%s: what a task would take if its work and its DataNode's were done by the host", name,
                        name[0] ? ", " : "", app);
    paragraph_append_hanging(style, 0, head, out);
    json_array_foreach((json_t *)stages, i, stage) show_stage(style, stage, out);
    if (json_array_size(stages) == 0)
        paragraph_append(style, 0,
                         "No stage has tasks with traces, so nothing tells what they need: sampling = "
                         "SparkTask=always; 1/s in the agents' settings traces them (docs/spark.md)",
                         out);
    else
        g_string_append(out, "\nknown: of its time, what the hosts were compared in; the rest is taken as it was\n");
}

/* ---- when a stage ends ---- */

static char *left_text(const Style *style, const json_t *row, const char *field, gint64 now_ns) {
    const gint64 left_ns = MAX(field_int(row, field) - now_ns, 0);
    return unit_duration(style, (double)left_ns, NS_PER_SEC);
}

static void add_last(const Style *style, const json_t *last, gint64 now_ns, GString *out) {
    g_autofree char *host = show_text(style, last, "host"), *left = left_text(style, last, "end_time_ns", now_ns);
    const char *reason = field_text(last, "reason");
    g_string_append_printf(out, "; of its running tasks %" G_GINT64_FORMAT " on %s is the last, in %s: ",
                           field_int(last, "task"), host, left);
    if (strcmp(reason, "slow-host") == 0)
        g_string_append_printf(out, "tasks take %.1f times as long there", field_number(last, "host_times"));
    else if (strcmp(reason, "overdue") == 0)
        g_string_append_printf(out, "it has taken %.1f times as long as usual", field_number(last, "times_usual"));
    else
        g_string_append(out, strcmp(reason, "last-begun") == 0 ? "it began last" : "it has most left");
}

void show_end_line(const json_t *app, const json_t *stage, gint64 now_ns, const Style *style, GString *out) {
    g_autofree char *name = show_text(style, app, "app"), *left = left_text(style, stage, "end_time_ns", now_ns);
    g_autofree char *early = left_text(style, stage, "earliest_time_ns", now_ns);
    g_autofree char *late = left_text(style, stage, "latest_time_ns", now_ns);
    g_autofree char *naive = left_text(style, stage, "by_progress_time_ns", now_ns);
    g_autofree char *at = unit_time(field_int(stage, "end_time_ns"), NS_PER_SEC);
    g_string_append_printf(out, "%s stage %" G_GINT64_FORMAT ".%" G_GINT64_FORMAT " ", name, field_int(stage, "stage"),
                           field_int(stage, "stage_attempt"));
    if (!field_true(stage, "known")) {
        g_string_append_printf(out, "ends at a time not known yet: %.0f of %.0f tasks have ended, five must\n",
                               field_number(stage, "ended"), field_number(stage, "tasks"));
        return;
    }

    g_string_append_printf(out, "ends in %s (%s to %s), at %s: %d %% done, by that alone in %s", left, early, late, at,
                           (int)(100 * field_number(stage, "progress")), naive);
    const json_t *last = field_object(stage, "last");
    if (last) add_last(style, last, now_ns, out);
    g_string_append_c(out, '\n');
}

/* ---- hints ---- */

static void show_probe(const Style *style, const json_t *probe, GString *out) {
    g_autofree char *host = show_text(style, probe, "host"), *function = show_text(style, probe, "function");
    g_autofree char *path = show_text(style, probe, "path"), *trace = show_text(style, probe, "trace");
    g_autofree char *windows = show_count(field_number(probe, "windows"), "minute", "minutes");
    g_string_append_printf(out, "  least is known of %s: within %.1f times, from %s\n", host,
                           field_number(probe, "within"), windows);
    if (!path[0] && !trace[0]) return;
    g_autofree char *word = harmless_word(path);
    g_autofree char *more =
        path[0] ? g_strdup_printf("to know more: hdfs dfs -cat %s > /dev/null (%s there)", word, function)
                : g_strdup_printf("what ran there last of it: plumb trace %s (%s)", trace, function);
    paragraph_append_hanging(style, 4, more, out);
}

static void show_hint(const Style *style, const json_t *hint, GString *out) {
    static const TableColumn columns[] = {{"host", TRUE, 0, 0}, {"share of the work", FALSE, 0, 0}};
    g_autofree char *class = show_text(style, hint, "class");
    const json_t *weight;
    gsize i;
    g_string_append_printf(out, "%s%s\n", out->len > 0 ? "\n" : "", class);
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    json_array_foreach((json_t *)field_list(hint, "weights"), i, weight) {
        table_cell(table, show_text(style, weight, "host"), COLOUR_NONE);
        table_cell(table, g_strdup_printf("%.1f %%", 100 * field_number(weight, "weight")), COLOUR_NONE);
    }
    table_print(table, out);
    if (field_object(hint, "probe")) show_probe(style, field_object(hint, "probe"), out);
}

void show_hints(const json_t *document, const ShowOptions *options, GString *out) {
    const json_t *hints = field_list(document, "hints"), *hint;
    gsize i;
    json_array_foreach((json_t *)hints, i, hint) show_hint(&options->style, hint, out);
    if (json_array_size(hints) == 0)
        g_string_append(out, "No class of work was seen on three hosts or more, so none can be weighed.\n");
}
