/* The bytes of a journal segment. Works on memory alone: the files are journal.c's.
 *
 * A segment is a header, then records, one behind the other, then an end mark; a file may be longer, as files are used
 * again (journal.h). All integers are little-endian.
 *
 *   header, 56 bytes:  "PLUMBJNL", version u32, 0 u32, number u64, salt u64,
 *                      number of the segment before u64 (0: none), its size in bytes u64,
 *                      check u64 = XXH3 of the 48 bytes before
 *   record, 24 bytes:  length u32, 0 u32, checksum u64 = XXH3 of the payload,
 *                      check u64 = XXH3 of (offset of the record in the file, salt, and the 16 bytes before);
 *                      then the payload
 *   end mark:          the head of a record of length 0xffffffff and checksum 0; the next record is written over it
 *
 * The payload is a Thrift frame as it came, without its length. The record's head has a check of its own, so that a
 * damaged payload costs one record: the length is still good. When a head is damaged, the next good one is searched for
 * byte by byte; the salt, random per segment, keeps a sender from forging heads inside its payload, and what the file
 * held before from being taken for records. Where no good head follows, not even the end mark, a write was not
 * finished. The size of the segment before tells when that one has lost its end. */
#pragma once

#include "common/base/bytes.h"

#define JOURNAL_FORMAT_VERSION      2u
#define JOURNAL_HEADER_BYTES        56u
#define JOURNAL_RECORD_HEADER_BYTES 24u

typedef struct JournalHeader {
    guint64 number; /* from 1, growing */
    guint64 salt;
    guint64 previous_number;
    guint64 previous_size_bytes;
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

/* Walks over the records of a whole segment in memory, whatever is in it. */
typedef struct JournalReader {
    const guint8 *data;
    gsize size_bytes;
    gsize at;
    JournalHeader header;
    guint damages; /* places at which something was skipped */
    gsize damaged_bytes;
    gsize first_damage; /* offset; when damages > 0 */
    gsize torn_bytes;   /* at the end: from a record on that was not written to its end; no damage */
    gsize unused_bytes; /* at the end: the end mark and what is behind it */
} JournalReader;

gboolean journal_reader_init(JournalReader *reader, Bytes file, GError **error);
/* A view of the next good payload; FALSE at the end. Damage on the way is counted and skipped; a bad record that no
 * good one and no end mark follows is what a crash leaves of an unfinished write. */
gboolean journal_reader_next(JournalReader *reader, Bytes *payload);
