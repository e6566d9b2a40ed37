/* What peers may add to the dictionary. */
#include <string.h>

#include "common/base/limits.h"
#include "receiver/shared/name_quota.h"

typedef struct Setup {
    Store *store;
    Dict *dict;
    NameQuota *names;
} Setup;

static void setup_init(Setup *setup, guint per_peer, guint all) {
    g_autoptr(GError) error = NULL;
    setup->store = store_open_memory(&(StoreOptions){0}, &error);
    setup->dict = dict_open(setup->store, &error);
    g_assert_no_error(error);
    setup->names = name_quota_new(setup->dict, &(NameLimits){per_peer, all});
}

static void setup_clear(Setup *setup) {
    name_quota_free(setup->names);
    dict_free(setup->dict);
    store_close(setup->store);
}

static guint add_all(const PackLimit *limit, PackNew what, guint tries) {
    guint n = 0;
    for (guint i = 0; i < tries; i++) n += limit->may_add(limit->arg, what, 10) ? 1 : 0;
    return n;
}

static void test_each_peer(void) {
    Setup setup;
    setup_init(&setup, 100, 250);
    const PackLimit *a = name_quota_of(setup.names, "a"), *b = name_quota_of(setup.names, "b"),
                    *c = name_quota_of(setup.names, "c");
    g_assert_true(a == name_quota_of(setup.names, "a"));
    g_assert_cmpuint(add_all(a, PACK_NEW_NAME, 1000), ==, 100);
    g_assert_cmpuint(add_all(a, PACK_NEW_FOLDED, 1000), ==, 25);
    g_assert_cmpuint(add_all(b, PACK_NEW_NAME, 1000), ==, 100);
    g_assert_cmpuint(add_all(c, PACK_NEW_NAME, 1000), ==, 50); /* of all */
    g_assert_cmpuint(add_all(a, PACK_NEW_TEXT, 1000), ==, 1000);
    g_assert_cmpuint(add_all(a, PACK_NEW_FIXED, 10), ==, 10);
    NameQuotaState state = name_quota_state(setup.names);
    g_assert_cmpuint(state.folded, ==, 900 + 975 + 900 + 950);
    g_assert_cmpuint(state.refused, ==, 0);
    setup_clear(&setup);
}

/* A peer may have as much as is free; here nothing is really added, so that is all. */
static void test_the_rest_is_left(void) {
    Setup setup;
    setup_init(&setup, G_MAXINT, G_MAXINT);
    const DictUsage usage = dict_usage(setup.dict);
    guint added = 0;
    const PackLimit *a = name_quota_of(setup.names, "a");
    while (added < usage.most_entries && a->may_add(a->arg, PACK_NEW_TEXT, 1)) added++;
    g_assert_cmpuint(added, >=, usage.most_entries - 2); /* the empty text takes some bytes */
    g_assert_false(a->may_add(a->arg, PACK_NEW_TEXT, 1));
    g_assert_cmpuint(name_quota_state(setup.names).refused, >=, 1);
    const PackLimit *b = name_quota_of(setup.names, "b");
    g_assert_true(b->may_add(b->arg, PACK_NEW_TEXT, 1));
    g_assert_false(b->may_add(b->arg, PACK_NEW_TEXT, usage.most_bytes + 1));
    g_assert_null(name_quota_describe(setup.names));
    setup_clear(&setup);
}

/* Adds long texts until the dictionary is so full. */
static void fill(Setup *setup, double full) {
    char text[LIMIT_NAME_BYTES];
    memset(text, 'x', sizeof text);
    while (name_quota_state(setup->names).full < full) {
        g_autoptr(GError) error = NULL;
        guint32 id;
        g_snprintf(text, 16, "%15u", dict_size(setup->dict));
        g_assert_true(dict_intern(setup->dict, text, sizeof text, &id, &error));
    }
}

static void test_how_full(void) {
    Setup setup;
    setup_init(&setup, 100, 100);
    const PackLimit *peer = name_quota_of(setup.names, "a");
    g_assert_false(name_quota_watch(setup.names));
    static const double marks[] = {0.5, 0.8, 0.95};
    for (guint i = 0; i < G_N_ELEMENTS(marks); i++) {
        fill(&setup, marks[i]);
        g_assert_true(name_quota_watch(setup.names));
        g_assert_false(name_quota_watch(setup.names)); /* once */
        g_assert_null(name_quota_describe(setup.names));
        g_assert_true(peer->may_add(peer->arg, PACK_NEW_TEXT, 10));
    }
    fill(&setup, 0.9995);
    g_autofree char *why = name_quota_describe(setup.names);
    g_assert_nonnull(why);
    setup_clear(&setup);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/names/each_peer", test_each_peer);
    g_test_add_func("/names/rest", test_the_rest_is_left);
    g_test_add_func("/names/full", test_how_full);
    return g_test_run();
}
