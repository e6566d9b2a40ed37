/* Things on their way to a thread with an event loop: any thread puts, one takes. First in, first out. */
#pragma once

#include <glib.h>

typedef struct Inbox Inbox;
/* drop: of what is never taken. */
Inbox *inbox_new(GDestroyNotify drop);
void inbox_free(Inbox *inbox);

/* Any thread. The item is taken over. */
void inbox_put(Inbox *inbox, void *item);
/* Any thread: as if there were some. */
void inbox_wake(Inbox *inbox);
/* Any thread: so many wait. */
guint inbox_waiting(const Inbox *inbox);

/* For its owner: readable when there are some. */
int inbox_fd(const Inbox *inbox);
/* All of them, in the order in which they came. 'take' takes each over. */
void inbox_take(Inbox *inbox, void (*take)(void *arg, void *item), void *arg);
