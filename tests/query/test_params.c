/* Times and lengths of time as people write them. */
#include "analyzer/query/shared/params.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "tests/query/fixture.h"

#define NOW G_GINT64_CONSTANT(1605956000000000000) /* 2020-11-21T10:53:20Z */
#define DAY (24 * 60 * NS_PER_MINUTE)
#define BAD G_MININT64 /* of tables: malformed */

static const struct TimeCase {
    const char *text;
    gint64 ns;
} time_cases[] = {
    {"now", NOW},
    {"15m", NOW - 15 * NS_PER_MINUTE},
    {"2h", NOW - 120 * NS_PER_MINUTE},
    {"3d", NOW - 3 * DAY},
    {"1.5s", NOW - 1500 * NS_PER_MS},
    {"0s", NOW},
    {"1605956000000000000", NOW},
    {"0", 0},
    {"9223372036854775807", G_MAXINT64},
    {"9223372036854775808", BAD},
    {"2020-11-21T10:53:20Z", NOW},
    {"2020-11-21t10:53:20z", NOW},
    {"2020-11-21T10:53:20", NOW},
    {"2020-11-21 10:53:20", NOW},
    {"2020-11-21T11:53:20+01:00", NOW},
    {"2020-11-21T11:53:20+0100", NOW},
    {"2020-11-21T11:53:20 01:00", NOW}, /* a plus that a URL made a blank */
    {"2020-11-21T05:23:20-05:30", NOW},
    {"2020-11-21T10:53:20.5Z", NOW + 500 * NS_PER_MS},
    {"2020-11-21T10:53:20.000000001Z", NOW + 1},
    {"2020-11-21T10:53:20.0000000019Z", NOW + 1},
    {"2020-11-21T10:53Z", NOW - 20 * NS_PER_SEC},
    {"2020-11-21", NOW - (10 * 60 + 53) * NS_PER_MINUTE - 20 * NS_PER_SEC},
    {"1970-01-01T00:00:00Z", 0},
    {"1969-12-31T23:59:59.999999999Z", -1},
    {"2020-02-29T00:00Z", G_GINT64_CONSTANT(1582934400) * NS_PER_SEC},
    {"2021-02-29T00:00Z", BAD},
    {"2020-13-01", BAD},
    {"2020-11-21T24:00Z", BAD},
    {"2020-11-21T10:60Z", BAD},
    {"2020-11-21T10:53:20.Z", BAD},
    {"2020-11-21T10:53:20Zulu", BAD},
    {"2020-11-21T10:53:20+1", BAD},
    {"2020-11-21T10:53:20+24:00", BAD},
    {"20-11-21", BAD},
    {"9999-01-01", BAD}, /* past what nanoseconds in 64 bits reach */
    {"", BAD},
    {"-5m", BAD},
    {"5", 5},
    {"5 minutes", BAD},
    {"99999999999999999d", BAD},
    {"m", BAD},
    {"later", BAD},
};

static void test_times(void) {
    for (gsize i = 0; i < G_N_ELEMENTS(time_cases); i++) {
        gint64 ns = BAD;
        g_test_message("%s", time_cases[i].text);
        gboolean parsed = text_to_time(time_cases[i].text, NOW, &ns);
        g_assert_cmpint(ns, ==, time_cases[i].ns);
        g_assert_cmpint(parsed, ==, time_cases[i].ns != BAD);
    }
}

static const struct TimeCase duration_cases[] = {
    {"7ns", 7},
    {"10us", 10 * NS_PER_US},
    {"10\xc2\xb5s", 10 * NS_PER_US},
    {"10ms", 10 * NS_PER_MS},
    {"1.5s", 1500 * NS_PER_MS},
    {"1.25 s", 1250 * NS_PER_MS},
    {"0.000000001s", 1},
    {"1.9ns", 1},
    {"2m", 2 * NS_PER_MINUTE},
    {"2min", 2 * NS_PER_MINUTE},
    {"1w", 7 * DAY},
    {"106751d", 106751 * DAY},
    {"106752d", BAD},
    {"5", BAD},
    {".5s", BAD},
    {"5.s", BAD},
    {"5S", BAD},
    {"1e3s", BAD},
    {"", BAD},
};

static void test_durations(void) {
    for (gsize i = 0; i < G_N_ELEMENTS(duration_cases); i++) {
        gint64 ns = BAD;
        g_test_message("%s", duration_cases[i].text);
        g_assert_cmpint(text_to_duration(duration_cases[i].text, &ns), ==, duration_cases[i].ns != BAD);
        g_assert_cmpint(ns, ==, duration_cases[i].ns);
    }
}

static const struct RangeCase {
    const char *text;
    gint64 since_ns, until_ns; /* since BAD and until BAD: malformed */
} range_cases[] = {
    {"2h..1h", NOW - 120 * NS_PER_MINUTE, NOW - 60 * NS_PER_MINUTE},
    {"2h..now", NOW - 120 * NS_PER_MINUTE, NOW},
    {"1h..", NOW - 60 * NS_PER_MINUTE, G_MAXINT64},
    {"..1h", G_MININT64, NOW - 60 * NS_PER_MINUTE},
    {"..", G_MININT64, G_MAXINT64},
    {"2020-11-21T10:53:20Z..1605956000000000001", NOW, NOW + 1},
    {"1h..2h", BAD, BAD},
    {"1h", BAD, BAD},
    {"1h...2h", BAD, BAD},
};

static void test_ranges(void) {
    for (gsize i = 0; i < G_N_ELEMENTS(range_cases); i++) {
        const struct RangeCase *test = &range_cases[i];
        g_autoptr(QueryParams) params = query_params_new();
        g_autoptr(GError) error = NULL;
        Period period = {BAD, BAD};
        query_params_add(params, "a", test->text);
        gboolean parsed = params_range(params, "a", NOW, &period, &error);
        g_test_message("%s: %s", test->text, error ? error->message : "");
        g_assert_cmpint(period.since_ns, ==, test->since_ns);
        g_assert_cmpint(period.until_ns, ==, test->until_ns);
        if (test->until_ns == BAD) g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
        g_assert_cmpint(parsed, ==, error == NULL);
    }
}

static void test_roles(void) {
    static const struct {
        const char *text;
        guint32 roles; /* 0: malformed */
    } role_cases[] = {
        {"client", 1u << ROLE_CLIENT},
        {"client,datanode", 1u << ROLE_CLIENT | 1u << ROLE_DATANODE},
        {"local,client,namenode,datanode,journalnode", ALL_ROLES},
        {"", 0},
        {",", 0},
        {"Client ", 0},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(role_cases); i++) {
        g_autoptr(QueryParams) params = query_params_new();
        g_autoptr(GError) error = NULL;
        guint32 roles = 0;
        query_params_add(params, "role", role_cases[i].text);
        g_assert_cmpint(params_roles(params, &roles, &error), ==, role_cases[i].roles != 0);
        g_assert_cmpuint(roles, ==, role_cases[i].roles);
    }
}

/* What was not given keeps its default; what was, is counted in order. */
static void test_defaults(void) {
    g_autoptr(QueryParams) params = params_from_text("exclude=a&limit=3&exclude=b");
    g_autoptr(GError) error = NULL;
    guint64 limit = 7, other = 7;
    gboolean flag = TRUE;
    Period period;
    g_assert_true(params_count(params, "limit", &limit, &error));
    g_assert_true(params_count(params, "other", &other, &error));
    g_assert_true(params_flag(params, "other", &flag, &error));
    g_assert_true(params_period(params, NOW, &period, &error));
    g_assert_cmpuint(limit, ==, 3);
    g_assert_cmpuint(other, ==, 7);
    g_assert_true(flag);
    g_assert_cmpint(period.since_ns, ==, G_MININT64);
    g_assert_cmpint(period.until_ns, ==, G_MAXINT64);
    g_assert_cmpstr(params_nth(params, "exclude", 0), ==, "a");
    g_assert_cmpstr(params_nth(params, "exclude", 1), ==, "b");
    g_assert_null(params_nth(params, "exclude", 2));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/query/params/times", test_times);
    g_test_add_func("/query/params/durations", test_durations);
    g_test_add_func("/query/params/ranges", test_ranges);
    g_test_add_func("/query/params/roles", test_roles);
    g_test_add_func("/query/params/defaults", test_defaults);
    return g_test_run();
}
