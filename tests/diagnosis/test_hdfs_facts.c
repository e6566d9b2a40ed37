/* Time in HDFS, on traces made by hand: what each moment is blamed on. Times are in ns. */
#include <string.h>

#include "analyzer/diagnosis/hdfs_facts.h"

typedef struct Call {
    guint id, parent; /* 0: none */
    const char *name;
    Role role;
    guint process; /* dictionary id of the tracer; the host too */
    gint64 from, to;
    guint64 block;
    gint64 socket_ns, transfer_ns, bytes;
    gboolean failed;
    gint64 critical_ns;
} Call;

#define CLIENT ROLE_CLIENT
#define DN     ROLE_DATANODE
#define NN     ROLE_NAMENODE

#define HANDSHAKE "SaslDataTransferClient#doSaslHandshake"

/* Names get numbers as they come. */
static GPtrArray *names;
static guint32 name_number(const char *name) {
    guint at;
    if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, &at)) {
        g_ptr_array_add(names, (gpointer)name);
        at = names->len - 1;
    }
    return at + 1;
}

static void compute(const Call *calls, guint n, HdfsFacts *facts) {
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GPtrArray) spans = g_ptr_array_new();
    g_autofree gsize *at = g_new(gsize, n);

    for (guint i = 0; i < n; i++) {
        SpanRec head = {.id = {7, calls[i].id},
                        .begin_ns = calls[i].from,
                        .duration_ns = calls[i].to - calls[i].from,
                        .name = name_number(calls[i].name),
                        .tracer = calls[i].process};
        at[i] = bytes->len;
        SpanBuilder builder = span_builder_begin(bytes, &head);
        if (calls[i].parent) span_builder_parent(&builder, (SpanId){7, calls[i].parent});
        span_builder_end(&builder);
    }
    for (guint i = 0; i < n; i++) g_ptr_array_add(spans, bytes->data + at[i]);

    g_autoptr(CallTree) tree = tree_build((const SpanRec *const *)spans->pdata, n, 0, NULL);
    g_autofree FactsNode *nodes = g_new0(FactsNode, tree->n_nodes);
    g_autofree gint64 *critical_ns = g_new0(gint64, tree->n_nodes);
    for (guint32 node = 1; node < tree->n_nodes; node++) {
        for (guint i = 0; tree->span[node] && i < n; i++) {
            const Call *call = &calls[i];
            if (call->id != tree->span[node]->id.span) continue;
            critical_ns[node] = call->critical_ns;
            nodes[node] = (FactsNode){.class = hdfs_call_class(call->name, call->role),
                                      .does = hdfs_call_does(call->name),
                                      .role = call->role,
                                      .host = call->process,
                                      .block = call->block,
                                      .socket_ns = call->socket_ns,
                                      .transfer_ns = call->transfer_ns,
                                      .bytes = call->bytes,
                                      .failed = call->failed};
        }
    }

    hdfs_facts_init(facts);
    hdfs_facts_add(facts, tree, nodes, critical_ns, 0);
    hdfs_facts_finish(facts);
}

typedef struct Expected {
    const char *name;
    guint process;
    HdfsResource resource;
    gint64 ns;
} Expected;

static void check(const HdfsFacts *facts, const Expected *expected, guint n) {
    gint64 sum = 0;
    for (guint i = 0; i < n; i++) {
        gint64 found = 0;
        for (guint k = 0; k < facts->shares->len; k++) {
            const HdfsShare *share = &g_array_index(facts->shares, HdfsShare, k);
            if (share->name == name_number(expected[i].name) && share->tracer == expected[i].process &&
                share->resource == expected[i].resource) {
                found += share->ns;
            }
        }
        if (found != expected[i].ns) g_test_message("%s: %" G_GINT64_FORMAT " ns", expected[i].name, found);
        g_assert_cmpint(found, ==, expected[i].ns);
        sum += found;
    }
    g_assert_cmpint(facts->hdfs_ns, ==, sum);
    g_assert_cmpuint(facts->shares->len, ==, n);
}
#define CHECK(facts, ...)     check(facts, (Expected[]){__VA_ARGS__}, G_N_ELEMENTS(((Expected[]){__VA_ARGS__})))
#define COMPUTE(calls, facts) compute(calls, G_N_ELEMENTS(calls), facts)

/* The DataNode's spans lie below the call that opened the block; it is the packets that the client waits for. */
static const Call read_calls[] = {
    {.id = 1, .name = "SparkTask", .role = CLIENT, .process = 1, .from = 1000, .to = 2000},
    {.id = 2, .parent = 1, .name = "RDD:HadoopRDD", .role = CLIENT, .process = 1, .from = 1000, .to = 1900},
    {.id = 3,
     .parent = 2,
     .name = "DFSInputStream#byteArrayRead",
     .role = CLIENT,
     .process = 1,
     .from = 1100,
     .to = 1700},
    {.id = 4,
     .parent = 3,
     .name = "DFSInputStream#blockSeekTo",
     .role = CLIENT,
     .process = 1,
     .from = 1100,
     .to = 1200},
    {.id = 5, .parent = 4, .name = "OpReadBlockProto", .role = DN, .process = 9, .from = 1150, .to = 1680},
    {.id = 6, .parent = 5, .name = "BlockSender#new", .role = DN, .process = 9, .from = 1160, .to = 1200, .block = 77},
    {.id = 7, .parent = 5, .name = "BlockSender#sendPacket", .role = DN, .process = 9, .from = 1200, .to = 1660},
    {.id = 8, .parent = 7, .name = "BlockSender#readLocal", .role = DN, .process = 9, .from = 1210, .to = 1610},
    {.id = 9, .parent = 7, .name = "BlockSender#writeToSocket", .role = DN, .process = 9, .from = 1610, .to = 1660},
    {.id = 10,
     .parent = 3,
     .name = "BlockReaderRemote2#readNextPacket",
     .role = CLIENT,
     .process = 1,
     .from = 1220,
     .to = 1695,
     .block = 77,
     .bytes = 65536},
};

/* The reader has asked the DataNode, and that begins late. */
static void read_asked(void) {
    static const Call calls[] = {
        {.id = 1, .name = "DFSInputStream#blockSeekTo", .role = CLIENT, .process = 1, .from = 0, .to = 1000},
        {.id = 2, .parent = 1, .name = "BlockReaderRemote#new", .role = CLIENT, .process = 1, .from = 100, .to = 950},
        {.id = 3, .parent = 2, .name = "OpReadBlockProto", .role = DN, .process = 9, .from = 900, .to = 1200},
    };
    HdfsFacts facts;
    COMPUTE(calls, &facts);
    CHECK(&facts, {"DFSInputStream#blockSeekTo", 9, HDFS_NETWORK, 100}, /* nobody is asked yet */
          {"OpReadBlockProto", 9, HDFS_SERVER, 800 + 100});             /* until 1000 */
    hdfs_facts_clear(&facts);
}

static void read_slow_disk(void) {
    HdfsFacts facts;
    COMPUTE(read_calls, &facts);

    CHECK(&facts, {"DFSInputStream#blockSeekTo", 9, HDFS_NETWORK, 50}, /* 1100: nobody is there yet */
          {"OpReadBlockProto", 9, HDFS_SERVER, 10},                    /* 1150 */
          {"BlockSender#new", 9, HDFS_DISK, 40},                       /* 1160 */
          {"DFSInputStream#byteArrayRead", 1, HDFS_CLIENT, 20 + 5},    /* 1200, 1695: whatever the DataNode does */
          {"BlockSender#readLocal", 9, HDFS_DISK, 390},                /* 1220 */
          {"BlockSender#writeToSocket", 9, HDFS_SOCKET, 50},           /* 1610 */
          {"BlockReaderRemote2#readNextPacket", 9, HDFS_NETWORK, 35}); /* 1660: it is on its way */

    g_assert_cmpint(facts.hdfs_ns, ==, 600);
    g_assert_cmpint(facts.of[HDFS_DISK], ==, 430);
    g_assert_cmpint(facts.datanode_ns, ==, 575);
    g_assert_cmpint(facts.namenode_ns, ==, 0);
    g_assert_cmpuint(facts.slowest, ==, 9);
    g_assert_cmpint(facts.slowest_ns, ==, 575);
    g_assert_cmpint(facts.bytes, ==, 65536);
    g_assert_cmpint(facts.remote_bytes, ==, 65536);
    g_assert_cmpuint(facts.top_calls, ==, 1);
    g_assert_cmpuint(facts.failures, ==, 0);

    const HdfsShare *first = &g_array_index(facts.shares, HdfsShare, 0);
    g_assert_cmpint(first->ns, ==, 390);
    g_assert_cmpuint(first->calls, ==, 1);
    hdfs_facts_clear(&facts);
}

/* From disk to socket in one call: shared out as the call says. */
static void transfer(void) {
    static const Call calls[] = {
        {.id = 1, .name = "DFSInputStream#byteArrayPread", .role = CLIENT, .process = 1, .from = 100, .to = 500},
        {.id = 2, .parent = 1, .name = "OpReadBlockProto", .role = DN, .process = 9, .from = 100, .to = 500},
        {.id = 3,
         .parent = 2,
         .name = "FileIoProvider#transferToSocketFully",
         .role = DN,
         .process = 9,
         .from = 100,
         .to = 500,
         .socket_ns = 90,
         .transfer_ns = 270},
    };
    HdfsFacts facts;
    COMPUTE(calls, &facts);
    CHECK(&facts, {"FileIoProvider#transferToSocketFully", 9, HDFS_SOCKET, 100},
          {"FileIoProvider#transferToSocketFully", 9, HDFS_DISK, 300});
    hdfs_facts_clear(&facts);
}

/* A pipeline of two: the second DataNode's disk is what everybody waits for; the first passing a packet on is the
 * second's socket. */
static const Call pipeline_calls[] = {
    {.id = 1, .name = "SparkTask", .role = CLIENT, .process = 1, .from = 0, .to = 1000},
    {.id = 2, .parent = 1, .name = "DFSOutputStream#write", .role = CLIENT, .process = 1, .from = 100, .to = 110},
    {.id = 3, .parent = 2, .name = "dataStreamer", .role = CLIENT, .process = 1, .from = 110, .to = 900},
    {.id = 4,
     .parent = 3,
     .name = "DataStreamer#nextBlockOutputStream",
     .role = CLIENT,
     .process = 1,
     .from = 110,
     .to = 200},
    {.id = 5, .parent = 4, .name = "OpWriteBlockProto", .role = DN, .process = 8, .from = 150, .to = 890},
    {.id = 6, .parent = 5, .name = "OpWriteBlockProto", .role = DN, .process = 9, .from = 170, .to = 880},
    {.id = 7, .parent = 6, .name = "BlockReceiver#receiveBlock", .role = DN, .process = 9, .from = 180, .to = 880},
    {.id = 8,
     .parent = 7,
     .name = "ReplicaOutputStreams#writeDataToDisk",
     .role = DN,
     .process = 9,
     .from = 400,
     .to = 700},
    {.id = 9, .parent = 5, .name = "BlockReceiver#receiveBlock", .role = DN, .process = 8, .from = 190, .to = 890},
    {.id = 10, .parent = 9, .name = "PacketReceiver#mirrorPacketTo", .role = DN, .process = 8, .from = 300, .to = 500},
    {.id = 11, .parent = 1, .name = "DFSOutputStream#close", .role = CLIENT, .process = 1, .from = 250, .to = 950},
    {.id = 12, .parent = 11, .name = "waitForAckedSeqno", .role = CLIENT, .process = 1, .from = 250, .to = 900},
    {.id = 13,
     .parent = 11,
     .name = "ClientNamenodeProtocol#complete",
     .role = CLIENT,
     .process = 1,
     .from = 900,
     .to = 950},
    {.id = 14, .parent = 13, .name = "ClientProtocol#complete", .role = NN, .process = 5, .from = 905, .to = 945},
    {.id = 15, .parent = 14, .name = "FSNamesystemLock#writeLock", .role = NN, .process = 5, .from = 910, .to = 940},
};

static void write_pipeline(void) {
    HdfsFacts facts;
    COMPUTE(pipeline_calls, &facts);

    CHECK(&facts, {"DFSOutputStream#write", 1, HDFS_CLIENT, 10},
          /* 250-300, 700-900: acknowledgements on their way, from a pipeline whose calls only wait themselves */
          {"waitForAckedSeqno", 8, HDFS_NETWORK, 50 + 200},
          {"PacketReceiver#mirrorPacketTo", 9, HDFS_SOCKET, 100},      /* 300: on to the second */
          {"ReplicaOutputStreams#writeDataToDisk", 9, HDFS_DISK, 300}, /* 400 */
          {"ClientNamenodeProtocol#complete", 5, HDFS_NETWORK, 10},    /* 900, 945 */
          {"ClientProtocol#complete", 5, HDFS_SERVER, 10},             /* 905, 940 */
          {"FSNamesystemLock#writeLock", 5, HDFS_LOCK, 30});           /* 910 */

    g_assert_cmpuint(facts.slowest, ==, 9);
    g_assert_cmpint(facts.slowest_ns, ==, 400);
    g_assert_cmpint(facts.namenode_ns, ==, 50);
    hdfs_facts_clear(&facts);
}

/* The same, when the critical path is known: the first DataNode's network was slow, though it was the second that wrote
 * to its disk when it sent. What nobody works at is nobody's. */
static void write_pipeline_path(void) {
    Call calls[G_N_ELEMENTS(pipeline_calls)];
    memcpy(calls, pipeline_calls, sizeof calls);
    for (guint i = 0; i < G_N_ELEMENTS(calls); i++) {
        if (strcmp(calls[i].name, "PacketReceiver#mirrorPacketTo") == 0) calls[i].critical_ns = 150;
        if (strcmp(calls[i].name, "ReplicaOutputStreams#writeDataToDisk") == 0) calls[i].critical_ns = 100;
    }

    HdfsFacts facts;
    COMPUTE(calls, &facts);
    CHECK(&facts, {"DFSOutputStream#write", 1, HDFS_CLIENT, 10}, {"PacketReceiver#mirrorPacketTo", 8, HDFS_SOCKET, 150},
          {"ReplicaOutputStreams#writeDataToDisk", 9, HDFS_DISK, 100}, {"waitForAckedSeqno", 0, HDFS_NETWORK, 400},
          {"ClientNamenodeProtocol#complete", 5, HDFS_NETWORK, 10}, {"ClientProtocol#complete", 5, HDFS_SERVER, 10},
          {"FSNamesystemLock#writeLock", 5, HDFS_LOCK, 30});
    g_assert_cmpint(facts.datanode_ns, ==, 250);
    hdfs_facts_clear(&facts);
}

/* What runs in threads of its own counts only while the task's own thread is in HDFS. */
static void beside(void) {
    static const Call calls[] = {
        {.id = 1, .name = "SparkTask", .role = CLIENT, .process = 1, .from = 0, .to = 1000},
        {.id = 2, .parent = 1, .name = "dataStreamer", .role = CLIENT, .process = 1, .from = 100, .to = 900},
        {.id = 3,
         .parent = 2,
         .name = "ClientNamenodeProtocol#addBlock",
         .role = CLIENT,
         .process = 1,
         .from = 100,
         .to = 300},
        {.id = 4, .parent = 3, .name = "ClientProtocol#addBlock", .role = NN, .process = 5, .from = 100, .to = 300},
        {.id = 5, .parent = 1, .name = "waitForAckedSeqno", .role = CLIENT, .process = 1, .from = 200, .to = 400},
    };
    HdfsFacts facts;
    COMPUTE(calls, &facts);
    CHECK(&facts, {"ClientProtocol#addBlock", 5, HDFS_SERVER, 100}, {"waitForAckedSeqno", 0, HDFS_NETWORK, 100});
    g_assert_cmpuint(facts.top_calls, ==, 1);
    hdfs_facts_clear(&facts);
}

/* A handshake in a thread of its own is the client's, while nobody else works; and so is one in the task's. */
static void handshakes(void) {
    static const Call calls[] = {
        {.id = 1, .name = "DFSInputStream#byteArrayPread", .role = CLIENT, .process = 1, .from = 0, .to = 1000},
        {.id = 2, .parent = 1, .name = "StripeReader#readCells", .role = CLIENT, .process = 1, .from = 50, .to = 800},
        {.id = 3, .parent = 2, .name = HANDSHAKE, .role = CLIENT, .process = 1, .from = 100, .to = 400},
        {.id = 4, .parent = 2, .name = "OpReadBlockProto", .role = DN, .process = 9, .from = 300, .to = 500},
        {.id = 5, .parent = 1, .name = HANDSHAKE, .role = CLIENT, .process = 1, .from = 700, .to = 900},
    };
    HdfsFacts facts;
    COMPUTE(calls, &facts);
    CHECK(&facts, {HANDSHAKE, 1, HDFS_CLIENT, 200 + 200}, {"OpReadBlockProto", 9, HDFS_SERVER, 200},
          {"DFSInputStream#byteArrayPread", 0, HDFS_NETWORK, 100},
          {"DFSInputStream#byteArrayPread", 9, HDFS_NETWORK, 300});
    hdfs_facts_clear(&facts);
}

/* Each failure once, where it happened; retries are calls of their own. */
static void failures(void) {
    static const Call calls[] = {
        {.id = 1, .name = "SparkTask", .role = CLIENT, .process = 1, .from = 0, .to = 1000, .failed = TRUE},
        {.id = 2,
         .parent = 1,
         .name = "DFSInputStream#byteArrayRead",
         .role = CLIENT,
         .process = 1,
         .from = 100,
         .to = 200},
        {.id = 3,
         .parent = 2,
         .name = "DFSInputStream#blockSeekTo",
         .role = CLIENT,
         .process = 1,
         .from = 100,
         .to = 200,
         .failed = TRUE},
        {.id = 4,
         .parent = 3,
         .name = "BlockReaderRemote#new",
         .role = CLIENT,
         .process = 1,
         .from = 110,
         .to = 150,
         .failed = TRUE},
        {.id = 5,
         .parent = 3,
         .name = "BlockReaderRemote#new",
         .role = CLIENT,
         .process = 1,
         .from = 160,
         .to = 190,
         .failed = TRUE},
    };

    HdfsFacts facts;
    COMPUTE(calls, &facts);

    g_assert_cmpuint(facts.failures, ==, 2);
    g_assert_cmpint(facts.hdfs_ns, ==, 100);
    hdfs_facts_clear(&facts);
}

/* Any tree at all: the shares add up to the time of the top calls' union, and nothing is lost on the way. */
static void any_tree(void) {
    static const char *const some[] = {"SparkTask",
                                       "RDD:HadoopRDD",
                                       "DFSInputStream#byteArrayRead",
                                       "BlockReaderRemote2#readNextPacket",
                                       "waitForAckedSeqno",
                                       "dataStreamer",
                                       HANDSHAKE,
                                       "OpReadBlockProto",
                                       "OpWriteBlockProto",
                                       "BlockSender#readLocal",
                                       "FileIoProvider#transferToSocketFully",
                                       "PacketReceiver#mirrorPacketTo",
                                       "PipelineAck#readFields"};

    for (guint round = 0; round < 3000; round++) {
        g_autoptr(GRand) random = g_rand_new_with_seed(round);
        Call calls[24];
        const guint n = 1 + (guint)g_rand_int_range(random, 0, G_N_ELEMENTS(calls) - 1);
        guint8 tops[64] = {0};
        gboolean outside[G_N_ELEMENTS(calls) + 1];
        outside[0] = TRUE;

        for (guint i = 0; i < n; i++) {
            guint pick = (guint)g_rand_int_range(random, 0, G_N_ELEMENTS(some));
            gint64 from = g_rand_int_range(random, 0, 60);
            Role role = pick < 7 ? CLIENT : DN;
            calls[i] = (Call){.id = i + 1,
                              .parent = (guint)g_rand_int_range(random, 0, (gint)i + 1),
                              .name = some[pick],
                              .role = role,
                              .process = (guint)g_rand_int_range(random, 1, 5),
                              .from = from,
                              .to = g_rand_int_range(random, (gint)from, 64),
                              .block = (guint64)g_rand_int_range(random, 0, 3),
                              .socket_ns = g_rand_int_range(random, 0, 3),
                              .critical_ns = g_rand_int_range(random, 0, 20)};
            CallClass class = hdfs_call_class(calls[i].name, role);
            outside[i + 1] = class == CALL_APPLICATION && outside[calls[i].parent];
            gboolean top =
                outside[calls[i].parent] && role == CLIENT && class != CALL_APPLICATION && class != CALL_ASYNC;
            for (gint64 t = from; top && t < calls[i].to; t++) tops[t] = 1;
        }

        gint64 expected = 0, shares = 0, resources = 0;
        for (guint t = 0; t < sizeof(tops); t++) expected += tops[t];
        HdfsFacts facts;
        compute(calls, n, &facts);
        for (guint i = 0; i < facts.shares->len; i++) shares += g_array_index(facts.shares, HdfsShare, i).ns;
        for (guint i = 0; i < HDFS_RESOURCE_COUNT; i++) resources += facts.of[i];

        if (facts.hdfs_ns != expected) g_test_message("round %u", round);
        g_assert_cmpint(facts.hdfs_ns, ==, expected);
        g_assert_cmpint(shares, ==, expected);
        g_assert_cmpint(resources, ==, expected);
        hdfs_facts_clear(&facts);
    }
}

static const Call fetching_calls[] = {
    {.id = 1, .name = "SparkTask", .role = CLIENT, .process = 1, .from = 0, .to = 2000},
    {.id = 2, .parent = 1, .name = "newDFSInputStream", .role = CLIENT, .process = 1, .from = 0, .to = 100},
    {.id = 3,
     .parent = 2,
     .name = "ClientNamenodeProtocol#getBlockLocations",
     .role = CLIENT,
     .process = 1,
     .from = 0,
     .to = 100},
    {.id = 4, .parent = 3, .name = "ClientProtocol#getBlockLocations", .role = NN, .process = 5, .from = 20, .to = 90},
    {.id = 5,
     .parent = 1,
     .name = "ClientNamenodeProtocol#create",
     .role = CLIENT,
     .process = 1,
     .from = 100,
     .to = 300},
    {.id = 6, .parent = 5, .name = "ClientProtocol#create", .role = NN, .process = 5, .from = 120, .to = 290},
    {.id = 10,
     .parent = 1,
     .name = "DFSInputStream#byteArrayRead",
     .role = CLIENT,
     .process = 1,
     .from = 300,
     .to = 500},
    {.id = 11, .parent = 10, .name = "BlockReaderLocal#readAll", .role = CLIENT, .process = 1, .from = 300, .to = 400},
    {.id = 12,
     .parent = 11,
     .name = "BlockReaderLocal#fillBuffer",
     .role = CLIENT,
     .process = 1,
     .from = 300,
     .to = 400,
     .block = 78,
     .bytes = 1000},
    {.id = 13,
     .parent = 10,
     .name = "BlockReaderLocal#readWithoutBounceBuffer",
     .role = CLIENT,
     .process = 1,
     .from = 400,
     .to = 500,
     .block = 78,
     .bytes = 500},
    {.id = 20,
     .parent = 1,
     .name = "DFSInputStream#byteArrayPread",
     .role = CLIENT,
     .process = 1,
     .from = 500,
     .to = 700},
    {.id = 21, .parent = 20, .name = "BlockReaderRemote#new", .role = CLIENT, .process = 1, .from = 500, .to = 600},
    {.id = 22, .parent = 21, .name = "OpReadBlockProto", .role = DN, .process = 1, .from = 510, .to = 690, .block = 77},
    {.id = 23,
     .parent = 20,
     .name = "BlockReaderRemote#readChunk",
     .role = CLIENT,
     .process = 1,
     .from = 600,
     .to = 700,
     .block = 77,
     .bytes = 300},
    {.id = 30,
     .parent = 1,
     .name = "WebHdfsFileSystem#read",
     .role = CLIENT,
     .process = 1,
     .from = 700,
     .to = 900,
     .bytes = 40},
};

/* What was fetched, from where; and the NameNode's time, of which opening files is a part. */
static void fetched(void) {
    HdfsFacts facts;
    COMPUTE(fetching_calls, &facts);
    g_assert_cmpint(facts.namenode_ns, ==, 300);
    g_assert_cmpint(facts.opening_ns, ==, 100);
    g_assert_cmpuint(facts.files, ==, 2);
    g_assert_cmpuint(facts.opens, ==, 1);
    g_assert_cmpuint(facts.top_calls, ==, 5);
    g_assert_cmpuint(facts.reads, ==, 3);
    g_assert_cmpint(facts.local_bytes, ==, 1500);
    g_assert_cmpint(facts.bytes, ==, 340);
    g_assert_cmpint(facts.own_bytes, ==, 300); /* of the DataNode in the same place; webhdfs has no other way */
    g_assert_cmpint(facts.remote_bytes, ==, 0);
    hdfs_facts_clear(&facts);
}

static const Call closing_calls[] = {
    {.id = 1, .name = "Loader#load", .role = CLIENT, .process = 1, .to = 1000},
    {.id = 2, .parent = 1, .name = "completeFile", .role = CLIENT, .process = 1, .to = 900},
    {.id = 3,
     .parent = 2,
     .name = "ClientNamenodeProtocol#complete",
     .role = CLIENT,
     .process = 1,
     .from = 0,
     .to = 100},
    {.id = 4,
     .parent = 2,
     .name = "ClientNamenodeProtocol#complete",
     .role = CLIENT,
     .process = 1,
     .from = 800,
     .to = 900},
};

/* Between two questions a client that closes a file sleeps: no network, and no DataNode, has that time. */
static void sleeping(void) {
    HdfsFacts facts;
    COMPUTE(closing_calls, &facts);
    g_assert_cmpint(facts.of[HDFS_CLIENT], ==, 700);
    g_assert_cmpint(facts.sleep_ns, ==, 700);
    g_assert_cmpint(facts.of[HDFS_NETWORK], ==, 200);
    hdfs_facts_clear(&facts);
}

static void classes(void) {
    g_assert_cmpint(hdfs_call_class("SparkTask", CLIENT), ==, CALL_APPLICATION);
    g_assert_cmpint(hdfs_call_class("RDD:FileScanRDD", CLIENT), ==, CALL_APPLICATION);
    g_assert_cmpint(hdfs_call_class("Loader#load", CLIENT), ==, CALL_APPLICATION);
    g_assert_cmpint(hdfs_call_class("getFileInfo", CLIENT), ==, CALL_WAIT);
    g_assert_cmpint(hdfs_call_class("completeFile", CLIENT), ==, CALL_SLEEP);
    g_assert_cmpint(hdfs_call_class("RetryInvocationHandler#sleep", CLIENT), ==, CALL_SLEEP);
    g_assert_cmpint(hdfs_call_class("RPC#sleep", CLIENT), ==, CALL_SLEEP);
    g_assert_cmpint(hdfs_call_class("DFSInputStream#sleep", CLIENT), ==, CALL_SLEEP);
    g_assert_cmpint(hdfs_call_class("DataStreamer#sleep", CLIENT), ==, CALL_ASYNC);
    g_assert_cmpint(hdfs_call_class("newDFSInputStream", CLIENT), ==, CALL_WORK);
    g_assert_cmpint(hdfs_call_class("ClientNamenodeProtocol#create", CLIENT), ==, CALL_RPC);
    g_assert_cmpint(hdfs_call_class("BlockReaderLocal#fillBuffer", CLIENT), ==, CALL_DISK);
    g_assert_cmpint(hdfs_call_class("BlockReaderRemote2#readNextPacket", CLIENT), ==, CALL_WAIT);
    g_assert_cmpint(hdfs_call_class("FSEditLog#logSync", NN), ==, CALL_DISK);
    g_assert_cmpint(hdfs_call_class("QJournalProtocolService#journal", NN), ==, CALL_DISK);
    g_assert_cmpint(hdfs_call_class("RPC#queue", NN), ==, CALL_QUEUE);
    g_assert_cmpint(hdfs_call_class("FileIoProvider#sync", DN), ==, CALL_DISK);
    g_assert_cmpint(hdfs_call_class("FileIoProvider#transferToSocketFully", DN), ==, CALL_TRANSFER);
    g_assert_cmpint(hdfs_call_class("anything", DN), ==, CALL_WORK);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    names = g_ptr_array_new();
    g_test_add_func("/hdfs_facts/sleeping", sleeping);
    g_test_add_func("/hdfs_facts/classes", classes);
    g_test_add_func("/hdfs_facts/read_slow_disk", read_slow_disk);
    g_test_add_func("/hdfs_facts/read_asked", read_asked);
    g_test_add_func("/hdfs_facts/transfer", transfer);
    g_test_add_func("/hdfs_facts/write_pipeline", write_pipeline);
    g_test_add_func("/hdfs_facts/write_pipeline_path", write_pipeline_path);
    g_test_add_func("/hdfs_facts/beside", beside);
    g_test_add_func("/hdfs_facts/handshakes", handshakes);
    g_test_add_func("/hdfs_facts/failures", failures);
    g_test_add_func("/hdfs_facts/fetched", fetched);
    g_test_add_func("/hdfs_facts/any_tree", any_tree);
    int result = g_test_run();
    g_ptr_array_unref(names);
    return result;
}
