/* What sysstat's tools print, in the locales and forms that they print it in: the files are real outputs, of one
 * machine and (but for the stored day) of the same three seconds. Then texts that were made up for what such a run does
 * not show. */
#include "spark-bridge/samples/samples.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "spark-bridge/samples/samples_row.h"

#define AT_205309 G_GINT64_CONSTANT(1795294389) /* 2026-11-21 20:53:09 UTC */
#define AT_204449 G_GINT64_CONSTANT(1795293889)

static SampleReader *reader_of(SampleOptions options) {
    g_autoptr(GError) error = NULL;
    SampleReader *reader = sample_reader_new(&options, &error);
    g_assert_no_error(error);
    return reader;
}

static SampleCounts read_text(const char *text, SampleOptions options, gsize piece, SparkRecords *into) {
    g_autoptr(SampleReader) reader = reader_of(options);
    const gsize n = strlen(text);
    for (gsize at = 0; at < n; at += piece) sample_reader_feed(reader, (Bytes){text + at, MIN(piece, n - at)}, into);
    sample_reader_finish(reader, into);
    return sample_reader_counts(reader);
}

static char *file_text(const char *name) {
    g_autofree char *path = g_build_filename(TEST_DATA_DIR, "samples", name, NULL);
    char *text = NULL;
    g_autoptr(GError) error = NULL;
    g_file_get_contents(path, &text, NULL, &error);
    g_assert_no_error(error);
    return text;
}

static SampleOptions in_zone(const char *zone) {
    SampleOptions options = SAMPLE_OPTIONS_NONE;
    options.zone = zone;
    return options;
}

static void assert_near(double value, double expected) { g_assert_cmpfloat_with_epsilon(value, expected, 1e-9); }

/* ---- real outputs ---- */

typedef struct Recorded {
    const char *file, *source;
    guint samples;
    gint64 first_s; /* of the first sample */
    gint32 offset_s;
    double user, system, idle; /* of the first sample; -1: it has none */
    guint disks, nets;
    const char *device;   /* the last disk or interface */
    double first, second; /* read and written, or received and sent */
} Recorded;

static const Recorded recorded[] = {
    {"mpstat.zh_CN.txt", "mpstat", 3, AT_205309, 0, 0.7136, 0.2865, 0, 0, 0, NULL, 0, 0},
    {"mpstat.ko_KR.txt", "mpstat", 3, AT_205309, 0, 0.71, 0.29, 0, 0, 0, NULL, 0, 0},
    {"iostat.de_DE.txt", "iostat", 2, AT_205309, 0, 0.7236, 0.2764, 0, 1, 0, "vda", 544 * 1024, 2976 * 1024},
    {"iostat.en_US.txt", "iostat", 2, AT_205309, 0, 0.7308, 0.2692, 0, 1, 0, "vda", 0, 0},
    {"iostat.zh_CN.txt", "iostat", 2, AT_205309, 0, 0.7186, 0.2814, 0, 1, 0, "vda", 0, 0},
    {"iostat.iso.txt", "iostat", 2, AT_205309, 8 * 3600, 0.7287, 0.2714, 0, 1, 0, "vda", 0, 0},
    {"iostat.json", "iostat", 2, AT_205309, 0, 0.74, 0.26, 0, 1, 0, "vda", 468 * 1024, 3192 * 1024},
    {"mpstat.json", "mpstat", 3, AT_205309, 0, 0.7463, 0.2537, 0, 0, 0, NULL, 0, 0},
    {"sar-dev.en_US.txt", "sar", 3, AT_205309, 0, -1, -1, -1, 0, 2, "eth0", 0, 0},
    {"sar-u.fi_FI.txt", "sar", 3, AT_205309, 0, 0.7463, 0.2537, 0, 0, 0, NULL, 0, 0},
    {"sar-d.ja_JP.txt", "sar", 3, AT_205309, 0, -1, -1, -1, 1, 0, "vda", 408 * 1024, 3024 * 1024},
    {"sar-both.fr_FR.txt", "sar", 6, AT_205309, 0, 0.73, 0.27, 0, 0, 0, NULL, 0, 0},
    {"sar-f.C.txt", "sar", 9, AT_204449, 0, 0.8358, 0.1642, 0, 0, 0, NULL, 0, 0},
    {"sadf.json", "sadf", 3, AT_204449, 0, 0.8358, 0.1642, 0, 1, 2, NULL, 0, 0},
    {"sadf.csv", "sadf", 3, AT_204449, 0, 0.8358, 0.1642, 0, 0, 0, NULL, 0, 0},
};

static void assert_recorded(const Recorded *expected, const SparkRecords *records, const SampleCounts *counts) {
    g_assert_cmpstr(counts->first_bad_reason, ==, NULL);
    g_assert_cmpuint(counts->without_time, ==, 0);
    g_assert_cmpuint(counts->clock_steps, ==, 0);
    g_assert_cmpuint(counts->samples, ==, expected->samples);
    g_assert_cmpuint(records->of[SPARK_SAMPLE]->len, ==, expected->samples);

    const HostSample *sample = spark_sample(records, 0);
    g_assert_cmpstr(sample->host, ==, "vm");
    g_assert_cmpstr(sample->source, ==, expected->source);
    g_assert_cmpint(sample->time_ns, ==, expected->first_s * NS_PER_SEC);
    g_assert_cmpint(sample->zone_offset_s, ==, expected->offset_s);
    assert_near(sample->user, expected->user);
    assert_near(sample->system, expected->system);
    assert_near(sample->idle, expected->idle);
    g_assert_cmpuint(sample->disks.n, ==, expected->disks);
    g_assert_cmpuint(sample->nets.n, ==, expected->nets);

    for (guint i = 0; i < records->of[SPARK_SAMPLE]->len; i++)
        g_assert_cmpint(spark_sample(records, i)->interval_ns, ==, NS_PER_SEC);
    if (expected->device == NULL) return;

    if (expected->disks > 0) {
        const HostDisk *disk = &sample->disks.items[expected->disks - 1];
        g_assert_cmpstr(disk->device, ==, expected->device);
        if (expected->first > 0) assert_near(disk->read_bytes, expected->first);
        if (expected->second > 0) assert_near(disk->write_bytes, expected->second);
    } else {
        g_assert_cmpstr(sample->nets.items[expected->nets - 1].interface, ==, expected->device);
    }
}

static void test_recorded(void) {
    for (guint i = 0; i < G_N_ELEMENTS(recorded); i++) {
        g_test_message("%s", recorded[i].file);
        g_autofree char *text = file_text(recorded[i].file);
        g_assert_true(samples_recognise((Bytes){text, strlen(text)}));
        const gsize pieces[] = {strlen(text), 7, 1};
        for (guint p = 0; p < G_N_ELEMENTS(pieces); p++) {
            g_autoptr(SparkRecords) records = spark_records_new();
            const SampleCounts counts = read_text(text, in_zone("UTC"), pieces[p], records);
            assert_recorded(&recorded[i], records, &counts);
        }
    }
}

/* All figures of one sample, against the file. */
static void test_figures(void) {
    g_autofree char *iostat = file_text("iostat.de_DE.txt"), *sar = file_text("sar-dev.en_US.txt");
    g_autoptr(SparkRecords) records = spark_records_new();
    read_text(iostat, in_zone("UTC"), 4096, records);
    const HostSample *sample = spark_sample(records, 0);
    assert_near(sample->iowait, 0);
    assert_near(sample->steal, 0);
    assert_near(spark_sample(records, 1)->steal, 0.005);
    assert_near(sample->disks.items[0].util, 0.024);
    assert_near(sample->disks.items[0].queue, 0.09);
    assert_near(sample->disks.items[0].await_ms, (0.62 * 92 + 0.30 * 83) / (92 + 83));
    read_text(sar, in_zone("UTC"), 4096, records);
    sample = spark_sample(records, 2);
    g_assert_cmpstr(sample->nets.items[0].interface, ==, "lo");
    assert_near(sample->nets.items[0].rx_bytes, 781.40 * 1024);
    assert_near(sample->nets.items[0].tx_bytes, 781.40 * 1024);
}

/* ---- zones ---- */

static void test_zones(void) {
    g_autofree char *local = file_text("sadf-local.json"); /* says 04:44:49 of the 22nd, local */
    g_autoptr(SparkRecords) records = spark_records_new();
    SampleCounts counts = read_text(local, in_zone("Asia/Shanghai"), 4096, records);
    g_assert_cmpint(spark_sample(records, 0)->time_ns, ==, AT_204449 * NS_PER_SEC);
    g_assert_cmpint(counts.zone_offset_s, ==, 8 * 3600);
    g_assert_false(counts.zone_assumed);
    read_text(local, in_zone("+05:30"), 4096, records);
    g_assert_cmpint(spark_sample(records, 3)->time_ns, ==, (AT_204449 + 8 * 3600 - 19800) * NS_PER_SEC);

    /* Nobody said: this machine's, and it is told. */
    counts = read_text(local, SAMPLE_OPTIONS_NONE, 4096, records);
    g_assert_true(counts.zone_assumed);

    /* sadf says itself that its times are UTC, and iostat's ISO times have their offset: no option changes that. */
    g_autofree char *utc = file_text("sadf.json"), *iso = file_text("iostat.iso.txt");
    read_text(utc, in_zone("Asia/Shanghai"), 4096, records);
    g_assert_cmpint(spark_sample(records, 9)->time_ns, ==, AT_204449 * NS_PER_SEC);
    counts = read_text(iso, in_zone("America/New_York"), 4096, records);
    g_assert_cmpint(spark_sample(records, 12)->time_ns, ==, AT_205309 * NS_PER_SEC);
    g_assert_false(counts.zone_assumed);

    g_autoptr(GError) error = NULL;
    SampleOptions options = in_zone("Mars/Olympus");
    g_assert_null(sample_reader_new(&options, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CONFIG);
    g_clear_error(&error);
    options = SAMPLE_OPTIONS_NONE;
    options.date = "yesterday";
    g_assert_null(sample_reader_new(&options, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CONFIG);
}

/* Summer time ends: 02:30 comes twice; before and after it the offsets differ. */
static void test_summer_time(void) {
    static const char text[] = "Linux 6.1 (h) \t2026-10-25 \t_x86_64_\t(2 CPU)\n\n"
                               "01:59:58     CPU    %user   %idle\n01:59:59     all    10.00   90.00\n"
                               "03:00:01     all    20.00   80.00\n";
    g_autoptr(SparkRecords) records = spark_records_new();
    read_text(text, in_zone("Europe/Berlin"), 4096, records);
    g_assert_cmpint(spark_sample(records, 0)->zone_offset_s, ==, 7200);
    g_assert_cmpint(spark_sample(records, 1)->zone_offset_s, ==, 3600);
}

/* ---- forms that the machine at hand does not print ---- */

typedef struct MadeUp {
    const char *name, *text;
    gint64 first_s, last_s;
    guint samples;
    double user, last_user;
} MadeUp;

#define HEAD    "Linux 3.10.107-1.el6.elrepo.x86_64 (slave1) \t2018年09月18日 \t_x86_64_\t(16 CPU)\n\n"
#define AT_0413 G_GINT64_CONSTANT(1537244011) /* 2018-09-18 04:13:31 UTC */

static const MadeUp made_up[] = {
    {"words with blanks around",
     "Linux 3.10.107-1.el6.elrepo.x86_64 (slave1)    2018 年 09 月 18 日 _x86_64_    (16 CPU)\n\n"
     "04 时 13 分 30 秒  CPU      %usr   %nice    %sys %iowait    %irq    %soft  %steal  %guest   %idle\n"
     "04 时 13 分 31 秒  all     1.00     0.00     0.12     0.00     0.00     0.00     0.00     0.00    98.88\n"
     "04 时 13 分 32 秒  all     2.00     0.00     0.12     0.00     0.00     0.00     0.00     0.00    97.88\n",
     AT_0413, AT_0413 + 1, 2, 0.01, 0.02},
    {"forenoon before the time",
     HEAD
     "上午 04时13分30秒  CPU  %user  %idle\n上午 04时13分31秒  all  1.00  99.00\n下午 12时00分00秒  all  3.00  97.00\n",
     AT_0413, AT_0413 + 7 * 3600 + 46 * 60 + 29, 2, 0.01, 0.03},
    {"other order of columns",
     HEAD "04:13:30  %idle  CPU  %user\n04:13:31  99.00  all  1.00\n04:13:32  98.00  all  2.00\n", AT_0413, AT_0413 + 1,
     2, 0.01, 0.02},
    {"past midnight",
     "Linux 6.1 (h) \t09/17/2018 \t_x86_64_\t(2 CPU)\n\n11:59:58 PM CPU %user %idle\n11:59:59 PM all 1.00 99.00\n"
     "12:00:00 AM all 2.00 98.00\n12:00:01 AM all 3.00 97.00\n\n12:00:01 AM CPU %user %idle\n04:13:31 AM all 4.00 "
     "96.00\n",
     AT_0413 - (4 * 3600 + 13 * 60 + 31) - 1, AT_0413, 4, 0.01, 0.04},
    {"the machine started again",
     HEAD "04:13:30 CPU %user %idle\n04:13:31 all 1.00 99.00\n\n04:13:32  LINUX RESTART\t(16 CPU)\n\n"
          "04:13:40 CPU %user %idle\n04:13:41 all 2.00 98.00\n",
     AT_0413, AT_0413 + 10, 2, 0.01, 0.02},
    {"tables that are not read",
     HEAD
     "04:13:30 proc/s cswch/s\n04:13:31 1.00 2.00\n\n04:13:30 CPU %user %idle\n04:13:31 all 1.00 99.00\n\n"
     "04:13:30 IFACE rxerr/s txerr/s\n04:13:31 eth0 0.00 0.00\n\n04:13:31 CPU %user %idle\n04:13:32 all 2.00 98.00\n",
     AT_0413, AT_0413 + 1, 2, 0.01, 0.02},
    {"an old iostat",
     "Linux 2.6.32 (slave1) \t09/18/18 \t_x86_64_\t(16 CPU)\n\nTime: 04:13:30 AM\navg-cpu:  %user %nice %system "
     "%iowait "
     "%steal %idle\n 9.00 0.00 0.00 0.00 0.00 91.00\n\nDevice: rrqm/s wrqm/s r/s w/s rsec/s wsec/s avgrq-sz avgqu-sz "
     "await "
     "svctm %util\nsda 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00\n\nTime: 04:13:31 AM\navg-cpu:  %user "
     "%nice "
     "%system %iowait %steal %idle\n 1.00 0.00 0.00 0.00 0.00 99.00\n\nDevice: rrqm/s wrqm/s r/s w/s rsec/s wsec/s "
     "avgrq-sz avgqu-sz await svctm %util\nsda 0.00 0.00 2.00 0.00 16.00 8.00 0.00 0.00 0.00 0.00 50.00\n",
     AT_0413, AT_0413, 1, 0.01, 0.01},
    {"two logs in one",
     HEAD
     "04:13:30 CPU %user %idle\n04:13:31 all 1.00 99.00\nAverage: all 1.00 99.00\nLinux 3.10 (slave1) \t18/09/2018 "
     "\t_x86_64_\t(16 CPU)\n\n04:13:31 CPU %user %idle\n04:13:32 all 2.00 98.00\n",
     AT_0413, AT_0413 + 1, 2, 0.01, 0.02},
};

static void test_made_up(void) {
    for (guint i = 0; i < G_N_ELEMENTS(made_up); i++) {
        g_test_message("%s", made_up[i].name);
        g_autoptr(SparkRecords) records = spark_records_new();
        const SampleCounts counts = read_text(made_up[i].text, in_zone("UTC"), 4096, records);
        g_assert_cmpstr(counts.first_bad_reason, ==, NULL);
        g_assert_cmpuint(counts.samples, ==, made_up[i].samples);
        const HostSample *first = spark_sample(records, 0), *last = spark_sample(records, made_up[i].samples - 1);
        g_assert_cmpint(first->time_ns, ==, made_up[i].first_s * NS_PER_SEC);
        g_assert_cmpint(first->interval_ns, ==, NS_PER_SEC);
        g_assert_cmpint(last->time_ns, ==, made_up[i].last_s * NS_PER_SEC);
        assert_near(first->user, made_up[i].user);
        assert_near(last->user, made_up[i].last_user);
    }
}

/* ---- dates that can be read in two ways ---- */

#define ON_10TH G_GINT64_CONSTANT(1794268800) /* 2026-11-10 00:00 UTC */
#define ON_11TH G_GINT64_CONSTANT(1791676800) /* 2026-10-11 */

static void test_ambiguous_dates(void) {
    static const char slashes[] = "Linux 6.1 (h) \t10/11/2026 \t_x86_64_\t(2 CPU)\n\n00:00:01 CPU %user %idle\n"
                                  "00:00:02 all 1.00 99.00\n";
    static const char points[] = "Linux 6.1 (h) \t10.11.2026 \t_x86_64_\t(2 CPU)\n\n00:00:01 CPU %user %idle\n"
                                 "00:00:02 all 1,00 99,00\n";
    g_autoptr(SparkRecords) records = spark_records_new();
    SampleOptions options = in_zone("UTC");
    g_assert_true(read_text(slashes, options, 4096, records).date_ambiguous);
    g_assert_cmpint(spark_sample(records, 0)->time_ns, ==, (ON_11TH + 2) * NS_PER_SEC);
    options.order = DATE_DAY_FIRST;
    g_assert_false(read_text(slashes, options, 4096, records).date_ambiguous);
    g_assert_cmpint(spark_sample(records, 1)->time_ns, ==, (ON_10TH + 2) * NS_PER_SEC);
    options.order = DATE_UNKNOWN;
    g_assert_false(read_text(points, options, 4096, records).date_ambiguous);
    g_assert_cmpint(spark_sample(records, 2)->time_ns, ==, (ON_10TH + 2) * NS_PER_SEC);
    options.date = "2026-11-10";
    g_assert_false(read_text(slashes, options, 4096, records).date_ambiguous);
    g_assert_cmpint(spark_sample(records, 3)->time_ns, ==, (ON_10TH + 2) * NS_PER_SEC);
}

/* iostat without -t: nothing in the log says when; options do. */
static void test_untimed(void) {
    g_autofree char *text = file_text("iostat.untimed.txt");
    g_autoptr(SparkRecords) records = spark_records_new();
    SampleCounts counts = read_text(text, in_zone("UTC"), 4096, records);
    g_assert_cmpuint(counts.samples, ==, 0);
    g_assert_cmpuint(counts.without_time, ==, 2);
    SampleOptions options = in_zone("UTC");
    options.start_ns = AT_205309 * NS_PER_SEC;
    options.interval_ns = NS_PER_SEC;
    options.host = "worker-1";
    counts = read_text(text, options, 4096, records);
    g_assert_cmpuint(counts.samples, ==, 2);
    g_assert_cmpint(spark_sample(records, 0)->time_ns, ==, (AT_205309 + 1) * NS_PER_SEC);
    g_assert_cmpint(spark_sample(records, 1)->time_ns, ==, (AT_205309 + 2) * NS_PER_SEC);
    g_assert_cmpstr(spark_sample(records, 0)->host, ==, "worker-1");
    assert_near(spark_sample(records, 0)->disks.items[0].util, 0.02);
}

/* ---- what is broken ---- */

typedef struct Broken {
    const char *text;
    guint64 line, bad;
    guint samples;
} Broken;

static const Broken broken[] = {
    {HEAD "04:13:30 CPU %user %idle\n04:13:31 all 1.00\n04:13:32 all 2.00 98.00\n", 4, 1, 1},
    {HEAD "04:13:30 CPU %user %idle\n04:13:31 all 1.00 9x.00\n04:13:32 all 2.00 98.00\n", 4, 1, 1},
    {HEAD "04:13:30 CPU %user %idle\n04:13:31 all 1.00 99.00\nwhat is this\n", 5, 1, 1},
    {"04:13:30 CPU %user %idle\n04:13:31 all 1.00 99.00\n", 0, 0, 0}, /* no date, no host */
    {"{\"sysstat\": {\"hosts\": [{\"nodename\": \"h\", \"statistics\": [{\"timestamp\": {\"date\": \"2026-11-21\"", 1,
     1, 0},
    {"{\"sysstat\": {\"hosts\": [}", 1, 1, 0},
    {"{\"timestamp\": {\"date\": \"2026-11-21\"}}", 1, 1, 0},
    {"", 0, 0, 0},
};

static void test_broken(void) {
    for (guint i = 0; i < G_N_ELEMENTS(broken); i++) {
        g_autoptr(SparkRecords) records = spark_records_new();
        const SampleCounts counts = read_text(broken[i].text, in_zone("UTC"), 4096, records);
        g_assert_cmpuint(counts.bad_lines, ==, broken[i].bad);
        if (broken[i].bad > 0 && i < 4) g_assert_cmpuint(counts.first_bad_line, ==, broken[i].line);
        g_assert_true((counts.first_bad_reason != NULL) == (broken[i].bad > 0));
        g_assert_cmpuint(counts.samples, ==, broken[i].samples);
    }
}

static void test_limits(void) {
    g_autoptr(GString) text = g_string_new(HEAD "04:13:30 IFACE rxkB/s txkB/s\n");
    for (guint i = 0; i < SAMPLE_DEVICES + 10; i++) g_string_append_printf(text, "04:13:31 veth%u 1.00 2.00\n", i);
    for (guint i = 0; i < 2 * SAMPLE_LINE_BYTES; i++) g_string_append_c(text, 'x');
    g_string_append(text, "\n04:13:32 eth0 1.00 2.00\n");
    g_autoptr(SparkRecords) records = spark_records_new();
    const SampleCounts counts = read_text(text->str, in_zone("UTC"), 1000, records);
    g_assert_cmpuint(counts.samples, ==, 2);
    g_assert_cmpuint(spark_sample(records, 0)->nets.n, ==, SAMPLE_DEVICES);
    g_assert_cmpuint(counts.devices_left_out, ==, 10);
    g_assert_cmpuint(counts.bad_lines, ==, 1);
    g_assert_cmpuint(counts.first_bad_line, ==, 3 + SAMPLE_DEVICES + 10 + 1);
}

/* A clock that is set back is no new day. */
static void test_clock_step(void) {
    static const char text[] = HEAD "04:13:30 CPU %user %idle\n04:13:31 all 1.00 99.00\n04:10:00 all 2.00 98.00\n"
                                    "04:10:01 all 3.00 97.00\n";
    g_autoptr(SparkRecords) records = spark_records_new();
    const SampleCounts counts = read_text(text, in_zone("UTC"), 4096, records);
    g_assert_cmpuint(counts.samples, ==, 3);
    g_assert_cmpuint(counts.clock_steps, ==, 1);
    g_assert_cmpint(spark_sample(records, 1)->time_ns, ==, (AT_0413 - 211) * NS_PER_SEC);
    g_assert_cmpint(spark_sample(records, 1)->interval_ns, ==, NS_PER_SEC);
}

static void test_recognise(void) {
    static const char *const others[] = {"{\"Event\":\"SparkListenerLogStart\"}", "tag=[RDD]x;flag=start", "", "{",
                                         "\n\n"};
    for (guint i = 0; i < G_N_ELEMENTS(others); i++)
        g_assert_false(samples_recognise((Bytes){others[i], strlen(others[i])}));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/samples/recorded", test_recorded);
    g_test_add_func("/samples/figures", test_figures);
    g_test_add_func("/samples/zones", test_zones);
    g_test_add_func("/samples/summer-time", test_summer_time);
    g_test_add_func("/samples/made-up", test_made_up);
    g_test_add_func("/samples/ambiguous-dates", test_ambiguous_dates);
    g_test_add_func("/samples/untimed", test_untimed);
    g_test_add_func("/samples/broken", test_broken);
    g_test_add_func("/samples/limits", test_limits);
    g_test_add_func("/samples/clock-step", test_clock_step);
    g_test_add_func("/samples/recognise", test_recognise);
    return g_test_run();
}
