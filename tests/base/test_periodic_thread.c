/* Rounds come one after the other until the thread is stopped, and a stop does not wait for a rest to be over. */
#include "common/base/periodic_thread.h"

#include <pthread.h>

#include "common/base/clock.h"

typedef struct Rounds {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    guint done;
    gint64 pause_ns;
} Rounds;

static gint64 count_round(void *arg) {
    Rounds *rounds = arg;
    pthread_mutex_lock(&rounds->lock);
    rounds->done++;
    const gint64 pause_ns = rounds->pause_ns;
    pthread_cond_signal(&rounds->changed);
    pthread_mutex_unlock(&rounds->lock);
    return pause_ns;
}

static void wait_for_rounds(Rounds *rounds, guint n) {
    pthread_mutex_lock(&rounds->lock);
    while (rounds->done < n) pthread_cond_wait(&rounds->changed, &rounds->lock);
    pthread_mutex_unlock(&rounds->lock);
}

static Rounds rounds_of(gint64 pause_ns) {
    return (Rounds){.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .pause_ns = pause_ns};
}

static void test_rounds_follow(void) {
    Rounds rounds = rounds_of(0);
    PeriodicThread *thread =
        periodic_thread_start(&(PeriodicWork){.name = "rounds", .round = count_round, .arg = &rounds});
    wait_for_rounds(&rounds, 100);
    periodic_thread_stop(thread);
    const guint done = rounds.done;
    g_assert_cmpuint(done, >=, 100);
    g_assert_cmpuint(rounds.done, ==, done);
}

/* The rest is a week: the test would not end if the stop waited for it. */
static void test_stop_ends_a_rest(void) {
    Rounds rounds = rounds_of(7 * 24 * 60 * NS_PER_MINUTE);
    PeriodicThread *thread =
        periodic_thread_start(&(PeriodicWork){.name = "rounds", .round = count_round, .arg = &rounds});
    wait_for_rounds(&rounds, 1);
    periodic_thread_stop(thread);
    g_assert_cmpuint(rounds.done, ==, 1);
}

static void test_stop_before_the_first_round(void) {
    Rounds rounds = rounds_of(0);
    const PeriodicWork work = {"rounds", 7 * 24 * 60 * NS_PER_MINUTE, count_round, &rounds};
    periodic_thread_stop(periodic_thread_start(&work));
    g_assert_cmpuint(rounds.done, ==, 0);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/periodic-thread/rounds-follow", test_rounds_follow);
    g_test_add_func("/periodic-thread/stop-ends-a-rest", test_stop_ends_a_rest);
    g_test_add_func("/periodic-thread/stop-before-the-first-round", test_stop_before_the_first_round);
    return g_test_run();
}
