#include "receiver/facts/books.h"

#include <pthread.h>
#include <string.h>

struct BookPage {
    AccountTable *table;
    _Atomic guint64 epoch; /* odd: moving */
    struct BookPage *next;
};

struct Books {
    Archive *archive;
    AccountTable *before; /* what the archive had at the start */
    pthread_mutex_t lock; /* of the list */
    BookPage *pages;
};

Books *books_new(Archive *archive) {
    Books *books = g_new0(Books, 1);
    books->archive = archive;
    books->before = account_table_new();
    archive_books(archive, books->before);
    pthread_mutex_init(&books->lock, NULL);
    return books;
}

void books_free(Books *books) {
    if (!books) return;
    while (books->pages) {
        BookPage *page = books->pages;
        books->pages = page->next;
        account_table_free(page->table);
        g_free(page);
    }
    account_table_free(books->before);
    pthread_mutex_destroy(&books->lock);
    g_free(books);
}

BookPage *books_page(Books *books) {
    BookPage *page = g_new0(BookPage, 1);
    page->table = account_table_new();
    pthread_mutex_lock(&books->lock);
    page->next = books->pages;
    books->pages = page;
    pthread_mutex_unlock(&books->lock);
    return page;
}

void book_page_begin(BookPage *page) { atomic_fetch_add(&page->epoch, 1); }
void book_page_end(BookPage *page) { atomic_fetch_add(&page->epoch, 1); }
void book_page_add(BookPage *page, guint32 tracer, AccountField field, gint64 n) {
    account_add(page->table, tracer, field, n);
}

guint64 books_epoch(Books *books, gboolean *moving) {
    guint64 sum = 0;
    *moving = FALSE;
    pthread_mutex_lock(&books->lock);
    for (BookPage *page = books->pages; page; page = page->next) {
        guint64 epoch = atomic_load(&page->epoch);
        *moving = *moving || epoch % 2 != 0;
        sum += epoch;
    }
    pthread_mutex_unlock(&books->lock);
    return sum;
}

static BookSums sums_of(const gint64 fields[ACCOUNT_FIELDS], gint64 before) {
    gint64 done = fields[ACCOUNT_TAKEN] + fields[ACCOUNT_REPEATED] + fields[ACCOUNT_WAITING];
    BookSums sums = {
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
    BookVisit visit;
    void *arg;
    BookSums *all;
} Reading;

static void read_one(void *arg, guint32 tracer, const gint64 fields[ACCOUNT_FIELDS]) {
    const Reading *reading = arg;
    gint64 before[ACCOUNT_FIELDS];
    account_get(reading->before, tracer, before);
    BookSums sums = sums_of(fields, before[ACCOUNT_TAKEN] + before[ACCOUNT_REPEATED] + before[ACCOUNT_WAITING]);
    BookSums *all = reading->all;
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

void books_read(Books *books, BookVisit visit, void *arg, BookSums *all) {
    g_autoptr(AccountTable) sum = account_table_new();
    /* What became of spans first: it is then never ahead of what came in. */
    archive_books(books->archive, sum);
    pthread_mutex_lock(&books->lock);
    for (BookPage *page = books->pages; page; page = page->next) account_add_table(sum, page->table);
    pthread_mutex_unlock(&books->lock);
    *all = (BookSums){0};
    Reading reading = {books->before, visit, arg, all};
    account_foreach(sum, read_one, &reading);
}
