#include "analyzer/cli/show/why_text.h"

#include <string.h>

#include "analyzer/cli/format/paragraph.h"
#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/tree_lines.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show_spell.h"
#include "common/base/clock.h"

/* "the disk of", what was waited for. */
static const char *resource_text(const json_t *suspect) {
    static const char *const texts[][2] = {{"client", "the work of"},     {"network", "the network to"},
                                           {"disk", "the disk of"},       {"lock", "the lock of"},
                                           {"socket", "the socket of"},   {"queue", "the call queue of"},
                                           {"server", "the processor of"}};
    const char *resource = field_text(suspect, "resource"), *function = field_text(suspect, "function");
    const gboolean client = strcmp(field_text(suspect, "role"), "client") == 0;
    if (client && strcmp(resource, "disk") == 0) return "the local disk of";
    if (strcmp(function, "SaslDataTransferClient#doSaslHandshake") == 0) return "the handshakes of";
    if (client && g_str_has_suffix(function, "#sleep")) return "a pause before another try of";
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        if (strcmp(resource, texts[i][0]) == 0) return texts[i][1];
    return resource;
}

/* Nobody was seen to work, and it is not known on whom the client waited. */
static char *unknown_text(const json_t *suspect) {
    const char *function = field_text(suspect, "function");
    const gboolean asks_namenode =
        g_str_has_prefix(function, "ClientNamenodeProtocol#") || g_str_has_prefix(function, "ClientProtocol#");
    return g_strdup(asks_namenode ? "the NameNode, whose side of the call is not in the trace"
                                  : "nobody who is seen in the trace (unexplained)");
}

/* "DataNode d2"; NULL: it is not known who. A new string. */
static char *host_text(const Style *style, const json_t *suspect) {
    static const char *const roles[][2] = {{"namenode", "NameNode"},
                                           {"datanode", "DataNode"},
                                           {"journalnode", "JournalNode"},
                                           {"client", "client"},
                                           {"local", "process"}};
    const char *role = field_text(suspect, "role");
    for (gsize i = 0; i < G_N_ELEMENTS(roles); i++) {
        if (strcmp(role, roles[i][0]) != 0 || !field_present(suspect, "host")) continue;
        g_autofree char *host = show_text(style, suspect, "host");
        return g_strdup_printf("%s %s", roles[i][1], host);
    }
    return NULL;
}

char *why_whom(const Style *style, const json_t *suspect) {
    g_autofree char *host = host_text(style, suspect);
    if (!host) return unknown_text(suspect);
    const gboolean sleeps = strcmp(field_text(suspect, "function"), "completeFile") == 0 &&
                            strcmp(field_text(suspect, "resource"), "client") == 0;
    if (sleeps) return g_strdup_printf("a late report of a block, for which %s slept", host);
    return g_strdup_printf("%s %s", resource_text(suspect), host);
}

/* A server's own work is its processor's. */
static const char *part_text(const char *resource) { return strcmp(resource, "server") == 0 ? "processor" : resource; }

char *why_whose(const Style *style, const json_t *suspect) {
    g_autofree char *host = host_text(style, suspect);
    g_autofree char *resource = text_clean(style, part_text(field_text(suspect, "resource")));
    return g_strdup_printf("%s, whose %s is slow", host ? host : "a process", resource);
}

char *why_split(const Style *style, const json_t *resources_ns, double all_ns) {
    GString *text = g_string_new(NULL);
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)resources_ns, name, value) {
        g_autofree char *resource = text_clean(style, part_text(name));
        g_string_append_printf(text, "%s%.0f %% %s", text->len > 0 ? ", " : "",
                               100 * json_number_value(value) / MAX(all_ns, 1), resource);
    }
    return g_string_free(text, FALSE);
}

char *why_times(const json_t *suspect) {
    const double times = field_number(suspect, "times_normal");
    if (!field_present(suspect, "times_normal")) return g_strdup("");
    const gboolean before = strcmp(field_text(suspect, "compared_with"), "day before") == 0;
    return g_strdup_printf(times < 10 ? ", %.1f times %s" : ", %.0f times %s", times,
                           before ? "what it took there in the 24 hours before" : "what it takes on other hosts");
}

char *why_spell(const Style *style, const json_t *suspect) {
    static const char *const texts[][2] = {{"disk-read", "reading from its disk"},
                                           {"disk-write", "writing to its disk"},
                                           {"transfer", "sending from its disk"},
                                           {"network", "its network"},
                                           {"sending", "its network"},
                                           {"delivery", "its network"},
                                           {"client", "its own work"},
                                           {"client-network", "its network"},
                                           {"processor", "all that it does"},
                                           {"standstill", "its process, which stands still again and again,"},
                                           {"queue", "its call queue"},
                                           {"lock", "its lock"},
                                           {"edit-log", "its edit log"},
                                           {"journal", "writing the edit log to its disk"}};
    const json_t *spell = field_object(suspect, "spell");
    if (!spell) return g_strdup("");
    g_autofree char *class = show_text(style, spell, "class");
    g_autofree char *ends = spell_link(style, spell);
    g_autofree char *link = ends ? g_strdup_printf("the link %s", ends) : NULL;
    const char *what = link ? link : class;
    for (gsize i = 0; i < G_N_ELEMENTS(texts) && !link; i++)
        if (strcmp(class, texts[i][0]) == 0) what = texts[i][1];

    g_autofree char *begin = unit_time(field_int(spell, "begin_time_ns"), 60 * NS_PER_SEC);
    g_autofree char *end =
        field_present(spell, "end_time_ns") ? unit_time(field_int(spell, "end_time_ns"), 60 * NS_PER_SEC) : NULL;
    return end ? g_strdup_printf("%s was %.1f times slower than predicted from %s to %s", what,
                                 field_number(spell, "slowdown"), begin, end)
               : g_strdup_printf("%s has been %.1f times slower than predicted since %s", what,
                                 field_number(spell, "slowdown"), begin);
}

static void show_normal(const Style *style, const json_t *suspect, const char *field, const char *where, GString *out) {
    const json_t *normal = field_object(suspect, field);
    if (!normal) return;
    const gint64 resolution_ns = MAX(field_int(normal, "resolution_ns"), 1);
    g_autofree char *mean = unit_duration(style, field_number(normal, "mean_ns"), 1);
    g_autofree char *high = unit_duration(style, field_number(normal, "q95_ns"), resolution_ns);
    g_autofree char *calls = show_count(field_number(normal, "calls"), "call", "calls");
    g_autofree char *line = g_strdup_printf("%s: %s, mean %s, 95 %% within %s", where, calls, mean, high);
    paragraph_append_hanging(style, 4, line, out);
}

void why_normals(const Style *style, const json_t *suspect, GString *out) {
    show_normal(style, suspect, "normal_elsewhere", "on other hosts in that hour", out);
    show_normal(style, suspect, "normal_on_host", "there in that hour", out);
    show_normal(style, suspect, "normal_before", "there in the 24 hours before", out);
    const char *pace = field_text(suspect, "pace");
    if (strcmp(pace, "unknown") == 0)
        paragraph_append_hanging(
            style, 4, "whether that is slow is not known: there are no other calls of it to compare with", out);
}

void why_path(const Style *style, const json_t *path, GString *out) {
    static const TableColumn columns[] = {
        {"", TRUE, 20, 0}, {"host", TRUE, 0, 0}, {"start", FALSE, 0, 0}, {"time", FALSE, 0, 0}, {"self", FALSE, 0, 1}};

    const gsize n = json_array_size(path);
    g_autofree guint32 *depths = g_new(guint32, n);
    for (gsize k = 0; k < n; k++) depths[k] = (guint32)k;
    g_autoptr(TreeLines) lines = tree_lines_new(style, depths, n);
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));

    gsize i;
    const json_t *step;
    json_array_foreach((json_t *)path, i, step) {
        g_autofree char *line = tree_lines_next(lines);
        Colour colour = COLOUR_NONE;
        Role role;
        if (role_parse(field_text(step, "role"), &role)) colour = style->roles[role];
        table_cell_tree(table, g_strdup_printf("    %s", line), show_text(style, step, "function"), colour);
        table_cell(table, show_text(style, step, "host"), COLOUR_NONE);
        g_autofree char *offset = unit_duration(style, field_number(step, "offset_ns"), 1);
        table_cell(table, g_strdup_printf("+%s", offset), COLOUR_NONE);
        table_cell(table, unit_duration(style, field_number(step, "duration_ns"), 1), COLOUR_NONE);
        table_cell(table, unit_duration(style, field_number(step, "self_ns"), 1), COLOUR_NONE);
    }

    table_print(table, out);
}

char *why_silent(const Style *style, const json_t *silent) {
    g_autofree char *host = show_text(style, silent, "host");
    g_autofree char *since = unit_time(field_int(silent, "begin_time_ns"), NS_PER_MINUTE);
    g_autofree char *until = unit_time(field_int(silent, "end_time_ns"), NS_PER_MINUTE);
    return g_strdup_printf("%s did not answer: nothing is heard of it %s %s%s%s", host, until[0] ? "from" : "since",
                           since, until[0] ? " to " : "", until);
}
