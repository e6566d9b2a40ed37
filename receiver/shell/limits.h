/* Whether plumbd runs analyses for its page, and what they may take: of the configuration (receiver/settings.h). */
#pragma once

#include <glib.h>

typedef struct ChildLimits {
    gint64 time_ns;
    gsize output_bytes;
    gsize memory_bytes; /* 0: no limit */
} ChildLimits;

typedef enum { SHELL_AUTO, SHELL_YES, SHELL_NO } ShellMode; /* in the order of the table's choices */

typedef struct ShellSettings {
    ShellMode mode;
    const char *program; /* "": plumb beside plumbd */
    guint at_once, per_peer;
    ChildLimits limits;
} ShellSettings;
