#include "receiver/log.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"

/* A line longer than this is cut: names that peers send may be long. */
#define LINE_BYTES 2048

const char *const log_level_names[] = {"error", "warning", "notice", "info", "debug", NULL};

/* syslog's numbers, which journald reads. */
static const int journal_priority[] = {3, 4, 5, 6, 7};

static atomic_int current_level = LOG_LEVEL_NOTICE;

gboolean log_level_parse(const char *name, LogLevel *level) {
    for (int i = 0; log_level_names[i]; i++)
        if (strcmp(name, log_level_names[i]) == 0) {
            *level = (LogLevel)i;
            return TRUE;
        }
    return FALSE;
}

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
    gsize at = (gsize)write_prefix(line, sizeof line, level);
    at += g_strlcpy(line + at, text, sizeof line - at - 64);
    at = MIN(at, sizeof line - 64);
    if (left_out > 0) at += (gsize)g_snprintf(line + at, sizeof line - at, " (and %u more like it)", left_out);
    for (gsize i = 0; i < at; i++)
        if ((guchar)line[i] < 0x20) line[i] = ' '; /* peers' names must not start lines of their own */
    line[at++] = '\n';
    ssize_t done;
    do done = write(STDERR_FILENO, line, at);
    while (done < 0 && errno == EINTR);
}

static void write_formatted(LogLevel level, guint left_out, const char *format, va_list args) {
    char text[LINE_BYTES];
    g_vsnprintf(text, sizeof text, format, args);
    write_line(level, text, left_out);
}

void log_message(LogLevel level, const char *format, ...) {
    if ((int)level > atomic_load(&current_level)) return;
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
