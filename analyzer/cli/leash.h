/* A `plumb` that plumbd runs for its page ends with plumbd, however that ends: PLUMB_LEASH is the process that it must
 * not outlive. Nothing happens without it. */
#pragma once

#include <glib.h>

/* FALSE: that process is gone already. Before threads are started. */
gboolean leash_put_on(void);
