/* The critical path through waits: small cases by hand, and simulated readers of which it is known what is slow. */
#include <string.h>

#include "analyzer/calltree/times.h"
#include "common/base/clock.h"
#include "tests/base/seed.h"
#include "tests/calltree/forest.h"
#include "tests/calltree/simulated.h"

/* ---- cases ---- */

typedef struct Row {
    guint id, parent;  /* 0: none */
    const char *name;  /* "function", and one of: " @stream", " =exclusiveNs", OTHER, THIRD, NEAR */
    gint64 begin, end; /* milliseconds */
    gint64 critical;
} Row;

typedef struct Case {
    const char *name;
    Row rows[13];
} Case;

#define WAIT    "waitForAckedSeqno"
#define PACKET  "BlockReceiver#receivePacket"
#define RECEIVE "PacketReceiver#receiveNextPacket"
#define DISK    "ReplicaOutputStreams#writeDataToDisk"
#define OP      "OpWriteBlockProto"
#define SPARK   "RDD:HadoopRDD"
#define OTHER   " &" /* of another process, on another host */
#define THIRD   " +" /* on a third one */
#define NEAR    " %" /* on the first host */
#define READER  "BlockReaderRemote#new"
#define PIECE   "BlockReaderRemote2#readNextPacket"
#define SERVE   "OpReadBlockProto"
#define EDIT    "ClientNamenodeProtocol#addBlock"
#define SYNC    "FSEditLog#logSync"
#define SEND    "IPCLoggerChannel#sendEdits"
#define JOURNAL "QJournalProtocolService#journal"

static const Case cases[] = {
    {"nobody works", {{1, 0, "a", 0, 10, 2}, {2, 1, WAIT, 1, 9, 8}}},
    {"the disk of the second DataNode",
     {{1, 0, "a", 0, 20, 3},
      {2, 1, "dataStreamer", 1, 3, 0},
      {3, 2, OP, 2, 40, 0},
      {4, 3, OP, 2, 39, 0},
      {5, 3, DISK, 3, 5, 2},
      {6, 4, DISK, 5, 14, 9},
      {7, 1, WAIT, 2, 19, 6}}},
    {"the busier of two, where both work",
     {{1, 0, "a", 0, 20, 0},
      {2, 1, "dataStreamer", 0, 1, 0},
      {3, 2, OP, 0, 20, 0},
      {4, 3, OP, 0, 20, 0},
      {5, 3, DISK, 0, 6, 2},
      {6, 4, DISK, 2, 16, 14},
      {7, 1, WAIT, 0, 20, 4}}},
    {"two streams know nothing of each other",
     {{1, 0, "a", 0, 20, 0},
      {2, 1, "dataStreamer @1", 0, 1, 0},
      {3, 2, OP, 0, 20, 0},
      {4, 3, DISK, 5, 15, 0},
      {5, 1, "dataStreamer @2", 0, 1, 0},
      {6, 5, OP, 0, 20, 0},
      {7, 6, DISK, 12, 18, 6},
      {8, 1, WAIT " @2", 0, 20, 14}}},
    {"two roots neither",
     {{1, 0, "a", 0, 20, 0},
      {2, 1, OP, 0, 0, 0},
      {3, 2, DISK, 5, 15, 0},
      {4, 0, WAIT, 0, 20, 20},
      {5, 1, "b", 0, 20, 20}}},
    {"a packet that is on its way, and one that is not sent yet",
     {{1, 0, "a", 0, 20, 0},
      {2, 1, "dataStreamer", 0, 1, 0},
      {3, 2, OP, 0, 20, 0},
      {4, 2, "DataStreamer#writeTo", 6, 7, 0},
      {5, 3, RECEIVE, 1, 12, 6},
      {6, 1, WAIT, 0, 20, 14}}},
    {"a packet has arrived, and its sender is still sending",
     {{1, 0, "a", 0, 30, 0},
      {2, 1, "dataStreamer", 0, 1, 0},
      {3, 2, OP, 0, 30, 8},
      {4, 3, OP, 0, 30, 0},
      {5, 3, PACKET, 1, 12, 1},
      {6, 5, "PacketReceiver#mirrorPacketTo", 2, 12, 0},
      {7, 4, RECEIVE, 1, 4, 2},
      {8, 1, WAIT, 0, 30, 19}}},
    {"of two slow links, the network of the DataNode between them",
     {{1, 0, "a", 0, 30, 0},
      {2, 1, "dataStreamer", 0, 1, 0},
      {3, 2, OP, 0, 30, 0},
      {4, 3, OP, 0, 30, 0},
      {5, 2, "DataStreamer#writeTo", 1, 2, 0},
      {6, 3, RECEIVE, 1, 12, 11},
      {7, 3, "PacketReceiver#mirrorPacketTo", 12, 13, 13},
      {8, 4, RECEIVE, 1, 25, 0},
      {9, 1, WAIT, 0, 30, 6}}},
    {"of a slow link and a fast one before it, the DataNode that receives",
     {{1, 0, "a", 0, 40, 0},
      {2, 1, "dataStreamer", 0, 1, 0},
      {3, 2, OP, 0, 40, 0},
      {4, 3, OP, 0, 40, 0},
      {5, 2, "DataStreamer#writeTo", 1, 2, 0},
      {6, 3, RECEIVE, 1, 3, 2},
      {7, 3, "PacketReceiver#mirrorPacketTo", 3, 4, 0},
      {8, 4, RECEIVE, 1, 36, 33},
      {9, 1, WAIT, 0, 40, 5}}},
    {"a link out of a DataNode whose network is slow for another block",
     {{1, 0, "a", 0, 90, 0},
      {2, 1, "dataStreamer", 0, 1, 0},
      {3, 2, OP OTHER, 0, 30, 0},
      {4, 3, OP, 0, 30, 0},
      {5, 3, "PacketReceiver#mirrorPacketTo" OTHER, 3, 4, 22},
      {6, 4, RECEIVE, 1, 25, 0},
      {7, 1, "dataStreamer", 30, 31, 0},
      {8, 7, "DataStreamer#writeTo", 31, 32, 0},
      {9, 7, OP OTHER, 30, 90, 0},
      {10, 9, RECEIVE OTHER, 31, 85, 54},
      {11, 1, WAIT, 0, 90, 14}}},
    {"a link out of a DataNode that is busy with its disk for another block",
     {{1, 0, "a", 0, 90, 0},
      {2, 1, "dataStreamer", 0, 1, 0},
      {3, 2, OP OTHER, 0, 30, 0},
      {4, 3, OP, 0, 30, 0},
      {5, 3, "PacketReceiver#mirrorPacketTo" OTHER, 3, 4, 0},
      {6, 4, RECEIVE, 1, 25, 22},
      {7, 1, "dataStreamer", 30, 31, 0},
      {8, 7, OP OTHER, 30, 90, 0},
      {9, 8, DISK OTHER, 31, 85, 54},
      {10, 1, WAIT, 0, 90, 14}}},
    {"a link out of a DataNode that stands still for another block",
     {{1, 0, "a", 0, 90, 0},
      {2, 1, "dataStreamer", 0, 1, 0},
      {3, 2, OP OTHER, 0, 30, 22},
      {4, 3, OP, 0, 30, 0},
      {5, 3, "PacketReceiver#mirrorPacketTo" OTHER, 3, 4, 0},
      {6, 4, RECEIVE, 1, 25, 0},
      {7, 1, "dataStreamer", 30, 85, 0},
      {8, 7, OP OTHER, 84, 90, 54},
      {9, 1, WAIT, 0, 90, 14}}},
    {"two links out of one DataNode, for two blocks",
     {{1, 0, "a", 0, 60, 0},
      {2, 1, "dataStreamer", 0, 1, 0},
      {3, 2, OP OTHER, 0, 30, 0},
      {4, 3, OP, 0, 30, 0},
      {5, 3, "PacketReceiver#mirrorPacketTo" OTHER, 3, 4, 22},
      {6, 4, RECEIVE, 1, 25, 0},
      {7, 1, "dataStreamer", 30, 31, 0},
      {8, 7, OP OTHER, 30, 60, 0},
      {9, 8, OP THIRD, 30, 60, 0},
      {10, 8, "PacketReceiver#mirrorPacketTo" OTHER, 33, 34, 22},
      {11, 9, RECEIVE THIRD, 31, 55, 0},
      {12, 1, WAIT, 0, 60, 16}}},
    {"two links into one DataNode, for two blocks",
     {{1, 0, "a", 0, 60, 0},
      {2, 1, "dataStreamer", 0, 1, 0},
      {3, 2, OP, 0, 30, 0},
      {4, 3, OP OTHER, 0, 30, 0},
      {5, 3, "PacketReceiver#mirrorPacketTo", 3, 4, 0},
      {6, 4, RECEIVE OTHER, 1, 25, 22},
      {7, 1, "dataStreamer", 30, 31, 0},
      {8, 7, OP THIRD, 30, 60, 0},
      {9, 8, OP OTHER, 30, 60, 0},
      {10, 8, "PacketReceiver#mirrorPacketTo" THIRD, 33, 34, 0},
      {11, 9, RECEIVE OTHER, 31, 55, 22},
      {12, 1, WAIT, 0, 60, 16}}},
    {"a DataNode that is asked, and does not begin",
     {{1, 0, "a", 0, 20, 0},
      {2, 1, "dataStreamer", 0, 12, 0},
      {3, 2, OP, 10, 20, 10},
      {4, 3, DISK, 12, 14, 2},
      {5, 1, WAIT, 0, 20, 8}}},
    {"between two packets a DataNode has nothing to wait for",
     {{1, 0, "a", 0, 30, 0},
      {2, 1, "dataStreamer", 0, 1, 0},
      {3, 2, OP, 0, 30, 14},
      {4, 3, PACKET, 1, 3, 1},
      {5, 4, RECEIVE, 1, 2, 0},
      {6, 3, PACKET, 17, 19, 1},
      {7, 6, RECEIVE, 17, 18, 0},
      {8, 1, WAIT, 0, 30, 14}}},
    {"a DataNode that could acknowledge",
     {{1, 0, "a", 0, 30, 0},
      {2, 1, "dataStreamer", 0, 1, 0},
      {3, 2, OP, 0, 30, 17},
      {4, 3, PACKET, 1, 3, 1},
      {5, 4, RECEIVE, 1, 2, 0},
      {6, 3, "PacketResponder#run", 1, 20, 0},
      {7, 1, WAIT, 0, 30, 12}}},
    {"a DataNode that makes a block final before it acknowledges the last packet",
     {{1, 0, "a", 0, 30, 0},
      {2, 1, "dataStreamer", 0, 1, 0},
      {3, 2, OP, 0, 30, 0},
      {4, 3, PACKET, 1, 3, 1},
      {5, 4, RECEIVE, 1, 2, 0},
      {6, 3, "PacketResponder#run", 1, 20, 0},
      {7, 6, "PacketResponder#finalizeBlock", 5, 20, 15},
      {8, 1, WAIT, 0, 30, 14}}},
    {"of a DataNode that waits for the next one's acknowledgement, and of which that call is lost",
     {{1, 0, "a", 0, 30, 0},
      {2, 1, "dataStreamer", 0, 1, 0},
      {3, 2, OP, 0, 30, 0},
      {4, 3, OP OTHER, 0, 30, 0},
      {5, 3, PACKET, 1, 3, 1},
      {6, 5, RECEIVE, 1, 2, 0},
      {7, 3, "PacketResponder#run", 1, 20, 0},
      {8, 1, WAIT, 0, 30, 29}}},
    {"an acknowledgement between two is late because of the busier one",
     {{1, 0, "a", 0, 40, 0},
      {2, 1, "dataStreamer", 0, 1, 0},
      {3, 2, OP, 0, 40, 16},
      {4, 3, OP OTHER, 0, 40, 0},
      {5, 3, PACKET, 1, 13, 1},
      {6, 5, RECEIVE, 1, 2, 0},
      {7, 5, DISK, 3, 13, 10},
      {8, 4, PACKET OTHER, 1, 15, 1},
      {9, 8, RECEIVE OTHER, 1, 14, 0},
      {10, 3, "PacketResponder#run", 2, 31, 0},
      {11, 10, "PipelineAck#readFields", 2, 30, 0},
      {12, 1, WAIT, 0, 40, 12}}},
    {"a DataNode waits for packets, and the busier one before it does not know yet",
     {{1, 0, "a", 0, 40, 0},
      {2, 1, "dataStreamer", 0, 1, 0},
      {3, 2, OP, 0, 40, 18},
      {4, 3, OP OTHER, 0, 40, 0},
      {5, 3, RECEIVE, 20, 21, 0},
      {6, 4, RECEIVE OTHER, 2, 30, 0},
      {7, 3, DISK, 25, 32, 7},
      {8, 1, WAIT, 0, 40, 15}}},
    {"a busy DataNode asks the next one late",
     {{1, 0, "a", 0, 40, 0},
      {2, 1, "dataStreamer", 0, 1, 0},
      {3, 2, OP, 0, 40, 12},
      {4, 3, "BlockReceiver#new", 1, 3, 2},
      {5, 3, OP OTHER, 15, 40, 0},
      {6, 3, DISK, 20, 34, 14},
      {7, 1, WAIT, 0, 40, 12}}},
    {"a DataNode asks the next one, which begins late",
     {{1, 0, "a", 0, 40, 0},
      {2, 1, "dataStreamer", 0, 1, 0},
      {3, 2, OP, 0, 40, 0},
      {4, 3, "BlockReceiver#new", 1, 3, 2},
      {5, 3, OP OTHER, 15, 40, 12},
      {6, 3, DISK, 20, 26, 6},
      {7, 1, WAIT, 0, 40, 20}}},
    {"the packet of a read",
     {{1, 0, "DFSInputStream#byteArrayRead", 0, 10, 0},
      {2, 1, PIECE, 0, 10, 3},
      {3, 1, SERVE, 0, 0, 0},
      {4, 3, "sendBlock", 2, 9, 7}}},
    {"a read waits for the station of another root of its trace",
     {{1, 0, "DFSInputStream#byteArrayRead", 0, 4, 0},
      {2, 1, READER, 0, 4, 0},
      {3, 2, SERVE, 1, 30, 1},
      {4, 3, "sendBlock", 1, 20, 18},
      {5, 0, "DFSInputStream#byteArrayRead", 8, 24, 1},
      {6, 5, PIECE, 8, 23, 0},
      {7, 0, WAIT, 8, 23, 15}}},
    {"a DataNode that is asked for a block, and does not begin",
     {{1, 0, "DFSInputStream#byteArrayRead", 0, 30, 1},
      {2, 1, READER, 1, 14, 0},
      {3, 2, SERVE, 11, 40, 11},
      {4, 3, "BlockSender#new", 12, 14, 2},
      {5, 1, PIECE, 14, 30, 0},
      {6, 3, "sendBlock", 14, 26, 16}}},
    {"a DataNode that stands still before it sends a block",
     {{1, 0, "DFSInputStream#byteArrayRead", 0, 30, 0},
      {2, 1, READER, 0, 6, 0},
      {3, 2, SERVE, 1, 40, 18},
      {4, 3, "BlockSender#new", 2, 4, 2},
      {5, 1, PIECE, 6, 30, 0},
      {6, 3, "sendBlock", 20, 26, 10}}},
    {"what a DataNode has sent is on its way until its reader has it",
     {{1, 0, "DFSInputStream#byteArrayRead", 0, 30, 2},
      {2, 1, READER, 0, 2, 0},
      {3, 2, SERVE, 1, 29, 1},
      {4, 3, "BlockSender#new", 1, 2, 1},
      {5, 3, "sendBlock", 2, 5, 0},
      {6, 5, "BlockSender#sendPacket", 2, 5, 26},
      {7, 1, PIECE, 2, 28, 0}}},
    {"what comes slowly from all DataNodes is slow at the reader",
     {{1, 0, "DFSInputStream#byteArrayRead", 0, 60, 1},
      {2, 1, READER, 0, 1, 0},
      {3, 2, SERVE OTHER, 0, 30, 0},
      {4, 3, "sendBlock" OTHER, 0, 4, 4},
      {5, 1, PIECE, 1, 29, 25},
      {6, 1, READER, 29, 30, 0},
      {7, 6, SERVE THIRD, 29, 60, 0},
      {8, 7, "sendBlock" THIRD, 29, 34, 5},
      {9, 1, PIECE, 30, 59, 25}}},
    {"a short block comes as slowly as a long one, by packet",
     {{1, 0, "DFSInputStream#byteArrayRead", 0, 100, 2},
      {2, 1, READER, 0, 1, 0},
      {3, 2, SERVE OTHER, 0, 12, 0},
      {4, 3, "sendBlock" OTHER, 0, 1, 1},
      {5, 1, PIECE, 1, 11, 10},
      {6, 1, READER, 11, 12, 0},
      {7, 6, SERVE THIRD, 11, 99, 0},
      {8, 7, "sendBlock" THIRD, 11, 13, 2},
      {9, 1, PIECE, 12, 42, 29},
      {10, 1, PIECE, 42, 70, 28},
      {11, 1, PIECE, 70, 98, 28}}},
    {"what comes fast from the reader's own host says nothing of his network",
     {{1, 0, "DFSInputStream#byteArrayRead", 0, 100, 14},
      {2, 1, READER, 0, 1, 0},
      {3, 2, SERVE NEAR, 0, 4, 0},
      {4, 3, "sendBlock" NEAR, 0, 1, 1},
      {5, 1, PIECE, 1, 2, 1},
      {6, 1, READER, 4, 5, 0},
      {7, 6, SERVE OTHER, 4, 46, 0},
      {8, 7, "sendBlock" OTHER, 4, 6, 2},
      {9, 1, PIECE, 5, 45, 39},
      {10, 1, READER, 46, 47, 0},
      {11, 10, SERVE THIRD, 46, 90, 0},
      {12, 11, "sendBlock" THIRD, 46, 48, 2},
      {13, 1, PIECE, 47, 89, 41}}},
    {"a reader waits for a DataNode that nobody sees, and has a block open that was sent",
     {{1, 0, "DFSInputStream#byteArrayRead", 0, 100, 15},
      {2, 1, READER, 0, 1, 0},
      {3, 2, SERVE OTHER, 0, 99, 0},
      {4, 3, "sendBlock" OTHER, 0, 3, 4},
      {5, 1, PIECE, 1, 4, 0},
      {6, 1, READER, 10, 40, 30},
      {7, 1, PIECE, 40, 90, 50},
      {8, 1, PIECE, 98, 99, 1}}},
    {"of two blocks that were sent it is not known which the reader waits for",
     {{1, 0, "DFSInputStream#byteArrayRead", 0, 100, 12},
      {2, 1, READER, 0, 1, 0},
      {3, 2, SERVE OTHER, 0, 99, 0},
      {4, 3, "sendBlock" OTHER, 0, 3, 1},
      {5, 1, READER, 1, 2, 0},
      {6, 5, SERVE THIRD, 1, 99, 0},
      {7, 6, "sendBlock" THIRD, 1, 4, 1},
      {8, 1, PIECE, 4, 90, 86}}},
    {"a DataNode's answer is asked for beside a block that was sent",
     {{1, 0, "DFSInputStream#byteArrayRead", 0, 50, 10},
      {2, 1, READER, 0, 40, 37},
      {3, 1, READER, 0, 1, 0},
      {4, 3, SERVE OTHER, 0, 50, 0},
      {5, 4, "sendBlock" OTHER, 0, 3, 3}}},
    {"a reader has left what is on its way to him, and waits for another DataNode",
     {{1, 0, "DFSInputStream#byteArrayRead", 0, 40, 11},
      {2, 1, READER, 0, 1, 0},
      {3, 2, SERVE, 0, 12, 0},
      {4, 3, "sendBlock", 0, 2, 1},
      {5, 1, READER, 10, 11, 0},
      {6, 5, SERVE OTHER, 10, 40, 2},
      {7, 6, "sendBlock" OTHER, 12, 25, 26},
      {8, 1, PIECE, 11, 38, 0}}},
    {"a reader that does not ask for its packet does not wait for it",
     {{1, 0, "DFSInputStream#byteArrayRead", 0, 30, 24},
      {2, 1, READER, 0, 6, 0},
      {3, 2, SERVE, 4, 40, 4},
      {4, 3, "BlockSender#new", 4, 6, 2},
      {5, 3, "sendBlock", 20, 26, 0}}},
    {"the edit log outlives the call",
     {{1, 0, "ClientNamenodeProtocol#addBlock", 0, 10, 3},
      {2, 1, "getFileInfo", 1, 3, 1},
      {3, 2, "FSEditLog#logSync", 2, 8, 6}}},
    {"of three JournalNodes the second to answer",
     {{1, 0, EDIT, 0, 30, 10},
      {2, 1, SYNC, 2, 22, 3},
      {3, 2, "a", 3, 20, 3},
      {4, 3, SEND, 4, 6, 0},
      {5, 4, JOURNAL, 4, 5, 0},
      {6, 3, SEND, 4, 18, 2},
      {7, 6, JOURNAL OTHER, 5, 17, 12},
      {8, 3, SEND, 4, 60, 0},
      {9, 8, JOURNAL THIRD, 5, 59, 0}}},
    {"the same, in the edit log's own thread",
     {{1, 0, EDIT, 0, 30, 3},
      {2, 1, "getFileInfo", 1, 3, 1},
      {3, 2, SYNC, 2, 28, 4},
      {4, 3, "a", 4, 26, 2},
      {5, 4, SEND, 5, 7, 0},
      {6, 4, SEND, 5, 25, 2},
      {7, 6, JOURNAL OTHER, 6, 24, 18},
      {8, 4, SEND, 5, 60, 0},
      {9, 8, JOURNAL THIRD, 6, 59, 0}}},
    {"of three JournalNodes one that does not answer, and a slow one",
     {{1, 0, EDIT, 0, 30, 0},
      {2, 1, SYNC, 0, 30, 0},
      {3, 2, "a", 0, 30, 1},
      {4, 3, SEND, 1, 2, 0},
      {5, 3, SEND, 1, 8, 0},
      {6, 3, SEND, 1, 30, 0},
      {7, 6, JOURNAL OTHER, 1, 30, 29}}},
    {"of JournalNodes the only one that is seen, which was not waited for",
     {{1, 0, EDIT, 0, 30, 0}, {2, 1, SYNC, 0, 30, 0}, {3, 2, "a", 0, 30, 30}, {4, 3, SEND, 1, 31, 0}}},
    {"an operation lies over the call of another",
     {{1, 0, "a", 0, 20, 3},
      {2, 1, SPARK " =2", 1, 19, 2},
      {3, 1, SPARK " =15", 2, 18, 3},
      {4, 3, "DFSInputStream#byteArrayRead", 4, 16, 0},
      {5, 4, PIECE, 4, 16, 3},
      {6, 4, SERVE, 4, 4, 0},
      {7, 6, "sendBlock", 6, 15, 9}}},
    {"an operation lies over a call of its task",
     {{1, 0, "a", 0, 20, 8}, {2, 1, SPARK " =5", 0, 20, 5}, {3, 1, "DFSOutputStream#write", 10, 17, 7}}},
    {"operations that say more than there is, and one that says nothing",
     {{1, 0, "a", 0, 20, 0}, {2, 1, SPARK " =50", 0, 20, 5}, {3, 1, SPARK, 2, 17, 15}}},
    {"an operation below an operation, and one without a task, are calls as all others",
     {{1, 0, "a", 0, 20, 6},
      {2, 1, SPARK " =14", 0, 20, 4},
      {3, 2, SPARK " =3", 5, 15, 8},
      {4, 3, "b", 6, 8, 2},
      {5, 0, SPARK " =1", 0, 9, 9}}},
};

static guint process_of(const char *word) {
    switch (word != NULL ? word[0] : 0) {
    case '&': return tracer_of(0);
    case '+': return tracer_of(1);
    case '%': return 1;
    default: return 0;
    }
}

static void add_row(const World *world, GByteArray *bytes, const Row *row) {
    g_auto(GStrv) words = g_strsplit_set(row->name, " ", 2);
    const guint process = process_of(words[1]);
    const SpanRec head = {.id = {TRACE, row->id},
                          .begin_ns = row->begin * NS_PER_MS,
                          .duration_ns = (row->end - row->begin) * NS_PER_MS,
                          .name = world_name_called(world, words[0]),
                          .tracer = world_tracer(world, process)};
    SpanBuilder builder = span_builder_begin(bytes, &head);
    if (row->parent != 0) span_builder_parent(&builder, (SpanId){TRACE, row->parent});
    if (words[1] != NULL && process == 0) {
        const guint32 key = world_key(world, words[1][0] == '@' ? WORLD_STREAM : WORLD_COMPUTED);
        g_autofree char *ms = g_strconcat(words[1] + 1, "000000", NULL);
        span_builder_annotation(&builder, key, ms, (guint32)strlen(ms));
    }
    span_builder_end(&builder);
}

static void test_case(gconstpointer data) {
    const Case *c = data;
    World world;
    world_init(&world, 0);
    g_autoptr(WaitTable) table = wait_table_new(&world.lookup);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    for (guint i = 0; i < G_N_ELEMENTS(c->rows) && c->rows[i].id != 0; i++) add_row(&world, bytes, &c->rows[i]);

    for (guint32 order = 0; order < 4; order++) {
        g_autoptr(GPtrArray) spans = spans_in(bytes);
        spans_shuffle(spans, order);
        g_autoptr(CallTree) tree = tree_build((const SpanRec *const *)(void *)spans->pdata, spans->len, 0, NULL);
        const Measured measured = {.tree = tree};
        gboolean differs;
        g_autoptr(TreeTimes) times = times_by_rule(&measured, table, TIMES_NOW, &differs);
        for (guint32 i = 1; i < tree->n_nodes; i++) {
            const Row *row = &c->rows[tree->span[i]->id.span - 1];
            if (times->critical_ns[i] != row->critical * NS_PER_MS)
                g_error("%s: span %u has %" G_GINT64_FORMAT " ns", c->name, row->id, times->critical_ns[i]);
        }
    }
}

/* ---- readers ---- */

#define SERVERS 3u
#define BLOCKS  6u
#define PIECES  16u /* packets of a block */

/* A file is read block by block, each at the next DataNode. What is slow there, or of the reader, takes so long for
 * each packet. */
typedef struct Reading {
    guint slow; /* DataNode; SERVERS: all */
    gint64 disk_us, link_us;
    gint64 take_us, compute_us; /* the reader copies and checks a packet, and then does something else */
    guint buffer, window;       /* so many packets are in the sender's socket, and in the reader's */
    guint reader;               /* his tracer: on the host of the first DataNode, or not */
    guint last_pieces;          /* packets of the blocks of the last DataNode */
    gboolean apart;             /* he takes each packet in a call of its own, of which none is below another */
    gint64 skew_ns[SERVERS];
} Reading;

/* What happens to each packet of a block, in the reader's time. */
typedef struct Block {
    guint n;
    gint64 from_ns, read[PIECES], sent[PIECES], left[PIECES], asked[PIECES], taken[PIECES];
} Block;

static void block_run(Block *b, GRand *rand, const Reading *r, guint server, gint64 from_ns) {
    const gboolean slow = server == r->slow || r->slow == SERVERS, near = r->reader != 0 && server == 0;
    b->from_ns = from_ns;
    b->n = server + 1 == SERVERS ? r->last_pieces : PIECES;
    for (guint i = 0; i < b->n; i++) {
        b->read[i] = (i > 0 ? b->sent[i - 1] : from_ns + 200 * US) + service_ns(rand, slow ? r->disk_us : 50);
        b->sent[i] = MAX(b->read[i] + 5 * US, before(b->left, i, r->buffer));
        const gint64 free_ns = MAX(before(b->left, i, 1), before(b->taken, i, r->window));
        b->left[i] = MAX(b->read[i], free_ns) + service_ns(rand, slow && !near ? r->link_us : 50);
        b->asked[i] = i > 0 ? b->taken[i - 1] + r->compute_us * US : from_ns + 300 * US;
        b->taken[i] = MAX(b->asked[i], b->left[i]) + r->take_us * US;
    }
}

/* A call of the reader; returns it. */
static guint add_part(Maker *m, const Reading *r, const char *name, gint64 from_ns, gint64 to_ns) {
    const guint root = r->apart ? add_call(m, "DFSInputStream#byteArrayRead", 0, from_ns, to_ns) : 1;
    return add_call(m, name, root, from_ns, to_ns);
}

static void add_block(Maker *m, const Reading *r, const Block *b, guint server) {
    const gint64 from_ns = b->from_ns, asked_ns = from_ns + 100 * US, end_ns = b->sent[b->n - 1] + 20 * US;
    const guint reader = add_part(m, r, READER, from_ns, from_ns + 300 * US);
    for (guint i = 0; i < b->n; i++) add_part(m, r, PIECE, b->asked[i], b->taken[i]);
    m->tracer = tracer_of(server);
    m->skew_ns = r->skew_ns[server];
    const guint serve = add_call(m, SERVE, reader, asked_ns, MAX(b->taken[b->n - 1], end_ns) + 50 * US);
    add_call(m, "BlockSender#new", serve, asked_ns, asked_ns + 50 * US);
    const guint sending = add_call(m, "sendBlock", serve, from_ns + 200 * US, end_ns);
    for (guint i = 0; i < b->n; i++) {
        const gint64 begin_ns = i > 0 ? b->sent[i - 1] : from_ns + 200 * US;
        const guint packet = add_call(m, "BlockSender#sendPacket", sending, begin_ns, b->sent[i]);
        add_call(m, "FileIoProvider#transferToSocketFully", packet, begin_ns + US, b->sent[i]);
    }
    add_call(m, "BlockSender#sendPacket", sending, end_ns - 10 * US, end_ns); /* the last one is empty */
    m->tracer = r->reader;
    m->skew_ns = 0;
}

static GByteArray *reading_spans(const Reading *r, GRand *rand, const World *world) {
    Maker m = {.world = world, .bytes = g_byte_array_new(), .last_id = 1, .tracer = r->reader};
    gint64 end_ns = 0;
    for (guint i = 0; i < BLOCKS; i++) {
        Block block;
        block_run(&block, rand, r, i % SERVERS, end_ns + 100 * US);
        add_block(&m, r, &block, i % SERVERS);
        end_ns = block.taken[block.n - 1];
    }
    m.last_id = 0;
    if (!r->apart) add_call(&m, "a", 0, 0, end_ns + 100 * US);
    return m.bytes;
}

/* A reader who is slow himself, or his network (also where one DataNode is on his host, and one has short blocks only),
 * or what is slow at one DataNode: its disk, or its network. */
typedef enum { READ_SLOWLY, READ_SLOW_READER, READ_UNEQUAL, READ_SLOW_DISK, READ_SLOW_NETWORK, READ_KINDS } ReadKind;

static Reading reading_make(GRand *rand, ReadKind kind) {
    Reading r = {.slow = SERVERS, .disk_us = 50, .link_us = 50, .take_us = 40, .compute_us = 20, .last_pieces = PIECES};
    r.buffer = (guint)g_rand_int_range(rand, 1, 2 * (gint32)PIECES);
    r.window = (guint)g_rand_int_range(rand, 1, 2 * (gint32)PIECES);
    if (kind == READ_SLOWLY) {
        r.take_us = g_rand_int_range(rand, 300, 900);
        r.compute_us = g_rand_int_range(rand, 2000, 5000);
        r.buffer = PIECES;
    } else if (kind == READ_SLOW_READER || kind == READ_UNEQUAL) {
        r.link_us = g_rand_int_range(rand, 5000, 130000);
        r.buffer = PIECES;
        if (kind == READ_UNEQUAL) {
            r.reader = tracer_of(0) + 1;
            r.last_pieces = (guint)g_rand_int_range(rand, 1, 4);
        }
    } else {
        r.slow = (guint)g_rand_int_range(rand, 0, (gint32)SERVERS);
        *(kind == READ_SLOW_DISK ? &r.disk_us : &r.link_us) = g_rand_int_range(rand, 5000, 130000);
    }
    for (guint i = 0; i < SERVERS; i++) r.skew_ns[i] = g_rand_int_range(rand, -1000, 1000) * US;
    return r;
}

static void check_reading(ReadKind kind, gboolean apart) {
    World world;
    world_init(&world, 0);
    const guint32 base = run_seed();
    for (guint32 seed = base; seed != base + 100; seed++) {
        GRand *rand = g_rand_new_with_seed(seed);
        Reading r = reading_make(rand, kind);
        r.apart = apart;
        g_autoptr(GByteArray) bytes = reading_spans(&r, rand, &world);
        double shares[STAGES_MAX] = {0};
        measure(&world, bytes, NULL, shares);
        for (guint server = 0; server < SERVERS; server++) {
            const gboolean good = server == r.slow ? shares[server] >= 80 : shares[server] <= 5;
            if (!good)
                g_printerr("DataNode %u has %.1f %%, slow is %u, buffers %u and %u\n", server, shares[server], r.slow,
                           r.buffer, r.window);
            forest_check(seed, good);
        }
        g_rand_free(rand);
    }
}

static void test_reading(gconstpointer kind) { check_reading((ReadKind)GPOINTER_TO_UINT(kind), FALSE); }
static void test_reading_apart(gconstpointer kind) { check_reading((ReadKind)GPOINTER_TO_UINT(kind), TRUE); }

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strdup_printf("/calltree/waits/%s", cases[i].name);
        g_test_add_data_func(path, &cases[i], test_case);
    }
    static const char *const kinds[READ_KINDS] = {"slow reader", "reader's network",
                                                  "reader's network, one block near and one short", "slow disk",
                                                  "slow network"};
    for (guint i = 0; i < READ_KINDS; i++) {
        g_autofree char *path = g_strdup_printf("/calltree/waits/reading, %s", kinds[i]);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_reading);
        if (i == READ_SLOWLY) continue; /* his own time is between his calls then */
        g_autofree char *apart = g_strconcat(path, ", call by call", NULL);
        g_test_add_data_func(apart, GUINT_TO_POINTER(i), test_reading_apart);
    }
    return g_test_run();
}
