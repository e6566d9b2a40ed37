/* What questions get of the processors while spans wait, and how it is seen that threads wait for one. */
#define _GNU_SOURCE /* thread names, affinity */
#include "receiver/question_share.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "receiver/processor_wait.h"

#define SECOND     G_GINT64_CONSTANT(1000000000)
#define PROCESSORS 0.2

static QuestionShare full(gint64 now_ns) {
    QuestionShare share;
    question_share_init(&share, PROCESSORS, now_ns);
    return share;
}

static void test_what_is_saved_is_used_at_once(void) {
    QuestionShare share = full(0);
    const gint64 question_ns = QUESTION_SAVED_NS / 4;
    for (guint i = 0; i < 4; i++) {
        g_assert_true(question_share_allows(&share, TRUE, 0));
        question_share_spend(&share, TRUE, question_ns);
    }
    g_assert_false(question_share_allows(&share, TRUE, 0));
    /* No more than that is ever saved. */
    g_assert_true(question_share_allows(&share, TRUE, 3600 * SECOND));
    question_share_spend(&share, TRUE, QUESTION_SAVED_NS);
    g_assert_false(question_share_allows(&share, TRUE, 3600 * SECOND));
}

/* Who asks without pause for a minute gets the share and what was saved. */
static void test_without_pause(void) {
    QuestionShare share = full(0);
    const gint64 question_ns = SECOND / 20;
    gint64 used_ns = 0;
    for (gint64 now_ns = 0; now_ns < 60 * SECOND; now_ns += SECOND / 100)
        if (question_share_allows(&share, TRUE, now_ns)) {
            question_share_spend(&share, TRUE, question_ns);
            used_ns += question_ns;
        }
    const gint64 due_ns = (gint64)(60 * PROCESSORS * (double)SECOND) + QUESTION_SAVED_NS;
    g_assert_cmpint(ABS(used_ns - due_ns), <=, question_ns);
}

static void test_a_dear_question_holds_up_for_so_long(void) {
    QuestionShare share = full(0);
    question_share_spend(&share, TRUE, 3600 * SECOND);
    g_assert_false(question_share_allows(&share, TRUE, QUESTION_WAIT_NS - SECOND));
    g_assert_true(question_share_allows(&share, TRUE, QUESTION_WAIT_NS + SECOND));
}

static void test_free_when_no_spans_wait(void) {
    QuestionShare share = full(0);
    for (guint i = 0; i < 100; i++) {
        g_assert_true(question_share_allows(&share, FALSE, 0));
        question_share_spend(&share, FALSE, 3600 * SECOND);
    }
    g_assert_true(question_share_allows(&share, TRUE, 0));
    question_share_spend(&share, TRUE, 3600 * SECOND);
    g_assert_false(question_share_allows(&share, TRUE, 0));
    g_assert_true(question_share_allows(&share, FALSE, 0));
}

/* ---- threads that wait ---- */

static void *spin(void *arg) {
    const atomic_bool *stop = arg;
    pthread_setname_np(pthread_self(), "spin-1");
    while (!atomic_load(stop)) {
    }
    return NULL;
}

static const char *const spinning[] = {"none-", "spin-", NULL}, *const others[] = {"none-", NULL};

/* Two threads on one processor: one of them waits. */
static void test_waiting_is_seen(void) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (!g_file_test("/proc/thread-self/schedstat", G_FILE_TEST_EXISTS)) {
        g_test_skip("this system does not tell how long threads wait");
        return;
    }
    g_assert_cmpint(processor_waited_ns(spinning), ==, 0);
    atomic_bool stop = FALSE;
    pthread_t threads[2];
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++) {
        g_assert_cmpint(pthread_create(&threads[i], NULL, spin, &stop), ==, 0);
        g_assert_cmpint(pthread_setaffinity_np(threads[i], sizeof one, &one), ==, 0);
    }
    gint64 before_ns = 0;
    for (guint growths = 0; growths < 3;) {
        const gint64 now_ns = processor_waited_ns(spinning);
        g_assert_cmpint(now_ns, >=, before_ns);
        growths += now_ns > before_ns;
        before_ns = now_ns;
    }
    g_assert_cmpint(processor_waited_ns(others), ==, 0);
    atomic_store(&stop, TRUE);
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++) pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/question-share/saved", test_what_is_saved_is_used_at_once);
    g_test_add_func("/question-share/without-pause", test_without_pause);
    g_test_add_func("/question-share/dear", test_a_dear_question_holds_up_for_so_long);
    g_test_add_func("/question-share/free", test_free_when_no_spans_wait);
    g_test_add_func("/question-share/waiting", test_waiting_is_seen);
    return g_test_run();
}
