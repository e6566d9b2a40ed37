/* What is drawn has the distributions of docs/load.md, by the test of Kolmogorov and Smirnov on ten seeds each; and is
 * the same everywhere, by the bytes of plans that are written down here. */
#include <math.h>
#include <string.h>

#include "analyzer/load/plan/model.h"
#include "analyzer/load/plan/portable.h"
#include "common/base/fnv.h"

#define SEEDS 10u
#define N     20000u
/* The greatest distance is above 2.19 / sqrt(n) by chance in 1.4 of 10,000 cases, so in one of all 60 here in less than
 * 1 of 100. All seeds are fixed. */
#define KS_BOUND 2.19

static gint compare(gconstpointer a, gconstpointer b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

typedef double (*Distribution)(double x);

static void assert_distributed(double *values, guint n, Distribution distribution) {
    double distance = 0;
    qsort(values, n, sizeof *values, compare);
    for (guint i = 0; i < n; i++) {
        const double p = distribution(values[i]);
        distance = MAX(distance, MAX(p - (double)i / n, (double)(i + 1) / n - p));
    }
    g_assert_cmpfloat(distance * sqrt(n), <, KS_BOUND);
}

static double lognormal(double x, double mu, double sigma) { return 0.5 * erfc(-(log(x) - mu) / sigma / sqrt(2)); }

static double of_rates(double x) { return lognormal(x, 6.5, 0.8); }
static double of_requests(double x) { return lognormal(x, 8.05, 2.58); }
static double of_files(double x) { return lognormal(x, 12.48, 4.33); }
static double of_pareto(double x) { return x < 0.8 ? 0 : 1 - pow(x / 0.8, -5); }
static double of_lomax(double x) { return 1 - pow(1 + x / 4, -5); }
static double of_poisson(double x) { return 1 - exp(-x); }

static void test_sizes(void) {
    const LoadModel model = {.size_unit_bytes = 1};
    g_autofree double *values = g_new(double, N);
    for (guint64 seed = 1; seed <= SEEDS; seed++) {
        Draws draws;
        draws_init(&draws, seed);
        for (guint i = 0; i < N; i++) values[i] = (double)draw_request_bytes(&draws, &model) + 0.5;
        assert_distributed(values, N, of_requests);
        for (guint i = 0; i < N; i++) values[i] = (double)draw_file_bytes(&draws) + draw_uniform(&draws, DRAW_AGE);
        assert_distributed(values, N, of_files);
    }
}

static void test_gaps(void) {
    static const struct {
        LoadGaps gaps;
        Distribution distribution;
    } cases[] = {{GAPS_PARETO, of_pareto}, {GAPS_LOMAX, of_lomax}, {GAPS_POISSON, of_poisson}};
    g_autofree double *values = g_new(double, N);
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        for (guint64 seed = 1; seed <= SEEDS; seed++) {
            Draws draws;
            double sum = 0;
            draws_init(&draws, seed);
            for (guint i = 0; i < N; i++) sum += values[i] = draw_gap(&draws, cases[c].gaps);
            g_assert_cmpfloat_with_epsilon(sum / N, 1, 0.05);
            assert_distributed(values, N, cases[c].distribution);
        }
    }
}

/* Of each second of a model, as it is run through. */
static void draw_rates(const LoadModel *model, double *rates, guint n) {
    Draws draws;
    Arrivals arrivals;
    draws_init(&draws, model->seed);
    arrivals_init(&arrivals, model, &draws);
    for (guint second = 0; second < n;) {
        rates[second] = arrivals.rate / model->alpha;
        arrivals_next(&arrivals, G_MAXINT64 / 2);
        second = (guint)arrivals.second;
    }
}

static void test_rates(void) {
    g_autofree double *rates = g_new(double, N + 1);
    for (guint64 seed = 1; seed <= SEEDS; seed++) {
        const LoadModel model = {.seed = seed, .alpha = 0.1, .gaps = GAPS_EVEN};
        draw_rates(&model, rates, N);
        assert_distributed(rates, N, of_rates);
    }

    /* With persistence the distribution stays, and a second's deviation goes on by that part. */
    const LoadModel persistent = {.seed = 3, .alpha = 0.1, .gaps = GAPS_EVEN, .persistence = 0.9};
    double together = 0, alone = 0;
    draw_rates(&persistent, rates, N);
    for (guint i = 1; i < N; i++) {
        together += (log(rates[i - 1]) - 6.5) * (log(rates[i]) - 6.5);
        alone += (log(rates[i]) - 6.5) * (log(rates[i]) - 6.5);
    }
    g_assert_cmpfloat_with_epsilon(together / alone, 0.9, 0.02);
    g_assert_cmpfloat_with_epsilon(sqrt(alone / N), 0.8, 0.05);
}

/* Beside the C library's, which are right to the last bit or two. */
static void test_portable(void) {
    for (double x = -600; x < 600; x += 0.37) g_assert_cmpfloat_with_epsilon(portable_exp(x) / exp(x), 1, 1e-14);
    for (double x = 1e-300; x < 1e300; x *= 1.7)
        g_assert_cmpfloat_with_epsilon(portable_log(x) - log(x), 0, 1e-15 * MAX(1, fabs(log(x))));
    for (double p = 1e-12; p < 1; p += 0.000917) {
        const double x = portable_normal(p);
        g_assert_cmpfloat_with_epsilon(0.5 * erfc(-x / sqrt(2)) / p, 1, 1e-12);
    }
}

/* ---- whole plans ---- */

typedef struct Text {
    guint64 hash;
    GString *bytes;
} Text;

static gboolean keep(void *arg, Bytes piece, GError **error) {
    Text *text = arg;
    (void)error;
    text->hash = fnv64(text->hash, piece.data, piece.size_bytes);
    g_string_append_len(text->bytes, piece.data, (gssize)piece.size_bytes);
    return TRUE;
}

static LoadPlanSums draw(const LoadModel *model, Text *text) {
    LoadPlanSums sums;
    GError *error = NULL;
    *text = (Text){FNV64_BASIS, g_string_new(NULL)};
    g_assert_true(load_model_check(model, &error));
    g_assert_no_error(error);
    g_assert_true(load_plan_draw(model, keep, text, &sums, &error));
    g_assert_no_error(error);
    return sums;
}

static LoadModel preset(const char *name) {
    LoadModel model;
    g_assert_true(load_preset(name, &model));
    return model;
}

/* The hashes were written down once. Another one means that plans of before can no longer be drawn. */
static void test_same_bytes(void) {
    static const struct {
        const char *preset;
        guint64 seed, hash;
    } cases[] = {
        {"alicloud", 1, G_GUINT64_CONSTANT(0x99feffd72b9c5e05)},
        {"table15", 7, G_GUINT64_CONSTANT(0x6ddd9e7acee53fff)},
        {"yahoo", 18446744073709551615u, G_GUINT64_CONSTANT(0x582cc6b7def89729)},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Text text;
        LoadModel model = preset(cases[i].preset);
        model.seed = cases[i].seed;
        draw(&model, &text);
        g_assert_cmphex(text.hash, ==, cases[i].hash);
        g_string_free(text.bytes, TRUE);
    }
}

typedef struct Checks {
    GArray *due;
    guint follow, longest; /* operations that follow another one, up to now in a row and at most */
    guint64 per_file[20000];
    guint64 reads;
} Checks;

static void check_operation(void *arg, const LoadOperation *operation) {
    Checks *checks = arg;
    g_array_append_val(checks->due, operation->due_ns);
    checks->follow = operation->follows ? checks->follow + 1 : 0;
    checks->longest = MAX(checks->longest, checks->follow);
    if (operation->kind != LOAD_READ) return;
    checks->per_file[operation->file]++;
    checks->reads++;
}

/* Reads a plan back; what it says must be what was drawn. */
static void read_back(const Text *text, const LoadPlanSums *drawn, Checks *checks) {
    GError *error = NULL;
    LoadPlanSums read;
    g_autoptr(LoadPlanReader) reader = load_plan_reader_new(check_operation, checks);
    checks->due = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (gsize at = 0; at < text->bytes->len; at += 777)
        g_assert_true(load_plan_read(reader, (Bytes){text->bytes->str + at, MIN(777, text->bytes->len - at)}, &error));
    g_assert_true(load_plan_read_end(reader, &read, &error));
    g_assert_no_error(error);
    read.files_cut = drawn->files_cut;
    read.requests_cut = drawn->requests_cut;
    g_assert_cmpmem(&read, sizeof read, drawn, sizeof *drawn);
}

static void test_read_back(void) {
    LoadModel model = preset("alicloud");
    GError *error = NULL;
    model.rate = 2000;
    model.duration_ns = G_GINT64_CONSTANT(10000000000);
    g_assert_true(load_mix_parse("read=1,pread=1,write=2,append=1,open=1,stat=1,list=1,mkdir=1,rename=1,delete=2",
                                 &model.mix, &error));
    Text text;
    const LoadPlanSums sums = draw(&model, &text);
    g_autofree Checks *checks = g_new0(Checks, 1);
    read_back(&text, &sums, checks);
    g_assert_cmpfloat_with_epsilon((double)sums.operations, 80000, 500);
    for (guint kind = 0; kind < LOAD_KINDS; kind++)
        g_assert_cmpfloat_with_epsilon((double)sums.of_kind[kind], 80000.0 * model.mix.weight[kind] / 12, 500);
    g_array_unref(checks->due);
    g_string_free(text.bytes, TRUE);
}

/* Another mix leaves the due times; another rate leaves the sequence of kinds. */
static void test_streams_are_independent(void) {
    LoadModel model = preset("table15");
    model.duration_ns = G_GINT64_CONSTANT(20000000000);
    Text one, other;
    g_autofree Checks *of_one = g_new0(Checks, 1), *of_other = g_new0(Checks, 1);
    const LoadPlanSums one_sums = draw(&model, &one);
    read_back(&one, &one_sums, of_one);
    model.mix = (LoadMix){{[LOAD_STAT] = 1, [LOAD_WRITE] = 3}};
    const LoadPlanSums other_sums = draw(&model, &other);
    read_back(&other, &other_sums, of_other);
    g_assert_cmpmem(of_one->due->data, of_one->due->len * sizeof(gint64), of_other->due->data,
                    of_other->due->len * sizeof(gint64));
    g_assert_cmpuint(of_one->due->len, >, 100);
    g_array_unref(of_one->due);
    g_array_unref(of_other->due);
    g_string_free(one.bytes, TRUE);
    g_string_free(other.bytes, TRUE);
}

/* 3 % of the files get 34 to 39 % of the opens; 79 to 85 % go to files with 2 % of the bytes. */
static void test_yahoo(void) {
    LoadModel model = preset("yahoo");
    model.rate = 500;
    model.max_file_bytes = 64 << 20;
    Text text;
    const LoadPlanSums sums = draw(&model, &text);
    g_autofree Checks *checks = g_new0(Checks, 1);
    read_back(&text, &sums, checks);

    g_auto(GStrv) lines = g_strsplit(strstr(text.bytes->str, "\n\n") + 2, "\n", 10001);
    double first = 0, all_bytes = 0, recent = 0, recent_bytes = 0;
    for (guint i = 0; i < 300; i++) first += (double)checks->per_file[i];
    for (guint i = 0; i < 10000; i++) all_bytes += g_ascii_strtod(lines[i] + 2, NULL);
    for (guint i = 0; i < 10000 && recent_bytes < 0.02 * all_bytes; i++) {
        recent += (double)checks->per_file[i];
        recent_bytes += g_ascii_strtod(lines[i] + 2, NULL);
    }
    g_assert_cmpfloat_with_epsilon(first / (double)checks->reads, 0.365, 0.025);
    g_assert_cmpfloat_with_epsilon(recent / (double)checks->reads, 0.82, 0.03);
    g_array_unref(checks->due);
    g_string_free(text.bytes, TRUE);
}

/* In each second of the ramp as many more as it says, then the rate itself. */
static void test_ramp(void) {
    LoadModel model = preset("table15");
    model.rate = 1000;
    model.gaps = GAPS_EVEN;
    model.warm_up_ns = G_GINT64_CONSTANT(6000000000);
    model.ramp_ns = G_GINT64_CONSTANT(4000000000);
    model.duration_ns = G_GINT64_CONSTANT(2000000000);
    Text text;
    const LoadPlanSums sums = draw(&model, &text);
    g_autofree Checks *checks = g_new0(Checks, 1);
    read_back(&text, &sums, checks);
    guint of_second[8] = {0};
    for (guint i = 0; i < checks->due->len; i++) of_second[g_array_index(checks->due, gint64, i) / 1000000000]++;
    for (guint second = 0; second < 8; second++)
        g_assert_cmpfloat_with_epsilon(of_second[second], second < 4 ? 125 + 250.0 * second : 1000, 2);
    g_array_unref(checks->due);
    g_string_free(text.bytes, TRUE);
}

/* The rate goes on the straight line between two times, across midnight too, in a day of 24 seconds. */
static void test_profile(void) {
    LoadModel model = preset("table15");
    Checks *checks = g_new0(Checks, 1);
    Text text;
    g_autoptr(GError) error = NULL;
    model.rate = 1000;
    model.gaps = GAPS_EVEN;
    model.warm_up_ns = 0;
    model.duration_ns = G_GINT64_CONSTANT(48000000000);
    model.profile.day_ns = model.duration_ns / 2;
    g_assert_true(load_profile_parse("# of a day\n6:00 0.5\n 12:00\t1.5 # noon\n18:00 1.5", &model.profile, &error));
    g_assert_cmpfloat_with_epsilon(load_profile_factor(&model.profile, 0), 1, 1e-9);
    const LoadPlanSums sums = draw(&model, &text);
    g_assert_cmpfloat_with_epsilon(load_model_mean_rate(&model), 1125, 1e-6);
    g_assert_cmpfloat_with_epsilon((double)sums.operations, 48 * 1125, 60);

    read_back(&text, &sums, checks);
    guint of_hour[24] = {0};
    for (guint i = 0; i < checks->due->len; i++)
        of_hour[g_array_index(checks->due, gint64, i) / G_GINT64_CONSTANT(1000000000) % 24]++;
    for (guint hour = 0; hour < 24; hour++) {
        const double middle = hour + 0.5;
        const double factor = middle < 6    ? 1 - middle / 12
                              : middle < 12 ? 0.5 + (middle - 6) / 6
                              : middle < 18 ? 1.5
                                            : 1.5 - (middle - 18) / 12;
        g_assert_cmpfloat_with_epsilon(of_hour[hour], 2000 * factor, 4);
    }
    g_array_unref(checks->due);
    g_free(checks);
    g_string_free(text.bytes, TRUE);
}

/* Nothing is due while the factor is 0. */
static void test_quiet_profile(void) {
    LoadProfile profile = {.day_ns = 1};
    g_autoptr(GError) error = NULL;
    static const struct {
        const char *text, *said;
    } cases[] = {{"", "no time has a factor above 0"},           {"8:00 0", "no time has a factor above 0"},
                 {"8:00", "'8:00' must be a time of day"},       {"24:00 1", "must be a time of day"},
                 {"8:00 -1", "must be a time of day"},           {"8:00 nan", "must be a time of day"},
                 {"8:00 1\n07:59 2", "07:59 comes after a time"}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_assert_false(load_profile_parse(cases[i].text, &profile, &error));
        g_assert_nonnull(strstr(error->message, cases[i].said));
        g_clear_error(&error);
    }

    LoadModel model = preset("table15");
    model.warm_up_ns = 0;
    model.duration_ns = model.profile.day_ns = G_GINT64_CONSTANT(24000000000);
    g_assert_true(load_profile_parse("6:00 0,17:59 0,18:00 1,23:59=1", &model.profile, &error));
    Text text;
    Checks *checks = g_new0(Checks, 1);
    const LoadPlanSums sums = draw(&model, &text);
    read_back(&text, &sums, checks);
    g_assert_cmpuint(checks->due->len, >, 10);
    for (guint i = 0; i < checks->due->len; i++) {
        const gint64 hour = g_array_index(checks->due, gint64, i) / G_GINT64_CONSTANT(1000000000);
        g_assert_true(hour < 6 || hour >= 17);
    }
    g_array_unref(checks->due);
    g_free(checks);
    g_string_free(text.bytes, TRUE);
}

/* So many operations as without sessions, in a third as many arrivals, at the times at which a plan with a third of the
 * rate has its operations. */
static void test_sessions(void) {
    LoadModel model = preset("alicloud");
    model.alpha = 0.03;
    model.session = 3;
    Text text, alone;
    g_autofree Checks *checks = g_new0(Checks, 1), *of_alone = g_new0(Checks, 1);
    const LoadPlanSums sums = draw(&model, &text);
    read_back(&text, &sums, checks);
    g_assert_nonnull(strstr(text.bytes->str, "\nsession 3\n"));
    g_assert_cmpuint(checks->longest, ==, 2);

    model.alpha = 0.01;
    model.session = 1;
    const LoadPlanSums alone_sums = draw(&model, &alone);
    read_back(&alone, &alone_sums, of_alone);
    g_assert_cmpuint(of_alone->longest, ==, 0);
    g_assert_cmpuint(of_alone->due->len, >, 1000);
    g_assert_cmpuint(checks->due->len, ==, 3 * of_alone->due->len);
    for (guint i = 0; i < checks->due->len; i++)
        g_assert_cmpfloat_with_epsilon((double)g_array_index(checks->due, gint64, i),
                                       (double)g_array_index(of_alone->due, gint64, i / 3), 10);
    g_array_unref(checks->due);
    g_array_unref(of_alone->due);
    g_string_free(text.bytes, TRUE);
    g_string_free(alone.bytes, TRUE);
}

/* A plan's head says all that it was drawn from: drawn anew it has the same bytes. */
static void test_drawn_anew(void) {
    static const char *const names[] = {"alicloud", "table15", "yahoo", "alicloud"};
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        LoadModel model = preset(names[i]), again;
        model.rate = i == 1 ? 12.5 : 0;
        model.persistence = i == 2 ? 0.25 : 0;
        model.gaps = (LoadGaps)i;
        model.files_seed = i == 3 ? 77 : 0;
        model.session = i == 3 ? 4 : 1;
        model.ramp_ns = i == 3 ? model.warm_up_ns / 2 : 0;
        model.profile.day_ns = model.duration_ns;
        if (i == 3) g_assert_true(load_profile_parse("0:00 0.25,12:30 1.0625", &model.profile, NULL));
        Text text, same;
        draw(&model, &text);
        g_autoptr(GError) error = NULL;
        g_autoptr(LoadPlanReader) reader = load_plan_reader_new(NULL, NULL);
        g_assert_true(load_plan_read(reader, (Bytes){text.bytes->str, text.bytes->len}, &error));
        g_assert_true(load_plan_model(reader, &again, &error));
        draw(&again, &same);
        g_assert_true(g_string_equal(text.bytes, same.bytes));
        g_string_free(text.bytes, TRUE);
        g_string_free(same.bytes, TRUE);
    }
}

/* The same files with other due times. */
static void test_files_seed(void) {
    LoadModel model = preset("alicloud");
    Text one, other;
    draw(&model, &one);
    model.files_seed = model.seed;
    model.seed = 9;
    draw(&model, &other);
    g_auto(GStrv) files = g_strsplit(strstr(one.bytes->str, "\n\n") + 2, "\n", 102);
    g_auto(GStrv) same = g_strsplit(strstr(other.bytes->str, "\n\n") + 2, "\n", 102);
    for (guint i = 0; i < 100; i++) g_assert_cmpstr(files[i], ==, same[i]);
    g_assert_cmpstr(files[101], !=, same[101]);
    g_string_free(one.bytes, TRUE);
    g_string_free(other.bytes, TRUE);
}

static void test_limits(void) {
    LoadModel model = preset("alicloud");
    g_autoptr(GError) error = NULL;
    model.alpha = 100;
    model.duration_ns = G_GINT64_CONSTANT(3600000000000);
    g_assert_false(load_model_check(&model, &error));
    g_assert_nonnull(strstr(error->message, "lower the rate"));
    g_clear_error(&error);
    model = preset("alicloud");
    model.files = 0;
    g_assert_false(load_model_check(&model, &error));
    g_assert_nonnull(strstr(error->message, "--files"));
    g_clear_error(&error);
    model = preset("alicloud");
    model.session = LOAD_SESSION_MOST + 1;
    g_assert_false(load_model_check(&model, &error));
    g_assert_nonnull(strstr(error->message, "--session"));
    g_clear_error(&error);
    model = preset("alicloud");
    model.ramp_ns = model.warm_up_ns + 1;
    g_assert_false(load_model_check(&model, &error));
    g_assert_nonnull(strstr(error->message, "--ramp"));
    g_clear_error(&error);
    model = preset("alicloud"); /* ends before the rate rises */
    model.profile.day_ns = G_GINT64_CONSTANT(86400000000000);
    g_assert_true(load_profile_parse("00:00 0,12:00 0,13:00 1", &model.profile, NULL));
    g_assert_false(load_model_check(&model, &error));
    g_assert_nonnull(strstr(error->message, "the rate is 0"));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/load/plan/portable", test_portable);
    g_test_add_func("/load/plan/sizes", test_sizes);
    g_test_add_func("/load/plan/gaps", test_gaps);
    g_test_add_func("/load/plan/rates", test_rates);
    g_test_add_func("/load/plan/same-bytes", test_same_bytes);
    g_test_add_func("/load/plan/read-back", test_read_back);
    g_test_add_func("/load/plan/profile", test_profile);
    g_test_add_func("/load/plan/quiet-profile", test_quiet_profile);
    g_test_add_func("/load/plan/streams", test_streams_are_independent);
    g_test_add_func("/load/plan/yahoo", test_yahoo);
    g_test_add_func("/load/plan/ramp", test_ramp);
    g_test_add_func("/load/plan/sessions", test_sessions);
    g_test_add_func("/load/plan/drawn-anew", test_drawn_anew);
    g_test_add_func("/load/plan/files-seed", test_files_seed);
    g_test_add_func("/load/plan/limits", test_limits);
    return g_test_run();
}
