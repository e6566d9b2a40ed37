#include "receiver/secure/quota.h"

#include <pthread.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "receiver/secure/access.h"

#define NO_LIMIT G_MAXINT64
/* A quota of more is none; products with it fit. */
#define LIMIT_MAX (G_GINT64_CONSTANT(1) << 40)
/* Nobody has to wait for longer, whatever it owes. */
#define WAIT_MOST_NS (G_GINT64_CONSTANT(1) << 60)
/* Accounts that nobody uses are looked for when there are twice as many as were left the last time. */
#define SWEEP_FIRST 256u
#define OTHERS      "(others)"

const char *const quota_keys[QUOTA_KINDS] = {"quota.spans", "quota.bytes", "quota.questions", "quota.connections"};

typedef struct Bucket {
    gint64 limit; /* NO_LIMIT, or so many in a period */
    gint64 owed;  /* what was taken and not yet paid */
    gint64 at_ns; /* when that was so */
} Bucket;

struct QuotaAccount {
    Quotas *quotas;
    char *key, *principal;
    guint users, generation;
    guint64 connections;
    Bucket buckets[QUOTA_KINDS];
    guint64 refused[QUOTA_KINDS];
};

struct Quotas {
    pthread_mutex_t lock; /* of all below, and of accounts */
    const QuotaRules *rules;
    guint generation;
    gboolean any;
    GHashTable *accounts; /* key -> QuotaAccount */
    guint sweep_at;
    gint64 swept_ns; /* 0: never */
};

/* ---- rules ---- */

static gboolean parse_number(const char *text, gint64 *number) {
    char *end;
    if (!g_ascii_isdigit(text[0])) return FALSE;
    const guint64 digits = g_ascii_strtoull(text, &end, 10);
    const guint64 unit = *end == 'k' || *end == 'K' ? 1000 : *end == 'm' || *end == 'M' ? 1000000 : 1;
    if (unit > 1) end++;
    if (*end != '\0' || digits > (guint64)LIMIT_MAX / unit) return FALSE;
    *number = digits == 0 ? NO_LIMIT : (gint64)(digits * unit);
    return TRUE;
}

/* *pattern: a new string; NULL: for all. The '=' is the last one: names may have some. */
static gboolean parse_rule(const char *rule, char **pattern, gint64 *number) {
    const char *equals = strrchr(rule, '=');
    g_autofree char *text = g_strstrip(g_strdup(equals != NULL ? equals + 1 : rule));
    *pattern = equals != NULL ? g_strstrip(g_strndup(rule, (gsize)(equals - rule))) : NULL;
    return parse_number(text, number) && (*pattern == NULL || (*pattern)[0] != '\0');
}

static gboolean check_list(const char *key, const char *const *list, GError **error) {
    for (; list != NULL && *list != NULL; list++) {
        g_autofree char *pattern = NULL;
        gint64 number;
        if (!parse_rule(*list, &pattern, &number))
            return fail(error, PLUMB_ERROR_CONFIG,
                        "%s: '%s': write NAME=NUMBER, with ; between, and for all others a number alone at the end; "
                        "numbers may end in k or M, 0 is no limit",
                        key, *list);
        if (pattern == NULL && list[1] != NULL)
            return fail(error, PLUMB_ERROR_CONFIG, "%s: '%s' is never reached: '%s' is for all", key, list[1], *list);
        if (pattern == NULL) continue;
        const char *const one[] = {pattern, NULL};
        if (!access_list_check(key, one, error)) return FALSE;
    }
    return TRUE;
}

gboolean quota_rules_check(const QuotaRules *rules, GError **error) {
    for (guint kind = 0; kind < QUOTA_KINDS; kind++)
        if (!check_list(quota_keys[kind], rules->lists[kind], error)) return FALSE;
    return TRUE;
}

gint64 quota_rules_limit(const QuotaRules *rules, QuotaKind kind, const char *principal) {
    for (const char *const *list = rules->lists[kind]; list != NULL && *list != NULL; list++) {
        g_autofree char *pattern = NULL;
        gint64 number = NO_LIMIT;
        if (!parse_rule(*list, &pattern, &number)) continue;
        if (pattern == NULL || g_pattern_match_simple(pattern, principal)) return number;
    }
    return NO_LIMIT;
}

static gboolean any_is_set(const QuotaRules *rules) {
    for (guint kind = 0; kind < QUOTA_KINDS; kind++)
        if (rules->lists[kind] != NULL && *rules->lists[kind] != NULL) return TRUE;
    return FALSE;
}

/* ---- buckets; with the lock held ---- */

static gint64 period_ns(QuotaKind kind) { return kind == QUOTA_QUESTIONS ? NS_PER_MINUTE : NS_PER_SEC; }

/* What has been paid since is off the debt. */
static void settle(Bucket *bucket, QuotaKind kind, gint64 now_ns) {
    const gint64 passed_ns = MAX(now_ns - bucket->at_ns, 0);
    const double paid = (double)passed_ns * (double)bucket->limit / (double)period_ns(kind);
    if (bucket->owed > 0 && paid < 1) return; /* time goes on counting */
    bucket->owed = paid >= (double)bucket->owed ? 0 : bucket->owed - (gint64)paid;
    bucket->at_ns = now_ns;
}

static gboolean owes(const QuotaAccount *account, gint64 now_ns) {
    for (guint kind = 0; kind < QUOTA_CONNECTIONS; kind++) {
        Bucket bucket = account->buckets[kind];
        if (bucket.limit != NO_LIMIT) settle(&bucket, (QuotaKind)kind, now_ns);
        if (bucket.limit != NO_LIMIT && bucket.owed > 0) return TRUE;
    }
    return FALSE;
}

/* ---- accounts; with the lock held ---- */

static gboolean was_refused(const QuotaAccount *account) {
    for (guint kind = 0; kind < QUOTA_KINDS; kind++)
        if (account->refused[kind] > 0) return TRUE;
    return FALSE;
}

static void account_destroy(void *data) {
    QuotaAccount *account = data;
    g_free(account->key);
    g_free(account->principal);
    g_free(account);
}

static void sweep(Quotas *quotas) {
    const gint64 now_ns = clock_monotonic_ns(clock_system());
    guint refused = 0;
    GHashTableIter iter;
    void *value;
    g_hash_table_iter_init(&iter, quotas->accounts);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const QuotaAccount *account = value;
        if (account->users > 0 || owes(account, now_ns)) continue;
        if (was_refused(account) && ++refused <= QUOTA_REFUSED_KEPT) continue;
        g_hash_table_iter_remove(&iter);
    }
    quotas->sweep_at = CLAMP(2 * g_hash_table_size(quotas->accounts), SWEEP_FIRST, QUOTA_ACCOUNTS_MAX);
    quotas->swept_ns = now_ns;
}

/* All accounts are looked at. When all are in use, that is not done for each that comes. */
static gboolean may_sweep(const Quotas *quotas) {
    return quotas->swept_ns == 0 || clock_monotonic_ns(clock_system()) - quotas->swept_ns >= NS_PER_SEC;
}

static void set_limits(QuotaAccount *account) {
    const Quotas *quotas = account->quotas;
    for (guint kind = 0; kind < QUOTA_KINDS; kind++)
        account->buckets[kind].limit = quota_rules_limit(quotas->rules, (QuotaKind)kind, account->principal);
    account->generation = quotas->generation;
}

static QuotaAccount *get(Quotas *quotas, const char *key, const char *principal) {
    QuotaAccount *account = g_hash_table_lookup(quotas->accounts, key);
    if (account == NULL && g_hash_table_size(quotas->accounts) >= quotas->sweep_at && may_sweep(quotas)) sweep(quotas);
    if (account == NULL && g_hash_table_size(quotas->accounts) >= QUOTA_ACCOUNTS_MAX) {
        key = OTHERS;
        principal = ACCESS_ANONYMOUS;
        account = g_hash_table_lookup(quotas->accounts, key);
    }
    if (account == NULL) {
        account = g_new0(QuotaAccount, 1);
        account->quotas = quotas;
        account->key = g_strdup(key);
        account->principal = g_strdup(principal);
        account->generation = quotas->generation - 1;
        g_hash_table_insert(quotas->accounts, account->key, account);
    }
    if (account->generation != quotas->generation) set_limits(account);
    return account;
}

/* ---- life ---- */

Quotas *quotas_new(const QuotaRules *rules) {
    Quotas *quotas = g_new0(Quotas, 1);
    pthread_mutex_init(&quotas->lock, NULL);
    quotas->accounts = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, account_destroy);
    quotas->sweep_at = SWEEP_FIRST;
    quotas_set_rules(quotas, rules);
    return quotas;
}

void quotas_free(Quotas *quotas) {
    if (!quotas) return;
    g_hash_table_unref(quotas->accounts);
    pthread_mutex_destroy(&quotas->lock);
    g_free(quotas);
}

void quotas_set_rules(Quotas *quotas, const QuotaRules *rules) {
    pthread_mutex_lock(&quotas->lock);
    quotas->rules = rules;
    quotas->any = any_is_set(rules);
    quotas->generation++;
    GHashTableIter iter;
    void *account;
    g_hash_table_iter_init(&iter, quotas->accounts);
    while (g_hash_table_iter_next(&iter, NULL, &account)) set_limits(account);
    pthread_mutex_unlock(&quotas->lock);
}

QuotaAccount *quota_account(Quotas *quotas, const char *principal, const char *address) {
    QuotaAccount *account = NULL;
    pthread_mutex_lock(&quotas->lock);
    if (quotas->any) {
        g_autofree char *key =
            principal != NULL ? g_strdup(principal) : g_strconcat(ACCESS_ANONYMOUS, " at ", address, NULL);
        account = get(quotas, key, principal != NULL ? principal : ACCESS_ANONYMOUS);
        account->users++;
    }
    pthread_mutex_unlock(&quotas->lock);
    return account;
}

void quota_account_free(QuotaAccount *account) {
    if (!account) return;
    Quotas *quotas = account->quotas;
    pthread_mutex_lock(&quotas->lock);
    account->users--;
    pthread_mutex_unlock(&quotas->lock);
}

const char *quota_account_name(const QuotaAccount *account) { return account->key; }

/* ---- use ---- */

gint64 quota_wait_ns(QuotaAccount *account, QuotaKind kind, gint64 now_ns) {
    if (account == NULL) return 0;
    Bucket *bucket = &account->buckets[kind];
    gint64 wait_ns = 0;
    pthread_mutex_lock(&account->quotas->lock);
    if (bucket->limit != NO_LIMIT) {
        settle(bucket, kind, now_ns);
        /* As much as a period brings may be owed: so a pause of that length is made good. */
        const double over = (double)(bucket->owed - bucket->limit + 1);
        const double wait = over * (double)period_ns(kind) / (double)bucket->limit;
        if (over > 0) wait_ns = (gint64)MIN(wait, (double)WAIT_MOST_NS) + 1;
    }
    pthread_mutex_unlock(&account->quotas->lock);
    return wait_ns;
}

void quota_charge(QuotaAccount *account, QuotaKind kind, guint64 n, gint64 now_ns) {
    if (account == NULL) return;
    Bucket *bucket = &account->buckets[kind];
    pthread_mutex_lock(&account->quotas->lock);
    if (bucket->limit != NO_LIMIT) {
        settle(bucket, kind, now_ns);
        bucket->owed += (gint64)MIN(n, (guint64)LIMIT_MAX);
    }
    pthread_mutex_unlock(&account->quotas->lock);
}

gboolean quota_connect(QuotaAccount *account) {
    if (account == NULL) return TRUE;
    pthread_mutex_lock(&account->quotas->lock);
    const gboolean room = account->connections < (guint64)account->buckets[QUOTA_CONNECTIONS].limit;
    if (room) account->connections++;
    pthread_mutex_unlock(&account->quotas->lock);
    return room;
}

void quota_disconnect(QuotaAccount *account) {
    if (account == NULL) return;
    pthread_mutex_lock(&account->quotas->lock);
    account->connections--;
    pthread_mutex_unlock(&account->quotas->lock);
}

void quota_refused(QuotaAccount *account, QuotaKind kind) {
    pthread_mutex_lock(&account->quotas->lock);
    account->refused[kind]++;
    pthread_mutex_unlock(&account->quotas->lock);
}

/* ---- figures ---- */

static guint64 refusals_of(const QuotaAccount *account) {
    guint64 n = 0;
    for (guint kind = 0; kind < QUOTA_KINDS; kind++) n += account->refused[kind];
    return n;
}

static int by_refusals(const void *a, const void *b) {
    const guint64 left = refusals_of(*(QuotaAccount *const *)a), right = refusals_of(*(QuotaAccount *const *)b);
    return left < right ? 1 : left > right ? -1 : 0;
}

void quotas_foreach_refused(Quotas *quotas, void (*each)(void *arg, const QuotaRefusals *refusals), void *arg) {
    g_autoptr(GPtrArray) found = g_ptr_array_new();
    GHashTableIter iter;
    void *value;
    pthread_mutex_lock(&quotas->lock);
    g_hash_table_iter_init(&iter, quotas->accounts);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        if (was_refused(value)) g_ptr_array_add(found, value);
    g_ptr_array_sort(found, by_refusals);

    for (guint i = 0; i < MIN(found->len, QUOTA_REFUSED_SHOWN); i++) {
        const QuotaAccount *account = g_ptr_array_index(found, i);
        QuotaRefusals refusals = {.name = account->key};
        memcpy(refusals.refused, account->refused, sizeof refusals.refused);
        each(arg, &refusals);
    }
    pthread_mutex_unlock(&quotas->lock);
}
