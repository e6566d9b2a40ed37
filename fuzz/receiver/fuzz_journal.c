/* A journal segment after damage. The input says what was written and what happened to it: number of damages; for each
 * two bytes of place and one to be changed by; two bytes of place of the cut; then records, each a byte of length and
 * that many bytes. What is read back are records that were written, in their order; every byte is accounted for; and
 * without damage nothing is missing. */
#include <string.h>

#include "fuzz/target.h"
#include "receiver/journal/journal_format.h"

#define SALT 0x5eed

/* The segment, and in 'ends' where its records end. */
static GByteArray *write_segment(ByteReader *input, GArray *ends) {
    const JournalHeader header = {.number = 2, .salt = SALT, .previous_number = 1, .previous_size_bytes = 77};
    GByteArray *out = g_byte_array_new();
    g_byte_array_set_size(out, JOURNAL_HEADER_BYTES);
    journal_header_encode(&header, out->data);

    while (reader_left(input) > 0) {
        const gsize wanted = read_u8(input);
        const gsize length = MIN(wanted, reader_left(input));
        const JournalRecord record = journal_record((Bytes){read_bytes(input, length), length});
        guint8 head[JOURNAL_RECORD_HEADER_BYTES];
        journal_record_encode(&record, SALT, out->len, head);
        append_bytes(out, head, sizeof head);
        append_bytes(out, record.payload.data, length);
        const gsize end = out->len;
        g_array_append_val(ends, end);
    }

    guint8 mark[JOURNAL_RECORD_HEADER_BYTES];
    journal_end_encode(SALT, out->len, mark);
    append_bytes(out, mark, sizeof mark);
    append_bytes(out, "what the file held before", 25);
    return out;
}

/* How many records are given back, each of them whole, where it was, and as it was written. */
static guint read_segment(Bytes damaged, const GByteArray *written, const GArray *ends) {
    JournalReader reader;
    Bytes payload;
    guint found = 0;
    gsize accounted = JOURNAL_HEADER_BYTES;
    if (!journal_reader_init(&reader, damaged, (JournalSource){NULL, NULL}, NULL)) return 0;
    for (guint i = 0; journal_reader_next(&reader, &payload); found++, i++) {
        const gsize end = (gsize)((const guint8 *)payload.data - (const guint8 *)damaged.data) + payload.size_bytes;
        while (i < ends->len && g_array_index(ends, gsize, i) < end) i++;
        g_assert_true(i < ends->len && g_array_index(ends, gsize, i) == end);
        if (payload.size_bytes > 0)
            g_assert_true(memcmp(payload.data, written->data + end - payload.size_bytes, payload.size_bytes) == 0);
        accounted += JOURNAL_RECORD_HEADER_BYTES + payload.size_bytes;
    }
    g_assert_cmpuint(accounted + reader.damaged_bytes + reader.torn_bytes + reader.unused_bytes, ==,
                     damaged.size_bytes);
    g_assert_true((reader.damages > 0) == (reader.damaged_bytes > 0));
    if (reader.damages > 0) g_assert_cmpuint(reader.first_damage, <, damaged.size_bytes);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ByteReader input = byte_reader(data, size);
    const gsize n_damages = read_u8(&input);
    const guint8 *damages = read_bytes(&input, 3 * n_damages);
    const gsize cut = read_u16be(&input);
    if (input.failed) return 0;
    g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(gsize));
    g_autoptr(GByteArray) written = write_segment(&input, ends);
    g_assert_cmpuint(read_segment((Bytes){written->data, written->len}, written, ends), ==, ends->len);

    const gsize left = MIN(cut, written->len);
    g_autofree guint8 *damaged = g_memdup2(written->data, MAX(left, 1));
    for (gsize i = 0; i < n_damages && left > 0; i++)
        damaged[((gsize)damages[3 * i] << 8 | damages[3 * i + 1]) % left] ^= damages[3 * i + 2];
    read_segment((Bytes){damaged, left}, written, ends);
    return 0;
}
