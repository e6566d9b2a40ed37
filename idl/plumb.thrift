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

const i32 WIRE_VERSION = 2

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
 * `needs` it. A pack refers to the batch's strings and to nothing else outside of it. It consists of
 *   varint spans; varint names; names times varint index into Batch.strings; and then each span:
 *
 *   varint shape              what it has in common with others: 1 to n is one that an earlier span of the pack defined and
 *                             kept, in that order; n + 1 is defined here and kept; 0 is defined here for this span alone
 *   its definition, if here   name function; name tracer; varint annotations; for each: u8 kind (0 text, 1 number), name key
 *   u8 bits                   1 trace is the last span's; 2 one parent, of this trace, the last that bit 4 gave; 4 one
 *                             parent, of this trace, given here; 8 lists follow; 16 milliseconds
 *   i64 trace                 without bit 1
 *   i64 span
 *   i64 parent                with bit 4
 *   varint n, (i64 trace, i64 span) each      with bit 8: parents
 *   signed begin              less the last span's
 *   signed duration
 *   value of each annotation  number: signed, less its last in this shape, as decimal digits in the end.
 *                             text: varint 0: the last in this shape; else length + 1, bytes
 *   varint n, (signed time less the span's begin, text) each      with bit 8: notes
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

enum Status {
  OK = 0,          // accepted spans are durable, as the receiver's `ack` says
  TRY_LATER = 1,   // nothing of the batch was taken: send it again after waitMs
  REFUSED = 2,     // the batch is malformed or over a limit: do not send it again
  VERSION = 3      // the receiver is too old for `needs`
}

struct Reply {
  1: Status status,
  2: i32 accepted,              // spans taken
  3: i32 refused,               // spans not taken (invalid id, over a limit), for good
  4: i32 waitMs,                // how long to wait before the next batch; 0: no need
  5: i32 version,               // the receiver's WIRE_VERSION
  6: optional string message,   // for a person
  7: optional string sampling   // policy for roots, as docs/tracing.md has it; absent: the receiver asks for nothing
}

service SpanReceiver {
  Reply submit(1: Batch batch),
  Reply submitPlain(1: list<PlainSpan> spans)
}
