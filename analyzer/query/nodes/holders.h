/* Who held the lock of a NameNode while others waited for it: the function that has the longest of what was held, in
 * the longest traces of that time. */
#pragma once

#include "analyzer/query/nodes/examples.h"

typedef struct Holder {
    guint32 function; /* dictionary id; 0: nothing of it is stored */
    gint64 held_ns;   /* by it, in the traces that were read */
    gboolean write;   /* mostly the write lock */
    guint64 trace;    /* in which it held it for longest at once */
} Holder;

/* On a host, in a minute and the one before it. */
gboolean holder_find(const Asked *asked, guint32 host, gint64 minute_ns, Holder *holder, GError **error);
json_t *holder_json(const Asked *asked, const Holder *holder);
