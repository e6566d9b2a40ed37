/* What to change in an application of Spark. */
#include <string.h>

#include "analyzer/cli/format/paragraph.h"
#include "analyzer/cli/format/table.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"
#include "common/base/clock.h"

#define INDENT 5u

/* "4.2 core-seconds", "2.1 core-hours". */
static char *core_time(gint64 ns) {
    const double s = (double)ns / (double)NS_PER_SEC;
    if (s < 600) return g_strdup_printf(s < 10 ? "%.1f core-seconds" : "%.0f core-seconds", s);
    return s < 7200 ? g_strdup_printf("%.0f core-minutes", s / 60) : g_strdup_printf("%.1f core-hours", s / 3600);
}

static void add_line(const Style *style, const char *label, char *text, GString *out) {
    g_autofree char *line = g_strdup_printf("%s%s", label, text);
    paragraph_append(style, INDENT, line, out);
    g_free(text);
}

static void add_field(const Style *style, const json_t *finding, const char *field, const char *label, GString *out) {
    if (field_text(finding, field)[0] != '\0') add_line(style, label, show_text(style, finding, field), out);
}

static void add_changes(const Style *style, const json_t *finding, GString *out) {
    gsize i;
    const json_t *change;
    json_array_foreach((json_t *)field_list(finding, "changes"), i, change) {
        g_autofree char *key = show_text(style, change, "key"), *from = show_text(style, change, "from");
        g_autofree char *to = show_text(style, change, "to");
        const gboolean conflict = field_true(change, "conflict");
        const char *origin = from[0] == '\0' ? "not set" : field_true(change, "set") ? "" : " (default)";
        char *line = g_strdup_printf("%s %s%s -> %s%s", key, from, origin, to,
                                     conflict ? " (not applied: a finding above sets it otherwise)"
                                     : field_true(change, "program") ? " (the program sets it itself: change it there)"
                                                                     : "");
        add_line(style, "set: ", line, out);
    }
}

static char *title_of(const Style *style, const json_t *finding, guint number) {
    const double share = 100 * field_number(finding, "share");
    g_autofree char *what = show_text(style, finding, "what");
    g_autofree char *cost = core_time(field_int(finding, "cost_ns"));
    if (field_int(finding, "cost_ns") <= 0) return g_strdup_printf("%u. %s", number, what);
    return g_strdup_printf("%u. %.0f %%, %s: %s", number, share, cost, what);
}

static void show_finding(const Style *style, const json_t *finding, guint number, GString *out) {
    g_autofree char *title = title_of(style, finding, number);
    paragraph_append(style, 0, title, out);
    add_changes(style, finding, out);
    add_field(style, finding, "advice", "", out);
    add_field(style, finding, "formula", "why so much: ", out);
    if (field_int(finding, "saves_ns") > 0)
        add_line(style, "saves about ", core_time(field_int(finding, "saves_ns")), out);

    gsize i;
    const json_t *text;
    json_array_foreach((json_t *)field_list(finding, "evidence"), i, text) {
        json_t *holder = json_pack("{s:O}", "text", text);
        add_field(style, holder, "text", "evidence: ", out);
        json_decref(holder);
    }

    g_autofree char *certainty = show_text(style, finding, "certainty");
    g_autofree char *severity = show_text(style, finding, "severity");
    add_line(style, "", g_strdup_printf("certainty: %s; severity: %s", certainty, severity), out);
    add_field(style, finding, "risk", "may become worse: ", out);
}

static void show_unknown(const Style *style, const json_t *document, GString *out) {
    gsize i;
    const json_t *unknown;
    json_array_foreach((json_t *)field_list(document, "unknown"), i, unknown) {
        g_autofree char *rule = show_text(style, unknown, "rule"), *why = show_text(style, unknown, "why");
        g_autofree char *line = g_strdup_printf("Not judged (%s): %s.", rule, why);
        paragraph_append(style, 0, line, out);
    }
}

static void show_well(const Style *style, const json_t *document, GString *out) {
    gsize i;
    const json_t *well;
    json_array_foreach((json_t *)field_list(document, "well"), i, well) {
        g_autofree char *rule = show_text(style, well, "rule"), *what = show_text(style, well, "what");
        g_autofree char *line = g_strdup_printf("Well (%s): %s.", rule, what);
        paragraph_append(style, 0, line, out);
    }
}

static void show_head(const Style *style, const json_t *document, GString *out) {
    g_autofree char *name = show_text(style, document, "name"), *app = show_text(style, document, "app");
    g_autofree char *tasks = show_count(field_number(document, "tasks"), "task", "tasks");
    g_autofree char *time = core_time(field_int(document, "task_ns"));
    g_autofree char *held = core_time(field_int(document, "held_ns"));
    const gboolean named = name[0] != '\0';
    g_autofree char *line = g_strdup_printf("%s%s%s: %s, %s; executors held %s%s", name, named ? ", " : "", app, tasks,
                                            time, held, field_true(document, "running") ? "; it still runs" : "");
    paragraph_append(style, 0, line, out);
}

void show_advise(const json_t *document, const ShowOptions *options, GString *out) {
    const Style *style = &options->style;
    const json_t *findings = field_list(document, "findings");
    show_head(style, document, out);
    if (json_array_size(findings) == 0)
        paragraph_append(style, 0, "Nothing to advise: no rule found anything that is worth a change.", out);
    gsize i;
    const json_t *finding;
    json_array_foreach((json_t *)findings, i, finding) {
        g_string_append_c(out, '\n');
        show_finding(style, finding, (guint)i + 1, out);
    }
    if (json_array_size(field_list(document, "unknown")) > 0) g_string_append_c(out, '\n');
    show_unknown(style, document, out);
    if (json_array_size(field_list(document, "well")) > 0) g_string_append_c(out, '\n');
    show_well(style, document, out);
}

/* ---- all applications ---- */

static Colour severity_colour(const char *severity) {
    if (strcmp(severity, "critical") == 0 || strcmp(severity, "severe") == 0) return COLOUR_RED;
    return strcmp(severity, "moderate") == 0 ? COLOUR_YELLOW : COLOUR_NONE;
}

static void cell_time(Table *table, const json_t *row, const char *field) {
    if (field_int(row, field) > 0)
        table_cell(table, core_time(field_int(row, field)), COLOUR_NONE);
    else
        table_cell_empty(table);
}

static void app_row(Table *table, const Style *style, const json_t *row) {
    table_cell(table, show_text(style, row, "app"), COLOUR_NONE);
    table_cell(table, show_text(style, row, "name"), COLOUR_NONE);
    table_cell(table, show_text(style, row, "severity"), severity_colour(field_text(row, "severity")));
    cell_time(table, row, "used_ns");
    cell_time(table, row, "cost_ns");
    cell_time(table, row, "saves_ns");
    table_cell(table, show_text(style, row, "what"), COLOUR_NONE);
}

static void rule_row(Table *table, const Style *style, const json_t *row) {
    table_cell(table, show_text(style, row, "rule"), COLOUR_NONE);
    table_cell(table, unit_count(field_number(row, "apps")), COLOUR_NONE);
    cell_time(table, row, "cost_ns");
    cell_time(table, row, "saves_ns");
    table_cell(table, show_text(style, row, "app"), COLOUR_NONE);
    table_cell(table, show_text(style, row, "what"), COLOUR_NONE);
}

static void show_rows(const Style *style, const json_t *rows, Table *table,
                      void (*add)(Table *, const Style *, const json_t *), GString *out) {
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)rows, i, row) add(table, style, row);
    table_print(table, out);
}

void show_advise_all(const json_t *document, const ShowOptions *options, GString *out) {
    static const TableColumn app_columns[] = {
        {"application", TRUE, 0, 0}, {"name", TRUE, 0, 3},   {"severity", TRUE, 0, 0},     {"used", FALSE, 0, 1},
        {"costs", FALSE, 0, 0},      {"saves", FALSE, 0, 2}, {"first of all", TRUE, 12, 0}};
    static const TableColumn rule_columns[] = {{"rule", TRUE, 0, 0},   {"apps", FALSE, 0, 0},   {"costs", FALSE, 0, 0},
                                               {"saves", FALSE, 0, 2}, {"most in", TRUE, 0, 1}, {"what", TRUE, 12, 0}};
    const Style *style = &options->style;
    const json_t *apps = field_list(document, "apps"), *rules = field_list(document, "rules");
    g_autofree char *judged = show_count(field_number(document, "judged"), "application", "applications");
    g_string_append_printf(out, "%s judged", judged);
    if (field_int(document, "too_large") > 0)
        g_string_append_printf(out, "; %" G_GINT64_FORMAT " of more than 200,000 tasks not: plumb advise APP does",
                               field_int(document, "too_large"));
    if (field_int(document, "not_looked_at") > 0)
        g_string_append_printf(out, "; %" G_GINT64_FORMAT " older ones not: --until is before them",
                               field_int(document, "not_looked_at"));
    g_string_append_c(out, '\n');

    g_autoptr(Table) by_rule = table_new(style, rule_columns, G_N_ELEMENTS(rule_columns));
    g_autoptr(Table) by_app = table_new(style, app_columns, G_N_ELEMENTS(app_columns));
    if (json_array_size(apps) > 0) show_rows(style, apps, by_app, app_row, out);
    if (field_true(document, "more")) g_string_append(out, "There are more: --limit N shows more (0: all)\n");
    if (json_array_size(rules) == 0) return;
    g_string_append_c(out, '\n');
    show_rows(style, rules, by_rule, rule_row, out);
}

/* ---- Dr. Elephant's table ---- */

static void elephant_rows(const json_t *group, const Style *style, Table *table) {
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)field_list(group, "rules"), i, row) {
        const char *severity = field_text(row, "severity");
        table_cell(table, i == 0 ? show_text(style, group, "group") : g_strdup(""), COLOUR_NONE);
        table_cell(table, show_text(style, row, "rule"), COLOUR_NONE);
        table_cell(table, severity[0] != '\0' ? show_text(style, row, "severity") : g_strdup("-"),
                   severity_colour(severity));
        table_cell(table, i == 0 ? unit_count(field_number(group, "score")) : g_strdup(""), COLOUR_NONE);
        table_cell(table, show_text(style, row, "value"), COLOUR_NONE);
    }
}

static void elephant_notes(const json_t *group, const Style *style, GString *out) {
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)field_list(group, "rules"), i, row) {
        if (field_text(row, "note")[0] == '\0') continue;
        g_autofree char *rule = show_text(style, row, "rule"), *note = show_text(style, row, "note");
        g_autofree char *line = g_strdup_printf("%s: %s", rule, note);
        paragraph_append(style, 0, line, out);
    }
}

void show_drelephant(const json_t *document, const ShowOptions *options, GString *out) {
    static const TableColumn columns[] = {{"group", TRUE, 0, 0},
                                          {"rule", TRUE, 0, 0},
                                          {"severity", TRUE, 0, 0},
                                          {"score", FALSE, 0, 0},
                                          {"value", TRUE, 12, 0}};
    const Style *style = &options->style;
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    show_head(style, document, out);
    g_autofree char *severity = show_text(style, document, "severity");
    g_autofree char *score = unit_count(field_number(document, "score"));
    g_autofree char *clean = show_text(style, document, "limits");
    g_auto(GStrv) limits = g_strsplit(clean, ",", -1);
    g_autofree char *told = g_strjoinv(", ", limits);
    g_autofree char *by = g_strconcat("by limits of your own: ", told, NULL);
    g_string_append_printf(out, "severity %s, score %s\n", severity, score);
    if (told[0] != '\0') paragraph_append(style, 0, by, out);
    g_string_append_c(out, '\n');

    gsize i;
    const json_t *group;
    json_array_foreach((json_t *)field_list(document, "groups"), i, group) elephant_rows(group, style, table);
    table_print(table, out);
    g_string_append_c(out, '\n');
    json_array_foreach((json_t *)field_list(document, "groups"), i, group) elephant_notes(group, style, out);
}

void show_advise_conf(const json_t *document, const ShowOptions *options, GString *out) {
    gsize i;
    const json_t *setting;
    json_array_foreach((json_t *)field_list(document, "conf"), i, setting) {
        g_autofree char *key = show_text(&options->style, setting, "key");
        g_autofree char *value = show_text(&options->style, setting, "value");
        g_string_append_printf(out, "--conf %s=%s\n", key, value);
    }
}
