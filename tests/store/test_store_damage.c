/* A store whose disk is full, and one whose files are damaged. The program calls itself to open damaged
 * stores (--read FOLDER) and for what happens on a full disk (--close, --open): whatever it finds, it must say so and
 * end in order. */
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "tests/store/fixture.h"

static const char *program;

static Store *open_ok(const StoreOptions *options) {
    g_autoptr(GError) error = NULL;
    Store *store = store_open_rocksdb(options, &error);
    g_assert_no_error(error);
    g_assert_nonnull(store);
    return store;
}

/* ---- full disk ---- */

/* A small disk of its own. NULL, with the test skipped, when we may not mount one. */
static char *disk_new(void) {
    char *disk = folder_new();
    if (mount("tmpfs", disk, "tmpfs", 0, "size=48m") == 0) return disk;
    g_test_skip("only root can mount a disk of its own");
    folder_remove(disk);
    return NULL;
}

static void disk_free(char *disk) {
    g_assert_cmpint(umount(disk), ==, 0);
    folder_remove(disk);
}

static guint64 free_bytes(const char *disk) {
    struct statvfs now;
    g_assert_cmpint(statvfs(disk, &now), ==, 0);
    return (guint64)now.f_bavail * now.f_frsize;
}

/* Takes all that is free but 'leave_bytes'. */
static void fill(const char *disk, guint64 leave_bytes) {
    g_autofree char *path = g_build_filename(disk, "ballast", NULL);
    FILE *ballast = fopen(path, "a");
    g_assert_nonnull(ballast);
    static const char block[1 << 16];
    setvbuf(ballast, NULL, _IONBF, 0);
    while (free_bytes(disk) >= leave_bytes + sizeof block && fwrite(block, sizeof block, 1, ballast) == 1) continue;
    while (free_bytes(disk) > leave_bytes && fwrite(block, 4096, 1, ballast) == 1) continue;
    fclose(ballast);
}

static void make_room(const char *disk) {
    g_autofree char *path = g_build_filename(disk, "ballast", NULL);
    g_assert_cmpint(g_unlink(path), ==, 0);
}

static StoreBatch *merge_batch(Store *store, const char *operand) {
    StoreBatch *batch = store_batch_new(store);
    store_batch_merge(batch, FAMILY_STATS, text("sum"), text(operand));
    return batch;
}

static void assert_no_space(Store *store, StoreBatch *batch) {
    g_autoptr(GError) error = NULL;
    gsize size = store_batch_size_bytes(batch);
    g_assert_false(store_write(store, batch, FALSE, &error));
    g_test_message("%s", error->message);
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_NO_SPACE);
    g_assert_cmpuint(store_batch_size_bytes(batch), ==, size);
}

static void test_refused_in_time(gconstpointer no_log) {
    char *disk = disk_new();
    if (disk == NULL) return;
    g_autofree char *folder = g_build_filename(disk, "store", NULL);
    StoreOptions options = small_options(folder);
    options.no_log = no_log != NULL;
    g_autoptr(Store) store = open_ok(&options);

    put(store, FAMILY_STATS, "sum", "0");
    fill(disk, 1 << 20);
    g_autoptr(StoreBatch) batch = merge_batch(store, "1");
    assert_no_space(store, batch);
    assert_value(store, FAMILY_STATS, "sum", "0");
    make_room(disk);

    /* At once, and once. */
    g_assert_true(store_write(store, batch, FALSE, NULL));
    assert_value(store, FAMILY_STATS, "sum", "01");

    g_clear_pointer(&batch, store_batch_free);
    g_clear_pointer(&store, store_close);
    store = open_ok(&options);
    assert_value(store, FAMILY_STATS, "sum", "01");
    g_clear_pointer(&store, store_close);
    disk_free(disk);
}

/* Others took the last of the disk: RocksDB itself runs into it. */
static void test_engine_recovers(gconstpointer no_log) {
    char *disk = disk_new();
    if (disk == NULL) return;
    g_autofree char *folder = g_build_filename(disk, "store", NULL);
    StoreOptions options = small_options(folder);
    options.no_log = no_log != NULL;
    g_autoptr(Store) store = open_ok(&options);

    put(store, FAMILY_STATS, "sum", "0");
    fill(disk, 0);
    g_autoptr(GError) error = NULL;
    g_assert_false(store_flush(store, FALSE, &error));
    g_test_message("%s", error->message);
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_NO_SPACE);

    g_autoptr(StoreBatch) batch = merge_batch(store, "1");
    assert_no_space(store, batch);
    assert_value(store, FAMILY_STATS, "sum", "0");
    make_room(disk);

    /* RocksDB looks for space every five seconds. */
    const Clock *clock = clock_system();
    gint64 start_ns = clock_monotonic_ns(clock);
    while (!store_write(store, batch, FALSE, NULL)) {
        g_assert_cmpint(clock_monotonic_ns(clock) - start_ns, <, 60 * NS_PER_SEC);
        g_usleep(20 * 1000);
    }

    assert_value(store, FAMILY_STATS, "sum", "01");
    g_clear_pointer(&batch, store_batch_free);
    g_clear_pointer(&store, store_close);
    store = open_ok(&options);
    assert_value(store, FAMILY_STATS, "sum", "01");
    g_clear_pointer(&store, store_close);
    disk_free(disk);
}

/* The part that writes; a store that could not be closed in order stays with its process. */
static int close_when_full(const char *disk, const char *key, const char *flush) {
    g_autofree char *folder = g_build_filename(disk, "store", NULL);
    const StoreOptions options = small_options(folder);
    Store *store = open_ok(&options);
    put(store, FAMILY_TRACE, key, "before");
    fill(disk, 0);
    if (strcmp(flush, "flush") == 0) g_assert_false(store_flush(store, FALSE, NULL)); /* the engine has seen it */
    store_close(store);
    return 0;
}

/* What is left may do for opening, but not for writing. */
static int open_when_full(const char *disk) {
    g_autofree char *folder = g_build_filename(disk, "store", NULL);
    const StoreOptions options = small_options(folder);
    g_autoptr(GError) error = NULL;
    Store *store = store_open_rocksdb(&options, &error);
    if (store == NULL) {
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_NO_SPACE);
        return 0;
    }
    g_autoptr(StoreBatch) batch = merge_batch(store, "1");
    assert_no_space(store, batch);
    store_close(store);
    return 0;
}

static void run_self(const char *what, const char *disk, const char *key, const char *flush) {
    const char *const argv[] = {program, what, disk, key, flush, NULL};
    int status = 0;
    g_autoptr(GError) error = NULL;
    g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status, &error);
    g_assert_no_error(error);
    g_assert_true(g_spawn_check_wait_status(status, &error));
}

/* Closed and opened while nothing at all is free. */
static void test_closed_when_full(void) {
    char *disk = disk_new();
    if (disk == NULL) return;
    g_autofree char *folder = g_build_filename(disk, "store", NULL);
    StoreOptions options = small_options(folder);

    for (guint round = 0; round < 3; round++) {
        g_autofree char *key = g_strdup_printf("round %u", round);
        run_self("--close", disk, key, round == 1 ? "flush" : "");
        if (round == 2) fill(disk, 0); /* also what closing gave back */
        run_self("--open", disk, "", "");

        options.read_only = TRUE;
        g_autoptr(Store) store = open_ok(&options);
        assert_value(store, FAMILY_TRACE, key, "before");
        g_clear_pointer(&store, store_close);
        options.read_only = FALSE;
        make_room(disk);

        store = open_ok(&options);
        assert_value(store, FAMILY_TRACE, key, "before");
        g_clear_pointer(&store, store_close);
    }
    disk_free(disk);
}

/* A store that fills its disk alone keeps all it said it has, also when it is closed and opened on the full disk. */
static void test_fills_alone(gconstpointer no_log) {
    char *disk = disk_new();
    if (disk == NULL) return;
    g_autofree char *folder = g_build_filename(disk, "store", NULL);
    StoreOptions options = small_options(folder);
    options.no_log = no_log != NULL;
    g_autoptr(Store) store = open_ok(&options);
    g_autofree guint32 *value = g_new(guint32, 8192);
    guint written = 0;

    for (gboolean more = TRUE; more; written += more) {
        for (guint i = 0; i < 8192; i++) value[i] = g_random_int();
        g_autofree char *key = g_strdup_printf("%06u", written);
        g_autoptr(StoreBatch) batch = store_batch_new(store);
        store_batch_put(batch, FAMILY_TRACE, text(key), (Bytes){value, 8192 * sizeof *value});
        g_autoptr(GError) error = NULL;
        more = store_write(store, batch, FALSE, &error);
        if (!more) g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_NO_SPACE);
    }

    /* Two thirds of the disk at least: the rest is what compaction and the buffers need. */
    g_assert_cmpuint(written * 32, >, 24 << 10);

    for (guint round = 0; round < 2; round++) {
        for (guint i = 0; i <= written; i++) {
            g_autofree char *key = g_strdup_printf("%06u", i);
            g_autoptr(GBytes) found = NULL;
            g_assert_true(store_get(store, FAMILY_TRACE, text(key), &found, NULL));
            g_assert_cmpint(found != NULL, ==, i < written);
        }
        g_clear_pointer(&store, store_close);
        store = open_ok(&options);
    }

    g_clear_pointer(&store, store_close);
    disk_free(disk);
}

/* ---- damage ---- */

/* What a damaged store says: "ok CHECKSUM", or "error CODE MESSAGE". */
static void tell(const char *how, Store *store, GError *error) {
    g_autofree char *all = store != NULL ? store_dump(store, &error) : NULL;
    g_autofree char *sum = all != NULL ? g_compute_checksum_for_string(G_CHECKSUM_SHA1, all, -1) : NULL;
    if (sum != NULL)
        printf("%s ok %s\n", how, sum);
    else
        printf("%s error %d %s\n", how, error->code, error->message);
    fflush(stdout);
    g_clear_error(&error);
}

static int read_damaged(const char *folder) {
    StoreOptions options = small_options(folder);
    for (guint writing = 0; writing < 2; writing++) {
        options.read_only = writing == 0;
        GError *error = NULL;
        Store *store = store_open_rocksdb(&options, &error);
        tell(writing ? "writing" : "reading", store, error);
        if (store != NULL && writing) store_flush(store, TRUE, NULL);
        store_close(store);
    }
    return 0;
}

static void fill_with_all_kinds(Store *store, guint from) {
    g_autoptr(StoreBatch) batch = store_batch_new(store);
    for (guint i = from; i < from + 300; i++) {
        g_autofree char *key = g_strdup_printf("key %06u", i), *value = g_strdup_printf("%u %u", i * 7919, i);
        for (guint family = FAMILY_DICT; family < FAMILY_COUNT; family++)
            store_batch_put(batch, (StoreFamily)family, text(key), text(value));
        store_batch_merge(batch, FAMILY_STATS, text("sum"), text(value));
    }
    g_assert_true(store_write(store, batch, FALSE, NULL));
}

/* Two folders of the same content: closed in order; and as kill -9 leaves it, the log full. */
static void make_originals(const char *closed, const char *killed) {
    StoreOptions options = small_options(closed);
    g_autoptr(Store) store = open_ok(&options);
    fill_with_all_kinds(store, 0);
    g_assert_true(store_flush(store, TRUE, NULL));
    fill_with_all_kinds(store, 300);
    g_assert_true(store_flush(store, FALSE, NULL));
    fill_with_all_kinds(store, 600);
    folder_copy(closed, killed);
}

static char *run_reader(const char *folder) {
    const char *const argv[] = {program, "--read", folder, NULL};
    char *output = NULL;
    g_autofree char *errors = NULL;
    int status = 0;
    g_autoptr(GError) error = NULL;
    g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &output, &errors, &status, &error);
    g_assert_no_error(error);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        g_error("the reader ended with %d: %s%s", status, output, errors);
    return output;
}

static void damage_file(const char *path, gboolean cut) {
    g_autofree char *content = NULL;
    gsize size;
    g_assert_true(g_file_get_contents(path, &content, &size, NULL));
    if (size == 0) return;
    gsize at = (gsize)g_random_int_range(0, (gint32)size);
    if (cut)
        size = at;
    else
        content[at] = (char)(content[at] ^ 1 << g_random_int_range(0, 8));
    file_write(path, content, size);
}

/* Files that hold data, or name those that do. */
static gboolean matters(const char *name) {
    return g_str_has_suffix(name, ".sst") || g_str_has_suffix(name, ".log") || g_str_has_prefix(name, "MANIFEST") ||
           strcmp(name, "CURRENT") == 0;
}

/* May what is there be taken for a crash in the middle of a write? Then its end may be missing without a word. */
static gboolean may_lose_its_end(const char *original, const char *name) {
    return g_str_has_suffix(name, ".log") ||
           (g_str_has_prefix(name, "MANIFEST") && g_str_has_suffix(original, "killed"));
}

/* Damages one file of a copy and reads it. Each line that says "ok" must have all the data. */
static void try_damage(const char *original, const char *name, gboolean cut, const char *expected) {
    char *folder = folder_new();
    folder_copy(original, folder);
    g_autofree char *path = g_build_filename(folder, name, NULL);
    damage_file(path, cut);
    g_autofree char *output = run_reader(folder);
    g_auto(GStrv) lines = g_strsplit(g_strchomp(output), "\n", -1);
    g_assert_cmpuint(g_strv_length(lines), ==, 2);
    for (char **line = lines; *line != NULL; line++) {
        g_test_message("%s %s: %.150s", cut ? "cut" : "flipped", name, *line);
        if (strstr(*line, " ok ") != NULL) {
            if (!may_lose_its_end(original, name)) g_assert_nonnull(strstr(*line, expected));
            continue;
        }
        g_autofree char *corrupt = g_strdup_printf(" error %d ", PLUMB_ERROR_CORRUPT);
        g_autofree char *newer = g_strdup_printf(" error %d ", PLUMB_ERROR_VERSION);
        g_assert_true(strstr(*line, corrupt) != NULL || strstr(*line, newer) != NULL);
    }
    folder_remove(folder);
}

static void test_damage(void) {
    const guint rounds = g_test_slow() ? 40 : 2;
    char *folder = folder_new();
    g_autofree char *closed = g_build_filename(folder, "closed", NULL);
    g_autofree char *killed = g_build_filename(folder, "killed", NULL);
    make_originals(closed, killed);
    const char *originals[] = {closed, killed};

    for (guint i = 0; i < G_N_ELEMENTS(originals); i++) {
        g_autofree char *copy = g_build_filename(folder, "copy", NULL);
        folder_copy(originals[i], copy);
        g_autofree char *whole = run_reader(copy);
        folder_remove(g_steal_pointer(&copy));
        g_auto(GStrv) words = g_strsplit_set(whole, " \n", 4);
        g_assert_cmpstr(words[1], ==, "ok");

        g_autoptr(GDir) dir = g_dir_open(originals[i], 0, NULL);
        const char *name;
        while ((name = g_dir_read_name(dir)) != NULL) {
            if (!matters(name) || (!g_test_slow() && g_str_has_suffix(name, ".sst") && g_random_int_range(0, 3) > 0))
                continue;
            for (guint round = 0; round < rounds; round++) try_damage(originals[i], name, round % 2 == 0, words[2]);
        }
    }
    folder_remove(folder);
}

/* The list of tables, cut at every place: only at the ends of its records does RocksDB itself not notice. */
static void test_changed_manifest(void) {
    char *folder = folder_new();
    g_autofree char *store_folder = g_build_filename(folder, "store", NULL);
    const StoreOptions options = small_options(store_folder);
    g_autoptr(Store) store = open_ok(&options);
    fill_with_all_kinds(store, 0);
    g_clear_pointer(&store, store_close);

    g_autofree char *current = g_build_filename(store_folder, "CURRENT", NULL), *name = NULL, *content = NULL;
    g_assert_true(g_file_get_contents(current, &name, NULL, NULL));
    g_autofree char *manifest = g_build_filename(store_folder, g_strchomp(name), NULL);
    gsize size;
    g_assert_true(g_file_get_contents(manifest, &content, &size, NULL));

    StoreOptions reading = options;
    reading.read_only = TRUE;
    store = open_ok(&reading);
    g_clear_pointer(&store, store_close);

    for (gsize cut = 0; cut < size; cut++) {
        file_write(manifest, content, cut);
        g_autoptr(GError) error = NULL;
        g_assert_null(store_open_rocksdb(&reading, &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
    }

    /* And any bit of it: one in a record's length makes RocksDB take that for the end. */
    for (gsize at = 0; at < size; at++) {
        content[at] = (char)(content[at] ^ 1 << at % 8);
        file_write(manifest, content, size);
        content[at] = (char)(content[at] ^ 1 << at % 8);
        g_autoptr(GError) error = NULL;
        g_assert_null(store_open_rocksdb(&reading, &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
    }
    folder_remove(folder);
}

/* A MANIFEST cut to its first records must not pass for a store that was never filled: opening that one for writing
 * would delete all tables. */
static void test_cut_manifest_after_kill(void) {
    char *folder = folder_new();
    g_autofree char *closed = g_build_filename(folder, "closed", NULL);
    g_autofree char *killed = g_build_filename(folder, "killed", NULL);
    make_originals(closed, killed);

    g_autofree char *current = g_build_filename(killed, "CURRENT", NULL), *name = NULL, *content = NULL;
    g_assert_true(g_file_get_contents(current, &name, NULL, NULL));
    g_autofree char *manifest = g_build_filename(killed, g_strchomp(name), NULL);
    gsize size;
    g_assert_true(g_file_get_contents(manifest, &content, &size, NULL));
    const StoreOptions options = small_options(killed);

    for (gsize cut = 0; cut < MIN(size, 700); cut += 7) {
        file_write(manifest, content, cut);
        g_autoptr(GError) error = NULL;
        g_assert_null(store_open_rocksdb(&options, &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
    }

    file_write(manifest, content, size);
    Store *store = open_ok(&options);
    store_close(store);
    folder_remove(folder);
}

static void test_missing_files(void) {
    char *folder = folder_new();
    g_autofree char *closed = g_build_filename(folder, "closed", NULL);
    g_autofree char *killed = g_build_filename(folder, "killed", NULL);
    make_originals(closed, killed);
    static const char *const endings[] = {"CURRENT", ".sst", "MANIFEST-"};

    for (guint i = 0; i < G_N_ELEMENTS(endings); i++) {
        g_autofree char *copy = g_build_filename(folder, "copy", NULL);
        folder_copy(closed, copy);
        g_autoptr(GDir) dir = g_dir_open(copy, 0, NULL);
        const char *name;
        guint removed = 0;

        while ((name = g_dir_read_name(dir)) != NULL) {
            g_autofree char *path = g_build_filename(copy, name, NULL);
            if (strstr(name, endings[i]) != NULL && removed++ == 0) g_assert_cmpint(g_unlink(path), ==, 0);
        }
        g_assert_cmpuint(removed, >, 0);

        StoreOptions options = small_options(copy);
        for (guint read_only = 0; read_only < 2; read_only++) {
            options.read_only = read_only == 1;
            g_autoptr(GError) error = NULL;
            g_assert_null(store_open_rocksdb(&options, &error));
            g_test_message("%s", error->message);
            g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
        }
        folder_remove(g_steal_pointer(&copy));
    }
    folder_remove(folder);
}

int main(int argc, char **argv) {
    program = argv[0];
    if (argc == 3 && strcmp(argv[1], "--read") == 0) return read_damaged(argv[2]);
    if (argc == 5 && strcmp(argv[1], "--close") == 0) return close_when_full(argv[2], argv[3], argv[4]);
    if (argc == 5 && strcmp(argv[1], "--open") == 0) return open_when_full(argv[2]);

    /* Some hundred stores are opened here: in memory where there is such a place, for the time that disks take. */
    if (access("/dev/shm", W_OK) == 0) g_setenv("TMPDIR", "/dev/shm", FALSE);
    g_test_init(&argc, &argv, NULL);

    g_test_add_data_func("/full-disk/refused-in-time", NULL, test_refused_in_time);
    g_test_add_data_func("/full-disk/refused-in-time-without-log", "no log", test_refused_in_time);
    g_test_add_data_func("/full-disk/engine-recovers", NULL, test_engine_recovers);
    g_test_add_data_func("/full-disk/engine-recovers-without-log", "no log", test_engine_recovers);
    g_test_add_func("/full-disk/closed-when-full", test_closed_when_full);
    g_test_add_data_func("/full-disk/fills-alone", NULL, test_fills_alone);
    g_test_add_data_func("/full-disk/fills-alone-without-log", "no log", test_fills_alone);
    g_test_add_func("/damage/missing-files", test_missing_files);
    g_test_add_func("/damage/changed-manifest", test_changed_manifest);
    g_test_add_func("/damage/cut-manifest-after-kill", test_cut_manifest_after_kill);
    g_test_add_func("/damage/random", test_damage);

    return g_test_run();
}
