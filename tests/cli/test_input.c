#include "analyzer/cli/import/input.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "common/base/error.h"

/* Larger than the pieces that input reads and gives, and not all of one byte. */
#define TEXT_BYTES ((gsize)5 * 1024 * 1024 + 123)

static GByteArray *make_text(gsize n) {
    GByteArray *text = g_byte_array_sized_new((guint)n);
    guint32 state = 1;
    for (gsize i = 0; i < n; i++) {
        state = state * 1664525 + 1013904223;
        guint8 byte = (guint8)("{\"a\":0123456789,}"[(state >> 20) % 17]);
        g_byte_array_append(text, &byte, 1);
    }
    return text;
}

static void append_gzip(GByteArray *out, const GByteArray *text) {
    z_stream z = {0};
    g_assert_cmpint(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), ==, Z_OK);
    gsize room = deflateBound(&z, text->len);
    guint before = out->len;
    g_byte_array_set_size(out, before + (guint)room);
    z.next_in = text->data;
    z.avail_in = text->len;
    z.next_out = out->data + before;
    z.avail_out = (uInt)room;
    g_assert_cmpint(deflate(&z, Z_FINISH), ==, Z_STREAM_END);
    g_byte_array_set_size(out, before + (guint)(room - z.avail_out));
    deflateEnd(&z);
}

static void append_zstd(GByteArray *out, const GByteArray *text) {
    gsize room = ZSTD_compressBound(text->len);
    guint before = out->len;
    g_byte_array_set_size(out, before + (guint)room);
    gsize n = ZSTD_compress(out->data + before, room, text->data, text->len, 3);
    g_assert_false(ZSTD_isError(n));
    g_byte_array_set_size(out, before + (guint)n);
}

static void append_plain(GByteArray *out, const GByteArray *text) { g_byte_array_append(out, text->data, text->len); }

/* All that input gives for a file of these bytes; NULL error when it came to its end. */
static GByteArray *read_file(const GByteArray *file, GError **error) {
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("plumb-input-XXXXXX", &path, NULL);
    g_assert_cmpint(fd, >=, 0);
    g_assert_true(g_file_set_contents(path, (const char *)file->data, file->len, NULL));
    close(fd);
    g_autoptr(Input) input = input_open(path, error);
    g_assert_nonnull(input);
    GByteArray *all = g_byte_array_new();
    for (;;) {
        Bytes piece;
        InputState state = input_read(input, &piece, error);
        if (state == INPUT_DATA) g_byte_array_append(all, piece.data, (guint)piece.size_bytes);
        if (state == INPUT_END) g_assert_cmpfloat(input_fraction(input), ==, file->len == 0 ? -1 : 1);
        if (state == INPUT_END || state == INPUT_FAILED) break;
    }
    g_remove(path);
    return all;
}

static void assert_same(const GByteArray *a, const GByteArray *b) {
    g_assert_cmpuint(a->len, ==, b->len);
    g_assert_true(a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

static void (*const packers[])(GByteArray *, const GByteArray *) = {append_plain, append_gzip, append_zstd};

static void test_whole(void) {
    static const gsize sizes[] = {0, 1, 2, 3, 4, 5, 1024 * 1024 - 1, 1024 * 1024, 1024 * 1024 + 1, TEXT_BYTES};
    for (guint p = 0; p < G_N_ELEMENTS(packers); p++) {
        for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
            g_autoptr(GByteArray) text = make_text(sizes[i]);
            g_autoptr(GByteArray) file = g_byte_array_new();
            packers[p](file, text);
            g_autoptr(GError) error = NULL;
            g_autoptr(GByteArray) got = read_file(file, &error);
            g_assert_no_error(error);
            assert_same(got, text);
        }
    }
}

/* Highly compressible data: much output from little input, so that a decoder holds output back. */
static void test_dense(void) {
    g_autoptr(GByteArray) text = g_byte_array_new();
    g_byte_array_set_size(text, 50 * 1024 * 1024);
    memset(text->data, 'x', text->len);
    for (guint p = 1; p < G_N_ELEMENTS(packers); p++) {
        g_autoptr(GByteArray) file = g_byte_array_new();
        packers[p](file, text);
        g_autoptr(GError) error = NULL;
        g_autoptr(GByteArray) got = read_file(file, &error);
        g_assert_no_error(error);
        assert_same(got, text);
    }
}

/* As after "cat a.gz b.gz". */
static void test_concatenated(void) {
    for (guint p = 1; p < G_N_ELEMENTS(packers); p++) {
        g_autoptr(GByteArray) file = g_byte_array_new();
        g_autoptr(GByteArray) all = g_byte_array_new();
        for (gsize i = 0; i < 5; i++) {
            g_autoptr(GByteArray) text = make_text(i * 400000);
            packers[p](file, text);
            append_plain(all, text);
        }
        g_autoptr(GError) error = NULL;
        g_autoptr(GByteArray) got = read_file(file, &error);
        g_assert_no_error(error);
        assert_same(got, all);
    }
}

/* What came before the cut is given, then an error. */
static void test_truncated(void) {
    g_autoptr(GByteArray) text = make_text(TEXT_BYTES);
    for (guint p = 1; p < G_N_ELEMENTS(packers); p++) {
        g_autoptr(GByteArray) file = g_byte_array_new();
        packers[p](file, text);
        g_byte_array_set_size(file, file->len / 2);
        g_autoptr(GError) error = NULL;
        g_autoptr(GByteArray) got = read_file(file, &error);
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
        g_assert_nonnull(strstr(error->message, "ends early"));
        g_assert_cmpuint(got->len, >, text->len / 3);
        g_assert_cmpuint(got->len, <, text->len);
        g_assert_cmpmem(got->data, got->len, text->data, got->len);
    }
}

static void test_damaged(void) {
    for (guint p = 1; p < G_N_ELEMENTS(packers); p++) {
        g_autoptr(GByteArray) text = make_text(300000);
        g_autoptr(GByteArray) file = g_byte_array_new();
        packers[p](file, text);
        append_plain(file, text); /* garbage behind a whole member */
        g_autoptr(GError) error = NULL;
        g_autoptr(GByteArray) got = read_file(file, &error);
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
        g_assert_nonnull(strstr(error->message, "damaged"));
        assert_same(got, text);
    }
}

static void test_cannot_open(void) {
    g_autoptr(GError) error = NULL;
    g_assert_null(input_open("/nonexistent/file", &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_IO);
    g_clear_error(&error);
    g_assert_null(input_open("/", &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_IO);
}

/* A plain file may be asked again after its end. */
static void test_grows_and_rewinds(void) {
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("plumb-input-XXXXXX", &path, NULL);
    g_assert_cmpint(write(fd, "one", 3), ==, 3);
    g_autoptr(GError) error = NULL;
    g_autoptr(Input) input = input_open(path, &error);
    Bytes piece;

    g_assert_cmpint(input_read(input, &piece, &error), ==, INPUT_DATA);
    g_assert_cmpmem(piece.data, piece.size_bytes, "one", 3);
    g_assert_cmpint(input_read(input, &piece, &error), ==, INPUT_END);

    g_assert_cmpint(write(fd, "two", 3), ==, 3);
    g_assert_cmpint(input_read(input, &piece, &error), ==, INPUT_DATA);
    g_assert_cmpmem(piece.data, piece.size_bytes, "two", 3);
    g_assert_cmpuint(input_position(input), ==, 6);
    g_assert_cmpint(input_read(input, &piece, &error), ==, INPUT_END);

    g_assert_true(input_rewind(input, &error));
    g_assert_cmpint(input_read(input, &piece, &error), ==, INPUT_DATA);
    g_assert_cmpmem(piece.data, piece.size_bytes, "onetwo", 6);
    close(fd);
    g_remove(path);
}

/* A pipe that has nothing says so once, before it waits. */
static void test_idle_pipe(void) {
    int ends[2];
    g_assert_cmpint(pipe(ends), ==, 0);
    int before = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    g_autoptr(GError) error = NULL;
    g_autoptr(Input) input = input_open("-", &error);
    Bytes piece;
    g_assert_cmpint(input_read(input, &piece, &error), ==, INPUT_IDLE);
    g_assert_cmpint(write(ends[1], "{}", 2), ==, 2);
    close(ends[1]);
    g_assert_cmpint(input_read(input, &piece, &error), ==, INPUT_DATA);
    g_assert_cmpmem(piece.data, piece.size_bytes, "{}", 2);
    g_assert_cmpint(input_read(input, &piece, &error), ==, INPUT_END);
    dup2(before, STDIN_FILENO);
    close(before);
    close(ends[0]);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/input/whole", test_whole);
    g_test_add_func("/input/dense", test_dense);
    g_test_add_func("/input/concatenated", test_concatenated);
    g_test_add_func("/input/truncated", test_truncated);
    g_test_add_func("/input/damaged", test_damaged);
    g_test_add_func("/input/cannot_open", test_cannot_open);
    g_test_add_func("/input/grows_and_rewinds", test_grows_and_rewinds);
    g_test_add_func("/input/idle_pipe", test_idle_pipe);
    return g_test_run();
}
