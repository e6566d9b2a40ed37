/* Errors of every module: one GError domain whose codes say what the caller can do about it.
 *
 * One domain serves all modules because callers never ask where a failure came from, only what it means: the message
 * names the place. Functions that can fail return gboolean (or a pointer) and take a GError ** as their last
 * parameter; on failure every other out-parameter stays untouched. */
#pragma once

#include <glib.h>

#define PLUMB_ERROR plumb_error_quark()
GQuark plumb_error_quark(void);

typedef enum {
    PLUMB_ERROR_INPUT,     /* malformed bytes or text; trying again gives the same result */
    PLUMB_ERROR_LIMIT,     /* well-formed, but over a limit of base/limits.h or of the configuration */
    PLUMB_ERROR_CONFIG,    /* configuration or command line; the message names the key and the remedy */
    PLUMB_ERROR_IO,        /* the operating system said no; errno's text is in the message */
    PLUMB_ERROR_NO_SPACE,  /* disk full: nothing was written, trying again later may work */
    PLUMB_ERROR_BUSY,      /* in use by another process, or the peer asked to wait */
    PLUMB_ERROR_VERSION,   /* made by, or needs, a newer version */
    PLUMB_ERROR_CORRUPT,   /* stored data fails its check */
    PLUMB_ERROR_NOT_FOUND, /* no such trace, pattern, key, file */
    PLUMB_ERROR_PEER,      /* the other side of a connection went away or broke the protocol */
} PlumbError;

/* Sets *error (when error is not NULL) and returns FALSE, so that a failing function ends in one line. */
gboolean fail(GError **error, PlumbError code, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* As fail(), with ": <strerror(err)>" appended; ENOSPC and EDQUOT become PLUMB_ERROR_NO_SPACE, all else PLUMB_ERROR_IO.
 */
gboolean fail_errno(GError **error, int err, const char *format, ...) G_GNUC_PRINTF(3, 4);
