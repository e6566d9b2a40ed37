/* In a secure HDFS a client shakes hands with a DataNode before anything else: that time has a name of its own. */
#include "common/base/clock.h"
#include "tests/query/fixture.h"

#define HANDSHAKE "SaslDataTransferClient#doSaslHandshake"

static const char *const client = "FsShell/c1/7", *const datanode = "DataNode/d1";

static void check_why(Fixture *fixture, guint64 trace, const char *process, const char *resource, gint64 ms) {
    g_autofree char *params = g_strdup_printf("trace=%016" G_GINT64_MODIFIER "x", trace);
    json_auto_t *answer = fixture_answer(fixture, "why", params);
    const json_t *shares = json_object_get(json_object_get(answer, "hdfs"), "shares");
    const json_t *share = row_where(shares, "function", HANDSHAKE);
    g_assert_cmpstr(text_at(share, "process"), ==, process);
    g_assert_cmpstr(text_at(share, "resource"), ==, resource);
    g_assert_cmpint(number_at(share, "time_ns"), ==, ms * NS_PER_MS);
}

static void check_critical(Fixture *fixture, guint64 trace, gint64 ms) {
    g_autofree char *params = g_strdup_printf("id=%016" G_GINT64_MODIFIER "x", trace);
    json_auto_t *answer = fixture_answer(fixture, "trace", params);
    const json_t *span = row_where(json_object_get(answer, "spans"), "function", HANDSHAKE);
    g_assert_cmpint(number_at(span, "critical_ns"), ==, ms * NS_PER_MS);
}

/* The streamer connects for 2 ms and shakes hands for 40 while the shell waits; then the DataNode's disk takes 5. */
static void of_a_writer(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    const SpanRow rows[] = {
        {0x81, 1, 0, "FsShell#run", client, 0, 100000, NULL, 0},
        {0x81, 2, 1, "DFSOutputStream#close", client, 5000, 90000, NULL, 0},
        {0x81, 3, 2, "waitForAckedSeqno", client, 6000, 84000, NULL, 0},
        {0x81, 4, 1, "DataStreamer#nextBlockOutputStream", client, 10000, 50000, NULL, 0},
        {0x81, 5, 4, HANDSHAKE, client, 12000, 40000, NULL, 0},
        {0x81, 6, 4, "OpWriteBlockProto", datanode, 52000, 40000, NULL, 0},
        {0x81, 7, 6, "ReplicaOutputStreams#writeDataToDisk", datanode, 70000, 5000, NULL, 0},
    };
    fixture_store(&fixture, rows, G_N_ELEMENTS(rows));
    check_why(&fixture, 0x81, client, "client", 40);
    check_critical(&fixture, 0x81, 42);
}

/* A reader does so itself, before it asks for the block. */
static void of_a_reader(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    const SpanRow rows[] = {
        {0x82, 1, 0, "DFSInputStream#byteArrayRead", client, 0, 60000, NULL, 0},
        {0x82, 2, 1, "DFSInputStream#blockSeekTo", client, 1000, 45000, NULL, 0},
        {0x82, 3, 2, HANDSHAKE, client, 2000, 30000, NULL, 0},
        {0x82, 4, 2, "BlockReaderRemote#new", client, 33000, 5000, NULL, 0},
        {0x82, 5, 4, "OpReadBlockProto", datanode, 34000, 20000, NULL, 0},
        {0x82, 6, 5, "BlockSender#new", datanode, 35000, 2000, NULL, 0},
    };
    fixture_store(&fixture, rows, G_N_ELEMENTS(rows));
    check_why(&fixture, 0x82, client, "client", 30);
    check_critical(&fixture, 0x82, 30);
}

/* A DataNode does with the next one of the pipeline. */
static void of_a_datanode(void) {
    g_auto(Fixture) fixture;
    fixture_init(&fixture);
    const SpanRow rows[] = {
        {0x83, 1, 0, "FsShell#run", client, 0, 100000, NULL, 0},
        {0x83, 2, 1, "waitForAckedSeqno", client, 5000, 90000, NULL, 0},
        {0x83, 3, 1, "DataStreamer#nextBlockOutputStream", client, 4000, 60000, NULL, 0},
        {0x83, 4, 3, "OpWriteBlockProto", datanode, 5000, 80000, NULL, 0},
        {0x83, 5, 4, HANDSHAKE, datanode, 5000, 25000, NULL, 0},
        {0x83, 6, 4, "OpWriteBlockProto", "DataNode/d2", 30000, 40000, NULL, 0},
    };
    fixture_store(&fixture, rows, G_N_ELEMENTS(rows));
    check_why(&fixture, 0x83, datanode, "server", 25);
    check_critical(&fixture, 0x83, 25);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/handshakes/of_a_writer", of_a_writer);
    g_test_add_func("/handshakes/of_a_reader", of_a_reader);
    g_test_add_func("/handshakes/of_a_datanode", of_a_datanode);
    return g_test_run();
}
