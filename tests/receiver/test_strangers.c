/* Who gives way of those that have not logged in. */
#include "receiver/net/strangers.h"

#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"

/* Longer than a handshake may take without a step. */
#define LONG_NS (3 * NS_PER_SEC)
#define NOW_NS  (100 * NS_PER_SEC)

static const char addresses[64];

typedef struct One {
    Stranger stranger;
    int peer; /* the other end of its socket */
} One;

static One *come(Strangers *strangers, guint address, gboolean spoke, gint64 got_on_ns) {
    int ends[2];
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), ==, 0);
    One *one = g_new0(One, 1);
    one->peer = ends[1];
    one->stranger = (Stranger){.owner = one, .fd = ends[0], .spoke = spoke, .got_on_ns = got_on_ns};
    strangers_add(strangers, &one->stranger, &addresses[address]);
    return one;
}

static void go(Strangers *strangers, One *one) {
    strangers_remove(strangers, &one->stranger);
    close(one->stranger.fd);
    close(one->peer);
    g_free(one);
}

/* It gives way, and is gone. */
static void expect(Strangers *strangers, One *one) {
    const Stranger *found = strangers_who_gives_way(strangers, NOW_NS);
    g_assert_nonnull(found);
    g_assert_true(found->owner == one);
    go(strangers, one);
}

static void test_order(void) {
    Strangers *strangers = strangers_new();
    g_assert_null(strangers_who_gives_way(strangers, NOW_NS));
    One *few = come(strangers, 1, TRUE, NOW_NS - LONG_NS);
    One *first = come(strangers, 0, TRUE, NOW_NS), *hangs = come(strangers, 0, TRUE, NOW_NS - LONG_NS);
    One *waits = come(strangers, 0, TRUE, NOW_NS - LONG_NS), *silent = come(strangers, 0, FALSE, NOW_NS);
    One *later = come(strangers, 0, FALSE, NOW_NS), *last = come(strangers, 0, TRUE, NOW_NS);
    g_assert_cmpint(write(waits->peer, "x", 1), ==, 1); /* what it has sent is not read: it waits for us */
    g_assert_cmpuint(strangers_count(strangers), ==, 7);

    expect(strangers, hangs);
    expect(strangers, silent);
    strangers_spoke(&later->stranger);
    expect(strangers, later); /* it was the last to say something */
    expect(strangers, last);
    g_assert_cmpuint(strangers_count(strangers), ==, 3);
    expect(strangers, waits);
    expect(strangers, few); /* as many as the other, and it hangs */
    expect(strangers, first);
    g_assert_null(strangers_who_gives_way(strangers, NOW_NS));
    strangers_free(strangers);
}

/* Each from an address of its own, as after a restart: who came last gives way, and nobody of whom more is known. */
static void test_many_addresses(void) {
    Strangers *strangers = strangers_new();
    One *all[G_N_ELEMENTS(addresses)];
    for (guint i = 0; i < G_N_ELEMENTS(addresses); i++) all[i] = come(strangers, i, TRUE, NOW_NS);
    for (guint i = G_N_ELEMENTS(addresses); i > 4; i--) expect(strangers, all[i - 1]);
    One *second = come(strangers, 2, TRUE, NOW_NS);
    expect(strangers, second);
    strangers_remove(strangers, &all[0]->stranger);
    strangers_remove(strangers, &all[0]->stranger);
    for (guint i = 0; i < 4; i++) go(strangers, all[i]);
    g_assert_cmpuint(strangers_count(strangers), ==, 0);
    strangers_free(strangers);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/strangers/order", test_order);
    g_test_add_func("/strangers/many_addresses", test_many_addresses);
    return g_test_run();
}
