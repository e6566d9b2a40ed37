#include "analyzer/cli/spread/figure.h"

#include <string.h>

#include "analyzer/cli/format/text.h"
#include "analyzer/cli/format/units.h"
#include "analyzer/cli/show/show.h"
#include "common/base/clock.h"

char *figure_text(const Style *style, const char *field, double value) {
    if (g_str_has_suffix(field, "_ns")) return unit_in_column(unit_duration(style, value, 1));
    if (g_str_has_suffix(field, "_bytes_per_s")) return unit_bytes_per_s(value);
    return g_str_has_suffix(field, "_bytes") ? unit_bytes(value) : unit_count(value);
}

char *figure_name(const Style *style, const char *field) {
    static const char *const names[][2] = {{"bytes.total_bytes", "bytes"},
                                           {"rate.mean_bytes_per_s", "rate"},
                                           {"bytes.zero_calls", "empty"},
                                           {"bytes.small_calls", "small"}};
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
        if (strcmp(field, names[i][0]) == 0) return g_strdup(names[i][1]);
    g_autofree char *name = g_strndup(field, strlen(field) - (g_str_has_suffix(field, "_ns") ? strlen("_ns") : 0));
    return text_clean(style, name);
}

gint64 figure_step_ns(const json_t *document, gint64 at) {
    const guint64 since = (guint64)field_int(document, "since_time_ns"), step = (guint64)field_int(document, "step_ns");
    return (gint64)(since + (guint64)at * step);
}

double figure_at(const json_t *object, const char *name, gsize i) {
    const json_t *value = json_array_get(field_list(object, name), i);
    return json_is_number(value) ? json_number_value(value) : 0;
}

char *figure_steps(const json_t *document, const Style *style) {
    g_autofree char *step = unit_duration(style, field_number(document, "step_ns"), NS_PER_SEC);
    g_autofree char *period = show_period(document);
    return g_strdup_printf("steps of %s, %s", step, period);
}
