/* submitRecords, held against Thrift's own library by way of the generated classes, and against bytes of strangers. */
#include <string.h>

#include "common/base/error.h"
#include "common/base/limits.h"
#include "common/wire/message.h"
#include "common/wire/reference/glib_transport.h"
#include "plumb_plumb_types.h"
#include "tests/model/records_random.h"

static const WireProtocol protocols[] = {PROTOCOL_BINARY, PROTOCOL_COMPACT};

static WireHeader header_of(const GByteArray *frame) {
    WireHeader header;
    g_autoptr(GError) error = NULL;
    FrameCut cut;
    g_assert_true(frame_cut((Bytes){frame->data, frame->len}, G_MAXUINT32, &cut) == FRAME_WHOLE);
    wire_header_decode(cut.frame, &header, &error);
    g_assert_no_error(error);
    g_assert_cmpint(header.call, ==, CALL_SUBMIT_RECORDS);
    return header;
}

static gboolean decode(const WireHeader *header, SparkRecords *records, GError **error) {
    WireVersions versions = {0};
    guint32 refused = 99;
    if (!wire_records_decode(header, records, &versions, &refused, error)) {
        g_assert_cmpuint(spark_records_count(records), ==, 0);
        return FALSE;
    }
    g_assert_cmpint(versions.version, ==, WIRE_VERSION);
    g_assert_cmpuint(refused, ==, 0);
    return TRUE;
}

/* c_glib reads the arguments into its classes and writes them again: a body. */
static GByteArray *through_reference(const WireHeader *header) {
    GByteArray *out = g_byte_array_new();
    g_autoptr(GObject) batch = g_object_new(PLUMB_TYPE_RECORD_BATCH, NULL);
    g_autoptr(GError) error = NULL;
    ThriftProtocol *in = glib_protocol_reader(header->body, header->protocol);
    ThriftProtocol *to = glib_protocol_writer(out, header->protocol);
    ThriftType type;
    gint16 id;
    char *name = NULL;

    thrift_protocol_read_struct_begin(in, &name, &error);
    thrift_protocol_read_field_begin(in, &name, &type, &id, &error);
    g_free(name);
    g_assert_cmpint(type, ==, T_STRUCT);
    g_assert_cmpint(id, ==, 1);
    thrift_struct_read(THRIFT_STRUCT(batch), in, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(glib_protocol_left(in), ==, 1);

    thrift_protocol_write_struct_begin(to, "", &error);
    thrift_protocol_write_field_begin(to, "", T_STRUCT, 1, &error);
    thrift_struct_write(THRIFT_STRUCT(batch), to, &error);
    thrift_protocol_write_field_end(to, &error);
    thrift_protocol_write_field_stop(to, &error);
    thrift_protocol_write_struct_end(to, &error);
    g_assert_no_error(error);

    g_object_unref(in);
    g_object_unref(to);
    return out;
}

static void test_reference(void) {
    for (guint round = 0; round < 40; round++) {
        g_autoptr(GRand) rand = g_rand_new_with_seed(round);
        g_autoptr(SparkRecords) sent = records_random(rand, round % 8, 3), got = spark_records_new();
        g_autoptr(GByteArray) frame = g_byte_array_new();
        g_autoptr(GError) error = NULL;
        wire_records_encode(sent, protocols[round % 2], 7, frame);
        WireHeader header = header_of(frame);
        g_assert_true(decode(&header, got, &error));
        records_assert_equal(sent, got);
        g_autoptr(GByteArray) again = through_reference(&header);
        header.body = (Bytes){again->data, again->len};
        g_assert_true(decode(&header, got, &error));
        g_assert_no_error(error);
        records_assert_equal(sent, got);
    }
}

/* The classes have the fields under the names that the tables say. */
static void test_reference_fields(void) {
    g_autoptr(SparkRecords) records = spark_records_new();
    SparkTask *task = spark_add_task(records);
    task->app = "app-1", task->stage = 3, task->stage_attempt = 1, task->task = 17, task->host = "node-1";
    task->metrics[METRIC_GC_MS] = 21;
    task->status = TASK_KILLED;
    SparkOperation *operation = spark_add_operation(records);
    operation->app = "app-1", operation->at_end[JVM_BUFFER_BYTES] = 2.5;

    g_autoptr(GByteArray) frame = g_byte_array_new();
    wire_records_encode(records, PROTOCOL_COMPACT, 1, frame);
    WireHeader header = header_of(frame);

    g_autoptr(GObject) batch = g_object_new(PLUMB_TYPE_RECORD_BATCH, NULL);
    const Bytes body = {(const guint8 *)header.body.data + 1, header.body.size_bytes - 2}; /* without the arguments */
    ThriftProtocol *in = glib_protocol_reader(body, header.protocol);
    g_autoptr(GError) error = NULL;
    thrift_struct_read(THRIFT_STRUCT(batch), in, &error);
    g_assert_no_error(error);
    g_object_unref(in);

    const PlumbSparkTask *read = g_ptr_array_index(PLUMB_RECORD_BATCH(batch)->tasks, 0);
    g_assert_cmpint(read->task, ==, 17);
    g_assert_cmpint(read->stageAttempt, ==, 1);
    g_assert_cmpstr(read->host, ==, "node-1");
    g_assert_cmpint(read->status, ==, TASK_KILLED);
    g_assert_false(read->__isset_executor);
    g_assert_cmpuint(read->metrics->len, ==, TASK_METRIC_COUNT);
    g_assert_cmpint(g_array_index(read->metrics, gint64, METRIC_GC_MS), ==, 21);

    const PlumbSparkOperation *op = g_ptr_array_index(PLUMB_RECORD_BATCH(batch)->operations, 0);
    g_assert_cmpfloat(g_array_index(op->atEnd, double, JVM_BUFFER_BYTES), ==, 2.5);
    g_assert_false(op->__isset_atStart);
}

/* Cut anywhere, or with a byte changed: an error that leaves nothing, or records that can be sent again. */
static void test_damage(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(5);
    g_autoptr(SparkRecords) sent = records_random(rand, 2, 1), got = spark_records_new();

    for (guint p = 0; p < G_N_ELEMENTS(protocols); p++) {
        g_autoptr(GByteArray) frame = g_byte_array_new();
        wire_records_encode(sent, protocols[p], 1, frame);
        const WireHeader header = header_of(frame);

        for (gsize n = 0; n < header.body.size_bytes; n++) {
            WireHeader cut = header;
            g_autofree guint8 *copy = g_memdup2(header.body.data, n); /* for the sanitizer to see reads behind it */
            cut.body = (Bytes){copy, n};
            g_autoptr(GError) error = NULL;
            g_assert_false(decode(&cut, got, &error));
            g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
        }

        for (guint i = 0; i < 3000; i++) {
            WireHeader changed = header;
            WireVersions versions;
            guint32 refused;
            g_autofree guint8 *copy = g_memdup2(header.body.data, header.body.size_bytes);
            copy[g_rand_int_range(rand, 0, (gint32)header.body.size_bytes)] = (guint8)g_rand_int(rand);
            changed.body.data = copy;
            if (!wire_records_decode(&changed, got, &versions, &refused, NULL))
                g_assert_cmpuint(spark_records_count(got), ==, 0);
        }
    }
}

/* A record without its key goes, the others stay. */
static void test_refused(void) {
    g_autoptr(SparkRecords) records = spark_records_new(), got = spark_records_new();
    for (gint64 i = 0; i < 3; i++) {
        SparkTask *task = spark_add_task(records);
        task->app = "app-1", task->stage = 0, task->stage_attempt = 0, task->task = i == 1 ? -1 : i;
    }
    g_autoptr(GByteArray) frame = g_byte_array_new();
    wire_records_encode(records, PROTOCOL_COMPACT, 1, frame);
    const WireHeader header = header_of(frame);
    WireVersions versions;
    guint32 refused = 0;
    g_autoptr(GError) error = NULL;
    wire_records_decode(&header, got, &versions, &refused, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(refused, ==, 1);
    g_assert_cmpuint(got->of[SPARK_TASK]->len, ==, 2);
    g_assert_cmpint(spark_task(got, 1)->task, ==, 2);
}

static void test_limits(void) {
    g_autoptr(SparkRecords) records = spark_records_new(), got = spark_records_new();
    for (guint i = 0; i <= LIMIT_BATCH_RECORDS; i++) {
        SparkJob *job = spark_add_job(records);
        job->app = "a", job->job = i;
    }

    g_autoptr(GByteArray) frame = g_byte_array_new();
    wire_records_encode(records, PROTOCOL_COMPACT, 1, frame);
    WireHeader header = header_of(frame);
    g_autoptr(GError) error = NULL;
    g_assert_false(decode(&header, got, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_LIMIT);
    g_clear_error(&error);

    g_array_set_size(records->of[SPARK_JOB], 2);
    gint64 *stages = spark_list(records, LIMIT_RECORD_ENTRIES / 2 + 1, sizeof *stages);
    for (guint i = 0; i < 2; i++)
        g_array_index(records->of[SPARK_JOB], SparkJob, i).stages =
            (SparkNumbers){stages, LIMIT_RECORD_ENTRIES / 2 + i};

    g_byte_array_set_size(frame, 0);
    wire_records_encode(records, PROTOCOL_COMPACT, 1, frame);
    header = header_of(frame);
    g_assert_false(decode(&header, got, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_LIMIT);
}

/* Fields of a newer sender are passed over; of a batch that needs a newer receiver nothing is taken. */
static void test_newer(void) {
    /* compact: version 4, needs WIRE_VERSION (or one more), field 7 (tasks) of one task with a field 30, metrics of 60
     * numbers */
    static const guint8 needs[] = {WIRE_VERSION, WIRE_VERSION + 1};

    for (guint i = 0; i < G_N_ELEMENTS(needs); i++) {
        g_autoptr(GByteArray) body = g_byte_array_new();
        const guint8 head[] = {0x1c, 0x15, 8,    0x15, 2 * needs[i], 0x59, 0x1c, 0x18, 1, 'a',
                               0x16, 6,    0x15, 0,    0x16,         34,   0xc9, 0xf6, 60};
        const guint8 tail[] = {0x08, 60, 1, 'x', 0, 0, 0};
        g_byte_array_append(body, head, sizeof head);
        for (guint8 n = 0; n < 60; n++) g_byte_array_append(body, &(guint8){(guint8)(2 * n)}, 1);
        g_byte_array_append(body, tail, sizeof tail);
        const WireHeader header = {
            .call = CALL_SUBMIT_RECORDS, .protocol = PROTOCOL_COMPACT, .body = {body->data, body->len}};

        g_autoptr(SparkRecords) got = spark_records_new();
        WireVersions versions;
        guint32 refused;
        g_autoptr(GError) error = NULL;

        wire_records_decode(&header, got, &versions, &refused, &error);
        g_assert_no_error(error);
        g_assert_cmpint(versions.needs, ==, needs[i]);
        g_assert_cmpuint(got->of[SPARK_TASK]->len, ==, needs[i] == WIRE_VERSION ? 1 : 0);
        if (needs[i] > WIRE_VERSION) continue;
        g_assert_cmpint(spark_task(got, 0)->task, ==, 17);
        g_assert_cmpint(spark_task(got, 0)->metrics[TASK_METRIC_COUNT - 1], ==, TASK_METRIC_COUNT - 1);
    }
}

static void repair_classes(void) {
    const GType types[] = {
        PLUMB_TYPE_RECORD_BATCH,    PLUMB_TYPE_SPARK_APP,     PLUMB_TYPE_SPARK_EXECUTOR,    PLUMB_TYPE_SPARK_JOB,
        PLUMB_TYPE_SPARK_STAGE,     PLUMB_TYPE_SPARK_TASK,    PLUMB_TYPE_SPARK_SPLIT,       PLUMB_TYPE_SPARK_LINK,
        PLUMB_TYPE_SPARK_OPERATION, PLUMB_TYPE_HOST_SAMPLE,   PLUMB_TYPE_HOST_DISK,         PLUMB_TYPE_HOST_NET,
        PLUMB_TYPE_SPARK_PAIR,      PLUMB_TYPE_SPARK_RDD,     PLUMB_TYPE_SPARK_PLAN_METRIC, PLUMB_TYPE_SPARK_PLAN_NODE,
        PLUMB_TYPE_SPARK_QUERY,     PLUMB_TYPE_SPARK_PROFILE, PLUMB_TYPE_SPARK_EXCLUSION,   PLUMB_TYPE_HOST_MARK};
    for (gsize i = 0; i < G_N_ELEMENTS(types); i++) glib_repair_class(types[i]);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    repair_classes();
    g_test_add_func("/wire/records/reference", test_reference);
    g_test_add_func("/wire/records/reference-fields", test_reference_fields);
    g_test_add_func("/wire/records/damage", test_damage);
    g_test_add_func("/wire/records/refused", test_refused);
    g_test_add_func("/wire/records/limits", test_limits);
    g_test_add_func("/wire/records/newer", test_newer);
    return g_test_run();
}
