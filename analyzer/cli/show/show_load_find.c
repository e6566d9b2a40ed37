/* A search for the greatest rate that holds. */
#include <string.h>

#include "analyzer/cli/format/paragraph.h"
#include "analyzer/cli/format/table.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"

static void show_outcome(const json_t *document, GString *text) {
    g_autofree char *held = unit_per_s(field_number(document, "held_per_s"));
    g_autofree char *failed = unit_per_s(field_number(document, "failed_per_s"));
    const gboolean any_held = json_is_real(json_object_get(document, "held_per_s"));
    const gboolean any_failed = json_is_real(json_object_get(document, "failed_per_s"));
    const char *in_all = json_array_size(field_list(document, "searches")) == 1 ? "" : " in every search";
    if (any_held && any_failed) {
        g_string_append_printf(text, "%s held%s, %s failed%s.", held, in_all, failed, in_all);
    } else if (any_held) {
        g_string_append_printf(text, "%s held%s, and no rate failed%s.", held, in_all, in_all);
    } else if (any_failed) {
        g_string_append_printf(text, "No rate held%s; %s failed%s.", in_all, failed, in_all);
    } else {
        g_string_append(text, "Nothing can be said yet.");
    }
}

static void show_head(const json_t *document, const Style *style, GString *out) {
    const json_t *head = field_object(document, "head");
    g_autofree char *name = show_text(style, document, "folder"), *limit = show_text(style, document, "find_max");
    g_autofree char *hadoop = show_text(style, head, "hadoop"), *mix = show_text(style, head, "plan-mix");
    g_autofree char *gaps = show_text(style, head, "plan-gaps"), *preset = show_text(style, head, "plan-preset");
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, "%s: the greatest rate with %s, Hadoop %s, preset %s, mix %s, gaps %s. ", name, limit,
                           hadoop, preset, mix, gaps);
    show_outcome(document, text);
    paragraph_append(style, 0, text->str, out);

    g_autoptr(GString) wrong = g_string_new(NULL);
    if (field_true(document, "generator"))
        g_string_append(wrong, "A rate failed while the generator itself was late by more than a tenth of the "
                               "latencies: HDFS may bear more than this host can ask for. ");
    if (!field_true(document, "ended")) g_string_append(wrong, "The search was ended early. ");
    if (wrong->len > 0) paragraph_append(style, 0, g_strchomp(wrong->str), out);
}

static const TableColumn search_columns[] = {{.head = "search"}, {.head = "held per s"}, {.head = "failed per s"}};

static void append_rate(Table *table, const json_t *row, const char *field) {
    const gboolean there = json_is_real(json_object_get(row, field));
    table_cell(table, there ? unit_per_s(field_number(row, field)) : g_strdup("-"), COLOUR_NONE);
}

static void show_searches(const json_t *document, const Style *style, GString *out) {
    gsize i;
    const json_t *row;
    g_autoptr(Table) table = table_new(style, search_columns, G_N_ELEMENTS(search_columns));
    json_array_foreach((json_t *)field_list(document, "searches"), i, row) {
        table_cell(table, unit_count(field_number(row, "search")), COLOUR_NONE);
        append_rate(table, row, "held_per_s");
        append_rate(table, row, "failed_per_s");
    }
    g_string_append_c(out, '\n');
    table_print(table, out);
}

char *show_load_judged(const json_t *document, const char *quantile) {
    const char *kind = field_text(document, "kind");
    return strcmp(kind, "all") == 0 ? g_strdup(quantile) : g_strdup_printf("%s:%s", kind, quantile);
}

/* The latencies are of the kind that is judged, the second of the quantile that is judged. */
#define MEDIAN 4
#define JUDGED 5
static const TableColumn step_columns[] = {
    {.head = "step"},
    {.head = "search", .drop = 3},
    {.head = "rate"},
    {.head = "achieved", .drop = 1},
    {.head = ""},
    {.head = ""},
    {.head = "", .left = TRUE},
    {.head = "", .left = TRUE, .drop = 2},
};

static char *time_text(const Style *style, const json_t *latency, const char *name, const char *field) {
    const json_t *value = json_object_get(field_object(latency, name), field);
    return json_is_integer(value) ? unit_duration(style, (double)json_integer_value(value), 1000) : g_strdup("?");
}

static char *with_interval(const Style *style, const json_t *latency, const char *quantile) {
    g_autofree char *value = time_text(style, latency, quantile, "ns");
    g_autofree char *low = time_text(style, latency, quantile, "low_ns");
    g_autofree char *high = time_text(style, latency, quantile, "high_ns");
    return g_strdup_printf("%s (%s to %s)", value, low, high);
}

static void show_steps(const json_t *document, const Style *style, GString *out) {
    gsize i;
    const json_t *step;
    const char *quantile = field_text(document, "quantile");
    g_autofree char *median = show_load_judged(document, "p50"), *judged = show_load_judged(document, quantile);
    g_autofree char *head = g_strdup_printf("%s (95 %%)", judged);
    TableColumn columns[G_N_ELEMENTS(step_columns)];
    memcpy(columns, step_columns, sizeof columns);
    columns[MEDIAN].head = median;
    columns[JUDGED].head = head;

    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    json_array_foreach((json_t *)field_list(document, "steps"), i, step) {
        const json_t *latency = field_object(step, "latency");
        const char *verdict = field_text(step, "verdict");
        table_cell(table, unit_count((double)i + 1), COLOUR_NONE);
        table_cell(table, unit_count(field_number(step, "search")), COLOUR_NONE);
        table_cell(table, unit_per_s(field_number(step, "rate_per_s")), COLOUR_BOLD);
        table_cell(table, unit_per_s(field_number(step, "achieved_per_s")), COLOUR_NONE);
        table_cell(table, time_text(style, latency, "p50", "ns"), COLOUR_NONE);
        table_cell(table, with_interval(style, latency, quantile), COLOUR_NONE);
        table_cell(table, g_strdup(verdict),
                   strcmp(verdict, "holds") == 0       ? COLOUR_GREEN
                   : strcmp(verdict, "undecided") == 0 ? COLOUR_DIM
                                                       : COLOUR_RED);
        table_cell(table, show_text(style, step, "why"), COLOUR_NONE);
    }
    g_string_append_c(out, '\n');
    table_print(table, out);
}

void show_load_find(const json_t *document, const ShowOptions *options, GString *out) {
    const Style *style = &options->style;
    show_head(document, style, out);
    show_searches(document, style, out);
    show_steps(document, style, out);
}
