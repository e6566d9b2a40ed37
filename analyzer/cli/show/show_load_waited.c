#include "analyzer/cli/show/show_load_waited.h"

#include <math.h>
#include <string.h>

#include "analyzer/cli/format/table.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/why_text.h"

#define SHOWN      10u
#define WAITS_SAID 4u
/* What is less than this is not said in words. */
#define SAID_LEAST 0.01

/* ---- in words ---- */

/* "the NameNode's call queue": of all processes with that role. */
static const char *place_text(const json_t *wait) {
    static const struct {
        const char *role, *resource, *text;
    } texts[] = {
        {"client", "client", "the client itself"},          {"client", "disk", "the client's own disk"},
        {"namenode", "queue", "the NameNode's call queue"}, {"namenode", "lock", "the NameNode's lock"},
        {"namenode", "disk", "the NameNode's edit log"},    {"namenode", "server", "the NameNode's processor"},
        {"journalnode", "disk", "the JournalNodes' disks"}, {"datanode", "queue", "the DataNodes' call queues"},
        {"datanode", "disk", "the DataNodes' disks"},       {"datanode", "socket", "the DataNodes' sockets"},
        {"datanode", "server", "the DataNodes' processors"}};
    const char *role = field_text(wait, "role"), *resource = field_text(wait, "resource");
    if (strcmp(resource, "network") == 0) return role[0] ? "waits at which nobody is seen to work" : "the network";
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        if (strcmp(role, texts[i].role) == 0 && strcmp(resource, texts[i].resource) == 0) return texts[i].text;
    return "other work";
}

/* "41 % (38 % to 44 %)"; without an interval where none is known. */
static char *share_text(const json_t *row) {
    const double share = 100 * field_number(row, "share");
    if (!field_present(row, "share_low")) return g_strdup_printf("%.0f %%", share);
    return g_strdup_printf("%.0f %% (%.0f %% to %.0f %%)", share, fmax(0, 100 * field_number(row, "share_low")),
                           fmin(100, 100 * field_number(row, "share_high")));
}

static void append_places(const json_t *waited, GString *text) {
    gsize i;
    const json_t *wait;
    json_array_foreach((json_t *)field_list(waited, "waits"), i, wait) {
        if (i == WAITS_SAID || field_number(wait, "share") < SAID_LEAST) break;
        g_autofree char *share = share_text(wait);
        g_string_append_printf(text, "%s%s %s", i > 0 ? ", " : "", place_text(wait), share);
    }
    g_string_append(text, ".");
}

/* The first call, or the first two where chance may have put the one before the other. */
static void append_calls(const json_t *waited, const Style *style, GString *text) {
    const json_t *calls = field_list(waited, "calls");
    const json_t *first = json_array_get(calls, 0), *second = json_array_get(calls, 1);
    g_autofree char *function = show_text(style, first, "function"), *whom = why_whom(style, first);
    g_autofree char *share = share_text(first);
    g_string_append_printf(text, " The greatest part of it was %s, in %s: %s.", whom, function, share);
    if (field_true(first, "decided") || second == NULL) return;
    g_autofree char *next = show_text(style, second, "function"), *whom_next = why_whom(style, second);
    g_autofree char *share_next = share_text(second);
    g_string_append_printf(text, " The next may be as great: %s, in %s, %s.", whom_next, next, share_next);
}

static gboolean has_servers(const json_t *waited) {
    const json_t *spans = field_object(waited, "spans");
    return field_present(spans, "namenode") || field_present(spans, "datanode");
}

char *show_load_verdict(const json_t *document, const Style *style) {
    const json_t *waited = field_object(document, "waited");
    if (waited == NULL) return NULL;
    if (field_present(waited, "error")) {
        g_autofree char *error = show_text(style, waited, "error");
        return g_strdup_printf("Whom the operations waited for is not known: %s (--server names the plumbd that has "
                               "their traces; --untraced asks none.)",
                               error);
    }
    if (json_array_size(field_list(waited, "calls")) == 0)
        return g_strdup("Whom the operations waited for is not known: plumbd has no traces of them.");

    g_autofree char *requests = show_count(field_number(waited, "requests"), "traced operation", "traced operations");
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "What %s waited for, by critical-path time: ", requests);
    append_places(waited, text);
    append_calls(waited, style, text);
    if (!has_servers(waited))
        g_string_append(text, " The servers are not traced: what they did counts as the network's, or as nobody's.");
    if (field_number(document, "waited_share") >= SAID_LEAST)
        g_string_append_printf(text, " Before that, %.0f %% of the latency passed until operations began.",
                               100 * field_number(document, "waited_share"));
    if (field_number(waited, "found") > field_number(waited, "requests"))
        g_string_append_printf(text, " These are %.0f of %.0f traces, evenly taken.", field_number(waited, "requests"),
                               field_number(waited, "found"));
    return g_string_free(text, FALSE);
}

/* ---- tables ---- */

static const TableColumn call_columns[] = {
    {.head = "waited for", .left = TRUE},
    {.head = "in", .left = TRUE, .elastic = 16, .drop = 1},
    {.head = "share (95 %)"},
    {.head = "time", .drop = 2},
};

static void show_calls(const json_t *waited, const Style *style, GString *out) {
    gsize i;
    const json_t *call;
    g_autoptr(Table) table = table_new(style, call_columns, G_N_ELEMENTS(call_columns));
    json_array_foreach((json_t *)field_list(waited, "calls"), i, call) {
        if (i == SHOWN) break;
        table_cell(table, field_present(call, "host") ? why_whom(style, call) : g_strdup("nobody who is seen"),
                   COLOUR_NONE);
        table_cell(table, show_text(style, call, "function"), COLOUR_NONE);
        table_cell(table, share_text(call), i == 0 ? COLOUR_BOLD : COLOUR_NONE);
        table_cell(table, unit_duration(style, field_number(call, "critical_ns"), 1000), COLOUR_NONE);
    }
    g_string_append_c(out, '\n');
    table_print(table, out);
}

static const TableColumn function_columns[] = {
    {.head = "function", .left = TRUE, .elastic = 24},
    {.head = "role", .left = TRUE, .drop = 2},
    {.head = "calls", .drop = 1},
    {.head = "mean (95 %)"},
    {.head = "critical path"},
};

static char *mean_text(const Style *style, const json_t *row) {
    g_autofree char *mean = unit_duration(style, field_number(row, "mean_ns"), 100);
    if (!field_present(row, "mean_ns_low")) return g_steal_pointer(&mean);
    g_autofree char *low = unit_duration(style, fmax(0, field_number(row, "mean_ns_low")), 100);
    g_autofree char *high = unit_duration(style, field_number(row, "mean_ns_high"), 100);
    return g_strdup_printf("%s (%s to %s)", mean, low, high);
}

static void show_functions_of(const json_t *waited, const Style *style, GString *out) {
    gsize i;
    const json_t *row;
    g_autoptr(Table) table = table_new(style, function_columns, G_N_ELEMENTS(function_columns));
    json_array_foreach((json_t *)field_list(waited, "functions"), i, row) {
        if (i == SHOWN) break;
        table_cell(table, show_text(style, row, "function"), COLOUR_NONE);
        table_cell(table, show_text(style, row, "role"), COLOUR_NONE);
        table_cell(table, unit_count(field_number(row, "calls")), COLOUR_NONE);
        table_cell(table, mean_text(style, row), COLOUR_NONE);
        table_cell(table, share_text(row), COLOUR_NONE);
    }
    g_string_append_c(out, '\n');
    table_print(table, out);
}

void show_load_waited(const json_t *document, const Style *style, GString *out) {
    const json_t *waited = field_object(document, "waited");
    if (json_array_size(field_list(waited, "calls")) == 0) return;
    show_calls(waited, style, out);
    show_functions_of(waited, style, out);
}
