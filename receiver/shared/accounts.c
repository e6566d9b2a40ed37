#include "receiver/shared/accounts.h"

#include <pthread.h>
#include <string.h>

struct AccountPage {
    AccountTable *table;
    _Atomic guint64 epoch; /* odd: moving */
    struct AccountPage *next;
};

struct Accounts {
    Archive *archive;
    AccountTable *before; /* what the archive had at the start */
    pthread_mutex_t lock; /* of the list */
    AccountPage *pages;
};

Accounts *accounts_new(Archive *archive) {
    Accounts *accounts = g_new0(Accounts, 1);
    accounts->archive = archive;
    accounts->before = account_table_new();
    archive_accounts(archive, accounts->before);
    pthread_mutex_init(&accounts->lock, NULL);
    return accounts;
}

void accounts_free(Accounts *accounts) {
    if (!accounts) return;
    while (accounts->pages) {
        AccountPage *page = accounts->pages;
        accounts->pages = page->next;
        account_table_free(page->table);
        g_free(page);
    }
    account_table_free(accounts->before);
    pthread_mutex_destroy(&accounts->lock);
    g_free(accounts);
}

AccountPage *accounts_page(Accounts *accounts) {
    AccountPage *page = g_new0(AccountPage, 1);
    page->table = account_table_new();
    pthread_mutex_lock(&accounts->lock);
    page->next = accounts->pages;
    accounts->pages = page;
    pthread_mutex_unlock(&accounts->lock);
    return page;
}

void account_page_begin(AccountPage *page) { atomic_fetch_add(&page->epoch, 1); }
void account_page_end(AccountPage *page) { atomic_fetch_add(&page->epoch, 1); }
void account_page_add(AccountPage *page, guint32 tracer, AccountField field, gint64 n) {
    account_add(page->table, tracer, field, n);
}

guint64 accounts_epoch(Accounts *accounts, gboolean *moving) {
    guint64 sum = 0;
    *moving = FALSE;
    pthread_mutex_lock(&accounts->lock);
    for (AccountPage *page = accounts->pages; page; page = page->next) {
        guint64 epoch = atomic_load(&page->epoch);
        *moving = *moving || epoch % 2 != 0;
        sum += epoch;
    }
    pthread_mutex_unlock(&accounts->lock);
    return sum;
}

static AccountSums sums_of(const gint64 fields[ACCOUNT_FIELDS], gint64 before) {
    gint64 done = fields[ACCOUNT_TAKEN] + fields[ACCOUNT_REPEATED] + fields[ACCOUNT_WAITING];
    AccountSums sums = {
        .stored = fields[ACCOUNT_TAKEN] - fields[ACCOUNT_THINNED] - fields[ACCOUNT_EXPIRED],
        .thinned = fields[ACCOUNT_THINNED],
        .expired = fields[ACCOUNT_EXPIRED],
        .repeated = fields[ACCOUNT_REPEATED],
        .waiting = fields[ACCOUNT_WAITING],
        .set_aside = fields[ACCOUNT_ASIDE],
        .replayed = fields[ACCOUNT_REPLAYED],
        .received = before + fields[ACCOUNT_RECEIVED] - fields[ACCOUNT_REPLAYED],
    };
    sums.open = sums.received - done - sums.set_aside;
    return sums;
}

typedef struct Reading {
    const AccountTable *before;
    AccountSumsVisit visit;
    void *arg;
    AccountSums *all;
} Reading;

static void read_one(void *arg, guint32 tracer, const gint64 fields[ACCOUNT_FIELDS]) {
    const Reading *reading = arg;
    gint64 before[ACCOUNT_FIELDS];
    account_get(reading->before, tracer, before);
    AccountSums sums = sums_of(fields, before[ACCOUNT_TAKEN] + before[ACCOUNT_REPEATED] + before[ACCOUNT_WAITING]);
    AccountSums *all = reading->all;
    all->received += sums.received;
    all->stored += sums.stored;
    all->thinned += sums.thinned;
    all->expired += sums.expired;
    all->repeated += sums.repeated;
    all->waiting += sums.waiting;
    all->set_aside += sums.set_aside;
    all->replayed += sums.replayed;
    all->open += sums.open;
    if (reading->visit) reading->visit(reading->arg, tracer, &sums);
}

void accounts_read(Accounts *accounts, AccountSumsVisit visit, void *arg, AccountSums *all) {
    g_autoptr(AccountTable) sum = account_table_new();
    /* What became of spans first: it is then never ahead of what came in. */
    archive_accounts(accounts->archive, sum);
    pthread_mutex_lock(&accounts->lock);
    for (AccountPage *page = accounts->pages; page; page = page->next) account_add_table(sum, page->table);
    pthread_mutex_unlock(&accounts->lock);
    *all = (AccountSums){0};
    Reading reading = {accounts->before, visit, arg, all};
    account_foreach(sum, read_one, &reading);
}
