/* What plumbd says on stderr: one line a message, written whole, by any thread.
 *
 * Under systemd (JOURNAL_STREAM is set) lines start with <LEVEL>, which journald understands, and carry no time; else
 * with the time in UTC and the level's name. Only the program's own files log; libraries return errors. */
#pragma once

#include <glib.h>
#include <stdatomic.h>

typedef enum { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_NOTICE, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG } LogLevel;

/* "error", "warning", "notice", "info", "debug"; NULL-terminated, in the order of LogLevel. */
extern const char *const log_level_names[];
/* Messages above this level are dropped; notice at the start. Any thread, any time. */
void log_set_level(LogLevel level);

void log_message(LogLevel level, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Whatever the level: of what was asked for by name. */
void log_always(LogLevel level, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* For messages that a peer can cause as often as it likes: of one place at most one every LOG_QUIET_NS is written, and
 * the next one says how many were left out. One static LogLimit per place. */
#define LOG_QUIET_NS (G_GINT64_CONSTANT(5) * 1000 * 1000 * 1000)
typedef struct LogLimit {
    _Atomic gint64 quiet_until_ns;
    atomic_uint left_out;
} LogLimit;

void log_limited(LogLimit *limit, LogLevel level, const char *format, ...) G_GNUC_PRINTF(3, 4);
