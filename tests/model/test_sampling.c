/* Sampling policies that are taken, and mistakes that are named. */
#include "common/model/sampling.h"

#include <string.h>

#include "common/base/error.h"
#include "common/base/limits.h"

static void test_good(void) {
    static const char *const policies[] = {
        "",
        "  ",
        "always",
        "never",
        "0",
        "1",
        "0.01",
        ".5",
        "1e-5",
        "2.5E-1",
        "5/s",
        "0.2/s",
        "0/s",
        "5 /s",
        "1e6/s",
        "every 100",
        "every  1",
        "Workload#*=always; hflush=never; 0.01",
        "Workload#*=always;hflush=never;",
        ";; hflush = never",
        " *=never ",
        "DFSOutputStream#close = 100/s ; *=1",
        "a=b=0.5", /* the last '=' counts: names are free text */
        "caf\xc3\xa9=always",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(policies); i++) {
        g_autoptr(GError) error = NULL;
        sampling_check(policies[i], &error);
        g_assert_no_error(error);
    }
}

static void test_mistakes(void) {
    static const struct {
        const char *policy, *named;
    } cases[] = {
        {"sometimes", "'sometimes'"},
        {"a=always; b=often; never", "'b=often': 'often'"},
        {"0.5; hflush=never", "'hflush=never' is never reached"},
        {"*=always; never", "'never' is never reached"},
        {";", "nothing but"},
        {"=always", "'=always'"},
        {"a*b=always", "'a*b=always'"},
        {"a**=always", "'a**=always'"},
        {"a=", "'' is no choice"},
        {"1.01", "'1.01'"},
        {"-0.1", "'-0.1'"},
        {"a=0x1p-3", "'0x1p-3'"},
        {"a=nan", "'nan'"},
        {"inf", "'inf'"},
        {"1e", "'1e'"},
        {"1e+1", "'1e+1'"},
        {"1e-1000", "'1e-1000'"},
        {"1.", "'1.'"},
        {"1.2.3", "'1.2.3'"},
        {".", "'.'"},
        {"/s", "'/s'"},
        {"5/m", "'5/m'"},
        {"1e7/s", "'1e7/s'"},
        {"every 0", "'every 0'"},
        {"every 1.5", "'every 1.5'"},
        {"every", "'every'"},
        {"Always", "'Always'"},
        {"caf\xe9=always", "UTF-8"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_test_message("%s", cases[i].policy);
        g_assert_false(sampling_check(cases[i].policy, &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CONFIG);
        g_assert_nonnull(strstr(error->message, cases[i].named));
    }
}

static void test_lengths(void) {
    g_autoptr(GString) policy = g_string_new(NULL);
    while (policy->len < LIMIT_NAME_BYTES) g_string_append_c(policy, 'n');
    g_string_append(policy, "=1");
    g_assert_true(sampling_check(policy->str, NULL));
    g_string_prepend_c(policy, 'n');
    g_assert_false(sampling_check(policy->str, NULL));

    g_string_assign(policy, "never");
    while (policy->len < LIMIT_POLICY_BYTES) g_string_append_c(policy, ' ');
    g_assert_true(sampling_check(policy->str, NULL));
    g_string_append_c(policy, ' ');
    g_autoptr(GError) error = NULL;
    g_assert_false(sampling_check(policy->str, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CONFIG);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sampling/good", test_good);
    g_test_add_func("/sampling/mistakes", test_mistakes);
    g_test_add_func("/sampling/lengths", test_lengths);
    return g_test_run();
}
