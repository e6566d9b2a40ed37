/* Quotas: how much each principal may send and ask. Who has not logged in counts by address: "anonymous" of a rule is
 * each of them for itself.
 *
 * A rule is a list like "token:bridge=50k; cert:*=10k; 0": the first pattern that fits decides ('*' stands for any
 * text), a number alone at the end is for all others, and 0 is no limit. Numbers may end in k or M.
 *
 * Spans, bytes and questions have a bucket that holds what a second (questions: a minute) brings. Who has something in
 * it goes on, and pays afterwards, so that a batch costs one look and no peer has to cut its batches to fit; whoever
 * owes waits until it has paid. So nothing is lost, and over time nobody has more than its quota.
 *
 * Any thread. An account lives while somebody uses it or it owes something; past QUOTA_ACCOUNTS_MAX those that are new
 * have one together. */
#pragma once

#include <glib.h>

#define QUOTA_ACCOUNTS_MAX 65536u
/* Accounts whose refusals are remembered, and how many of those status shows. */
#define QUOTA_REFUSED_KEPT  1024u
#define QUOTA_REFUSED_SHOWN 20u

typedef enum { QUOTA_SPANS, QUOTA_BYTES, QUOTA_QUESTIONS, QUOTA_CONNECTIONS, QUOTA_KINDS } QuotaKind;

/* "quota.spans" and so on. */
extern const char *const quota_keys[QUOTA_KINDS];

typedef struct QuotaRules {
    const char *const *lists[QUOTA_KINDS]; /* in the order of QuotaKind */
} QuotaRules;

/* CONFIG: what is wrong with which entry. */
gboolean quota_rules_check(const QuotaRules *rules, GError **error);
/* Of rules that are good; G_MAXINT64: no limit. */
gint64 quota_rules_limit(const QuotaRules *rules, QuotaKind kind, const char *principal); /* for tests */

typedef struct Quotas Quotas;
/* The rules are used until others are set. */
Quotas *quotas_new(const QuotaRules *rules);
void quotas_free(Quotas *quotas);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Quotas, quotas_free)
/* Accounts get their limits anew when they are next asked for. */
void quotas_set_rules(Quotas *quotas, const QuotaRules *rules);

typedef struct QuotaAccount QuotaAccount;
/* Whose: NULL is somebody who has not logged in, at this address. To be given back. NULL: there is no quota at all. */
QuotaAccount *quota_account(Quotas *quotas, const char *principal, const char *address);
void quota_account_free(QuotaAccount *account);
/* "token:bridge", "anonymous at 10.0.0.7"; borrowed. */
const char *quota_account_name(const QuotaAccount *account);

/* How long it has to wait; 0: it may go on, and quota_charge() afterwards. account: NULL, too, for no limit. */
gint64 quota_wait_ns(QuotaAccount *account, QuotaKind kind, gint64 now_ns);
void quota_charge(QuotaAccount *account, QuotaKind kind, guint64 n, gint64 now_ns);
/* FALSE: it has as many as it may. */
gboolean quota_connect(QuotaAccount *account);
void quota_disconnect(QuotaAccount *account);
/* For status. */
void quota_refused(QuotaAccount *account, QuotaKind kind);

typedef struct QuotaRefusals {
    const char *name;
    guint64 refused[QUOTA_KINDS];
} QuotaRefusals;
/* Those that were refused most often, at most QUOTA_REFUSED_SHOWN, most first. */
void quotas_foreach_refused(Quotas *quotas, void (*each)(void *arg, const QuotaRefusals *refusals), void *arg);
