#include "analyzer/diagnosis/nodes/work_class.h"

#include <string.h>

#include "analyzer/diagnosis/hdfs_calls.h"

typedef struct Rule {
    const char *name; /* a '*' at its end stands for any rest */
    WorkClass class;
} Rule;

/* In each list the first that fits counts; what is not listed has the class that its kind of call says. */
static const Rule server_rules[] = {
    {"BlockSender#readLocal", WORK_DISK_READ},
    {"BlockSender#readChecksum", WORK_DISK_READ},
    {"BlockSender#new", WORK_DISK_READ},
    {"FileIoProvider#transferToSocketFully", WORK_TRANSFER},
    {"ReplicaOutputStreams#writeDataToDisk", WORK_DISK_WRITE},
    {"BlockReceiver#flushOrSync", WORK_DISK_WRITE},
    {"BlockReceiver#new", WORK_DISK_WRITE},
    {"FileIoProvider#*", WORK_DISK_WRITE},
    {"PacketResponder#finalizeBlock", WORK_DISK_WRITE},
    {"FSEditLog*", WORK_EDIT_LOG},
    {"EditLogFileOutputStream#*", WORK_EDIT_LOG},
    {"QuorumOutputStream#*", WORK_EDIT_LOG},
    {"IPCLoggerChannel#*", WORK_EDIT_LOG},
    {"QJournalProtocolService#*", WORK_EDIT_LOG},
    {"FSNamesystemLock#readLock", WORK_LOCK},
    {"FSNamesystemLock#writeLock", WORK_LOCK},
    {"RPC#queue", WORK_QUEUE},
    {"PacketReceiver#receiveNextPacket", WORK_NETWORK},
    {"PacketReceiver#mirrorPacketTo", WORK_NETWORK},
    {"BlockSender#writeToSocket", WORK_SENDING},
    /* They wait: for calls of the NameNode, for other DataNodes, for the next order of a client. */
    {"BPServiceActor#*", WORK_NONE},
    {"BPOfferService#*", WORK_NONE},
    {"IncrementalBlockReportManager#*", WORK_NONE},
    {"DatanodeProtocol#*", WORK_NONE},
    {"OpWriteBlockProto", WORK_STANDSTILL}, /* its critical time: docs/call-trees.md, "Through waits" */
    {"OpReadBlockProto", WORK_STANDSTILL},
    {"Op*Proto", WORK_NONE},
    {"DataTransfer#run", WORK_NONE},
    {"BlockRecoveryWorker#*", WORK_NONE},
    {"Striped*", WORK_NONE},
    {"FSNamesystemLock#*", WORK_NONE}, /* held, not waited for: what is done meanwhile is counted itself */
};

static const Rule client_rules[] = {
    {"BlockReaderLocal*", WORK_DISK_READ},
    {"BlockReaderRemote2#readNextPacket", WORK_CLIENT_NETWORK},
    {"DataStreamer#writeTo", WORK_CLIENT_NETWORK},
    {"DFSOutputStream#write", WORK_CLIENT},
    {"DFSStripedOutputStream#writeParityCells", WORK_CLIENT},
    {"StripeReader#decode", WORK_CLIENT},
    {SPARK_TASK_FUNCTION, WORK_SPARK},
    {SPARK_OPERATION_PREFIX "*", WORK_SPARK},
};

/* One '*', anywhere. */
static gboolean fits(const char *pattern, const char *name) {
    const char *star = strchr(pattern, '*');
    if (!star) return strcmp(pattern, name) == 0;
    const gsize head = (gsize)(star - pattern), tail = strlen(star + 1), length = strlen(name);
    return length >= head + tail && strncmp(pattern, name, head) == 0 && strcmp(name + length - tail, star + 1) == 0;
}

static gboolean find(const Rule *rules, gsize n, const char *name, WorkClass *class) {
    for (gsize i = 0; i < n; i++) {
        if (!fits(rules[i].name, name)) continue;
        *class = rules[i].class;
        return TRUE;
    }
    return FALSE;
}

WorkClass work_class(const char *name, Role role) {
    WorkClass class = WORK_NONE;
    if (role == ROLE_NAMENODE || role == ROLE_DATANODE || role == ROLE_JOURNALNODE) {
        if (find(server_rules, G_N_ELEMENTS(server_rules), name, &class))
            return class == WORK_EDIT_LOG && role == ROLE_JOURNALNODE ? WORK_JOURNAL : class;
        return hdfs_call_class(name, role) == CALL_WORK ? WORK_PROCESSOR : WORK_NONE;
    }
    find(client_rules, G_N_ELEMENTS(client_rules), name, &class);
    return class;
}

/* Of clients; not those that wait for the NameNode, or sleep (completeFile). */
static const char *const asking[] = {
    "BlockReaderRemote*",
    "DFSInputStream#actualGetFromOneDataNode",
    "DFSInputStream#blockSeekTo",
    "DFSInputStream#fetchBlockByteRange",
    "DFSInputStream#hedgedFetchBlockByteRange",
    "DFSOutputStream#close",
    "DFSStripedInputStream#*",
    "DFSStripedOutputStream#*",
    "DataStreamer#*",
    "StripeReader#*",
    "dataStreamer",
    "hedgedRead",
    "hflush",
    "hsync",
    "waitForAckedSeqno",
};

gboolean work_waits_for_datanode(const char *name, Role role) {
    if (role == ROLE_DATANODE)
        return strcmp(name, "PacketReceiver#mirrorPacketTo") == 0 || strcmp(name, "PipelineAck#readFields") == 0;
    if (role == ROLE_NAMENODE || role == ROLE_JOURNALNODE) return FALSE;
    for (gsize i = 0; i < G_N_ELEMENTS(asking); i++)
        if (fits(asking[i], name)) return TRUE;
    return FALSE;
}

gboolean work_is_waited(const char *name, Role role) {
    const WorkClass class = work_class(name, role);
    return class == WORK_STANDSTILL || class == WORK_SENDING ||
           (role == ROLE_DATANODE && strcmp(name, "PacketReceiver#receiveNextPacket") == 0);
}

/* What a call of the NameNode waits for its edit log is one job, whoever syncs it: the call itself, another one, or a
 * thread of the log's own, of whose work the first of all calls that wait has the spans. */
#define EDIT_LOG_WAIT "FSEditLog#logSync"

gboolean work_is_whole(const char *name, Role role) {
    return work_class(name, role) == WORK_EDIT_LOG && strcmp(name, EDIT_LOG_WAIT) == 0;
}

gboolean work_is_beside(const char *name, Role role) {
    return work_class(name, role) == WORK_EDIT_LOG && strcmp(name, EDIT_LOG_WAIT) != 0;
}

const char *work_class_name(WorkClass class) {
    static const char *const names[WORK_CLASSES] = {
        "none",     "disk-read", "disk-write", "transfer",       "network", "sending",
        "delivery", "processor", "standstill", "silent",         "queue",   "lock",
        "edit-log", "journal",   "client",     "client-network", "spark"};
    return names[class];
}

const char *work_class_layer(WorkClass class) {
    static const char *const layers[WORK_CLASSES] = {
        "none",     "disk",      "disk",      "disk or network", "network",  "network",
        "network",  "processor", "processor", "no answer",       "queue",    "NameNode lock",
        "edit log", "edit log",  "client",    "network",         "processor"};
    return layers[class];
}
