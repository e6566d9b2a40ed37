/* One screen: what is slow. */
#include "analyzer/cli/format/paragraph.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show_spell.h"

static void show_busier(const json_t *rows, const Style *style, GString *out) {
    gsize i;
    const json_t *row;
    if (json_array_size(rows) > 0) g_string_append_c(out, '\n');
    json_array_foreach((json_t *)rows, i, row) show_excused(row, style, out);
}

/* "10.0.3.20: processor, 4.2 times slower" */
static char *weak_text(const json_t *row, const Style *style) {
    const double times = field_number(row, "constant");
    g_autofree char *host = show_text(style, row, "host"), *layer = show_text(style, row, "layer");
    g_autofree char *count = times < 10 ? g_strdup_printf("%.1f", times) : unit_count(times);
    return g_strdup_printf("%s: %s, %s times slower", host, layer, count);
}

static void show_weak(const json_t *document, const Style *style, GString *out) {
    gsize i;
    const json_t *row;
    const json_t *rows = field_list(document, "weak");
    if (json_array_size(rows) == 0) return;

    g_autofree char *age = unit_age(field_number(document, "history_ns"));
    g_autofree char *head = g_strdup_printf(
        "Slower than their peers for all of the %s that are known, so weaker, or ill since before:", age);
    g_string_append_c(out, '\n');
    paragraph_append(style, 0, head, out);
    json_array_foreach((json_t *)rows, i, row) {
        g_autofree char *text = weak_text(row, style);
        g_autofree char *lost = unit_duration(style, field_number(row, "lost_ns"), 1);
        g_autofree char *line = g_strdup_printf("%s (%s lost)", text, lost);
        paragraph_append(style, 4, line, out);
    }
    g_autofree char *first = spell_nodes(style, json_array_get(rows, 0));
    g_string_append_printf(out, "    Next: %s\n", first);
}

/* Nothing is slower than it was. */
static void show_none(const json_t *document, const Style *style, GString *out) {
    const json_t *weak = field_list(document, "weak");
    const gboolean fails = json_array_size(field_list(document, "failing")) > 0;
    if (json_array_size(weak) == 0 && fails) {
        g_string_append(out, "Nothing is slow, but calls fail.\n");
        return;
    }
    if (json_array_size(weak) == 0) {
        if (!show_not_judged(document, style, out)) g_string_append(out, "Nothing is slow.\n");
        return;
    }
    g_autofree char *first = weak_text(json_array_get(weak, 0), style);
    g_autofree char *text = g_strdup_printf("Nothing became slow, but this was slow from the start: %s.", first);
    paragraph_append(style, 0, text, out);
}

void show_slow(const json_t *document, const ShowOptions *options, GString *out) {
    const Style *style = &options->style;
    const json_t *rows = field_list(document, "slow");
    if (field_number(document, "calls") == 0) {
        g_string_append(out, "No calls that tell what is slow: no traced HDFS in that time? plumb status says what "
                             "is stored.\n");
        return;
    }

    gsize i;
    const json_t *row;
    if (json_array_size(rows) == 0) show_none(document, style, out);
    json_array_foreach((json_t *)rows, i, row) show_spell(row, (guint)i + 1, style, out);
    if (field_true(document, "more")) g_string_append(out, "there are more: --limit N shows more (0: all)\n");

    if (json_array_size(field_list(document, "failing")) > 0) g_string_append_c(out, '\n');
    show_failing(document, style, out);
    show_busier(field_list(document, "busier"), style, out);
    show_weak(document, style, out);
    g_string_append_c(out, '\n');
    show_looked_at(document, style, out);
}
