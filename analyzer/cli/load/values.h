/* Values of options that the table of options does not know the form of. Errors are CONFIG and name the option. */
#pragma once

#include "analyzer/cli/options/invocation.h"

typedef struct Range {
    double least, most;
} Range;

/* Without the option these leave the value as it is. */
gboolean value_real(const Invocation *invocation, const char *name, Range range, double *value, GError **error);
gboolean value_duration(const Invocation *invocation, const char *name, gint64 *ns, GError **error);
gboolean value_size(const Invocation *invocation, const char *name, gint64 *size_bytes, GError **error);
/* "2/3": both 1 at least, the first at most the second, that at most 10000. */
gboolean share_parse(const char *text, guint64 *number, guint64 *of);
gboolean value_whole(const Invocation *invocation, const char *name, guint64 *value, GError **error);
