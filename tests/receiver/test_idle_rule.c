#include "receiver/background/idle_rule.h"

#include "common/base/clock.h"

#define MIB (1024u * 1024)

static const IdleRuleInput quiet = {
    .idle_ns = 30 * NS_PER_SEC, .max_age_ns = 300 * NS_PER_SEC, .journal_limit_bytes = 2048ull * MIB};

static IdleTimes at(double spans_per_s, double journal_used) {
    IdleRuleInput input = quiet;
    input.spans_per_s = spans_per_s;
    input.journal_bytes = (guint64)(journal_used * (double)input.journal_limit_bytes);
    return idle_times_of(&input);
}

static void assert_near(gint64 ns, gint64 expected_ns) {
    g_assert_cmpint(ns, >=, expected_ns - expected_ns / 1000);
    g_assert_cmpint(ns, <=, expected_ns + expected_ns / 1000);
}

static void assert_waits(IdleTimes times, gint64 idle_ns, gint64 large_idle_ns) {
    assert_near(times.idle_ns, idle_ns);
    assert_near(times.large_idle_ns, large_idle_ns);
}

/* Large ones wait for longer the more spans come, and never for less long than others, or for longer than max-age. */
static void test_large_ones_wait_by_the_rate(void) {
    assert_waits(at(0, 0), 30 * NS_PER_SEC, 30 * NS_PER_SEC);
    assert_waits(at(IDLE_RULE_RATE, 0), 30 * NS_PER_SEC, 30 * NS_PER_SEC);
    assert_waits(at(2 * IDLE_RULE_RATE, 0), 30 * NS_PER_SEC, 60 * NS_PER_SEC);
    assert_waits(at(1e9, 0), 30 * NS_PER_SEC, IDLE_RULE_LARGE_MOST * 30 * NS_PER_SEC);
    IdleRuleInput input = quiet;
    input.spans_per_s = 1e6;
    input.max_age_ns = 100 * NS_PER_SEC;
    assert_waits(idle_times_of(&input), 30 * NS_PER_SEC, 100 * NS_PER_SEC);
    input.max_age_ns = NS_PER_SEC;
    assert_waits(idle_times_of(&input), 30 * NS_PER_SEC, 30 * NS_PER_SEC);
}

static void test_less_the_fuller_the_journal_is(void) {
    const gint64 least_ns = 30 * NS_PER_SEC / IDLE_RULE_LEAST_PART;
    assert_waits(at(0, 0.5), 30 * NS_PER_SEC, 30 * NS_PER_SEC);
    assert_waits(at(0, 0.875), least_ns, least_ns);
    /* Half way between: of a sixteenth, its root. */
    assert_waits(at(0, 0.6875), 4 * least_ns, 4 * least_ns);
    for (double rate = 0; rate <= 1e6; rate += 1e5) {
        IdleTimes before = at(rate, 0);
        for (double used = 0; used <= 3; used += 0.01) {
            const IdleTimes now = at(rate, used);
            g_assert_cmpint(now.idle_ns, <=, before.idle_ns);
            g_assert_cmpint(now.large_idle_ns, <=, before.large_idle_ns);
            g_assert_cmpint(now.large_idle_ns, >=, now.idle_ns);
            g_assert_cmpint(now.idle_ns, >=, least_ns - 1);
            before = now;
        }
        assert_waits(before, least_ns, least_ns);
    }
}

/* Under load nothing is taken from the others before large ones wait for no longer than they do. */
static void test_large_ones_first(void) {
    guint shortened = 0;
    for (double used = 0; used <= 1; used += 0.001) {
        const IdleTimes now = at(1e6, used);
        if (now.idle_ns < 30 * NS_PER_SEC) g_assert_cmpint(now.large_idle_ns, ==, now.idle_ns);
        if (now.large_idle_ns < 200 * NS_PER_SEC && now.idle_ns == 30 * NS_PER_SEC) shortened++;
    }
    g_assert_cmpuint(shortened, >, 100);
}

static void test_no_journal(void) {
    IdleRuleInput none = quiet;
    none.journal_limit_bytes = 0;
    assert_waits(idle_times_of(&none), 30 * NS_PER_SEC, 30 * NS_PER_SEC);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/idle-rule/rate", test_large_ones_wait_by_the_rate);
    g_test_add_func("/idle-rule/fuller", test_less_the_fuller_the_journal_is);
    g_test_add_func("/idle-rule/large", test_large_ones_first);
    g_test_add_func("/idle-rule/none", test_no_journal);
    return g_test_run();
}
