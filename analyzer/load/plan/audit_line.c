#include "analyzer/load/plan/audit_line.h"

#include <string.h>

static const char mark[] = "FSNamesystem.audit";

/* n digits. FALSE: they are not. */
static gboolean digits(const char **at, const char *end, guint n, gint *value) {
    gint number = 0;
    if (end - *at < (gint)n) return FALSE;
    for (guint i = 0; i < n; i++) {
        if (!g_ascii_isdigit((*at)[i])) return FALSE;
        number = number * 10 + ((*at)[i] - '0');
    }
    *at += n;
    *value = number;
    return TRUE;
}

static gboolean one_of(const char **at, const char *end, const char *characters) {
    if (*at == end || **at == '\0' || strchr(characters, **at) == NULL) return FALSE;
    ++*at;
    return TRUE;
}

/* "2026-11-21 10:00:00,123", at the begin of the line; T and a point in it, too. */
static gboolean parse_time(const char *line, const char *end, gint64 *time_ms) {
    gint year, month, day, hour, minute, second, millis;
    const char *at = line;
    if (!digits(&at, end, 4, &year) || !one_of(&at, end, "-") || !digits(&at, end, 2, &month) ||
        !one_of(&at, end, "-") || !digits(&at, end, 2, &day) || !one_of(&at, end, " T") ||
        !digits(&at, end, 2, &hour) || !one_of(&at, end, ":") || !digits(&at, end, 2, &minute) ||
        !one_of(&at, end, ":") || !digits(&at, end, 2, &second) || !one_of(&at, end, ",.") ||
        !digits(&at, end, 3, &millis))
        return FALSE;
    if (!g_date_valid_dmy((GDateDay)day, (GDateMonth)month, (GDateYear)year) || hour > 23 || minute > 59 || second > 60)
        return FALSE;
    GDate date;
    g_date_clear(&date, 1);
    g_date_set_dmy(&date, (GDateDay)day, (GDateMonth)month, (GDateYear)year);
    const gint64 days = (gint64)g_date_get_julian(&date) - 719163; /* 1970-01-01 */
    *time_ms = (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + millis;
    return TRUE;
}

/* The value of "key=" in fields between tabs. FALSE: there is none. */
static gboolean find_field(const char *at, const char *end, const char *key, Bytes *value) {
    const gsize length = strlen(key);
    while (at < end) {
        const char *tab = memchr(at, '\t', (gsize)(end - at));
        const char *to = tab != NULL ? tab : end;
        if ((gsize)(to - at) > length && memcmp(at, key, length) == 0 && at[length] == '=') {
            *value = (Bytes){at + length + 1, (gsize)(to - at) - length - 1};
            return TRUE;
        }
        at = to + 1;
    }
    return FALSE;
}

static Bytes first_word(Bytes value) {
    const char *blank = memchr(value.data, ' ', value.size_bytes);
    if (blank != NULL) value.size_bytes = (gsize)(blank - (const char *)value.data);
    return value;
}

AuditLineKind audit_line_parse(const char *line, gsize length, AuditLine *parsed, const char **wrong) {
    if (length > 0 && line[length - 1] == '\r') length--;
    const char *end = line + length, *found = g_strstr_len(line, (gssize)length, mark);
    const char *colon = found != NULL ? memchr(found, ':', (gsize)(end - found)) : NULL;
    if (colon == NULL) return AUDIT_OTHER;

    const char *fields = colon + 1;
    while (fields < end && *fields == ' ') fields++;
    Bytes allowed;
    *wrong = NULL;
    if (!parse_time(line, end, &parsed->time_ms))
        *wrong = "a time, as 2026-11-21 10:00:00,123, at its begin";
    else if (!find_field(fields, end, "allowed", &allowed))
        *wrong = "allowed=";
    else if (!find_field(fields, end, "ugi", &parsed->user))
        *wrong = "ugi=";
    else if (!find_field(fields, end, "cmd", &parsed->command))
        *wrong = "cmd=";
    else if (!find_field(fields, end, "src", &parsed->source))
        *wrong = "src=";
    if (*wrong != NULL) return AUDIT_BAD;

    parsed->allowed = allowed.size_bytes == 4 && memcmp(allowed.data, "true", 4) == 0;
    parsed->user = first_word(parsed->user);
    parsed->command = first_word(parsed->command);
    return AUDIT_OPERATION;
}
