/* Plans and results of loads. */
#include <string.h>

#include "analyzer/cli/format/paragraph.h"
#include "analyzer/cli/format/table.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"
#include "analyzer/cli/show/show_load_waited.h"

static char *of_kinds(const json_t *kinds) {
    GString *text = g_string_new(NULL);
    gsize i;
    const json_t *kind;
    json_array_foreach((json_t *)kinds, i, kind) {
        g_autofree char *count = unit_count(field_number(kind, "operations"));
        g_string_append_printf(text, "%s%s %s", i > 0 ? ", " : "", count, field_text(kind, "kind"));
    }
    return g_string_free(text, FALSE);
}

/* Of a replay: what of the log is in the plan. */
static void append_audit(const json_t *audit, GString *text) {
    g_autofree char *lines = show_count(field_number(audit, "lines"), "line", "lines");
    const char *command;
    json_t *n;
    g_string_append_printf(text, " The audit log has %s.", lines);
    if (field_number(audit, "refused") > 0)
        g_string_append_printf(text, " %.0f were refused by the NameNode, and are left out.",
                               field_number(audit, "refused"));
    if (field_number(audit, "later") > 0)
        g_string_append_printf(text, " %.0f are past the duration.", field_number(audit, "later"));
    if (field_number(audit, "other_lines") > 0)
        g_string_append_printf(text, " %.0f are of other loggers.", field_number(audit, "other_lines"));
    guint i = 0;
    json_object_foreach((json_t *)field_object(audit, "left_out"), command, n) {
        g_autofree char *clean = g_strescape(command, NULL);
        g_string_append_printf(text, "%s%" JSON_INTEGER_FORMAT " %s", i++ == 0 ? " No kind is like these: " : ", ",
                               json_integer_value(n), clean);
    }
    if (i > 0) g_string_append_c(text, '.');
}

void show_load_plan(const json_t *document, const ShowOptions *options, GString *out) {
    const Style *style = &options->style;
    g_autofree char *name = show_text(style, document, "plan");
    g_autofree char *operations = show_count(field_number(document, "operations"), "operation", "operations");
    const double all_ns = field_number(document, "duration_ns") + field_number(document, "warm_up_ns");
    g_autofree char *duration = unit_duration(style, all_ns, 1);
    g_autofree char *warm_up = unit_duration(style, field_number(document, "warm_up_ns"), 1);
    g_autofree char *rate = unit_per_s(field_number(document, "per_s"));
    g_autofree char *kinds = of_kinds(field_list(document, "kinds"));
    g_autofree char *fill = unit_bytes(field_number(document, "fill_bytes"));
    g_autofree char *files = show_count(field_number(document, "files"), "file", "files");
    g_autofree char *read = unit_bytes(field_number(document, "read_bytes"));
    g_autofree char *written = unit_bytes(field_number(document, "write_bytes"));

    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, "%s: %s in %s", name, operations, duration);
    if (field_number(document, "warm_up_ns") > 0)
        g_string_append_printf(text, ", of which the first %s are warm-up", warm_up);
    g_string_append_printf(text, "; %s in the mean (%s). ", rate, kinds);
    g_string_append_printf(text, "They read %s and write %s. Before it %s with %s %s made", read, written, files, fill,
                           field_number(document, "files") == 1 ? "is" : "are");
    const double cut = field_number(document, "files_cut");
    if (cut > 0) g_string_append_printf(text, ", of which %.0f would be larger and are cut (--max-file)", cut);
    g_string_append_c(text, '.');
    if (field_present(document, "audit")) append_audit(field_object(document, "audit"), text);
    paragraph_append(style, 0, text->str, out);
}

/* ---- a run ---- */

static char *duration_of(const Style *style, const json_t *object, const char *field) {
    return unit_duration(style, field_number(object, field), 1000);
}

static const char *end_text(const char *end) {
    if (strcmp(end, "interrupted") == 0) return "It was interrupted";
    if (strcmp(end, "errors") == 0) return "It was stopped, for too many operations failed";
    if (strcmp(end, "latency") == 0) return "It was stopped, for its p99 was too long (--max-p99)";
    if (strcmp(end, "lag") == 0) return "It was stopped, for operations began too late";
    if (strcmp(end, "result") == 0) return "It was stopped, for its result could not be written";
    if (strcmp(end, "bytes") == 0) return "It was stopped, for it had read and written --max-bytes";
    if (strcmp(end, "space") == 0) return "It was stopped, for HDFS had less than --min-free left";
    return "It has no end: the executor was killed";
}

/* To the second: Java writes nine digits more. */
static char *started_text(const Style *style, const json_t *head) {
    char *text = show_text(style, head, "started"), *fraction = strchr(text, '.');
    if (fraction != NULL) g_strlcpy(fraction, "Z", strlen(fraction) + 1);
    return text;
}

static void show_head(const json_t *document, const Style *style, GString *out) {
    const json_t *head = field_object(document, "head");
    g_autofree char *name = show_text(style, document, "result"), *host = show_text(style, head, "host");
    g_autofree char *hadoop = show_text(style, head, "hadoop"), *folder = show_text(style, head, "folder");
    g_autofree char *started = started_text(style, head), *preset = show_text(style, head, "plan-preset");
    g_autofree char *gaps = show_text(style, head, "plan-gaps"), *mix = show_text(style, head, "plan-mix");
    g_autofree char *seed = show_text(style, head, "plan-seed");
    const gboolean even = field_present(head, "plan-rate");
    g_autofree char *rate = show_text(style, head, even ? "plan-rate" : "plan-alpha");
    g_autofree char *speed = show_text(style, head, "plan-speed");
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, "%s: begun %s on %s, Hadoop %s, %s. ", name, started, host, hadoop, folder);
    if (strcmp(field_text(head, "plan-preset"), "audit") == 0)
        g_string_append_printf(text, "The plan: of an audit log, at %s times its speed, seed %s.", speed, seed);
    else
        g_string_append_printf(text, "The plan: preset %s, %s %s, gaps %s, seed %s, mix %s.", preset,
                               even ? "rate" : "alpha", rate, gaps, seed, mix);
    if (strcmp(field_text(head, "new-client"), "yes") == 0) g_string_append(text, " Each operation had a new client.");
    paragraph_append(style, 0, text->str, out);
}

/* Of a run of several hosts: which of their results these are, and how their clocks differed. */
static void show_shares(const json_t *document, const Style *style, GString *out) {
    const json_t *hosts = field_list(document, "hosts"), *row;
    const char *share = field_text(json_array_get(hosts, 0), "share"), *slash = strchr(share, '/');
    const guint64 of = slash != NULL ? g_ascii_strtoull(slash + 1, NULL, 10) : 0;
    gsize i;
    if (json_array_size(hosts) == 0) return;

    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, "%zu of the %" G_GUINT64_FORMAT " hosts that shared the plan. ",
                           json_array_size(hosts), of);
    json_array_foreach((json_t *)hosts, i, row) {
        g_autofree char *host = show_text(style, row, "host");
        g_autofree char *behind = unit_duration_signed(style, field_number(row, "clock_behind_ns"), 1000);
        g_autofree char *uncertain = duration_of(style, row, "clock_uncertain_ns");
        g_string_append_printf(text, "%s%s (its clock %s behind the NameNode's, known to %s)", i > 0 ? ", " : "", host,
                               behind, uncertain);
    }
    g_string_append(text, ". They began at one time of the NameNode, as well as they know it.");
    if (json_array_size(hosts) < of) g_string_append(text, " The report lacks the others: name their results, too.");
    paragraph_append(style, 0, text->str, out);
}

/* The caveat stands before the figures that it is about. */
static void show_closed(const json_t *document, const Style *style, GString *out) {
    g_autofree char *workers = show_text(style, field_object(document, "head"), "closed");
    g_autofree char *text = g_strdup_printf(
        "A closed loop of %s: each worker begins an operation when its last one has ended, and latency counts from "
        "that begin. While the cluster is slow it is asked for less, so most of what would have waited is missing here "
        "(coordinated omission). These latencies are too short for any load that does not wait; the rate is what these "
        "workers reach.",
        workers);
    paragraph_append(style, 0, text, out);
}

static void show_sessions(const json_t *document, const Style *style, GString *out) {
    const json_t *head = field_object(document, "head");
    if (!field_present(head, "plan-session") || field_true(document, "closed")) return;
    g_autofree char *n = show_text(style, head, "plan-session");
    g_autofree char *text = g_strdup_printf(
        "Sessions of %s: a session comes when the plan says, and each of its operations is due when the one before has "
        "ended. So while the cluster is slow, fewer are due than the plan has.",
        n);
    paragraph_append(style, 0, text, out);
}

static void show_rate(const json_t *document, const Style *style, GString *out) {
    g_autofree char *asked = unit_per_s(field_number(document, "asked_per_s"));
    g_autofree char *achieved = unit_per_s(field_number(document, "achieved_per_s"));
    g_autofree char *due = show_count(field_number(document, "due"), "operation", "operations");
    g_autofree char *done = unit_count(field_number(document, "done"));
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, "%s were %s in %.4g s (%s); %s ended well (%s).", due,
                           field_true(document, "closed") ? "begun" : "due", field_number(document, "seconds"), asked,
                           done, achieved);
    const json_t *late = field_object(document, "handed_on_late");
    if (late != NULL && !field_true(document, "closed")) {
        g_autofree char *p50 = duration_of(style, late, "p50_ns"), *p99 = duration_of(style, late, "p99_ns");
        g_autofree char *wait = duration_of(style, field_object(document, "waited_for_thread"), "p99_ns");
        g_string_append_printf(
            text,
            " The generator was %s late in the median, %s at the 99th percentile; until an operation "
            "began, %s.",
            p50, p99, wait);
    }
    paragraph_append(style, 0, text->str, out);

    g_autoptr(GString) wrong = g_string_new(NULL);
    if (field_true(document, "generator_late"))
        g_string_append(wrong, "The generator was late by more than a tenth of the latencies: they are of its host as "
                               "much as of HDFS. Use a lower rate, or a faster host. ");
    const char *end = field_text(document, "end");
    if (strcmp(end, "done") != 0) g_string_append_printf(wrong, "%s. ", end_text(end));
    if (field_number(document, "missing") > 0)
        g_string_append_printf(wrong, "Of %.0f operations that were due there is no result. ",
                               field_number(document, "missing"));
    if (field_number(document, "damaged_records") > 0)
        g_string_append_printf(wrong, "%.0f records of the file are damaged, and left out. ",
                               field_number(document, "damaged_records"));
    if (wrong->len > 0) paragraph_append(style, 0, g_strchomp(wrong->str), out);
}

/* "2.1 ms (1.9 ms to 2.4 ms)"; without an upper end "(from 1.9 ms)". */
static char *with_interval(const Style *style, const json_t *quantile) {
    g_autofree char *value = duration_of(style, quantile, "ns"), *low = duration_of(style, quantile, "low_ns");
    if (!json_is_integer(json_object_get(quantile, "high_ns"))) return g_strdup_printf("%s (from %s)", value, low);
    g_autofree char *high = duration_of(style, quantile, "high_ns");
    return g_strdup_printf("%s (%s to %s)", value, low, high);
}

static const TableColumn kind_columns[] = {
    {.head = "kind", .left = TRUE},
    {.head = "ended"},
    {.head = "failed"},
    {.head = "per s", .drop = 4},
    {.head = "mean", .drop = 3},
    {.head = "p50 (95 %)"},
    {.head = "p90", .drop = 2},
    {.head = "p99 (95 %)"},
    {.head = "p99.9", .drop = 1},
    {.head = "max"},
    {.head = "service p99", .drop = 5},
};

static void show_kind(const json_t *kind, const Style *style, Table *table) {
    const json_t *latency = field_object(kind, "latency");
    const double failed = field_number(kind, "failed") + field_number(kind, "unfinished");
    table_cell(table, show_text(style, kind, "kind"), COLOUR_BOLD);
    table_cell(table, unit_count(field_number(kind, "operations") - failed), COLOUR_NONE);
    table_cell(table, unit_count(failed), failed > 0 ? COLOUR_RED : COLOUR_DIM);
    table_cell(table, unit_per_s(field_number(kind, "per_s")), COLOUR_NONE);
    if (latency == NULL) {
        for (guint i = 4; i < G_N_ELEMENTS(kind_columns); i++) table_cell(table, g_strdup("-"), COLOUR_DIM);
        return;
    }
    table_cell(table, duration_of(style, latency, "mean_ns"), COLOUR_NONE);
    table_cell(table, with_interval(style, field_object(latency, "p50")), COLOUR_NONE);
    table_cell(table, duration_of(style, field_object(latency, "p90"), "ns"), COLOUR_NONE);
    table_cell(table, with_interval(style, field_object(latency, "p99")), COLOUR_NONE);
    table_cell(table, duration_of(style, field_object(latency, "p999"), "ns"), COLOUR_NONE);
    table_cell(table, duration_of(style, latency, "max_ns"), COLOUR_NONE);
    table_cell(table, duration_of(style, field_object(kind, "service"), "p99_ns"), COLOUR_NONE);
}

static void show_kinds(const json_t *document, const Style *style, GString *out) {
    gsize i;
    const json_t *kind;
    g_autoptr(Table) table = table_new(style, kind_columns, G_N_ELEMENTS(kind_columns));
    json_array_foreach((json_t *)field_list(document, "kinds"), i, kind) show_kind(kind, style, table);
    g_string_append_c(out, '\n');
    table_print(table, out);
}

static void show_errors(const json_t *document, const Style *style, GString *out) {
    gsize i;
    const json_t *error;
    const json_t *errors = field_list(document, "errors");
    if (json_array_size(errors) > 0) g_string_append(out, "\nWhat failed, with the first message of its class:\n");
    json_array_foreach((json_t *)errors, i, error) {
        g_autofree char *count = unit_count(field_number(error, "operations"));
        g_autofree char *text = show_text(style, error, "error");
        g_autofree char *line = g_strdup_printf("%s x %s", count, text);
        paragraph_append(style, 2, line, out);
    }
}

static const TableColumn slow_columns[] = {
    {.head = "slowest", .left = TRUE},
    {.head = "operation", .drop = 1},
    {.head = "due at"},
    {.head = "latency"},
    {.head = "service"},
    {.head = "trace", .left = TRUE},
};

static void show_slowest(const json_t *document, const Style *style, GString *out) {
    gsize i;
    const json_t *slow;
    gboolean traced = FALSE;
    const json_t *list = field_list(document, "slowest");
    if (json_array_size(list) == 0) return;

    g_autoptr(Table) table = table_new(style, slow_columns, G_N_ELEMENTS(slow_columns));
    json_array_foreach((json_t *)list, i, slow) {
        const gboolean unfinished = field_true(slow, "unfinished");
        g_autofree char *latency = duration_of(style, slow, "latency_ns");
        traced = traced || field_present(slow, "trace");
        table_cell(table, show_text(style, slow, "kind"), COLOUR_NONE);
        table_cell(table, unit_count(field_number(slow, "operation")), COLOUR_NONE);
        table_cell(table, g_strdup_printf("%.3f s", field_number(slow, "due_ns") / 1e9), COLOUR_NONE);
        table_cell(table, g_strdup_printf("%s%s", unfinished ? "> " : "", latency), COLOUR_NONE);
        table_cell(table, duration_of(style, slow, "service_ns"), COLOUR_NONE);
        table_cell(table, show_text(style, slow, "trace"), COLOUR_NONE);
    }

    g_string_append_c(out, '\n');
    table_print(table, out);
    if (traced) g_string_append(out, "plumb trace ID shows where the time of one went.\n");
}

/* ---- two runs ---- */

static const TableColumn change_columns[] = {
    {.head = "kind", .left = TRUE},
    {.head = "quantile", .left = TRUE},
    {.head = "before"},
    {.head = "after"},
    {.head = "ratio"},
    {.head = "", .left = TRUE},
};

static void show_changes(const json_t *document, const Style *style, GString *out) {
    gsize i;
    const json_t *change;
    g_autoptr(Table) table = table_new(style, change_columns, G_N_ELEMENTS(change_columns));
    json_array_foreach((json_t *)field_list(document, "changes"), i, change) {
        const char *verdict = field_text(change, "verdict");
        const Colour colour = strcmp(verdict, "slower") == 0   ? COLOUR_RED
                              : strcmp(verdict, "faster") == 0 ? COLOUR_GREEN
                                                               : COLOUR_DIM;
        table_cell(table, show_text(style, change, "kind"), COLOUR_BOLD);
        table_cell(table, show_text(style, change, "quantile"), COLOUR_NONE);
        table_cell(table, duration_of(style, change, "before_ns"), COLOUR_NONE);
        table_cell(table, duration_of(style, change, "after_ns"), COLOUR_NONE);
        table_cell(table, g_strdup_printf("%.2f", field_number(change, "ratio")), COLOUR_NONE);
        table_cell(table, g_strdup(verdict), colour);
    }

    g_string_append_c(out, '\n');
    table_print(table, out);
    paragraph_append(style, 0,
                     "Slower or faster: the intervals of the two runs do not meet. One run each says nothing of how "
                     "runs differ among themselves: repeat them.",
                     out);
    if (!field_true(document, "same_loop"))
        paragraph_append(
            style, 0,
            "One of them was a closed loop: its latencies lack what waited while the cluster was slow, and "
            "say nothing against those of the other.",
            out);
    if (!field_true(document, "same_plan"))
        paragraph_append(style, 0, "The two runs had different plans: what differs may be the load.", out);
}

void show_load_report(const json_t *document, const ShowOptions *options, GString *out) {
    const Style *style = &options->style;
    if (field_present(document, "changes")) {
        const ShowOptions plain = *options;
        show_load_report(field_object(document, "before"), &plain, out);
        g_string_append_c(out, '\n');
        show_load_report(field_object(document, "after"), &plain, out);
        show_changes(document, style, out);
        return;
    }
    g_autofree char *verdict = show_load_verdict(document, style);
    if (verdict != NULL) paragraph_append(style, 0, verdict, out);
    show_head(document, style, out);
    if (field_true(document, "closed")) show_closed(document, style, out);
    show_sessions(document, style, out);
    show_shares(document, style, out);
    show_rate(document, style, out);
    show_kinds(document, style, out);
    show_load_waited(document, style, out);
    show_errors(document, style, out);
    show_slowest(document, style, out);
}
