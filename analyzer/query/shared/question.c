#include "analyzer/query/shared/question.h"

#include <math.h>
#include <string.h>

#include "analyzer/archive/read/load.h"
#include "analyzer/archive/read/period_stats.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/error.h"

guint answer_rows(const Asked *asked, guint64 limit, guint available, json_t *answer) {
    guint64 most = limit ? MIN(limit, (guint64)asked->rows_max) : asked->rows_max;
    if (available <= most) return available;
    json_object_set_new(answer, "more", json_true());
    return (guint)most;
}

/* Nearly all texts are; jansson looks at each character by itself. */
static gboolean ascii(const char *data, gsize length) {
    guint64 word, all = 0;
    for (; length >= sizeof word; data += sizeof word, length -= sizeof word) {
        memcpy(&word, data, sizeof word);
        all |= word;
    }
    for (; length > 0; data++, length--) all |= (guint8)*data;
    return (all & G_GUINT64_CONSTANT(0x8080808080808080)) == 0;
}

json_t *json_text(const char *data, gsize length) {
    if (ascii(data, length)) return json_stringn_nocheck(data, length);
    json_t *text = json_stringn(data, length);
    if (text) return text;
    g_autofree char *valid = g_utf8_make_valid(data, (gssize)length);
    return json_string(valid);
}

void json_put_text(JsonText *out, const char *data, gsize length) {
    if (ascii(data, length)) {
        json_put_string(out, data, length);
        return;
    }
    json_auto_t *text = json_text(data, length);
    json_put_value(out, text);
}

json_t *json_name(Archive *archive, guint32 id) {
    gsize length;
    const char *text = dict_text(archive_dict(archive), id, &length);
    return json_text(text, length);
}

json_t *json_count(guint64 value) { return json_integer((json_int_t)MIN(value, (guint64)G_MAXINT64)); }

json_t *json_ns_of_ms(double ms) {
    const double most_ms = (double)(G_MAXINT64 / NS_PER_MS);
    return json_integer(ms < most_ms ? (json_int_t)(ms * (double)NS_PER_MS) : G_MAXINT64);
}

json_t *json_number(double value) {
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(text, sizeof text, "%.6g", value);
    return json_real(g_ascii_strtod(text, NULL));
}

void json_set_number(json_t *object, const char *name, double value) {
    if (isfinite(value)) json_object_set_new(object, name, json_number(value));
}

json_t *json_span_id(SpanId id) {
    char text[SPAN_ID_TEXT_BYTES];
    span_id_format(id, text);
    return json_string_nocheck(text);
}

json_t *json_trace_id(guint64 trace_id) { return json_sprintf("%016" G_GINT64_MODIFIER "x", trace_id); }

json_t *json_pattern_id(PatternId id) {
    char text[PATTERN_ID_TEXT_BYTES];
    pattern_id_format(id, text);
    return json_string(text);
}

json_t *json_dropped(guint32 dropped) {
    json_t *list = json_array();
    if (dropped & DROPPED_IDS) json_array_append_new(list, json_string("ids"));
    if (dropped & DROPPED_ANNOTATIONS) json_array_append_new(list, json_string("annotations"));
    if (dropped & DROPPED_NOTES) json_array_append_new(list, json_string("notes"));
    return list;
}

gint compare_ids(Archive *archive, guint32 a, guint32 b) {
    if (a == b) return 0;
    Dict *dict = archive_dict(archive);
    return strcmp(dict_text(dict, a, NULL), dict_text(dict, b, NULL));
}

const char *node_text(Archive *archive, guint32 name) {
    if (name == NAME_MISSING) return "(missing parent)";
    return name == NAME_OTHERS ? "(other calls)" : dict_text(archive_dict(archive), name, NULL);
}

void json_add_period(json_t *object, Archive *archive, Period period, gboolean minutes) {
    ArchiveTotals totals = archive_totals(archive);
    gboolean open_start = period.since_ns == G_MININT64, open_end = period.until_ns == G_MAXINT64;
    if (totals.traces == 0 && (open_start || open_end)) return;
    if (minutes) archive_stats_period(archive, &period.since_ns, &period.until_ns);
    gint64 since_ns = open_start ? totals.first_ns : period.since_ns;
    gint64 until_ns = open_end ? totals.last_ns : period.until_ns;
    json_object_set_new(object, "since_time_ns", json_integer(since_ns));
    json_object_set_new(object, "until_time_ns", json_integer(until_ns));
}

/* Looks through all patterns for the one whose id begins so. */
static gboolean find_by_prefix(Archive *archive, const char *prefix, guint32 *number, GError **error) {
    guint32 found = 0, n = archive_pattern_count(archive), mixed = archive_mixed_count(archive);
    for (guint32 i = 1; i <= n + mixed && allowance_goes_on(); i++) {
        guint32 candidate = i <= n ? i : MIXED_NUMBER + i - n;
        PatternId id;
        char text[PATTERN_ID_TEXT_BYTES];
        if (!archive_pattern_id(archive, candidate, &id)) continue;
        pattern_id_format(id, text);
        if (g_ascii_strncasecmp(text, prefix, strlen(prefix)) != 0) continue;
        if (found) return fail(error, PLUMB_ERROR_INPUT, "pattern \"%s\" is ambiguous: give more digits", prefix);
        found = candidate;
    }
    if (!found) return fail(error, PLUMB_ERROR_NOT_FOUND, "there is no pattern \"%s\"", prefix);
    *number = found;
    return allowance_check(error);
}

gboolean asked_pattern(const Asked *asked, const char *name, guint32 *number, GError **error) {
    const char *text = params_text(asked->params, name);
    if (!text) return TRUE;
    gsize digits = strspn(text, "0123456789abcdefABCDEF");
    if (text[digits] != '\0' || digits < 4 || digits > 32)
        return fail(error, PLUMB_ERROR_INPUT, "%s \"%s\" is no pattern: use its id, or the first 4 or more digits",
                    name, text);
    PatternId id;
    if (digits < 32) return find_by_prefix(asked->archive, text, number, error);
    if (!pattern_id_parse(text, digits, &id)) return fail(error, PLUMB_ERROR_INPUT, "%s \"%s\" is no id", name, text);
    guint32 found = archive_pattern_find(asked->archive, id);
    if (!found) return fail(error, PLUMB_ERROR_NOT_FOUND, "there is no pattern \"%s\"", text);
    *number = found;
    return TRUE;
}

guint32 asked_name(const Asked *asked, const char *name) {
    const char *text = params_text(asked->params, name);
    if (!text) return 0;
    guint32 id = dict_find(archive_dict(asked->archive), text, strlen(text));
    return id ? id : G_MAXUINT32;
}

GArray *asked_excludes(const Asked *asked) {
    GArray *exclude = g_array_new(FALSE, FALSE, sizeof(guint32));
    const char *text;
    for (guint i = 0; (text = params_nth(asked->params, "exclude", i)) != NULL; i++) {
        const guint32 id = dict_find(archive_dict(asked->archive), text, strlen(text));
        if (id) g_array_append_val(exclude, id);
    }
    return exclude;
}

gboolean is_excluded(const GArray *exclude, guint32 function) {
    for (guint i = 0; i < exclude->len; i++)
        if (g_array_index(exclude, guint32, i) == function) return TRUE;
    return FALSE;
}

/* OpenTelemetry's ids of traces have as many digits as our spans have: the lower half is the trace here. */
static gboolean is_trace_of_others(Archive *archive, SpanId id) {
    gboolean has = FALSE, ours = FALSE;
    return archive_has_trace(archive, id.span, &has, NULL) && has &&
           archive_has_trace(archive, id.trace, &ours, NULL) && !ours;
}

gboolean asked_trace(const Asked *asked, const char *name, SpanId *id, gboolean *one_span, GError **error) {
    const char *text = params_text(asked->params, name);
    if (!text)
        return fail(error, PLUMB_ERROR_INPUT,
                    "%s is missing: 16 hex digits of a trace, or 32 of a span or of a trace of OpenTelemetry", name);
    char padded[SPAN_ID_TEXT_BYTES] = "00000000000000000000000000000000";
    gsize length = strlen(text);
    if (length == 16 || length == 32) memcpy(padded, text, length);
    if ((length != 16 && length != 32) || !span_id_parse(padded, 32, id))
        return fail(error, PLUMB_ERROR_INPUT,
                    "%s \"%s\" is not understood: use the 16 hex digits of a trace, or the 32 of one of its spans "
                    "or of a trace of OpenTelemetry",
                    name, text);
    *one_span = length == 32;
    if (*one_span && is_trace_of_others(asked->archive, *id)) {
        *id = (SpanId){id->span, 0};
        *one_span = FALSE;
    }
    return TRUE;
}
