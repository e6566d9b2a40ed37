/* Mailbox, waiter, gate, counters and needs: what threads meet in. */
#include <pthread.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "receiver/journal/journal.h"
#include "receiver/shared/admission.h"
#include "receiver/shared/counters.h"
#include "receiver/traces/mailbox.h"
#include "receiver/traces/needs.h"
#include "receiver/traces/waiter.h"

typedef struct Note {
    MailItem item;
    guint from, number;
} Note;

enum { PRODUCERS = 4, NOTES = 5000 };

typedef struct Producer {
    Mailbox *box;
    guint from;
} Producer;

static void *produce(void *arg) {
    const Producer *producer = arg;
    for (guint i = 0; i < NOTES; i++) {
        Note *note = g_new0(Note, 1);
        note->item.size_bytes = 10;
        note->from = producer->from;
        note->number = i;
        mailbox_put(producer->box, &note->item);
    }
    return NULL;
}

/* All arrive, each producer's in its order. */
static void test_mailbox(void) {
    g_autoptr(Mailbox) box = mailbox_new(100);
    pthread_t threads[PRODUCERS];
    Producer producers[PRODUCERS];

    for (guint i = 0; i < PRODUCERS; i++) {
        producers[i] = (Producer){box, i};
        g_assert_cmpint(pthread_create(&threads[i], NULL, produce, &producers[i]), ==, 0);
    }

    guint next[PRODUCERS] = {0};
    for (guint seen = 0; seen < PRODUCERS * NOTES;) {
        for (MailItem *at = mailbox_take(box, 1000); at; seen++) {
            Note *note = (Note *)at;
            g_assert_cmpuint(note->number, ==, next[note->from]++);
            at = at->next;
            mailbox_done(box, note->item.size_bytes);
            g_free(note);
        }
    }

    for (guint i = 0; i < PRODUCERS; i++) pthread_join(threads[i], NULL);
    g_assert_cmpuint(mailbox_bytes(box), ==, 0);
    g_assert_null(mailbox_take(box, 1));
}

static void test_mailbox_limit(void) {
    g_autoptr(Mailbox) box = mailbox_new(100);
    Note notes[2] = {{.item.size_bytes = 99}, {.item.size_bytes = 1}};
    mailbox_put(box, &notes[0].item);
    g_assert_false(mailbox_full(box));
    mailbox_put(box, &notes[1].item);
    g_assert_true(mailbox_full(box));
    /* What was taken counts until it is done. */
    g_assert_true(mailbox_take(box, 0) == &notes[0].item);
    g_assert_true(mailbox_full(box));
    mailbox_done(box, 99);
    g_assert_false(mailbox_full(box));
    g_assert_cmpuint(mailbox_bytes(box), ==, 1);
    mailbox_done(box, 1);
}

enum { ORDERS = 200 };

typedef struct Order {
    MailItem item;
    Waiter *waiter;
} Order;

static void *take_orders(void *arg) {
    for (guint done = 0; done < ORDERS;) {
        for (MailItem *at = mailbox_take(arg, 1000); at; done++) {
            Order *order = (Order *)at;
            at = at->next;
            waiter_answer(order->waiter, 0, NULL);
        }
    }
    return NULL;
}

/* Whoever takes has just had something to do, and dozes: each order would wait until that is over. A busy machine
 * delays some in any case. */
static void test_mailbox_urgent(void) {
    g_autoptr(Mailbox) box = mailbox_new(100);
    pthread_t thread;
    g_assert_cmpint(pthread_create(&thread, NULL, take_orders, box), ==, 0);
    guint quick = 0;
    for (guint i = 0; i < ORDERS; i++) {
        Order order = {.waiter = waiter_new(1)};
        const gint64 begun_ns = clock_monotonic_ns(clock_system());
        mailbox_put_urgent(box, &order.item);
        waiter_wait(order.waiter, NULL, NULL);
        quick += clock_monotonic_ns(clock_system()) - begun_ns < MAILBOX_DOZE_NS / 2;
    }
    pthread_join(thread, NULL);
    g_assert_cmpuint(quick, >=, ORDERS / 5);
}

static void *answer_good(void *waiter) {
    waiter_answer(waiter, 5, NULL);
    return NULL;
}

static void *answer_bad(void *waiter) {
    waiter_answer(waiter, 7, g_error_new_literal(PLUMB_ERROR, PLUMB_ERROR_IO, "bad"));
    return NULL;
}

static void test_waiter(void) {
    pthread_t threads[2];
    Waiter *waiter = waiter_new(2);
    for (guint i = 0; i < 2; i++) pthread_create(&threads[i], NULL, answer_good, waiter);
    guint64 sum = 0;
    g_assert_true(waiter_wait(waiter, &sum, NULL));
    g_assert_cmpuint(sum, ==, 10);
    for (guint i = 0; i < 2; i++) pthread_join(threads[i], NULL);

    waiter = waiter_new(2);
    pthread_create(&threads[0], NULL, answer_good, waiter);
    pthread_create(&threads[1], NULL, answer_bad, waiter);
    g_autoptr(GError) error = NULL;
    g_assert_false(waiter_wait(waiter, &sum, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_IO);
    for (guint i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

static void test_gate(void) {
    g_autoptr(Admission) admission = admission_new();
    g_assert_true(admission_is_open(admission));
    g_assert_null(admission_describe(admission));
    admission_shut(admission, ADMISSION_STORE_FAILS, "first");
    admission_shut(admission, ADMISSION_STORE_FAILS, "second");
    g_assert_true(admission_set(admission, ADMISSION_STORE_SPACE, "third"));
    g_assert_false(admission_set(admission, ADMISSION_STORE_SPACE, "fourth"));
    g_autofree char *why = admission_describe(admission);
    g_assert_cmpstr(why, ==, "second; fourth");
    admission_open(admission, ADMISSION_STORE_FAILS);
    g_assert_true(admission_is_shut_for(admission, ADMISSION_STORE_FAILS));
    admission_open(admission, ADMISSION_STORE_FAILS);
    g_assert_false(admission_is_shut_for(admission, ADMISSION_STORE_FAILS));
    g_assert_false(admission_is_open(admission));
    g_assert_true(admission_set(admission, ADMISSION_STORE_SPACE, NULL));
    g_assert_true(admission_is_open(admission));
}

static void test_counters(void) {
    g_autoptr(CounterSet) set = counter_set_new();
    Counters *one = counter_set_add(set), *two = counter_set_add(set);
    counter_add(one, COUNTER_SPANS, 3);
    counter_add(two, COUNTER_SPANS, 4);
    g_assert_cmpuint(counter_set_sum(set, COUNTER_SPANS), ==, 7);
    g_assert_cmpuint(counter_set_sum(set, COUNTER_FRAMES), ==, 0);
}

/* Every counter has a name, every group exactly one help text, no reason twice. */
static void test_counter_table(void) {
    g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) helped = g_hash_table_new(g_str_hash, g_str_equal);
    for (int i = 0; i < COUNTER_COUNT; i++) {
        CounterInfo info = counter_info((Counter)i);
        g_assert_nonnull(info.metric);
        g_assert_cmpint(info.group == GROUP_NONE, ==, info.reason == NULL);
        if (info.help) g_assert_true(g_hash_table_add(helped, (char *)info.metric));
        g_assert_true(g_hash_table_contains(helped, info.metric));
        if (info.reason && info.reason[0] == '\0') continue;
        g_assert_true(g_hash_table_add(names, g_strdup_printf("%s/%s", info.metric, info.reason ? info.reason : "")));
    }
}

static void test_needs(void) {
    Needs needs;
    needs_init(&needs);
    g_assert_cmpuint(needs_oldest(&needs), ==, JOURNAL_NONE);
    static const guint64 added[] = {7, 9, 7, 3, JOURNAL_NONE, 8};
    for (guint i = 0; i < G_N_ELEMENTS(added); i++) needs_add(&needs, added[i]);
    g_assert_cmpuint(needs_oldest(&needs), ==, 3);
    static const struct {
        guint64 removed, oldest;
    } steps[] = {{3, 7}, {JOURNAL_NONE, 7}, {7, 7}, {8, 7}, {7, 9}, {9, JOURNAL_NONE}};
    for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
        needs_remove(&needs, steps[i].removed);
        g_assert_cmpuint(needs_oldest(&needs), ==, steps[i].oldest);
    }
    needs_clear(&needs);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mailbox/threads", test_mailbox);
    g_test_add_func("/mailbox/limit", test_mailbox_limit);
    g_test_add_func("/mailbox/urgent", test_mailbox_urgent);
    g_test_add_func("/waiter", test_waiter);
    g_test_add_func("/gate", test_gate);
    g_test_add_func("/counters", test_counters);
    g_test_add_func("/counters/table", test_counter_table);
    g_test_add_func("/needs", test_needs);
    return g_test_run();
}
