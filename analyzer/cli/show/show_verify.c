#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"

void show_verify(const json_t *document, const ShowOptions *options, GString *out) {
    g_autofree char *traces = show_count(field_number(document, "traces"), "trace", "traces");
    g_autofree char *spans = show_count(field_number(document, "spans"), "span", "spans");
    g_autofree char *rows = show_count(field_number(document, "rows"), "row", "rows");
    const double records = field_number(document, "records");
    g_autofree char *records_text = show_count(records, "record of Spark", "records of Spark");
    double differences = field_number(document, "differences");
    g_autofree char *count = show_count(differences, "difference", "differences");

    const json_t *reports = field_list(document, "reports");
    gsize i;
    const json_t *report;
    json_array_foreach((json_t *)reports, i, report) {
        g_autofree char *text = text_clean(&options->style, json_is_string(report) ? json_string_value(report) : "?");
        g_string_append_printf(out, "%s\n", text);
    }

    double cut = field_number(document, "cut_records");
    g_autofree char *cut_text = show_count(cut, "record lacks", "records lack");
    if (cut > 0) g_string_append_printf(out, "%s ids, annotations or notes: store.keep left them out\n", cut_text);
    double by_number = field_number(document, "rows_by_number");
    g_autofree char *number_text = show_count(by_number, "row counts", "rows count");
    if (by_number > 0)
        g_string_append_printf(out, "%s traces that were removed since: only their number was compared\n", number_text);
    gsize shown = json_array_size(reports);
    if (differences > (double)shown) g_string_append_printf(out, "... and %.0f more\n", differences - (double)shown);

    g_string_append_printf(out, "%s of statistics recomputed from %s of %s", rows, spans, traces);
    if (records > 0) g_string_append_printf(out, ", %s looked at", records_text);
    g_string_append(out, ": ");
    style_append(&options->style, differences > 0 ? COLOUR_RED : COLOUR_GREEN,
                 differences > 0 ? count : "no difference", out);
    g_string_append_c(out, '\n');
}
