/* The senders of `plumb status`. Processes of one name on one host are one row: who runs `hdfs dfs` in a loop would
 * else have a row for each of its commands. */
#include <string.h>

#include "analyzer/cli/format/table.h"
#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"
#include "common/base/clock.h"

/* What follows one another in the list and is of one name and host. */
typedef struct Group {
    guint processes;
    double sent, queued, dropped;
    gint64 last_seen_ns;
    json_t *drops; /* {reason: spans}, of all of them */
} Group;

/* Bytes of "DataNode/10.0.3.17" in "DataNode/10.0.3.17/4242@1605956000123"; all of it where it does not end so. */
static gsize shared_length(const char *sender) {
    const char *last = strrchr(sender, '/');
    const gboolean process = last != NULL && last[1] != '\0' && strspn(last + 1, "0123456789@") == strlen(last + 1);
    return process ? (gsize)(last - sender) : strlen(sender);
}

static gboolean same_group(const char *a, const char *b) {
    const gsize length = shared_length(a);
    return length == shared_length(b) && memcmp(a, b, length) == 0;
}

static void add_drops(const json_t *drops, Group *group) {
    const char *reason;
    const json_t *value;
    json_object_foreach((json_t *)drops, reason, value) {
        const double spans = json_number_value(value);
        group->dropped += spans;
        json_object_set_new(group->drops, reason, json_real(field_number(group->drops, reason) + spans));
    }
}

static gint64 last_seen_of(const json_t *sender) { return field_int(sender, "last_seen_time_ns"); }

/* What a process had queued when it was seen last does not count a minute later: it may have ended. The group's
 * last_seen_ns is that of all of it already. */
static void add_sender(const json_t *sender, Group *group) {
    group->processes++;
    group->sent += field_number(sender, "spans_sent");
    if (group->last_seen_ns - last_seen_of(sender) <= NS_PER_MINUTE)
        group->queued += field_number(sender, "spans_queued");
    add_drops(field_object(sender, "drops"), group);
}

static char *group_name(const Style *style, const json_t *first, guint processes) {
    char *name = show_text(style, first, "sender");
    if (processes == 1) return name;
    g_autofree char *whole = name;
    return g_strdup_printf("%.*s: %u processes", (int)shared_length(whole), whole, processes);
}

/* Below the sender, since what was lost and why must not fall to a narrow terminal. */
static void append_drops(const Style *style, const json_t *drops, Table *table) {
    const char *reason;
    const json_t *value;
    json_object_foreach((json_t *)drops, reason, value) {
        g_autofree char *clean = text_clean(style, reason);
        g_autofree char *count = unit_count(json_number_value(value));
        table_line(table, g_strdup_printf("  %s dropped: %s", count, clean), COLOUR_RED);
    }
}

static void append_group(const Style *style, const json_t *first, const Group *group, Table *table) {
    table_cell(table, group_name(style, first, group->processes), COLOUR_NONE);
    table_cell(table, unit_count(group->sent), COLOUR_NONE);
    table_cell(table, unit_count(group->queued), COLOUR_NONE);
    table_cell(table, unit_count(group->dropped), group->dropped > 0 ? COLOUR_RED : COLOUR_NONE);
    table_cell(table, unit_time(group->last_seen_ns, NS_PER_SEC), COLOUR_NONE);
    append_drops(style, group->drops, table);
}

void show_status_senders(const json_t *senders, const ShowOptions *options, GString *out) {
    static const TableColumn columns[] = {{"sender", TRUE, 24, 0},
                                          {"sent", FALSE, 0, 0},
                                          {"queued", FALSE, 0, 2},
                                          {"dropped", FALSE, 0, 0},
                                          {"last seen", TRUE, 0, 1}};
    const gsize n = json_array_size(senders);
    if (n == 0) return;
    g_string_append_c(out, '\n');

    g_autoptr(Table) table = table_new(&options->style, columns, G_N_ELEMENTS(columns));
    gboolean grouped = FALSE;
    for (gsize i = 0; i < n;) {
        const json_t *first = json_array_get(senders, i);
        const char *name = field_text(first, "sender");
        Group group = {.drops = json_object()};
        gsize end = i;
        for (; end < n && same_group(name, field_text(json_array_get(senders, end), "sender")); end++)
            group.last_seen_ns = MAX(group.last_seen_ns, last_seen_of(json_array_get(senders, end)));
        while (i < end) add_sender(json_array_get(senders, i++), &group);
        append_group(&options->style, first, &group, table);
        grouped |= group.processes > 1;
        json_decref(group.drops);
    }

    table_print(table, out);
    if (grouped) g_string_append(out, "Each process: plumb status --senders\n");
}
