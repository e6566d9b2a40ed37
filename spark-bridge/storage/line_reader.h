/* Lines of an event log's file, packed or plain, whole or growing, from any position that was noted before.
 *
 * Memory is bounded by the longest line that is handed out, not by the file: lines are handed out in place. A line that
 * nobody wants is passed over without being held, however long it is; one that is wanted and longer than
 * LINE_MOST_BYTES is reported and passed over. */
#pragma once

#include "common/base/bytes.h"
#include "spark-bridge/storage/stored_file.h"
#include "spark-bridge/storage/unpack.h"

/* Lines of a megabyte are ordinary; parsing takes five times a line's size. */
#define LINE_MOST_BYTES ((gsize)32 * 1024 * 1024)
/* Readable, and of no meaning, behind every line: what the parser may look at (simdjson: 64). */
#define LINE_PADDING_BYTES 128u
/* Of a line, enough to tell whether it is wanted. */
#define LINE_HEAD_BYTES 256u

typedef struct ReadPosition {
    guint64 plain_offset;  /* in the content: of the next line */
    guint64 line;          /* lines before it */
    guint64 packed_offset; /* in the file: where unpacking can begin ... */
    guint64 packed_plain;  /* ... and the content's offset there */
} ReadPosition;

typedef struct Line {
    Bytes bytes; /* without the line feed; valid until the next call */
    guint64 number;
} Line;

typedef enum {
    LINE_READY,
    LINE_TOO_LONG, /* line.number tells which */
    LINE_END,      /* nothing more at present: ask again when the file has grown */
    LINE_FAILED,   /* *error is set: PEER and IO may pass, try again; all else is for good */
} LineState;

typedef struct LineReader LineReader;

/* Takes the file. position: NULL: from the begin. wanted: is a line that begins so to be handed out? */
LineReader *line_reader_new(StoredFile *file, const ReadPosition *position, gboolean (*wanted)(Bytes head));
void line_reader_free(LineReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LineReader, line_reader_free)

LineState line_reader_next(LineReader *reader, Line *line, GError **error);
/* At LINE_END: a last line without a line feed; empty bytes: there is none. */
Line line_reader_rest(LineReader *reader);
/* Counts the last line without a line feed as read. */
void line_reader_take_rest(LineReader *reader);

/* After the last line that was handed out. */
ReadPosition line_reader_position(const LineReader *reader);
StoredFile *line_reader_file(const LineReader *reader);
PackedKind line_reader_kind(const LineReader *reader);
/* How much of the file was read, how much of that was used, and how much content came of it. */
guint64 line_reader_file_bytes(const LineReader *reader);
guint64 line_reader_packed_bytes(const LineReader *reader);
guint64 line_reader_plain_bytes(const LineReader *reader);
/* Does unpacking stop within a frame or block? */
gboolean line_reader_within(const LineReader *reader);
