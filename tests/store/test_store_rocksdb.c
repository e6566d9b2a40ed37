/* A store on disk: other processes, other versions, other users, kill -9. The program calls itself for the parts that
 * must be a process of their own:
 *   --write FOLDER  writes batch after batch and prints the number of each, once written, until it is killed
 *   --lose FOLDER   the same without a log; prints instead how many are safe
 *   --hold FOLDER   opens the store, prints "open", and waits for the end of its input
 *   --make FOLDER   prints "start" and makes the store
 *   --nobody FOLDER as a user without rights, opens the store; prints the error's code and message */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <rocksdb/c.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/error.h"
#include "common/store/store_ops.h"
#include "tests/store/fixture.h"

static const char *program;

static Store *open_ok(const StoreOptions *options) {
    g_autoptr(GError) error = NULL;
    Store *store = store_open_rocksdb(options, &error);
    g_assert_no_error(error);
    g_assert_nonnull(store);
    return store;
}

/* Opening must fail with this code, and the message must name the folder and hold 'says'. */
static void assert_refused(const StoreOptions *options, PlumbError code, const char *says) {
    g_autoptr(GError) error = NULL;
    Store *store = store_open_rocksdb(options, &error);
    g_assert_null(store);
    g_test_message("%s", error->message);
    g_assert_error(error, PLUMB_ERROR, (int)code);
    g_assert_nonnull(strstr(error->message, options->path));
    g_assert_nonnull(strstr(error->message, says));
}

typedef struct Child {
    GPid pid;
    int to; /* its input */
    FILE *from;
} Child;

static Child child_start(const char *what, const char *folder) {
    const char *const argv[] = {program, what, folder, NULL};
    Child child;
    int from;
    g_autoptr(GError) error = NULL;
    g_spawn_async_with_pipes(NULL, (char **)argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &child.pid, &child.to,
                             &from, NULL, &error);
    g_assert_no_error(error);
    child.from = fdopen(from, "r");
    return child;
}

/* Its wait status. */
static int child_end(Child *child) {
    close(child->to);
    int status = 0;
    g_assert_cmpint(waitpid(child->pid, &status, 0), ==, child->pid);
    fclose(child->from);
    return status;
}

/* ---- persistence and the other processes ---- */

static void test_reopen(void) {
    char *folder = folder_new();
    g_autofree char *deep = g_build_filename(folder, "made", "when", "missing", NULL);
    const StoreOptions options = small_options(deep);
    for (guint i = 0; i < 3; i++) {
        g_autoptr(Store) store = open_ok(&options);
        g_autofree char *key = g_strdup_printf("%u", i), *before = i > 0 ? g_strdup_printf("%u", i - 1) : NULL;
        if (before != NULL) assert_value(store, FAMILY_TRACE, before, "x");
        put(store, FAMILY_TRACE, key, "x");
        g_autoptr(StoreBatch) batch = store_batch_new(store);
        store_batch_merge(batch, FAMILY_STATS, text("s"), text(key));
        g_assert_true(store_write(store, batch, TRUE, NULL));
        g_assert_true(store_sync(store, NULL));
        g_clear_pointer(&batch, store_batch_free);
    }
    g_autoptr(Store) store = open_ok(&options);
    assert_value(store, FAMILY_STATS, "s", "012");
    g_clear_pointer(&store, store_close);
    folder_remove(folder);
}

static void test_two_processes(void) {
    char *folder = folder_new();
    StoreOptions options = small_options(folder);
    g_autoptr(Store) first = open_ok(&options);
    put(first, FAMILY_TRACE, "a", "1");
    g_clear_pointer(&first, store_close);

    Child child = child_start("--hold", folder);
    char line[16];
    g_assert_nonnull(fgets(line, sizeof line, child.from));
    assert_refused(&options, PLUMB_ERROR_BUSY, "another process");

    /* Reading is possible, sees what the other wrote, and keeps seeing it. */
    options.read_only = TRUE;
    g_autoptr(Store) beside = open_ok(&options);
    assert_value(beside, FAMILY_TRACE, "a", "1");
    assert_value(beside, FAMILY_TRACE, "held", "yes");

    g_autoptr(GError) error = NULL;
    g_autoptr(StoreBatch) batch = store_batch_new(beside);
    store_batch_put(batch, FAMILY_TRACE, text("b"), text("2"));
    g_assert_false(store_write(beside, batch, FALSE, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_IO);
    g_assert_true(store_sync(beside, NULL) && store_flush(beside, TRUE, NULL));
    g_assert_cmpint(child_end(&child), ==, 0);
    assert_value(beside, FAMILY_TRACE, "held", "yes");

    g_clear_pointer(&batch, store_batch_free);
    g_clear_pointer(&beside, store_close);
    options.read_only = FALSE;
    first = open_ok(&options);
    assert_value(first, FAMILY_TRACE, "held", "yes");
    assert_refused(&options, PLUMB_ERROR_BUSY, "this process");
    g_clear_pointer(&first, store_close);
    folder_remove(folder);
}

static int hold(const char *folder) {
    const StoreOptions options = small_options(folder);
    g_autoptr(Store) store = open_ok(&options);
    put(store, FAMILY_TRACE, "held", "yes");
    puts("open");
    fflush(stdout);
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0) continue;
    return 0;
}

/* A reader keeps its view although the writer beside it deletes the tables that the reader opened. */
static void test_reader_beside_compaction(void) {
    char *folder = folder_new();
    StoreOptions options = small_options(folder), reading = options;
    reading.read_only = TRUE;
    g_autoptr(Store) store = open_ok(&options);
    g_autofree char *value = g_strnfill(1000, 'v');

    for (guint round = 0; round < 10; round++) {
        for (guint i = 0; i < 100; i++) {
            g_autofree char *key = g_strdup_printf("%03u", i);
            put(store, FAMILY_TRACE, key, value);
        }

        g_assert_true(store_flush(store, FALSE, NULL));
        g_autoptr(Store) beside = open_ok(&reading);
        g_autofree char *before = store_dump(beside, NULL);
        g_assert_true(store_flush(store, TRUE, NULL));
        g_autofree char *after = store_dump(beside, NULL);

        g_assert_nonnull(before);
        g_assert_cmpstr(before, ==, after);
    }
    g_clear_pointer(&store, store_close);
    folder_remove(folder);
}

/* ---- kill -9 ---- */

/* How many batches are covered by a mark that was reached. */
static guint count_safe(Store *store, GArray *marks, guint safe) {
    guint64 reached = store_reached_mark(store);
    while (safe < marks->len && g_array_index(marks, guint64, safe) <= reached) safe++;
    return safe;
}

/* Batch i: key "i" in several families, and "x" appended to a shared key. */
static int write_until_killed(const char *folder, gboolean no_log) {
    StoreOptions options = small_options(folder);
    options.no_log = no_log;
    Store *store = open_ok(&options);
    g_autoptr(GArray) marks = g_array_new(FALSE, FALSE, sizeof(guint64));
    guint safe = 0;
    g_autofree char *padding = g_strnfill(3000, 'p');

    for (guint i = 0;; i++) {
        g_autofree char *key = g_strdup_printf("%06u", i);
        g_autoptr(StoreBatch) batch = store_batch_new(store);
        store_batch_put(batch, FAMILY_TRACE, text(key), text(padding));
        store_batch_put(batch, FAMILY_TRACE_ID, text(key), text(key));
        store_batch_merge(batch, FAMILY_STATS, text("all"), text("x"));
        if (!store_write(store, batch, FALSE, NULL)) return 1;

        guint64 mark = store_next_mark(store);
        g_array_append_val(marks, mark);
        if (i % 8 == 7 && !store_set_mark(store, i % 200 == 199, NULL)) return 1;
        for (guint now = no_log ? count_safe(store, marks, safe) : i + 1; safe < now; safe++) printf("%u\n", safe);
        fflush(stdout);
    }
}

static void test_kill(gconstpointer data) {
    gboolean no_log = data != NULL;
    static const guint after[] = {1, 10, 150, 700, 2000};

    for (guint round = 0; round < G_N_ELEMENTS(after); round++) {
        char *folder = folder_new();
        Child child = child_start(no_log ? "--lose" : "--write", folder);
        char line[32];
        guint acknowledged = 0;
        while (acknowledged < after[round]) {
            g_assert_nonnull(fgets(line, sizeof line, child.from));
            acknowledged++;
        }

        kill(child.pid, SIGKILL);
        while (fgets(line, sizeof line, child.from) != NULL) acknowledged += strchr(line, '\n') != NULL;
        int status = child_end(&child);
        g_assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

        StoreOptions options = small_options(folder);
        options.no_log = no_log;
        g_autoptr(Store) store = open_ok(&options);
        g_autoptr(StoreIter) traces = store_iter_new(store, FAMILY_TRACE);
        g_autoptr(StoreIter) ids = store_iter_new(store, FAMILY_TRACE_ID);
        guint n = 0;
        gboolean more = store_iter_seek(traces, text(""));
        g_assert_cmpint(store_iter_seek(ids, text("")), ==, more);
        while (more) {
            g_autofree char *key = g_strdup_printf("%06u", n++);
            Bytes there = store_iter_key(traces), id = store_iter_key(ids);
            g_assert_cmpmem(there.data, there.size_bytes, key, 6);
            g_assert_cmpmem(id.data, id.size_bytes, key, 6);
            more = store_iter_next(traces);
            g_assert_cmpint(store_iter_next(ids), ==, more);
        }

        /* One more may have been written than the child lived to tell. */
        g_test_message("%u acknowledged, %u there", acknowledged, n);
        g_assert_cmpuint(n, >=, acknowledged);
        if (!no_log) g_assert_cmpuint(n, <=, acknowledged + 1);
        g_autofree char *all = g_strnfill(n, 'x');
        assert_value(store, FAMILY_STATS, "all", all);
        g_clear_pointer(&traces, store_iter_free);
        g_clear_pointer(&ids, store_iter_free);
        g_clear_pointer(&store, store_close);
        folder_remove(folder);
    }
}

static int make(const char *folder) {
    puts("start");
    fflush(stdout);
    const StoreOptions options = small_options(folder);
    store_close(open_ok(&options));
    return 0;
}

/* Killed at any moment while it is made, a store can be made to its end by the next opening. */
static void test_kill_while_made(void) {
    for (guint round = 0; round < 25; round++) {
        char *folder = folder_new();
        Child child = child_start("--make", folder);
        char line[16];
        g_assert_nonnull(fgets(line, sizeof line, child.from));
        g_usleep((gulong)g_random_int_range(0, 20000)); /* a moment by chance: making takes about 20 ms */
        kill(child.pid, SIGKILL);
        child_end(&child);
        StoreOptions options = small_options(folder);
        Store *store = open_ok(&options);
        put(store, FAMILY_TRACE, "a", "1");
        store_close(store);
        options.read_only = TRUE;
        store = open_ok(&options);
        assert_value(store, FAMILY_TRACE, "a", "1");
        store_close(store);
        folder_remove(folder);
    }
}

/* ---- versions and other programs ---- */

static void test_versions(void) {
    static const struct {
        const char *value;
        gsize size;
        int code; /* -1: opens */
        const char *says;
    } cases[] = {
        {"\0\0\0\5", 4, -1, NULL},
        {"\0\0\0\4", 4, PLUMB_ERROR_VERSION, "move the folder away; `plumb export` of that version"},
        {"\0\0\0\6", 4, PLUMB_ERROR_VERSION, "format 6"},
        {"\xff\xff\xff\xff", 4, PLUMB_ERROR_VERSION, "newer version"},
        {"\0\0\0\0", 4, PLUMB_ERROR_CORRUPT, "unreadable"},
        {"\1", 1, PLUMB_ERROR_CORRUPT, "unreadable"},
        {"\0\0\0\5\0", 5, PLUMB_ERROR_CORRUPT, "unreadable"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *folder = folder_new();
        StoreOptions options = small_options(folder);
        Store *store = open_ok(&options);
        StoreBatch *batch = store_batch_new(store);
        store_batch_put(batch, FAMILY_META, text("format"), (Bytes){cases[i].value, cases[i].size});
        g_assert_true(store_write(store, batch, FALSE, NULL));
        store_batch_free(batch);
        store_close(store);

        for (guint read_only = 0; read_only < 2; read_only++) {
            options.read_only = read_only == 1;
            if (cases[i].code >= 0)
                assert_refused(&options, (PlumbError)cases[i].code, cases[i].says);
            else
                store_close(open_ok(&options));
        }
        folder_remove(folder);
    }
}

static rocksdb_t *open_plain(const char *folder) {
    char *failure = NULL;
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(options, 1);
    rocksdb_t *db = rocksdb_open(options, folder, &failure);
    g_assert_cmpstr(failure, ==, NULL);
    rocksdb_options_destroy(options);
    return db;
}

static void test_other_databases(void) {
    char *folder = folder_new();
    StoreOptions options = small_options(folder);
    options.read_only = TRUE;
    assert_refused(&options, PLUMB_ERROR_NOT_FOUND, "there is none");
    options.read_only = FALSE;
    /* An empty RocksDB is a store whose making was cut short. */
    rocksdb_close(open_plain(folder));
    store_close(open_ok(&options));
    folder_remove(folder);

    folder = folder_new();
    options.path = folder;
    rocksdb_t *db = open_plain(folder);
    char *failure = NULL;
    rocksdb_writeoptions_t *writing = rocksdb_writeoptions_create();
    rocksdb_put(db, writing, "k", 1, "v", 1, &failure);
    g_assert_cmpstr(failure, ==, NULL);
    rocksdb_close(db);
    assert_refused(&options, PLUMB_ERROR_CORRUPT, "some other program");
    folder_remove(folder);

    /* A family that this version does not know. */
    folder = folder_new();
    options.path = folder;
    db = open_plain(folder);
    rocksdb_put(db, writing, "format", 6, "\0\0\0\5", 4, &failure);
    rocksdb_options_t *plain = rocksdb_options_create();
    rocksdb_column_family_handle_destroy(rocksdb_create_column_family(db, plain, "tasks", &failure));
    g_assert_cmpstr(failure, ==, NULL);
    rocksdb_close(db);
    assert_refused(&options, PLUMB_ERROR_VERSION, "newer version");
    rocksdb_options_destroy(plain);
    rocksdb_writeoptions_destroy(writing);
    folder_remove(folder);
}

/* ---- space ---- */

/* n entries of 1 KiB that do not compress, in the order of their keys. */
static void fill(Store *store, guint from, guint n) {
    g_autoptr(GRand) random = g_rand_new_with_seed(from);
    g_autoptr(StoreBatch) batch = store_batch_new(store);
    for (guint i = from; i < from + n; i++) {
        guint32 value[256];
        for (guint j = 0; j < G_N_ELEMENTS(value); j++) value[j] = g_rand_int(random);
        g_autofree char *key = g_strdup_printf("%08u", i);
        store_batch_put(batch, FAMILY_TRACE, text(key), (Bytes){value, sizeof value});
        if (i % 100 == 99) g_assert_true(store_write(store, batch, FALSE, NULL));
    }
    g_assert_true(store_write(store, batch, FALSE, NULL));
}

static guint count_entries(Store *store) {
    guint n = 0;
    g_autoptr(StoreIter) iter = store_iter_new(store, FAMILY_TRACE);
    for (gboolean more = store_iter_seek(iter, text("")); more; more = store_iter_next(iter)) n++;
    return n;
}

static void delete_and_reclaim(Store *store, const char *until) {
    g_autoptr(StoreBatch) batch = store_batch_new(store);
    store_batch_delete_range(batch, FAMILY_TRACE, text("0"), text(until));
    g_assert_true(store_write(store, batch, FALSE, NULL));
    g_assert_true(store_reclaim(store, FAMILY_TRACE, text("0"), text(until), NULL));
}

/* The oldest part is deleted again and again: the space comes back, and what lies in a file with what stays never
 * reappears. */
static void test_reclaim(void) {
    char *folder = folder_new();
    StoreOptions options = small_options(folder);
    Store *store = open_ok(&options);
    guint total = 16384;
    fill(store, 0, total);
    g_assert_true(store_flush(store, TRUE, NULL));
    guint64 full = store_usage(store).disk_bytes;
    g_assert_cmpuint(full, >=, 16 << 20);

    for (guint gone = 1500; gone < total; gone += 1500) {
        g_autofree char *until = g_strdup_printf("%08u", gone);
        delete_and_reclaim(store, until);
        g_assert_cmpuint(count_entries(store), ==, total - gone);
        if (gone % 4500 != 0) continue;
        store_close(store);
        store = open_ok(&options);
        g_assert_cmpuint(count_entries(store), ==, total - gone);
    }

    guint64 left = store_usage(store).disk_bytes;
    g_test_message("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " bytes left", left, full);
    g_assert_cmpuint(left, <, full / 3);

    /* And the rest by rewriting. */
    g_assert_true(store_compact(store, FAMILY_TRACE, text("0"), text("9"), NULL));
    g_assert_cmpuint(count_entries(store), ==, total % 1500);
    g_assert_cmpuint(store_usage(store).disk_bytes, <, full / 8);
    store_close(store);
    folder_remove(folder);
}

/* Four versions of everything, in fewer files than are merged by themselves: three of them go. */
static void test_quiet(void) {
    char *folder = folder_new();
    StoreOptions options = small_options(folder);
    Store *store = open_ok(&options);
    const guint versions = 4, n = 2048;
    for (guint i = 0; i < versions; i++) {
        fill(store, 0, n);
        g_assert_true(store_flush(store, FALSE, NULL));
    }
    guint64 full = store_usage(store).disk_bytes;
    g_assert_cmpuint(full, >=, (guint64)versions * n * 1024);
    store_set_quiet(store, TRUE);
    for (gint64 end = g_get_monotonic_time() + 60 * G_TIME_SPAN_SECOND; store_usage(store).disk_bytes > full / 3;) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
        g_usleep(10000);
    }
    g_assert_cmpuint(count_entries(store), ==, n);
    store_close(store);
    folder_remove(folder);
}

/* ---- rights ---- */

static void test_no_right_to_write(void) {
    char *folder = folder_new();
    g_autofree char *file = g_build_filename(folder, "file", NULL), *under = g_build_filename(file, "store", NULL);
    g_assert_true(g_file_set_contents(file, "", 0, NULL));
    StoreOptions options = small_options(under);
    assert_refused(&options, PLUMB_ERROR_IO, "choose another");
    folder_remove(folder);
    if (geteuid() != 0) {
        folder = folder_new();
        options.path = folder;
        g_assert_cmpint(g_chmod(folder, 0500), ==, 0);
        assert_refused(&options, PLUMB_ERROR_IO, "right to");
        g_assert_cmpint(g_chmod(folder, 0700), ==, 0);
        folder_remove(folder);
    }
}

static int open_as_nobody(const char *folder) {
    if (setgid(65534) != 0 || setuid(65534) != 0) return 1;
    StoreOptions options = small_options(folder);
    for (guint read_only = 0; read_only < 2; read_only++) {
        options.read_only = read_only == 1;
        g_autoptr(GError) error = NULL;
        Store *store = store_open_rocksdb(&options, &error);
        if (store != NULL)
            printf("open\n");
        else
            printf("%d %s\n", error->code, error->message);
        store_close(store);
    }
    return 0;
}

static void test_other_user(void) {
    if (geteuid() != 0) {
        g_test_skip("only root can become another user");
        return;
    }

    static const struct {
        guint mode;
        const char *writing, *reading;
    } cases[] = {{0700, "right to", "right to"}, {0755, "right to", "open"}};

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *folder = folder_new();
        const StoreOptions options = small_options(folder);
        store_close(open_ok(&options));
        g_assert_cmpint(g_chmod(folder, (int)cases[i].mode), ==, 0);

        Child child = child_start("--nobody", folder);
        char line[512];
        g_assert_nonnull(fgets(line, sizeof line, child.from));
        g_test_message("%s", g_strchomp(line));
        g_assert_nonnull(strstr(line, cases[i].writing));
        g_assert_nonnull(fgets(line, sizeof line, child.from));
        g_test_message("%s", g_strchomp(line));
        g_assert_nonnull(strstr(line, cases[i].reading));
        g_assert_cmpint(child_end(&child), ==, 0);
        folder_remove(folder);
    }
}

static void test_read_only_disk(void) {
    char *folder = folder_new();
    StoreOptions options = small_options(folder);
    if (mount("tmpfs", folder, "tmpfs", 0, "size=64m") != 0) {
        g_test_skip("only root can mount a disk of its own");
        folder_remove(folder);
        return;
    }
    Store *store = open_ok(&options);
    put(store, FAMILY_TRACE, "a", "1");
    store_close(store);
    g_assert_cmpint(mount("tmpfs", folder, "tmpfs", MS_REMOUNT | MS_RDONLY, "size=64m"), ==, 0);
    assert_refused(&options, PLUMB_ERROR_IO, "mount the file system writable");
    options.read_only = TRUE;
    store = open_ok(&options);
    assert_value(store, FAMILY_TRACE, "a", "1");
    store_close(store);
    g_assert_cmpint(umount(folder), ==, 0);
    folder_remove(folder);
}

/* A store that was made before its last family was thought of: read as if that were empty, and given it by a writer. */
static void test_older(void) {
    char *folder = folder_new();
    const StoreOptions options = small_options(folder);
    StoreOptions reading = options;
    reading.read_only = TRUE;
    {
        g_autoptr(Store) store = open_ok(&options);
        put(store, FAMILY_TRACE, "key", "x");
        put(store, FAMILY_SPARK, "key", "x");
    }

    char *text = NULL;
    rocksdb_options_t *plain = rocksdb_options_create();
    size_t n;
    char **names = rocksdb_list_column_families(plain, folder, &n, &text);
    g_assert_null(text);
    g_assert_cmpuint(n, ==, FAMILY_COUNT);
    const rocksdb_options_t *each[FAMILY_COUNT];
    rocksdb_column_family_handle_t *families[FAMILY_COUNT];
    for (guint i = 0; i < FAMILY_COUNT; i++) each[i] = plain;
    rocksdb_t *db =
        rocksdb_open_column_families(plain, folder, FAMILY_COUNT, (const char *const *)names, each, families, &text);
    g_assert_null(text);

    for (guint i = 0; i < FAMILY_COUNT; i++) {
        if (strcmp(names[i], store_family_name(FAMILY_SPARK)) == 0) rocksdb_drop_column_family(db, families[i], &text);
        g_assert_null(text);
        rocksdb_column_family_handle_destroy(families[i]);
    }
    rocksdb_close(db);
    rocksdb_list_column_families_destroy(names, n);
    rocksdb_options_destroy(plain);

    {
        g_autoptr(Store) store = open_ok(&reading);
        assert_value(store, FAMILY_TRACE, "key", "x");
        assert_value(store, FAMILY_SPARK, "key", NULL);
        g_autoptr(StoreIter) iter = store_iter_new(store, FAMILY_SPARK);
        g_assert_false(store_iter_seek(iter, (Bytes){"", 0}));
        g_assert_false(store_iter_seek_before(iter, (Bytes){"z", 1}));
        g_assert_true(store_iter_error(iter, NULL));
        g_assert_cmpuint(store_usage(store).family_bytes[FAMILY_SPARK], ==, 0);
    }

    for (guint i = 0; i < 2; i++) {
        g_autoptr(Store) store = open_ok(&options);
        assert_value(store, FAMILY_TRACE, "key", "x");
        assert_value(store, FAMILY_SPARK, "key", i == 0 ? NULL : "y");
        put(store, FAMILY_SPARK, "key", "y");
    }
    folder_remove(folder);
}

int main(int argc, char **argv) {
    program = argv[0];
    if (argc == 3 && strcmp(argv[1], "--hold") == 0) return hold(argv[2]);
    if (argc == 3 && strcmp(argv[1], "--make") == 0) return make(argv[2]);
    if (argc == 3 && strcmp(argv[1], "--nobody") == 0) return open_as_nobody(argv[2]);
    if (argc == 3 && strcmp(argv[1], "--write") == 0) return write_until_killed(argv[2], FALSE);
    if (argc == 3 && strcmp(argv[1], "--lose") == 0) return write_until_killed(argv[2], TRUE);

    g_test_init(&argc, &argv, NULL);

    g_test_add_func("/rocksdb/reopen", test_reopen);
    g_test_add_func("/rocksdb/two-processes", test_two_processes);
    g_test_add_func("/rocksdb/reader-beside-compaction", test_reader_beside_compaction);
    g_test_add_data_func("/rocksdb/kill", NULL, test_kill);
    g_test_add_data_func("/rocksdb/kill-without-log", "no log", test_kill);
    g_test_add_func("/rocksdb/versions", test_versions);
    g_test_add_func("/rocksdb/older", test_older);
    g_test_add_func("/rocksdb/reclaim", test_reclaim);
    g_test_add_func("/rocksdb/quiet", test_quiet);
    g_test_add_func("/rocksdb/other-databases", test_other_databases);
    g_test_add_func("/rocksdb/no-right-to-write", test_no_right_to_write);
    g_test_add_func("/rocksdb/kill-while-made", test_kill_while_made);
    g_test_add_func("/rocksdb/other-user", test_other_user);
    g_test_add_func("/rocksdb/read-only-disk", test_read_only_disk);

    return g_test_run();
}
