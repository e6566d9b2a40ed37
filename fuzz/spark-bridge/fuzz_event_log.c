/* A whole event log's file, plain or packed: every line comes with its number, and reading from the position behind any
 * line gives the lines that come after it. */
#define _GNU_SOURCE /* memfd_create */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/target.h"
#include "spark-bridge/events/events.h"
#include "spark-bridge/storage/line_reader.h"

/* Lines that are read: a packed input may hold millions. */
#define LINES_MOST 300u

typedef struct Read {
    GArray *hashes, *positions;
    LineState end;
} Read;

static Read read_from(Storage *storage, const char *path, const ReadPosition *from, guint most) {
    StoredFile *file = stored_file_open(storage, path, NULL);
    g_assert_nonnull(file);
    g_autoptr(LineReader) reader = line_reader_new(file, from, events_wanted);
    Read read = {g_array_new(FALSE, FALSE, sizeof(guint32)), g_array_new(FALSE, FALSE, sizeof(ReadPosition)),
                 LINE_READY};
    guint64 number = from != NULL ? from->line : 0;

    while (read.hashes->len < most) {
        Line line;
        read.end = line_reader_next(reader, &line, NULL);
        if (read.end == LINE_END || read.end == LINE_FAILED) break;
        g_assert_cmpuint(line.number, >, number); /* those that nobody wants may be left out */
        number = line.number;
        guint32 hash = (guint32)line.number;
        for (gsize i = 0; read.end == LINE_READY && i < line.bytes.size_bytes; i++)
            hash = hash * 31 + ((const guint8 *)line.bytes.data)[i];

        const ReadPosition position = line_reader_position(reader);
        g_assert_cmpuint(position.packed_plain, <=, position.plain_offset);
        g_array_append_val(read.hashes, hash);
        g_array_append_val(read.positions, position);
    }

    return read;
}

static void read_clear(Read *read) {
    g_array_unref(read->hashes);
    g_array_unref(read->positions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const StorageOptions options = {.retry_ms = 0};
    g_autoptr(Storage) storage = storage_new(&options);
    const int fd = memfd_create("log", MFD_CLOEXEC);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(write(fd, data, size), ==, (gssize)size);
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);

    Read whole = read_from(storage, path, NULL, LINES_MOST);
    for (guint i = 0; i < whole.positions->len; i += 1 + whole.positions->len / 4) {
        Read rest =
            read_from(storage, path, &g_array_index(whole.positions, ReadPosition, i), whole.hashes->len - i - 1);
        g_assert_cmpuint(rest.hashes->len, ==, whole.hashes->len - i - 1);
        for (guint k = 0; k < rest.hashes->len; k++)
            g_assert_cmpuint(g_array_index(rest.hashes, guint32, k), ==,
                             g_array_index(whole.hashes, guint32, i + 1 + k));
        read_clear(&rest);
    }

    read_clear(&whole);
    close(fd);
    return 0;
}
