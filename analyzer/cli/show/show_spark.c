/* Applications, stages and tasks of Spark. */
#include <string.h>

#include "analyzer/cli/format/paragraph.h"
#include "analyzer/cli/format/table.h"
#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"
#include "common/base/clock.h"

/* Event logs count in milliseconds. */
static void cell_duration(Table *table, const Style *style, const json_t *row, const char *field, Colour colour) {
    if (!field_present(row, field)) {
        table_cell_empty(table);
        return;
    }
    table_cell(table, unit_in_column(unit_duration(style, field_number(row, field), NS_PER_MS)), colour);
}

static void cell_bytes(Table *table, const json_t *row, const char *field) {
    if (field_number(row, field) > 0)
        table_cell(table, unit_bytes(field_number(row, field)), COLOUR_NONE);
    else
        table_cell_empty(table);
}

static void cell_count(Table *table, double n, Colour colour) {
    if (n > 0)
        table_cell(table, unit_count(n), colour);
    else
        table_cell_empty(table);
}

static gboolean any_has(const json_t *rows, const char *field) {
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)rows, i, row) if (field_present(row, field)) return TRUE;
    return FALSE;
}

static Colour state_colour(const char *state) {
    if (strcmp(state, "failed") == 0 || strcmp(state, "lost") == 0) return COLOUR_RED;
    return strcmp(state, "cut off") == 0 || strcmp(state, "silent") == 0 || strcmp(state, "killed") == 0 ? COLOUR_YELLOW
                                                                                                         : COLOUR_NONE;
}

/* An application that says nothing any more, and has not said that it ended, may have died. */
static char *app_state(const Style *style, const json_t *app) {
    if (strcmp(field_text(app, "state"), "silent") != 0) return show_text(style, app, "state");
    g_autofree char *ago = unit_age(field_number(app, "silent_ns"));
    return g_strdup_printf("no end, last event %s ago", ago);
}

static void cell_state(Table *table, const Style *style, const json_t *row, const char *field) {
    table_cell(table, show_text(style, row, field), state_colour(field_text(row, field)));
}

/* ---- applications ---- */

/* "severe, spill"; "not judged". */
static void cell_advice(Table *table, const Style *style, const json_t *advice) {
    const char *severity = field_text(advice, "severity");
    g_autofree char *rule = show_text(style, advice, "rule");
    const gboolean grave = strcmp(severity, "severe") == 0 || strcmp(severity, "critical") == 0;
    char *text = severity[0] == '\0' ? g_strdup("not judged")
                                     : g_strdup_printf("%s%s%s", severity, rule[0] != '\0' ? ", " : "", rule);
    table_cell(table, text, grave ? COLOUR_RED : strcmp(severity, "moderate") == 0 ? COLOUR_YELLOW : COLOUR_NONE);
}

void show_apps(const json_t *document, const ShowOptions *options, GString *out) {
    static const TableColumn columns[] = {{"begin", TRUE, 0, 5},  {"application", TRUE, 0, 0}, {"name", TRUE, 12, 0},
                                          {"user", TRUE, 0, 6},   {"Spark", TRUE, 0, 7},       {"state", TRUE, 0, 0},
                                          {"time", FALSE, 0, 0},  {"jobs", FALSE, 0, 3},       {"stages", FALSE, 0, 2},
                                          {"tasks", FALSE, 0, 1}, {"executors", FALSE, 0, 4},  {"links", FALSE, 0, 8},
                                          {"advice", TRUE, 0, 0}};
    static const char *const counts[] = {"jobs", "stages", "tasks", "executors", "links"};

    const Style *style = &options->style;
    const json_t *rows = field_list(document, "apps");
    if (json_array_size(rows) == 0) {
        g_string_append(out,
                        "No application of Spark is stored: plumb-bridge sends the records of event logs, which Spark\n"
                        "writes where spark.eventLog.enabled=true.\n");
        return;
    }

    const gboolean advised = any_has(rows, "advice");
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns) - !advised);
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)rows, i, row) {
        table_cell(table, unit_time(field_int(row, "begin_time_ns"), NS_PER_SEC), COLOUR_NONE);
        table_cell(table, show_text(style, row, "app"), COLOUR_NONE);
        table_cell(table, show_text(style, row, "name"), COLOUR_NONE);
        table_cell(table, show_text(style, row, "user"), COLOUR_NONE);
        table_cell(table, show_text(style, row, "spark_version"), COLOUR_NONE);
        table_cell(table, app_state(style, row), state_colour(field_text(row, "state")));
        cell_duration(table, style, row, "duration_ns", COLOUR_NONE);
        for (guint j = 0; j < G_N_ELEMENTS(counts); j++) cell_count(table, field_number(row, counts[j]), COLOUR_NONE);
        if (!advised) continue;
        const json_t *advice = field_object(row, "advice");
        g_autofree char *why = show_text(style, advice, "not_judged");
        cell_advice(table, style, advice);
        if (why[0] != '\0') table_line(table, g_strdup_printf("  not judged: %s", why), COLOUR_YELLOW);
    }

    table_print(table, out);
    if (field_true(document, "more")) g_string_append(out, "There are more: --limit N shows more (0: all)\n");
}

static void append_app(const json_t *document, const Style *style, GString *out) {
    g_autofree char *app = show_text(style, document, "app"), *name = show_text(style, document, "name");
    g_autofree char *begin = unit_time(field_int(document, "begin_time_ns"), NS_PER_SEC);
    style_append(style, COLOUR_BOLD, app, out);
    if (*name != '\0') g_string_append_printf(out, "  %s", name);
    if (*begin != '\0') g_string_append_printf(out, "  %s", begin);
    if (field_present(document, "duration_ns")) {
        g_autofree char *time = unit_duration(style, field_number(document, "duration_ns"), NS_PER_MS);
        g_string_append_printf(out, "  %s", time);
    }
    g_autofree char *state = app_state(style, document);
    g_string_append_printf(out, "  %s\n", state);
}

/* ---- stages ---- */

static double not_well(const json_t *row) {
    const json_t *states = field_object(row, "task_states");
    return field_number(states, "failed") + field_number(states, "killed") + field_number(states, "lost");
}

/* queries, peaks: the table has a column of them, as its last. */
static void stage_row(Table *table, const Style *style, const json_t *row, gboolean queries) {
    const gint64 attempt = field_int(row, "attempt");
    const double spilled = field_number(row, "disk_spilled_bytes"), stragglers = field_number(row, "stragglers");

    table_cell(table,
               attempt > 0 ? g_strdup_printf("%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT, field_int(row, "stage"), attempt)
                           : g_strdup_printf("%" G_GINT64_FORMAT, field_int(row, "stage")),
               COLOUR_NONE);
    table_cell(table, show_text(style, row, "name"), COLOUR_NONE);
    cell_state(table, style, row, "state");
    cell_duration(table, style, row, "duration_ns", COLOUR_NONE);
    table_cell(table, unit_count(field_number(row, "tasks")), COLOUR_NONE);
    cell_duration(table, style, row, "median_ns", COLOUR_NONE);
    cell_duration(table, style, row, "p95_ns", COLOUR_NONE);
    cell_duration(table, style, row, "max_ns", COLOUR_NONE);
    cell_count(table, stragglers, COLOUR_YELLOW);
    cell_count(table, not_well(row), COLOUR_RED);

    cell_bytes(table, row, "input_bytes");
    cell_bytes(table, row, "shuffle_read_bytes");
    cell_bytes(table, row, "shuffle_write_bytes");
    cell_bytes(table, row, "output_bytes");
    if (spilled > 0)
        table_cell(table, unit_bytes(spilled), COLOUR_YELLOW);
    else
        table_cell_empty(table);
    if (queries && field_present(row, "query"))
        table_cell(table, g_strdup_printf("%" G_GINT64_FORMAT, field_int(row, "query")), COLOUR_NONE);
    else if (queries)
        table_cell_empty(table);

    if (!field_present(row, "failure")) return;
    g_autofree char *failure = show_text(style, row, "failure");
    failure[strcspn(failure, "\n")] = '\0';
    table_line(table, g_strdup_printf("  %s", failure), COLOUR_RED);
}

static void append_rdds(const json_t *row, const Style *style, GString *out) {
    gsize i;
    const json_t *rdd;
    json_array_foreach((json_t *)field_list(row, "rdds"), i, rdd) {
        g_autofree char *name = show_text(style, rdd, "name"), *scope = show_text(style, rdd, "scope");
        g_autofree char *site = show_text(style, rdd, "call_site");
        g_string_append_printf(out, "  RDD %" G_GINT64_FORMAT "  %s", field_int(rdd, "id"), name);
        if (*scope != '\0') g_string_append_printf(out, " (%s)", scope);
        if (*site != '\0') g_string_append_printf(out, "  %s", site);
        g_string_append_c(out, '\n');
    }
}

/* What the queries of the rows are called, each once. */
static void append_queries(const json_t *rows, const Style *style, GString *out) {
    g_autoptr(GHashTable) told = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)rows, i, row) {
        const gint64 query = field_int(row, "query");
        if (!field_present(row, "query_name") || !g_hash_table_add(told, g_memdup2(&query, sizeof query))) continue;
        g_autofree char *name = show_text(style, row, "query_name");
        name[strcspn(name, "\n")] = '\0';
        g_string_append_printf(out, "Query %" G_GINT64_FORMAT ": %s\n", query, name);
    }
}

void show_stages(const json_t *document, const ShowOptions *options, GString *out) {
    static const TableColumn columns[] = {
        {"stage", FALSE, 0, 0},       {"name", TRUE, 16, 0},   {"state", TRUE, 0, 7},    {"time", FALSE, 0, 0},
        {"tasks", FALSE, 0, 0},       {"median", FALSE, 0, 0}, {"95 %", FALSE, 0, 4},    {"max", FALSE, 0, 0},
        {"stragglers", FALSE, 0, 0},  {"failed", FALSE, 0, 1}, {"input", FALSE, 0, 2},   {"shuffle in", FALSE, 0, 3},
        {"shuffle out", FALSE, 0, 5}, {"output", FALSE, 0, 8}, {"spilled", FALSE, 0, 6}, {"query", FALSE, 0, 9}};

    const Style *style = &options->style;
    const json_t *rows = field_list(document, "stages");
    append_app(document, style, out);
    if (json_array_size(rows) == 0) {
        g_string_append(out, "No stage of it is stored.\n");
        return;
    }

    const gboolean queries = any_has(rows, "query");
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns) - !queries);
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)rows, i, row) stage_row(table, style, row, queries);
    table_print(table, out);
    append_queries(rows, style, out);
    json_array_foreach((json_t *)rows, i, row) append_rdds(row, style, out);

    if (field_true(document, "more")) g_string_append(out, "There are more: --limit N shows more (0: all)\n");
}

/* ---- jobs ---- */

static char *stages_text(const json_t *row) {
    GString *text = g_string_new(NULL);
    gsize i;
    const json_t *stage;
    json_array_foreach((json_t *)field_list(row, "stages"), i, stage)
        g_string_append_printf(text, "%s%" JSON_INTEGER_FORMAT, i > 0 ? " " : "", json_integer_value(stage));
    return g_string_free(text, FALSE);
}

static void job_row(Table *table, const Style *style, const json_t *row) {
    table_cell(table, g_strdup_printf("%" G_GINT64_FORMAT, field_int(row, "job")), COLOUR_NONE);
    table_cell(table, show_text(style, row, field_present(row, "description") ? "description" : "call_site"),
               COLOUR_NONE);
    cell_state(table, style, row, "state");
    table_cell(table, unit_time(field_int(row, "begin_time_ns"), NS_PER_MS), COLOUR_NONE);
    cell_duration(table, style, row, "duration_ns", COLOUR_NONE);
    table_cell(table, stages_text(row), COLOUR_NONE);
    cell_count(table, field_number(row, "tasks"), COLOUR_NONE);
    cell_count(table, field_number(row, "failed_tasks"), COLOUR_RED);

    if (!field_present(row, "error")) return;
    g_autofree char *error = show_text(style, row, "error");
    error[strcspn(error, "\n")] = '\0';
    table_line(table, g_strdup_printf("  %s", error), COLOUR_RED);
}

void show_jobs(const json_t *document, const ShowOptions *options, GString *out) {
    static const TableColumn columns[] = {{"job", FALSE, 0, 0},   {"what", TRUE, 16, 0},  {"state", TRUE, 0, 3},
                                          {"begin", TRUE, 0, 4},  {"time", FALSE, 0, 0},  {"stages", TRUE, 6, 2},
                                          {"tasks", FALSE, 0, 1}, {"failed", FALSE, 0, 0}};

    const Style *style = &options->style;
    const json_t *rows = field_list(document, "jobs");
    append_app(document, style, out);
    if (json_array_size(rows) == 0) {
        g_string_append(out, "No job of it is stored.\n");
        return;
    }

    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)rows, i, row) job_row(table, style, row);
    table_print(table, out);
    if (field_true(document, "more")) g_string_append(out, "There are more: --limit N shows more (0: all)\n");
}

/* ---- executors ---- */

static void executor_row(Table *table, const Style *style, const json_t *row, gboolean peaks) {
    table_cell(table, show_text(style, row, "executor"), COLOUR_NONE);
    table_cell(table, show_text(style, row, "host"), COLOUR_NONE);
    cell_count(table, field_number(row, "cores"), COLOUR_NONE);
    cell_state(table, style, row, "state");
    table_cell(table, unit_time(field_int(row, "begin_time_ns"), NS_PER_MS), COLOUR_NONE);
    cell_duration(table, style, row, "duration_ns", COLOUR_NONE);
    cell_count(table, field_number(row, "tasks"), COLOUR_NONE);
    cell_count(table, not_well(row), COLOUR_RED);
    cell_duration(table, style, row, "tasks_ns", COLOUR_NONE);
    if (field_present(row, "busy_share"))
        table_cell(table, g_strdup_printf("%.0f %%", 100 * field_number(row, "busy_share")), COLOUR_NONE);
    else
        table_cell_empty(table);

    cell_duration(table, style, row, "gc_ns", COLOUR_NONE);
    cell_bytes(table, row, "input_bytes");
    cell_bytes(table, row, "shuffle_read_bytes");
    cell_bytes(table, row, "shuffle_write_bytes");
    cell_bytes(table, row, "disk_spilled_bytes");
    if (peaks) cell_bytes(table, field_object(row, "peaks"), "heap_bytes");
    if (!field_present(row, "reason")) return;
    g_autofree char *reason = show_text(style, row, "reason");
    reason[strcspn(reason, "\n")] = '\0';
    table_line(table, g_strdup_printf("  %s", reason), COLOUR_YELLOW);
}

void show_exclusions(const Style *style, const json_t *document, GString *out) {
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)field_list(document, "exclusions"), i, row) {
        g_autofree char *text = show_text(style, row, "text"), *time = unit_time(field_int(row, "time_ns"), NS_PER_MS);
        g_autofree char *line = g_strdup_printf("%s: %s", time, text);
        g_autoptr(GString) lines = g_string_new(NULL);
        paragraph_append_hanging(style, 0, line, lines);
        style_append(style, COLOUR_YELLOW, lines->str, out);
    }
}

/* "1 core a task"; parts of one, as of a GPU that tasks share. */
static char *task_cores(double cpus) { return g_strdup_printf("%g %s a task", cpus, cpus == 1 ? "core" : "cores"); }

/* "Resource profile 1: 2.0 GiB of memory, 4 cores, 2 cores a task, executor gpu 1". */
static void show_profile(const Style *style, json_t *profile, GString *out) {
    g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func(g_free);
    if (field_present(profile, "memory_bytes")) {
        g_autofree char *memory = unit_bytes(field_number(profile, "memory_bytes"));
        g_ptr_array_add(parts, g_strdup_printf("%s of memory", memory));
    }
    if (field_present(profile, "cores"))
        g_ptr_array_add(parts, show_count(field_number(profile, "cores"), "core", "cores"));
    if (field_present(profile, "task_cpus")) g_ptr_array_add(parts, task_cores(field_number(profile, "task_cpus")));
    const char *key;
    json_t *amount;
    json_object_foreach(json_object_get(profile, "others"), key, amount) {
        g_autofree char *name = text_clean(style, key), *value = text_clean(style, json_string_value(amount));
        g_ptr_array_add(parts, g_strdup_printf("%s %s", name, value));
    }
    g_ptr_array_add(parts, NULL);
    g_autofree char *all = g_strjoinv(", ", (char **)parts->pdata);
    g_string_append_printf(out, "Resource profile %" G_GINT64_FORMAT ": %s\n", field_int(profile, "profile"), all);
}

void show_executors(const json_t *document, const ShowOptions *options, GString *out) {
    static const TableColumn columns[] = {
        {"executor", TRUE, 0, 0},    {"host", TRUE, 12, 0},        {"cores", FALSE, 0, 4},
        {"state", TRUE, 0, 5},       {"begin", TRUE, 0, 6},        {"lived", FALSE, 0, 3},
        {"tasks", FALSE, 0, 0},      {"failed", FALSE, 0, 0},      {"in tasks", FALSE, 0, 1},
        {"busy", FALSE, 0, 0},       {"gc", FALSE, 0, 2},          {"input", FALSE, 0, 7},
        {"shuffle in", FALSE, 0, 8}, {"shuffle out", FALSE, 0, 9}, {"spilled", FALSE, 0, 10},
        {"heap peak", FALSE, 0, 11}};

    const Style *style = &options->style;
    const json_t *rows = field_list(document, "executors");
    append_app(document, style, out);
    if (json_array_size(rows) == 0) {
        g_string_append(out, "No executor of it is stored.\n");
        return;
    }

    const gboolean peaks = any_has(rows, "peaks");
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns) - !peaks);
    gsize i;
    json_t *row, *profile;
    json_array_foreach((json_t *)rows, i, row) executor_row(table, style, row, peaks);
    table_print(table, out);
    if (field_true(document, "more")) g_string_append(out, "There are more: --limit N shows more (0: all)\n");
    show_exclusions(style, document, out);
    json_array_foreach((json_t *)field_list(document, "profiles"), i, profile) show_profile(style, profile, out);
}

/* ---- tasks ---- */

static double sum_of(const json_t *metrics, const char *a, const char *b) {
    return field_number(metrics, a) + field_number(metrics, b);
}

static void cell_bytes_of(Table *table, double bytes) {
    if (bytes > 0)
        table_cell(table, unit_bytes(bytes), COLOUR_NONE);
    else
        table_cell_empty(table);
}

static void task_row(Table *table, const Style *style, const json_t *row) {
    const json_t *metrics = field_object(row, "metrics");
    const double times = field_number(row, "times_median"), gc_ns = field_number(metrics, "gcMs") * (double)NS_PER_MS;

    table_cell(table, g_strdup_printf("%" G_GINT64_FORMAT, field_int(row, "task")), COLOUR_NONE);
    table_cell(table,
               g_strdup_printf("%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT, field_int(row, "stage"),
                               field_int(row, "stage_attempt")),
               COLOUR_NONE);
    table_cell(table, g_strdup_printf("%" G_GINT64_FORMAT, field_int(row, "partition")), COLOUR_NONE);
    table_cell(table, g_strdup_printf("%" G_GINT64_FORMAT, field_int(row, "attempt")), COLOUR_NONE);
    table_cell(table, show_text(style, row, "host"), COLOUR_NONE);
    table_cell(table, show_text(style, row, "executor"), COLOUR_NONE);
    table_cell(table, show_text(style, row, "locality"), COLOUR_NONE);
    cell_state(table, style, row, "status");
    table_cell(table, unit_time(field_int(row, "begin_time_ns"), NS_PER_MS), COLOUR_NONE);

    cell_duration(table, style, row, "duration_ns", times >= 1.5 ? COLOUR_YELLOW : COLOUR_NONE);
    if (times > 0)
        table_cell(table, g_strdup_printf("%.1f", times), times >= 1.5 ? COLOUR_YELLOW : COLOUR_NONE);
    else
        table_cell_empty(table);

    table_cell(table, unit_in_column(unit_duration(style, gc_ns, NS_PER_MS)), COLOUR_NONE);
    cell_bytes_of(table, field_number(metrics, "inputBytes"));
    cell_bytes_of(table, sum_of(metrics, "shuffleRemoteBytes", "shuffleLocalBytes"));
    cell_bytes_of(table, field_number(metrics, "diskSpilledBytes"));
    table_cell(table, show_text(style, row, "trace"), COLOUR_NONE);

    if (!field_present(row, "reason")) return;
    g_autofree char *reason = show_text(style, row, "reason");
    table_line(table, g_strdup_printf("  %s", reason), COLOUR_RED);
}

void show_tasks(const json_t *document, const ShowOptions *options, GString *out) {
    static const TableColumn columns[] = {
        {"task", FALSE, 0, 0},  {"stage", FALSE, 0, 0},      {"part", FALSE, 0, 5},     {"try", FALSE, 0, 7},
        {"host", TRUE, 12, 0},  {"exec", TRUE, 0, 4},        {"locality", TRUE, 0, 9},  {"status", TRUE, 0, 3},
        {"begin", TRUE, 0, 8},  {"time", FALSE, 0, 0},       {"x median", FALSE, 0, 0}, {"gc", FALSE, 0, 6},
        {"input", FALSE, 0, 1}, {"shuffle in", FALSE, 0, 2}, {"spilled", FALSE, 0, 10}, {"trace", TRUE, 0, 11}};

    const Style *style = &options->style;
    const json_t *rows = field_list(document, "tasks");
    append_app(document, style, out);
    g_autofree char *fitting = show_count(field_number(document, "fitting_tasks"), "task", "tasks");
    if (json_array_size(rows) == 0) {
        g_string_append(out, "No task fits.\n");
        return;
    }

    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)rows, i, row) task_row(table, style, row);
    table_print(table, out);

    g_string_append_printf(out, "%zu shown of %s", json_array_size(rows), fitting);
    if (field_true(document, "more")) g_string_append(out, ": --limit N shows more (0: all)");
    g_string_append_c(out, '\n');
}
