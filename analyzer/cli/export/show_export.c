#include "analyzer/cli/export/export_show.h"
#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"

void show_parquet(const json_t *document, const ShowOptions *options, GString *out) {
    g_autofree char *folder = show_text(&options->style, document, "folder");
    g_autofree char *functions = show_count(field_number(document, "functions"), "function", "functions");
    g_autofree char *traces = show_count(field_number(document, "traces"), "trace", "traces");
    g_autofree char *spans = show_count(field_number(document, "spans"), "span", "spans");
    g_autofree char *bytes = unit_bytes(field_number(document, "bytes"));
    g_string_append_printf(out, "%s: %s, %s, %s; %s of Parquet\n", folder, functions, traces, spans, bytes);
}

void show_forward(const json_t *document, const ShowOptions *options, GString *out) {
    const Style *style = &options->style;
    g_autofree char *to = show_text(style, document, "to");
    g_autofree char *spans = show_count(field_number(document, "spans"), "span", "spans");
    g_autofree char *requests = show_count(field_number(document, "requests"), "request", "requests");
    g_autofree char *again = show_count(field_number(document, "repeats"), "repeat", "repeats");
    g_string_append_printf(out, "%s took %s in %s, %s\n", to, spans, requests, again);

    g_autofree char *rejected = show_count(field_number(document, "rejected_spans"), "span", "spans");
    g_autofree char *said = show_text(style, document, "said");
    if (field_number(document, "rejected_spans") > 0)
        g_string_append_printf(out, "%s of them were rejected there: %s\n", rejected, said);
    else if (*said != '\0')
        g_string_append_printf(out, "it said: %s\n", said);

    g_autofree char *grown = show_count(field_number(document, "grown_traces"), "trace", "traces");
    if (field_number(document, "grown_traces") > 0)
        g_string_append_printf(out, "%s had more spans after they were sent, which were not\n", grown);
    g_autofree char *cut = show_count(field_number(document, "cut_traces"), "trace", "traces");
    if (field_number(document, "cut_traces") > 0)
        g_string_append_printf(out, "%s had too many spans for one answer: only the first were sent\n", cut);
}
