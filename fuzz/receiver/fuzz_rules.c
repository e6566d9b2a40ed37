/* Rules about who may do what, and how much of it: the input is a principal, a line feed, the list of a role, a line
 * feed, the list of a quota; with ';' between entries, in UTF-8, as the configuration and logins have it. What is taken
 * gives a role to nobody whom the list does not name, and a limit that is one. */
#include <string.h>

#include "fuzz/target.h"
#include "receiver/secure/access.h"
#include "receiver/secure/quota.h"

static char **list_of(const char *text) {
    char **list = g_strsplit(text, ";", 0);
    for (char **at = list; *at != NULL; at++) g_strstrip(*at);
    return list;
}

static gboolean names(const char *const *list, const char *principal) {
    for (; *list != NULL; list++)
        if (g_pattern_match_simple(*list, principal)) return TRUE;
    return FALSE;
}

static void look_at_access(const char *const *list, const char *principal) {
    g_autoptr(GError) error = NULL;
    const gboolean good = access_list_check("access.read", list, &error);
    g_assert_true(good == (error == NULL));
    if (!good || *list == NULL) return;
    const AccessRules rules = {.lists = {[1] = list}};
    const guint roles = access_rules_roles(&rules, principal, FALSE);
    g_assert_cmpuint(roles & ~(guint)ACCESS_READ, ==, 0);
    const gboolean anonymous = g_strv_contains(list, ACCESS_ANONYMOUS);
    g_assert_true(roles == 0 || anonymous || names(list, principal));
    g_assert_true((access_rules_roles(&rules, ACCESS_ANONYMOUS, FALSE) != 0) == anonymous);
    g_assert_false(access_suffices(roles, ACCESS_WRITE));
}

static void look_at_quota(const char *const *list, const char *principal) {
    g_autoptr(GError) error = NULL;
    const QuotaRules rules = {.lists = {[QUOTA_SPANS] = list}};
    const gboolean good = quota_rules_check(&rules, &error);
    g_assert_true(good == (error == NULL));
    if (!good) return;
    const gint64 limit = quota_rules_limit(&rules, QUOTA_SPANS, principal);
    g_assert_cmpint(limit, >, 0);
    g_assert_true(*list != NULL || limit == G_MAXINT64);

    g_autoptr(Quotas) quotas = quotas_new(&rules);
    QuotaAccount *account = quota_account(quotas, principal, "::1");
    if (account == NULL) return;
    g_assert_cmpint(quota_wait_ns(account, QUOTA_SPANS, 1), ==, 0);
    quota_charge(account, QUOTA_SPANS, G_MAXUINT64, 1);
    g_assert_cmpint(quota_wait_ns(account, QUOTA_SPANS, 1), >=, 0);
    quota_account_free(account);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    g_autofree char *input = g_strndup((const char *)data, size), *text = g_utf8_make_valid(input, -1);
    g_auto(GStrv) parts = g_strsplit(text, "\n", 3);
    if (g_strv_length(parts) < 3) return 0;
    g_auto(GStrv) roles = list_of(parts[1]), quotas = list_of(parts[2]);
    look_at_access((const char *const *)roles, parts[0]);
    look_at_quota((const char *const *)quotas, parts[0]);
    return 0;
}
