/* A slow link between two hosts, told from single transfers. */
#include "analyzer/diagnosis/nodes/links.h"

#include <math.h>

#define HOSTS 5u

typedef struct Case {
    const char *name;
    guint32 host;
    guint32 slow_from, slow_to; /* such transfers take a second for a MiB; 0: from, or to, all */
    guint32 also_from, also_to; /* and such ones 0.7 s; others 20 ms */
    guint each;                 /* transfers of each pair */
    guint traces;               /* from so many */
    guint32 from, to;           /* that are found; 0: none */
    gboolean both_ways;
    LinkUse use;
    guint left_out; /* peers that are slow themselves */
} Case;

static const Case cases[] = {
    {"a link in one direction, seen from its receiver", 3, 2, 3, 9, 9, 8, 3, 2, 3, FALSE, LINK_OF_WRITES, 0},
    {"from its sender", 2, 2, 3, 9, 9, 8, 3, 2, 3, FALSE, LINK_OF_WRITES, 0},
    {"in both", 3, 2, 3, 3, 2, 8, 3, 2, 3, TRUE, LINK_OF_WRITES, 0},
    {"a link of others", 1, 2, 3, 9, 9, 8, 3, 0, 0, FALSE, LINK_OF_WRITES, 0},
    {"all that the host sends", 2, 2, 0, 9, 9, 8, 3, 0, 0, FALSE, LINK_OF_WRITES, 0},
    {"all that the host takes", 3, 0, 3, 9, 9, 8, 3, 0, 0, FALSE, LINK_OF_WRITES, 0},
    {"too few transfers", 3, 2, 3, 9, 9, 7, 7, 0, 0, FALSE, LINK_OF_WRITES, 0},
    {"from too few traces", 3, 2, 3, 9, 9, 20, 2, 0, 0, FALSE, LINK_OF_WRITES, 0},
    {"nothing is slow", 3, 9, 9, 9, 9, 8, 3, 0, 0, FALSE, LINK_OF_WRITES, 0},
    {"of readers", 3, 2, 3, 9, 9, 8, 3, 2, 3, FALSE, LINK_OF_READS, 0},
    {"of readers, beside another server's network", 3, 2, 3, 4, 0, 8, 3, 2, 3, FALSE, LINK_OF_READS, 1},
    {"of readers, beside another reader's network", 2, 2, 3, 0, 4, 8, 3, 2, 3, FALSE, LINK_OF_READS, 1},
    {"beside another host's network", 3, 2, 3, 4, 0, 8, 3, 0, 0, FALSE, LINK_OF_WRITES, 0},
    {"a server's network, and a reader's", 3, 2, 0, 0, 3, 8, 3, 0, 0, FALSE, LINK_OF_READS, 0},
};

static gboolean is_slow(const LinkTransfer *transfer, guint32 from, guint32 to) {
    return (from == 0 || transfer->from == from) && (to == 0 || transfer->to == to);
}

static void test_case(gconstpointer data) {
    const Case *c = data;
    g_autoptr(GArray) transfers = g_array_new(FALSE, FALSE, sizeof(LinkTransfer));
    for (guint i = 0; i < c->each * HOSTS * HOSTS; i++) {
        LinkTransfer transfer = {1 + i % HOSTS, 1 + i / HOSTS % HOSTS, i / (HOSTS * HOSTS) % c->traces, 0};
        const gboolean slow = is_slow(&transfer, c->slow_from, c->slow_to),
                       also = is_slow(&transfer, c->also_from, c->also_to);
        transfer.ns = (slow ? 1e9 : also ? 7e8 : 2e7) * (1 + 0.01 * (i % 7));
        if (transfer.from != transfer.to) g_array_append_val(transfers, transfer);
    }

    const SlowLink link = slow_link_find(transfers, c->use, c->host);
    g_assert_cmpuint(link.from, ==, c->from);
    g_assert_cmpuint(link.to, ==, c->to);
    g_assert_cmpint(link.both_ways, ==, c->both_ways);
    if (link.from == 0) return;
    g_assert_cmpuint(slow_link_partner(transfers, c->host), ==, c->host == link.from ? link.to : link.from);
    g_assert_cmpuint(link.calls, ==, c->each);
    g_assert_cmpuint(link.others, ==, c->each * (2 * (HOSTS - 2) - c->left_out));
    g_assert_cmpfloat_with_epsilon(link.ns, 1.03e9, 4e7);
    g_assert_cmpfloat_with_epsilon(link.to_others_ns, 2.06e7, 8e5);
    g_assert_cmpfloat_with_epsilon(link.from_others_ns, 2.06e7, 8e5);
}

static void test_none(void) {
    g_autoptr(GArray) transfers = g_array_new(FALSE, FALSE, sizeof(LinkTransfer));
    g_assert_cmpuint(slow_link_find(transfers, LINK_OF_WRITES, 1).from, ==, 0);
    g_assert_cmpuint(slow_link_partner(transfers, 1), ==, 0);
}

/* ---- chance ---- */

#define PEERS 30u
#define SEEDS 1000u
#define SIGMA 1.5

static void add_lognormal(GArray *transfers, GRand *rand, guint32 from, guint32 to) {
    const double u = 1 - g_rand_double(rand), v = g_rand_double(rand);
    const double normal = sqrt(-2 * log(u)) * cos(2 * G_PI * v);
    const LinkTransfer transfer = {from, to, (guint32)g_rand_int_range(rand, 0, 96), 2e7 * exp(SIGMA * normal)};
    g_array_append_val(transfers, transfer);
}

/* Of a host and its peers, and of the peers among themselves; times vary as those of real transfers do. */
static void add_pairs(GArray *transfers, GRand *rand, gint32 most) {
    for (guint32 peer = 2; peer < 2 + PEERS; peer++) {
        const guint32 other = 2 + (peer - 1) % PEERS, ends[][2] = {{1, peer}, {peer, 1}, {peer, other}, {other, peer}};
        for (guint i = 0; i < G_N_ELEMENTS(ends); i++)
            for (gint32 n = g_rand_int_range(rand, 0, most + 1); n > 0; n--)
                add_lognormal(transfers, rand, ends[i][0], ends[i][1]);
    }
}

/* The worst of sixty pairs is no slow link, however many transfers are known of each. */
static void test_chance(void) {
    for (gint32 most = 4; most <= 16; most *= 2) {
        guint named = 0;
        for (guint seed = 0; seed < SEEDS; seed++) {
            g_autoptr(GArray) transfers = g_array_new(FALSE, FALSE, sizeof(LinkTransfer));
            GRand *rand = g_rand_new_with_seed(seed);
            add_pairs(transfers, rand, most);
            named += slow_link_find(transfers, seed % 2 ? LINK_OF_READS : LINK_OF_WRITES, 1).from != 0;
            g_rand_free(rand);
        }
        g_test_message("of 0 to %d transfers: named %u times of %u", most, named, SEEDS);
        g_assert_cmpuint(named, <=, SEEDS / 100);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/diagnosis/links/none", test_none);
    g_test_add_func("/diagnosis/links/chance", test_chance);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strdup_printf("/diagnosis/links/%s", cases[i].name);
        g_test_add_data_func(path, &cases[i], test_case);
    }
    return g_test_run();
}
