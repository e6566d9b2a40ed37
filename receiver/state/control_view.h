/* What resource control has found out, for others to read. */
#pragma once

#include <glib.h>

/* How much the journal may have, and how long traces are waited for (idle_rule.h): said by the resource control
 * thread, read by any. */
typedef struct ControlView {
    _Atomic guint64 journal_limit_bytes;
    _Atomic gint64 idle_ns, large_idle_ns;
} ControlView;
