/* The accounts of a running plumbd: what came in, against what became of it (docs/plumbd.md, "Accounting").
 *
 * Network threads count what they take, shards what no store would take; what was stored or came again is in the
 * archive's own accounts (archive/tables/account.h). Each of these threads has a page, and says when it is in the
 * middle of moving spans; so a reader can tell whether what it read belongs together. */
#pragma once

#include "analyzer/archive/archive.h"
#include "analyzer/archive/tables/account.h"

typedef struct Accounts Accounts;
/* Notes what the archive has now; before anything is added to it. */
Accounts *accounts_new(Archive *archive);
void accounts_free(Accounts *accounts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Accounts, accounts_free)

/* A page for one thread; lives as long as the accounts. */
typedef struct AccountPage AccountPage;
AccountPage *accounts_page(Accounts *accounts);
/* Around whatever moves spans from one place to another, by the owner of the page. */
void account_page_begin(AccountPage *page);
void account_page_end(AccountPage *page);
void account_page_add(AccountPage *page, guint32 tracer, AccountField field, gint64 n);

/* Even when nothing moves; another number when something has moved since. */
guint64 accounts_epoch(Accounts *accounts, gboolean *moving);

/* Sums. received = stored + thinned + expired + repeated + waiting + set_aside + open. */
typedef struct AccountSums {
    gint64 received; /* all time; without what was refused */
    gint64 stored;   /* now */
    gint64 thinned, expired, repeated;
    gint64 waiting;   /* now: late, in the store, and not yet joined to their traces: stored or repeated then */
    gint64 set_aside; /* since the start */
    gint64 replayed;  /* since the start: came again from the journal; not in 'received' */
    gint64 open;      /* came in, and is not in one of the others yet */
} AccountSums;
/* By process: 'visit' gets each tracer id (0: those without accounts of their own) once, and then the sum of all. */
typedef void (*AccountSumsVisit)(void *arg, guint32 tracer, const AccountSums *sums);
void accounts_read(Accounts *accounts, AccountSumsVisit visit, void *arg, AccountSums *all);
