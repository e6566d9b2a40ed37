#include <string.h>

#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/tree_lines.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"
#include "common/base/clock.h"

#define MAX_LINKS_NAMED 3

/* A row of the tree: a span, several like spans folded into one, or the placeholder of a missing one. */
typedef struct TraceRow {
    const json_t *span; /* the first; NULL for a placeholder */
    const char *missing;
    guint32 depth;
    guint32 folded;                           /* spans of the row: 1, or more */
    gint64 duration_ns, self_ns, critical_ns; /* of all of them */
} TraceRow;

static guint32 depth_of(const json_t *row) { return (guint32)CLAMP(field_int(row, "depth"), 0, G_MAXUINT32); }

static void append_row(GArray *rows, const json_t *span) {
    TraceRow row = {.span = span, .depth = depth_of(span), .folded = 1};
    row.duration_ns = field_int(span, "duration_ns");
    row.self_ns = field_int(span, "self_ns");
    row.critical_ns = field_int(span, "critical_ns");
    g_array_append_val(rows, row);
}

/* Spans come in pre-order; the placeholder of a missing parent stands before the span number "at". */
static GArray *rows_of(const json_t *document) {
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(TraceRow));
    const json_t *spans = field_list(document, "spans"), *missing = field_list(document, "missing");
    gsize next = 0;
    for (gsize i = 0; i < json_array_size(spans); i++) {
        for (; next < json_array_size(missing); next++) {
            const json_t *placeholder = json_array_get(missing, next);
            if (field_int(placeholder, "at") > (gint64)i) break;
            TraceRow row = {.missing = field_text(placeholder, "span"), .depth = depth_of(placeholder), .folded = 1};
            g_array_append_val(rows, row);
        }
        append_row(rows, json_array_get(spans, i));
    }
    return rows;
}

static gboolean same_text(const json_t *a, const json_t *b, const char *field) {
    return strcmp(field_text(a, field), field_text(b, field)) == 0;
}

/* May b, which follows a and like it has no children, be told in the same row? */
static gboolean alike(const TraceRow *a, const TraceRow *b) {
    return a->span != NULL && b->span != NULL && a->depth == b->depth && same_text(a->span, b->span, "function") &&
           same_text(a->span, b->span, "process") && same_text(a->span, b->span, "host") &&
           field_int(a->span, "pid") == field_int(b->span, "pid") &&
           field_int(a->span, "resolution_ns") == field_int(b->span, "resolution_ns") &&
           json_array_size(field_list(a->span, "flags")) == 0 && json_array_size(field_list(b->span, "flags")) == 0 &&
           json_array_size(field_list(b->span, "parents")) <= 1;
}

/* Runs of like calls without calls of their own become one row each. */
static void fold(GArray *rows) {
    guint kept = 0;
    for (guint i = 0; i < rows->len; i++) {
        const TraceRow *row = &g_array_index(rows, TraceRow, i);
        gboolean leaf = i + 1 == rows->len || g_array_index(rows, TraceRow, i + 1).depth <= row->depth;
        TraceRow *last = kept > 0 ? &g_array_index(rows, TraceRow, kept - 1) : NULL;
        /* A row of the same depth directly before this one has no children. */
        if (leaf && last != NULL && alike(last, row)) {
            last->folded++;
            last->duration_ns += row->duration_ns;
            last->self_ns += row->self_ns;
            last->critical_ns += row->critical_ns;
        } else {
            g_array_index(rows, TraceRow, kept++) = *row;
        }
    }
    g_array_set_size(rows, kept);
}

static TreeLines *lines_of(const Style *style, const GArray *rows) {
    g_autofree guint32 *depths = g_new(guint32, rows->len);
    for (guint i = 0; i < rows->len; i++) depths[i] = g_array_index(rows, TraceRow, i).depth;
    return tree_lines_new(style, depths, rows->len);
}

static char *process_text(const Style *style, const json_t *span) {
    g_autofree char *process = show_text(style, span, "process");
    if (!field_present(span, "pid") || field_int(span, "pid") < 0) return g_steal_pointer(&process);
    return g_strdup_printf("%s (%" G_GINT64_FORMAT ")", process, field_int(span, "pid"));
}

static char *flags_text(const Style *style, const json_t *span) {
    GString *out = g_string_new(NULL);
    gsize i;
    const json_t *flag;
    json_array_foreach((json_t *)field_list(span, "flags"), i, flag) {
        g_autofree char *text = text_clean(style, json_is_string(flag) ? json_string_value(flag) : "?");
        g_string_append_printf(out, "%s%s", i > 0 ? ", " : "", text);
    }
    return g_string_free(out, FALSE);
}

static void below(Table *table, const TreeLines *lines, char *text) {
    g_autofree char *prefix = tree_lines_below(lines);
    table_line(table, g_strconcat(prefix, text, NULL), COLOUR_DIM);
    g_free(text);
}

static void add_annotation(Table *table, const Style *style, const TreeLines *lines, const char *key,
                           const json_t *value) {
    g_autofree char *name = text_clean(style, key);
    g_autofree char *text = text_clean(style, json_is_string(value) ? json_string_value(value) : "?");
    below(table, lines, g_strdup_printf("%s = %s", name, text));
}

static void add_annotations(Table *table, const Style *style, const TreeLines *lines, const json_t *span) {
    const char *key;
    const json_t *value;
    json_object_foreach((json_t *)field_object(span, "annotations"), key, value) {
        /* A key that was sent more than once has a list of values. */
        gsize n = json_is_array(value) ? json_array_size(value) : 1;
        for (gsize k = 0; k < n; k++)
            add_annotation(table, style, lines, key, json_is_array(value) ? json_array_get(value, k) : value);
    }
    gsize i;
    const json_t *note;
    json_array_foreach((json_t *)field_list(span, "notes"), i, note) {
        g_autofree char *message = show_text(style, note, "message");
        double after = (double)(field_int(note, "time_ns") - field_int(span, "begin_time_ns"));
        g_autofree char *when = unit_duration_signed(style, after, field_int(span, "resolution_ns"));
        below(table, lines, g_strdup_printf("at %s: %s", when, message));
    }
}

/* The other parents of a span with several: a tree shows only one. */
static void add_links(Table *table, const Style *style, const TreeLines *lines, GHashTable *names, const json_t *span) {
    const json_t *parents = field_list(span, "parents");
    gsize n = json_array_size(parents);
    if (n < 2) return;
    GString *out = g_string_new("also called by ");
    for (gsize i = 1; i < n && i <= MAX_LINKS_NAMED; i++) {
        const char *id = json_string_value(json_array_get(parents, i));
        const char *name = id != NULL ? g_hash_table_lookup(names, id) : NULL;
        g_autofree char *text = text_clean(style, name != NULL ? name : id != NULL ? id : "?");
        g_string_append_printf(out, "%s%s", i > 1 ? ", " : "", text);
    }
    if (n - 1 > MAX_LINKS_NAMED) g_string_append_printf(out, " and %zu more", n - 1 - MAX_LINKS_NAMED);
    below(table, lines, g_string_free(out, FALSE));
}

static char *name_text(const Style *style, const TraceRow *row) {
    const char *field = field_present(row->span, "function") ? "function" : "description";
    g_autofree char *name = show_text(style, row->span, field);
    if (row->folded == 1) return g_steal_pointer(&name);
    return g_strdup_printf("%s %s%u", name, style->utf8 ? "×" : "x", row->folded);
}

static void add_duration(Table *table, const Style *style, const TraceRow *row, gint64 ns) {
    char *text = unit_duration(style, (double)ns, field_int(row->span, "resolution_ns"));
    table_cell(table, unit_in_column(text), COLOUR_NONE);
}

static void add_span(Table *table, const ShowOptions *options, char *prefix, const TraceRow *row, gint64 begin_ns) {
    const Style *style = &options->style;
    const json_t *span = row->span;
    double start = (double)(field_int(span, "begin_time_ns") - begin_ns);
    char *when = unit_duration_signed(style, start, field_int(span, "resolution_ns"));
    table_cell_tree(table, prefix, name_text(style, row), measure_role_colour(style, span));
    table_cell(table, unit_in_column(when), COLOUR_NONE);
    add_duration(table, style, row, row->duration_ns);
    add_duration(table, style, row, row->self_ns);
    add_duration(table, style, row, row->critical_ns);
    table_cell(table, show_text(style, span, "host"), COLOUR_NONE);
    table_cell(table, process_text(style, span), COLOUR_NONE);
    g_autofree char *flags = flags_text(style, span);
    gboolean any = *flags != '\0';
    table_cell(table, g_steal_pointer(&flags), any ? COLOUR_YELLOW : COLOUR_NONE);
    if (options->ids) table_cell(table, show_text(style, span, "span"), COLOUR_DIM);
}

static void add_missing(Table *table, const ShowOptions *options, char *prefix, const char *id) {
    guint cells = options->ids ? 7 : 6;
    table_cell_tree(table, prefix, g_strdup("(missing parent)"), COLOUR_YELLOW);
    for (guint i = 0; i < cells; i++) table_cell_empty(table);
    table_cell(table, options->ids ? text_clean(&options->style, id) : g_strdup("never came"), COLOUR_YELLOW);
}

/* The tasks of Spark that it belongs to. */
static void show_tasks_of_trace(const json_t *document, const Style *style, GString *out) {
    gsize i;
    const json_t *task;
    json_array_foreach((json_t *)field_list(document, "tasks"), i, task) {
        g_autofree char *app = show_text(style, task, "app"), *link = show_text(style, task, "link");
        g_string_append_printf(out, "task %" G_GINT64_FORMAT " of %s (link: %s", field_int(task, "task"), app, link);
        if (field_number(task, "confidence") < 1)
            g_string_append_printf(out, ", confidence %.2f", field_number(task, "confidence"));
        g_string_append(out, ")\n");
    }
}

static void append_head(const json_t *document, const ShowOptions *options, GString *out) {
    const Style *style = &options->style;
    g_autofree char *trace = show_text(style, document, "trace");
    g_autofree char *pattern = show_text(style, document, "pattern");
    g_autofree char *begin = unit_time(field_int(document, "begin_time_ns"), NS_PER_MS);
    g_autofree char *duration = unit_duration(style, field_number(document, "duration_ns"), show_resolution(document));
    g_autofree char *spans = show_count(field_number(document, "spans_total"), "span", "spans");
    g_string_append_printf(out, "trace %s, %s, %s, %s\n", trace, begin, duration, spans);
    if (*pattern != '\0') g_string_append_printf(out, "pattern %s\n", pattern);
    show_tasks_of_trace(document, style, out);

    gint64 parts = field_int(document, "parts"), first = field_int(document, "first_part");
    gint64 last = first + field_int(document, "parts_shown") - 1;
    if (parts > 1)
        g_string_append_printf(out, "parts %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT "%s\n",
                               first, last, parts, last < parts ? "; --part shows the others" : "");

    static const struct {
        const char *field, *singular;
    } counts[] = {{"orphans", "orphan"}, {"cycles", "cycle"}, {"duplicates", "duplicate"}};
    GString *faults = g_string_new(field_true(document, "incomplete") ? "incomplete" : NULL);
    for (guint i = 0; i < G_N_ELEMENTS(counts); i++) {
        double n = field_number(document, counts[i].field);
        if (n == 0) continue;
        g_autofree char *count = show_count(n, counts[i].singular, counts[i].field);
        g_string_append_printf(faults, "%s%s", faults->len > 0 ? ", " : "", count);
    }

    const json_t *dropped = field_list(document, "dropped");
    for (gsize i = 0; i < json_array_size(dropped); i++) {
        const json_t *name = json_array_get(dropped, i);
        g_autofree char *what = text_clean(style, json_is_string(name) ? json_string_value(name) : "?");
        g_string_append_printf(faults, "%s%s not kept", faults->len > 0 ? ", " : "", what);
    }

    style_append(style, COLOUR_YELLOW, faults->str, out);
    g_string_append(out, faults->len > 0 ? "\n\n" : "\n");
    g_string_free(faults, TRUE);
}

/* offset_ns added to a time of "to" gives that of "from": positive where the clock of "to" is behind. Where it may as
 * well be nothing, only the bound is said. */
static void append_pair(const json_t *pair, const Style *style, gint64 resolution_ns, GString *out) {
    double offset = field_number(pair, "offset_ns"), doubt = field_number(pair, "uncertainty_ns");
    g_autofree char *from = show_text(style, pair, "from");
    g_autofree char *to = show_text(style, pair, "to");
    if (ABS(offset) <= doubt) {
        g_autofree char *most = unit_duration(style, ABS(offset) + doubt, resolution_ns);
        g_string_append_printf(out, "  %s and %s agree to within %s\n", from, to, most);
        return;
    }
    g_autofree char *size = unit_duration(style, ABS(offset), resolution_ns);
    g_autofree char *give = unit_duration(style, doubt, resolution_ns);
    const char *side = offset > 0 ? "behind" : "ahead of", *sign = style->utf8 ? "±" : "+-";
    g_string_append_printf(out, "  %s is %s %s %s (%s %s)\n", to, size, side, from, sign, give);
}

static void append_skew(const json_t *document, const Style *style, GString *out) {
    const json_t *skew = field_list(document, "skew");
    if (json_array_size(skew) > 0)
        g_string_append(out, "\nClocks, estimated from calls between hosts (times above are as sent):\n");
    gsize i;
    const json_t *pair;
    json_array_foreach((json_t *)skew, i, pair) append_pair(pair, style, show_resolution(document), out);
}

static Table *table_of(const ShowOptions *options) {
    static const TableColumn columns[] = {
        {"function", TRUE, 28, 0}, {"start", FALSE, 0, 1},    {"time", FALSE, 0, 0},
        {"self", FALSE, 0, 3},     {"critical", FALSE, 0, 4}, {"host", TRUE, 0, 2},
        {"process", TRUE, 0, 5},   {"flags", TRUE, 0, 0},     {"span", TRUE, 0, 0},
    };
    return table_new(&options->style, columns, options->ids ? G_N_ELEMENTS(columns) : G_N_ELEMENTS(columns) - 1);
}

void show_trace(const json_t *document, const ShowOptions *options, GString *out) {
    const Style *style = &options->style;
    append_head(document, options, out);

    g_autoptr(GArray) rows = rows_of(document);
    if (options->fold) fold(rows);
    g_autoptr(TreeLines) lines = lines_of(style, rows);
    g_autoptr(Table) table = table_of(options);
    g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);

    gsize i;
    const json_t *span;
    json_array_foreach((json_t *)field_list(document, "spans"), i, span)
        g_hash_table_insert(names, (char *)field_text(span, "span"), (char *)field_text(span, "function"));
    gint64 begin_ns = field_int(document, "begin_time_ns");

    for (guint r = 0; r < rows->len; r++) {
        const TraceRow *row = &g_array_index(rows, TraceRow, r);
        char *prefix = tree_lines_next(lines);
        if (row->span == NULL) {
            add_missing(table, options, prefix, row->missing);
            continue;
        }
        add_span(table, options, prefix, row, begin_ns);
        add_links(table, style, lines, names, row->span);
        if (!options->brief && row->folded == 1) add_annotations(table, style, lines, row->span);
    }

    table_print(table, out);
    if (field_true(document, "more"))
        g_string_append_printf(out, "%zu shown: --limit N shows more (0: all)\n",
                               json_array_size(field_list(document, "spans")));
    if (field_true(document, "waiting"))
        g_string_append(out, "more spans came late and wait to join the trace: ask again in a minute\n");
    append_skew(document, style, out);
}
