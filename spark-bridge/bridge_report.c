#include "spark-bridge/bridge_report.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"

static void set_number(json_t *object, const char *key, guint64 number) {
    json_object_set_new(object, key, json_integer((json_int_t)number));
}

/* NULL and what is not UTF-8 is null. */
static void set_text(json_t *object, const char *key, const char *text) {
    g_autofree char *valid = text != NULL ? g_utf8_make_valid(text, -1) : NULL;
    json_object_set_new(object, key, valid != NULL ? json_string(valid) : json_null());
}

static json_t *broken_lines(const LogOutcome *outcome) {
    json_t *lines = json_array();
    for (guint i = 0; i < outcome->broken_lines->len; i++) {
        const BrokenLine *broken = &g_array_index(outcome->broken_lines, BrokenLine, i);
        json_t *line = json_object();
        if (broken->file > 0) set_number(line, "file", broken->file);
        set_number(line, "line", broken->line);
        set_text(line, "problem", broken->problem);
        json_array_append_new(lines, line);
    }
    return lines;
}

static void add_log(void *arg, const LogOutcome *outcome) {
    json_t *log = json_object();
    set_text(log, "log", outcome->path);
    set_text(log, "app", outcome->app);
    set_number(log, "files", outcome->files);
    set_number(log, "bytes", outcome->packed_bytes);
    set_number(log, "content_bytes", outcome->plain_bytes);
    set_number(log, "lines", outcome->lines);
    set_number(log, "events", outcome->taken);
    set_number(log, "passed_over", outcome->passed);
    set_number(log, "broken", outcome->broken);
    json_object_set_new(log, "broken_lines", broken_lines(outcome));
    if (outcome->cut_line > 0) set_number(log, "cut_line", outcome->cut_line);
    json_object_set_new(log, "running", json_boolean(outcome->running));
    json_object_set_new(log, "ended", json_boolean(outcome->ended));
    json_object_set_new(log, "unchanged", json_boolean(outcome->unchanged));
    if (outcome->error != NULL) set_text(log, "error", outcome->error);
    json_array_append_new(arg, log);
}

static json_t *records_read(const BridgeCounts *counts) {
    json_t *records = json_object();
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++)
        if (counts->records[kind] > 0) set_number(records, spark_kind_name((SparkKind)kind), counts->records[kind]);
    return records;
}

char *bridge_report_json(const BridgeReport *report) {
    const BridgeCounts *counts = bridge_counts(report->bridge);
    json_t *document = json_object(), *logs = json_array();
    bridge_outcomes(report->bridge, add_log, logs);
    json_object_set_new(document, "logs", logs);
    json_object_set_new(document, "records", records_read(counts));

    if (report->sent != NULL) {
        set_number(document, "records_sent", report->sent->sent);
        set_number(document, "records_accepted", report->sent->accepted);
        set_number(document, "records_refused", report->sent->refused);
        if (report->sent->refused_why != NULL) set_text(document, "refused_message", report->sent->refused_why);
    }

    set_number(document, "batches", counts->batches);
    set_number(document, "lines", counts->lines);
    set_number(document, "duration_ns", (guint64)report->duration_ns);

    char *text = json_dumps(document, JSON_INDENT(2));
    json_decref(document);
    char *copy = g_strconcat(text, "\n", NULL);
    free(text);
    return copy;
}

/* Sums over logs, and a line for each of which there is something to say. */
typedef struct Summary {
    GString *text;
    guint64 logs, unchanged, running, bytes, content, lines, taken, broken, troubles;
} Summary;

static void tell_broken(const LogOutcome *outcome, GString *text) {
    g_string_append_printf(text, "%s: %" G_GUINT64_FORMAT " broken line%s:", outcome->path, outcome->broken,
                           outcome->broken == 1 ? "" : "s");
    const guint n = MIN(outcome->broken_lines->len, 5u);
    for (guint i = 0; i < n; i++) {
        const BrokenLine *broken = &g_array_index(outcome->broken_lines, BrokenLine, i);
        g_string_append_printf(text, "%s line %" G_GUINT64_FORMAT, i > 0 ? "," : "", broken->line);
        if (broken->file > 0) g_string_append_printf(text, " of file %" G_GUINT64_FORMAT, broken->file);
        g_string_append_printf(text, " (%s)", broken->problem);
    }
    g_string_append(text, outcome->broken > n ? ", ...\n" : "\n");
}

static void sum_log(void *arg, const LogOutcome *outcome) {
    Summary *summary = arg;
    summary->logs++;
    summary->unchanged += outcome->unchanged ? 1 : 0;
    summary->running += outcome->running ? 1 : 0;
    summary->bytes += outcome->packed_bytes;
    summary->content += outcome->plain_bytes;
    summary->lines += outcome->lines;
    summary->taken += outcome->taken;
    summary->broken += outcome->broken;
    if (outcome->error != NULL) summary->troubles++;
    if (outcome->broken > 0) tell_broken(outcome, summary->text);
    if (outcome->cut_line > 0)
        g_string_append_printf(summary->text,
                               "%s: line %" G_GUINT64_FORMAT " is not whole yet: it is read when it is\n",
                               outcome->path, outcome->cut_line);
}

static void append_counts(const BridgeCounts *counts, GString *text) {
    const char *between = "";
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) {
        if (counts->records[kind] == 0) continue;
        const char *name = spark_kind_name((SparkKind)kind);
        const gsize stem = strlen(name) - g_str_has_suffix(name, "y"); /* query, queries */
        const char *ending = counts->records[kind] == 1 ? name + stem : name[stem] == 'y' ? "ies" : "s";
        g_string_append_printf(text, "%s%" G_GUINT64_FORMAT " %.*s%s", between, counts->records[kind], (int)stem, name,
                               ending);
        between = ", ";
    }
    if (between[0] == '\0') g_string_append(text, "no records");
}

char *bridge_report_text(const BridgeReport *report) {
    Summary summary = {.text = g_string_new(NULL)};
    bridge_outcomes(report->bridge, sum_log, &summary);
    GString *text = summary.text;
    g_string_append_printf(text,
                           "read %" G_GUINT64_FORMAT " log%s (%" G_GUINT64_FORMAT " running, %" G_GUINT64_FORMAT
                           " unchanged): %.1f MB, %.1f MB of events, %" G_GUINT64_FORMAT " lines, %" G_GUINT64_FORMAT
                           " broken, in %.1f s\nrecords: ",
                           summary.logs, summary.logs == 1 ? "" : "s", summary.running, summary.unchanged,
                           (double)summary.bytes / 1e6, (double)summary.content / 1e6, summary.lines, summary.broken,
                           (double)report->duration_ns / NS_PER_SEC);
    append_counts(bridge_counts(report->bridge), text);
    if (report->sent != NULL)
        g_string_append_printf(text, "; %" G_GUINT64_FORMAT " accepted, %" G_GUINT64_FORMAT " refused",
                               report->sent->accepted, report->sent->refused);
    if (report->sent != NULL && report->sent->refused_why != NULL)
        g_string_append_printf(text, " (%s)", report->sent->refused_why);
    g_string_append_c(text, '\n');
    return g_string_free(text, FALSE);
}

static void find_trouble(void *arg, const LogOutcome *outcome) {
    gboolean *clean = arg;
    if (outcome->broken > 0 || outcome->error != NULL) *clean = FALSE;
}

gboolean bridge_report_clean(const BridgeReport *report) {
    gboolean clean = report->sent == NULL || report->sent->refused == 0;
    bridge_outcomes(report->bridge, find_trouble, &clean);
    return clean;
}
