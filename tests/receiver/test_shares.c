/* Fair shares: who gives way when a limit is reached. */
#include "receiver/shared/shares.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"

#define BUFFER_BYTES 1000u

static Shares *shares_of(guint connections) {
    const ShareLimits limits = {{connections, connections}, 0, BUFFER_BYTES};
    return shares_new(&limits);
}

/* One end of a pair of sockets, whose other end shows whether it was shut down. */
typedef struct Pair {
    int ends[2];
    PeerPlace *place;
} Pair;

static gboolean take(Shares *shares, Pair *pair, const char *name, gint64 active_ns, gint64 own_idle_ns) {
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair->ends), ==, 0);
    pair->place = shares_take(shares, PEER_SENDERS, pair->ends[0], name, own_idle_ns);
    if (pair->place != NULL) atomic_store(&pair->place->active_ns, active_ns);
    return pair->place != NULL;
}

static gboolean is_shut(const Pair *pair) {
    char byte;
    return recv(pair->ends[1], &byte, 1, 0) == 0;
}

static void pair_end(Pair *pair) {
    peer_place_free(pair->place);
    close(pair->ends[0]);
    close(pair->ends[1]);
}

static void test_most_gives_way(void) {
    g_autoptr(Shares) shares = shares_of(4);
    Pair many[4], few;
    for (gint64 i = 0; i < 4; i++) g_assert_true(take(shares, &many[i], "many", 100 - i, G_MAXINT64));
    g_assert_true(take(shares, &few, "few", 1000, G_MAXINT64));
    for (guint i = 0; i < 4; i++) g_assert_cmpint(is_shut(&many[i]), ==, i == 3); /* idle for longest */
    g_assert_true(atomic_load(&many[3].place->gave_way));
    g_assert_cmpuint(shares_connections(shares, PEER_SENDERS), ==, 4);
    g_assert_cmpuint(shares_leaving(shares, PEER_SENDERS), ==, 1);
    g_assert_cmpuint(shares_leaving(shares, PEER_READERS), ==, 0);
    for (guint i = 0; i < 4; i++) pair_end(&many[i]);
    g_assert_cmpuint(shares_leaving(shares, PEER_SENDERS), ==, 0);
    pair_end(&few);
    g_assert_cmpuint(shares_connections(shares, PEER_SENDERS), ==, 0);
    g_assert_cmpuint(shares_count(shares), ==, 0);
}

static void test_who_has_most_is_refused(void) {
    g_autoptr(Shares) shares = shares_of(4);
    Pair many[4], few;
    for (gint64 i = 0; i < 3; i++) g_assert_true(take(shares, &many[i], "many", i, G_MAXINT64));
    g_assert_true(take(shares, &few, "few", 0, G_MAXINT64));
    g_assert_false(take(shares, &many[3], "many", 5, G_MAXINT64));
    for (guint i = 0; i < 3; i++) g_assert_false(is_shut(&many[i]));
    g_assert_false(is_shut(&few));
    for (guint i = 0; i < 4; i++) pair_end(&many[i]);
    pair_end(&few);
}

/* Two peers that have as many do not take places from each other in turn. */
static void test_equals_leave_each_other_alone(void) {
    g_autoptr(Shares) shares = shares_of(2);
    Pair a, b, more;
    g_assert_true(take(shares, &a, "a", 1, G_MAXINT64));
    g_assert_true(take(shares, &b, "b", 2, G_MAXINT64));
    g_assert_false(take(shares, &more, "a", 3, G_MAXINT64));
    pair_end(&more);
    g_assert_false(take(shares, &more, "c", 3, G_MAXINT64));
    g_assert_false(is_shut(&a) || is_shut(&b));
    pair_end(&a);
    pair_end(&b);
    pair_end(&more);
}

static void test_own_idle_one_gives_way(void) {
    g_autoptr(Shares) shares = shares_of(2);
    Pair busy, idle, next, last;
    g_assert_true(take(shares, &busy, "a", 1, 0));
    atomic_store(&busy.place->busy, TRUE);
    g_assert_true(take(shares, &idle, "a", 2, 0));
    g_assert_true(take(shares, &next, "a", 3, 0));
    g_assert_true(is_shut(&idle));
    g_assert_false(is_shut(&busy));
    atomic_store(&next.place->busy, TRUE);
    g_assert_false(take(shares, &last, "a", 4, 0)); /* all are busy */
    pair_end(&busy);
    pair_end(&idle);
    pair_end(&next);
    pair_end(&last);
}

/* Only one that was idle for long, where that is asked for. */
static void test_own_idle_for_long(void) {
    g_autoptr(Shares) shares = shares_of(1);
    const gint64 hour_ns = 60 * NS_PER_MINUTE, now_ns = clock_monotonic_ns(clock_system());
    Pair old, refused, next;
    g_assert_true(take(shares, &old, "a", now_ns, hour_ns));
    g_assert_false(take(shares, &refused, "a", now_ns, hour_ns));
    atomic_store(&old.place->active_ns, now_ns - hour_ns);
    g_assert_true(take(shares, &next, "a", now_ns, hour_ns));
    g_assert_true(is_shut(&old));
    pair_end(&old);
    pair_end(&refused);
    pair_end(&next);
}

/* However much one has taken, there is some left for the next. */
static void test_memory_is_left(void) {
    g_autoptr(Shares) shares = shares_of(10);
    Pair pairs[4];
    gsize had = G_MAXSIZE;
    for (guint i = 0; i < G_N_ELEMENTS(pairs); i++) {
        g_autofree char *name = g_strdup_printf("%u", i);
        g_assert_true(take(shares, &pairs[i], name, 1, G_MAXINT64));
        gsize has = 0;
        while (peer_buffer(pairs[i].place, has, has + 1)) has++;
        if (i == 0) g_assert_cmpuint(has, ==, BUFFER_BYTES * PEER_BUFFER_FACTOR / (PEER_BUFFER_FACTOR + 1));
        g_assert_cmpuint(has, >, 0);
        g_assert_cmpuint(has, <, had);
        had = has;
    }
    g_assert_true(peer_is_over(pairs[0].place)); /* now that others need some */
    g_assert_cmpuint(shares_buffered_bytes(shares), <, BUFFER_BYTES);
    g_assert_true(peer_buffer(pairs[0].place, 700, 0));
    g_assert_false(peer_is_over(pairs[1].place));
    for (guint i = 0; i < G_N_ELEMENTS(pairs); i++) pair_end(&pairs[i]);
}

/* However much place there is; others and this machine itself are not concerned. */
static void test_per_address(void) {
    const ShareLimits limits = {{100, 100}, 2, BUFFER_BYTES};
    g_autoptr(Shares) shares = shares_new(&limits);
    Pair pairs[8];
    guint n = 0;
    for (guint i = 0; i < 2; i++) g_assert_true(take(shares, &pairs[n++], "a", 1, G_MAXINT64));
    g_assert_true(shares_peer_is_full(shares, PEER_SENDERS, "a"));
    g_assert_false(take(shares, &pairs[n++], "a", 1, G_MAXINT64));
    g_assert_false(shares_peer_is_full(shares, PEER_SENDERS, "b"));
    g_assert_true(take(shares, &pairs[n++], "b", 1, G_MAXINT64));
    for (guint i = 0; i < 3; i++) g_assert_true(take(shares, &pairs[n++], "127.0.0.1", 1, G_MAXINT64));
    g_assert_true(take(shares, &pairs[n++], "a", 2, 0)); /* one that was idle for long gives way, of its own */
    g_assert_true(is_shut(&pairs[0]) && !is_shut(&pairs[3]));
    for (guint i = 0; i < n; i++) pair_end(&pairs[i]);
}

static void test_names(void) {
    static const struct {
        const char *address, *name;
    } cases[] = {
        {"10.1.2.3", "10.1.2.3"},
        {"::ffff:10.1.2.3", "10.1.2.3"},
        {"::1", "::1"},
        {"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
        {"2001:db8:1:2:ffff::", "2001:db8:1:2::/64"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct sockaddr_in v4 = {.sin_family = AF_INET};
        struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
        char name[PEER_NAME_BYTES];
        if (inet_pton(AF_INET, cases[i].address, &v4.sin_addr) == 1) {
            peer_name_of((struct sockaddr *)&v4, sizeof v4, name);
        } else {
            g_assert_cmpint(inet_pton(AF_INET6, cases[i].address, &v6.sin6_addr), ==, 1);
            peer_name_of((struct sockaddr *)&v6, sizeof v6, name);
        }

        g_assert_cmpstr(name, ==, cases[i].name);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/shares/most_gives_way", test_most_gives_way);
    g_test_add_func("/shares/who_has_most_is_refused", test_who_has_most_is_refused);
    g_test_add_func("/shares/equals", test_equals_leave_each_other_alone);
    g_test_add_func("/shares/own", test_own_idle_one_gives_way);
    g_test_add_func("/shares/own_idle_for_long", test_own_idle_for_long);
    g_test_add_func("/shares/memory", test_memory_is_left);
    g_test_add_func("/shares/per address", test_per_address);
    g_test_add_func("/shares/names", test_names);
    return g_test_run();
}
