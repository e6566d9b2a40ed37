#include "analyzer/diagnosis/hdfs_calls.h"

#include <string.h>

typedef struct Call {
    const char *name; /* a '*' at its end stands for any rest */
    CallClass class;
} Call;

#define HANDSHAKE "SaslDataTransferClient#doSaslHandshake"

/* docs/tracing.md says what the functions are. In each list the first that fits counts. */
static const Call client_calls[] = {
    /* Reading from memory that is there already; what they wait for are functions of their own below them. */
    {"DFSInputStream#byteArrayRead", CALL_WORK},
    {"DFSInputStream#byteBufferRead", CALL_WORK},
    {"DFSInputStream#readWithStrategy", CALL_WORK},
    {"DFSStripedInputStream#readWithStrategy", CALL_WORK},
    {"StripeReader#decode", CALL_WORK},
    {"DFSInputStream#new", CALL_WORK},
    {"newDFSInputStream", CALL_WORK},
    {"BlockReaderRemote#readFully", CALL_WORK},
    {"BlockReaderRemote#readAll", CALL_WORK},
    {"BlockReaderLocal*", CALL_DISK},
    /* A write only fills packets; where it waits for room it is in DataStreamer#waitAndQueuePacket. */
    {"DFSOutputStream#write", CALL_WORK},
    {"DFSStripedOutputStream#writeParityCells", CALL_WORK},
    {"DataStreamer#waitAndQueuePacket", CALL_WAIT},
    {"dataStreamer", CALL_ASYNC},
    {"DataStreamer#*", CALL_ASYNC},
    {"DFSInputStream#sleep", CALL_SLEEP},
    {"RetryInvocationHandler#sleep", CALL_SLEEP},
    {"RPC#sleep", CALL_SLEEP},
    {"hedgedRead", CALL_ASYNC},
    {"StripeReader#readCells", CALL_ASYNC},
    {"StripeReader#readToBuffer", CALL_ASYNC},
    {"DFSStripedOutputStream#flushInternal", CALL_ASYNC},
    {"DFS*", CALL_WAIT},
    {"DistributedFileSystem#*", CALL_WAIT},
    {"completeFile", CALL_SLEEP}, /* for 400 ms and more, until the NameNode has heard of the last block */
    {"BlockReaderRemote#new", CALL_ASK},
    {"BlockReader*", CALL_WAIT},
    {"ClientNamenodeProtocol#*", CALL_RPC},
    {"ClientProtocol#*", CALL_RPC},
    {"StripeReader#*", CALL_WAIT},
    {"WebHdfs*", CALL_WAIT},
    {HANDSHAKE, CALL_HANDSHAKE},
};

static const Call server_calls[] = {
    {"RPC#queue", CALL_QUEUE},
    {"FSNamesystemLock#readLock", CALL_LOCK},
    {"FSNamesystemLock#writeLock", CALL_LOCK},
    {"FSEditLog*", CALL_DISK},
    /* On the NameNode's own disk, or a JournalNode's; and what the NameNode waits for a JournalNode of which nothing is
     * seen. */
    {"EditLogFileOutputStream#*", CALL_DISK},
    {"QuorumOutputStream#*", CALL_DISK},
    {"IPCLoggerChannel#*", CALL_DISK},
    {"QJournalProtocolService#*", CALL_DISK},
    {"BlockSender#new", CALL_DISK}, /* opens the replica and its checksums */
    {"BlockSender#read*", CALL_DISK},
    {"BlockSender#writeToSocket", CALL_SEND},
    {"FileIoProvider#transferToSocketFully", CALL_TRANSFER},
    {"FileIoProvider#*", CALL_DISK},
    {"ReplicaOutputStreams#writeDataToDisk", CALL_DISK},
    {"BlockReceiver#new", CALL_DISK}, /* makes the replica's files */
    {"BlockReceiver#flushOrSync", CALL_DISK},
    {"PacketResponder#finalizeBlock", CALL_DISK}, /* renames them */
    {"PacketReceiver#mirrorPacketTo", CALL_MIRROR},
    {"PacketReceiver#receiveNextPacket", CALL_WAIT},
    {"BlockReceiver#receiveBlock", CALL_WAIT}, /* by itself: for its responder */
    {"PacketResponder#run", CALL_WAIT},        /* by itself: for packets */
    {"PipelineAck#readFields", CALL_WAIT},
    {HANDSHAKE, CALL_HANDSHAKE},
};

static gboolean fits(const char *pattern, const char *name) {
    gsize length = strlen(pattern);
    return pattern[length - 1] == '*' ? strncmp(pattern, name, length - 1) == 0 : strcmp(pattern, name) == 0;
}

static const Call *find(const Call *calls, gsize n, const char *name) {
    for (gsize i = 0; i < n; i++) {
        if (fits(calls[i].name, name)) return &calls[i];
    }
    return NULL;
}

CallClass hdfs_call_class(const char *name, Role role) {
    if (strcmp(name, SPARK_TASK_FUNCTION) == 0 || g_str_has_prefix(name, SPARK_OPERATION_PREFIX))
        return CALL_APPLICATION;
    if (role == ROLE_NAMENODE || role == ROLE_DATANODE || role == ROLE_JOURNALNODE) {
        const Call *call = find(server_calls, G_N_ELEMENTS(server_calls), name);
        return call ? call->class : CALL_WORK;
    }
    const Call *call = find(client_calls, G_N_ELEMENTS(client_calls), name);
    if (call) return call->class;
    /* DFSClient's own, "getFileInfo", "hsync": HDFS alone names functions without their class. */
    return g_ascii_islower(name[0]) && !strpbrk(name, "#:./ ") ? CALL_WAIT : CALL_APPLICATION;
}

guint16 hdfs_call_does(const char *name) {
    static const struct {
        const char *name;
        guint16 does;
    } known[] = {
        {"ClientNamenodeProtocol#getBlockLocations", DOES_OPEN},
        {"ClientNamenodeProtocol#create", DOES_CREATE},
        {"DFSInputStream#byteArrayRead", DOES_READ},
        {"DFSInputStream#byteBufferRead", DOES_READ},
        {"DFSInputStream#byteArrayPread", DOES_READ},
        {"DFSInputStream#byteBufferPread", DOES_READ},
        {"DFSInputStream#zeroCopyRead", DOES_READ},
        {"BlockReaderRemote2#readNextPacket", DOES_FETCH},
        {"BlockReaderRemote#readChunk", DOES_FETCH}, /* of Hadoop 2 */
        {"WebHdfsFileSystem#read", DOES_READ | DOES_FETCH},
        /* Their other functions only call these. */
        {"BlockReaderLocal#fillBuffer", DOES_FETCH_LOCAL},
        {"BlockReaderLocal#readWithoutBounceBuffer", DOES_FETCH_LOCAL},
        {"BlockReaderLocalLegacy#fillBuffer", DOES_FETCH_LOCAL},
        {"DataStreamer#waitAndQueuePacket", DOES_SEND},
        {"waitForAckedSeqno", DOES_SEND},
        {"hflush", DOES_SEND},
        {"hsync", DOES_SEND},
        {"DFSOutputStream#close", DOES_SEND},
        {"OpWriteBlockProto", DOES_TAKE},
        {"OpReadBlockProto", DOES_GIVE},
        {"IPCLoggerChannel#sendEdits", DOES_VOTE},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(known); i++)
        if (strcmp(known[i].name, name) == 0) return known[i].does;
    return 0;
}
