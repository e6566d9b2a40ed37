#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"

static void append_file(const json_t *file, const Style *style, GString *out) {
    g_autofree char *name = show_text(style, file, "file");
    g_autofree char *spans = show_count(field_number(file, "spans"), "span", "spans");
    g_autofree char *bytes = unit_bytes(field_number(file, "bytes"));
    g_autofree char *records = show_count(field_number(file, "records"), "record", "records");
    const gboolean of_spark = field_number(file, "records") > 0;
    g_string_append_printf(out, "%s: %s%s%s%s in %s", name, spans, of_spark ? " and " : "", of_spark ? records : "",
                           of_spark ? " of Spark" : "", bytes);

    double bad = field_number(file, "bad_values");
    if (bad > 0) {
        g_autofree char *count = show_count(bad, "bad value", "bad values");
        g_autofree char *first = show_text(style, file, "first_error");
        g_string_append_printf(out, ", %s skipped; the first: %s", count, first);
    }
    g_string_append_c(out, '\n');

    g_autofree char *error = show_text(style, file, "error");
    if (*error != '\0') {
        style_append(style, COLOUR_RED, error, out);
        g_string_append_c(out, '\n');
    }
}

void show_import(const json_t *document, const ShowOptions *options, GString *out) {
    const Style *style = &options->style;
    gsize i;
    const json_t *file;
    json_array_foreach((json_t *)field_list(document, "files"), i, file) append_file(file, style, out);

    g_autofree char *sent = unit_count(field_number(document, "spans_sent"));
    g_autofree char *accepted = unit_count(field_number(document, "spans_accepted"));
    g_autofree char *refused = unit_count(field_number(document, "spans_refused"));
    g_autofree char *bad = unit_count(field_number(document, "bad_values"));
    double seconds = field_number(document, "duration_ns") / 1e9;

    g_string_append_printf(out, "sent %s spans: %s accepted, %s refused; %s bad values", sent, accepted, refused, bad);
    if (seconds > 0) {
        g_autofree char *rate = unit_per_s(field_number(document, "spans_sent") / seconds);
        g_string_append_printf(out, "; %s", rate);
    }
    g_string_append_c(out, '\n');

    if (field_number(document, "records_sent") > 0) {
        g_autofree char *records = unit_count(field_number(document, "records_sent"));
        g_autofree char *taken = unit_count(field_number(document, "records_accepted"));
        g_autofree char *not_taken = unit_count(field_number(document, "records_refused"));
        g_string_append_printf(out, "sent %s records of Spark: %s accepted, %s refused\n", records, taken, not_taken);
    }

    g_autofree char *why = show_text(style, document, "refused_message");
    if (*why != '\0') g_string_append_printf(out, "refused because: %s\n", why);

    if (field_present(document, "closed_traces")) {
        g_autofree char *closed = show_count(field_number(document, "closed_traces"), "trace", "traces");
        g_string_append_printf(out, "%s stored now\n", closed);
    }
}

static void append_log(const json_t *log, const Style *style, GString *out) {
    g_autofree char *name = show_text(style, log, "log"), *app = show_text(style, log, "app");
    g_autofree char *lines = show_count(field_number(log, "lines"), "line", "lines");
    const double bad = field_number(log, "bad_lines");
    g_string_append_printf(out, "%s: %s", name, lines);
    if (*app != '\0') g_string_append_printf(out, " of %s", app);
    g_autofree char *count = show_count(bad, "bad line", "bad lines");
    if (bad > 0) g_string_append_printf(out, ", %s skipped", count);
    g_string_append_c(out, '\n');
    g_autofree char *error = show_text(style, log, "error");
    if (*error == '\0') return;
    style_append(style, COLOUR_RED, error, out);
    g_string_append_c(out, '\n');
}

void show_log_import(const json_t *document, const ShowOptions *options, GString *out) {
    gsize i;
    const json_t *log;
    json_array_foreach((json_t *)field_list(document, "logs"), i, log) append_log(log, &options->style, out);
    if (i == 0)
        g_string_append(out, "no event log is there: Spark writes one to spark.eventLog.dir with "
                             "spark.eventLog.enabled true\n");
    g_autofree char *added = show_count(field_number(document, "added"), "record added", "records added");
    g_autofree char *changed = unit_count(field_number(document, "changed"));
    g_autofree char *unchanged = unit_count(field_number(document, "unchanged"));
    g_string_append_printf(out, "%s, %s changed, %s there already", added, changed, unchanged);
    if (field_number(document, "refused") > 0) {
        g_autofree char *refused = unit_count(field_number(document, "refused"));
        g_string_append_printf(out, ", %s refused", refused);
    }
    g_string_append_c(out, '\n');
}
