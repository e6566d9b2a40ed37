/* Hosts that are slow, told from the statistics of stored spans: what "nodes" and "slow" answer. */
#include <math.h>
#include <string.h>

#include "analyzer/query/nodes/sample.h"
#include "analyzer/query/nodes/slowdowns.h"
#include "analyzer/query/nodes/standing.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "tests/query/fixture.h"
#include "tests/query/spark_sample.h"

#define NODES       4u
#define READS       8u /* of each node in a minute */
#define PACKETS     4u
#define MINUTES     30u
#define SLOW_NODE   2u
#define SLOW_MINUTE 20u

typedef struct Reads {
    Fixture *fixture;
    SpanBatch *batch;
    GRand *rand;
    guint64 trace, span;
    double disk_times, socket_times;  /* of the slow node, from SLOW_MINUTE on */
    gboolean always;                  /* not from SLOW_MINUTE on only */
    double scale;                     /* of the disks' times; 0: 1 */
    gboolean arrives;                 /* what it has sent is on its way for long from then on */
    gboolean pauses;                  /* it stands still again and again from then on, */
    guint pauses_until, pauses_again; /* but for these minutes; 0: for none */
    gboolean stopped;                 /* it does nothing from then on: who reads from it waits for a minute */
    gboolean small;                   /* blocks that its socket has room for, */
    gboolean client_slow;             /* which a client's network takes slowly from then on, and not the node's */
    guint minutes;
} Reads;

static guint64 add_span(Reads *reads, SpanRow row) {
    row.trace = reads->trace;
    row.span = ++reads->span;
    row_to_batch(&row, reads->batch);
    return row.span;
}

/* Around a mean, a third more or less. */
static gint64 around(Reads *reads, double mean_us) {
    return (gint64)(mean_us * g_rand_double_range(reads->rand, 0.67, 1.33));
}

/* A packet of 64 KiB: node n's disk gives it in n ms. */
static gint64 add_packet(Reads *reads, guint node, guint minute, SpanRow parent) {
    const gboolean slow = node == SLOW_NODE && (reads->always || minute >= SLOW_MINUTE);
    const double scale = reads->scale > 0 ? reads->scale : 1;
    const gint64 disk_us = around(reads, 1000.0 * scale * node * (slow ? reads->disk_times : 1));
    const gint64 socket_us = around(reads, 100 * (slow ? reads->socket_times : 1));
    g_autofree char *values = g_strdup_printf(
        "bytes=65536;waitNanos=%" G_GINT64_FORMAT ";transferNanos=%" G_GINT64_FORMAT, socket_us * 1000, disk_us * 1000);
    SpanRow packet = parent;
    packet.name = "BlockSender#sendPacket";
    packet.duration_us = disk_us + socket_us + around(reads, 40);
    packet.annotations = "bytes=65536";
    packet.parent = add_span(reads, packet);
    packet.name = "FileIoProvider#transferToSocketFully";
    packet.begin_us += 10;
    packet.duration_us = disk_us + socket_us;
    packet.annotations = values;
    add_span(reads, packet);
    return disk_us + socket_us + 60;
}

/* The client gives up. */
static void add_read_of_stopped(Reads *reads, guint minute, guint i) {
    const gint64 begin_us = (gint64)minute * 60000000 + (gint64)i * 5000000;
    reads->trace++;
    reads->span = 0;
    SpanRow row = {.name = "DFSInputStream#byteArrayPread",
                   .tracer = "FSClient/c1/7",
                   .begin_us = begin_us,
                   .duration_us = 60001000};
    add_span(reads, row);
    row.name = "BlockReaderRemote#new";
    row.parent = 1;
    row.begin_us += 200;
    row.duration_us = 60000000;
    add_span(reads, row);
}

/* For how long a read waits until its DataNode begins with it: every second one comes while that stands still. */
static gint64 standing_us(const Reads *reads, guint node, guint minute, guint i) {
    const gboolean well = minute < SLOW_MINUTE || (minute >= reads->pauses_until && minute < reads->pauses_again);
    return reads->pauses && node == SLOW_NODE && !well && i % 2 == 1 ? 1500000 : 0;
}

/* The last header of a block: until its reader has it all. */
static gint64 add_last(Reads *reads, guint node, guint minute, SpanRow parent) {
    SpanRow last = parent;
    last.name = "BlockSender#writeToSocket";
    last.duration_us = 10;
    add_span(reads, last);
    return 10 + (node == SLOW_NODE && minute >= SLOW_MINUTE ? around(reads, 800000) : 0);
}

static void add_read(Reads *reads, guint node, guint minute, guint i) {
    if (reads->stopped && node == SLOW_NODE && minute >= SLOW_MINUTE) {
        if (i == 0) add_read_of_stopped(reads, minute, i);
        return;
    }
    g_autofree char *tracer = g_strdup_printf("DataNode/dn%u/1", node);
    const gint64 begin_us = (gint64)minute * 60000000 + (gint64)i * 5000000 + node * 1000000;
    const gint64 late_us = standing_us(reads, node, minute, i);
    gint64 length_us = 0;
    reads->trace++;
    reads->span = 0;

    /* The spans of one read: their lengths are known when its packets are. */
    const SpanRow server = {.parent = 2, .tracer = tracer, .begin_us = begin_us + late_us + 500};
    reads->span = 3;
    SpanRow packet = server;
    packet.parent = 3;
    for (guint k = 0; k < PACKETS; k++) {
        packet.begin_us = begin_us + late_us + 600 + length_us;
        length_us += add_packet(reads, node, minute, packet);
    }
    if (reads->arrives) {
        packet.begin_us = begin_us + late_us + 600 + length_us;
        length_us += add_last(reads, node, minute, packet);
    }
    const guint64 last = reads->span;

    reads->span = 0;
    const char *client = i % 2 ? "FSClient/c1/7" : "FSClient/c2/7";
    add_span(reads, (SpanRow){.name = "DFSInputStream#byteArrayPread",
                              .tracer = client,
                              .begin_us = begin_us,
                              .duration_us = late_us + length_us + 1400});
    add_span(reads, (SpanRow){.parent = 1,
                              .name = "BlockReaderRemote#new",
                              .tracer = client,
                              .begin_us = begin_us + 200,
                              .duration_us = late_us + length_us + 1000});
    SpanRow serve = server;
    serve.name = "OpReadBlockProto";
    serve.duration_us = length_us + 300;
    add_span(reads, serve);
    reads->span = last;
}

/* A block from file to socket in one call; a second one ends it, and the reader waits until all of it is there. */
static void add_small_read(Reads *reads, guint node, guint minute, guint i) {
    const gboolean slow = minute >= SLOW_MINUTE && (reads->client_slow ? i % 2 == 0 : node == SLOW_NODE);
    const gint64 begin_us = (gint64)minute * 60000000 + (gint64)i * 5000000 + node * 1000000;
    const gint64 sent_us = begin_us + 600 + around(reads, 1000.0 * node);
    const gint64 there_us = sent_us + around(reads, slow ? 200000 : 200);
    g_autofree char *server = g_strdup_printf("DataNode/dn%u/1", node);
    const char *client = i % 2 ? "FSClient/c1/7" : "FSClient/c2/7", *transfer = "FileIoProvider#transferToSocketFully";
    const gint64 served_us = begin_us + 500, asked_us = begin_us + 900;
    const SpanRow rows[] = {
        {.name = "DFSInputStream#byteArrayPread",
         .tracer = client,
         .begin_us = begin_us,
         .duration_us = there_us + 300 - begin_us},
        {.parent = 1,
         .name = "BlockReaderRemote#new",
         .tracer = client,
         .begin_us = begin_us + 200,
         .duration_us = 600},
        {.parent = 2,
         .name = "OpReadBlockProto",
         .tracer = server,
         .begin_us = served_us,
         .duration_us = there_us + 200 - served_us},
        {.parent = 3,
         .name = transfer,
         .tracer = server,
         .begin_us = begin_us + 600,
         .duration_us = sent_us - begin_us - 600,
         .annotations = "bytes=65536;waitNanos=0;transferNanos=1000"},
        {.parent = 3,
         .name = transfer,
         .tracer = server,
         .begin_us = sent_us,
         .duration_us = 5,
         .annotations = "bytes=0;waitNanos=0;transferNanos=1000"},
        {.parent = 1,
         .name = "BlockReaderRemote2#readNextPacket",
         .tracer = client,
         .begin_us = asked_us,
         .duration_us = there_us - asked_us,
         .annotations = "bytes=65536"},
    };
    reads->trace++;
    reads->span = 0;
    for (guint k = 0; k < G_N_ELEMENTS(rows); k++) add_span(reads, rows[k]);
}

static void make_reads(Reads *reads) {
    reads->rand = g_rand_new_with_seed(19);
    for (guint minute = 0; minute < reads->minutes; minute++) {
        reads->batch = batch_new();
        for (guint node = 1; node <= NODES; node++)
            for (guint i = 0; i < READS; i++) (reads->small ? add_small_read : add_read)(reads, node, minute, i);
        fixture_store_batch(reads->fixture, reads->batch);
        batch_free(reads->batch);
    }
    g_rand_free(reads->rand);
}

static gint64 minute_ns(guint minute) { return SAMPLE_BASE_NS + minute * NS_PER_MINUTE; }

static double real_at(const json_t *object, const char *field) {
    const json_t *value = json_object_get(object, field);
    g_assert_true(json_is_real(value));
    return json_real_value(value);
}

/* The host, its disk, since when, with a trace that shows it; the same document for the test of docs/api.md. */
static void test_slow_disk(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    Reads reads = {.fixture = &fixture, .disk_times = 5, .socket_times = 1, .minutes = MINUTES};
    make_reads(&reads);

    json_auto_t *answer = fixture_answer(&fixture, "slow", "");
    const json_t *rows = json_object_get(answer, "slow"), *row = json_array_get(rows, 0);
    g_assert_cmpuint(json_array_size(rows), ==, 1);
    g_assert_cmpstr(text_at(row, "host"), ==, "dn2");
    g_assert_cmpstr(text_at(row, "layer"), ==, "disk");
    g_assert_cmpstr(text_at(row, "function"), ==, "FileIoProvider#transferToSocketFully");
    g_assert_cmpint(number_at(row, "begin_time_ns"), ==, minute_ns(SLOW_MINUTE));
    g_assert_cmpint(number_at(row, "well_time_ns"), ==, minute_ns(SLOW_MINUTE - 1));
    g_assert_cmpint(number_at(row, "calls"), ==, READS * PACKETS * (MINUTES - SLOW_MINUTE));
    g_assert_cmpfloat_with_epsilon(real_at(row, "slowdown"), 4.8, 0.5);
    /* Ten minutes, eight reads of four packets, each 8 ms longer than usual. */
    g_assert_cmpfloat_with_epsilon((double)number_at(row, "lost_ns") / 1e9, 320 * 0.008, 0.3);
    g_assert_cmpint(number_at(row, "transfer_ns"), >, 10 * number_at(row, "socket_ns"));

    g_autofree char *asked = g_strdup_printf("id=%s", text_at(json_object_get(row, "example"), "trace"));
    json_auto_t *trace = fixture_answer(&fixture, "trace", asked);
    g_assert_nonnull(row_where(json_object_get(trace, "spans"), "host", "dn2"));
    fixture_check_document("slow", answer);

    json_auto_t *nodes = fixture_answer(&fixture, "nodes", "limit=5");
    fixture_check_document("nodes", nodes);
    json_auto_t *one = fixture_answer(&fixture, "nodes", "host=dn2&since=2020-11-21T11:10:00Z");
    fixture_check_document("nodes-one", one);
}

/* Slow from the first span on: said of it, when somebody waited for long enough. */
static void test_weak(void) {
    static const struct {
        double scale;
        guint weak;
    } cases[] = {{1, 1}, {0.002, 0}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_auto(Fixture) fixture = {0};
        fixture_init(&fixture);
        Reads reads = {.fixture = &fixture,
                       .disk_times = 100,
                       .socket_times = 1,
                       .always = TRUE,
                       .scale = cases[i].scale,
                       .minutes = MINUTES};
        make_reads(&reads);
        json_auto_t *answer = fixture_answer(&fixture, "slow", "");
        const json_t *rows = json_object_get(answer, "weak");
        g_assert_cmpuint(json_array_size(json_object_get(answer, "slow")), ==, 0);
        g_assert_cmpuint(json_array_size(rows), ==, cases[i].weak);
        if (cases[i].weak > 0) g_assert_cmpstr(text_at(json_array_get(rows, 0), "host"), ==, "dn2");
    }
}

/* A DataNode that is stopped says nothing: others tell. */
static void test_stopped(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    Reads reads = {.fixture = &fixture, .disk_times = 1, .socket_times = 1, .stopped = TRUE, .minutes = MINUTES};
    make_reads(&reads);
    json_auto_t *answer = fixture_answer(&fixture, "slow", "");
    const json_t *rows = json_object_get(answer, "slow"), *row = json_array_get(rows, 0);
    g_assert_cmpuint(json_array_size(rows), ==, 1);
    g_assert_cmpstr(text_at(row, "host"), ==, "dn2");
    g_assert_cmpstr(text_at(row, "class"), ==, "silent");
    g_assert_cmpstr(text_at(row, "layer"), ==, "no answer");
    g_assert_cmpstr(text_at(row, "state"), ==, "suspected");
    g_assert_cmpstr(text_at(row, "function"), ==, "BlockReaderRemote#new");
    g_assert_cmpint(ABS(number_at(row, "begin_time_ns") - minute_ns(SLOW_MINUTE)), <=, 30 * NS_PER_SEC);
    g_assert_cmpfloat_with_epsilon((double)number_at(row, "waited_ns") / 1e9, 60 * (MINUTES - SLOW_MINUTE), 5);
    g_autofree char *asked = g_strdup_printf("id=%s", text_at(json_object_get(row, "example"), "trace"));
    json_auto_t *trace = fixture_answer(&fixture, "trace", asked);
    g_assert_nonnull(row_where(json_object_get(trace, "spans"), "function", "BlockReaderRemote#new"));
    fixture_check_document("slow-silent", answer);

    /* A trace that waited for it. */
    g_autofree char *why_asked = g_strdup_printf("trace=%s", text_at(json_object_get(row, "example"), "trace"));
    json_auto_t *why = fixture_answer(&fixture, "why", why_asked);
    const json_t *silent = json_array_get(json_object_get(why, "silent"), 0);
    g_assert_cmpstr(text_at(silent, "host"), ==, "dn2");
    g_assert_cmpint(number_at(silent, "begin_time_ns"), ==, number_at(row, "begin_time_ns"));
    fixture_check_document("why-silent", why);
    json_auto_t *well = fixture_answer(&fixture, "why", "trace=0000000000000001"); /* before it was stopped */
    g_assert_null(json_object_get(well, "silent"));

    /* An application that ran meanwhile: one task took a minute. */
    g_autoptr(SparkRecords) records = spark_records_new();
    sample_app(records)->end_ms = minute_ns(MINUTES) / NS_PER_MS;
    for (gint64 id = 0; id < 8; id++)
        sample_task(records, id, "c1", (SLOW_MINUTE + 1) * 60000 + id * 100, id == 7 ? 60000 : 100);
    sample_put(&fixture, records);
    json_auto_t *app = fixture_answer(&fixture, "why", "app=latest");
    silent = json_array_get(json_object_get(app, "silent"), 0);
    g_assert_cmpint(number_at(app, "stragglers_total"), ==, 1);
    g_assert_cmpstr(text_at(silent, "host"), ==, "dn2");
    fixture_check_document("why-silent-app", app);
}

/* A call of the NameNode by a client, which waits for its lock or holds it, for so long. */
static void add_lock_call(Reads *reads, gint64 begin_us, const char *function, const char *lock, gint64 lock_us) {
    g_autofree char *asked = g_strdup_printf("ClientNamenodeProtocol#%s", function);
    g_autofree char *served = g_strdup_printf("ClientProtocol#%s", function);
    reads->trace++;
    reads->span = 0;
    SpanRow row = {.name = asked, .tracer = "FSClient/c1/7", .begin_us = begin_us, .duration_us = lock_us + 400};
    add_span(reads, row);
    row = (SpanRow){.parent = 1,
                    .name = served,
                    .tracer = "NameNode/nn1/1",
                    .begin_us = begin_us + 100,
                    .duration_us = lock_us + 200};
    add_span(reads, row);
    row = (SpanRow){
        .parent = 2, .name = lock, .tracer = "NameNode/nn1/1", .begin_us = begin_us + 200, .duration_us = lock_us};
    add_span(reads, row);
}

/* The NameNode's lock: who held it is named, too. */
static void test_lock(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    Reads reads = {.fixture = &fixture, .rand = g_rand_new_with_seed(3)};
    for (guint minute = 0; minute < MINUTES; minute++) {
        const gboolean slow = minute >= SLOW_MINUTE;
        reads.batch = batch_new();
        for (guint i = 0; i < 30; i++) {
            const gint64 begin_us = (gint64)minute * 60000000 + i * 2000000;
            add_lock_call(&reads, begin_us, "getFileInfo", "FSNamesystemLock#readLock",
                          around(&reads, slow ? 60000 : 1000));
            add_lock_call(&reads, begin_us, "rename", "FSNamesystemLock#writeHeld", 2000);
            if (slow) add_lock_call(&reads, begin_us, "getContentSummary", "FSNamesystemLock#readHeld", 500000);
        }
        fixture_store_batch(&fixture, reads.batch);
        batch_free(reads.batch);
    }
    g_rand_free(reads.rand);

    json_auto_t *answer = fixture_answer(&fixture, "slow", "");
    const json_t *row = row_where(json_object_get(answer, "slow"), "class", "lock");
    const json_t *holder = json_object_get(row, "holder");
    g_assert_cmpstr(text_at(row, "host"), ==, "nn1");
    g_assert_cmpstr(text_at(row, "layer"), ==, "NameNode lock");
    g_assert_cmpint(number_at(row, "begin_time_ns"), ==, minute_ns(SLOW_MINUTE));
    g_assert_cmpstr(text_at(holder, "function"), ==, "ClientProtocol#getContentSummary");
    g_assert_cmpstr(text_at(holder, "lock"), ==, "read");
    g_assert_cmpint(number_at(holder, "held_ns"), >=, 8 * 500 * NS_PER_MS);
    fixture_check_document("slow-lock", answer);
}

/* Of a trace that waited for it: since when its host has been like that. */
static void test_why_since(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    Reads reads = {.fixture = &fixture, .disk_times = 5, .socket_times = 1, .minutes = MINUTES};
    make_reads(&reads);
    json_auto_t *slow = fixture_answer(&fixture, "slow", "");
    const json_t *example = json_object_get(json_array_get(json_object_get(slow, "slow"), 0), "example");
    g_autofree char *asked = g_strdup_printf("trace=%s", text_at(example, "trace"));
    json_auto_t *why = fixture_answer(&fixture, "why", asked);
    const json_t *wait = json_array_get(json_object_get(why, "waits"), 0), *spell = json_object_get(wait, "spell");
    g_assert_cmpstr(text_at(wait, "host"), ==, "dn2");
    g_assert_cmpstr(text_at(spell, "class"), ==, "transfer");
    g_assert_cmpint(number_at(spell, "begin_time_ns"), ==, minute_ns(SLOW_MINUTE));
    g_assert_cmpfloat_with_epsilon(real_at(spell, "slowdown"), 4.8, 0.5);
    fixture_check_document("why-since", why);

    json_auto_t *well = fixture_answer(&fixture, "why", "trace=0000000000000001"); /* of another host, before that */
    const json_t *waits = json_object_get(well, "waits");
    for (gsize i = 0; i < json_array_size(waits); i++)
        g_assert_null(json_object_get(json_array_get(waits, i), "spell"));
}

/* Work shared by how fast the hosts are; and where least is known. */
static void test_hints(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    Reads reads = {.fixture = &fixture, .disk_times = 1, .socket_times = 1, .minutes = MINUTES};
    make_reads(&reads);
    json_auto_t *answer = fixture_answer(&fixture, "nodes", "hint=true&limit=1");
    const json_t *hint = row_where(json_object_get(answer, "hints"), "class", "transfer");
    const json_t *weights = json_object_get(hint, "weights"), *probe = json_object_get(hint, "probe");
    double sum = 0;
    for (guint node = 1; node <= NODES; node++) {
        g_autofree char *host = g_strdup_printf("dn%u", node);
        const double weight = real_at(row_where(weights, "host", host), "weight");
        /* Node n's disk takes n ms: 1, 1/2, 1/3 and 1/4 of 25/12. */
        g_assert_cmpfloat_with_epsilon(weight, 12.0 / 25 / node, 0.05);
        sum += weight;
    }
    g_assert_cmpfloat_with_epsilon(sum, 1, 0.01);
    g_assert_cmpint(number_at(probe, "windows"), >=, 20);
    g_assert_cmpfloat(real_at(probe, "within"), >, 1);
    fixture_check_document("nodes-hint", answer);
}

/* Task 'id' of 50 ms, of which dn4's disk takes 40. */
static void store_task(Fixture *fixture, SparkRecords *records, gint64 id) {
    const guint64 t = task_trace_id(APP, id);
    const gint64 begin = id * 1000000;
    const char *client = "FSClient/c1/7", *server = "DataNode/dn4/1";
    const SpanRow rows[] = {
        {t, 1, 0, "SparkTask", client, begin, 50000, NULL, 0},
        {t, 2, 1, "DFSInputStream#byteArrayRead", client, begin + 5000, 40000, NULL, 0},
        {t, 3, 2, "BlockReaderRemote2#readNextPacket", client, begin + 5000, 40000, "bytes=65536", 0},
        {t, 4, 2, "OpReadBlockProto", server, begin + 5000, 40000, NULL, 0},
        {t, 5, 4, "FileIoProvider#transferToSocketFully", server, begin + 5000, 40000,
         "bytes=65536;waitNanos=0;transferNanos=40000000", 0},
    };
    fixture_store(fixture, rows, G_N_ELEMENTS(rows));
    sample_task(records, id, "c1", id * 1000, 50);
}

/* What is measured of a task, scaled by how fast another host's disk is. */
static void test_predict(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    Reads reads = {.fixture = &fixture, .disk_times = 1, .socket_times = 1, .minutes = MINUTES};
    make_reads(&reads);
    g_autoptr(SparkRecords) records = spark_records_new();
    sample_app(records);
    for (gint64 id = 0; id < 4; id++) store_task(&fixture, records, id);
    sample_put(&fixture, records);

    json_auto_t *answer = fixture_answer(&fixture, "predict", "app=latest");
    const json_t *stage = json_array_get(json_object_get(answer, "stages"), 0),
                 *hosts = json_object_get(stage, "hosts");
    g_assert_cmpint(number_at(stage, "seen_ns"), ==, 50 * NS_PER_MS);
    g_assert_cmpuint(json_array_size(hosts), ==, NODES);
    for (guint node = 1; node <= NODES; node++) {
        g_autofree char *host = g_strdup_printf("dn%u", node);
        const json_t *row = row_where(hosts, "host", host);
        g_assert_cmpfloat_with_epsilon(real_at(row, "times"), (10 + 40.0 * node / 4) / 50, 0.08);
        g_assert_cmpfloat_with_epsilon(real_at(row, "known_share"), 0.8, 0.01);
    }
    fixture_check_document("predict", answer);

    json_auto_t *one = fixture_answer(&fixture, "predict", "app=latest&on=dn1&stage=1");
    hosts = json_object_get(json_array_get(json_object_get(one, "stages"), 0), "hosts");
    g_assert_cmpuint(json_array_size(hosts), ==, 1);
    g_autoptr(GError) error = NULL;
    g_assert_null(fixture_ask(&fixture, "predict", "app=latest&on=nohost", &error));
    g_assert_nonnull(strstr(error->message, "nothing is known of how fast host \"nohost\" is"));
}

static void append_slowdown(void *arg, const char *host, const char *class, double slowdown) {
    g_string_append_printf(arg, "%s %s %.0f;", host, class, slowdown);
}

static void append_count(void *arg, const char *class, const char *state, guint hosts) {
    if (hosts > 0) g_string_append_printf(arg, "%s %s %u;", class, state, hosts);
}

/* What plumbd's metrics have. */
static void test_slowdowns(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    Reads reads = {.fixture = &fixture, .disk_times = 5, .socket_times = 1, .minutes = MINUTES};
    make_reads(&reads);
    g_autoptr(GString) found = g_string_new(NULL);
    const SlowdownVisitor visitor = {append_slowdown, append_count, found};
    static const char all[] =
        "transfer well 3;transfer suspected 1;delivery well 4;processor well 4;standstill well 4;dn2 transfer 5;";
    g_autoptr(GError) error = NULL;
    slowdowns_find(fixture.archive, minute_ns(60), &visitor, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(found->str, ==, all);

    /* All that it takes is of a budget, and comes back; with less there is no judgement. */
    AllowanceBudget budget = {.limit_bytes = 64 << 20};
    Allowance allowance = {.budget = &budget};
    g_string_truncate(found, 0);
    allowance_begin(&allowance);
    g_assert_true(slowdowns_find(fixture.archive, minute_ns(60), &visitor, &error));
    allowance_end();
    g_assert_no_error(error);
    g_assert_cmpstr(found->str, ==, all);
    g_assert_cmpuint(budget.used_bytes, ==, 0);

    budget.limit_bytes = 1000;
    g_string_truncate(found, 0);
    allowance_begin(&allowance);
    g_assert_false(slowdowns_find(fixture.archive, minute_ns(60), &visitor, &error));
    allowance_end();
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_LIMIT);
    g_assert_cmpstr(found->str, ==, "");
    g_assert_cmpuint(budget.used_bytes, ==, 0);
}

/* The same times, but for the socket: then it is the network. */
static void test_slow_socket(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    Reads reads = {.fixture = &fixture, .disk_times = 1, .socket_times = 90, .minutes = MINUTES};
    make_reads(&reads);
    json_auto_t *answer = fixture_answer(&fixture, "slow", "");
    const json_t *rows = json_object_get(answer, "slow");
    g_assert_cmpuint(json_array_size(rows), ==, 1);
    g_assert_cmpstr(text_at(json_array_get(rows, 0), "host"), ==, "dn2");
    g_assert_cmpstr(text_at(json_array_get(rows, 0), "layer"), ==, "network");
}

/* Nor does it show in the DataNode's own calls when blocks fit its socket. */
static void test_on_its_way(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    Reads reads = {.fixture = &fixture, .disk_times = 1, .socket_times = 1, .arrives = TRUE, .minutes = MINUTES};
    make_reads(&reads);
    json_auto_t *answer = fixture_answer(&fixture, "slow", "");
    const json_t *rows = json_object_get(answer, "slow");
    g_assert_cmpuint(json_array_size(rows), ==, 1);
    g_assert_cmpstr(text_at(json_array_get(rows, 0), "host"), ==, "dn2");
    g_assert_cmpstr(text_at(json_array_get(rows, 0), "class"), ==, "sending");
    g_assert_cmpstr(text_at(json_array_get(rows, 0), "layer"), ==, "network");
}

/* Nor in transfers of small blocks, which wait for no socket: what their readers wait for is looked at by itself. */
static void test_small_blocks(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    Reads reads = {.fixture = &fixture, .small = TRUE, .minutes = MINUTES};
    make_reads(&reads);
    json_auto_t *answer = fixture_answer(&fixture, "slow", "");
    const json_t *rows = json_object_get(answer, "slow"), *row = json_array_get(rows, 0);
    g_assert_cmpuint(json_array_size(rows), ==, 1);
    g_assert_cmpstr(text_at(row, "host"), ==, "dn2");
    g_assert_cmpstr(text_at(row, "class"), ==, "delivery");
    g_assert_cmpstr(text_at(row, "layer"), ==, "network");
    g_assert_cmpint(number_at(row, "begin_time_ns"), ==, minute_ns(SLOW_MINUTE));
    g_assert_null(json_object_get(row, "link"));
    /* Ten minutes, eight reads each of 200 ms. */
    g_assert_cmpfloat_with_epsilon((double)number_at(row, "waited_ns") / 1e9, 80 * 0.2, 1);
    fixture_check_document("slow-delivery", answer);

    g_autofree char *asked = g_strdup_printf("trace=%s", text_at(json_object_get(row, "example"), "trace"));
    json_auto_t *why = fixture_answer(&fixture, "why", asked);
    const json_t *wait = json_array_get(json_object_get(why, "waits"), 0);
    g_assert_cmpstr(text_at(wait, "host"), ==, "dn2");
    g_assert_cmpstr(text_at(wait, "resource"), ==, "network");
    g_assert_cmpstr(text_at(json_object_get(wait, "spell"), "class"), ==, "delivery");
}

/* All DataNodes send slowly to a client whose network is slow: it is that client. */
static void test_small_blocks_slow_client(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    Reads reads = {.fixture = &fixture, .small = TRUE, .client_slow = TRUE, .minutes = MINUTES};
    make_reads(&reads);
    json_auto_t *answer = fixture_answer(&fixture, "slow", "");
    const json_t *rows = json_object_get(answer, "slow"), *row = json_array_get(rows, 0);
    g_assert_cmpuint(json_array_size(rows), ==, 1);
    g_assert_cmpstr(text_at(row, "host"), ==, "c2");
    g_assert_cmpstr(text_at(row, "layer"), ==, "network");
    g_assert_cmpint(number_at(row, "begin_time_ns"), ==, minute_ns(SLOW_MINUTE));
}

/* Tasks that read from the node while it is slow, and wait for its disk; in the second stage for its socket alone. */
static void add_stages(Fixture *fixture) {
    g_autoptr(SparkRecords) records = spark_records_new();
    sample_app(records)->end_ms = minute_ns(MINUTES) / NS_PER_MS;
    for (gint64 id = 0; id < 16; id++) {
        const guint64 t = task_trace_id(APP, id);
        const gint64 begin_ms = (SLOW_MINUTE + 2) * 60000 + id * 100, begin_us = begin_ms * 1000;
        const Read read = {t, "FSClient/c1/9", "DataNode/dn2/1", begin_ms, 60, NULL, TRUE};
        const SpanRow rows[] = {
            {t, 1, 0, "SparkTask", read.client, begin_us, 100000, "app=" APP, 0},
            {t, 2, 1, "BlockReaderRemote2#readNextPacket", read.client, begin_us, 60000, "block=77;bytes=65536", 0},
            {t, 3, 1, "OpReadBlockProto", read.datanode, begin_us, 60000, NULL, 0},
            {t, 4, 3, "BlockSender#writeToSocket", read.datanode, begin_us, 60000, NULL, 0},
        };
        sample_task(records, id, "c1", begin_ms, 100)->stage = 1 + id / 8;
        if (id < 8)
            sample_read(fixture, &read);
        else
            fixture_store(fixture, rows, G_N_ELEMENTS(rows));
    }
    sample_put(fixture, records);
}

/* Nobody writes, and readers wait for a DataNode that does not begin: it is named, and its processor. */
static void test_standstill(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    Reads reads = {.fixture = &fixture, .disk_times = 1, .socket_times = 1, .pauses = TRUE, .minutes = MINUTES};
    make_reads(&reads);
    json_auto_t *answer = fixture_answer(&fixture, "slow", "");
    const json_t *rows = json_object_get(answer, "slow"), *row = json_array_get(rows, 0);
    g_assert_cmpuint(json_array_size(rows), ==, 1);
    g_assert_cmpstr(text_at(row, "host"), ==, "dn2");
    g_assert_cmpstr(text_at(row, "class"), ==, "standstill");
    g_assert_cmpstr(text_at(row, "layer"), ==, "processor");
    g_assert_cmpstr(text_at(row, "function"), ==, "OpReadBlockProto");
    g_assert_cmpint(number_at(row, "begin_time_ns"), ==, minute_ns(SLOW_MINUTE));
    /* Ten minutes, four reads each that waited for a second and a half. */
    g_assert_cmpfloat_with_epsilon((double)number_at(row, "waited_ns") / 1e9, 60, 1);

    g_autofree char *asked = g_strdup_printf("trace=%s", text_at(json_object_get(row, "example"), "trace"));
    json_auto_t *why = fixture_answer(&fixture, "why", asked);
    const json_t *wait = json_array_get(json_object_get(why, "waits"), 0);
    g_assert_cmpstr(text_at(wait, "host"), ==, "dn2");
    g_assert_cmpstr(text_at(json_object_get(wait, "spell"), "class"), ==, "standstill");

    add_stages(&fixture); /* whoever has no processor is slow at his disk, too */
    json_auto_t *app = fixture_answer(&fixture, "why", "app=latest");
    const json_t *stages = json_object_get(app, "stages"), *stage = json_array_get(stages, 0);
    const json_t *suspect = json_object_get(stage, "suspect"), *split = json_object_get(stage, "split");
    g_assert_cmpstr(text_at(suspect, "host"), ==, "dn2");
    g_assert_cmpstr(text_at(suspect, "resource"), ==, "server");
    g_assert_cmpstr(text_at(json_object_get(suspect, "spell"), "class"), ==, "standstill");
    g_assert_cmpint(number_at(json_object_get(split, "resources_ns"), "disk"), ==, 8 * 60 * NS_PER_MS);

    stage = json_array_get(stages, 1); /* calls of the network tell nothing of its processor */
    suspect = json_object_get(stage, "suspect");
    g_assert_cmpint(number_at(stage, "stage"), ==, 2);
    g_assert_cmpstr(text_at(suspect, "host"), ==, "dn2");
    g_assert_cmpstr(text_at(suspect, "resource"), ==, "server");
    g_assert_cmpstr(text_at(suspect, "pace"), ==, "unknown");
    g_assert_cmpint(number_at(suspect, "time_ns"), ==, 0);
}

/* It stands still for 12 minutes, and after 16 others for 12 more: neither is half of the time, both are. */
static void test_standstill_twice(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    Reads reads = {.fixture = &fixture,
                   .disk_times = 1,
                   .socket_times = 1,
                   .pauses = TRUE,
                   .pauses_until = 32,
                   .pauses_again = 48,
                   .minutes = 60};
    make_reads(&reads);
    const Asked asked = {.archive = fixture.archive, .now_ns = minute_ns(60), .rows_max = ANSWER_ROWS_MAX};
    const Period all = {minute_ns(SLOW_MINUTE), minute_ns(60)};
    const Period parts[] = {all, {minute_ns(30), minute_ns(50)}};
    g_autoptr(Standing) standing = standing_new(&asked, all);
    for (guint i = 0; i < G_N_ELEMENTS(parts); i++) {
        const StandingAsk ask = {dict_find(archive_dict(fixture.archive), "dn2", 3),
                                 1u << WORK_PROCESSOR | 1u << WORK_STANDSTILL, parts[i]};
        gboolean slow;
        g_autoptr(GError) error = NULL;
        g_assert_true(standing_slow_in(standing, &ask, &slow, &error));
        g_assert_cmpint(slow, ==, i == 0);
    }
}

/* Unequal nodes are not slow: each is as it always was. To compare them with each other blames the weakest. */
static void test_healthy(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    Reads reads = {.fixture = &fixture, .disk_times = 1, .socket_times = 1, .minutes = MINUTES};
    make_reads(&reads);
    json_auto_t *answer = fixture_answer(&fixture, "slow", "");
    g_assert_cmpuint(json_array_size(json_object_get(answer, "slow")), ==, 0);
    g_assert_cmpint(number_at(answer, "minutes_read"), ==, MINUTES);
    g_assert_cmpint(number_at(answer, "hosts"), ==, NODES);
    g_assert_cmpstr(text_at(answer, "state"), ==, "learning");

    json_auto_t *nodes = fixture_answer(&fixture, "nodes", "host=dn4");
    const json_t *row = row_where(json_object_get(nodes, "nodes"), "class", "transfer");
    g_assert_cmpfloat_with_epsilon(real_at(row, "slowdown"), 1, 0.2);
    g_assert_cmpfloat_with_epsilon(real_at(row, "constant"), 4 / 2.5, 0.2);
    g_assert_cmpstr(text_at(row, "state"), ==, "well");
}

/* A period: what was before it is learned from, what is after it is not looked at. */
static void test_period(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    Reads reads = {.fixture = &fixture, .disk_times = 5, .socket_times = 1, .minutes = MINUTES};
    make_reads(&reads);
    json_auto_t *before = fixture_answer(&fixture, "slow", "until=2020-11-21T11:13:00Z");
    g_assert_cmpuint(json_array_size(json_object_get(before, "slow")), ==, 0);
    json_auto_t *five = fixture_answer(&fixture, "slow", "since=2020-11-21T11:10:00Z&until=2020-11-21T11:16:00Z");
    const json_t *row = json_array_get(json_object_get(five, "slow"), 0);
    g_assert_cmpint(number_at(row, "begin_time_ns"), ==, minute_ns(SLOW_MINUTE));
    g_assert_cmpint(number_at(five, "minutes"), ==, 6);
    g_assert_cmpint(number_at(five, "minutes_learned"), ==, 17);
    g_assert_true(json_is_true(json_object_get(five, "judged")));
}

/* Nothing is known for long enough: that is not the same as that nothing is slow. */
static void test_too_soon(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    Reads reads = {.fixture = &fixture, .disk_times = 1, .socket_times = 1, .minutes = 4};
    make_reads(&reads);
    json_auto_t *answer = fixture_answer(&fixture, "slow", "");
    g_assert_cmpuint(json_array_size(json_object_get(answer, "slow")), ==, 0);
    g_assert_true(json_is_false(json_object_get(answer, "judged")));
    g_autoptr(GError) error = NULL;
    g_assert_null(fixture_ask(&fixture, "nodes", "host=dn22", &error));
    g_assert_nonnull(strstr(error->message, "did you mean \"dn2\"?"));
    fixture_check_document("slow-too-soon", answer);
}

/* A sample: no minute twice, in order, the newest without a gap, half of them before the period. */
static void test_sample(void) {
    const MinuteSpan week = {1000, 1000 + 7 * 1440, 1000 + 7 * 1440 + 60};
    g_autoptr(GArray) few = minutes_choose(&week, minutes_affordable(60000, G_MAXSIZE));
    g_assert_cmpuint(few->len, ==, 30);
    guint learned = 0;
    for (guint i = 0; i < few->len; i++) {
        const guint32 minute = g_array_index(few, guint32, i);
        learned += minute < week.since;
        if (i > 0) g_assert_cmpuint(minute, >, g_array_index(few, guint32, i - 1));
        if (i + 12 >= few->len) g_assert_cmpuint(minute, ==, week.until - (few->len - i));
    }
    g_assert_cmpuint(learned, ==, 15);

    g_autoptr(GArray) all = minutes_choose(&week, minutes_affordable(150, G_MAXSIZE));
    g_assert_cmpuint(all->len, ==, 7 * 1440 + 60);
    g_assert_cmpuint(minutes_affordable(OBSERVATIONS_MAX, G_MAXSIZE), ==, 24);
    g_assert_cmpuint(minutes_affordable(30000, 100 * 30000 * OBSERVATION_BYTES), ==, 60);
    g_assert_cmpuint(minutes_affordable(10000, 50 * 10000 * OBSERVATION_BYTES), ==, 50);
    g_assert_cmpuint(minutes_affordable(60000, 60000 * OBSERVATION_BYTES), ==, 12);

    const MinuteSpan nothing = {5, 5, 5};
    g_autoptr(GArray) none = minutes_choose(&nothing, 24);
    g_assert_cmpuint(none->len, ==, 0);
}

static void test_nothing(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    json_auto_t *slow = fixture_answer(&fixture, "slow", "");
    g_assert_cmpint(number_at(slow, "calls"), ==, 0);
    json_auto_t *nodes = fixture_answer(&fixture, "nodes", "");
    g_assert_cmpuint(json_array_size(json_object_get(nodes, "nodes")), ==, 0);

    g_autoptr(GError) error = NULL;
    json_t *unknown = fixture_ask(&fixture, "nodes", "host=nohost", &error);
    g_assert_null(unknown);
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND);
    g_assert_nonnull(strstr(error->message, "nohost"));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/query/nodes/slow-disk", test_slow_disk);
    g_test_add_func("/query/nodes/weak", test_weak);
    g_test_add_func("/query/nodes/stopped", test_stopped);
    g_test_add_func("/query/nodes/lock", test_lock);
    g_test_add_func("/query/nodes/why-since", test_why_since);
    g_test_add_func("/query/nodes/hints", test_hints);
    g_test_add_func("/query/nodes/predict", test_predict);
    g_test_add_func("/query/nodes/slowdowns", test_slowdowns);
    g_test_add_func("/query/nodes/slow-socket", test_slow_socket);
    g_test_add_func("/query/nodes/on-its-way", test_on_its_way);
    g_test_add_func("/query/nodes/small-blocks", test_small_blocks);
    g_test_add_func("/query/nodes/small-blocks-slow-client", test_small_blocks_slow_client);
    g_test_add_func("/query/nodes/standstill", test_standstill);
    g_test_add_func("/query/nodes/standstill-twice", test_standstill_twice);
    g_test_add_func("/query/nodes/healthy", test_healthy);
    g_test_add_func("/query/nodes/period", test_period);
    g_test_add_func("/query/nodes/too-soon", test_too_soon);
    g_test_add_func("/query/nodes/sample", test_sample);
    g_test_add_func("/query/nodes/nothing", test_nothing);
    return g_test_run();
}
