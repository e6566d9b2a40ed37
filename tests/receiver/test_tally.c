/* Calls that were stored, added up: a bounded number of rows, which are those with the most time, and never fall. */
#include "receiver/shared/tally.h"

#include <string.h>

#include "common/base/clock.h"

static const char *text_of(void *arg, guint32 id, gsize *length) {
    (void)arg, (void)id;
    if (length != NULL) *length = strlen("BlockSender#readLocal");
    return "BlockSender#readLocal";
}

static void process_of_tracer(void *arg, guint32 tracer, Role *role, guint32 *host) {
    (void)arg;
    *role = ROLE_DATANODE;
    *host = tracer;
}

static const Lookup lookup = {text_of, process_of_tracer, NULL, NULL};

static StoredCalls calls_new(void) {
    return (StoredCalls){
        &lookup,
        {g_array_new(FALSE, FALSE, sizeof(HostCount)), g_array_new(FALSE, FALSE, sizeof(FunctionCount))},
        g_array_new(FALSE, FALSE, sizeof(ErrorCall)),
        g_array_new(FALSE, FALSE, sizeof(ExampleCall))};
}

static void calls_clear(StoredCalls *calls) {
    g_array_unref(calls->counts.hosts);
    g_array_unref(calls->counts.functions);
    g_array_unref(calls->errors);
    g_array_unref(calls->examples);
}

static void add_function(StoredCalls *calls, guint32 function, gint64 n, gint64 each_ns) {
    FunctionCount count = {function, ROLE_DATANODE, n, n * each_ns, n * each_ns, {0}};
    count.steps[stats_step((guint64)each_ns)] = (guint64)n;
    g_array_append_val(calls->counts.functions, count);
}

static void add_host(StoredCalls *calls, guint32 host, gint64 n, gint64 self_ns) {
    const HostCount count = {host, 7, ROLE_DATANODE, n, self_ns};
    g_array_append_val(calls->counts.hosts, count);
}

static const TallyRow *find_row(const GArray *rows, guint32 id, gboolean other) {
    for (guint i = 0; i < rows->len; i++) {
        const TallyRow *row = &g_array_index(rows, TallyRow, i);
        if (row->id == id && row->other == other) return row;
    }
    return NULL;
}

static guint64 sum_calls(const GArray *rows) {
    guint64 sum = 0;
    for (guint i = 0; i < rows->len; i++) sum += g_array_index(rows, TallyRow, i).calls;
    return sum;
}

static void test_adds_up(void) {
    g_autoptr(Tally) tally = tally_new();
    for (guint i = 0; i < 3; i++) {
        StoredCalls calls = calls_new();
        add_function(&calls, 7, 10, 2 * NS_PER_MS);
        add_host(&calls, 3, 10, 20 * NS_PER_MS);
        const ErrorCall error = {7, ROLE_DATANODE, 3};
        g_array_append_val(calls.errors, error);
        const ExampleCall example = {0xabc, 2 * NS_PER_MS, 1000 - i, 7, ROLE_DATANODE};
        g_array_append_val(calls.examples, example);
        tally_add(tally, &calls, 0);
        calls_clear(&calls);
    }

    GArray *functions = tally_functions(tally), *hosts = tally_hosts(tally);
    g_assert_cmpuint(functions->len, ==, 1);
    const TallyRow *row = find_row(functions, 7, FALSE);
    g_assert_cmpuint(row->calls, ==, 30);
    g_assert_cmpuint(row->errors, ==, 3);
    g_assert_cmpuint(row->total_ns, ==, 60 * NS_PER_MS);
    g_assert_cmpuint(row->steps->calls[3], ==, 30); /* 1 to 5 ms */
    g_assert_cmpuint(row->steps->examples[3].trace_id, ==, 0xabc);
    g_assert_cmpint(row->steps->examples[3].begin_ns, ==, 1000); /* an older one does not take its place */
    g_assert_cmpuint(hosts->len, ==, 1);
    row = find_row(hosts, 3, FALSE);
    g_assert_cmpuint(row->class, ==, WORK_DISK_READ);
    g_assert_cmpuint(row->calls, ==, 30);
    g_assert_cmpuint(row->errors, ==, 3);
    tally_rows_free(functions);
    tally_rows_free(hosts);
}

/* A call's own time shrinks when late spans are put below it: what is told stays until there is more again. */
static void test_never_falls(void) {
    g_autoptr(Tally) tally = tally_new();
    const gint64 added[] = {100, -30, 20, 50}, told[] = {100, 100, 100, 140};
    for (guint i = 0; i < G_N_ELEMENTS(added); i++) {
        StoredCalls calls = calls_new();
        add_host(&calls, 3, 0, added[i]);
        tally_add(tally, &calls, 0);
        calls_clear(&calls);
        GArray *hosts = tally_hosts(tally);
        g_assert_cmpint((gint64)find_row(hosts, 3, FALSE)->self_ns, ==, told[i]);
        tally_rows_free(hosts);
    }
}

static void test_bounds(void) {
    g_autoptr(Tally) tally = tally_new();
    StoredCalls calls = calls_new();
    const guint n = 100 * TALLY_FUNCTIONS_SHOWN;
    for (guint i = 1; i <= n; i++) add_function(&calls, i, 1, 10);
    for (guint i = 1; i <= 2 * TALLY_HOSTS_SHOWN; i++) add_host(&calls, i, 1, 10);
    tally_add(tally, &calls, 0);
    calls_clear(&calls);
    GArray *functions = tally_functions(tally), *hosts = tally_hosts(tally);
    g_assert_cmpuint(functions->len, ==, TALLY_FUNCTIONS_SHOWN + 1);
    g_assert_cmpuint(hosts->len, ==, TALLY_HOSTS_SHOWN + 1);
    g_assert_cmpuint(find_row(functions, 0, TRUE)->calls, ==, n - TALLY_FUNCTIONS_SHOWN);
    g_assert_cmpuint(sum_calls(functions), ==, n);
    g_assert_cmpuint(sum_calls(hosts), ==, 2 * TALLY_HOSTS_SHOWN);
    tally_rows_free(functions);
    tally_rows_free(hosts);
}

/* One that came last, but takes more time than others, is shown at the next look; it begins at 0. */
static void test_most_time_is_shown(void) {
    g_autoptr(Tally) tally = tally_new();
    const guint32 late = TALLY_FUNCTIONS_SHOWN + 1;
    guint64 others = 0;
    for (guint round = 0; round < 3; round++) {
        StoredCalls calls = calls_new();
        for (guint i = 1; i <= TALLY_FUNCTIONS_SHOWN; i++) add_function(&calls, i, 1, i == 5 ? 10 : 1000);
        add_function(&calls, late, 1, 1000);
        tally_add(tally, &calls, (round + 1) * 61 * NS_PER_SEC);
        calls_clear(&calls);

        GArray *functions = tally_functions(tally);
        g_assert_cmpuint(functions->len, ==, TALLY_FUNCTIONS_SHOWN + 1);
        const TallyRow *row = find_row(functions, late, FALSE), *other = find_row(functions, 0, TRUE);
        g_assert_true((row != NULL) == (round > 0));
        g_assert_true((find_row(functions, 5, FALSE) != NULL) == (round == 0));
        if (row != NULL) g_assert_cmpuint(row->calls, ==, round - 1);
        g_assert_cmpuint(other->calls, >=, others);
        others = other->calls;
        tally_rows_free(functions);
    }
    g_assert_cmpuint(others, ==, 2 + 1); /* two of the late one, then one of the one that had to go */
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/receiver/tally/adds-up", test_adds_up);
    g_test_add_func("/receiver/tally/never-falls", test_never_falls);
    g_test_add_func("/receiver/tally/bounds", test_bounds);
    g_test_add_func("/receiver/tally/most-time", test_most_time_is_shown);
    return g_test_run();
}
