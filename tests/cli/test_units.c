#include "analyzer/cli/format/units.h"
#include "common/base/clock.h"

#define MS G_GINT64_CONSTANT(1000000)

static void test_durations(void) {
    static const struct {
        double ns;
        gint64 resolution_ns;
        const char *text;
    } cases[] = {
        {0, 1, "0 ns"},
        {0, MS, "0 ms"},
        {1, 1, "1 ns"},
        {999, 1, "999 ns"},
        {999.6, 1, "1.00 µs"},
        {1000, 1, "1.00 µs"},
        {9994, 1, "9.99 µs"},
        {9996, 1, "10.0 µs"},
        {99960, 1, "100 µs"},
        {999499, 1, "999 µs"},
        {999501, 1, "1.00 ms"},
        {3210000, 1, "3.21 ms"},
        {3210000, MS, "3 ms"},
        {3600000, MS, "4 ms"},
        {3210000, MS / 10, "3.2 ms"},
        {3210000, MS / 100, "3.21 ms"},
        {400000, MS, "0 ms"},
        {-3210000, 1, "-3.21 ms"},
        {-1 * MS, MS, "-1 ms"},
        {1234 * MS, MS, "1.23 s"},
        {92444 * MS, MS, "92.4 s"},
        {1e9 * 5432, 1, "5,432 s"},
        {1e9 * 99999, 1, "99,999 s"},
        {1e9 * 100000, 1, "27.8 h"},
        {1e9 * 86400 * 50, 1, "50.0 d"},
        {1e9 * 86400 * 5000, 1, "5,000 d"},
        {41234, 10000, "40 µs"},
        {12345, 1000, "12 µs"},
    };

    Style style = style_plain();
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = unit_duration(&style, cases[i].ns, cases[i].resolution_ns);
        g_assert_cmpstr(text, ==, cases[i].text);
    }
}

static void test_age(void) {
    static const struct {
        double s;
        const char *text;
    } cases[] = {{-5, "0 s"},      {0.5, "0 s"},       {119, "119 s"},
                 {120, "2 min"},   {7199, "119 min"},  {3 * 3600, "3 h"},
                 {172799, "47 h"}, {86400 * 9, "9 d"}, {86400 * 4000.0, "4000 d"}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = unit_age(cases[i].s * 1e9);
        g_assert_cmpstr(text, ==, cases[i].text);
    }
}

/* Whatever the value, a time counted in milliseconds never shows a finer digit. */
static void test_no_false_digits(void) {
    Style style = style_plain();
    for (gint64 ms = 0; ms < 200000; ms = ms * 3 / 2 + 1) {
        g_autofree char *text = unit_duration(&style, (double)(ms * MS), MS);
        double value = g_ascii_strtod(text, NULL);
        if (g_str_has_suffix(text, "ms")) g_assert_cmpfloat(value, ==, (double)(gint64)value);
        g_assert_false(g_str_has_suffix(text, "µs") || g_str_has_suffix(text, "ns"));
    }
}

static void test_ascii(void) {
    Style style = style_plain();
    style.utf8 = FALSE;
    g_autofree char *text = unit_duration(&style, 3210, 1);
    g_assert_cmpstr(text, ==, "3.21 us");
}

static void test_mean_resolution(void) {
    static const struct {
        gint64 resolution_ns, calls, expected_ns;
    } cases[] = {{MS, 0, MS},         {MS, 1, MS},           {MS, 99, MS},    {MS, 100, MS / 10},
                 {MS, 9999, MS / 10}, {MS, 10000, MS / 100}, {1, 1000000, 1}, {0, 5, 1}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        g_assert_cmpint(unit_mean_resolution(cases[i].resolution_ns, cases[i].calls), ==, cases[i].expected_ns);
}

static void test_signed_and_columns(void) {
    Style style = style_plain();
    g_autofree char *more = unit_duration_signed(&style, 5e6, MS);
    g_autofree char *less = unit_duration_signed(&style, -5e6, MS);
    g_autofree char *none = unit_duration_signed(&style, 0, MS);
    g_assert_cmpstr(more, ==, "+5 ms");
    g_assert_cmpstr(less, ==, "-5 ms");
    g_assert_cmpstr(none, ==, "0 ms");
    g_autofree char *padded = unit_in_column(g_strdup("92.4 s"));
    g_autofree char *as_it_is = unit_in_column(g_strdup("3.2 ms"));
    g_autofree char *empty = unit_in_column(g_strdup(""));
    g_assert_cmpstr(padded, ==, "92.4 s ");
    g_assert_cmpstr(as_it_is, ==, "3.2 ms");
    g_assert_cmpstr(empty, ==, "");
}

typedef char *(*Format)(double);

static void test_other_units(void) {
    static const struct {
        Format format;
        double value;
        const char *text;
    } cases[] = {
        {unit_count, 0, "0"},
        {unit_count, 999, "999"},
        {unit_count, 50160, "50,160"},
        {unit_count, 999999, "999,999"},
        {unit_count, 1000000, "1.00 M"},
        {unit_count, 12345678, "12.3 M"},
        {unit_count, 1.5e12, "1.50 T"},
        {unit_count, -1234, "-1,234"},
        {unit_bytes, 0, "0 B"},
        {unit_bytes, 512, "512 B"},
        {unit_bytes, 999, "999 B"},
        {unit_bytes, 1000, "1.00 kB"},
        {unit_bytes, 999600, "1.00 MB"},
        {unit_bytes, 134217728, "134 MB"},
        {unit_bytes_per_s, 81e6, "81.0 MB/s"},
        {unit_bytes_per_s, 0.5, "0.50 B/s"},
        {unit_per_s, 512, "512/s"},
        {unit_per_s, 512345, "512 k/s"},
        {unit_percent, 12.34, "+12.3 %"},
        {unit_percent, -5, "-5.0 %"},
        {unit_percent, 150, "+150 %"},
        {unit_percent, 1e9, "> +9999 %"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = cases[i].format(cases[i].value);
        g_assert_cmpstr(text, ==, cases[i].text);
    }
}

static void test_times(void) {
    static const struct {
        gint64 time_ns, resolution_ns;
        const char *text;
    } cases[] = {
        {0, 1, ""},
        {1605952800123456789, NS_PER_SEC, "2020-11-21T10:00:00Z"},
        {1605952800123456789, NS_PER_MS, "2020-11-21T10:00:00.123Z"},
        {1605952800123456789, 1, "2020-11-21T10:00:00.123456Z"},
        {-1, NS_PER_MS, "1969-12-31T23:59:59.999Z"},
        {G_MAXINT64, NS_PER_SEC, "2262-04-11T23:47:16Z"},
        {G_MININT64, NS_PER_SEC, "1677-09-21T00:12:43Z"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = unit_time(cases[i].time_ns, cases[i].resolution_ns);
        g_assert_cmpstr(text, ==, cases[i].text);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/units/durations", test_durations);
    g_test_add_func("/units/age", test_age);
    g_test_add_func("/units/no_false_digits", test_no_false_digits);
    g_test_add_func("/units/ascii", test_ascii);
    g_test_add_func("/units/mean_resolution", test_mean_resolution);
    g_test_add_func("/units/signed_and_columns", test_signed_and_columns);
    g_test_add_func("/units/others", test_other_units);
    g_test_add_func("/units/times", test_times);
    return g_test_run();
}
