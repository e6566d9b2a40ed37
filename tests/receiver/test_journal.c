/* The journal: what was appended comes back, whatever happened to the file; segments go when nothing needs them. */
#include <glib/gstdio.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/base/error.h"
#include "receiver/journal/journal.h"

static char *make_folder(void) {
    char *folder = g_dir_make_tmp("plumb-journal-XXXXXX", NULL);
    g_assert_nonnull(folder);
    return folder;
}

static void remove_folder(char *folder) {
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_unlink(path);
    }
    g_rmdir(folder);
    g_free(folder);
}

static Journal *open_journal(const char *folder, gsize segment_bytes, gboolean sync) {
    g_autoptr(GError) error = NULL;
    JournalOptions options = {folder, segment_bytes, sync};
    Journal *journal = journal_open(&options, &error);
    g_assert_no_error(error);
    return journal;
}

static char *payload_of(guint i) { return g_strdup_printf("payload %u %0*u", i, (int)(i % 50 + 1), i); }

/* Appends payloads first..first+n-1, one write each; returns the number of the last one's segment. */
static guint64 append(Journal *journal, guint first, guint n) {
    g_autoptr(GError) error = NULL;
    guint64 number = 0;
    for (guint i = first; i < first + n; i++) {
        g_autofree char *text = payload_of(i);
        JournalRecord record = journal_record((Bytes){text, strlen(text)});
        JournalSegment *segment;
        journal_append(journal, &record, 1, &segment, &error);
        g_assert_no_error(error);
        number = journal_segment_number(segment);
        journal_release(segment);
    }
    return number;
}

/* Numbers of the payloads that a journal holds, in order; damages are added up. */
static GArray *read_all(const char *folder, guint *damages) {
    g_autoptr(Journal) journal = open_journal(folder, 1024, FALSE);
    GArray *seen = g_array_new(FALSE, FALSE, sizeof(guint));
    *damages = 0;

    for (guint i = 0; i < journal_found(journal); i++) {
        JournalSegment *segment;
        g_autoptr(JournalFile) opened = NULL;
        g_assert_true(journal_found_open(journal, i, &segment, &opened, NULL));
        Bytes file = journal_file_bytes(opened);
        const JournalNext next = journal_found_next(journal, i);
        *damages += next.missing;
        if (next.size_bytes > 0) file.size_bytes = MIN(file.size_bytes, next.size_bytes + JOURNAL_RECORD_HEADER_BYTES);

        JournalReader reader;
        if (!journal_reader_init(&reader, file, journal_file_source(opened), NULL)) {
            ++*damages;
            if (next.salt == 0) continue;
            journal_reader_init_without_header(&reader, file, journal_file_source(opened), next.salt);
        }

        Bytes payload;
        while (journal_reader_next(&reader, &payload)) {
            g_autofree char *text = g_strndup(payload.data, payload.size_bytes);
            guint number = (guint)g_ascii_strtoull(text + strlen("payload "), NULL, 10);
            g_autofree char *expected = payload_of(number);
            g_assert_cmpstr(text, ==, expected);
            g_array_append_val(seen, number);
        }

        *damages += reader.damages;
        if (next.exact && journal_reader_end(&reader) < next.size_bytes) ++*damages;
    }
    return seen;
}

static void assert_numbers(const GArray *seen, guint n) {
    g_assert_cmpuint(seen->len, ==, n);
    for (guint i = 0; i < n; i++) g_assert_cmpuint(g_array_index(seen, guint, i), ==, i);
}

static void test_round_trip(void) {
    char *folder = make_folder();
    Journal *journal = open_journal(folder, 1024, FALSE);
    append(journal, 0, 100);
    g_assert_cmpuint(journal_usage(journal).segments, >, 3);
    journal_close(journal);
    /* A second run goes on with later segments. */
    journal = open_journal(folder, 1024, TRUE);
    append(journal, 100, 100);
    g_assert_true(journal_sync(journal, 0, NULL));
    journal_close(journal);
    guint damages;
    g_autoptr(GArray) seen = read_all(folder, &damages);
    assert_numbers(seen, 200);
    g_assert_cmpuint(damages, ==, 0);
    remove_folder(folder);
}

static void test_many_records_in_one_write(void) {
    char *folder = make_folder();
    Journal *journal = open_journal(folder, 1 << 20, FALSE);
    enum { N = 1500 }; /* more than one writev takes */
    static char *texts[N];
    static JournalRecord records[N];

    for (guint i = 0; i < N; i++) {
        texts[i] = payload_of(i);
        records[i] = journal_record((Bytes){texts[i], strlen(texts[i])});
    }

    JournalSegment *segment;
    g_assert_true(journal_append(journal, records, N, &segment, NULL));
    journal_release(segment);
    journal_close(journal);

    guint damages;
    g_autoptr(GArray) seen = read_all(folder, &damages);
    assert_numbers(seen, N);
    g_assert_cmpuint(damages, ==, 0);

    for (guint i = 0; i < N; i++) g_free(texts[i]);
    remove_folder(folder);
}

/* Whatever is done to one byte of a segment, at most the record at that place is lost (all of the segment when it is
 * the header), it is noticed, and no wrong payload comes out. Wherever it is cut, it is an unfinished write: no damage,
 * unless the segment after it tells that it was longer. */
static void test_every_damage(void) {
    char *folder = make_folder();
    Journal *journal = open_journal(folder, 1 << 20, FALSE);
    append(journal, 0, 8);
    journal_close(journal);

    g_autofree char *path = g_build_filename(folder, "plumb-0000000000000001.journal", NULL);
    g_autofree char *good = NULL;
    gsize size;
    g_assert_true(g_file_get_contents(path, &good, &size, NULL));

    for (gsize at = 0; at < size; at++) {
        g_autofree char *bad = g_memdup2(good, size);
        bad[at] = (char)(bad[at] ^ (1 << (at % 8)));
        g_assert_true(g_file_set_contents(path, bad, (gssize)size, NULL));
        guint damages;
        g_autoptr(GArray) seen = read_all(folder, &damages);
        const gboolean end_mark = at >= size - JOURNAL_RECORD_HEADER_BYTES; /* no record is lost with it */
        g_assert_cmpuint(damages, ==, end_mark ? 0 : 1);
        g_assert_cmpuint(seen->len, ==, at < JOURNAL_HEADER_BYTES ? 0 : end_mark ? 8 : 7);
    }

    for (gsize length = JOURNAL_HEADER_BYTES; length < size; length++) {
        g_assert_true(g_file_set_contents(path, good, (gssize)length, NULL));
        guint damages;
        g_autoptr(GArray) seen = read_all(folder, &damages);
        assert_numbers(seen, seen->len);
        g_assert_cmpuint(seen->len, <, length < size - JOURNAL_RECORD_HEADER_BYTES ? 8 : 9);
        g_assert_cmpuint(damages, ==, 0);
    }
    remove_folder(folder);
}

/* Two segments, of which the first has eight payloads; the path of that one. */
static char *two_segments(const char *folder) {
    Journal *journal = open_journal(folder, 256, FALSE);
    guint n = 0;
    while (append(journal, n, 1) == 1) n++;
    journal_close(journal);
    return g_build_filename(folder, "plumb-0000000000000001.journal", NULL);
}

/* The next segment tells where the records of this one end: however its end is lost, it is noticed. */
static void test_lost_end_of_an_inner_segment(void) {
    char *folder = make_folder();
    g_autofree char *path = two_segments(folder), *good = NULL;
    gsize size;
    guint damages;
    g_autoptr(GArray) all = read_all(folder, &damages);
    g_assert_cmpuint(damages, ==, 0);
    g_assert_true(g_file_get_contents(path, &good, &size, NULL));

    for (gsize from = JOURNAL_HEADER_BYTES; from < size - JOURNAL_RECORD_HEADER_BYTES; from++) {
        g_autofree char *bad = g_memdup2(good, size);
        memset(bad + from, 0, size - from);
        g_assert_true(g_file_set_contents(path, bad, (gssize)size, NULL));
        g_autoptr(GArray) zeroed = read_all(folder, &damages);
        g_assert_cmpuint(damages, >=, 1);
        g_assert_cmpuint(zeroed->len, <, all->len);

        g_assert_true(g_file_set_contents(path, good, (gssize)from, NULL));
        g_autoptr(GArray) cut = read_all(folder, &damages);
        g_assert_cmpuint(damages, >=, 1);
        g_assert_cmpuint(cut->len, ==, zeroed->len);
    }
    remove_folder(folder);
}

/* As when the disk never got the last writes: an older end mark is in their place. */
static void test_old_end_mark_in_an_inner_segment(void) {
    char *folder = make_folder();
    Journal *journal = open_journal(folder, 256, FALSE);
    g_autofree char *path = g_build_filename(folder, "plumb-0000000000000001.journal", NULL), *old = NULL;
    gsize size;
    append(journal, 0, 1);
    g_assert_true(g_file_get_contents(path, &old, &size, NULL));
    guint n = 1;
    while (append(journal, n, 1) == 1) n++;
    journal_close(journal);
    g_assert_true(g_file_set_contents(path, old, (gssize)size, NULL));
    guint damages;
    g_autoptr(GArray) seen = read_all(folder, &damages);
    g_assert_cmpuint(damages, ==, 1);
    g_assert_cmpuint(seen->len, ==, 2); /* the first, and the one in the second segment */
    remove_folder(folder);
}

static void test_missing_inner_segments(void) {
    char *folder = make_folder();
    Journal *journal = open_journal(folder, 256, FALSE);
    g_assert_cmpuint(append(journal, 0, 60), >, 5);
    journal_close(journal);
    for (guint number = 3; number <= 4; number++) {
        g_autofree char *name = g_strdup_printf("plumb-%016x.journal", number);
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_assert_cmpint(g_unlink(path), ==, 0);
    }
    guint damages;
    g_autoptr(GArray) seen = read_all(folder, &damages);
    g_assert_cmpuint(damages, ==, 2);
    g_assert_cmpuint(seen->len, <, 60);
    remove_folder(folder);
}

/* A segment as plumbd wrote it before, with a header of 56 bytes. */
static void write_version_2(const char *folder, guint64 number, guint64 previous_size, guint first, guint n) {
    const guint64 salt = 77 + number;
    g_autoptr(GByteArray) out = g_byte_array_new();
    guint8 header[56] = "PLUMBJNL\2";
    const guint64 fields[] = {GUINT64_TO_LE(number), GUINT64_TO_LE(salt), GUINT64_TO_LE(number - 1),
                              GUINT64_TO_LE(previous_size)};
    memcpy(header + 16, fields, sizeof fields);
    const guint64 check = GUINT64_TO_LE(XXH3_64bits(header, 48));
    memcpy(header + 48, &check, sizeof check);
    g_byte_array_append(out, header, sizeof header);

    guint8 head[JOURNAL_RECORD_HEADER_BYTES];
    for (guint i = first; i < first + n; i++) {
        g_autofree char *text = payload_of(i);
        const JournalRecord record = journal_record((Bytes){text, strlen(text)});
        journal_record_encode(&record, salt, out->len, head);
        g_byte_array_append(out, head, sizeof head);
        g_byte_array_append(out, (const guint8 *)text, (guint)strlen(text));
    }

    journal_end_encode(salt, out->len, head);
    g_byte_array_append(out, head, sizeof head);

    g_autofree char *name = g_strdup_printf("plumb-%016" G_GINT64_MODIFIER "x.journal", number);
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_assert_true(g_file_set_contents(path, (const char *)out->data, out->len, NULL));
}

static void test_earlier_version(void) {
    char *folder = make_folder();
    write_version_2(folder, 1, 0, 0, 10);
    /* What it told of a segment that an earlier process had left was the size of its file. */
    write_version_2(folder, 2, 5000, 10, 10);
    Journal *journal = open_journal(folder, 256, FALSE);
    append(journal, 20, 10);
    journal_close(journal);
    guint damages;
    g_autoptr(GArray) seen = read_all(folder, &damages);
    assert_numbers(seen, 30);
    g_assert_cmpuint(damages, ==, 0);
    remove_folder(folder);
}

static guint files_of(const char *folder, const char *prefix) {
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    guint n = 0;
    while ((name = g_dir_read_name(dir))) n += g_str_has_prefix(name, prefix);
    return n;
}

static void test_newer_version(void) {
    char *folder = make_folder();
    guint8 header[JOURNAL_HEADER_BYTES];
    journal_header_encode(&(JournalHeader){.number = 1, .salt = 5}, header);
    header[8] = 99;
    guint64 check = GUINT64_TO_LE(XXH3_64bits(header, 56));
    memcpy(header + 56, &check, sizeof check);
    g_autofree char *path = g_build_filename(folder, "plumb-0000000000000001.journal", NULL);
    g_assert_true(g_file_set_contents(path, (const char *)header, sizeof header, NULL));
    g_autoptr(GError) error = NULL;
    JournalOptions options = {folder, 1024, FALSE};
    g_assert_null(journal_open(&options, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_VERSION);
    g_assert_nonnull(strstr(error->message, path));
    g_assert_true(g_file_test(path, G_FILE_TEST_EXISTS));
    remove_folder(folder);
}

static void test_one_at_a_time(void) {
    char *folder = make_folder();
    g_autoptr(Journal) journal = open_journal(folder, 1024, FALSE);
    g_autoptr(GError) error = NULL;
    JournalOptions options = {folder, 1024, FALSE};
    g_assert_null(journal_open(&options, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_BUSY);
    g_clear_pointer(&journal, journal_close);
    remove_folder(folder);
}

static void test_discard(void) {
    char *parent = make_folder();
    g_autofree char *folder = g_build_filename(parent, "new", NULL);
    journal_discard(open_journal(folder, 1024, FALSE));
    g_assert_false(g_file_test(folder, G_FILE_TEST_EXISTS));
    /* One that was there stays. */
    journal_discard(open_journal(parent, 1024, FALSE));
    g_assert_true(g_file_test(parent, G_FILE_TEST_EXISTS));
    remove_folder(parent);
}

static guint64 needed;
static guint64 needs(void *arg) {
    (void)arg;
    return needed;
}

static void test_trim(void) {
    char *folder = make_folder();
    Journal *journal = open_journal(folder, 1024, FALSE);
    guint64 last = append(journal, 0, 200);
    JournalUsage usage = journal_usage(journal);
    g_assert_cmpuint(usage.oldest, ==, 1);
    g_assert_cmpuint(usage.newest, ==, last);

    needed = 3;
    journal_trim(journal, needs, NULL);
    g_assert_cmpuint(journal_usage(journal).oldest, ==, 3);

    /* A hold stops it, even when nobody needs the segment by number. */
    g_autofree char *text = payload_of(200);
    JournalRecord record = journal_record((Bytes){text, strlen(text)});
    JournalSegment *held;
    g_assert_true(journal_append(journal, &record, 1, &held, NULL));
    needed = JOURNAL_NONE;
    journal_trim(journal, needs, NULL);
    usage = journal_usage(journal);
    g_assert_cmpuint(usage.segments, ==, 1);
    g_assert_cmpuint(usage.oldest, ==, journal_segment_number(held));

    /* The current one goes, too, and the next append begins another. */
    journal_release(held);
    journal_trim(journal, needs, NULL);
    g_assert_cmpuint(journal_usage(journal).segments, ==, 0);
    g_assert_true(journal_sync(journal, 0, NULL));
    g_assert_cmpuint(append(journal, 0, 1), ==, usage.newest + 1);
    journal_close(journal);
    guint damages;
    g_autoptr(GArray) seen = read_all(folder, &damages);
    assert_numbers(seen, 1);
    remove_folder(folder);
}

/* What a file held before is never taken for a part of the segment that it holds now, however far that has come. */
static void test_files_are_used_again(void) {
    char *folder = make_folder();
    for (guint n = 0; n < 60; n++) {
        Journal *journal = open_journal(folder, 1024, FALSE);
        needed = JOURNAL_NONE;
        append(journal, 1000, 100);

        const guint used = journal_usage(journal).segments;
        journal_trim(journal, needs, NULL);
        g_assert_cmpuint(files_of(folder, "spare-"), ==, used);
        append(journal, 0, n);
        g_assert_cmpuint(files_of(folder, "spare-") + files_of(folder, "plumb-"), ==, used);

        /* As a kill leaves it: with its spare files. */
        char *copy = make_folder();
        g_autofree char *command = g_strdup_printf("sh -c 'cp %s/plumb-* %s/ 2>/dev/null || true'", folder, copy);
        g_assert_true(g_spawn_command_line_sync(command, NULL, NULL, NULL, NULL));
        guint damages;
        g_autoptr(GArray) seen = read_all(copy, &damages);
        assert_numbers(seen, n);
        g_assert_cmpuint(damages, ==, 0);
        remove_folder(copy);

        journal_trim(journal, needs, NULL);
        journal_drop_spares(journal);
        g_assert_cmpuint(files_of(folder, "spare-") + files_of(folder, "plumb-"), ==, 0);
        journal_close(journal);
    }
    remove_folder(folder);
}

/* A write into a used file that was not finished is no damage, wherever it stopped; what was taken before it is. */
static void test_unfinished_write_in_a_used_file(void) {
    char *folder = make_folder();
    Journal *journal = open_journal(folder, 1 << 20, FALSE);
    needed = JOURNAL_NONE;
    append(journal, 1000, 40);
    journal_trim(journal, needs, NULL);

    g_autofree char *path = g_build_filename(folder, "plumb-0000000000000002.journal", NULL);
    g_autofree char *before = NULL, *after = NULL;
    gsize size_before, size;

    append(journal, 0, 7);
    g_assert_true(g_file_get_contents(path, &before, &size_before, NULL));
    const gsize from = journal_usage(journal).bytes;
    append(journal, 7, 1);
    const gsize to = journal_usage(journal).bytes;
    g_assert_true(g_file_get_contents(path, &after, &size, NULL));
    journal_close(journal);
    g_assert_cmpuint(size, ==, size_before);

    for (gsize stopped = from; stopped < to; stopped++) {
        g_autofree char *file = g_memdup2(before, size);
        memcpy(file, after, stopped);
        g_assert_true(g_file_set_contents(path, file, (gssize)size, NULL));
        guint damages;
        g_autoptr(GArray) seen = read_all(folder, &damages);
        assert_numbers(seen, 7);
        g_assert_cmpuint(damages, ==, 0);
    }
    remove_folder(folder);
}

static void test_found_segments_are_held_until_replayed(void) {
    char *folder = make_folder();
    Journal *journal = open_journal(folder, 1024, FALSE);
    append(journal, 0, 100);
    journal_close(journal);

    journal = open_journal(folder, 1024, FALSE);
    guint found = journal_found(journal);
    needed = JOURNAL_NONE;
    journal_trim(journal, needs, NULL);
    g_assert_cmpuint(journal_usage(journal).segments, ==, found);
    const guint64 unread = journal_usage(journal).unread_bytes;
    g_assert_cmpuint(unread, ==, journal_usage(journal).bytes);

    append(journal, 100, 10); /* what is appended meanwhile stays behind them */
    g_assert_cmpuint(journal_found(journal), ==, found);
    g_assert_cmpuint(journal_usage(journal).unread_bytes, ==, unread);

    JournalSegment *segment;
    g_autoptr(JournalFile) file = NULL;
    g_assert_true(journal_found_open(journal, 0, &segment, &file, NULL));
    g_autofree char *path = g_strdup(journal_segment_path(segment));
    g_autofree char *kept = g_strconcat(path, ".damaged", NULL);
    journal_mark_damaged(journal, segment);
    const guint before = journal_usage(journal).segments;
    journal_found_done(journal, segment);
    journal_trim(journal, needs, NULL);
    g_assert_cmpuint(journal_usage(journal).segments, ==, before - 1);
    g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
    g_assert_true(g_file_test(kept, G_FILE_TEST_EXISTS));

    /* The others are where they were, for the segment that is gone. */
    g_assert_cmpuint(journal_found_next(journal, 1).size_bytes, >, 0);
    for (guint i = 1; i < found; i++) {
        g_autoptr(JournalFile) next = NULL;
        g_assert_true(journal_found_open(journal, i, &segment, &next, NULL));
        journal_found_done(journal, segment);
    }
    g_assert_cmpuint(journal_usage(journal).unread_bytes, ==, 0);
    journal_trim(journal, needs, NULL);
    g_assert_cmpuint(journal_usage(journal).segments, ==, 0);
    journal_close(journal);
    remove_folder(folder);
}

/* A write that fails in the middle leaves nothing behind that would be read later. */
static void test_failed_write(void) {
    char *folder = make_folder();
    Journal *journal = open_journal(folder, 1 << 20, FALSE);
    append(journal, 0, 10);
    gsize used = journal_usage(journal).bytes;

    struct rlimit before, small;
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
    small = before;
    small.rlim_cur = used + 5000;
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &small), ==, 0);

    g_autofree char *large = g_strnfill(20000, 'x');
    JournalRecord record = journal_record((Bytes){large, 20000});
    JournalSegment *segment = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_false(journal_append(journal, &record, 1, &segment, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_IO);
    g_assert_null(segment);
    g_assert_cmpuint(journal_usage(journal).bytes, ==, used);

    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);
    append(journal, 10, 10);
    journal_close(journal);
    guint damages;
    g_autoptr(GArray) seen = read_all(folder, &damages);
    assert_numbers(seen, 20);
    g_assert_cmpuint(damages, ==, 0);
    remove_folder(folder);
}

typedef struct Writer {
    Journal *journal;
    guint first, n;
} Writer;

static void *write_many(void *arg) {
    const Writer *writer = arg;
    for (guint i = 0; i < writer->n; i++) {
        const guint64 from = journal_position(writer->journal);
        append(writer->journal, writer->first + i, 1);
        g_assert_true(journal_sync(writer->journal, from, NULL));
    }
    return NULL;
}

static gint compare_numbers(gconstpointer a, gconstpointer b) {
    return (gint)(*(const guint *)a) - (gint)(*(const guint *)b);
}

static void test_threads(void) {
    char *folder = make_folder();
    Journal *journal = open_journal(folder, 4096, TRUE);
    Writer writers[4];
    pthread_t threads[4];
    for (guint i = 0; i < 4; i++) {
        writers[i] = (Writer){journal, i * 100, 100};
        g_assert_cmpint(pthread_create(&threads[i], NULL, write_many, &writers[i]), ==, 0);
    }
    needed = 0;
    for (guint i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    journal_trim(journal, needs, NULL);
    journal_close(journal);
    guint damages;
    g_autoptr(GArray) seen = read_all(folder, &damages);
    g_array_sort(seen, compare_numbers);
    assert_numbers(seen, 400);
    g_assert_cmpuint(damages, ==, 0);
    remove_folder(folder);
}

int main(int argc, char **argv) {
    signal(SIGXFSZ, SIG_IGN);
    g_test_init(&argc, &argv, NULL);

    g_test_add_func("/journal/round-trip", test_round_trip);
    g_test_add_func("/journal/many-records", test_many_records_in_one_write);
    g_test_add_func("/journal/every-damage", test_every_damage);
    g_test_add_func("/journal/inner/lost-end", test_lost_end_of_an_inner_segment);
    g_test_add_func("/journal/inner/old-end-mark", test_old_end_mark_in_an_inner_segment);
    g_test_add_func("/journal/inner/missing", test_missing_inner_segments);
    g_test_add_func("/journal/earlier-version", test_earlier_version);
    g_test_add_func("/journal/newer-version", test_newer_version);
    g_test_add_func("/journal/one-at-a-time", test_one_at_a_time);
    g_test_add_func("/journal/discard", test_discard);
    g_test_add_func("/journal/trim", test_trim);
    g_test_add_func("/journal/used-again", test_files_are_used_again);
    g_test_add_func("/journal/unfinished", test_unfinished_write_in_a_used_file);
    g_test_add_func("/journal/found", test_found_segments_are_held_until_replayed);
    g_test_add_func("/journal/failed-write", test_failed_write);
    g_test_add_func("/journal/threads", test_threads);

    return g_test_run();
}
