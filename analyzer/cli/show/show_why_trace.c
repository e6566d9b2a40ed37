/* Where the time of one trace went. */
#include <string.h>

#include "analyzer/cli/format/paragraph.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/why_text.h"
#include "common/base/harmless.h"

typedef struct Out {
    const Style *style;
    const json_t *document;
    GString *text;
} Out;

static char *duration(const Out *out, double ns) {
    return unit_duration(out->style, ns, show_resolution(out->document));
}

static double share_of(const Out *out, double ns) {
    const double all_ns = field_number(out->document, "duration_ns");
    return all_ns > 0 ? 100 * ns / all_ns : 0;
}

static void show_head(const Out *out) {
    const json_t *document = out->document;
    g_autofree char *trace = show_text(out->style, document, "trace"), *root = show_text(out->style, document, "root");
    g_autofree char *host = show_text(out->style, document, "host");
    g_autofree char *begin = unit_time(field_int(document, "begin_time_ns"), show_resolution(document));
    g_autofree char *took = duration(out, field_number(document, "duration_ns"));
    g_autofree char *spans = show_count(field_number(document, "spans"), "span", "spans");
    g_autofree char *line =
        g_strdup_printf("%s: %s%s%s, %s, %s, %s", trace, root, host[0] ? " on " : "", host, begin, took, spans);
    paragraph_append_hanging(out->style, 0, line, out->text);
}

/* ---- the verdict ---- */

/* Its lines broken to the width, in one colour. */
static void append_lines(const Out *out, Colour colour, const char *lines) {
    g_autoptr(GString) text = g_string_new(NULL);
    g_auto(GStrv) each = g_strsplit(lines, "\n", 0);
    for (char **line = each; *line != NULL; line++)
        if (**line != '\0') paragraph_append(out->style, 0, *line, text);
    style_append(out->style, colour, text->str, out->text);
}

static const json_t *reason_of(const json_t *waits) {
    gsize i;
    const json_t *wait;
    json_array_foreach((json_t *)waits, i, wait) {
        if (field_true(wait, "reason")) return wait;
    }
    return NULL;
}

static char *times_text(const json_t *wait) {
    const double times = field_number(wait, "times_normal");
    return g_strdup_printf(times < 10 ? "%.1f" : "%.0f", times);
}

static char *reason_text(const Out *out, const json_t *wait) {
    g_autofree char *who = why_whom(out->style, wait), *function = show_text(out->style, wait, "function");
    g_autofree char *times = why_times(wait), *calls = show_count(field_number(wait, "calls"), "call", "calls");
    g_autofree char *each = duration(out, field_number(wait, "calls_self_ns") / MAX(field_number(wait, "calls"), 1));
    g_autofree char *more = duration(out, field_number(wait, "more_ns"));
    return g_strdup_printf("Slow because of %s: %s, %s, took %s each%s.\n"
                           "That made it longer by %s, %.0f %% of its time.\n",
                           who, calls, function, each, times, more, share_of(out, field_number(wait, "more_ns")));
}

static char *files_text(const Out *out, const json_t *hdfs) {
    const double files = field_number(hdfs, "files"), bytes = field_number(hdfs, "bytes");
    g_autofree char *count = unit_count(files), *size = unit_bytes(bytes / MAX(files, 1));
    g_autofree char *read = bytes > 0 ? g_strdup_printf(" and read %s of each", size) : g_strdup("");
    return g_strdup_printf("Many files: it opened or made %s%s; %.0f %% of its time was the NameNode's, which is asked "
                           "for each of them.\n",
                           count, read, share_of(out, field_number(hdfs, "namenode_ns")));
}

/* One or two lines: what made it slow, or that nothing did, or why that is not known. */
static void show_verdict(const Out *out) {
    const json_t *waits = field_list(out->document, "waits"), *hdfs = field_object(out->document, "hdfs");
    const json_t *reason = reason_of(waits), *first = json_array_get(waits, 0);
    const json_t *silent = field_list(out->document, "silent");

    if (json_array_size(silent) > 0) {
        g_autofree char *who = why_silent(out->style, json_array_get(silent, 0));
        g_autofree char *text = g_strdup_printf("Slow because %s.\n", who);
        append_lines(out, COLOUR_RED, text);
    } else if (reason) {
        g_autofree char *text = reason_text(out, reason);
        g_autofree char *spell = why_spell(out->style, reason);
        append_lines(out, COLOUR_RED, text);
        g_autofree char *there = g_strdup_printf("That host: %s.", spell);
        if (spell[0]) append_lines(out, COLOUR_NONE, there);
    } else if (hdfs && field_true(hdfs, "many_files")) {
        g_autofree char *text = files_text(out, hdfs);
        append_lines(out, COLOUR_YELLOW, text);
    } else if (!first) {
        g_string_append(out->text, "No call of HDFS is in it: its time is the application's own.\n");
    } else if (strcmp(field_text(first, "pace"), "normal") == 0) {
        g_string_append(out->text, "Nothing it waited for in HDFS was slower than normal.\n");
    } else {
        append_lines(out, COLOUR_YELLOW,
                     "What it waited for most cannot be called slow: there are no other calls of it to compare with.");
    }

    if (field_true(out->document, "incomplete"))
        g_string_append(out->text, "Spans of it are missing, or still to come: what they "
                                   "did counts as nobody's, and the answer may change.\n");
}

/* ---- where the time went ---- */

static void add_wait(const Out *out, Table *table, const json_t *wait) {
    g_autofree char *time = duration(out, field_number(wait, "time_ns"));
    const double calls = field_number(wait, "calls");
    table_cell(table, unit_in_column(g_steal_pointer(&time)), COLOUR_NONE);
    table_cell(table, g_strdup_printf("%.0f %%", share_of(out, field_number(wait, "time_ns"))), COLOUR_NONE);
    table_cell(table, why_whom(out->style, wait), field_true(wait, "reason") ? COLOUR_RED : COLOUR_NONE);
    table_cell(table, show_text(out->style, wait, "function"), COLOUR_NONE);
    if (calls <= 0) {
        for (guint i = 0; i < 3; i++) table_cell_empty(table);
        return;
    }
    table_cell(table, unit_count(calls), COLOUR_NONE);
    table_cell(table, unit_in_column(duration(out, field_number(wait, "calls_self_ns") / calls)), COLOUR_NONE);
    if (field_present(wait, "times_normal"))
        table_cell(table, times_text(wait), COLOUR_NONE);
    else
        table_cell_empty(table);
}

static void show_waits(const Out *out) {
    static const TableColumn columns[] = {{"time", FALSE, 0, 0},     {"share", FALSE, 0, 0}, {"waited for", TRUE, 0, 0},
                                          {"function", TRUE, 20, 3}, {"calls", FALSE, 0, 0}, {"each", FALSE, 0, 1},
                                          {"x normal", FALSE, 0, 2}};
    const json_t *waits = field_list(out->document, "waits"), *hdfs = field_object(out->document, "hdfs");
    g_autoptr(Table) table = table_new(out->style, columns, G_N_ELEMENTS(columns));
    gsize i;
    const json_t *wait;
    json_array_foreach((json_t *)waits, i, wait) add_wait(out, table, wait);

    const double rest_ns = field_number(out->document, "duration_ns") - (hdfs ? field_number(hdfs, "time_ns") : 0);
    if (rest_ns > 0) {
        table_cell(table, unit_in_column(duration(out, rest_ns)), COLOUR_NONE);
        table_cell(table, g_strdup_printf("%.0f %%", share_of(out, rest_ns)), COLOUR_NONE);
        table_cell(table, g_strdup("no call of HDFS: the application itself"), COLOUR_DIM);
        for (guint k = 0; k < 4; k++) table_cell_empty(table);
    }

    g_string_append_c(out->text, '\n');
    table_print(table, out->text);
    if (field_true(out->document, "more"))
        g_string_append(out->text, "there are more: --limit N shows them (0: all)\n");
}

/* The way to the longest call of what made it slow, else of what it waited for most. */
static void show_longest(const Out *out) {
    const json_t *waits = field_list(out->document, "waits"), *reason = reason_of(waits);
    const json_t *wait = reason ? reason : json_array_get(waits, 0);
    if (!wait || json_array_size(field_list(wait, "path")) == 0) return;
    g_autofree char *function = show_text(out->style, wait, "function");
    g_autofree char *longest = duration(out, field_number(wait, "longest_call_ns"));
    g_string_append_printf(out->text, "\nThe longest %s, %s:\n", function, longest);
    why_path(out->style, field_list(wait, "path"), out->text);
    why_normals(out->style, wait, out->text);
}

static void show_links(const Out *out) {
    gsize i;
    const json_t *task;
    g_autofree char *trace = show_text(out->style, out->document, "trace");
    g_string_append_printf(out->text, "\nthe whole: plumb trace %s\n", trace);
    json_array_foreach((json_t *)field_list(out->document, "tasks"), i, task) {
        g_autofree char *app = show_text(out->style, task, "app"), *word = harmless_word(app);
        g_string_append_printf(out->text, "a task of Spark: plumb why %s --task %" G_GINT64_FORMAT "\n", word,
                               field_int(task, "task"));
    }
}

void show_why_trace(const json_t *document, const ShowOptions *options, GString *text) {
    const Out out = {&options->style, document, text};
    show_head(&out);
    show_verdict(&out);
    show_waits(&out);
    if (!options->brief) show_longest(&out);
    show_links(&out);
}
