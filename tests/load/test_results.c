/* Results read, and what is said of them. */
#include <math.h>
#include <string.h>

#include "analyzer/load/plan/model.h"
#include "analyzer/load/results/quantiles.h"
#include "analyzer/load/results/report.h"
#include "common/base/error.h"
#include "common/base/mix64.h"
#include "tests/load/records.h"

#define MS G_GINT64_CONSTANT(1000000)
#define S  G_GINT64_CONSTANT(1000000000)

static LoadRun *read_in(const GByteArray *result, gsize piece_bytes, GError **error) {
    g_autoptr(LoadRunReader) reader = load_run_reader_new();
    for (gsize at = 0; at < result->len; at += piece_bytes)
        if (!load_run_read(reader, (Bytes){result->data + at, MIN(piece_bytes, result->len - at)}, error)) return NULL;
    return load_run_read_end(reader, error);
}

/* Ten operations from number 5 on, latencies 10 to 100 ms; one fails, one has not ended; one is of the warm-up. */
static GByteArray *sample(void) {
    GByteArray *result = result_begin("host a host\n");
    const MadeOperation warm = {LOAD_READ, 0, 0, S / 2, S / 2, S, 1, 0, FALSE};
    result_operation(result, &warm);
    result_text(result, 1, "IOException: a text that does not go into one record, since it is as long as this one is");
    for (guint i = 0; i < 10; i++) {
        const gint64 due = S + i * S;
        const MadeOperation operation = {.kind = i % 2 == 0 ? LOAD_READ : LOAD_WRITE,
                                         .error = i == 3,
                                         .number = 5 + i,
                                         .due_ns = due,
                                         .begin_ns = due + MS,
                                         .end_ns = due + (i + 1) * 10 * MS,
                                         .bytes = 100,
                                         .trace = i == 8 ? 0xabc : 0,
                                         .unfinished = i == 9};
        result_operation(result, &operation);
    }
    return result;
}

static void test_read(void) {
    const gsize pieces[] = {1, 7, 64, 100000};
    for (guint i = 0; i < G_N_ELEMENTS(pieces); i++) {
        g_autoptr(GByteArray) result = sample();
        result_end(result, RUN_DONE, 12 * S, 15);
        GError *error = NULL;
        g_autoptr(LoadRun) run = read_in(result, pieces[i], &error);
        g_assert_no_error(error);
        g_assert_cmpstr(load_run_head(run, "host"), ==, "a host");
        g_assert_cmpuint(run->kinds[LOAD_READ].operations, ==, 5);
        g_assert_cmpuint(run->kinds[LOAD_WRITE].operations, ==, 5);
        g_assert_cmpuint(run->kinds[LOAD_WRITE].failed, ==, 1);
        g_assert_cmpuint(run->kinds[LOAD_WRITE].unfinished, ==, 1);
        g_assert_cmpuint(run->kinds[LOAD_WRITE].samples->len, ==, 4);
        g_assert_cmpuint(run->warm_up_seen, ==, 1);
        g_assert_cmpuint(run->damaged, ==, 0);
        g_assert_cmpint(run->end, ==, RUN_DONE);

        json_auto_t *report = load_report(run, "r", &(LoadReportOptions){.slowest = 3});
        g_assert_cmpint(json_integer_value(json_object_get(report, "due")), ==, 10);
        g_assert_cmpint(json_integer_value(json_object_get(report, "done")), ==, 8);
        g_assert_cmpint(json_integer_value(json_object_get(report, "missing")), ==, 0);
        g_assert_cmpfloat(json_real_value(json_object_get(report, "asked_per_s")), ==, 1);
        const json_t *slow = json_object_get(report, "slowest");
        g_assert_cmpuint(json_array_size(slow), ==, 3);
        g_assert_cmpint(json_integer_value(json_object_get(json_array_get(slow, 0), "operation")), ==, 14);
        g_assert_cmpstr(json_string_value(json_object_get(json_array_get(slow, 1), "trace")), ==, "0000000000000abc");
        const json_t *failed = json_array_get(json_object_get(report, "errors"), 0);
        g_assert_nonnull(strstr(json_string_value(json_object_get(failed, "error")), "as long as this one is"));
    }
}

/* Of a killed process the file ends anywhere; damaged records are left out, and said. */
static void test_killed(void) {
    g_autoptr(GByteArray) result = sample();
    const guint whole = result->len;
    for (guint cut = 1; cut < 200; cut += 13) {
        g_byte_array_set_size(result, whole - cut);
        GError *error = NULL;
        g_autoptr(LoadRun) run = read_in(result, 4096, &error);
        g_assert_no_error(error);
        g_assert_cmpint(run->end, ==, RUN_KILLED);
        const guint64 n = run->kinds[LOAD_READ].operations + run->kinds[LOAD_WRITE].operations;
        g_assert_cmpuint(n, ==, 10 - (cut + 63) / 64);
        g_assert_cmpuint(run->cut_bytes, ==, (64 - cut % 64) % 64);
        g_assert_cmpuint(run->damaged, ==, 0);
        g_clear_pointer(&result, g_byte_array_unref);
        result = sample();
    }
    result->data[whole - 64 - 20] ^= 1;
    GError *error = NULL;
    g_autoptr(LoadRun) run = read_in(result, 4096, &error);
    g_assert_cmpuint(run->damaged, ==, 1);
    json_auto_t *report = load_report(run, "r", &(LoadReportOptions){.slowest = 3});
    g_assert_cmpint(json_integer_value(json_object_get(report, "missing")), ==, 1);
}

static void test_wrong(void) {
    static const struct {
        const char *text, *error;
    } cases[] = {{"", "no result"},
                 {"plumb-load-plan 1\n\n", "no result"},
                 {"plumb-load-result 1\n", "no result"},
                 {"plumb-load-result 9\n\n", "version 9"},
                 {"plumb-load-result 1\nx\n\n", "a name, a blank"},
                 {"plumb-load-result 1\nhost \xff\n\n", "UTF-8"},
                 {"plumb-load-result 1\nplan-warm-up-ns 1\n\n", "plan-duration-ns is no number"}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        const GByteArray result = {(guint8 *)cases[i].text, (guint)strlen(cases[i].text)};
        g_assert_null(read_in(&result, 5, &error));
        g_assert_nonnull(strstr(error->message, cases[i].error));
    }
}

static gint compare(gconstpointer a, gconstpointer b) {
    const guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
    return x < y ? -1 : x > y;
}

static void test_sort(void) {
    guint64 state = 1;
    for (guint n = 1; n < 3000; n = n * 2 + 1) {
        g_autofree guint64 *times = g_new(guint64, n), *sorted = g_new(guint64, n);
        for (guint i = 0; i < n; i++) times[i] = mix64_next(&state) >> mix64_next(&state) % 64;
        memcpy(sorted, times, n * sizeof *times);
        qsort(sorted, n, sizeof *sorted, compare);
        times_sort(times, n);
        g_assert_cmpmem(times, n * sizeof *times, sorted, n * sizeof *sorted);
    }
}

/* In how many of many samples the interval has the true quantile. Each second is slow or fast as a whole by 'together'.
 */
static double coverage(double p, double together) {
    Draws draws;
    guint hits = 0;
    draws_init(&draws, 5);
    const guint runs = 400, seconds = 60, each = 20;
    /* Of a normal distribution of deviation 1: from the sum of two. */
    const double truth = 1e9 + 1e8 * (p == 0.5 ? 0 : 1.2815515655);
    for (guint run = 0; run < runs; run++) {
        g_autoptr(GArray) samples = g_array_new(FALSE, FALSE, sizeof(LoadSample));
        for (guint s = 0; s < seconds; s++) {
            const double shared = draw_normal(&draws, DRAW_AGE);
            for (guint i = 0; i < each; i++) {
                const double x = sqrt(together) * shared + sqrt(1 - together) * draw_normal(&draws, DRAW_SIZE);
                const LoadSample sample = {(gint64)(1e9 + 1e8 * x), 0, s, 0};
                g_array_append_val(samples, sample);
            }
        }
        Quantiles quantiles;
        quantiles_init(&quantiles, samples);
        Quantile found;
        quantiles_get(&quantiles, &p, 1, &found);
        hits += (double)found.low_ns <= truth && truth <= (double)found.high_ns;
        quantiles_clear(&quantiles);
    }
    return (double)hits / runs;
}

static void test_coverage(void) {
    g_assert_cmpfloat_with_epsilon(coverage(0.5, 0), 0.95, 0.03);
    g_assert_cmpfloat_with_epsilon(coverage(0.9, 0), 0.95, 0.03);
    g_assert_cmpfloat_with_epsilon(coverage(0.5, 0.5), 0.95, 0.04);
    g_assert_cmpfloat_with_epsilon(coverage(0.9, 0.5), 0.95, 0.04);
}

/* Two values bound nothing: both may lie above the median. */
static void test_few(void) {
    const double median = 0.5;
    const LoadSample two[] = {{10 * MS, 0, 0, 0}, {11 * MS, 0, 1, 0}};
    g_autoptr(GArray) samples = g_array_new(FALSE, FALSE, sizeof(LoadSample));
    g_array_append_vals(samples, two, G_N_ELEMENTS(two));
    Quantiles quantiles;
    Quantile found;
    quantiles_init(&quantiles, samples);
    quantiles_get(&quantiles, &median, 1, &found);
    g_assert_cmpint(found.value_ns, ==, 10 * MS);
    g_assert_cmpint(found.low_ns, ==, 0);
    g_assert_cmpint(found.high_ns, ==, -1);
    quantiles_clear(&quantiles);
}

/* n reads a second for 10 s, of about so many milliseconds. */
static json_t *run_of(gint64 middle_ms, guint n) {
    guint64 state = 1;
    g_autoptr(GByteArray) result = result_begin("");
    for (guint i = 0; i < 10 * n; i++) {
        const gint64 due = S + i * S / n, latency = middle_ms * MS + (gint64)(mix64_next(&state) % (guint64)MS);
        const MadeOperation operation = {LOAD_READ, 0, 5 + i, due, due, due + latency, 1, 0, FALSE};
        result_operation(result, &operation);
    }
    result_end(result, RUN_DONE, 11 * S, 5 + 10 * n);
    g_autoptr(LoadRun) run = read_in(result, 4096, NULL);
    return load_report(run, "r", &(LoadReportOptions){0});
}

static const char *verdict(const json_t *document) {
    return json_string_value(json_object_get(json_array_get(json_object_get(document, "changes"), 0), "verdict"));
}

static void test_compare(void) {
    json_auto_t *slower = load_compare(run_of(10, 100), run_of(12, 100));
    g_assert_cmpstr(verdict(slower), ==, "slower");
    json_auto_t *faster = load_compare(run_of(10, 100), run_of(8, 100));
    g_assert_cmpstr(verdict(faster), ==, "faster");
    json_auto_t *same = load_compare(run_of(10, 100), run_of(10, 90));
    g_assert_cmpstr(verdict(same), ==, "undecided");
    g_assert_true(json_is_true(json_object_get(same, "same_plan")));
}

/* What pictures are drawn of: the sample has an operation a second, from the first on. */
static void test_pictures(void) {
    g_autoptr(GByteArray) result = sample();
    g_autoptr(LoadRun) run = read_in(result, 4096, NULL);
    json_auto_t *report = load_report(run, "r", &(LoadReportOptions){.pictures = TRUE});
    const json_t *steps = json_object_get(json_object_get(report, "timeline"), "steps");
    g_assert_cmpuint(json_array_size(steps), ==, 9); /* one failed */
    for (guint i = 0, row = 0; i < 10; i++) {
        if (i == 3) continue;
        const json_t *step = json_array_get(steps, row++);
        g_assert_cmpint(json_integer_value(json_object_get(step, "second")), ==, 1 + i);
        g_assert_cmpint(json_integer_value(json_object_get(step, "p50_ns")), ==, (i + 1) * 10 * MS);
        g_assert_cmpfloat(json_real_value(json_object_get(step, "per_s")), ==, 1);
    }
    const json_t *kinds = json_object_get(report, "kinds");
    const json_t *curve = json_object_get(json_array_get(kinds, json_array_size(kinds) - 1), "curve");
    const json_t *last = json_array_get(curve, json_array_size(curve) - 1);
    g_assert_cmpfloat(json_real_value(json_array_get(last, 0)), ==, 0.8); /* of nine, one in ten is none */
    g_assert_cmpint(json_integer_value(json_array_get(last, 1)), ==, 90 * MS);
}

/* Two hosts' results as one: each has an error of the same class under another number, and one has a second class. */
static void test_merge(void) {
    LoadRun *runs[2];
    for (guint host = 0; host < 2; host++) {
        g_autofree char *more = g_strdup_printf("share %u/2\nmeeting a1\nhost h%u\n", host + 1, host);
        g_autoptr(GByteArray) result = result_begin(more);
        result_text(result, 1, host == 0 ? "IOException: a" : "EOFException: b");
        result_text(result, 2, host == 0 ? "unused" : "IOException: c");
        for (guint i = 0; i < 10; i++) {
            const gint64 due = S + i * S / 2;
            const MadeOperation operation = {.kind = LOAD_READ,
                                             .error = i < host + 1 ? host == 0 ? 1 : i + 1 : 0,
                                             .number = 100 + 2 * i + host,
                                             .due_ns = due,
                                             .begin_ns = due,
                                             .end_ns = due + (2 * i + host + 1) * MS};
            result_operation(result, &operation);
        }
        if (host == 0) result_end(result, RUN_DONE, 12 * S, 15);
        runs[host] = read_in(result, 1000, NULL);
        g_assert_nonnull(runs[host]);
    }

    GError *error = NULL;
    g_assert_true(load_run_merge(runs[0], runs[1], &error));
    g_assert_false(load_run_merge(runs[0], runs[1], &error));
    g_assert_nonnull(strstr(error->message, "twice"));
    g_clear_error(&error);
    json_auto_t *report = load_report(runs[0], "r", &(LoadReportOptions){.slowest = 3});
    g_assert_cmpstr(json_string_value(json_object_get(report, "end")), ==, "killed"); /* the second has no end */
    g_assert_cmpint(json_integer_value(json_object_get(report, "done")), ==, 17);
    const json_t *kind = json_array_get(json_object_get(report, "kinds"), 0),
                 *errors = json_object_get(report, "errors");
    g_assert_cmpint(json_integer_value(json_object_get(kind, "failed")), ==, 3);
    g_assert_cmpuint(json_array_size(errors), ==, 2);
    g_assert_cmpint(json_integer_value(json_object_get(json_array_get(errors, 0), "operations")), ==, 2);
    g_assert_cmpint(json_integer_value(json_object_get(json_object_get(kind, "latency"), "max_ns")), ==, 20 * MS);
    g_assert_cmpint(
        json_integer_value(json_object_get(json_array_get(json_object_get(report, "slowest"), 0), "operation")), ==,
        119);
    g_assert_cmpuint(json_array_size(json_object_get(report, "hosts")), ==, 2);
    load_run_free(runs[0]);
    load_run_free(runs[1]);
}

/* What was in the warm-up of a closed loop, or of a plan with sessions, is known by what is in the file. Of sessions it
 * is not known what was due when the run was killed: those with the greatest numbers need not be the last. */
static void test_due_late(gconstpointer head) {
    const gboolean closed = g_str_has_prefix(head, "closed");
    g_autoptr(GByteArray) result = result_begin(head);
    for (guint i = 0; i < 20; i++) {
        const gint64 due = i * S / 10;
        const MadeOperation operation = {
            .number = closed ? i : 2 * i, .due_ns = due, .begin_ns = due, .end_ns = due + MS};
        result_operation(result, &operation);
    }
    if (!closed) {
        g_autoptr(LoadRun) killed = read_in(result, 1000, NULL);
        g_assert_cmpuint(killed->handed_on, ==, 20);
    }
    result_end(result, closed ? RUN_DONE : RUN_SPACE, 2 * S, 20);
    g_autoptr(LoadRun) run = read_in(result, 1000, NULL);
    json_auto_t *report = load_report(run, "r", &(LoadReportOptions){.slowest = 0});
    g_assert_cmpint(json_is_true(json_object_get(report, "closed")), ==, closed);
    g_assert_cmpstr(json_string_value(json_object_get(report, "end")), ==, closed ? "done" : "space");
    g_assert_cmpint(json_integer_value(json_object_get(report, "due")), ==, 10);
    g_assert_cmpint(json_integer_value(json_object_get(report, "missing")), ==, 0);
    g_assert_cmpfloat(json_real_value(json_object_get(report, "seconds")), ==, 1);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/load/results/read", test_read);
    g_test_add_func("/load/results/killed", test_killed);
    g_test_add_func("/load/results/wrong", test_wrong);
    g_test_add_func("/load/results/sort", test_sort);
    g_test_add_func("/load/results/coverage", test_coverage);
    g_test_add_func("/load/results/few", test_few);
    g_test_add_func("/load/results/compare", test_compare);
    g_test_add_func("/load/results/pictures", test_pictures);
    g_test_add_func("/load/results/merge", test_merge);
    g_test_add_data_func("/load/results/closed", "closed 2\n", test_due_late);
    g_test_add_data_func("/load/results/sessions", "plan-session 2\n", test_due_late);
    return g_test_run();
}
