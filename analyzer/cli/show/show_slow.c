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

static void show_weak(const json_t *document, const Style *style, GString *out) {
    gsize i;
    const json_t *row;
    const json_t *rows = field_list(document, "weak");
    if (json_array_size(rows) == 0) return;

    g_autofree char *age = unit_age(field_number(document, "history_ns"));
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text,
                           "Slower than their peers for all of the %s that are known, so weaker, or ill since "
                           "before:",
                           age);
    json_array_foreach((json_t *)rows, i, row) {
        g_autofree char *host = show_text(style, row, "host"), *layer = show_text(style, row, "layer");
        g_autofree char *lost = unit_duration(style, field_number(row, "lost_ns"), 1);
        g_string_append_printf(text, "%s %s: %s %.1f times (%s lost)", i > 0 ? "," : "", host, layer,
                               field_number(row, "constant"), lost);
    }
    g_string_append_c(text, '.');
    g_string_append_c(out, '\n');
    paragraph_append(style, 0, text->str, out);
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
    const gboolean weak = json_array_size(field_list(document, "weak")) > 0;
    if (json_array_size(rows) == 0)
        g_string_append(out,
                        weak ? "Nothing became slow; what was slow from the start is below.\n" : "Nothing is slow.\n");
    json_array_foreach((json_t *)rows, i, row) show_spell(row, (guint)i + 1, style, out);
    if (field_true(document, "more")) g_string_append(out, "there are more: --limit N shows more (0: all)\n");

    show_busier(field_list(document, "busier"), style, out);
    show_weak(document, style, out);
    g_string_append_c(out, '\n');
    show_looked_at(document, style, out);
}
