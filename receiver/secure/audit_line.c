#include "receiver/secure/audit_line.h"

#include <jansson.h>
#include <string.h>
#include <time.h>

#include "common/base/clock.h"

/* Of each text that a peer controls; halved until the line fits. */
#define TEXT_FIRST_BYTES 1024u
#define TEXT_LEAST_BYTES 8u

static const struct {
    const char *name;
    AuditLevel level;
} actions[] = {
    [AUDIT_NOTHING] = {"", AUDIT_LEVEL_READS},
    [AUDIT_START] = {"start", AUDIT_LEVEL_CHANGES},
    [AUDIT_STOP] = {"stop", AUDIT_LEVEL_CHANGES},
    [AUDIT_RELOAD] = {"reload", AUDIT_LEVEL_CHANGES},
    [AUDIT_LOGIN] = {"login", AUDIT_LEVEL_CHANGES},
    [AUDIT_LOGIN_REFUSED] = {"login refused", AUDIT_LEVEL_CHANGES},
    [AUDIT_LOGOUT] = {"logout", AUDIT_LEVEL_CHANGES},
    [AUDIT_DENIED] = {"denied", AUDIT_LEVEL_CHANGES},
    [AUDIT_FOREIGN_NAME] = {"foreign name", AUDIT_LEVEL_CHANGES},
    [AUDIT_FLUSH] = {"flush", AUDIT_LEVEL_CHANGES},
    [AUDIT_EXPORT] = {"export", AUDIT_LEVEL_CHANGES},
    [AUDIT_QUESTION] = {"question", AUDIT_LEVEL_READS},
    [AUDIT_ANALYSIS] = {"analysis", AUDIT_LEVEL_CHANGES},
    [AUDIT_MARK] = {"mark", AUDIT_LEVEL_CHANGES},
    [AUDIT_LEFT_OUT] = {"left out", AUDIT_LEVEL_CHANGES},
};

AuditLevel audit_level_of(AuditAction action) { return actions[action].level; }

/* Cut between characters; what is no UTF-8 becomes U+FFFD. */
static void set_text(json_t *object, const char *key, const char *text, gsize most_bytes) {
    if (text == NULL) return;
    g_autofree char *start = g_strndup(text, strnlen(text, most_bytes));
    g_autofree char *valid = g_utf8_make_valid(start, -1);
    g_strdelimit(valid, "\x7f", '?'); /* JSON does not escape it */
    const gboolean cut = strlen(text) > most_bytes;
    g_autofree char *whole = g_strconcat(valid, cut ? "..." : "", NULL);
    json_object_set_new(object, key, json_string(whole));
}

static void set_number(json_t *object, const char *key, guint64 number) {
    if (number > 0) json_object_set_new(object, key, json_integer((json_int_t)number));
}

static void set_time(json_t *object, gint64 wall_ns) {
    const time_t seconds = (time_t)(wall_ns / NS_PER_SEC);
    struct tm utc;
    char date[32];
    gmtime_r(&seconds, &utc);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
    g_autofree char *text = g_strdup_printf("%s.%03dZ", date, (int)(wall_ns % NS_PER_SEC / NS_PER_MS));
    json_object_set_new(object, "time", json_string(text));
}

/* How many bytes the line needs, without its end; of them no more are written than there is room for. */
static gsize make(const AuditEvent *event, gint64 wall_ns, gsize most_bytes, char line[AUDIT_LINE_BYTES]) {
    json_t *object = json_object();
    set_time(object, wall_ns);
    json_object_set_new(object, "action", json_string(actions[event->action].name));
    set_text(object, "port", event->port, most_bytes);
    set_text(object, "address", event->address, most_bytes);
    if (event->address != NULL)
        set_text(object, "principal", event->principal != NULL ? event->principal : "anonymous", most_bytes);
    set_text(object, "route", event->route, most_bytes);
    set_text(object, "query", event->query, most_bytes);
    set_text(object, "outcome", event->outcome, most_bytes);

    set_number(object, "status", (guint64)event->status);
    set_number(object, "bytes", event->bytes);
    set_number(object, "duration_ns", (guint64)event->duration_ns);
    set_number(object, "lines", event->lines);
    const gsize length = json_dumpb(object, line, AUDIT_LINE_BYTES, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(object);
    return length;
}

gsize audit_line(const AuditEvent *event, gint64 wall_ns, char line[AUDIT_LINE_BYTES]) {
    gsize most_bytes = TEXT_FIRST_BYTES, length;
    while ((length = make(event, wall_ns, most_bytes, line)) >= AUDIT_LINE_BYTES && most_bytes > TEXT_LEAST_BYTES)
        most_bytes /= 2;
    g_assert(length < AUDIT_LINE_BYTES);
    line[length] = '\n';
    return length + 1;
}
