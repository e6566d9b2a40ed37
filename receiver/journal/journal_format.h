/* The bytes of a journal segment. Works on memory alone: the files are journal.c's.
 *
 * A segment is a header, then records, one behind the other, then an end mark; a file may be longer, as files are used
 * again (journal.h). All integers are little-endian.
 *
 *   header, 64 bytes:  "PLUMBJNL", version u32 = 3, 0 u32, number u64, salt u64,
 *                      of the segment before: number u64 (0: none), where its records end u64, salt u64;
 *                      check u64 = XXH3 of the 56 bytes before
 *   record, 24 bytes:  length u32, 0 u32, checksum u64 = XXH3 of the payload,
 *                      check u64 = XXH3 of (offset of the record in the file, salt, and the 16 bytes before);
 *                      then the payload
 *   end mark:          the head of a record of length 0xffffffff and checksum 0; the next record is written over it
 *
 * The payload is a Thrift frame as it came, without its length. The record's head has a check of its own, so that a
 * damaged payload costs one record: the length is still good. When a head is damaged, the next good one is searched for
 * byte by byte; the salt, random per segment, keeps a sender from forging heads inside its payload, and what the file
 * held before from being taken for records. Where no good head follows, not even the end mark, a write was not
 * finished.
 *
 * Numbers have no gaps, so one that is missing between two others is seen. Each segment tells where the records of the
 * one before end, so that an end that is lost, zeroed, or left from an earlier write is told from a write that was not
 * finished; 0: unknown, as its header could not be read. And it tells its salt, with which the records of one that has
 * lost its header are found.
 *
 * Version 2, which is read, too, has a header of 56 bytes without the salt of the segment before. Of one that an
 * earlier process left, it tells the size of the file, in which its records need not reach to the end. */
#pragma once

#include "common/base/bytes.h"

#define JOURNAL_FORMAT_VERSION      3u
#define JOURNAL_HEADER_BYTES        64u
#define JOURNAL_HEADER_2_BYTES      56u /* of version 2 */
#define JOURNAL_RECORD_HEADER_BYTES 24u

typedef struct JournalHeader {
    guint64 number; /* from 1, growing */
    guint64 salt;
    guint64 previous_number;
    guint64 previous_size_bytes;
    guint64 previous_salt; /* 0: unknown */
    guint version;         /* set by decoding */
} JournalHeader;

void journal_header_encode(const JournalHeader *header, guint8 out[JOURNAL_HEADER_BYTES]);
/* Errors: VERSION, CORRUPT. */
gboolean journal_header_decode(Bytes file, JournalHeader *header, GError **error);

/* A payload with its checksum, to be computed outside of locks. */
typedef struct JournalRecord {
    Bytes payload;
    guint64 checksum;
} JournalRecord;
JournalRecord journal_record(Bytes payload);
void journal_end_encode(guint64 salt, guint64 offset, guint8 out[JOURNAL_RECORD_HEADER_BYTES]);
void journal_record_encode(const JournalRecord *record, guint64 salt, guint64 offset,
                           guint8 out[JOURNAL_RECORD_HEADER_BYTES]);

/* Whoever has the bytes of a segment that does not lie in memory as a whole: makes those of [from, until) readable, and
 * may take away what is before 'from'. need NULL: all is there. */
typedef struct JournalSource {
    void (*need)(void *arg, gsize from, gsize until);
    void *arg;
} JournalSource;

/* Walks over the records of a whole segment, whatever is in it. */
typedef struct JournalReader {
    const guint8 *data;
    gsize size_bytes;
    gsize at;
    JournalSource source;
    JournalHeader header;
    guint damages; /* places at which something was skipped */
    gsize damaged_bytes;
    gsize first_damage; /* offset; when damages > 0 */
    gsize torn_bytes;   /* at the end: from a record on that was not written to its end; no damage by itself */
    gsize unused_bytes; /* at the end: the end mark and what is behind it */
} JournalReader;

gboolean journal_reader_init(JournalReader *reader, Bytes file, JournalSource source, GError **error);
/* Of a segment whose header is lost; 'salt' is what the one after it tells. */
void journal_reader_init_without_header(JournalReader *reader, Bytes file, JournalSource source, guint64 salt);
/* A view of the next good payload, valid until the next call; FALSE at the end. Damage on the way is counted and
 * skipped; a bad record that no good one and no end mark follows is what a crash leaves of an unfinished write. */
gboolean journal_reader_next(JournalReader *reader, Bytes *payload);
/* After that FALSE: where the records end. */
gsize journal_reader_end(const JournalReader *reader);
