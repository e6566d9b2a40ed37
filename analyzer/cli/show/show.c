#include "analyzer/cli/show/show.h"

#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "common/base/clock.h"

char *show_period(const json_t *document) {
    gint64 since = field_int(document, "since_time_ns"), until = field_int(document, "until_time_ns");
    /* Open ends come as the least and greatest times there are. */
    gboolean from = field_present(document, "since_time_ns") && since > 0;
    gboolean to = field_present(document, "until_time_ns") && until > 0 && until < G_MAXINT64 / 2;
    g_autofree char *first = unit_time(since, NS_PER_SEC);
    g_autofree char *last = unit_time(until, NS_PER_SEC);
    if (from && to) return g_strdup_printf("%s to %s", first, last);
    if (from) return g_strdup_printf("since %s", first);
    return to ? g_strdup_printf("until %s", last) : g_strdup("all times");
}

char *show_text(const Style *style, const json_t *object, const char *field) {
    return text_clean(style, field_text(object, field));
}

char *show_stage_text(const Style *style, const json_t *row) {
    g_autofree char *name = show_text(style, row, "stage_name");
    return g_strdup_printf(name[0] != '\0' ? "stage %" G_GINT64_FORMAT ".%" G_GINT64_FORMAT " (%s)"
                                           : "stage %" G_GINT64_FORMAT ".%" G_GINT64_FORMAT "%s",
                           field_int(row, "stage"), field_int(row, "stage_attempt"), name);
}

char *show_count(double n, const char *singular, const char *plural) {
    g_autofree char *count = unit_count(n);
    return g_strdup_printf("%s %s", count, n == 1 ? singular : plural);
}

gint64 show_resolution(const json_t *trace) {
    gint64 begin_ns = field_int(trace, "begin_time_ns"), duration_ns = field_int(trace, "duration_ns");
    return begin_ns % NS_PER_MS == 0 && duration_ns % NS_PER_MS == 0 ? NS_PER_MS : 1;
}
