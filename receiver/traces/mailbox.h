/* Messages to a thread that owns something: any thread puts, one takes. First in, first out.
 *
 * Items have a size; the bytes in a mailbox are those put and not yet done, so what the taker works at counts as well.
 * The limit is advice: a producer looks at mailbox_full() before it makes an item, and an item that was made is always
 * taken, which bounds a mailbox to its limit and one item per producer.
 *
 * To wake a thread costs both sides more than what a small item holds. So a taker that had something to do and has
 * nothing now looks again after MAILBOX_DOZE_NS by itself, unless half of the limit fills up before; only then it goes
 * to sleep until it is woken. Producers that put without pause do not wake it at all. What somebody waits for is put as
 * urgent: that wakes the taker in any case. */
#pragma once

#include <glib.h>

#define MAILBOX_DOZE_NS G_GINT64_CONSTANT(2000000)

/* First member of every message. */
typedef struct MailItem {
    struct MailItem *next;
    gsize size_bytes;
} MailItem;

typedef struct Mailbox Mailbox;
Mailbox *mailbox_new(gsize limit_bytes);
/* Must be empty. */
void mailbox_free(Mailbox *box);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Mailbox, mailbox_free)

/* Any thread. The item belongs to the taker from here on. */
void mailbox_put(Mailbox *box, MailItem *item);
/* The same, and the taker looks at once. It stays behind what was put before it. */
void mailbox_put_urgent(Mailbox *box, MailItem *item);
gboolean mailbox_full(Mailbox *box);
gsize mailbox_bytes(Mailbox *box);

/* The taker: everything there is, in order; NULL when nothing came within timeout_ms. */
MailItem *mailbox_take(Mailbox *box, gint64 timeout_ms);
/* An item of this size was worked off. */
void mailbox_done(Mailbox *box, gsize size_bytes);
