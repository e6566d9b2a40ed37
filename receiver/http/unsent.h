/* Whole answers on their way to readers, so that what waits can be bounded for all of them together: they are made
 * faster than a slow reader takes them. An answer that many get counts once. They count as memory of questions, too.
 * HTTP thread only. */
#pragma once

#include "common/base/allowance.h"

#define UNSENT_MAX_BYTES ((gsize)64 << 20)

typedef struct Unsent Unsent;
Unsent *unsent_new(AllowanceBudget *budget);
/* When nothing waits. */
void unsent_free(Unsent *unsent);

/* One answer that waits for one reader. */
typedef struct UnsentBody UnsentBody;
UnsentBody *unsent_add(Unsent *unsent, GBytes *body, void *owner);
/* It was sent, or will not be; NULL is allowed. */
void unsent_remove(Unsent *unsent, UnsentBody *body);
gsize unsent_bytes(const Unsent *unsent);
/* More than may wait: half of the budget, or UNSENT_MAX_BYTES. */
gboolean unsent_is_over(const Unsent *unsent);
/* The owner of the one that waits for longest; NULL: none waits. */
void *unsent_oldest(const Unsent *unsent);
