#include <math.h>
#include <string.h>

#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"
#include "analyzer/cli/show/why_ledger.h"
#include "common/base/clock.h"

static const TableColumn columns[] = {
    {"stage", FALSE, 0, 0}, {"task", FALSE, 0, 0}, {"host", TRUE, 0, 3},
    {"begin", TRUE, 0, 6},  {"time", FALSE, 0, 0}, {"median", FALSE, 0, 4},
    {"times", FALSE, 0, 0}, {"lost", FALSE, 0, 5}, {"causes", TRUE, 16, 0},
};

/* A feature's value in its unit. A new string. */
static char *in_unit(const Style *style, const json_t *cause, double value) {
    const char *unit = field_text(cause, "unit");
    if (strcmp(unit, "bytes") == 0) return unit_bytes(value);
    if (strcmp(unit, "bytes/s") == 0) return unit_bytes_per_s(value);
    if (strcmp(unit, "ms") == 0) return unit_duration(style, value * NS_PER_MS, NS_PER_US);
    if (strcmp(unit, "share") == 0) return g_strdup_printf("%.3g %%", 100 * value);
    return g_strdup_printf("%.3g", value);
}

/* What values are compared as: multiples of the stage's mean, shares of the task's time, or as they are. */
static char *as_compared(const Style *style, const json_t *cause, double value) {
    const char *kind = field_text(cause, "kind");
    if (strcmp(kind, "numeric") == 0) return g_strdup_printf("%.3g x mean", value);
    if (strcmp(kind, "time") == 0) return g_strdup_printf("%.3g %%", 100 * value);
    return in_unit(style, cause, value);
}

static void add_peers(const Style *style, const json_t *cause, const char *field, const char *label, GString *line) {
    const json_t *peers = field_object(cause, field);
    if (!peers || field_int(peers, "tasks") == 0) return;
    g_autofree char *median = as_compared(style, cause, field_number(peers, "median"));
    g_autofree char *mean = as_compared(style, cause, field_number(peers, "mean"));
    g_string_append_printf(line, "; %s: median %s, mean %s of %" G_GINT64_FORMAT, label, median, mean,
                           field_int(peers, "tasks"));
}

static char *load_text(const char *unit, double value) {
    return strcmp(unit, "share") == 0 ? g_strdup_printf("%.3g %%", 100 * value) : unit_bytes_per_s(value);
}

static void add_bounds(const Style *style, const json_t *cause, GString *line) {
    if (field_present(cause, "quantile")) {
        g_autofree char *quantile = as_compared(style, cause, field_number(cause, "quantile"));
        g_string_append_printf(line, "; application's quantile %s", quantile);
    }
    if (field_present(cause, "bound")) {
        g_autofree char *bound = as_compared(style, cause, field_number(cause, "bound"));
        g_string_append_printf(line, "; above %s", bound);
    }
    if (field_present(cause, "correlation"))
        g_string_append_printf(line, "; correlation %.2f", field_number(cause, "correlation"));
    if (field_present(cause, "load")) {
        const char *unit = field_text(cause, "load_unit");
        g_autofree char *load = load_text(unit, field_number(cause, "load"));
        g_autofree char *usual = load_text(unit, field_number(cause, "usual_load"));
        g_string_append_printf(line, "; others' load of its host %s, usual %s", load, usual);
    }
    const char *const sides[] = {"before", "after"};
    for (guint i = 0; i < G_N_ELEMENTS(sides); i++) {
        if (!field_present(cause, sides[i])) continue;
        g_autofree char *side = as_compared(style, cause, field_number(cause, sides[i]));
        g_string_append_printf(line, "; %s %s", sides[i], side);
    }
}

/* "      disk 93 % (93 %); other hosts: median 11 %, ..." */
static char *evidence_line(const Style *style, const json_t *cause) {
    GString *line = g_string_new("      ");
    g_autofree char *verdict = show_text(style, cause, "verdict");
    g_autofree char *name = show_text(style, cause, "feature");
    g_string_append(line, name);
    if (strcmp(verdict, "cause") != 0) g_string_append_printf(line, " (dropped: %s)", verdict);
    if (field_present(cause, "measured")) {
        g_autofree char *measured = in_unit(style, cause, field_number(cause, "measured"));
        g_string_append_printf(line, " %s", measured);
        g_autofree char *value = as_compared(style, cause, field_number(cause, "value"));
        if (strcmp(measured, value) != 0) g_string_append_printf(line, " = %s", value);
    }
    const gboolean locality = strcmp(field_text(cause, "kind"), "locality") == 0;
    add_peers(style, cause, "other_hosts", locality ? "normal tasks" : "other hosts", line);
    add_peers(style, cause, "same_host", "same host", line);
    add_bounds(style, cause, line);
    return g_string_free(line, FALSE);
}

static char *name_quota_of(const Style *style, const json_t *causes) {
    GString *names = g_string_new(NULL);
    gsize i;
    const json_t *cause;
    json_array_foreach((json_t *)causes, i, cause) {
        g_autofree char *name = show_text(style, cause, "feature");
        g_string_append_printf(names, "%s%s", i > 0 ? ", " : "", name);
    }
    if (names->len == 0) g_string_append(names, "(none found)");
    return g_string_free(names, FALSE);
}

static void add_row(Table *table, const Style *style, const json_t *row) {
    const json_t *causes = field_list(row, "causes");
    const gint64 attempt = field_int(row, "stage_attempt");
    char *stage = attempt > 0
                      ? g_strdup_printf("%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT, field_int(row, "stage"), attempt)
                      : g_strdup_printf("%" G_GINT64_FORMAT, field_int(row, "stage"));
    table_cell(table, stage, COLOUR_NONE);
    table_cell(table, g_strdup_printf("%" G_GINT64_FORMAT, field_int(row, "task")), COLOUR_NONE);
    table_cell(table, show_text(style, row, "host"), COLOUR_NONE);
    table_cell(table, unit_time(field_int(row, "begin_time_ns"), NS_PER_MS), COLOUR_NONE);
    const char *const times[] = {"duration_ns", "stage_median_ns"};
    for (guint i = 0; i < G_N_ELEMENTS(times); i++)
        table_cell(table, unit_in_column(unit_duration(style, field_number(row, times[i]), NS_PER_MS)), COLOUR_NONE);
    const double scale = field_number(row, "scale");
    table_cell(table, scale > 0 ? g_strdup_printf("%.2f", scale) : g_strdup("-"), COLOUR_NONE);
    table_cell(table, unit_in_column(unit_duration(style, field_number(row, "excess_ns"), NS_PER_MS)), COLOUR_NONE);
    table_cell(table, name_quota_of(style, causes), json_array_size(causes) > 0 ? COLOUR_NONE : COLOUR_YELLOW);
}

static void add_evidence(Table *table, const Style *style, const json_t *list) {
    gsize i;
    const json_t *cause;
    json_array_foreach((json_t *)list, i, cause) table_line(table, evidence_line(style, cause), COLOUR_NONE);
}

static void add_summary(const json_t *document, const ShowOptions *options, gsize shown, GString *out) {
    const json_t *totals = field_list(document, "causes_total");
    g_autofree char *tasks = show_count(field_number(document, "tasks"), "task", "tasks");
    g_autofree char *all = show_count(field_number(document, "stragglers_total"), "straggler", "stragglers");
    g_string_append_printf(out, "%zu shown of %s among %s", shown, all, tasks);
    if (field_true(document, "more")) g_string_append(out, "; --limit N shows more (0: all)");

    g_string_append(out, ".\nCauses:");
    gsize i;
    const json_t *total;
    json_array_foreach((json_t *)totals, i, total) {
        g_autofree char *name = show_text(&options->style, total, "feature");
        g_string_append_printf(out, "%s %s %" G_GINT64_FORMAT, i > 0 ? "," : "", name, field_int(total, "stragglers"));
    }

    g_string_append_printf(out, "%s none known %" G_GINT64_FORMAT ".\n", json_array_size(totals) > 0 ? "," : "",
                           field_int(document, "unexplained"));

    const gint64 hosts = field_int(document, "hosts"), sampled = field_int(document, "hosts_with_samples");
    if (sampled < hosts)
        g_string_append_printf(out,
                               "Of %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                               " hosts there are no samples: loads of those are not seen.\n",
                               hosts - sampled, hosts);
}

void show_stragglers(const json_t *document, const ShowOptions *options, GString *out) {
    const json_t *rows = field_list(document, "stragglers");
    if (json_array_size(rows) == 0) {
        g_autofree char *tasks = show_count(field_number(document, "tasks"), "task", "tasks");
        g_string_append_printf(out, "No stragglers among %s.\n", tasks);
        return;
    }

    g_autoptr(Table) table = table_new(&options->style, columns, G_N_ELEMENTS(columns));
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)rows, i, row) {
        add_row(table, &options->style, row);
        if (options->brief) continue;
        add_evidence(table, &options->style, field_list(row, "causes"));
        add_evidence(table, &options->style, field_list(row, "near"));
        g_autoptr(GString) ledger = g_string_new("    ");
        why_ledger(&options->style, field_object(row, "ledger"), ledger);
        if (ledger->len > 4) {
            g_string_truncate(ledger, ledger->len - 1);
            table_line(table, g_strdup(ledger->str), COLOUR_NONE);
        }
    }
    table_print(table, out);
    add_summary(document, options, json_array_size(rows), out);
}
