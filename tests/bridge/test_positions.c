/* Positions survive, whole; a file that is none is refused and left alone; one program at a time. */
#include "spark-bridge/storage/positions.h"

#include <glib/gstdio.h>
#include <string.h>

#include "tests/bridge/folder.h"

static const LogPosition known = {.app = (char *)"app-1",
                                  .number = 3,
                                  .compact = TRUE,
                                  .id = 42,
                                  .at = {1000, 17, 500, 900},
                                  .size_bytes = 600,
                                  .ended = TRUE};

static void assert_known(const LogPosition *position) {
    g_assert_nonnull(position);
    g_assert_cmpstr(position->app, ==, known.app);
    g_assert_cmpuint(position->number, ==, known.number);
    g_assert_true(position->compact && position->ended);
    g_assert_cmpuint(position->id, ==, known.id);
    g_assert_cmpmem(&position->at, sizeof position->at, &known.at, sizeof known.at);
    g_assert_cmpuint(position->size_bytes, ==, known.size_bytes);
}

static void test_survive(void) {
    char *folder = folder_new();
    g_autofree char *path = g_build_filename(folder, "state", NULL);
    g_autoptr(GError) error = NULL;
    Positions *positions = positions_open(path, &error);
    g_assert_no_error(error);
    positions_set(positions, "/logs/a", &known);
    const LogPosition bare = {0};
    positions_set(positions, "/logs/b", &bare);
    g_assert_true(positions_save(positions, &error));
    positions_set(positions, "/logs/c", &bare); /* not saved */
    positions_close(positions);
    positions = positions_open(path, &error);
    g_assert_no_error(error);
    assert_known(positions_get(positions, "/logs/a"));
    g_assert_null(positions_get(positions, "/logs/b")->app);
    g_assert_null(positions_get(positions, "/logs/c"));
    positions_close(positions);
    folder_remove(folder);
}

static void test_one_at_a_time(void) {
    char *folder = folder_new();
    g_autofree char *path = g_build_filename(folder, "state", NULL);
    g_autoptr(Positions) first = positions_open(path, NULL);
    g_assert_nonnull(first);
    g_autoptr(GError) error = NULL;
    g_assert_null(positions_open(path, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_BUSY);
    folder_remove(folder);
}

static void test_no_positions(void) {
    static const struct {
        const char *text;
        PlumbError code;
    } cases[] = {
        {"", PLUMB_ERROR_CORRUPT},
        {"{\"format\":\"plumb-bridge positions\",\"version\":1,\"logs\":[", PLUMB_ERROR_CORRUPT},
        {"{}", PLUMB_ERROR_CORRUPT},
        {"{\"format\":\"plumb-bridge positions\",\"version\":2,\"logs\":[]}", PLUMB_ERROR_VERSION},
        {"{\"format\":\"plumb-bridge positions\",\"version\":1}", PLUMB_ERROR_CORRUPT},
        {"{\"format\":\"plumb-bridge positions\",\"version\":1,\"logs\":[{\"line\":3}]}", PLUMB_ERROR_CORRUPT},
        {"{\"format\":\"plumb-bridge positions\",\"version\":1,\"logs\":[{\"log\":\"a\",\"content_offset\":1,"
         "\"file_content_offset\":2}]}",
         PLUMB_ERROR_CORRUPT},
    };

    char *folder = folder_new();
    g_autofree char *path = g_build_filename(folder, "state", NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *after = NULL;
        folder_write(folder, "state", cases[i].text);
        g_assert_null(positions_open(path, &error));
        g_assert_error(error, PLUMB_ERROR, (gint)cases[i].code);
        g_assert_nonnull(strstr(error->message, "remove"));
        g_assert_true(g_file_get_contents(path, &after, NULL, NULL));
        g_assert_cmpstr(after, ==, cases[i].text);
    }
    folder_remove(folder);
}

static void test_no_folder(void) {
    g_autoptr(GError) error = NULL;
    g_assert_null(positions_open("/nowhere/at/all/state", &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_IO);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/positions/survive", test_survive);
    g_test_add_func("/positions/one-at-a-time", test_one_at_a_time);
    g_test_add_func("/positions/no-positions", test_no_positions);
    g_test_add_func("/positions/no-folder", test_no_folder);
    return g_test_run();
}
