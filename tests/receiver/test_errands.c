/* What is given to the thread for it: it comes back, unless nobody waits for it or it hangs. */
#include "receiver/net/errand.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

typedef struct Task {
    Errand errand;
    guint number;
} Task;

/* All work stops in front of it. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint begun, dropped;
static guint came_back, last;

static void work(Errand *errand) {
    (void)errand;
    atomic_fetch_add(&begun, 1);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
}

static void come_back(Errand *errand) {
    came_back++;
    last = ((Task *)errand)->number;
    g_free(errand);
}

static void drop(void *errand) {
    atomic_fetch_add(&dropped, 1);
    g_free(errand);
}

static Errand *give(Errands *errands, Inbox *home, guint number) {
    Task *task = g_new0(Task, 1);
    task->errand = (Errand){.work = work, .back = come_back, .free = drop, .home = home};
    task->number = number;
    errands_give(errands, &task->errand);
    return &task->errand;
}

static void take_back(Inbox *home, guint n) {
    struct pollfd ready = {.fd = inbox_fd(home), .events = POLLIN};
    while (came_back < n) {
        g_assert_cmpint(poll(&ready, 1, 60000), ==, 1);
        inbox_take(home, errand_back, NULL);
    }
    g_assert_cmpuint(came_back, ==, n);
}

static void begin(Errands **errands, Inbox **home) {
    *errands = errands_start();
    *home = inbox_new(errand_drop);
    came_back = 0;
    atomic_store(&begun, 0);
    pthread_mutex_lock(&gate);
}

static void wait_begun(void) {
    while (atomic_load(&begun) == 0) g_usleep(1000);
}

/* In their order; one that waits can be taken back, one that is under way can not. */
static void test_withdraw(void) {
    Errands *errands;
    Inbox *home;
    begin(&errands, &home);
    Errand *first = give(errands, home, 1), *second = give(errands, home, 2);
    give(errands, home, 3);
    wait_begun();
    g_assert_false(errands_withdraw(errands, first));
    g_assert_true(errands_withdraw(errands, second));
    g_free(second);
    pthread_mutex_unlock(&gate);
    take_back(home, 2);
    g_assert_cmpuint(last, ==, 3);
    errands_stop(errands);
    errands_free(errands);
    inbox_free(home);
    g_assert_cmpuint(atomic_load(&begun), ==, 2);
}

/* A stop waits for none that hangs, and nothing comes back into an inbox that is gone. */
static void test_one_that_hangs(void) {
    static Errands *errands; /* until the process ends */
    Inbox *home;
    begin(&errands, &home);
    give(errands, home, 1);
    wait_begun();
    Errand *waits = give(errands, home, 2);
    errands_stop(errands);
    g_assert_true(errands_withdraw(errands, waits));
    g_free(waits);
    errands_free(errands);
    inbox_free(home);
    g_assert_cmpuint(atomic_load(&dropped), ==, 0);
    pthread_mutex_unlock(&gate);
    while (atomic_load(&dropped) == 0) g_usleep(1000);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/errands/withdraw", test_withdraw);
    g_test_add_func("/errands/one_that_hangs", test_one_that_hangs);
    return g_test_run();
}
