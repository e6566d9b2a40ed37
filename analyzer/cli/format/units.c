#include "analyzer/cli/format/units.h"

#include <math.h>
#include <string.h>

#include "common/base/clock.h"

typedef struct Unit {
    double size;
    const char *name, *ascii;
} Unit;

static const Unit time_units[] = {{1e9 * 86400, "d", "d"}, {1e9 * 3600, "h", "h"}, {1e9, "s", "s"},
                                  {1e6, "ms", "ms"},       {1e3, "µs", "us"},      {1, "ns", "ns"}};

/* Three significant digits, at most max_decimals of them behind the point. */
static guint decimals_of(double value, guint max_decimals) {
    double size = fabs(value);
    guint wanted = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
    return MIN(wanted, max_decimals);
}

/* Decimals that a value shown in 'unit' really has when it was counted in steps of 'resolution'. */
static guint decimals_known(double unit, double resolution) {
    double digits = log10(unit / resolution);
    return digits <= 0 ? 0 : (guint)(digits + 1e-9);
}

/* Seconds go on to 99,999 and days begin at 1,000 hours: amounts of time of one table stay comparable. */
static const Unit *time_unit(double ns) {
    double size = fabs(ns);
    if (size >= 1e9 * 3600 * 1000) return &time_units[0];
    if (size >= 1e9 * 99999.5) return &time_units[1];
    if (size >= 999.5e6) return &time_units[2];
    if (size >= 999.5e3) return &time_units[3];
    return size >= 999.5 ? &time_units[4] : &time_units[5];
}

static void group_digits(guint64 value, GString *out) {
    g_autofree char *digits = g_strdup_printf("%" G_GUINT64_FORMAT, value);
    gsize n = 0;
    while (digits[n] != '\0') n++;
    for (gsize i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0) g_string_append_c(out, ',');
        g_string_append_c(out, digits[i]);
    }
}

char *unit_duration(const Style *style, double ns, gint64 resolution_ns) {
    gint64 resolution = MAX(resolution_ns, 1);
    double rounded = resolution > 1 ? rint(ns / (double)resolution) * (double)resolution : ns;
    rounded += 0.0; /* no "-0" */
    const Unit *unit = time_unit(rounded);
    /* A value below its resolution is 0 of the resolution's unit: "0 ms". */
    if (resolution > 1 && unit->size < (double)resolution) unit = time_unit((double)resolution);
    double value = rounded / unit->size;
    GString *out = g_string_new(NULL);
    if (fabs(value) >= 999.5 && fabs(value) < 1e15) {
        if (value < 0) g_string_append_c(out, '-');
        group_digits((guint64)rint(fabs(value)), out);
    } else {
        guint known = decimals_known(unit->size, (double)resolution);
        /* Means of nanosecond times may have fractions; they are not shown. */
        g_string_append_printf(out, "%.*f", (int)decimals_of(value, known), value);
    }
    g_string_append_printf(out, " %s", style->utf8 ? unit->name : unit->ascii);
    return g_string_free(out, FALSE);
}

char *unit_duration_signed(const Style *style, double ns, gint64 resolution_ns) {
    g_autofree char *text = unit_duration(style, ns, resolution_ns);
    return ns > 0 ? g_strconcat("+", text, NULL) : g_steal_pointer(&text);
}

char *unit_age(double ns) {
    static const struct {
        double ns;
        const char *name;
    } units[] = {{86400e9, "d"}, {3600e9, "h"}, {60e9, "min"}, {1e9, "s"}};
    guint i = 0;
    while (i + 1 < G_N_ELEMENTS(units) && ns < 2 * units[i].ns) i++;
    return g_strdup_printf("%.0f %s", floor(MAX(ns, 0) / units[i].ns), units[i].name);
}

char *unit_in_column(char *text) {
    gsize length = strlen(text);
    gboolean single = length > 2 && text[length - 2] == ' ' && strchr("shd", text[length - 1]) != NULL;
    if (!single) return text;
    char *padded = g_strconcat(text, " ", NULL);
    g_free(text);
    return padded;
}

gint64 unit_mean_resolution(gint64 resolution_ns, gint64 n) {
    gint64 resolution = MAX(resolution_ns, 1);
    for (; n >= 100 && resolution >= 10; n /= 100) resolution /= 10;
    return resolution;
}

static char *scaled(double value, const char *const *units, const char *suffix) {
    guint i = 0;
    for (; fabs(value) >= (i == 0 ? 1000 : 999.5) && units[i + 1] != NULL; i++) value /= 1000;
    guint decimals = i == 0 && value == rint(value) ? 0 : decimals_of(value, 2);
    return g_strdup_printf("%.*f%s%s%s", (int)decimals, value, *units[i] != '\0' || *suffix == 'B' ? " " : "", units[i],
                           suffix);
}

static const char *const thousands[] = {"", "k", "M", "G", "T", "P", NULL};

char *unit_count(double count) {
    if (fabs(count) < 999999.5) {
        GString *out = g_string_new(count < 0 ? "-" : NULL);
        group_digits((guint64)rint(fabs(count)), out);
        return g_string_free(out, FALSE);
    }
    return scaled(count, thousands, "");
}

char *unit_bytes(double bytes) { return scaled(bytes, thousands, "B"); }

char *unit_bytes_per_s(double bytes) { return scaled(bytes, thousands, "B/s"); }

char *unit_per_s(double count) { return scaled(count, thousands, "/s"); }

char *unit_percent(double percent) {
    if (fabs(percent) >= 9999.5) return g_strdup(percent > 0 ? "> +9999 %" : "< -9999 %");
    return g_strdup_printf("%+.*f %%", (int)MIN(decimals_of(percent, 2), 1), percent);
}

char *unit_time(gint64 time_ns, gint64 resolution_ns) {
    if (time_ns == 0) return g_strdup("");
    gint64 seconds = time_ns / NS_PER_SEC, rest = time_ns % NS_PER_SEC;
    if (rest < 0) {
        seconds--;
        rest += NS_PER_SEC;
    }
    g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(seconds);
    if (time == NULL) return g_strdup("?");
    g_autofree char *text = g_date_time_format(time, "%Y-%m-%dT%H:%M:%S");
    if (resolution_ns >= NS_PER_SEC) return g_strconcat(text, "Z", NULL);
    if (resolution_ns >= NS_PER_MS) return g_strdup_printf("%s.%03dZ", text, (int)(rest / NS_PER_MS));
    return g_strdup_printf("%s.%06dZ", text, (int)(rest / NS_PER_US));
}
