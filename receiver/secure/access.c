#include "receiver/secure/access.h"

#include <string.h>

#include "common/base/error.h"

/* In the order of the bits. */
static const char *const names[ACCESS_ROLES] = {"write", "read", "metrics", "peer", "admin"};

gboolean access_role_parse(const char *name, AccessRole *role) {
    for (guint i = 0; i < ACCESS_ROLES; i++) {
        if (strcmp(names[i], name) != 0) continue;
        *role = (AccessRole)(1u << i);
        return TRUE;
    }
    return FALSE;
}

static gboolean list_has(const char *const *list, const char *principal) {
    for (; *list != NULL; list++)
        if (g_pattern_match_simple(*list, principal)) return TRUE;
    return FALSE;
}

static gboolean has_role(const char *const *list, const char *principal, gboolean open) {
    if (list == NULL || *list == NULL) return open;
    /* "*" alone would let in who has no name, by accident. */
    return list_has(list, principal) &&
           (strcmp(principal, ACCESS_ANONYMOUS) != 0 || g_strv_contains(list, ACCESS_ANONYMOUS));
}

static gboolean any_is_set(const AccessRules *rules) {
    for (guint i = 0; i < ACCESS_ROLES; i++)
        if (rules->lists[i] != NULL && *rules->lists[i] != NULL) return TRUE;
    return FALSE;
}

guint access_rules_roles(const AccessRules *rules, const char *principal, gboolean open) {
    guint roles = 0;
    for (guint i = 0; i < ACCESS_ROLES; i++) {
        const gboolean admin = 1u << i == ACCESS_ADMIN;
        const gboolean by_default = open && !(admin && any_is_set(rules));
        if (has_role(rules->lists[i], principal, by_default) || has_role(rules->lists[i], ACCESS_ANONYMOUS, by_default))
            roles |= 1u << i;
    }
    return roles;
}

gboolean access_list_check(const char *key, const char *const *list, GError **error) {
    for (; list != NULL && *list != NULL; list++) {
        const gboolean known = strcmp(*list, ACCESS_ANONYMOUS) == 0 || strcmp(*list, "*") == 0 ||
                               g_str_has_prefix(*list, "cert:") || g_str_has_prefix(*list, "token:") ||
                               g_str_has_prefix(*list, "krb5:");
        if (!known)
            return fail(error, PLUMB_ERROR_CONFIG,
                        "%s: '%s' is nobody: write cert:NAME, token:NAME, krb5:NAME@REALM or anonymous, with ; between",
                        key, *list);
    }
    return TRUE;
}

gboolean access_suffices(guint roles, guint needed) {
    if (needed == ACCESS_ANYBODY || (roles & ACCESS_ADMIN) != 0) return TRUE;
    if (needed == ACCESS_METRICS && (roles & ACCESS_READ) != 0) return TRUE;
    return (roles & needed) != 0;
}
