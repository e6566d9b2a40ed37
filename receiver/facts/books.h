/* The accounts of a running plumbd: what came in, against what became of it (docs/plumbd.md, "Accounting").
 *
 * Network threads count what they take, shards what no store would take; what was stored or came again is in the
 * archive's own books (archive/tables/account.h). Each of these threads has a page, and says when it is in the middle
 * of moving spans; so a reader can tell whether what it read belongs together. */
#pragma once

#include "analyzer/archive/archive.h"
#include "analyzer/archive/tables/account.h"

typedef struct Books Books;
/* Notes what the archive has now; before anything is added to it. */
Books *books_new(Archive *archive);
void books_free(Books *books);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Books, books_free)

/* A page for one thread; lives as long as the books. */
typedef struct BookPage BookPage;
BookPage *books_page(Books *books);
/* Around whatever moves spans from one place to another, by the owner of the page. */
void book_page_begin(BookPage *page);
void book_page_end(BookPage *page);
void book_page_add(BookPage *page, guint32 tracer, AccountField field, gint64 n);

/* Even when nothing moves; another number when something has moved since. */
guint64 books_epoch(Books *books, gboolean *moving);

/* Sums. received = stored + thinned + expired + repeated + waiting + set_aside + open. */
typedef struct BookSums {
    gint64 received; /* all time; without what was refused */
    gint64 stored;   /* now */
    gint64 thinned, expired, repeated;
    gint64 waiting;   /* now: late, in the store, and not yet joined to their traces: stored or repeated then */
    gint64 set_aside; /* since the start */
    gint64 replayed;  /* since the start: came again from the journal; not in 'received' */
    gint64 open;      /* came in, and is not in one of the others yet */
} BookSums;
/* By process: 'visit' gets each tracer id (0: those without books of their own) once, and then the sum of all. */
typedef void (*BookVisit)(void *arg, guint32 tracer, const BookSums *sums);
void books_read(Books *books, BookVisit visit, void *arg, BookSums *all);
