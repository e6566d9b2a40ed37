#include "analyzer/cli/load/values.h"

#include <math.h>
#include <string.h>

#include "common/base/config_value.h"
#include "common/base/error.h"

#define SHARES_MOST 10000

gboolean value_real(const Invocation *invocation, const char *name, Range range, double *value, GError **error) {
    const char *text = option_text(invocation, name);
    if (text == NULL) return TRUE;
    char *end = NULL;
    const double real = g_ascii_strtod(text, &end);
    if (*text == '\0' || *end != '\0' || !isfinite(real) || real < range.least || real > range.most)
        return fail(error, PLUMB_ERROR_CONFIG, "--%s=%s: must be a number from %g to %g", name, text, range.least,
                    range.most);
    *value = real;
    return TRUE;
}

gboolean value_duration(const Invocation *invocation, const char *name, gint64 *ns, GError **error) {
    const char *text = option_text(invocation, name);
    if (text == NULL) return TRUE;
    gint64 read_ns;
    if (!duration_parse(text, &read_ns) || read_ns < 0)
        return fail(error, PLUMB_ERROR_CONFIG, "--%s=%s: must be a time with its unit: 500ms, 30s, 10m, 2h", name,
                    text);
    *ns = read_ns;
    return TRUE;
}

gboolean value_size(const Invocation *invocation, const char *name, gint64 *size_bytes, GError **error) {
    const char *text = option_text(invocation, name);
    if (text == NULL || size_parse(text, size_bytes)) return TRUE;
    return fail(error, PLUMB_ERROR_CONFIG, "--%s=%s: must be a size: 4096, 64K, 16M, 2G", name, text);
}

gboolean value_whole(const Invocation *invocation, const char *name, guint64 *value, GError **error) {
    const char *text = option_text(invocation, name);
    if (text == NULL || g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64, value, NULL)) return TRUE;
    return fail(error, PLUMB_ERROR_CONFIG, "--%s=%s: must be a whole number from 0 on", name, text);
}

gboolean share_parse(const char *text, guint64 *number, guint64 *of) {
    const char *slash = strchr(text, '/');
    if (slash == NULL) return FALSE;
    g_autofree char *first = g_strndup(text, (gsize)(slash - text));
    return g_ascii_string_to_unsigned(slash + 1, 10, 1, SHARES_MOST, of, NULL) &&
           g_ascii_string_to_unsigned(first, 10, 1, *of, number, NULL);
}
