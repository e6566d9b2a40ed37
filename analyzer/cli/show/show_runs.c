/* Two runs of an application. */
#include <string.h>

#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"
#include "analyzer/cli/show/why_text.h"
#include "common/base/clock.h"

#define EVENT_LOG_NS NS_PER_MS /* event logs count in milliseconds */
/* Of what a stage waited longer for: what has this share of the change. */
#define SHARE_TOLD 0.05

static const TableColumn columns[] = {
    {"", TRUE, 0, 0},         {"stage", TRUE, 0, 0},      {"name", TRUE, 24, 0},   {"tasks A", FALSE, 0, 3},
    {"tasks B", FALSE, 0, 3}, {"mean A", FALSE, 0, 0},    {"mean B", FALSE, 0, 0}, {"change", FALSE, 0, 0},
    {"HDFS", FALSE, 0, 0},    {"all tasks", FALSE, 0, 2},
};

static Colour state_colour(const char *state) {
    if (strcmp(state, "slower") == 0) return COLOUR_RED;
    return strcmp(state, "faster") == 0 ? COLOUR_GREEN : COLOUR_NONE;
}

static void show_side(const Style *style, const json_t *document, const char *side, const char *letter, GString *out) {
    const json_t *app = field_object(document, side);
    g_autofree char *key = show_text(style, app, "app"), *name = show_text(style, app, "name");
    g_autofree char *begin = unit_time(field_int(app, "begin_time_ns"), EVENT_LOG_NS);
    g_autofree char *took = unit_duration(style, field_number(app, "duration_ns"), EVENT_LOG_NS);
    g_string_append_printf(out, "%s: %s%s%s, %s, %s\n", letter, name, name[0] ? ", " : "", key, begin, took);
}

static char *stage_number(const json_t *stage) {
    return g_strdup_printf("%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT, field_int(stage, "stage"),
                           field_int(stage, "stage_attempt"));
}

static char *time_text(const Style *style, const json_t *object, const char *field) {
    if (!object || !field_present(object, field)) return g_strdup("");
    return unit_in_column(unit_duration(style, field_number(object, field), EVENT_LOG_NS));
}

static char *change_text(const Style *style, const json_t *object, const char *field) {
    if (!field_present(object, field)) return g_strdup("");
    return unit_in_column(unit_duration_signed(style, field_number(object, field), EVENT_LOG_NS));
}

/* By how much a task is longer in HDFS; FALSE: not known of both. */
static gboolean hdfs_change(const json_t *stage, double *ns) {
    const json_t *a = field_object(stage, "a"), *b = field_object(stage, "b");
    if (!a || !b || !field_present(a, "hdfs_ns") || !field_present(b, "hdfs_ns")) return FALSE;
    *ns = field_number(b, "hdfs_ns") - field_number(a, "hdfs_ns");
    return TRUE;
}

static void add_row(Table *table, const Style *style, const json_t *stage) {
    const json_t *a = field_object(stage, "a"), *b = field_object(stage, "b");
    const char *state = field_text(stage, "state");
    double ns;
    table_cell(table, text_clean(style, strcmp(state, "same") == 0 ? "" : state), state_colour(state));
    table_cell(table, stage_number(b ? b : a), COLOUR_NONE);
    table_cell(table, show_text(style, stage, "name"), COLOUR_NONE);
    table_cell(table, a ? unit_count(field_number(a, "tasks")) : g_strdup(""), COLOUR_NONE);
    table_cell(table, b ? unit_count(field_number(b, "tasks")) : g_strdup(""), COLOUR_NONE);
    table_cell(table, time_text(style, a, "mean_ns"), COLOUR_NONE);
    table_cell(table, time_text(style, b, "mean_ns"), COLOUR_NONE);
    table_cell(table, change_text(style, stage, "mean_change_ns"), state_colour(state));
    table_cell(table,
               hdfs_change(stage, &ns) ? unit_in_column(unit_duration_signed(style, ns, EVENT_LOG_NS)) : g_strdup(""),
               COLOUR_NONE);
    table_cell(table, change_text(style, stage, "total_change_ns"), COLOUR_NONE);
}

/* ---- why a stage became slower ---- */

static void show_wait(const Style *style, const json_t *wait, GString *out) {
    g_autofree char *who = why_whom(style, wait), *function = show_text(style, wait, "function");
    g_autofree char *before = unit_duration(style, field_number(wait, "a_ns"), 1);
    g_autofree char *now = unit_duration(style, field_number(wait, "b_ns"), 1);
    g_string_append_printf(out, "  %s: %s a task, %s in A (%s)\n", who, now, before, function);
    g_autofree char *trace = show_text(style, wait, "trace");
    if (trace[0])
        g_string_append_printf(out, "    longest in task %" G_GINT64_FORMAT ": plumb why %s\n", field_int(wait, "task"),
                               trace);
}

/* What else differs: more data, collections. */
static void show_amounts(const Style *style, const json_t *a, const json_t *b, GString *out) {
    static const char *const fields[][2] = {{"read_bytes", "read"}, {"shuffle_read_bytes", "read from shuffles"}};
    for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
        const double before = field_number(a, fields[i][0]), now = field_number(b, fields[i][0]);
        if (!field_present(a, fields[i][0]) || now < 1.1 * before || now <= 0) continue;
        g_autofree char *was = unit_bytes(before), *is = unit_bytes(now);
        g_string_append_printf(out, "  a task %s %s, %s in A\n", fields[i][1], is, was);
    }
    const double more_ns = field_number(b, "gc_ns") - field_number(a, "gc_ns");
    if (more_ns < SHARE_TOLD * field_number(b, "mean_ns")) return;
    g_autofree char *more = unit_duration(style, more_ns, EVENT_LOG_NS);
    g_string_append_printf(out, "  a task spent %s more in collections\n", more);
}

static void show_slower(const Style *style, const json_t *stage, GString *out) {
    const json_t *a = field_object(stage, "a"), *b = field_object(stage, "b"), *wait;
    const double change_ns = field_number(stage, "mean_change_ns");
    g_autofree char *number = stage_number(b), *more = unit_duration(style, change_ns, EVENT_LOG_NS);
    g_autofree char *head = g_strdup_printf("\nstage %s takes %s more a task", number, more);
    double hdfs_ns;
    gsize i;
    style_append(style, COLOUR_BOLD, head, out);
    if (!hdfs_change(stage, &hdfs_ns)) {
        g_string_append(out, "; how much of it is HDFS is not known,\nsince its tasks have no traces in both runs\n");
    } else {
        g_autofree char *of_it = unit_duration_signed(style, hdfs_ns, EVENT_LOG_NS);
        g_string_append_printf(out, "; in HDFS %s\n", of_it);
    }

    json_array_foreach((json_t *)field_list(stage, "waits"), i,
                       wait) if (field_number(wait, "change_ns") >= SHARE_TOLD * change_ns) show_wait(style, wait, out);
    show_amounts(style, a, b, out);
}

/* Stages whose names told nothing. */
static void show_matched(const Style *style, const json_t *stages, GString *out) {
    gsize i;
    const json_t *stage;
    gboolean any = FALSE, new = FALSE, gone = FALSE, both = FALSE;
    json_array_foreach((json_t *)stages, i, stage) {
        const gboolean in_a = field_object(stage, "a") != NULL, in_b = field_object(stage, "b") != NULL;
        both |= in_a && in_b;
        gone |= !in_b;
        new |= !in_a;
        if (!field_present(stage, "a_name")) continue;
        g_autofree char *there = show_text(style, stage, "a_name"), *b = stage_number(field_object(stage, "b"));
        g_autofree char *a = stage_number(field_object(stage, "a"));
        if (!any) g_string_append(out, "\nNamed otherwise in A, and matched by their order in the query:\n");
        any = TRUE;
        g_string_append_printf(out, "  %s was %s, %s\n", b, a, there[0] ? there : "without a name");
    }
    if (new &&gone && !both)
        g_string_append(out,
                        "\nNo stage of one run was found again in the other: they are of different programs, or their "
                        "versions of\nSpark planned them differently.\n");
}

void show_runs(const json_t *document, const ShowOptions *options, GString *out) {
    const Style *style = &options->style;
    const json_t *stages = field_list(document, "stages"), *stage;
    gsize i;
    show_side(style, document, "a", "A", out);
    show_side(style, document, "b", "B", out);
    g_string_append_c(out, '\n');
    if (json_array_size(stages) == 0) {
        g_string_append(out, "Nothing to compare: no stage has tasks that ended.\n");
        return;
    }

    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    json_array_foreach((json_t *)stages, i, stage) add_row(table, style, stage);
    table_print(table, out);
    show_matched(style, stages, out);
    json_array_foreach((json_t *)stages, i, stage) if (strcmp(field_text(stage, "state"), "slower") == 0)
        show_slower(style, stage, out);
}
