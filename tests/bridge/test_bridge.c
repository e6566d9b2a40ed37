/* The bridge over logs that grow, roll, are renamed, replaced, compacted and damaged; deliveries that fail. What is
 * delivered is written down as task ids, which rise through the log, so that a loss, a repeat and a wrong order
 * show. */
#include "spark-bridge/bridge.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bridge/folder.h"

typedef struct Case {
    char *folder;
    Storage *storage;
    Positions *positions;
    Bridge *bridge;
    GString *delivered; /* tasks that were taken: "1 2 3 " */
    GString *said;
    guint deliveries, fails_at; /* the delivery with this number fails; 0: none */
    gboolean follow;
    guint stops_after; /* questions whether to stop that are answered with no; 0: all */
} Case;

static gboolean deliver(void *arg, const SparkRecords *records, GError **error) {
    Case *at = arg;
    if (++at->deliveries == at->fails_at) return fail(error, PLUMB_ERROR_PEER, "nobody there");
    for (guint i = 0; i < records->of[SPARK_TASK]->len; i++)
        g_string_append_printf(at->delivered, "%" G_GINT64_FORMAT " ", spark_task(records, i)->task);
    return TRUE;
}

static gboolean stopped(void *arg) {
    Case *at = arg;
    return at->stops_after > 0 && --at->stops_after == 0;
}

static void say(void *arg, const char *what) { g_string_append_printf(((Case *)arg)->said, "%s\n", what); }

/* A bridge as after a restart: with what the positions' file says. */
static void start(Case *at) {
    g_autoptr(GError) error = NULL;
    g_clear_pointer(&at->bridge, bridge_free);
    g_clear_pointer(&at->positions, positions_close);
    g_autofree char *state = g_build_filename(at->folder, "state.json", NULL);
    at->positions = positions_open(state, &error);
    g_assert_no_error(error);
    const BridgeOptions options = {at->storage, at->positions, deliver, stopped, say, NULL, at, at->follow};
    at->bridge = bridge_new(&options);
}

static Case case_new(gboolean follow) {
    const StorageOptions options = {.retry_ms = 0};
    return (Case){.folder = folder_new(),
                  .storage = storage_new(&options),
                  .delivered = g_string_new(NULL),
                  .said = g_string_new(NULL),
                  .follow = follow};
}

static void case_clear(Case *at) {
    bridge_free(at->bridge);
    positions_close(at->positions);
    storage_free(at->storage);
    folder_remove(at->folder);
    g_string_free(at->delivered, TRUE);
    g_string_free(at->said, TRUE);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Case, case_clear)

#define START "{\"Event\":\"SparkListenerApplicationStart\",\"App ID\":\"app-1\",\"Timestamp\":5}\n"
#define END   "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":9}\n"

/* Ends of the tasks from..to. */
static char *tasks(guint from, guint to) {
    GString *text = g_string_new(NULL);
    for (guint i = from; i <= to; i++)
        g_string_append_printf(
            text, "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Task Info\":{\"Task ID\":%u}}\n", i);
    return g_string_free(text, FALSE);
}

static void append_tasks(const Case *at, const char *name, guint from, guint to) {
    g_autofree char *text = tasks(from, to);
    folder_append(at->folder, name, text);
}

static gboolean read_all(Case *at, const char *name) {
    g_autofree char *path = g_build_filename(at->folder, name, NULL);
    g_autoptr(GError) error = NULL;
    const gboolean done = bridge_read(at->bridge, path, &error) && bridge_flush(at->bridge, &error);
    g_assert_true(done == (error == NULL));
    return done;
}

/* Reads, and these tasks were delivered since the last time. */
static void assert_read(Case *at, const char *name, const char *expected) {
    g_assert_true(read_all(at, name));
    g_assert_cmpstr(at->delivered->str, ==, expected);
    g_string_truncate(at->delivered, 0);
}

static void test_grows(void) {
    g_auto(Case) at = case_new(TRUE);
    start(&at);
    folder_write(at.folder, "logs/app-1.inprogress", START);
    assert_read(&at, "logs", "");

    append_tasks(&at, "logs/app-1.inprogress", 1, 2);
    folder_append(at.folder, "logs/app-1.inprogress", "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,");
    assert_read(&at, "logs", "1 2 ");
    assert_read(&at, "logs", "");
    folder_append(at.folder, "logs/app-1.inprogress", "\"Task Info\":{\"Task ID\":3}}\n");
    assert_read(&at, "logs", "3 ");

    start(&at); /* a restart */
    append_tasks(&at, "logs/app-1.inprogress", 4, 4);
    assert_read(&at, "logs", "4 ");

    /* The application ends: the same log under its final name. */
    append_tasks(&at, "logs/app-1.inprogress", 5, 5);
    folder_append(at.folder, "logs/app-1.inprogress", END);
    g_autofree char *old = g_build_filename(at.folder, "logs/app-1.inprogress", NULL);
    g_autofree char *new = g_build_filename(at.folder, "logs/app-1", NULL);
    g_assert_cmpint(g_rename(old, new), ==, 0);
    assert_read(&at, "logs", "5 ");

    start(&at);
    assert_read(&at, "logs", "");
    g_assert_cmpstr(at.said->str, ==, "");
}

static void test_rolls(void) {
    g_auto(Case) at = case_new(TRUE);
    start(&at);
    folder_write(at.folder, "logs/eventlog_v2_app-1/appstatus_app-1.inprogress", "");
    folder_write(at.folder, "logs/eventlog_v2_app-1/events_1_app-1", START);
    append_tasks(&at, "logs/eventlog_v2_app-1/events_1_app-1", 1, 2);
    assert_read(&at, "logs", "1 2 ");

    append_tasks(&at, "logs/eventlog_v2_app-1/events_1_app-1", 3, 3);
    append_tasks(&at, "logs/eventlog_v2_app-1/events_2_app-1", 4, 4);
    append_tasks(&at, "logs/eventlog_v2_app-1/events_3_app-1", 5, 5);
    assert_read(&at, "logs", "3 4 5 ");

    start(&at);
    append_tasks(&at, "logs/eventlog_v2_app-1/events_3_app-1", 6, 6);
    append_tasks(&at, "logs/eventlog_v2_app-1/events_4_app-1", 7, 7);
    assert_read(&at, "logs", "6 7 ");

    /* Files before the one being read are compacted: nothing of it is read. */
    folder_write(at.folder, "logs/eventlog_v2_app-1/events_2_app-1.compact", START);
    append_tasks(&at, "logs/eventlog_v2_app-1/events_2_app-1.compact", 1, 1);
    assert_read(&at, "logs", "");

    /* While it was away, all that it was reading went into a compact file: that is read, since something may be new. */
    start(&at);
    append_tasks(&at, "logs/eventlog_v2_app-1/events_4_app-1", 8, 8);
    g_autofree char *compacted = tasks(7, 8);
    folder_write(at.folder, "logs/eventlog_v2_app-1/events_4_app-1.compact", compacted);
    append_tasks(&at, "logs/eventlog_v2_app-1/events_5_app-1", 9, 9);
    assert_read(&at, "logs", "7 8 9 ");
    append_tasks(&at, "logs/eventlog_v2_app-1/events_7_app-1", 10, 10);
    assert_read(&at, "logs", "10 ");
    g_assert_nonnull(strstr(at.said->str, "files 6 to 6 are missing"));
}

/* A delivery that fails anywhere: after a restart everything is delivered that was not, and nothing that was. */
static void test_deliveries_fail(void) {
    for (guint fails_at = 1; fails_at <= 6; fails_at++) {
        g_auto(Case) at = case_new(FALSE);
        folder_write(at.folder, "logs/app-1", START);
        append_tasks(&at, "logs/app-1", 1, 18000);
        folder_write(at.folder, "logs/app-2", START);
        append_tasks(&at, "logs/app-2", 18001, 20000);
        at.fails_at = fails_at;
        start(&at);
        const gboolean done = read_all(&at, "logs");
        g_assert_true(done == (fails_at == 6));
        start(&at);
        g_assert_true(read_all(&at, "logs"));
        g_autoptr(GString) expected = g_string_new(NULL);
        for (guint i = 1; i <= 20000; i++) g_string_append_printf(expected, "%u ", i);
        g_assert_true(strcmp(at.delivered->str, expected->str) == 0);
    }
}

/* Told to stop, it hands on what it has, and goes on there. */
static void test_stops(void) {
    g_auto(Case) at = case_new(FALSE);
    folder_write(at.folder, "logs/app-1", START);
    append_tasks(&at, "logs/app-1", 1, 4000);
    at.stops_after = 3;
    start(&at);
    g_assert_true(read_all(&at, "logs"));
    const gsize half = at.delivered->len;
    g_assert_cmpuint(half, >, 0);
    at.stops_after = 0;
    start(&at);
    g_assert_true(read_all(&at, "logs"));
    g_assert_cmpuint(at.delivered->len, >, half);
    g_autoptr(GString) expected = g_string_new(NULL);
    for (guint i = 1; i <= 4000; i++) g_string_append_printf(expected, "%u ", i);
    g_assert_true(strcmp(at.delivered->str, expected->str) == 0);
}

static void test_replaced(void) {
    g_auto(Case) at = case_new(FALSE);
    start(&at);
    folder_write(at.folder, "logs/app-1", START);
    append_tasks(&at, "logs/app-1", 1, 2);
    assert_read(&at, "logs", "1 2 ");
    folder_write(at.folder, "logs/new", START);
    append_tasks(&at, "logs/new", 3, 5);
    g_autofree char *old = g_build_filename(at.folder, "logs/new", NULL);
    g_autofree char *new = g_build_filename(at.folder, "logs/app-1", NULL);
    g_assert_cmpint(g_rename(old, new), ==, 0);
    start(&at);
    assert_read(&at, "logs", "3 4 5 ");
    g_assert_nonnull(strstr(at.said->str, "another file"));
    g_assert_cmpint(truncate(new, 10), ==, 0);
    folder_append(at.folder, "logs/app-1", "\n");
    start(&at);
    assert_read(&at, "logs", "");
}

/* Before the application is named nothing is noted: its name would be lost. */
static void test_no_name_yet(void) {
    g_auto(Case) at = case_new(TRUE);
    start(&at);
    append_tasks(&at, "logs/app-1.inprogress", 1, 1);
    assert_read(&at, "logs", "");
    start(&at);
    folder_append(at.folder, "logs/app-1.inprogress", START);
    append_tasks(&at, "logs/app-1.inprogress", 2, 2);
    assert_read(&at, "logs", "1 2 ");
}

typedef struct Seen {
    guint logs, errors, unchanged;
    guint64 broken, cut_line, first_broken;
    char *error;
} Seen;

static void see(void *arg, const LogOutcome *outcome) {
    Seen *seen = arg;
    seen->logs++;
    seen->unchanged += outcome->unchanged ? 1 : 0;
    seen->broken += outcome->broken;
    seen->cut_line += outcome->cut_line;
    if (outcome->broken_lines->len > 0) seen->first_broken = g_array_index(outcome->broken_lines, BrokenLine, 0).line;
    if (outcome->error == NULL) return;
    seen->errors++;
    g_free(seen->error);
    seen->error = g_strdup(outcome->error);
}

static Seen outcomes(const Case *at) {
    Seen seen = {0};
    bridge_outcomes(at->bridge, see, &seen);
    return seen;
}

static void test_broken_lines(void) {
    g_auto(Case) at = case_new(FALSE);
    start(&at);
    folder_write(at.folder, "logs/app-1", START "{\"Event\":\"SparkListenerTaskEnd\",\"Stage\n");
    append_tasks(&at, "logs/app-1", 1, 1);
    folder_append(at.folder, "logs/app-1",
                  "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Task Info\":{\"Task ID\":2}}");
    folder_write(at.folder, "logs/app-2.inprogress", START "{\"Event\":\"SparkListenerTaskE");
    folder_write(at.folder, "logs/app-3", "");
    folder_write(at.folder, "logs/notes.txt", "what is this?\nand this?\n");
    assert_read(&at, "logs", "1 2 ");
    Seen seen = outcomes(&at);
    g_assert_cmpuint(seen.logs, ==, 4);
    g_assert_cmpuint(seen.broken, ==, 1);
    g_assert_cmpuint(seen.first_broken, ==, 2);
    g_assert_cmpuint(seen.cut_line, ==, 2);
    g_assert_cmpuint(seen.errors, ==, 1);
    g_assert_nonnull(strstr(seen.error, "no event log"));
    g_free(seen.error);
}

/* Damage in one file of a rolling log does not hide the next ones; a damaged log is left alone until it changes. */
static void test_damage(void) {
    g_auto(Case) at = case_new(TRUE);
    start(&at);
    folder_write(at.folder, "logs/eventlog_v2_app-1/events_1_app-1", START);
    folder_write(at.folder, "logs/eventlog_v2_app-1/events_2_app-1.lz4", "LZ4Block and then nothing of the kind");
    append_tasks(&at, "logs/eventlog_v2_app-1/events_3_app-1", 3, 3);
    folder_write(at.folder, "logs/app-2.lz4", "LZ4Block and then nothing of the kind");

    assert_read(&at, "logs", "3 ");
    for (guint i = 0; i < 3; i++) assert_read(&at, "logs", "");

    Seen seen = outcomes(&at);
    g_assert_cmpuint(seen.errors, ==, 1); /* the rolling log goes on */
    g_assert_nonnull(strstr(seen.error, "damaged lz4"));
    g_free(seen.error);
    char **lines = g_strsplit(at.said->str, "\n", -1);
    g_assert_cmpuint(g_strv_length(lines), ==, 3); /* each is said once */
    g_strfreev(lines);

    start(&at);
    assert_read(&at, "logs", "");
    seen = outcomes(&at);
    g_assert_cmpuint(seen.unchanged, ==, 2);
    g_free(seen.error);
}

static void test_rights(void) {
    if (geteuid() == 0) {
        g_test_skip("root may read everything");
        return;
    }
    g_auto(Case) at = case_new(FALSE);
    start(&at);
    folder_write(at.folder, "logs/app-1", START);
    folder_write(at.folder, "logs/app-2", START);
    append_tasks(&at, "logs/app-2", 1, 1);
    g_autofree char *secret = g_build_filename(at.folder, "logs/app-1", NULL);
    g_assert_cmpint(g_chmod(secret, 0), ==, 0);
    assert_read(&at, "logs", "1 ");
    Seen seen = outcomes(&at);
    g_assert_cmpuint(seen.errors, ==, 1);
    g_assert_nonnull(strstr(seen.error, "no permission"));
    g_free(seen.error);
}

/* More running applications than readers are kept for: none is forgotten, none read twice. */
static void test_many_running(void) {
    g_auto(Case) at = case_new(TRUE);
    start(&at);
    const guint n = BRIDGE_OPEN_LOGS + 10;

    for (guint round = 0; round < 3; round++) {
        g_autoptr(GString) expected = g_string_new(NULL);
        for (guint i = 0; i < n; i++) {
            g_autofree char *name = g_strdup_printf("logs/app-%03u.inprogress", i);
            if (round == 0) folder_write(at.folder, name, START);
            append_tasks(&at, name, round * n + i, round * n + i);
        }

        g_assert_true(read_all(&at, "logs"));
        g_auto(GStrv) got = g_strsplit(at.delivered->str, " ", -1);
        g_assert_cmpuint(g_strv_length(got), ==, n + 1);
        for (guint i = 0; i < n; i++) {
            g_autofree char *task = g_strdup_printf("%u", round * n + i);
            g_assert_true(g_strv_contains((const char *const *)got, task));
        }
        g_string_truncate(at.delivered, 0);
    }
}

static void test_forgets(void) {
    g_auto(Case) at = case_new(FALSE);
    start(&at);
    folder_write(at.folder, "logs/app-1", START);
    folder_write(at.folder, "logs/app-2", START);
    assert_read(&at, "logs", "");
    g_autofree char *gone = g_build_filename(at.folder, "logs/app-1", NULL);
    g_autofree char *kept = g_build_filename(at.folder, "logs/app-2", NULL);
    g_assert_nonnull(positions_get(at.positions, gone));
    g_remove(gone);
    assert_read(&at, "logs", "");
    g_assert_null(positions_get(at.positions, gone));
    g_assert_nonnull(positions_get(at.positions, kept));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bridge/grows", test_grows);
    g_test_add_func("/bridge/rolls", test_rolls);
    g_test_add_func("/bridge/deliveries-fail", test_deliveries_fail);
    g_test_add_func("/bridge/stops", test_stops);
    g_test_add_func("/bridge/replaced", test_replaced);
    g_test_add_func("/bridge/no-name-yet", test_no_name_yet);
    g_test_add_func("/bridge/broken-lines", test_broken_lines);
    g_test_add_func("/bridge/damage", test_damage);
    g_test_add_func("/bridge/rights", test_rights);
    g_test_add_func("/bridge/many-running", test_many_running);
    g_test_add_func("/bridge/forgets", test_forgets);
    return g_test_run();
}
