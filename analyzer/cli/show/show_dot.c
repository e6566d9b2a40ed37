#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"

/* Appends clean text as the content of a DOT string, in which a backslash escapes. */
static void append_text(GString *out, const char *text) {
    static const Style utf8 = {.utf8 = TRUE}; /* DOT files are UTF-8 wherever they are written */
    g_autofree char *clean = text_clean(&utf8, text);
    for (const char *p = clean; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\') g_string_append_c(out, '\\');
        g_string_append_c(out, *p);
    }
}

static void append_quoted(GString *out, const char *text) {
    g_string_append_c(out, '"');
    append_text(out, text);
    g_string_append_c(out, '"');
}

static const char *fill_of(const Style *style, const json_t *span) {
    switch (measure_role_colour(style, span)) {
    case COLOUR_RED: return "mistyrose";
    case COLOUR_GREEN: return "palegreen";
    case COLOUR_YELLOW: return "lightyellow";
    case COLOUR_BLUE: return "lightblue";
    case COLOUR_MAGENTA: return "plum";
    case COLOUR_CYAN: return "paleturquoise";
    default: return "white";
    }
}

/* Three lines; "\\n" ends one in DOT. */
static void append_label(const json_t *span, const char *start, const char *duration, GString *out) {
    g_string_append_c(out, '"');
    append_text(out, field_text(span, "function"));
    g_string_append(out, "\\n");
    append_text(out, field_text(span, "process"));
    g_string_append_c(out, ' ');
    append_text(out, field_text(span, "host"));
    g_string_append_printf(out, "\\n%s, %s\"", start, duration);
}

static void append_node(const json_t *span, const Style *style, gint64 begin_ns, GString *out) {
    gint64 resolution = field_int(span, "resolution_ns");
    g_autofree char *start =
        unit_duration_signed(style, (double)(field_int(span, "begin_time_ns") - begin_ns), resolution);
    g_autofree char *duration = unit_duration(style, field_number(span, "duration_ns"), resolution);
    g_string_append(out, "  ");
    append_quoted(out, field_text(span, "span"));
    g_string_append(out, " [label=");
    append_label(span, start, duration, out);
    g_string_append_printf(out, ", fillcolor=%s%s];\n", fill_of(style, span),
                           json_array_size(field_list(span, "flags")) > 0 ? ", color=red" : "");
}

/* The first parent is the one of the tree; the others are dashed. */
static void append_edges(const json_t *span, GString *out) {
    gsize i;
    const json_t *parent;
    json_array_foreach((json_t *)field_list(span, "parents"), i, parent) {
        if (!json_is_string(parent)) continue;
        g_string_append(out, "  ");
        append_quoted(out, json_string_value(parent));
        g_string_append(out, " -> ");
        append_quoted(out, field_text(span, "span"));
        g_string_append(out, i == 0 ? ";\n" : " [style=dashed];\n");
    }
}

void show_trace_dot(const json_t *document, const ShowOptions *options, GString *out) {
    Style style = options->style;
    style.utf8 = TRUE;
    g_string_append(out, "digraph ");
    append_quoted(out, field_text(document, "trace"));
    g_string_append(out, " {\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n");
    gint64 begin_ns = field_int(document, "begin_time_ns");
    gsize i;
    const json_t *entry;
    json_array_foreach((json_t *)field_list(document, "spans"), i, entry) append_node(entry, &style, begin_ns, out);
    json_array_foreach((json_t *)field_list(document, "missing"), i, entry) {
        g_string_append(out, "  ");
        append_quoted(out, field_text(entry, "span"));
        g_string_append(out, " [label=\"(missing parent)\", style=dashed, color=red];\n");
    }
    json_array_foreach((json_t *)field_list(document, "spans"), i, entry) append_edges(entry, out);
    g_string_append(out, "}\n");
}
