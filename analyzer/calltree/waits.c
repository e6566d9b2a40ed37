#include "analyzer/calltree/waits.h"

#include <stdatomic.h>
#include <string.h>

#define CACHED 1024u /* a power of two; the functions of a cluster fit */

typedef struct WaitRow {
    const char *name; /* with a '*' at its end: all names that begin so */
    WaitChain chain;
    guint16 flags;
} WaitRow;

static const WaitRow rows[] = {
    /* The client, writing. */
    {"DataStreamer#waitAndQueuePacket", CHAIN_WRITE, PART_WAIT | PART_BLOCKS},
    {"waitForAckedSeqno", CHAIN_WRITE, PART_WAIT | PART_BLOCKS},
    {"hflush", CHAIN_WRITE, PART_WAIT | PART_BLOCKS},
    {"hsync", CHAIN_WRITE, PART_WAIT | PART_BLOCKS},
    {"DFSOutputStream#close", CHAIN_WRITE, PART_WAIT | PART_BLOCKS},
    {"DFSStripedOutputStream#flushInternal", CHAIN_WRITE, PART_WAIT | PART_BLOCKS},
    {"DFSStripedOutputStream#flushAllInternals", CHAIN_WRITE, PART_WAIT | PART_BLOCKS},
    {"dataStreamer", CHAIN_WRITE, PART_WAIT | PART_ASIDE},
    {"DataStreamer#writeTo", CHAIN_WRITE, PART_WAIT | PART_SEND},
    {"DataStreamer#nextBlockOutputStream", CHAIN_WRITE, PART_WAIT},
    {"DataStreamer#setupPipelineForAppendOrRecovery", CHAIN_WRITE, PART_WAIT},
    /* Both sides take turns in it, and only the one that began it is seen. */
    {"SaslDataTransferClient#doSaslHandshake", CHAIN_WRITE, PART_STATION},
    /* A DataNode, writing. */
    {"OpWriteBlockProto", CHAIN_WRITE, PART_WAIT | PART_STATION},
    {"BlockReceiver#receiveBlock", CHAIN_WRITE, PART_WAIT},
    {"PacketReceiver#receiveNextPacket", CHAIN_WRITE, PART_WAIT | PART_RECEIVE},
    {"PacketReceiver#mirrorPacketTo", CHAIN_WRITE, PART_WAIT | PART_SEND},
    {"PacketResponder#run", CHAIN_WRITE, PART_WAIT | PART_ANSWERS},
    {"PipelineAck#readFields", CHAIN_WRITE, PART_WAIT | PART_ANSWER},
    /* Reading. */
    {"BlockReaderRemote2#readNextPacket", CHAIN_READ, PART_WAIT | PART_BLOCKS},
    {"BlockReaderRemote#readChunk", CHAIN_READ, PART_WAIT | PART_BLOCKS},
    {"BlockReaderRemote#new", CHAIN_READ, PART_WAIT | PART_BLOCKS | PART_ASKS},
    {"OpReadBlockProto", CHAIN_READ, PART_WAIT | PART_STATION},
    /* The edit log is written and synced by a thread of its own: its span ends after that of the NameNode's function,
     * and only then the client has its answer. */
    {"ClientNamenodeProtocol#*", CHAIN_RPC, PART_WAIT | PART_BLOCKS | PART_BELOW},
    {"FSEditLog#logSync", CHAIN_RPC, PART_STATION},
    {"IPCLoggerChannel#sendEdits", CHAIN_NONE, PART_VOTES},
    {"RDD:*", CHAIN_NONE, PART_TURNS},
    /* Keys of annotations have numbers of the same dictionary. */
    {STREAM_ANNOTATION, CHAIN_NONE, PART_STREAM},
    {COMPUTED_ANNOTATION, CHAIN_NONE, PART_COMPUTED},
};

/* An entry: id and, in the lower 16 bits, its part. Id 0 is the empty text, and has none. */
struct WaitTable {
    const Lookup *lookup;
    _Atomic guint64 entries[CACHED];
};

WaitTable *wait_table_new(const Lookup *lookup) {
    WaitTable *table = g_new0(WaitTable, 1);
    table->lookup = lookup;
    return table;
}

void wait_table_free(WaitTable *table) { g_free(table); }

static gboolean row_fits(const WaitRow *row, const char *name, gsize length) {
    const gsize own = strlen(row->name);
    if (row->name[own - 1] == '*') return length >= own && memcmp(row->name, name, own - 1) == 0;
    return length == own && memcmp(row->name, name, own) == 0;
}

static WaitPart part_of_text(const char *name, gsize length) {
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        if (row_fits(&rows[i], name, length)) return (WaitPart)(rows[i].flags | rows[i].chain << PART_CHAIN_SHIFT);
    }
    return 0;
}

WaitPart wait_table_part(WaitTable *table, guint32 name) {
    if (name == NAME_TRACE || name == NAME_MISSING || name == NAME_OTHERS) return 0;
    _Atomic guint64 *entry = &table->entries[name % CACHED];
    const guint64 known = atomic_load_explicit(entry, memory_order_relaxed);
    if (known >> 16 == name) return (WaitPart)known;

    gsize length;
    const char *text = table->lookup->text(table->lookup->arg, name, &length);
    const WaitPart part = part_of_text(text, length);
    /* What the dictionary does not know yet it may know later. */
    if (length > 0) atomic_store_explicit(entry, (guint64)name << 16 | part, memory_order_relaxed);
    return part;
}

guint32 wait_table_host(const WaitTable *table, guint32 tracer) {
    Role role;
    guint32 host = 0;
    table->lookup->process(table->lookup->arg, tracer, &role, &host);
    return host;
}
