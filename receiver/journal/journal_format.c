#include "receiver/journal/journal_format.h"

#include <string.h>
#include <xxhash.h>

#include "common/base/error.h"
#include "common/base/little_endian.h"

static const char magic[8] = {'P', 'L', 'U', 'M', 'B', 'J', 'N', 'L'};

void journal_header_encode(const JournalHeader *header, guint8 out[JOURNAL_HEADER_BYTES]) {
    memcpy(out, magic, sizeof magic);
    put_u32_le(out + 8, JOURNAL_FORMAT_VERSION);
    put_u32_le(out + 12, 0);
    put_u64_le(out + 16, header->number);
    put_u64_le(out + 24, header->salt);
    put_u64_le(out + 32, header->previous_number);
    put_u64_le(out + 40, header->previous_size_bytes);
    put_u64_le(out + 48, header->previous_salt);
    put_u64_le(out + 56, XXH3_64bits(out, 56));
}

/* Of this version and this length. */
static gboolean header_good(Bytes file, guint version, gsize size_bytes) {
    const guint8 *at = file.data;
    return file.size_bytes >= size_bytes && get_u32_le(at + 8) == version &&
           XXH3_64bits(at, size_bytes - 8) == get_u64_le(at + size_bytes - 8);
}

gboolean journal_header_decode(Bytes file, JournalHeader *header, GError **error) {
    const guint8 *at = file.data;
    if (file.size_bytes < JOURNAL_HEADER_2_BYTES) return fail(error, PLUMB_ERROR_CORRUPT, "the header is cut");
    if (memcmp(at, magic, sizeof magic) != 0) return fail(error, PLUMB_ERROR_CORRUPT, "not a journal segment");

    const guint version = get_u32_le(at + 8);
    const gboolean current = header_good(file, JOURNAL_FORMAT_VERSION, JOURNAL_HEADER_BYTES);
    if (!current && !header_good(file, 2, JOURNAL_HEADER_2_BYTES)) {
        /* All versions to come have a header of this length, or of the earlier one, with its check at the end. */
        const gboolean other =
            header_good(file, version, JOURNAL_HEADER_2_BYTES) || header_good(file, version, JOURNAL_HEADER_BYTES);
        if (other && version > JOURNAL_FORMAT_VERSION)
            return fail(error, PLUMB_ERROR_VERSION, "format version %u, this plumbd knows %u", version,
                        JOURNAL_FORMAT_VERSION);
        return fail(error, PLUMB_ERROR_CORRUPT, "the header fails its check");
    }

    *header = (JournalHeader){
        .number = get_u64_le(at + 16),
        .salt = get_u64_le(at + 24),
        .previous_number = get_u64_le(at + 32),
        .previous_size_bytes = get_u64_le(at + 40),
        .previous_salt = current ? get_u64_le(at + 48) : 0,
        .version = version,
    };
    return TRUE;
}

JournalRecord journal_record(Bytes payload) {
    return (JournalRecord){payload, XXH3_64bits(payload.data, payload.size_bytes)};
}

#define END_LENGTH G_MAXUINT32

static guint64 head_check(const guint8 head[16], guint64 salt, guint64 offset) {
    guint8 input[32];
    put_u64_le(input, offset);
    put_u64_le(input + 8, salt);
    memcpy(input + 16, head, 16);
    return XXH3_64bits(input, sizeof input);
}

void journal_record_encode(const JournalRecord *record, guint64 salt, guint64 offset,
                           guint8 out[JOURNAL_RECORD_HEADER_BYTES]) {
    put_u32_le(out, (guint32)record->payload.size_bytes);
    put_u32_le(out + 4, 0);
    put_u64_le(out + 8, record->checksum);
    put_u64_le(out + 16, head_check(out, salt, offset));
}

void journal_end_encode(guint64 salt, guint64 offset, guint8 out[JOURNAL_RECORD_HEADER_BYTES]) {
    put_u32_le(out, END_LENGTH);
    put_u32_le(out + 4, 0);
    put_u64_le(out + 8, 0);
    put_u64_le(out + 16, head_check(out, salt, offset));
}

static void need(const JournalReader *reader, gsize from, gsize until) {
    if (reader->source.need) reader->source.need(reader->source.arg, from, until);
}

gboolean journal_reader_init(JournalReader *reader, Bytes file, JournalSource source, GError **error) {
    JournalReader local = {.data = file.data, .size_bytes = file.size_bytes, .source = source};
    need(&local, 0, JOURNAL_HEADER_BYTES);
    if (!journal_header_decode(file, &local.header, error)) return FALSE;
    local.at = local.header.version == 2 ? JOURNAL_HEADER_2_BYTES : JOURNAL_HEADER_BYTES;
    *reader = local;
    return TRUE;
}

void journal_reader_init_without_header(JournalReader *reader, Bytes file, JournalSource source, guint64 salt) {
    *reader = (JournalReader){.data = file.data,
                              .size_bytes = file.size_bytes,
                              .source = source,
                              .header.salt = salt,
                              .at = MIN(JOURNAL_HEADER_2_BYTES, file.size_bytes)};
}

static void note_damage(JournalReader *reader, gsize until) {
    if (reader->damages++ == 0) reader->first_damage = reader->at;
    reader->damaged_bytes += until - reader->at;
    reader->at = until;
}

static gboolean head_good(const JournalReader *reader, gsize at) {
    if (reader->size_bytes - at < JOURNAL_RECORD_HEADER_BYTES) return FALSE;
    need(reader, at, at + JOURNAL_RECORD_HEADER_BYTES);
    const guint8 *head = reader->data + at;
    /* The zeros first: cheap, and most places in a payload do not have them. */
    return get_u32_le(head + 4) == 0 && head_check(head, reader->header.salt, at) == get_u64_le(head + 16);
}

/* Where the next good head is, from 'at' on; the end when there is none. */
static gsize next_good_head(const JournalReader *reader, gsize at) {
    while (at + JOURNAL_RECORD_HEADER_BYTES <= reader->size_bytes && !head_good(reader, at)) at++;
    return at + JOURNAL_RECORD_HEADER_BYTES <= reader->size_bytes ? at : reader->size_bytes;
}

/* What is at reader->at is bad, up to the next good head, which lies at 'from' or later. */
static void note_bad(JournalReader *reader, gsize from) {
    const gsize next = from < reader->size_bytes ? next_good_head(reader, from) : reader->size_bytes;
    if (next < reader->size_bytes) {
        note_damage(reader, next);
        return;
    }
    reader->torn_bytes = reader->size_bytes - reader->at;
    reader->at = reader->size_bytes;
}

static gboolean at_end_mark(JournalReader *reader) {
    if (get_u32_le(reader->data + reader->at) != END_LENGTH) return FALSE;
    reader->unused_bytes = reader->size_bytes - reader->at;
    reader->at = reader->size_bytes;
    return TRUE;
}

gboolean journal_reader_next(JournalReader *reader, Bytes *payload) {
    while (reader->at < reader->size_bytes) {
        if (!head_good(reader, reader->at)) {
            note_bad(reader, reader->at + 1);
            continue;
        }
        if (at_end_mark(reader)) break;
        const guint8 *head = reader->data + reader->at;
        const gsize length = get_u32_le(head), left = reader->size_bytes - reader->at - JOURNAL_RECORD_HEADER_BYTES;
        if (length <= left) need(reader, reader->at, reader->at + JOURNAL_RECORD_HEADER_BYTES + length);
        if (length > left || XXH3_64bits(head + JOURNAL_RECORD_HEADER_BYTES, length) != get_u64_le(head + 8)) {
            note_bad(reader, reader->at + JOURNAL_RECORD_HEADER_BYTES + MIN(length, left));
            continue;
        }
        *payload = (Bytes){head + JOURNAL_RECORD_HEADER_BYTES, length};
        reader->at += JOURNAL_RECORD_HEADER_BYTES + length;
        return TRUE;
    }
    return FALSE;
}

gsize journal_reader_end(const JournalReader *reader) {
    return reader->size_bytes - reader->torn_bytes - reader->unused_bytes;
}
