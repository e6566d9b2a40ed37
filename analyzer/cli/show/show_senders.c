#include "analyzer/cli/format/table.h"
#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"
#include "common/base/clock.h"

#define LABEL_WIDTH 14

static void line(GString *out, const char *label, const char *text) {
    g_string_append_printf(out, "  %-*s  %s\n", LABEL_WIDTH, label, text);
}

static const struct {
    const char *field, *label;
    gboolean always;
} parts[] = {
    {"received", "received", TRUE},      {"stored", "stored", TRUE},        {"open", "open", TRUE},
    {"waiting", "late, waiting", FALSE}, {"repeated", "repeated", TRUE},    {"thinned", "thinned out", TRUE},
    {"expired", "expired", TRUE},        {"set_aside", "set aside", FALSE}, {"refused", "refused", FALSE},
};

/* Every digit: sums are compared. */
static char *exact_count(double n) {
    g_autofree char *digits = g_strdup_printf("%.0f", n);
    GString *out = g_string_new(digits);
    for (gssize at = (gssize)out->len - 3; at > (digits[0] == '-' ? 1 : 0); at -= 3) g_string_insert_c(out, at, ',');
    return g_string_free(out, FALSE);
}

void show_accounts(const json_t *accounting, const ShowOptions *options, GString *out) {
    if (accounting == NULL) return;
    g_string_append_c(out, '\n');
    style_append(&options->style, COLOUR_BOLD, "Accounts of spans", out);
    g_string_append_c(out, '\n');
    for (guint i = 0; i < G_N_ELEMENTS(parts); i++) {
        double n = field_number(accounting, parts[i].field);
        if (n == 0 && !parts[i].always) continue;
        g_autofree char *count = exact_count(n);
        line(out, parts[i].label, count);
    }
    gboolean agree = field_true(accounting, "agree");
    g_autoptr(GString) text = g_string_new(NULL);
    style_append(&options->style, agree ? COLOUR_GREEN : COLOUR_RED, agree ? "agree" : "do not agree", text);
    if (agree && !field_true(accounting, "settled")) g_string_append(text, ", as far as can be told while spans move");
    line(out, "sums", text->str);
}

static void append_counts(const Style *style, const json_t *row, const char *field, const char *what, Table *table) {
    const char *reason;
    const json_t *value;
    json_object_foreach((json_t *)field_object(row, field), reason, value) {
        g_autofree char *clean = text_clean(style, reason);
        g_autofree char *count = unit_count(json_number_value(value));
        table_line(table, g_strdup_printf("  %s %s: %s", count, what, clean), COLOUR_RED);
    }
}

static void append_row(const Style *style, const json_t *row, Table *table) {
    static const char *const fields[] = {"received", "stored", "open", "repeated", "thinned", "expired"};
    table_cell(table, show_text(style, row, "sender"), COLOUR_NONE);
    if (json_object_get(row, "sent") != NULL)
        table_cell(table, exact_count(field_number(row, "sent")), COLOUR_NONE);
    else
        table_cell_empty(table);
    for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
        table_cell(table, exact_count(field_number(row, fields[i])), COLOUR_NONE);
    append_counts(style, row, "drops", "dropped", table);
    append_counts(style, row, "refused", "refused", table);
}

void show_senders(const json_t *document, const ShowOptions *options, GString *out) {
    static const TableColumn columns[] = {{"sender", TRUE, 24, 0},  {"sent", FALSE, 0, 0},   {"received", FALSE, 0, 0},
                                          {"stored", FALSE, 0, 0},  {"open", FALSE, 0, 1},   {"repeated", FALSE, 0, 4},
                                          {"thinned", FALSE, 0, 2}, {"expired", FALSE, 0, 3}};
    const json_t *senders = field_list(document, "senders");
    if (json_array_size(senders) == 0) g_string_append(out, "Nothing was received yet.\n");
    if (json_array_size(senders) > 0) {
        g_autoptr(Table) table = table_new(&options->style, columns, G_N_ELEMENTS(columns));
        gsize i;
        const json_t *row;
        json_array_foreach((json_t *)senders, i, row) append_row(&options->style, row, table);
        table_print(table, out);
    }
    show_accounts(field_object(document, "accounting"), options, out);
}
