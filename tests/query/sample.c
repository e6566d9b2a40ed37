#include "tests/query/fixture.h"

#define CLIENT "FSClient/10.0.0.5/77"
#define NN     "NameNode/10.0.0.1/11"
#define DN7    "DataNode/10.0.0.7/21"
#define DN8    "DataNode/10.0.0.8/22" /* its clock is 3 ms ahead */
#define MS     SPAN_MILLISECONDS

/* Traces 1 and 2: the same write, the second slower and a minute later. 3: two reads of one block and a half. 4: its
 * root never came. 5: a span that ends before it begins, and one outside its parent. 6: two spans that are each
 * other's parent. 7: a delete, counted in milliseconds. */
const SpanRow sample_rows[] = {
    {1, 1, 0, "DistributedFileSystem#create", CLIENT, 1000000, 100000, "path=/data/a", 0},
    {1, 2, 1, "ClientNamenodeProtocol#create", CLIENT, 1001000, 10000, NULL, 0},
    {1, 3, 2, "ClientProtocol#create", NN, 1003000, 6000, "src=/data/a;user=hdfs", 0},
    {1, 4, 1, "dataStreamer", CLIENT, 1020000, 70000, NULL, 0},
    {1, 5, 4, "OpWriteBlockProto", DN7, 1025000, 60000, "bytes=8192;@500=received;@59000=acknowledged", 0},
    {1, 6, 5, "OpWriteBlockProto", DN8, 1033000, 50000, "bytes=8192", 0},
    {1, 7, 1, "DFSOutputStream#write", CLIENT, 1012000, 1000, "bytes=4096", 0},
    {1, 8, 1, "DFSOutputStream#write", CLIENT, 1014000, 2000, "bytes=4096", 0},
    {1, 9, 1, "DFSOutputStream#write", CLIENT, 1016000, 3000, "bytes=0", 0},

    {2, 1, 0, "DistributedFileSystem#create", CLIENT, 61000000, 200000, "path=/data/b", 0},
    {2, 2, 1, "ClientNamenodeProtocol#create", CLIENT, 61001000, 10000, NULL, 0},
    {2, 3, 2, "ClientProtocol#create", NN, 61003000, 6000, "src=/data/b;user=hdfs", 0},
    {2, 4, 1, "dataStreamer", CLIENT, 61020000, 170000, NULL, 0},
    {2, 5, 4, "OpWriteBlockProto", DN7, 61025000, 160000, "bytes=8192", 0},
    {2, 6, 5, "OpWriteBlockProto", DN8, 61033000, 150000, "bytes=8192", 0},
    {2, 7, 1, "DFSOutputStream#write", CLIENT, 61012000, 1500, "bytes=8192", 0},

    {3, 1, 0, "DFSInputStream#byteArrayRead", CLIENT, 70000000, 50000, "path=/data/a", 0},
    {3, 2, 1, "BlockReaderRemote2#readNextPacket(1073741825)", CLIENT, 70001000, 20000, NULL, 0},
    {3, 3, 2, "sendBlock_1073741825", DN7, 70005000, 12000, "bytes=6000", 0},
    {3, 4, 1, "BlockReaderRemote2#readNextPacket(1073741826)", CLIENT, 70022000, 25000, NULL, 0},
    {3, 5, 4, "sendBlock_1073741826", DN8, 70028000, 14000, "bytes=100;sendBlock_{n}=7", 0},

    {4, 2, 9, "ClientProtocol#getBlockLocations", NN, 75000000, 4000, "src=/data/a", 0},
    {4, 3, 9, "ClientProtocol#getFileInfo", NN, 75005000, 1000, NULL, 0},

    {5, 1, 0, "DistributedFileSystem#rename", CLIENT, 80000000, 10000, "src=/data/b;dst=/data/c", 0},
    {5, 2, 1, "ClientProtocol#rename", NN, 80002000, -1000, NULL, 0},
    {5, 3, 1, "ClientProtocol#rename", NN, 80040000, 2000, NULL, 0},

    {6, 1, 2, "knot", "Tool", 85000000, 1000, NULL, 0},
    {6, 2, 1, "knot", "Tool", 85000000, 1000, NULL, 0},

    {7, 1, 0, "DistributedFileSystem#delete", CLIENT, 130000000, 5000, "path=/data/c", MS},
    {7, 2, 1, "ClientProtocol#delete", NN, 130001000, 2000, NULL, MS},
};
const gsize sample_count = G_N_ELEMENTS(sample_rows);
