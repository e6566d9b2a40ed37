#include "common/base/error.h"

#include <errno.h>
#include <stdarg.h>

G_DEFINE_QUARK(plumb - error - quark, plumb_error)

gboolean fail(GError **error, PlumbError code, const char *format, ...) {
    if (error == NULL) return FALSE;
    va_list args;
    va_start(args, format);
    *error = g_error_new_valist(PLUMB_ERROR, (int)code, format, args);
    va_end(args);
    return FALSE;
}

gboolean fail_errno(GError **error, int err, const char *format, ...) {
    if (error == NULL) return FALSE;
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    PlumbError code = err == ENOSPC || err == EDQUOT ? PLUMB_ERROR_NO_SPACE : PLUMB_ERROR_IO;
    return fail(error, code, "%s: %s", what, g_strerror(err));
}
