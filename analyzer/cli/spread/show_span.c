/* One span, and the rows of a trace that have a text. */
#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/spread/spread_show.h"

static void add_line(const Style *style, const json_t *row, const char *field, const char *label, GString *out) {
    if (!field_present(row, field)) return;
    g_autofree char *text = show_text(style, row, field);
    g_string_append_printf(out, "%-12s %s\n", label, text);
}

static void add_value(const Style *style, const char *label, const char *value, GString *out) {
    g_autofree char *shown = text_clean(style, label), *text = text_clean(style, value);
    g_string_append_printf(out, "  %s = %s\n", shown, text);
}

static void add_annotations(const Style *style, const json_t *annotations, GString *out) {
    const char *key;
    json_t *value;
    if (json_object_size(annotations) == 0) return;
    g_string_append(out, "annotations\n");
    json_object_foreach((json_t *)annotations, key, value) {
        if (json_is_string(value)) add_value(style, key, json_string_value(value), out);
        for (gsize i = 0; i < json_array_size(value); i++)
            if (json_is_string(json_array_get(value, i)))
                add_value(style, key, json_string_value(json_array_get(value, i)), out);
    }
}

static void add_notes(const Style *style, const json_t *notes, GString *out) {
    gsize i;
    const json_t *note;
    if (json_array_size(notes) > 0) g_string_append(out, "notes\n");
    json_array_foreach((json_t *)notes, i, note) {
        g_autofree char *time = unit_time(field_int(note, "time_ns"), 1);
        g_autofree char *text = show_text(style, note, "message");
        g_string_append_printf(out, "  %s %s\n", time, text);
    }
}

void show_span(const json_t *document, const ShowOptions *options, GString *out) {
    const Style *style = &options->style;
    const json_t *row = json_object_get(document, "row");
    const gint64 resolution_ns = MAX(1, field_int(row, "resolution_ns"));
    g_autofree char *begin = unit_time(field_int(row, "begin_time_ns"), resolution_ns);
    g_autofree char *duration = unit_duration(style, field_number(row, "duration_ns"), resolution_ns);

    add_line(style, row, "span", "span", out);
    add_line(style, document, "trace", "trace", out);
    add_line(style, row, "function", "function", out);
    add_line(style, row, "description", "description", out);
    add_line(style, row, "role", "role", out);
    add_line(style, row, "process", "process", out);
    add_line(style, row, "host", "host", out);
    g_string_append_printf(out, "%-12s %s\n%-12s %s\n", "begin", begin, "duration", duration);
    add_annotations(style, json_object_get(row, "annotations"), out);
    add_notes(style, field_list(row, "notes"), out);
}

void show_find(const json_t *document, const ShowOptions *options, GString *out) {
    (void)options;
    const json_t *rows = field_list(document, "rows");
    g_autofree char *found = show_count(field_number(document, "found"), "call", "calls");
    g_autofree char *all = show_count(field_number(document, "spans_total"), "call", "calls");
    g_string_append_printf(out, "%s of %s.\n", found, all);
    for (gsize i = 0; i < json_array_size(rows); i++)
        g_string_append_printf(out, "%" JSON_INTEGER_FORMAT "%s", json_integer_value(json_array_get(rows, i)),
                               i + 1 == json_array_size(rows) ? "\n"
                               : i % 10 == 9                  ? "\n"
                                                              : " ");
    if (field_true(document, "more")) g_string_append(out, "There are more: --limit, --part\n");
}
