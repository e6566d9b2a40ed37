#include <string.h>

#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"
#include "common/base/clock.h"

#define LABEL_WIDTH 14

/* Takes text. */
static void line(GString *out, const char *label, char *text) {
    g_string_append_printf(out, "  %-*s  %s\n", LABEL_WIDTH, label, text);
    g_free(text);
}

static char *count_of(const json_t *object, const char *field) { return unit_count(field_number(object, field)); }

static char *bytes_of(const json_t *object, const char *field) { return unit_bytes(field_number(object, field)); }

static void append_damages(const json_t *damages, const Style *style, GString *out) {
    gsize i;
    const json_t *damage;
    json_array_foreach((json_t *)damages, i, damage) {
        g_autofree char *file = show_text(style, damage, "file"), *holds = show_text(style, damage, "holds");
        g_autofree char *since = unit_time(field_int(damage, "since_time_ns"), NS_PER_SEC);
        g_autofree char *lost = bytes_of(damage, "lost_bytes");
        if (strcmp(field_text(damage, "state"), "mended") == 0)
            line(out, "damaged", g_strdup_printf("%s, since %s: %s of %s are lost", file, since, lost, holds));
        else
            line(out, "cannot be read", g_strdup_printf("%s, since %s: %s are missing in answers", file, since, holds));
    }
}

static void append_store(const json_t *store, const ShowOptions *options, GString *out) {
    style_append(&options->style, COLOUR_BOLD, "Store", out);
    g_string_append_c(out, '\n');

    g_autofree char *traces = count_of(store, "traces");
    g_autofree char *incomplete = count_of(store, "incomplete_traces");
    line(out, "traces", g_strdup_printf("%s (%s incomplete)", traces, incomplete));
    line(out, "spans", count_of(store, "spans"));
    line(out, "patterns", count_of(store, "patterns"));
    line(out, "functions", count_of(store, "functions"));
    line(out, "hosts", count_of(store, "hosts"));

    g_autofree char *disk = bytes_of(store, "disk_bytes");
    g_autofree char *spare = bytes_of(store, "free_bytes");
    line(out, "disk",
         g_strdup_printf("%s, %.1f bytes per span; %s free", disk, field_number(store, "bytes_per_span"), spare));

    g_autofree char *first = unit_time(field_int(store, "first_time_ns"), NS_PER_SEC);
    g_autofree char *last = unit_time(field_int(store, "last_time_ns"), NS_PER_SEC);
    if (*first != '\0') line(out, "period", g_strdup_printf("%s to %s", first, last));

    g_autofree char *duplicates = count_of(store, "duplicates");
    g_autofree char *late = count_of(store, "late_spans");
    line(out, "since opened", g_strdup_printf("%s repeated spans, %s late spans", duplicates, late));
    append_damages(field_list(store, "unreadable"), &options->style, out);
    g_autofree char *waiting = count_of(store, "late_spans_waiting");
    if (field_number(store, "late_spans_waiting") > 0)
        line(out, "waiting", g_strdup_printf("%s late spans: stored, not in statistics yet", waiting));
}

/* "queue full 12, no receiver 3"; a new string, "" for none. */
static char *reasons(const Style *style, const json_t *counts) {
    GString *out = g_string_new(NULL);
    const char *reason;
    const json_t *value;
    json_object_foreach((json_t *)counts, reason, value) {
        g_autofree char *clean = text_clean(style, reason);
        g_autofree char *count = unit_count(json_number_value(value));
        g_string_append_printf(out, "%s%s %s", out->len > 0 ? ", " : "", clean, count);
    }
    return g_string_free(out, FALSE);
}

static void append_closed(const json_t *receiver, const Style *style, GString *out) {
    g_autofree char *why = reasons(style, field_object(receiver, "closed_traces"));
    g_autofree char *early = count_of(receiver, "closed_early");
    line(out, "closed", g_strdup_printf("%s%s%s early", why, *why != '\0' ? "; " : "", early));
}

/* "127.0.0.1:9410, this machine only, no TLS, no login" */
static char *port_text(const Style *style, const json_t *port) {
    const gboolean insecure = field_true(port, "insecure");
    GString *text = g_string_new(NULL);
    char *address = show_text(style, port, "address");
    g_string_append_printf(text, "%s, ", address);
    g_free(address);
    if (insecure)
        style_append(style, COLOUR_RED, "INSECURE: open to other hosts (listen.insecure)", text);
    else
        g_string_append(text, field_true(port, "loopback") ? "this machine only" : "open to other hosts");
    g_string_append(text, field_true(port, "tls") ? ", TLS, " : ", no TLS, ");

    const json_t *logins = field_list(port, "logins");
    gsize i;
    const json_t *login;
    json_array_foreach((json_t *)logins, i, login) {
        const char *way = json_string_value(login);
        g_autofree char *clean = text_clean(style, g_strcmp0(way, "kerberos") == 0 ? "Kerberos" : way);
        g_string_append_printf(text, "%s%s", i > 0 ? " or " : "login by ", clean);
    }
    if (json_array_size(logins) == 0) g_string_append(text, "no login");
    return g_string_free(text, FALSE);
}

static void append_ports(const json_t *receiver, const Style *style, GString *out) {
    gsize i;
    const json_t *port;
    json_array_foreach((json_t *)field_list(receiver, "ports"), i, port) {
        g_autofree char *name = show_text(style, port, "port");
        g_autofree char *label = g_strdup_printf("port %s", name);
        line(out, label, port_text(style, port));
    }
}

static void append_flow(const json_t *receiver, const ShowOptions *options, GString *out) {
    const Style *style = &options->style;
    g_autofree char *received = count_of(receiver, "spans_received");
    g_autofree char *batches = count_of(receiver, "batches");
    g_autofree char *bytes = bytes_of(receiver, "bytes_received");
    line(out, "received", g_strdup_printf("%s spans in %s batches, %s", received, batches, bytes));

    g_autofree char *rate = unit_per_s(field_number(receiver, "spans_per_s"));
    g_autofree char *waits = show_count(field_number(receiver, "try_later"), "batch", "batches");
    line(out, "rate", g_strdup_printf("%s (last 10 s); %s told to wait", rate, waits));
    line(out, "connections", count_of(receiver, "connections"));

    g_autofree char *open_traces = count_of(receiver, "open_traces");
    g_autofree char *open_spans = count_of(receiver, "open_spans");
    g_autofree char *open_bytes = bytes_of(receiver, "open_bytes");
    line(out, "open", g_strdup_printf("%s traces, %s spans, %s", open_traces, open_spans, open_bytes));
    if (field_number(receiver, "open_spilled_bytes") > 0) {
        g_autofree char *spilled = count_of(receiver, "open_spilled_spans");
        g_autofree char *spilled_bytes = bytes_of(receiver, "open_spilled_bytes");
        line(out, "on disk", g_strdup_printf("%s of these spans, %s", spilled, spilled_bytes));
    }
    if (field_number(receiver, "queued_bytes") > 0) line(out, "queued", bytes_of(receiver, "queued_bytes"));

    line(out, "lag", unit_duration(style, field_number(receiver, "lag_ns"), NS_PER_MS));
    line(out, "journal", bytes_of(receiver, "journal_bytes"));
    append_closed(receiver, style, out);

    g_autofree char *cpu = unit_duration(style, field_number(receiver, "cpu_ns"), 1);
    double spans = field_number(receiver, "spans_received");
    g_autofree char *each = unit_duration(style, spans > 0 ? field_number(receiver, "cpu_ns") / spans : 0, 1);
    line(out, "cpu", spans > 0 ? g_strdup_printf("%s, %s per span", cpu, each) : g_strdup(cpu));
    line(out, "memory", bytes_of(receiver, "rss_bytes"));
}

/* The topic that spans are read from; none: nothing. */
static void append_kafka(const json_t *receiver, const Style *style, GString *out) {
    const json_t *kafka = field_object(receiver, "kafka");
    if (kafka == NULL) return;
    const double refused = field_number(kafka, "refused_messages");
    g_autofree char *topic = show_text(style, kafka, "topic"), *state = show_text(style, kafka, "state");
    g_autofree char *messages = show_count(field_number(kafka, "messages"), "message", "messages");
    g_autofree char *partitions = show_count(field_number(kafka, "partitions"), "partition", "partitions");
    g_autofree char *lag = count_of(kafka, "lag_messages"), *skipped = unit_count(refused);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%s: %s; %s of %s, %s wait", topic, state, messages, partitions, lag);
    if (refused > 0) g_string_append_printf(text, ", %s skipped (see the log)", skipped);
    line(out, "kafka", g_string_free(text, FALSE));
}

/* Of the dictionary; only where it is worth a look. */
static void append_names(const json_t *receiver, GString *out) {
    const json_t *names = field_object(receiver, "names");
    const double full = field_number(names, "full");
    if (full < 0.5 && field_number(names, "folded") == 0) return;
    g_autofree char *entries = count_of(names, "entries");
    g_autofree char *folded = count_of(names, "folded");
    line(out, "names", g_strdup_printf("%s, %.0f %% of what there may be, %s folded", entries, full * 100, folded));
}

/* Who asked or sent more than a quota allows; the first of them, since who it is most often comes first. */
static void append_quotas(const json_t *rows, const Style *style, GString *out) {
    enum { SHOWN = 5 };
    gsize i;
    const json_t *row;
    json_array_foreach((json_t *)rows, i, row) {
        if (i == SHOWN) break;
        g_autofree char *who = show_text(style, row, "who");
        g_autofree char *refused = reasons(style, field_object(row, "refused"));
        line(out, "over quota", g_strdup_printf("%s: %s", who, refused));
    }
    if (json_array_size(rows) > SHOWN)
        line(out, "", g_strdup_printf("and %zu more: plumb status --json", json_array_size(rows) - SHOWN));
}

/* What was lost or damaged; the last ones are rare enough to be shown only where they are. */
static void append_losses(const json_t *receiver, const ShowOptions *options, GString *out) {
    static const char *const fields[] = {"refused", "rejected_frames", "refused_connections"};
    static const char *const labels[] = {"refused spans", "bad frames", "refused peers"};
    for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
        g_autofree char *text = reasons(&options->style, field_object(receiver, fields[i]));
        line(out, labels[i], g_strdup(*text != '\0' ? text : "none"));
    }

    append_quotas(field_list(receiver, "over_quota"), &options->style, out);
    append_names(receiver, out);
    g_autofree char *http = reasons(&options->style, field_object(receiver, "rejected_http"));
    if (*http != '\0') line(out, "refused HTTP", g_strdup(http));

    static const char *const rare[] = {"recovered_spans", "journal_damages", "spans_set_aside", "judgements_refused",
                                       "foreign_names"};
    static const char *const rare_labels[] = {"recovered", "damaged places", "set aside", "hosts", "foreign names"};
    static const char *const rare_texts[] = {"spans, from the journal at the start", "in the journal",
                                             "spans that the store would not take",
                                             "times not judged: what was found last stands, see the log",
                                             "batches under a name that is another principal's, see the log"};
    for (guint i = 0; i < G_N_ELEMENTS(rare); i++) {
        if (field_number(receiver, rare[i]) == 0) continue;
        g_autofree char *count = count_of(receiver, rare[i]);
        line(out, rare_labels[i], g_strdup_printf("%s %s", count, rare_texts[i]));
    }
}

static void append_receiver(const json_t *receiver, const ShowOptions *options, GString *out) {
    const Style *style = &options->style;
    g_string_append_c(out, '\n');
    style_append(style, COLOUR_BOLD, "Receiver", out);
    g_string_append_c(out, '\n');

    gboolean ready = field_true(receiver, "ready");
    g_autofree char *reason = show_text(style, receiver, "reason");
    g_autofree char *uptime = unit_duration(style, field_number(receiver, "uptime_ns"), NS_PER_SEC);
    GString *state = g_string_new(NULL);
    style_append(style, ready ? COLOUR_GREEN : COLOUR_RED, ready ? "ready" : "not ready", state);
    if (!ready && *reason != '\0') g_string_append_printf(state, ": %s", reason);
    g_string_append_printf(state, ", up %s", uptime);
    line(out, "state", g_string_free(state, FALSE));

    if (json_object_get(receiver, "recovering") != NULL)
        line(out, "recovering",
             g_strdup_printf("%u %% of what the journal held at the start; answers lack the rest",
                             (guint)(100 * field_number(receiver, "recovering"))));

    append_ports(receiver, style, out);
    append_flow(receiver, options, out);
    append_kafka(receiver, style, out);
    append_losses(receiver, options, out);
    char *sampling = show_text(style, receiver, "sampling");
    if (*sampling == '\0') g_free(g_steal_pointer(&sampling));
    line(out, "sampling", sampling != NULL ? sampling : g_strdup("as each sender is configured"));

    show_accounts(field_object(receiver, "accounting"), options, out);
    show_status_senders(field_list(receiver, "senders"), options, out);
}

void show_status(const json_t *document, const ShowOptions *options, GString *out) {
    g_autofree char *version = show_text(&options->style, document, "version");
    if (*version != '\0') g_string_append_printf(out, "Plumbline %s\n\n", version);
    append_store(field_object(document, "store"), options, out);
    const json_t *receiver = field_object(document, "receiver");
    if (receiver != NULL) append_receiver(receiver, options, out);
}
