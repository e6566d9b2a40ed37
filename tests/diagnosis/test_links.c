/* A slow link between two hosts, told from single transfers. */
#include "analyzer/diagnosis/nodes/links.h"

#define HOSTS 5u

typedef struct Case {
    const char *name;
    guint32 host;
    guint32 slow_from, slow_to; /* such transfers take a second for a MiB, others 20 ms; 0: from, or to, all */
    guint32 also_from, also_to;
    guint each;       /* transfers of each pair */
    guint32 from, to; /* that are found; 0: none */
    gboolean both_ways;
} Case;

static const Case cases[] = {
    {"a link in one direction, seen from its receiver", 3, 2, 3, 9, 9, 4, 2, 3, FALSE},
    {"from its sender", 2, 2, 3, 9, 9, 4, 2, 3, FALSE},
    {"in both", 3, 2, 3, 3, 2, 4, 2, 3, TRUE},
    {"a link of others", 1, 2, 3, 9, 9, 4, 0, 0, FALSE},
    {"all that the host sends", 2, 2, 0, 9, 9, 4, 0, 0, FALSE},
    {"all that the host takes", 3, 0, 3, 9, 9, 4, 0, 0, FALSE},
    {"too few transfers", 3, 2, 3, 9, 9, 2, 0, 0, FALSE},
    {"nothing is slow", 3, 9, 9, 9, 9, 4, 0, 0, FALSE},
};

static gboolean is_slow(const LinkTransfer *transfer, guint32 from, guint32 to) {
    return (from == 0 || transfer->from == from) && (to == 0 || transfer->to == to);
}

static void test_case(gconstpointer data) {
    const Case *c = data;
    g_autoptr(GArray) transfers = g_array_new(FALSE, FALSE, sizeof(LinkTransfer));
    for (guint i = 0; i < c->each * HOSTS * HOSTS; i++) {
        LinkTransfer transfer = {1 + i % HOSTS, 1 + i / HOSTS % HOSTS, 0};
        const gboolean slow =
            is_slow(&transfer, c->slow_from, c->slow_to) || is_slow(&transfer, c->also_from, c->also_to);
        transfer.ns = (slow ? 1e9 : 2e7) * (1 + 0.01 * (i % 7));
        if (transfer.from != transfer.to) g_array_append_val(transfers, transfer);
    }

    const SlowLink link = slow_link_find(transfers, c->host);
    g_assert_cmpuint(link.from, ==, c->from);
    g_assert_cmpuint(link.to, ==, c->to);
    g_assert_cmpint(link.both_ways, ==, c->both_ways);
    if (link.from == 0) return;
    g_assert_cmpuint(slow_link_partner(transfers, c->host), ==, c->host == link.from ? link.to : link.from);
    g_assert_cmpuint(link.calls, ==, c->each);
    g_assert_cmpuint(link.others, ==, 2 * c->each * (HOSTS - 2));
    g_assert_cmpfloat_with_epsilon(link.ns, 1.03e9, 4e7);
    g_assert_cmpfloat_with_epsilon(link.to_others_ns, 2.06e7, 8e5);
    g_assert_cmpfloat_with_epsilon(link.from_others_ns, 2.06e7, 8e5);
}

static void test_none(void) {
    g_autoptr(GArray) transfers = g_array_new(FALSE, FALSE, sizeof(LinkTransfer));
    g_assert_cmpuint(slow_link_find(transfers, 1).from, ==, 0);
    g_assert_cmpuint(slow_link_partner(transfers, 1), ==, 0);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/diagnosis/links/none", test_none);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strdup_printf("/diagnosis/links/%s", cases[i].name);
        g_test_add_data_func(path, &cases[i], test_case);
    }
    return g_test_run();
}
