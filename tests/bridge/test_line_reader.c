/* Lines of any length from files of every codec; growing files; going on at any line. */
#include "spark-bridge/storage/line_reader.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/bridge/packed.h"

typedef struct File {
    char *path;
    Storage *storage;
} File;

static File file_new(void) {
    const StorageOptions options = {.retry_ms = 0};
    File file = {.storage = storage_new(&options)};
    g_autoptr(GError) error = NULL;
    const int fd = g_file_open_tmp("plumb-lines-XXXXXX", &file.path, &error);
    g_assert_no_error(error);
    close(fd);
    return file;
}

static void file_clear(File *file) {
    g_unlink(file->path);
    g_free(file->path);
    storage_free(file->storage);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(File, file_clear)

static void file_append(const File *file, const void *data, gsize n) {
    FILE *to = g_fopen(file->path, "a");
    g_assert_cmpuint(fwrite(data, 1, n, to), ==, n);
    g_assert_cmpint(fclose(to), ==, 0);
}

/* Those that begin with '-' are not wanted. */
static gboolean wanted(Bytes head) { return *(const char *)head.data != '-'; }

static LineReader *reader_at(const File *file, const ReadPosition *position) {
    g_autoptr(GError) error = NULL;
    StoredFile *stored = stored_file_open(file->storage, file->path, &error);
    g_assert_no_error(error);
    return line_reader_new(stored, position, wanted);
}

static LineState next(LineReader *reader, Line *line) {
    g_autoptr(GError) error = NULL;
    const LineState state = line_reader_next(reader, line, &error);
    g_assert_no_error(error);
    return state;
}

static void assert_line(const Line *line, const char *text, guint64 number) {
    g_assert_cmpuint(line->bytes.size_bytes, ==, strlen(text));
    g_assert_true(memcmp(line->bytes.data, text, strlen(text)) == 0);
    g_assert_cmpuint(line->number, ==, number);
}

/* Of different lengths, some longer than a chunk. */
static GPtrArray *made_lines(void) {
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    GRand *rand = g_rand_new_with_seed(7);
    for (guint i = 0; i < 300; i++) {
        const gsize n = i % 97 == 50 ? 400000 : (gsize)g_rand_int_range(rand, 0, i % 7 == 0 ? 9000 : 100);
        char *line = g_malloc(n + 1);
        for (gsize k = 0; k < n; k++) line[k] = (char)('a' + g_rand_int_range(rand, 0, 26));
        line[n] = '\0';
        g_ptr_array_add(lines, line);
    }
    g_rand_free(rand);
    return lines;
}

static void read_lines(LineReader *reader, const GPtrArray *lines, guint from, GArray *positions) {
    Line line;
    for (guint i = from; i < lines->len; i++) {
        g_assert_cmpint(next(reader, &line), ==, LINE_READY);
        assert_line(&line, g_ptr_array_index(lines, i), i + 1);
        if (positions == NULL) continue;
        const ReadPosition position = line_reader_position(reader);
        g_array_append_val(positions, position);
    }
    g_assert_cmpint(next(reader, &line), ==, LINE_END);
    g_assert_cmpuint(line_reader_rest(reader).bytes.size_bytes, ==, 0);
}

static void test_every_line(gconstpointer data) {
    const PackedKind kind = (PackedKind)GPOINTER_TO_UINT(data);
    g_auto(File) file = file_new();
    g_autoptr(GPtrArray) lines = made_lines();
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < lines->len; i++) g_string_append_printf(text, "%s\n", (char *)g_ptr_array_index(lines, i));
    g_autoptr(GByteArray) packed = g_byte_array_new();
    packed_append(kind, (Bytes){text->str, text->len}, 20000, packed);
    file_append(&file, packed->data, packed->len);

    g_autoptr(GArray) positions = g_array_new(FALSE, FALSE, sizeof(ReadPosition));
    g_autoptr(LineReader) reader = reader_at(&file, NULL);
    read_lines(reader, lines, 0, positions);
    g_assert_cmpuint(line_reader_plain_bytes(reader), ==, text->len);
    g_assert_cmpuint(line_reader_file_bytes(reader), ==, packed->len);
    guint64 begins = 0;
    for (guint i = 0; i < positions->len; i++) {
        const ReadPosition *position = &g_array_index(positions, ReadPosition, i);
        /* No more than a window's content is unpacked twice. */
        g_assert_cmpuint(position->plain_offset - position->packed_plain, <=, 500000);
        begins += position->packed_offset > 0;
        g_autoptr(LineReader) again = reader_at(&file, position);
        read_lines(again, lines, i + 1, NULL);
    }
    g_assert_cmpuint(begins, >, positions->len / 2);
}

/* Bytes come one by one: a line comes out when it is whole, once. */
static void test_growing(gconstpointer data) {
    const PackedKind kind = (PackedKind)GPOINTER_TO_UINT(data);
    g_auto(File) file = file_new();
    static const char text[] = "first\nsecond line\n\nlast one\n";
    static const char *const lines[] = {"first", "second line", "", "last one"};

    g_autoptr(GByteArray) packed = g_byte_array_new();
    packed_append(kind, (Bytes){text, strlen(text)}, 4, packed);
    g_autoptr(LineReader) reader = reader_at(&file, NULL);
    guint n = 0;

    for (guint i = 0; i < packed->len; i++) {
        Line line;
        file_append(&file, packed->data + i, 1);
        while (next(reader, &line) == LINE_READY) {
            g_assert_cmpuint(n, <, G_N_ELEMENTS(lines));
            assert_line(&line, lines[n], n + 1);
            n++;
        }
    }

    g_assert_cmpuint(n, ==, G_N_ELEMENTS(lines));
    g_assert_false(line_reader_within(reader));
}

static void append_long(const File *file, char first, gsize n, gboolean end) {
    g_autofree char *line = g_malloc(n);
    memset(line, first, n);
    if (end) line[n - 1] = '\n';
    file_append(file, line, n);
}

/* What is longer than the limit is told and passed over; what nobody wants is not even told. */
static void test_long_lines(void) {
    g_auto(File) file = file_new();
    file_append(&file, "one\n", 4);
    append_long(&file, '-', 40 * 1024 * 1024, TRUE); /* not wanted */
    append_long(&file, 'w', 3 * 1024 * 1024, TRUE);  /* wanted */
    append_long(&file, 'x', LINE_MOST_BYTES + 1024 * 1024, TRUE);
    file_append(&file, "-short\nfive\nsix", 15);

    g_autoptr(LineReader) reader = reader_at(&file, NULL);
    Line line;
    g_assert_cmpint(next(reader, &line), ==, LINE_READY);
    assert_line(&line, "one", 1);
    g_assert_cmpint(next(reader, &line), ==, LINE_READY);
    g_assert_cmpuint(line.number, ==, 3);
    g_assert_cmpuint(line.bytes.size_bytes, ==, 3 * 1024 * 1024 - 1);
    g_assert_cmpint(next(reader, &line), ==, LINE_TOO_LONG);
    g_assert_cmpuint(line.number, ==, 4);
    g_assert_cmpint(next(reader, &line), ==, LINE_READY);
    assert_line(&line, "-short", 5); /* short ones are handed out */
    g_assert_cmpint(next(reader, &line), ==, LINE_READY);
    assert_line(&line, "five", 6);

    g_assert_cmpint(next(reader, &line), ==, LINE_END);
    line = line_reader_rest(reader);
    assert_line(&line, "six", 7);

    const ReadPosition position = line_reader_position(reader);
    g_assert_cmpuint(position.line, ==, 6);
    line_reader_take_rest(reader);
    g_assert_cmpuint(line_reader_position(reader).plain_offset, ==, position.plain_offset + 3);
}

/* What came before the damage is handed out; then the error, which names the place, as often as it is asked. */
static void test_damage(void) {
    g_auto(File) file = file_new();
    g_autoptr(GByteArray) packed = g_byte_array_new();
    packed_append(PACKED_LZ4, (Bytes){"good\nhalf", 9}, 100, packed);
    file_append(&file, packed->data, packed->len);
    file_append(&file, "LZ4Blomp", 8);
    g_autoptr(LineReader) reader = reader_at(&file, NULL);
    Line line;
    g_assert_cmpint(next(reader, &line), ==, LINE_READY);
    assert_line(&line, "good", 1);
    for (guint i = 0; i < 2; i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *where = g_strdup_printf("at byte %u of the file", packed->len);
        g_assert_cmpint(line_reader_next(reader, &line, &error), ==, LINE_FAILED);
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
        g_assert_nonnull(strstr(error->message, where));
        g_assert_nonnull(strstr(error->message, file.path));
    }
}

static void test_gzip(void) {
    g_auto(File) file = file_new();
    file_append(&file, "\x1f\x8b\x08\0\0\0\0\0", 8);
    g_autoptr(LineReader) reader = reader_at(&file, NULL);
    g_autoptr(GError) error = NULL;
    Line line;
    g_assert_cmpint(line_reader_next(reader, &line, &error), ==, LINE_FAILED);
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
    g_assert_nonnull(strstr(error->message, "gunzip"));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (guint kind = PACKED_PLAIN; kind < PACKED_KINDS; kind++) {
        const char *name = packed_kind_name((PackedKind)kind);
        g_autofree char *every = g_strdup_printf("/line-reader/%s/every-line", name);
        g_autofree char *growing = g_strdup_printf("/line-reader/%s/growing", name);
        g_test_add_data_func(every, GUINT_TO_POINTER(kind), test_every_line);
        g_test_add_data_func(growing, GUINT_TO_POINTER(kind), test_growing);
    }
    g_test_add_func("/line-reader/long-lines", test_long_lines);
    g_test_add_func("/line-reader/damage", test_damage);
    g_test_add_func("/line-reader/gzip", test_gzip);
    return g_test_run();
}
