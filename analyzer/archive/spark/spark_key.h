/* Keys of the family 'spark': records of Spark and of hosts. All integers are big-endian.
 *
 *   0, 0 u8, hash of the application's key u64     SparkOwner: its key, when something of it was last written (ms), and
 *   0, 1 u8, hash of the host's name u64           how many records of each kind there are
 *   1 + kind u8, hash u64 of the application (of samples and marks: of the host), and then
 *     app        nothing
 *     executor   hash of its id u64
 *     job        job u64
 *     stage      stage u32, attempt u32
 *     task       stage u32, attempt u32, task attempt id u64
 *     operation  stage u32, attempt u32, task attempt id u64, hash of the other fields that tell it apart u64
 *     sample     time in ns u64, hash of the source u64
 *     split      task attempt id u64, hash of the other fields u64
 *     link       task attempt id u64, hash of the other fields u64
 *     query      query u64, part u64
 *     mark       begin in ns u64, hash of the kind u64
 *   32, trace id u64, hash of the application u64, task attempt id u64, hash u64     nothing: the way from a trace to
 *                                                                                  its links
 *
 * Values are spark_code.h's. A record that is told again has the same key, so a log that is read again changes nothing.
 * Hashes are FNV-1a with splitmix64's finaliser, 64 bits: an owner whose name differs from that of its hash's entry is
 * refused. -1 is all ones in a key. Stages lie in order, their tasks one behind the other; samples and marks
 * in order of time. */
#pragma once

#include "common/base/bytes.h"
#include "common/model/spark_fields.h"
#include "common/model/spark_records.h"

#define SPARK_KEY_MOST_BYTES 40u
#define SPARK_OWNER_MARK     0u
#define SPARK_KIND_MARK      1u /* + kind */
#define SPARK_TRACE_MARK     32u

typedef enum { OWNER_APP, OWNER_HOST, OWNER_KINDS } OwnerKind;

typedef struct SparkKey {
    guint8 bytes[SPARK_KEY_MOST_BYTES];
    guint size_bytes;
} SparkKey;

static inline Bytes spark_key_bytes(const SparkKey *key) { return (Bytes){key->bytes, key->size_bytes}; }
/* Of hosts, in the order of their time; the others are of applications. */
static inline gboolean spark_kind_timed(SparkKind kind) { return kind == SPARK_SAMPLE || kind == SPARK_MARK; }
static inline OwnerKind spark_owner_kind(SparkKind kind) { return spark_kind_timed(kind) ? OWNER_HOST : OWNER_APP; }

guint64 spark_hash_text(const char *text);
SparkKey spark_owner_key(OwnerKind kind, guint64 hash);
/* All records of a kind of an owner begin with it. */
SparkKey spark_prefix(SparkKind kind, guint64 owner);
SparkKey spark_record_key(SparkKind kind, guint64 owner, const void *record);
/* Appends to a prefix. */
void spark_key_u32(SparkKey *key, gint64 value);
void spark_key_u64(SparkKey *key, gint64 value);
/* The way from a trace to a link; the prefix of all of a trace. */
SparkKey spark_trace_key(guint64 owner, const SparkLink *link);
SparkKey spark_trace_prefix(guint64 trace);
/* The first key behind all that begin with it. */
SparkKey spark_key_after(const SparkKey *prefix);

/* What is known of an application or a host as a whole. */
typedef struct SparkOwner {
    const char *name;  /* borrowed */
    gint64 written_ms; /* when something of it was last written, by the wall clock */
    guint64 records[SPARK_KIND_COUNT];
} SparkOwner;

void spark_owner_encode(const SparkOwner *owner, GByteArray *out);
/* The name is copied into the memory of 'into'. */
gboolean spark_owner_decode(Bytes value, SparkRecords *into, SparkOwner *owner);
