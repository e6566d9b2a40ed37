/* What a peer may make us hold. Every quantity that comes from outside has its bound here, with the reason for the
 * number; the configuration may lower some of them, none can be raised past these. */
#pragma once

/* One Thrift frame. A batch of 100,000 spans with annotations is about 15 MiB; twice that leaves room. */
#define LIMIT_FRAME_BYTES (32u * 1024 * 1024)
/* Spans of one batch; senders of ours send at most 10,000. */
#define LIMIT_BATCH_SPANS 200000u
/* Records of Spark and of hosts of one batch; senders of ours send at most 10,000. An operation takes 450 bytes. */
#define LIMIT_BATCH_RECORDS 100000u
/* Entries of their lists (RDDs, parents, properties, disks), all of one batch together. A stage of an iterative job has
 * some thousands of RDDs. */
#define LIMIT_RECORD_ENTRIES 1000000u
/* Strings of one batch's table. */
#define LIMIT_BATCH_STRINGS 200000u
/* Parents, annotations and timeline messages of one batch, each: ten for each span of the largest batch. Bounds what a
 * hostile frame of tiny entries can make of its 32 MiB. */
#define LIMIT_BATCH_ENTRIES 2000000u
/* Reasons for drops that a sender reports. */
#define LIMIT_SENDER_DROPS 64u
/* A function name, a tracer id, an annotation key: HDFS's longest is under 100 bytes. */
#define LIMIT_NAME_BYTES 1024u
/* An annotation's value or a timeline message: a path of HDFS may have 8,000 characters. */
#define LIMIT_VALUE_BYTES 65536u
/* Parents of one span: dataStreamer joins one per write() call that filled its packet. */
#define LIMIT_SPAN_PARENTS 4096u
/* Key/value and timeline annotations of one span, each. */
#define LIMIT_SPAN_ANNOTATIONS 4096u
/* The sampling policy that replies carry: it is in each of them. A hundred functions fit. */
#define LIMIT_POLICY_BYTES 4096u
/* Distinct names, tracer ids and annotation keys of one store. A process has an id of its own, so 3,000 nodes that
 * start 100 containers a day each make 300,000 a day. Each takes some 100 bytes of disk, and memory only while it is
 * used; a start reads them all, two million in a second. */
#define LIMIT_DICTIONARY_ENTRIES 30000000u
/* Their texts together: 130 bytes for each, four times what a tracer id has. */
#define LIMIT_DICTIONARY_BYTES (G_GUINT64_CONSTANT(4) << 30)
/* Of both, where its tables lie in memory (base/mapped.h): 200 MB at most. */
#define LIMIT_DICTIONARY_MEMORY_ENTRIES 2000000u
#define LIMIT_DICTIONARY_MEMORY_BYTES   (128u << 20)
/* Nesting of Thrift structures while unknown fields are skipped. */
#define LIMIT_THRIFT_DEPTH 32u
/* Nesting and size of one JSON value on import. */
#define LIMIT_JSON_BYTES (8u * 1024 * 1024)
