/* Quotas: rules, buckets, and accounts that come and go. */
#include "receiver/secure/quota.h"

#include <string.h>

#include "common/base/clock.h"

static const char *const spans_rules[] = {"token:a=10", "cert:*=2k", "cert:never", NULL};

static void test_rules(void) {
    static const struct {
        const char *rules[4];
        const char *principal;
        gint64 limit; /* -1: they are refused */
    } cases[] = {
        {{"token:a=10", "5"}, "token:a", 10},
        {{"token:a=10", "5"}, "token:b", 5},
        {{"token:a=10"}, "token:b", G_MAXINT64},
        {{"token:a=0", "5"}, "token:a", G_MAXINT64},
        {{"cert:*=2k"}, "cert:x", 2000},
        {{"*=3M"}, "anonymous", 3000000},
        {{"anonymous = 7 "}, "anonymous", 7},
        {{"cert:urn:a=b=4"}, "cert:urn:a=b", 4},
        {{"cert:a=1", "cert:*=2"}, "cert:a", 1},
        {{NULL}, "cert:a", G_MAXINT64},
        {{"5", "token:a=1"}, "", -1},
        {{"token:a="}, "", -1},
        {{"=5"}, "", -1},
        {{"token:a=x"}, "", -1},
        {{"token:a=-1"}, "", -1},
        {{"token:a=5G"}, "", -1},
        {{"token:a=5kk"}, "", -1},
        {{"nobody=5"}, "", -1},
        {{"99999999999999999999"}, "", -1},
        {{"1099511627777"}, "", -1},
        {{""}, "", -1},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        const QuotaRules rules = {{[QUOTA_BYTES] = cases[i].rules}};
        g_assert_true(quota_rules_check(&rules, &error) == (cases[i].limit >= 0));
        if (error != NULL) g_assert_true(g_str_has_prefix(error->message, "quota.bytes: "));
        if (cases[i].limit < 0) continue;
        g_assert_cmpint(quota_rules_limit(&rules, QUOTA_BYTES, cases[i].principal), ==, cases[i].limit);
        g_assert_cmpint(quota_rules_limit(&rules, QUOTA_SPANS, cases[i].principal), ==, G_MAXINT64);
    }
    const QuotaRules wrong = {{[QUOTA_SPANS] = spans_rules}};
    g_assert_false(quota_rules_check(&wrong, NULL));
}

/* However the batches come, over time nobody has more than its quota, and half a second and a batch ahead. */
static void test_rate(void) {
    static const char *const list[] = {"token:a=1000", NULL};
    const QuotaRules rules = {{[QUOTA_SPANS] = list}};
    g_autoptr(Quotas) quotas = quotas_new(&rules);
    QuotaAccount *account = quota_account(quotas, "token:a", "::1"), *other = quota_account(quotas, "token:b", "::1");
    const gint64 begin_ns = 5 * NS_PER_SEC;
    guint64 taken = 0;
    gint64 now_ns = begin_ns;
    for (guint i = 0; i < 20000; i++) {
        const guint64 batch = (guint64)g_test_rand_int_range(1, 300);
        const gint64 wait_ns = quota_wait_ns(account, QUOTA_SPANS, now_ns);
        g_assert_cmpint(wait_ns, <=, NS_PER_SEC);
        if (wait_ns == 0) {
            quota_charge(account, QUOTA_SPANS, batch, now_ns);
            taken += batch;
        } else if (g_test_rand_int_range(0, 2) == 0) {
            now_ns += wait_ns;
            g_assert_cmpint(quota_wait_ns(account, QUOTA_SPANS, now_ns), ==, 0);
        }
        now_ns += g_test_rand_int_range(0, 20) * NS_PER_MS;
        g_assert_cmpint(quota_wait_ns(other, QUOTA_SPANS, now_ns), ==, 0);
    }
    const double most = (double)(now_ns - begin_ns) / 1e9 * 1000;
    g_assert_cmpfloat((double)taken, <=, most + 1300);
    g_assert_cmpfloat((double)taken, >=, most * 0.8 - 1300);
    quota_account_free(account);
    quota_account_free(other);
}

/* Who leaves and comes again owes what it owed; another address of somebody without a name owes nothing. */
static void test_debt_stays(void) {
    static const char *const list[] = {"10", NULL};
    const QuotaRules rules = {{[QUOTA_QUESTIONS] = list}};
    g_autoptr(Quotas) quotas = quotas_new(&rules);
    const gint64 now_ns = clock_monotonic_ns(clock_system());
    QuotaAccount *account = quota_account(quotas, NULL, "10.0.0.1");
    g_assert_cmpstr(quota_account_name(account), ==, "anonymous at 10.0.0.1");
    quota_charge(account, QUOTA_QUESTIONS, 10, now_ns);
    quota_account_free(account);
    for (guint i = 0; i < 5000; i++) {
        g_autofree char *address = g_strdup_printf("10.1.%u.%u", i / 256, i % 256);
        QuotaAccount *passing = quota_account(quotas, NULL, address);
        g_assert_cmpint(quota_wait_ns(passing, QUOTA_QUESTIONS, now_ns), ==, 0);
        quota_account_free(passing);
    }
    account = quota_account(quotas, NULL, "10.0.0.1");
    const gint64 wait_ns = quota_wait_ns(account, QUOTA_QUESTIONS, now_ns);
    g_assert_cmpint(wait_ns, >, 5 * NS_PER_SEC);
    g_assert_cmpint(wait_ns, <=, 6 * NS_PER_SEC + 1);
    quota_account_free(account);
}

static void add_name(void *arg, const QuotaRefusals *refusals) {
    g_string_append_printf(arg, "%s %" G_GUINT64_FORMAT ";", refusals->name, refusals->refused[QUOTA_CONNECTIONS]);
}

static void test_connections(void) {
    static const char *const list[] = {"token:a=2", "token:b=1", NULL}, *const none[] = {NULL};
    const QuotaRules rules = {{[QUOTA_CONNECTIONS] = list}}, free_for_all = {{[QUOTA_CONNECTIONS] = none}};
    g_autoptr(Quotas) quotas = quotas_new(&rules);
    QuotaAccount *a = quota_account(quotas, "token:a", "x"), *b = quota_account(quotas, "token:b", "x");
    g_assert_true(quota_connect(a) && quota_connect(a) && !quota_connect(a));
    g_assert_true(quota_connect(b) && !quota_connect(b));
    for (guint i = 0; i < 3; i++) quota_refused(b, QUOTA_CONNECTIONS);
    quota_refused(a, QUOTA_CONNECTIONS);
    quota_disconnect(a);
    g_assert_true(quota_connect(a) && !quota_connect(a));
    g_autoptr(GString) names = g_string_new(NULL);
    quotas_foreach_refused(quotas, add_name, names);
    g_assert_cmpstr(names->str, ==, "token:b 3;token:a 1;");
    quotas_set_rules(quotas, &free_for_all);
    g_assert_true(quota_connect(b));
    quota_account_free(a);
    quota_account_free(b);
    g_assert_null(quota_account(quotas, "token:a", "x"));
}

static void test_no_quota(void) {
    const QuotaRules rules = {{NULL}};
    g_autoptr(Quotas) quotas = quotas_new(&rules);
    QuotaAccount *account = quota_account(quotas, "token:a", "x");
    g_assert_null(account);
    g_assert_true(quota_connect(account));
    quota_charge(account, QUOTA_SPANS, G_MAXUINT64, 1);
    g_assert_cmpint(quota_wait_ns(account, QUOTA_SPANS, 1), ==, 0);
    quota_disconnect(account);
    quota_account_free(account);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/quota/rules", test_rules);
    g_test_add_func("/quota/rate", test_rate);
    g_test_add_func("/quota/debt stays", test_debt_stays);
    g_test_add_func("/quota/connections", test_connections);
    g_test_add_func("/quota/no quota", test_no_quota);
    return g_test_run();
}
