/* The wire of Plumbline: spans in. Framed transport, binary or compact protocol, on one port.
 *
 * Compatibility: fields are only ever added, with new numbers and a default meaning; receivers skip what they do not
 * know. `version` says what the sender speaks, `needs` the least version a receiver must know to understand the batch
 * rightly (a sender raises it only when skipping an unknown field would falsify the data). A receiver that is older than
 * `needs` answers VERSION with its own version, and the sender sends again in that version's form. Fields may come in any
 * order; a list comes once. Structures that a receiver does not know may nest up to 32 deep.
 *
 * Strings are UTF-8 without zero bytes. A receiver takes frames of up to 32 MiB with up to 200,000 spans and 200,000
 * strings; names, tracer ids, annotation keys, sender ids and reasons of up to 1,024 bytes, annotation values and note
 * messages of up to 65,536; of one span up to 4,096 parents, annotations and notes each, of one batch up to 2,000,000 each;
 * 64 drops. A batch over a limit is REFUSED as a whole, so senders hold to them. A span without a valid id, or without one
 * of its first six fields, is refused alone. */

namespace java io.plumbline.wire
namespace c_glib Plumb
namespace py plumbline.wire

const i32 WIRE_VERSION = 3

/* Times of the span were counted in milliseconds at the source. */
const i32 FLAG_MILLISECONDS = 1

struct Annotation {
  1: i32 key,       // index into Batch.strings
  2: string value
}

struct Note {
  1: i64 timeNs,    // since the epoch
  2: string message
}

struct SpanId {
  1: i64 trace,     // upper 64 bits
  2: i64 span       // lower 64 bits
}

struct Span {
  1: i64 trace,
  2: i64 span,
  3: i64 beginNs,               // since the epoch
  4: i64 durationNs,
  5: i32 name,                  // index into Batch.strings
  6: i32 tracer,                // index into Batch.strings
  7: optional i64 firstParent,  // lower half of the first parent, when it is of the same trace
  8: optional list<SpanId> parents,  // further parents, or all when the first is of another trace
  9: optional list<Annotation> annotations,
  10: optional list<Note> notes,
  11: optional i32 flags
}

struct Drop {
  1: string reason,
  2: i64 spans
}

/* Totals since the sender started: losses on the sender's side become visible at the receiver. */
struct Sender {
  1: string id,                 // unique per process and start
  2: i64 sequence,              // of this batch, from 1; the same when it is sent again
  3: i64 spansSent,
  4: i64 spansQueued,
  5: optional list<Drop> drops
}

/* Spans in few bytes, as a thread of a process wrote them one after the other: a binary. Since version 2; a batch with packs
 * `needs` it, or 3 when it says "near" or a parent beside lists. A pack refers to the batch's strings and to nothing else
 * outside of it. It consists of
 *   varint spans; varint names; names times varint index into Batch.strings; and then each span:
 *
 *   varint shape              what it has in common with others: 1 to n is one that an earlier span of the pack defined and
 *                             kept, in that order; n + 1 is defined here and kept; 0 is defined here for this span alone
 *   its definition, if here   name function; name tracer; varint annotations; for each: u8 kind (0 text, 1 number), name key
 *   u8 bits                   1 trace is the last span's; 6 (two bits) 2: one parent, of this trace, the last that was given;
 *                             4 and 6: one parent, of this trace, given here, with 6 near; 8 lists follow;
 *                             16 milliseconds; 32 span is near; 64 trace is near (then not 1)
 *   id trace                  without bit 1; near: less the last span
 *   id span                   near: less the last span
 *   id parent                 with bit 4; near: less this span
 *   varint n, (i64 trace, i64 span) each      with bit 8, without a parent above: parents
 *   signed begin              less the last span's
 *   signed duration
 *   value of each annotation  number: signed, less its last in this shape, as decimal digits in the end.
 *                             text: varint 0: the last in this shape; else length + 1, bytes
 *   varint n, (signed time less the span's begin, text) each      with bit 8: notes
 *
 * An id is an i64 or, when it is near, a signed difference of places. The place of an id is the p for which
 *   z = p * 0x9e3779b97f4a7c15; z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9; z = (z ^ z >> 27) * 0x94d049bb133111eb;
 *   id = z ^ z >> 31
 * modulo 2^64, unsigned: which number it is of a splitmix64 sequence. A process that takes its ids from one has ids whose
 * places are near each other.
 *
 * A varint has seven bits in each byte, the lowest first, the top bit saying that more follow; signed ones are zigzag (0, -1,
 * 1, -2, ...). i64 are eight bytes, the lowest first. A text is a varint length and UTF-8. A name is varint 0 and a text, or
 * 1 + its place among the pack's names. What is last, where nothing came before, is 0; sums wrap round. Limits are those of
 * spans; repeated texts count with their length, up to 32 MiB in a batch. */
typedef binary Pack

struct Batch {
  1: i32 version,
  2: optional i32 needs,        // absent: 1
  3: list<string> strings,
  4: list<Span> spans,          // before those of packs
  5: optional Sender sender,
  6: optional list<Pack> packs
}

/* Self-contained spans, for simple clients; cost of decoding does not matter here. Ids are 32 hex digits. */
struct PlainSpan {
  1: string id,
  2: list<string> parents,
  3: i64 beginNs,
  4: i64 durationNs,
  5: string name,
  6: string tracer,
  7: optional map<string, string> annotations,
  8: optional list<Note> notes,
  9: optional i32 flags
}

/* Records of Spark and of hosts, as a bridge reads them from event logs, operation logs, samples and executor logs. A field
 * that is absent is unknown, and so is -1; enums count from 0 (common/model/spark_values.h has their names, and the order
 * of `metrics`, `atStart` and `atEnd`, which may be cut at the end). `app` is the application's id, for a further attempt
 * of the driver with "_<attempt>" behind it. The same record may come again, whole or in parts: what is known in the later
 * one is put over what the earlier one said. Record fields that are not optional tell records apart; a record without one
 * of them is refused alone. A batch has at most 100,000 records, 1,000,000 entries in lists of these, texts of at most
 * 65,536 bytes; hosts, executors and application ids of at most 1,024. */

struct SparkPair {
  1: optional string key,
  2: optional string value
}

struct SparkRdd {
  1: optional i64 id,
  2: optional string name,
  3: optional string scope,
  4: optional string callSite,
  5: optional list<i64> parents,
  6: optional string storageLevel,
  7: optional i64 partitions
}

struct HostDisk {
  1: optional string device,
  2: optional double util,
  3: optional double readBytes,
  4: optional double writeBytes,
  5: optional double awaitMs,
  6: optional double queue
}

struct HostNet {
  1: optional string interfaceName,
  2: optional double rxBytes,
  3: optional double txBytes
}

struct SparkPlanMetric {
  1: optional string name,
  2: optional string type,
  3: optional i64 accumulator
}

struct SparkPlanNode {
  1: optional string name,
  2: optional string text,
  3: optional i64 parentNode,   // index in the plan; absent: the root
  4: optional list<SparkPair> metadata,
  5: optional list<SparkPlanMetric> metrics
}

struct SparkApp {
  1: string app,
  2: optional string id,
  3: optional string attempt,
  4: optional string name,
  5: optional string user,
  6: optional string version,
  7: optional string driverHost,
  8: optional i64 startMs,
  9: optional i64 endMs,
  10: optional i64 lastEventMs,
  11: optional i64 logComplete,
  12: optional list<SparkPair> properties
}

struct SparkExecutor {
  1: string app,
  2: string id,
  3: optional string host,
  4: optional i32 cores,
  5: optional i64 addedMs,
  6: optional i64 removedMs,
  7: optional string reason,
  8: optional i64 memoryBytes,  // that its block manager may use
  9: optional list<i64> peaks,  // common/model/spark_peaks.h has their order; the greatest stays
  10: optional i64 excludedMs,  // of bridges without records of exclusions
  11: optional i64 profile      // of resources
}

struct SparkJob {
  1: string app,
  2: i64 job,
  3: optional i64 submittedMs,
  4: optional i64 completedMs,
  5: optional i32 result,
  6: optional list<i64> stages,
  7: optional string description,
  8: optional string callSite,
  9: optional string error,
  10: optional i64 query        // of Spark SQL that it is part of
}

struct SparkStage {
  1: string app,
  2: i64 stage,
  3: i32 attempt,
  4: optional i32 tasks,
  5: optional string name,
  6: optional string details,
  7: optional list<i64> parents,
  8: optional i64 submittedMs,
  9: optional i64 completedMs,
  10: optional string failure,
  11: optional list<SparkRdd> rdds,
  12: optional list<i64> values // accumulator, value, ...: of the nodes of queries that it worked for
  13: optional i64 profile      // of resources
}

struct SparkTask {
  1: string app,
  2: i64 stage,
  3: i32 stageAttempt,
  4: i64 task,
  5: optional i32 partition,
  6: optional i32 attempt,
  7: optional i32 speculative,
  8: optional string executor,
  9: optional string host,
  10: optional i64 launchMs,
  11: optional i64 finishMs,
  12: optional i64 gettingResultMs,
  13: optional i32 locality,
  14: optional i32 status,
  15: optional string reason,
  16: optional list<i64> metrics
}

struct SparkOperation {
  1: string app,
  2: optional i64 stage,
  3: optional i32 stageAttempt,
  4: optional i64 task,
  5: optional i32 partition,
  6: optional i64 rdd,
  7: optional i64 instance,
  8: optional i32 source,
  9: optional i64 thread,
  10: optional string className,
  11: optional string rddText,
  12: optional string executor,
  13: optional string host,
  14: optional i64 beginNs,
  15: optional i64 endNs,
  16: optional i64 exclusiveNs,
  17: optional i64 gcMs,
  18: optional i64 records,
  19: optional list<double> atStart,
  20: optional list<double> atEnd
}

struct HostSample {
  1: string host,
  2: i64 timeNs,
  3: optional string source,
  4: optional i64 intervalNs,
  5: optional i64 zoneOffsetS,
  6: optional double user,
  7: optional double system,
  8: optional double iowait,
  9: optional double steal,
  10: optional double idle,
  11: optional list<HostDisk> disks,
  12: optional list<HostNet> nets
}

struct SparkSplit {
  1: string app,
  2: optional string executor,
  3: optional i64 task,
  4: string path,
  5: optional i64 start,
  6: optional i64 timeMs,
  7: optional i64 length,
  8: optional string host
}

struct SparkLink {
  1: string app,
  2: i64 task,
  3: optional i64 operation,
  4: optional i32 kind,
  5: i64 trace,
  6: optional i64 span,
  7: optional double confidence
}

/* An execution of Spark SQL (part 0), or what one event said of its accumulators (part: the least of them + 1). */
struct SparkQuery {
  1: string app,
  2: i64 query,
  3: i64 part,
  4: optional i64 submittedMs,
  5: optional i64 completedMs,
  6: optional string description,
  7: optional string error,
  8: optional list<SparkPair> settings,
  9: optional list<SparkPlanNode> plan,  // parents before their children
  10: optional list<i64> values          // accumulator, value, ...
}

/* Something that was done, on one host or on all ("*"): a fault that was made, a deployment. */
struct HostMark {
  1: string host,
  2: i64 beginNs,         // more than a day ahead, begin or end: refused
  3: optional string kind,
  4: optional i64 endNs,   // absent: a moment
  5: optional string text
}

/* What executors and tasks of a profile are given; 0: what the settings say. */
struct SparkProfile {
  1: string app,
  2: i64 profile,
  3: optional i64 memoryBytes,
  4: optional i64 overheadBytes,
  5: optional i64 offHeapBytes,
  6: optional i64 pythonBytes,
  7: optional i32 cores,
  8: optional double taskCpus,
  9: optional list<SparkPair> others   // "executor gpu" -> "1"
}

/* An executor, else a host, that got no more tasks: of a stage, else of the application. */
struct SparkExclusion {
  1: string app,
  2: optional string executor,
  3: optional string host,
  4: optional i64 stage,
  5: optional i32 stageAttempt,
  6: optional i64 timeMs,
  7: optional i64 backMs,
  8: optional i64 failures
}

struct RecordBatch {
  1: i32 version,
  2: optional i32 needs,        // absent: 1
  3: optional list<SparkApp> apps,
  4: optional list<SparkExecutor> executors,
  5: optional list<SparkJob> jobs,
  6: optional list<SparkStage> stages,
  7: optional list<SparkTask> tasks,
  8: optional list<SparkOperation> operations,
  9: optional list<HostSample> samples,
  10: optional list<SparkSplit> splits,
  11: optional list<SparkLink> links,
  12: optional list<SparkQuery> queries,
  13: optional list<HostMark> marks,
  14: optional list<SparkProfile> profiles,
  15: optional list<SparkExclusion> exclusions
}

enum Status {
  OK = 0,          // accepted spans are durable, as the receiver's `ack` says
  TRY_LATER = 1,   // nothing of the batch was taken: send it again after waitMs
  REFUSED = 2,     // the batch is malformed or over a limit: do not send it again
  VERSION = 3      // the receiver is too old for `needs`
}

struct Reply {
  1: Status status,
  2: i32 accepted,              // spans (of submitRecords: records) taken
  3: i32 refused,               // spans not taken (invalid id, over a limit), for good
  4: i32 waitMs,                // how long to wait before the next batch; 0: no need
  5: i32 version,               // the receiver's WIRE_VERSION
  6: optional string message,   // for a person
  7: optional string sampling   // policy for roots, as docs/tracing.md has it; absent: the receiver asks for nothing
}

service SpanReceiver {
  Reply submit(1: Batch batch),
  Reply submitPlain(1: list<PlainSpan> spans),
  Reply submitRecords(1: RecordBatch batch)
}
