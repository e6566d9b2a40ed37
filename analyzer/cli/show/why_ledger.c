#include "analyzer/cli/show/why_ledger.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/cli/format/paragraph.h"
#include "analyzer/cli/format/table.h"
#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/why_text.h"
#include "common/base/clock.h"

/* A part that is less than this of the excess is told with the others, as is what comes after so many. */
#define SMALL        0.02
#define ITEMS_SHOWN  5u
#define SAVERS_SHOWN 3u

static const struct {
    const char *part, *text; /* behind a time */
    const char *whose;       /* behind "without"; %s is the host */
} texts[] = {
    {"data", "for more data than they had", "more data than usual"},
    {"processor", "of computing", "longer computing over as much data"},
    {"processor_wait", "waiting for a processor", "waiting for a processor of %s"},
    {"gc", "of garbage collection", "garbage collection on %s"},
    {"shuffle_wait", "waiting for the shuffle", "waiting for the shuffle on %s"},
    {"shuffle_write", "writing the shuffle", "slow writing of the shuffle on %s"},
    {"hdfs_disk", "waiting for disks of HDFS", "the disk of %s"},
    {"hdfs_network", "waiting for the network of HDFS", "the network to %s"},
    {"hdfs_lock", "waiting for locks and queues of HDFS", "the lock and queue of %s"},
    {"hdfs_server", "waiting for processors of HDFS", "the processor of %s"},
    {"hdfs_sleep", "asleep in HDFS's client, before another try", "sleeps of HDFS's client"},
    {"deserialize", "deserializing the task", "slow deserializing on %s"},
    {"serialize", "serializing its result", "slow serializing on %s"},
    {"result", "until the driver had its result", "slow results of %s"},
    {"scheduler", "of scheduling", "waiting for the scheduler, on %s"},
    {"unexplained", "unexplained", "what is unexplained, on %s"},
    {"cpu", "of busy processors", "busy processors of %s"},
    {"disk", "of a busy disk", "a busy disk of %s"},
    {"network", "of a busy network", "a busy network of %s"},
    /* topics of what has no text of its own */
    {"spill", "spilling", "spilling on %s"},
    {"jvm", "of work of the JVM", "slow work of the JVM on %s"},
    {"locality", "for data that was far away", "data far away from %s"},
    {"hdfs", "waiting for HDFS", "waiting for HDFS"},
};

static gsize place_of(const char *part) {
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        if (strcmp(part, texts[i].part) == 0) return i;
    return G_N_ELEMENTS(texts);
}

static char *part_text(const Style *style, const char *part) {
    const gsize place = place_of(part);
    return place < G_N_ELEMENTS(texts) ? g_strdup(texts[place].text) : text_clean(style, part);
}

/* ---- one line ---- */

typedef struct Item {
    double more_ns;
    char *text;
} Item;

static void item_clear(gpointer data) { g_free(((Item *)data)->text); }

static double size_of(const Item *item) { return item->more_ns < 0 ? -item->more_ns : item->more_ns; }

static gint largest_first(gconstpointer a, gconstpointer b) {
    const Item *x = a, *y = b;
    if (size_of(x) != size_of(y)) return size_of(x) > size_of(y) ? -1 : 1;
    return strcmp(x->text, y->text);
}

/* What is left of the part when each server that has enough of it is told. */
static double take_servers(const Style *style, const json_t *part, double least_ns, GArray *items) {
    double left_ns = field_number(part, "more_ns");
    gsize i;
    const json_t *server;
    json_array_foreach((json_t *)field_list(part, "servers"), i, server) {
        const double more_ns = field_number(server, "more_ns");
        if (more_ns < least_ns || !field_present(server, "host")) continue;
        g_autofree char *who = why_whom(style, server);
        const Item item = {more_ns, g_strdup_printf("waiting for %s", who)};
        g_array_append_val(items, item);
        left_ns -= more_ns;
    }
    return left_ns;
}

static GArray *items_of(const Style *style, const json_t *ledger, double *small_ns) {
    GArray *items = g_array_new(FALSE, FALSE, sizeof(Item));
    g_array_set_clear_func(items, item_clear);
    const double least_ns = SMALL * field_number(ledger, "excess_ns");
    gsize i;
    const json_t *part;
    json_array_foreach((json_t *)field_list(ledger, "parts"), i, part) {
        const double left_ns = take_servers(style, part, least_ns, items);
        if (left_ns < least_ns && left_ns > -least_ns) {
            *small_ns += left_ns;
            continue;
        }
        const Item item = {left_ns, part_text(style, field_text(part, "part"))};
        g_array_append_val(items, item);
    }
    g_array_sort(items, largest_first);
    for (guint k = ITEMS_SHOWN; k < items->len; k++) *small_ns += g_array_index(items, Item, k).more_ns;
    if (items->len > ITEMS_SHOWN) g_array_set_size(items, ITEMS_SHOWN);
    return items;
}

void why_ledger(const Style *style, const json_t *ledger, GString *out) {
    const double excess_ns = ledger ? field_number(ledger, "excess_ns") : 0;
    if (excess_ns <= 0 || field_int(ledger, "peers") == 0) return;
    double small_ns = 0;
    g_autoptr(GArray) items = items_of(style, ledger, &small_ns);
    if (small_ns >= SMALL * excess_ns || small_ns <= -SMALL * excess_ns) {
        const Item item = {small_ns, g_strdup("of all else")};
        g_array_append_val(items, item);
    }

    g_autofree char *excess = unit_duration(style, excess_ns, NS_PER_MS);
    g_autoptr(GString) line = g_string_new(NULL);
    g_string_append_printf(line, "took %s longer than its peers", excess);
    for (guint i = 0; i < items->len; i++) {
        const Item *item = &g_array_index(items, Item, i);
        g_autofree char *time = unit_duration(style, size_of(item), 1);
        g_string_append_printf(line, "%s%s%s %s", i > 0 ? ", " : ": ", item->more_ns < 0 ? "less " : "", time,
                               item->text);
    }
    paragraph_append_hanging(style, 2, line->str, out);
}

/* ---- all parts ---- */

static void add_row(const Style *style, const char *name, const json_t *part, Table *table) {
    const double time_ns = field_number(part, "time_ns"), more_ns = field_number(part, "more_ns");
    const double expected_ns = MAX(0, time_ns - more_ns);
    table_cell(table, g_strdup_printf("  %s", name), COLOUR_NONE);
    table_cell(table, unit_duration(style, time_ns, 1), COLOUR_NONE);
    table_cell(table, unit_duration(style, expected_ns, 1), COLOUR_NONE);
    if (field_present(part, "varies_ns"))
        table_cell(table, unit_duration(style, expected_ns + field_number(part, "varies_ns"), 1), COLOUR_NONE);
    else
        table_cell_empty(table);
    table_cell(table, unit_duration_signed(style, more_ns, 1), COLOUR_NONE);
}

void why_ledger_table(const Style *style, const json_t *ledger, GString *out) {
    static const TableColumn columns[] = {
        {"  its time", TRUE, 16, 0}, {"", FALSE, 0, 0},     {"expected", FALSE, 0, 0},
        {"normal to", FALSE, 0, 0},  {"more", FALSE, 0, 0},
    };
    if (!ledger || field_int(ledger, "peers") == 0) return;
    g_autoptr(Table) table = table_new(style, columns, G_N_ELEMENTS(columns));
    gsize i;
    const json_t *part;
    json_array_foreach((json_t *)field_list(ledger, "parts"), i, part) {
        g_autofree char *name = show_text(style, part, "part");
        add_row(style, name, part, table);
    }
    const json_t *hdfs = field_object(ledger, "hdfs");
    if (hdfs) add_row(style, "all of HDFS", hdfs, table);
    if (table_rows(table) > 0) table_print(table, out);
}

/* ---- what it would save ---- */

static char *saver_text(const Style *style, const json_t *saver) {
    const gsize own = place_of(field_text(saver, "feature")), any = place_of(field_text(saver, "topic"));
    const gsize place = own < G_N_ELEMENTS(texts) ? own : any;
    g_autofree char *host = field_present(saver, "host") ? show_text(style, saver, "host") : g_strdup("nobody seen");
    if (place == G_N_ELEMENTS(texts)) return show_text(style, saver, "feature");
    char **around = g_strsplit(texts[place].whose, "%s", 2);
    char *text = around[1] ? g_strconcat(around[0], host, around[1], NULL) : g_strdup(around[0]);
    g_strfreev(around);
    return text;
}

void why_what_if(const Style *style, const json_t *list, GString *out) {
    const double least_ns = 0.01 * field_number(json_array_get(list, 0), "saves_ns"); /* less would hide the first */
    guint shown = 0;
    gsize i;
    const json_t *saver;
    json_array_foreach((json_t *)list, i, saver) {
        const double saves_ns = field_number(saver, "saves_ns");
        if (shown == SAVERS_SHOWN || saves_ns <= 0 || saves_ns < least_ns) break;
        if (shown++ == 0) g_string_append(out, "\nShorter without it (stages replayed):\n");
        g_autofree char *saves = unit_duration(style, saves_ns, NS_PER_MS);
        g_autofree char *all = unit_duration(style, field_number(saver, "explains_ns"), NS_PER_MS);
        g_autofree char *tasks = show_count(field_number(saver, "tasks"), "task", "tasks");
        g_autofree char *text = saver_text(style, saver);
        g_autofree char *line =
            g_strdup_printf("the application by %s without %s (%s slower by %s in all)", saves, text, tasks, all);
        paragraph_append_hanging(style, 2, line, out);
    }
}
