/* Hosts that are slow, as "nodes" and "slow" tell of them. */
#include "analyzer/cli/show/show_spell.h"

#include <string.h>

#include "analyzer/cli/format/paragraph.h"
#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "common/base/clock.h"
#include "common/base/harmless.h"

#define INDENT 4u

static gboolean is(const json_t *object, const char *field, const char *text) {
    return strcmp(field_text(object, field), text) == 0;
}

char *spell_time(gint64 time_ns) { return unit_time(time_ns, NS_PER_MINUTE); }

char *spell_link(const Style *style, const json_t *spell) {
    const json_t *link = field_object(spell, "link");
    if (!link) return NULL;
    g_autofree char *from = show_text(style, link, "from"), *to = show_text(style, link, "to");
    return g_strdup_printf("%s %s %s", from, field_true(link, "both_ways") ? "<->" : "->", to);
}

char *spell_nodes(const Style *style, const json_t *spell) {
    g_autofree char *host = show_text(style, spell, "host"), *word = harmless_word(host);
    return g_strdup_printf("plumb nodes %s%s", *host == '-' ? "-- " : "", word);
}

/* "datanode2: disk", "link datanode2 -> datanode3: network", "all hosts: disk" */
static char *subject(const Style *style, const json_t *spell) {
    g_autofree char *layer = show_text(style, spell, "layer");
    if (field_true(spell, "all_hosts")) return g_strdup_printf("all hosts: %s", layer);
    g_autofree char *link = spell_link(style, spell);
    if (link) return g_strdup_printf("link %s: %s", link, layer);
    g_autofree char *host = show_text(style, spell, "host");
    return g_strdup_printf("%s: %s", host, layer);
}

static void show_head(const Style *style, const json_t *spell, guint number, GString *out) {
    g_autofree char *who = subject(style, spell), *since = spell_time(field_int(spell, "begin_time_ns"));
    g_autofree char *until = spell_time(field_int(spell, "end_time_ns"));
    g_autoptr(GString) text = g_string_new(NULL);
    if (number > 0) g_string_append_printf(text, "%u. ", number);
    g_string_append_printf(text, "%s, ", who);
    if (!is(spell, "class", "silent"))
        g_string_append_printf(text, "%.1f times slower than usual, ", field_number(spell, "slowdown"));
    if (field_present(spell, "end_time_ns"))
        g_string_append_printf(text, "from %s to %s", since, until);
    else
        g_string_append_printf(text, "since %s", since);

    g_autoptr(GString) lines = g_string_new(NULL);
    paragraph_append_hanging(style, 0, text->str, lines);
    style_append(style, COLOUR_BOLD, lines->str, out);
}

/* What it costs. */
static void add_cost(const Style *style, const json_t *spell, GString *text) {
    g_autofree char *lost = unit_duration(style, field_number(spell, "lost_ns"), 1);
    g_autofree char *waited = unit_duration(style, field_number(spell, "waited_ns"), 1);
    if (field_number(spell, "waited_ns") > 0)
        g_string_append_printf(text, "%s lost that somebody waited for, %s in all; ", waited, lost);
    else
        g_string_append_printf(text, "%s lost, for which nobody is known to have waited; ", lost);
}

static void add_evidence(const Style *style, const json_t *spell, GString *text) {
    g_autofree char *function = show_text(style, spell, "function"), *role = show_text(style, spell, "role");
    g_autofree char *calls = show_count(field_number(spell, "calls"), "call", "calls");
    g_autofree char *minutes = show_count(field_number(spell, "bad_minutes"), "minute", "minutes");
    if (is(spell, "class", "delivery") || is(spell, "class", "sending"))
        g_string_append(text, "what it had sent was long on its way to readers: ");
    if (*function) g_string_append_printf(text, "%s (%s), ", function, role);
    g_string_append_printf(text, "%s in %s", calls, minutes);
    if (is(spell, "measure", "tail")) g_string_append(text, ", few of them slow by much");
    g_string_append_printf(text, "; %.1f times what it usually varies by, compared with %s", field_number(spell, "z"),
                           is(spell, "compared", "itself") ? "its own past only" : "its own past and the other hosts");
    if (field_number(spell, "load_share") > 0.05)
        g_string_append_printf(text, "; its own load explains %.0f %%", 100 * field_number(spell, "load_share"));
    if (field_present(spell, "transfer_ns")) {
        g_autofree char *socket = unit_duration(style, field_number(spell, "socket_ns"), 1);
        g_autofree char *transfer = unit_duration(style, field_number(spell, "transfer_ns"), 1);
        g_string_append_printf(text, "; transfers waited %s for the socket, %s for the disk", socket, transfer);
    }
}

/* Who held the lock that was waited for. */
static void add_holder(const Style *style, const json_t *spell, GString *text) {
    const json_t *holder = field_object(spell, "holder");
    if (!holder) return;
    g_autofree char *function = show_text(style, holder, "function"), *lock = show_text(style, holder, "lock");
    g_autofree char *held = unit_duration(style, field_number(holder, "held_ns"), 1);
    g_autofree char *trace = show_text(style, holder, "trace");
    g_string_append_printf(text, "; %s held the %s lock for %s in the longest traces, as in %s", function, lock, held,
                           trace);
}

/* Why it is the link, and not one of its ends. */
static void add_link(const Style *style, const json_t *spell, GString *text) {
    const json_t *link = field_object(spell, "link");
    if (!link) return;
    g_autofree char *from = show_text(style, link, "from"), *to = show_text(style, link, "to");
    g_autofree char *transfers = show_count(field_number(link, "transfers"), "transfer", "transfers");
    g_autofree char *median = unit_duration(style, field_number(link, "median_ns"), 1);
    g_autofree char *to_others = unit_duration(style, field_number(link, "to_others_ns"), 1);
    g_autofree char *from_others = unit_duration(style, field_number(link, "from_others_ns"), 1);
    g_string_append_printf(text,
                           "; only that link: a MiB from %s to %s was waited for %s (median of %s), to others %s, "
                           "from others to %s %s (%.0f transfers)",
                           from, to, median, transfers, to_others, to, from_others,
                           field_number(link, "other_transfers"));
}

/* Of a host that is asked and does not answer. */
static void add_silence(const Style *style, const json_t *spell, GString *text) {
    g_autofree char *waited = unit_duration(style, field_number(spell, "waited_ns"), 1);
    g_autofree char *function = show_text(style, spell, "function"), *role = show_text(style, spell, "role");
    g_autofree char *minutes = show_count(field_number(spell, "bad_minutes"), "minute", "minutes");
    g_string_append_printf(text, "nothing is heard of it for %s; others waited %s more than usual meanwhile", minutes,
                           waited);
    if (*function) g_string_append_printf(text, ", mostly in %s (%s)", function, role);
}

static void show_next(const Style *style, const json_t *spell, GString *out) {
    const json_t *example = field_object(spell, "example");
    g_autoptr(GString) text = g_string_new("Next:");
    if (!example && !field_present(spell, "host")) return;
    if (example) {
        g_autofree char *trace = show_text(style, example, "trace");
        g_string_append_printf(text, " plumb trace %s", trace);
    }
    if (field_present(spell, "host")) {
        g_autofree char *nodes = spell_nodes(style, spell);
        g_string_append_printf(text, "%s %s", example ? ";" : "", nodes);
    }
    paragraph_append(style, INDENT, text->str, out);
}

void show_spell(const json_t *spell, guint number, const Style *style, GString *out) {
    g_autoptr(GString) text = g_string_new(NULL);
    show_head(style, spell, number, out);
    if (is(spell, "class", "silent")) {
        add_silence(style, spell, text);
    } else {
        add_cost(style, spell, text);
        add_evidence(style, spell, text);
        add_holder(style, spell, text);
        add_link(style, spell, text);
    }
    paragraph_append(style, INDENT, text->str, out);
    show_next(style, spell, out);
}

void show_advice(const json_t *spell, const Style *style, GString *out) {
    gsize i;
    const json_t *line;
    json_array_foreach((json_t *)field_list(spell, "advice"), i, line) {
        g_autofree char *clean = text_clean(style, json_is_string(line) ? json_string_value(line) : "");
        g_autofree char *text = g_strdup_printf("- %s", clean);
        paragraph_append_hanging(style, INDENT, text, out);
    }
}

/* One line for each that is no suspicion, and why not. */
void show_excused(const json_t *spell, const Style *style, GString *out) {
    g_autofree char *who = subject(style, spell), *since = spell_time(field_int(spell, "begin_time_ns"));
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, "%s, %.1f times slower since %s: ", who, field_number(spell, "slowdown"), since);
    if (is(spell, "state", "busier"))
        g_string_append_printf(text, "it is busier than usual, which explains %.0f %%",
                               100 * field_number(spell, "load_share"));
    else {
        g_autofree char *cause = show_text(style, spell, "part_of");
        g_string_append_printf(text, "follows from what is slow in class %s", cause);
    }
    paragraph_append_hanging(style, 0, text->str, out);
}

/* ---- calls that fail ---- */

char *show_share(double share) {
    const double percent = 100 * share;
    if (percent > 0 && percent < 0.1) return g_strdup("< 0.1 %");
    return g_strdup_printf("%.*f %%", percent >= 10 || percent == 0 ? 0 : 1, percent);
}

static void failing_head(const Style *style, const json_t *row, GString *out) {
    g_autofree char *host = show_text(style, row, "host"), *class = show_text(style, row, "class");
    g_autofree char *since = spell_time(field_int(row, "begin_time_ns"));
    g_autofree char *until = spell_time(field_int(row, "end_time_ns"));
    g_autofree char *share = show_share(field_number(row, "failed_share"));
    g_autofree char *peers = show_share(field_number(row, "peers_share"));
    g_autoptr(GString) text = g_string_new(NULL), lines = g_string_new(NULL);
    const gboolean ended = field_present(row, "end_time_ns");
    g_string_append_printf(text, "%s: %s of its %s calls %s, %s of others', ", host, share, class,
                           ended ? "failed" : "fail", peers);
    if (ended)
        g_string_append_printf(text, "from %s to %s", since, until);
    else
        g_string_append_printf(text, "since %s", since);
    paragraph_append_hanging(style, 0, text->str, lines);
    style_append(style, COLOUR_BOLD, lines->str, out);
}

gboolean show_failing(const json_t *document, const Style *style, GString *out) {
    const json_t *rows = field_list(document, "failing"), *row;
    gsize i;
    json_array_foreach((json_t *)rows, i, row) {
        g_autofree char *function = show_text(style, row, "function"), *role = show_text(style, row, "role");
        g_autofree char *failed = unit_count(field_number(row, "failed"));
        g_autofree char *calls = show_count(field_number(row, "calls"), "call", "calls");
        g_autoptr(GString) text = g_string_new(NULL);
        failing_head(style, row, out);
        g_string_append_printf(text, "%s of %s failed, mostly of %s (%s)", failed, calls, function, role);
        const json_t *example = field_object(row, "example");
        g_autofree char *failure = example ? show_text(style, example, "failure") : NULL;
        if (failure) g_string_append_printf(text, ", as by %s", failure);
        g_string_append(text, "; calls that failed say nothing of how fast it is, and are left out of its times");
        paragraph_append(style, INDENT, text->str, out);
        show_next(style, row, out);
    }
    return json_array_size(rows) > 0;
}

gboolean show_not_judged(const json_t *document, const Style *style, GString *out) {
    if (!field_present(document, "judged") || field_true(document, "judged")) return FALSE;
    paragraph_append(style, 0,
                     "Nothing can be called slow yet: that takes five minutes in which a host did the same kind of "
                     "work, and no host has them.",
                     out);
    return TRUE;
}

void show_looked_at(const json_t *document, const Style *style, GString *out) {
    g_autofree char *hosts = show_count(field_number(document, "hosts"), "host", "hosts");
    g_autofree char *calls = show_count(field_number(document, "calls"), "call", "calls");
    g_autofree char *since = spell_time(field_int(document, "since_time_ns"));
    g_autofree char *until = spell_time(field_int(document, "until_time_ns"));
    g_autofree char *age = unit_age(field_number(document, "history_ns"));
    const double minutes = field_number(document, "minutes"), read = field_number(document, "minutes_read");

    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, "Looked at: %s of %s, %s to %s", calls, hosts, since, until);
    if (read < minutes)
        g_string_append_printf(text,
                               field_true(document, "sampled") ? " (a sample of %.0f of %.0f minutes)"
                                                               : " (there are any in %.0f of %.0f minutes)",
                               read, minutes);
    g_string_append_printf(text, ". What is usual was learned from %.0f minutes of %s",
                           field_number(document, "minutes_learned"), age);
    if (is(document, "state", "learning")) g_string_append(text, " (still learning: surest with 7 days)");
    g_string_append_c(text, '.');
    if (field_true(document, "cut"))
        g_string_append(text, " There are too many hosts or functions: some were left out.");
    paragraph_append(style, 0, text->str, out);
}
