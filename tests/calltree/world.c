#include "tests/calltree/world.h"

#include <string.h>

static const char *const texts[] = {
    "",
    "DFSInputStream#byteArrayRead",
    "DFSOutputStream#write",
    "OpWriteBlockProto",
    "a",
    "ab",
    "b",
    "dataStreamer",
    "getFileInfo",
    "sendBlock",
    "\xc3\xa4rger",
    "z",
    "OpReadBlockProto",
    "BlockReaderRemote2#readNextPacket",
    "PacketReceiver#receiveNextPacket",
    "PacketReceiver#mirrorPacketTo",
    "waitForAckedSeqno",
    "ClientNamenodeProtocol#addBlock",
    "FSEditLog#logSync",
    "DataStreamer#writeTo",
    "ReplicaOutputStreams#writeDataToDisk",
    "PacketResponder#run",
    "BlockReceiver#receivePacket",
    "RDD:HadoopRDD",
    "BlockReaderRemote#new",
    "BlockSender#new",
    "BlockSender#sendPacket",
    "FileIoProvider#transferToSocketFully",
    "FSNamesystemLock#writeLock",
    "RPC#queue",
    "PipelineAck#readFields",
    "PacketResponder#finalizeBlock",
    "BlockReceiver#verifyChunks",
    "BlockReceiver#new",
    /* WORLD_NAMES; then keys */
    "bytes",
    "path",
    "key with blanks",
    "k",
    "BlockReaderLocal#fillBuffer({n})",
    "stream",
    "exclusiveNs",
    /* Names that only those forests have that ask for them. */
    "IPCLoggerChannel#sendEdits",
    "QJournalProtocolService#journal",
};

#define TEXTS         ((guint32)G_N_ELEMENTS(texts))
#define FIRST_TRACER  1000u
#define TRACER_STRIDE 7u

static guint32 id_of(const World *world, guint text) {
    if (text == 0) return 0; /* the empty string has the id 0 in every dictionary */
    return world->first + (text * world->stride) % TEXTS;
}

static const char *text_of(void *arg, guint32 id, gsize *length) {
    const World *world = arg;
    for (guint i = 1; i < TEXTS; i++) {
        if (id_of(world, i) != id) continue;
        *length = strlen(texts[i]);
        return texts[i];
    }
    *length = 0;
    return "";
}

static void process_of_tracer(void *arg, guint32 tracer, Role *role, guint32 *host) {
    const World *world = arg;
    guint i = (tracer - FIRST_TRACER - world->first) / TRACER_STRIDE;
    *role = world_role(i);
    *host = world_host(i);
}

static guint32 bytes_key(void *arg) { return world_bytes_key(arg); }

void world_init(World *world, guint32 number) {
    static const guint32 strides[] = {1, 3, 5, 7, 11, 13};
    G_STATIC_ASSERT(G_N_ELEMENTS(texts) == 43); /* a prime: every stride will do */
    world->first = 1 + number * 50;
    world->stride = strides[number % G_N_ELEMENTS(strides)];
    world->first_tracer = 0;
    world->lookup = (Lookup){text_of, process_of_tracer, bytes_key, world};
}

const char *world_name_text(guint i) { return texts[i]; }
guint32 world_name(const World *world, guint i) { return id_of(world, i); }
guint32 world_name_called(const World *world, const char *text) {
    for (guint i = 0; i < TEXTS; i++) {
        if (strcmp(texts[i], text) == 0) return id_of(world, i);
    }
    g_error("the world has no '%s'", text);
}
guint32 world_tracer(const World *world, guint i) {
    return FIRST_TRACER + world->first + (world->first_tracer + i) * TRACER_STRIDE;
}
guint32 world_bytes_key(const World *world) { return id_of(world, WORLD_NAMES); }
guint32 world_key(const World *world, guint i) { return id_of(world, WORLD_NAMES + 1 + i); }

Role world_role(guint tracer) { return (Role)(tracer % 4); }
guint32 world_host(guint tracer) { return 500 + tracer / 4; }
