/* Connections of one thread that have not logged in, where they have to: which of them gives way when there are too
 * many. Of the address with most of them that is the oldest that hangs, else the oldest without a word, else the
 * newest. So those whose handshake is under way end it, however many come at once after a restart, and those that never
 * will keep nobody out.
 *
 * All calls take the same time, however many strangers there are: who attacks with many of them decides how often they
 * are called. */
#pragma once

#include <glib.h>

typedef struct StrangerGroup StrangerGroup;

/* In its owner's connection; zero before it is added. */
typedef struct Stranger {
    GList link;           /* in its group */
    StrangerGroup *group; /* those of its address; NULL: it is none, or none any more */
    void *owner;
    int fd;
    gboolean spoke;   /* it has said something */
    gint64 got_on_ns; /* monotonic: when it came, or got a step further; by its owner */
} Stranger;

typedef struct Strangers Strangers;
Strangers *strangers_new(void);
/* When none is left. */
void strangers_free(Strangers *strangers);
guint strangers_count(const Strangers *strangers);
/* address: what tells one address from another. All else but the link and the group is set. */
void strangers_add(Strangers *strangers, Stranger *stranger, const void *address);
/* It may be none. */
void strangers_remove(Strangers *strangers, Stranger *stranger);
/* It has said its first word. */
void strangers_spoke(Stranger *stranger);
/* It stays among them. NULL: there are none. */
Stranger *strangers_who_gives_way(const Strangers *strangers, gint64 now_ns);
