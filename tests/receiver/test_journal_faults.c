/* The journal on a disk that fails: what it says is safe was synced, whatever failed before. */
#include <glib/gstdio.h>
#include <string.h>

#include "common/base/error.h"
#include "receiver/journal/journal.h"
#include "tests/faults/fault_files.h"

#define SEGMENT_BYTES 4096u

typedef struct Fixture {
    char *folder;
    Journal *journal;
} Fixture;

/* Files are watched from their opening on. Returns how many calls of the kind there were. */
static guint mend(const Fixture *fixture) {
    const guint calls = faults_clear();
    faults_set(fixture->folder, FAULT_FAILED_SYNC, 0, 1);
    return calls;
}

static void set_up(Fixture *fixture, gconstpointer unused) {
    (void)unused;
    fixture->folder = g_dir_make_tmp("plumb-journal-XXXXXX", NULL);
    mend(fixture);
    g_autoptr(GError) error = NULL;
    const JournalOptions options = {fixture->folder, SEGMENT_BYTES, TRUE};
    fixture->journal = journal_open(&options, &error);
    g_assert_no_error(error);
}

static void tear_down(Fixture *fixture, gconstpointer unused) {
    (void)unused;
    faults_clear();
    journal_close(fixture->journal);
    g_autoptr(GDir) dir = g_dir_open(fixture->folder, 0, NULL);
    const char *name;
    while ((name = g_dir_read_name(dir))) {
        g_autofree char *path = g_build_filename(fixture->folder, name, NULL);
        g_unlink(path);
    }
    g_rmdir(fixture->folder);
    g_free(fixture->folder);
}

/* The number of its segment; 0: it was not taken. */
static guint64 append(const Fixture *fixture, gsize size_bytes) {
    g_autofree char *text = g_strnfill(size_bytes, 'x');
    const JournalRecord record = journal_record((Bytes){text, size_bytes});
    JournalSegment *segment;
    if (!journal_append(fixture->journal, &record, 1, &segment, NULL)) return 0;
    const guint64 number = journal_segment_number(segment);
    journal_release(segment);
    return number;
}

static gboolean is_safe(const Fixture *fixture, guint64 from) {
    g_autoptr(GError) error = NULL;
    const gboolean safe = journal_sync(fixture->journal, from, &error);
    if (!safe) g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_IO);
    return safe;
}

/* Two who wait for one sync: the kernel tells one of them that it failed. */
static void test_all_who_waited_are_told(Fixture *fixture, gconstpointer unused) {
    (void)unused;
    const guint64 first = journal_position(fixture->journal);
    const guint64 segment = append(fixture, 100);
    const guint64 second = journal_position(fixture->journal);
    append(fixture, 100);
    faults_set(fixture->folder, FAULT_FAILED_SYNC, 1, 1);
    g_assert_false(is_safe(fixture, second));
    const guint64 third = journal_position(fixture->journal);
    g_assert_cmpuint(append(fixture, 100), >, segment); /* nothing more goes into that file */
    g_assert_true(is_safe(fixture, third));
    g_assert_false(is_safe(fixture, first)); /* however many later ones succeed */
    g_assert_cmpuint(mend(fixture), >=, 2);
}

static void test_what_was_safe_before_stays_safe(Fixture *fixture, gconstpointer unused) {
    (void)unused;
    append(fixture, 100);
    g_assert_true(is_safe(fixture, 0));
    const guint64 from = journal_position(fixture->journal);
    faults_set(fixture->folder, FAULT_FAILED_SYNC, 1, 1);
    append(fixture, 100);
    g_assert_false(is_safe(fixture, from));
    mend(fixture);
    /* Of nothing but that first record. */
    g_assert_true(is_safe(fixture, journal_position(fixture->journal)));
    g_assert_false(is_safe(fixture, 0));
}

/* A full segment is synced when it is left: who has a record in it hears of the failure, whoever caused the sync. */
static void test_sync_of_a_full_segment_fails(Fixture *fixture, gconstpointer unused) {
    (void)unused;
    const guint64 full = append(fixture, SEGMENT_BYTES);
    const guint64 from = journal_position(fixture->journal);
    faults_set(fixture->folder, FAULT_FAILED_SYNC, 1, 1);
    while (append(fixture, 100) <= full) continue;
    g_assert_false(is_safe(fixture, 0));
    append(fixture, 100);
    g_assert_false(is_safe(fixture, 0));
    g_assert_true(is_safe(fixture, from));
}

/* An append that fails and cannot be taken back ends its segment, whose earlier records are as safe as a sync says. */
static void test_append_fails_for_good(Fixture *fixture, gconstpointer data) {
    const gboolean sync_fails = data != NULL;
    const guint64 segment = append(fixture, 100);
    faults_set(fixture->folder, FAULT_IO_ERROR, 1, 0);
    g_assert_cmpuint(append(fixture, 100), ==, 0);
    g_assert_cmpuint(mend(fixture), >=, 2); /* the write, and taking it back */
    faults_set(fixture->folder, FAULT_FAILED_SYNC, sync_fails ? 1 : 0, 1);
    g_assert_true(is_safe(fixture, 0) == !sync_fails);
    g_assert_cmpuint(mend(fixture), >=, 1); /* it was synced, not taken for stored */
    const guint64 from = journal_position(fixture->journal);
    g_assert_cmpuint(append(fixture, 100), >, segment);
    g_assert_true(is_safe(fixture, from));
}

/* Without its name on the disk, a file has nothing. */
static void test_folder_cannot_be_synced(Fixture *fixture, gconstpointer unused) {
    (void)unused;
    faults_set(fixture->folder, FAULT_FAILED_SYNC, 1, 1);
    g_assert_cmpuint(append(fixture, 100), ==, 0);
    g_assert_cmpuint(journal_usage(fixture->journal).segments, ==, 0);
    g_assert_cmpuint(append(fixture, 100), ==, 1);
    g_assert_true(is_safe(fixture, 0));
}

/* A disk that goes on failing is tried again and again: that leaves no files behind. */
static void test_probes_leave_nothing(Fixture *fixture, gconstpointer unused) {
    (void)unused;
    append(fixture, 100);
    faults_set(fixture->folder, FAULT_FAILED_SYNC, 1, 0);
    g_assert_false(is_safe(fixture, 0));
    for (guint i = 0; i < 10; i++) {
        g_autoptr(GError) error = NULL;
        g_assert_false(journal_probe(fixture->journal, &error));
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_IO);
    }
    g_assert_cmpuint(journal_usage(fixture->journal).segments, ==, 1);
    mend(fixture);
    g_assert_true(journal_probe(fixture->journal, NULL));
    g_assert_cmpuint(append(fixture, 100), ==, 2);
}

static guint64 needs_nothing(void *arg) {
    (void)arg;
    return JOURNAL_NONE;
}

static guint count_spares(const char *folder) {
    guint n = 0;
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name; (name = g_dir_read_name(dir));) n += g_str_has_prefix(name, "spare-");
    return n;
}

static void test_failed_file_is_not_used_again(Fixture *fixture, gconstpointer unused) {
    (void)unused;
    append(fixture, 100);
    faults_set(fixture->folder, FAULT_FAILED_SYNC, 1, 1);
    g_assert_false(is_safe(fixture, 0));
    journal_trim(fixture->journal, needs_nothing, NULL);
    g_assert_cmpuint(journal_usage(fixture->journal).segments, ==, 0);
    g_assert_cmpuint(count_spares(fixture->folder), ==, 0);
    g_assert_true(is_safe(fixture, 0)); /* the store has them on the disk */
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
#define ADD(name, data, function) g_test_add("/journal/faults/" name, Fixture, data, set_up, function, tear_down)
    ADD("all-who-waited-are-told", NULL, test_all_who_waited_are_told);
    ADD("safe-before", NULL, test_what_was_safe_before_stays_safe);
    ADD("full-segment", NULL, test_sync_of_a_full_segment_fails);
    ADD("append-fails/synced", NULL, test_append_fails_for_good);
    ADD("append-fails/sync-fails", "fails", test_append_fails_for_good);
    ADD("folder", NULL, test_folder_cannot_be_synced);
    ADD("probes", NULL, test_probes_leave_nothing);
    ADD("file-is-not-used-again", NULL, test_failed_file_is_not_used_again);
    return g_test_run();
}
