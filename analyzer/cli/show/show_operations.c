#include <string.h>

#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"
#include "common/base/clock.h"

/* Of the JVM's features, those that set the clustered instances most apart from the others. */
#define FEATURES_SHOWN 5u
#define APART_LEAST    0.05
/* More than this is chance (Holm's p over all features). */
#define APART_P 0.01
/* Of silhouettes. */
#define BETTER_LEAST 0.1

static char *in_ms(const Style *style, const json_t *object, const char *field) {
    return unit_in_column(unit_duration(style, field_number(object, field) * NS_PER_MS, 1));
}

/* "HadoopRDD 3": the class's simple name and the RDD's id. */
static char *operation_name(const Style *style, const json_t *operation) {
    g_autofree char *class = show_text(style, operation, "class");
    const char *simple = strrchr(class, '.') ? strrchr(class, '.') + 1 : class;
    if (!field_present(operation, "rdd")) return g_strdup(simple);
    return g_strdup_printf("%s %" G_GINT64_FORMAT, simple, field_int(operation, "rdd"));
}

static char *place_of(const Style *style, const json_t *operation) {
    g_autofree char *site = show_text(style, operation, "call_site"), *name = show_text(style, operation, "rdd_name");
    return g_strdup(site[0] ? site : name);
}

static void add_operations(const json_t *stage, const Style *style, GString *out) {
    static const TableColumn columns[] = {
        {"operation", TRUE, 0, 0}, {"mean", FALSE, 0, 0},  {"std", FALSE, 0, 2},
        {"median", FALSE, 0, 3},   {"share", FALSE, 0, 0}, {"calls", FALSE, 0, 0},
        {"on top", FALSE, 0, 0},   {"saves", FALSE, 0, 1}, {"call site", TRUE, 16, 0},
    };
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));

    gsize i;
    const json_t *operation;
    json_array_foreach((json_t *)field_list(stage, "operations"), i, operation) {
        table_cell(table, operation_name(style, operation), COLOUR_NONE);
        table_cell(table, in_ms(style, operation, "mean_ms"), COLOUR_NONE);
        table_cell(table, in_ms(style, operation, "std_ms"), COLOUR_NONE);
        table_cell(table, in_ms(style, operation, "median_ms"), COLOUR_NONE);
        table_cell(table, g_strdup_printf("%.1f %%", 100 * field_number(operation, "share")), COLOUR_NONE);
        table_cell(table, unit_count(field_number(operation, "instances")), COLOUR_NONE);
        table_cell(table, unit_count(field_number(operation, "top_instances")), COLOUR_NONE);
        const gboolean saves = field_present(operation, "saves_ms");
        table_cell(table, saves ? in_ms(style, operation, "saves_ms") : g_strdup("-"), COLOUR_NONE);
        table_cell(table, place_of(style, operation), COLOUR_NONE);
    }

    table_print(table, out);
}

static char *first_trace(const Style *style, const json_t *instance) {
    const json_t *trees = field_list(instance, "trees");
    return json_array_size(trees) == 0 ? g_strdup("") : show_text(style, json_array_get(trees, 0), "trace");
}

static void add_top(const json_t *stage, const Style *style, GString *out) {
    static const TableColumn columns[] = {
        {"operation", TRUE, 0, 0}, {"task", FALSE, 0, 0},  {"host", TRUE, 12, 3},    {"time", FALSE, 0, 0},
        {"times", FALSE, 0, 0},    {"score", FALSE, 0, 0}, {"records", FALSE, 0, 4}, {"trace", TRUE, 0, 0},
    };

    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    gsize i;
    const json_t *instance;
    json_array_foreach((json_t *)field_list(stage, "top"), i, instance) {
        table_cell(table, operation_name(style, instance), COLOUR_NONE);
        table_cell(table, g_strdup_printf("%" G_GINT64_FORMAT, field_int(instance, "task")), COLOUR_NONE);
        table_cell(table, show_text(style, instance, "host"), COLOUR_NONE);
        table_cell(table, in_ms(style, instance, "span_ms"), COLOUR_NONE);
        table_cell(table, g_strdup_printf("%.3g", field_number(instance, "ss")), COLOUR_NONE);
        table_cell(table, g_strdup_printf("%.3g", field_number(instance, "is_ms2")), COLOUR_NONE);
        const gboolean counted = field_present(instance, "records");
        table_cell(table, counted ? unit_count(field_number(instance, "records")) : g_strdup("-"), COLOUR_NONE);
        table_cell(table, first_trace(style, instance), COLOUR_NONE);
    }

    table_print(table, out);
    g_autofree char *all = show_count(field_number(stage, "top_instances"), "instance", "instances");
    g_string_append_printf(out, "%zu shown of the %s on top", json_array_size(field_list(stage, "top")), all);
    g_string_append(out, field_true(stage, "more") ? "; --limit N shows more (0: all)\n" : "\n");
}

/* ---- the JVM ---- */

typedef struct Apart {
    const char *name;
    double apart;
} Apart;

static gint by_apart(gconstpointer left, gconstpointer right) {
    const Apart *a = left, *b = right;
    if (a->apart != b->apart) return a->apart > b->apart ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* A plumbd that says nothing of chance is believed. */
static gboolean beyond_chance(const json_t *clusters, const char *feature) {
    const json_t *p = field_object(clusters, "apart_p");
    return !p || (field_present(p, feature) && field_number(p, feature) < APART_P);
}

/* Where another number of clusters fits much better than the three that are shown. */
static void add_fit(const json_t *clusters, const Style *style, GString *out) {
    const json_t *silhouettes = field_object(clusters, "silhouettes");
    const json_t *three = silhouettes != NULL ? json_object_get(silhouettes, "3") : NULL;
    const char *name, *best = NULL;
    json_t *value;
    if (three == NULL) return;
    json_object_foreach((json_t *)silhouettes, name, value) {
        if (best == NULL || json_number_value(value) > field_number(silhouettes, best)) best = name;
    }
    if (field_number(silhouettes, best) < json_number_value(three) + BETTER_LEAST) return;
    g_autofree char *clean = text_clean(style, best);
    g_string_append_printf(out, "; %s clusters would fit better than 3 (silhouette %.2f, not %.2f)", clean,
                           field_number(silhouettes, best), json_number_value(three));
}

static void add_clusters(const json_t *stage, const Style *style, GString *out) {
    const json_t *clusters = field_object(stage, "clusters");
    if (!clusters || !field_object(clusters, "apart")) return;

    g_autoptr(GArray) features = g_array_new(FALSE, FALSE, sizeof(Apart));
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)field_object(clusters, "apart"), name, value) {
        const Apart item = {name, json_number_value(value)};
        if (item.apart >= APART_LEAST && beyond_chance(clusters, name)) g_array_append_val(features, item);
    }

    g_array_sort(features, by_apart);
    if (features->len == 0) {
        g_string_append(out, "Of the JVM nothing was apart from elsewhere while they ran, beyond chance.\n");
        return;
    }

    g_string_append(out, "The JVM while they ran, 0 to 1 (elsewhere):");
    for (guint i = 0; i < features->len && i < FEATURES_SHOWN; i++) {
        const char *feature = g_array_index(features, Apart, i).name;
        g_autofree char *clean = text_clean(style, feature);
        g_string_append_printf(out, "%s %s", i > 0 ? ";" : "", clean);
        gsize c;
        const json_t *centre;
        json_array_foreach((json_t *)field_list(clusters, "centres"), c, centre) {
            const json_t *values = field_object(centre, "centre");
            g_string_append_printf(out, "%s%.2f", c > 0 ? "/" : " ", values ? field_number(values, feature) : 0);
        }
        g_string_append_printf(out, " (%.2f)", field_number(field_object(clusters, "others"), feature));
    }

    add_fit(clusters, style, out);
    g_string_append_c(out, '\n');
}

static void add_stage(const json_t *stage, const ShowOptions *options, GString *out) {
    g_autofree char *tasks = show_count(field_number(stage, "pipelines"), "task", "tasks");
    g_autofree char *meaning = show_text(&options->style, stage, "meaning");
    g_autofree char *pattern = show_text(&options->style, stage, "pattern");
    g_autofree char *of = show_stage_text(&options->style, stage);
    of[0] = 'S';
    g_string_append_printf(out, "%s, %s: pattern %s, %s.\n", of, tasks, pattern, meaning);

    if (field_present(stage, "coverage")) {
        const double coverage = field_number(stage, "coverage");
        g_string_append_printf(out, "Operations cover %.1f %% of the run time", 100 * coverage);
        const gint64 low = field_int(stage, "low_coverage_tasks");
        if (low > 0)
            g_string_append_printf(out, "; of %" G_GINT64_FORMAT " tasks less than 90 %%: what those did is not seen",
                                   low);
        g_string_append(out, ".\n");
    }

    add_operations(stage, &options->style, out);
    if (!options->brief) {
        add_top(stage, &options->style, out);
        add_clusters(stage, &options->style, out);
    }
    g_string_append_c(out, '\n');
}

void show_operations(const json_t *document, const ShowOptions *options, GString *out) {
    const json_t *stages = field_list(document, "stages");
    gsize i;
    const json_t *stage;
    json_array_foreach((json_t *)stages, i, stage) add_stage(stage, options, out);
    if (json_array_size(stages) == 0)
        g_string_append(out,
                        "No operations are recorded: the agent traces them with spark.operations, or Byteman rules "
                        "write their log (docs/spark.md).\n");
}
