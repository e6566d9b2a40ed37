#include "receiver/shared/log.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/harmless.h"

/* What stands before and after the text of a line. */
#define BEFORE_TEXT_BYTES 64
#define AFTER_TEXT_BYTES  64
#define LINE_BYTES        (BEFORE_TEXT_BYTES + HARMLESS_LINE_BYTES + 4 + AFTER_TEXT_BYTES)

const char *const log_level_names[] = {"error", "warning", "notice", "info", "debug", NULL};

/* syslog's numbers, which journald reads. */
static const int journal_priority[] = {3, 4, 5, 6, 7};

static atomic_int current_level = LOG_LEVEL_NOTICE;

void log_set_level(LogLevel level) { atomic_store(&current_level, (int)level); }

static int write_prefix(char *line, gsize size, LogLevel level) {
    if (g_getenv("JOURNAL_STREAM")) return g_snprintf(line, size, "<%d>", journal_priority[level]);
    gint64 now_ns = clock_wall_ns(clock_system());
    time_t seconds = (time_t)(now_ns / NS_PER_SEC);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    char when[32];
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &utc);
    int millis = (int)(now_ns % NS_PER_SEC / NS_PER_MS);
    return g_snprintf(line, size, "%s.%03dZ plumbd %s: ", when, millis, log_level_names[level]);
}

static void write_line(LogLevel level, const char *text, guint left_out) {
    char line[LINE_BYTES];
    g_autofree char *harmless = harmless_line(text); /* names and texts of peers are in it */
    gsize at = (gsize)write_prefix(line, sizeof line, level);
    at += g_strlcpy(line + at, harmless, sizeof line - at - AFTER_TEXT_BYTES);
    if (left_out > 0) at += (gsize)g_snprintf(line + at, sizeof line - at, " (and %u more like it)", left_out);
    line[at++] = '\n';
    ssize_t done;
    do done = write(STDERR_FILENO, line, at);
    while (done < 0 && errno == EINTR);
}

static void write_formatted(LogLevel level, guint left_out, const char *format, va_list args) {
    g_autofree char *text = g_strdup_vprintf(format, args);
    write_line(level, text, left_out);
}

void log_message(LogLevel level, const char *format, ...) {
    if ((int)level > atomic_load(&current_level)) return;
    va_list args;
    va_start(args, format);
    write_formatted(level, 0, format, args);
    va_end(args);
}

void log_always(LogLevel level, const char *format, ...) {
    va_list args;
    va_start(args, format);
    write_formatted(level, 0, format, args);
    va_end(args);
}

void log_limited(LogLimit *limit, LogLevel level, const char *format, ...) {
    if ((int)level > atomic_load(&current_level)) return;
    gint64 now_ns = clock_monotonic_ns(clock_system());
    gint64 until_ns = atomic_load(&limit->quiet_until_ns);
    if (now_ns < until_ns ||
        !atomic_compare_exchange_strong(&limit->quiet_until_ns, &until_ns, now_ns + LOG_QUIET_NS)) {
        atomic_fetch_add(&limit->left_out, 1);
        return;
    }
    va_list args;
    va_start(args, format);
    write_formatted(level, atomic_exchange(&limit->left_out, 0), format, args);
    va_end(args);
}
