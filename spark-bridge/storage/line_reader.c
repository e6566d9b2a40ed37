#include "spark-bridge/storage/line_reader.h"

#include <string.h>

/* Fits the second-level cache, with the line that is parsed. */
#define CHUNK_BYTES ((gsize)256 * 1024)
/* From here on it is asked whether a line without an end is wanted at all. */
#define LONG_BYTES ((gsize)64 * 1024)
/* No more marks than one for so much content. */
#define MARK_EVERY_BYTES (64u * 1024)

/* A place where unpacking can begin. */
typedef struct Mark {
    guint64 packed, plain;
} Mark;

struct LineReader {
    StoredFile *file;
    gboolean (*wanted)(Bytes head);
    PackedKind kind;
    Unpacker *unpacker;
    GArray *marks; /* of Mark, rising; the first is the last one before 'begin' */

    guint8 *raw; /* read from the file and not unpacked: [raw_at, raw_end) */
    gsize raw_at, raw_end, raw_room;
    guint64 raw_offset; /* in the file, of raw_end */
    gsize raw_wanted;   /* bytes that the unpacker asked for */

    guint8 *window; /* content: [at, end); looked through for a line feed up to 'seen' */
    gsize at, end, seen, room;
    guint64 begin;  /* content offset of the line that begins at 'at' or is being passed over */
    guint64 line;   /* lines before it */
    guint64 passed; /* bytes of it that are gone from the window; 0: it is all there */
    gboolean too_long;
    guint64 skip; /* content before the position, which the first frame or block has */
};

LineReader *line_reader_new(StoredFile *file, const ReadPosition *position, gboolean (*wanted)(Bytes head)) {
    LineReader *reader = g_new0(LineReader, 1);
    reader->file = file;
    reader->wanted = wanted;
    reader->marks = g_array_new(FALSE, FALSE, sizeof(Mark));
    const ReadPosition start = {0};
    if (position == NULL) position = &start;
    const Mark mark = {position->packed_offset, position->packed_plain};
    g_array_append_val(reader->marks, mark);
    reader->raw_offset = mark.packed;
    reader->begin = position->plain_offset;
    reader->line = position->line;
    reader->skip = position->plain_offset - mark.plain;
    return reader;
}

void line_reader_free(LineReader *reader) {
    if (reader == NULL) return;
    stored_file_close(reader->file);
    unpacker_free(reader->unpacker);
    g_array_unref(reader->marks);
    g_free(reader->raw);
    g_free(reader->window);
    g_free(reader);
}

static guint64 plain_end(const LineReader *reader) {
    return reader->begin + reader->passed + (reader->end - reader->at);
}

static guint64 packed_at(const LineReader *reader) { return reader->raw_offset - (reader->raw_end - reader->raw_at); }

ReadPosition line_reader_position(const LineReader *reader) {
    ReadPosition position = {reader->begin, reader->line, reader->begin, reader->begin};
    if (reader->kind == PACKED_PLAIN) return position;
    const Mark *mark = &g_array_index(reader->marks, Mark, 0);
    position.packed_offset = mark->packed;
    position.packed_plain = mark->plain;
    return position;
}

StoredFile *line_reader_file(const LineReader *reader) { return reader->file; }

PackedKind line_reader_kind(const LineReader *reader) { return reader->kind; }

guint64 line_reader_file_bytes(const LineReader *reader) { return reader->raw_offset; }

guint64 line_reader_packed_bytes(const LineReader *reader) { return packed_at(reader); }

guint64 line_reader_plain_bytes(const LineReader *reader) { return plain_end(reader); }

gboolean line_reader_within(const LineReader *reader) {
    return reader->unpacker != NULL &&
           (!unpacker_clean(reader->unpacker) || (reader->kind != PACKED_PLAIN && reader->raw_at < reader->raw_end));
}

/* Which format it is, by the begin of the file. UNKNOWN while that is not there yet. */
static gboolean detect(LineReader *reader, GError **error) {
    guint8 head[PACKED_MAGIC_BYTES];
    gsize have = 0;
    while (have < sizeof head) {
        const gssize n = stored_file_read(reader->file, have, head + have, sizeof head - have, error);
        if (n < 0) return FALSE;
        if (n == 0) break;
        have += (gsize)n;
    }
    reader->kind = packed_kind_detect((Bytes){head, have});
    if (reader->kind == PACKED_PLAIN && have >= 2 && head[0] == 0x1f && head[1] == 0x8b)
        return fail(error, PLUMB_ERROR_INPUT,
                    "%s is packed by gzip, which Spark does not write: unpack it first (gunzip)",
                    stored_file_path(reader->file));
    if (reader->kind != PACKED_UNKNOWN) reader->unpacker = unpacker_new(reader->kind);
    return TRUE;
}

/* Room for a chunk behind the content that is kept, and the padding. */
static void make_room(LineReader *reader) {
    if (reader->at > 0) {
        memmove(reader->window, reader->window + reader->at, reader->end - reader->at);
        reader->seen -= reader->at;
        reader->end -= reader->at;
        reader->at = 0;
    }
    const gsize least = reader->end + CHUNK_BYTES + LINE_PADDING_BYTES;
    if (reader->room < least) {
        reader->room = MAX(least, 2 * reader->room);
        reader->window = g_realloc(reader->window, reader->room);
        memset(reader->window + reader->end, 0, reader->room - reader->end);
    } else if (reader->room > 16 * CHUNK_BYTES && least < reader->room / 4) {
        reader->room /= 2;
        reader->window = g_realloc(reader->window, reader->room);
    }
}

/* TRUE when bytes came. */
static gboolean read_raw(LineReader *reader, GError **error) {
    if (reader->raw_at > 0) {
        memmove(reader->raw, reader->raw + reader->raw_at, reader->raw_end - reader->raw_at);
        reader->raw_end -= reader->raw_at;
        reader->raw_at = 0;
    }
    const gsize least = CLAMP(reader->raw_wanted, reader->raw_end + CHUNK_BYTES, PACKED_BLOCK_BYTES + CHUNK_BYTES);
    if (reader->raw_room < least) {
        reader->raw = g_realloc(reader->raw, least);
        reader->raw_room = least;
    }
    const gssize n = stored_file_read(reader->file, reader->raw_offset, reader->raw + reader->raw_end,
                                      reader->raw_room - reader->raw_end, error);
    if (n <= 0) return FALSE;
    reader->raw_end += (gsize)n;
    reader->raw_offset += (guint64)n;
    return TRUE;
}

static void note_mark(LineReader *reader) {
    const Mark mark = {packed_at(reader), plain_end(reader)};
    const Mark *last = &g_array_index(reader->marks, Mark, reader->marks->len - 1);
    if (mark.plain >= last->plain + MARK_EVERY_BYTES) g_array_append_val(reader->marks, mark);
}

/* Content came: what lies before the position that reading began at goes. */
static void take_content(LineReader *reader, gsize n) {
    reader->end += n;
    const gsize skipped = (gsize)MIN(reader->skip, (guint64)(reader->end - reader->at));
    reader->skip -= skipped;
    reader->at += skipped;
    reader->seen = MAX(reader->seen, reader->at);
}

/* Unpacks something; TRUE when content came or the unpacker took something. */
static gboolean unpack(LineReader *reader, GError **error) {
    if (reader->raw == NULL) return FALSE; /* nothing was read yet */
    UnpackStep step = {.in = {reader->raw + reader->raw_at, reader->raw_end - reader->raw_at},
                       .to = reader->window + reader->end,
                       .room = reader->room - reader->end - LINE_PADDING_BYTES};
    const gsize before = step.in.size_bytes;
    const gboolean good = unpacker_step(reader->unpacker, &step, error);
    reader->raw_at = reader->raw_end - step.in.size_bytes;
    if (!good) {
        g_prefix_error(error, "%s: at byte %" G_GUINT64_FORMAT " of the file: ", stored_file_path(reader->file),
                       packed_at(reader));
        return FALSE;
    }
    reader->raw_wanted = step.wanted;
    take_content(reader, step.n);
    if (reader->skip == 0 && unpacker_clean(reader->unpacker)) note_mark(reader);
    return step.n > 0 || step.in.size_bytes != before;
}

static gboolean fill_plain(LineReader *reader, GError **error) {
    const gssize n = stored_file_read(reader->file, reader->raw_offset, reader->window + reader->end,
                                      reader->room - reader->end - LINE_PADDING_BYTES, error);
    if (n <= 0) return FALSE;
    reader->raw_offset += (guint64)n;
    take_content(reader, (gsize)n);
    return TRUE;
}

/* More content; FALSE at the end and with an error. */
static gboolean fill(LineReader *reader, GError **error) {
    GError *why = NULL;
    if (reader->kind == PACKED_UNKNOWN && !detect(reader, &why)) g_propagate_error(error, why);
    if (reader->unpacker == NULL) return FALSE;
    make_room(reader);
    if (reader->kind == PACKED_PLAIN) return fill_plain(reader, error);
    const gsize end = reader->end;
    while (reader->end == end) {
        if (unpack(reader, &why)) continue;
        if (why == NULL && read_raw(reader, &why)) continue;
        if (why != NULL) g_propagate_error(error, why);
        return FALSE;
    }
    return TRUE;
}

static void next_line_begins(LineReader *reader, gsize after) {
    reader->begin += reader->passed + (after - reader->at);
    reader->at = reader->seen = after;
    reader->passed = 0;
    reader->too_long = FALSE;
    reader->line++;
    GArray *marks = reader->marks;
    guint drop = 0;
    while (drop + 1 < marks->len && g_array_index(marks, Mark, drop + 1).plain <= reader->begin) drop++;
    if (drop > 0) g_array_remove_range(marks, 0, drop);
}

/* Of a line that has no end yet: what is not wanted or too long is let go. */
static void pass_over(LineReader *reader) {
    const gsize have = reader->end - reader->at;
    if (reader->passed == 0) {
        if (have < LONG_BYTES) return;
        const Bytes head = {reader->window + reader->at, LINE_HEAD_BYTES};
        reader->too_long = have > LINE_MOST_BYTES;
        if (!reader->too_long && reader->wanted(head)) return;
    }
    reader->passed += have;
    reader->at = reader->seen = reader->end;
}

static LineState end_state(GError *why, GError **error) {
    if (why == NULL) return LINE_END;
    g_propagate_error(error, why);
    return LINE_FAILED;
}

LineState line_reader_next(LineReader *reader, Line *line, GError **error) {
    for (;;) {
        const gsize unseen = reader->end - reader->seen;
        const guint8 *feed = unseen > 0 ? memchr(reader->window + reader->seen, '\n', unseen) : NULL;
        if (feed == NULL) {
            reader->seen = reader->end;
            pass_over(reader);
            GError *why = NULL;
            if (!fill(reader, &why)) return end_state(why, error);
            continue;
        }
        const guint8 *start = reader->window + reader->at;
        const gsize length = (gsize)(feed - start);
        const gboolean passed = reader->passed > 0, too_long = reader->too_long;
        next_line_begins(reader, reader->at + length + 1);
        *line = (Line){{start, length}, reader->line};
        if (passed && too_long) return LINE_TOO_LONG;
        if (!passed) return LINE_READY;
    }
}

Line line_reader_rest(LineReader *reader) {
    if (reader->window == NULL) return (Line){{"", 0}, reader->line + 1};
    return (Line){{reader->window + reader->at, reader->end - reader->at}, reader->line + 1};
}

void line_reader_take_rest(LineReader *reader) { next_line_begins(reader, reader->end); }
