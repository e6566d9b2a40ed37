/* What senders say of themselves: totals never turn back, tables stay small. */
#include "receiver/shared/senders.h"

#include <string.h>

#include "receiver/http/status.h"

static BatchString text(const char *data) { return (BatchString){data, (guint32)strlen(data)}; }

static void note(Senders *senders, const char *name, gint64 sequence, gint64 sent, gint64 dropped) {
    g_autoptr(GArray) drops = g_array_new(FALSE, FALSE, sizeof(BatchDrop));
    BatchDrop drop = {text("queue full"), dropped};
    if (dropped >= 0) g_array_append_val(drops, drop);
    BatchSender said = {text(name), sequence, sent, 3, drops};
    senders_took(senders, senders_note(senders, &said, sequence), 2, NULL);
}

static SenderInfo last, others;
static guint visited;
static void keep(void *arg, const SenderInfo *info) {
    (void)arg;
    if (info->name[0] == '\0') {
        others = *info;
        return;
    }
    last = *info;
    visited++;
}

static const char *last_named;
static void keep_named(void *arg, const SenderInfo *info) {
    if (strcmp(info->name, last_named) == 0) keep(arg, info);
}

static void test_totals(void) {
    g_autoptr(Senders) senders = senders_new();
    note(senders, "a", 1, 10, 0);
    note(senders, "a", 3, 30, 5);
    note(senders, "a", 2, 20, 4); /* overtaken on another connection */
    note(senders, "a", 3, 30, 5); /* again: its reply was lost */
    note(senders, "", 1, 1, 1);   /* says nothing of itself */
    g_assert_cmpuint(senders_count(senders), ==, 1);
    senders_foreach(senders, keep, NULL);
    g_assert_cmpint(last.sequence, ==, 3);
    g_assert_cmpint(last.spans_sent, ==, 30);
    g_assert_cmpuint(last.repeated, ==, 2);
    g_assert_cmpuint(last.n_drops, ==, 1);
    g_assert_cmpint(last.drops[0].spans, ==, 5);
}

static void test_bounds(void) {
    g_autoptr(Senders) senders = senders_new();
    for (guint i = 0; i < SENDERS_MAX + 100; i++) {
        g_autofree char *name = g_strdup_printf("sender %u", i);
        note(senders, name, i + 1, 1, -1);
    }
    g_assert_cmpuint(senders_count(senders), ==, SENDERS_MAX);
    /* The ones heard of longest ago went. */
    note(senders, "sender 99", 5000, 1, -1);
    g_assert_cmpuint(senders_count(senders), ==, SENDERS_MAX);
    visited = 0;
    senders_foreach(senders, keep, NULL);
    g_assert_cmpuint(visited, ==, SENDERS_MAX);
    /* What they sent, and what was taken from them, is not forgotten. */
    g_assert_cmpint(others.spans_sent, ==, 101);
    g_assert_cmpuint(others.received, ==, 2 * 101);
}

/* Who has a batch on its way is not evicted. */
static void test_held(void) {
    g_autoptr(Senders) senders = senders_new();
    const guint32 refused[PACK_RESULT_COUNT] = {[PACK_ZERO_ID] = 3};
    BatchSender said = {.sender = text("held"), .sequence = 1, .spans_sent = 7};
    SenderEntry *held = senders_note(senders, &said, 1);
    for (guint i = 0; i < SENDERS_MAX + 5; i++) {
        g_autofree char *name = g_strdup_printf("sender %u", i);
        note(senders, name, i + 2, 1, -1);
    }
    senders_took(senders, held, 4, refused);
    note(senders, "held", 2, 11, -1);
    last_named = "held";
    senders_foreach(senders, keep_named, NULL);
    g_assert_cmpuint(last.received, ==, 6);
    g_assert_cmpuint(last.refused[PACK_ZERO_ID], ==, 3);
    g_assert_cmpint(last.spans_sent, ==, 11);
}

static void test_long_names_are_cut_between_characters(void) {
    g_autoptr(Senders) senders = senders_new();
    g_autoptr(GString) name = g_string_new(NULL);
    while (name->len < 600) g_string_append(name, "\xe2\x82\xac"); /* three bytes each */
    note(senders, name->str, 1, 1, -1);
    g_autoptr(GArray) drops = g_array_new(FALSE, FALSE, sizeof(BatchDrop));
    for (guint i = 0; i < 50; i++) {
        g_autofree char *reason = g_strdup_printf("reason %u", i);
        BatchDrop drop = {text(g_intern_string(reason)), 1};
        g_array_append_val(drops, drop);
    }
    BatchSender said = {text(name->str), 2, 1, 0, drops};
    senders_took(senders, senders_note(senders, &said, 1), 1, NULL);
    senders_foreach(senders, keep, NULL);
    g_assert_cmpuint(strlen(last.name), ==, 255);
    g_assert_true(g_utf8_validate(last.name, -1, NULL));
    g_assert_cmpuint(last.n_drops, ==, SENDER_REASONS_MAX);
}

/* Nothing is left of those that are not shown: the leak sanitizer sees to it. */
static void test_status_shows_so_many(void) {
    g_autoptr(Senders) senders = senders_new();
    note(senders, "", 1, 1, 1); /* nameless: not shown */
    for (guint i = 0; i < STATUS_SENDERS_SHOWN + 100; i++) {
        g_autofree char *name = g_strdup_printf("sender %04u", i);
        note(senders, name, i + 1, 7, 2);
    }
    json_t *rows = status_senders(senders);
    g_assert_cmpuint(json_array_size(rows), ==, STATUS_SENDERS_SHOWN);
    const json_t *first = json_array_get(rows, 0);
    g_assert_cmpstr(json_string_value(json_object_get(first, "sender")), ==, "sender 0000");
    g_assert_cmpint(json_integer_value(json_object_get(first, "spans_sent")), ==, 7);
    g_assert_cmpint(json_integer_value(json_object_get(json_object_get(first, "drops"), "queue full")), ==, 2);
    json_decref(rows);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/senders/totals", test_totals);
    g_test_add_func("/senders/bounds", test_bounds);
    g_test_add_func("/senders/held", test_held);
    g_test_add_func("/senders/status", test_status_shows_so_many);
    g_test_add_func("/senders/long-names", test_long_names_are_cut_between_characters);
    return g_test_run();
}
