/* Calls that a store makes to its files fail once, and then for good: what was written stays, what was not is not
 * half there, and whoever asks is told. Each store lives in a process of its own, as in life: one that cannot be closed
 * is left. */
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/base/error.h"
#include "common/store/dict.h"
#include "tests/faults/fault_files.h"
#include "tests/store/fixture.h"

#define BATCHES 6u
#define VALUES  12u
/* So many calls in turn; a run makes fewer. */
#define CALLS_MAX 2000u
/* Of the calls of a store every seventh fails, or fewer; all do in the end, since the first one differs from run to
 * run. plumbd's stores have no log: of these more fail. PLUMB_FAULTS=all (bench/crash) has each call fail. */
#ifdef __SANITIZE_ADDRESS__
#define STEP(no_log) ((no_log) ? 13u : 29u)
#else
#define STEP(no_log) ((no_log) ? 7u : 13u)
#endif

/* RocksDB sleeps for a second after an error in the background. Nobody waits for that here. */
int usleep(useconds_t duration_us);
int usleep(useconds_t duration_us) {
    struct timespec pause = {.tv_nsec = (long)MIN(duration_us, 1000u) * 1000};
    return nanosleep(&pause, NULL);
}

/* What happened, in memory that the processes share. */
typedef struct Outcome {
    gboolean no_log;
    gboolean opened;
    gboolean acknowledged[BATCHES]; /* with a log: written; without: on disk */
    guint calls;
} Outcome;

static StoreOptions options_of(const char *path, gboolean no_log) {
    StoreOptions options = small_options(path);
    options.no_log = no_log;
    return options;
}

static void key_of(char text[16], guint batch, guint i) { g_snprintf(text, 16, "%02u/%02u", batch, i); }

/* Batch b: VALUES entries of two families, and a letter for the sum. */
static gboolean write_batch(Store *store, guint b, GError **error) {
    static char value[3000];
    char key[16], letter[2] = {(char)('a' + b), 0};
    g_autoptr(StoreBatch) batch = store_batch_new(store);
    memset(value, 'a' + (int)b, sizeof value - 1);
    for (guint i = 0; i < VALUES; i++) {
        key_of(key, b, i);
        store_batch_put(batch, i % 2 ? FAMILY_TRACE : FAMILY_INDEX, text(key), text(value));
    }
    store_batch_merge(batch, FAMILY_STATS, text("sum"), text(letter));
    return store_write(store, batch, b % 2 == 0, error);
}

/* An error must name what it is about, and be one of those that the header names. */
static void assert_told(const GError *error) {
    g_assert_nonnull(error);
    g_assert_true(error->domain == PLUMB_ERROR);
    g_assert_cmpuint(strlen(error->message), >, 10);
}

/* Goes on after errors, as plumbd would. */
static void write_all(Store *store, Outcome *outcome) {
    g_autoptr(GError) error = NULL;
    guint64 marks[BATCHES];
    gboolean written[BATCHES];
    for (guint b = 0; b < BATCHES; b++) {
        written[b] = write_batch(store, b, &error);
        marks[b] = store_next_mark(store);
        if (!written[b]) assert_told(error);
        g_clear_error(&error);
        if (b % 2 == 0 && !store_set_mark(store, b == 2, &error)) assert_told(error);
        g_clear_error(&error);
        if (b % 2 == 1 && !store_flush(store, b == 3, &error)) assert_told(error);
        g_clear_error(&error);
    }
    guint64 reached = store_reached_mark(store);
    for (guint b = 0; b < BATCHES; b++) outcome->acknowledged[b] = written[b] && marks[b] <= reached;
}

static void work(const char *folder, Outcome *outcome) {
    const StoreOptions options = options_of(folder, outcome->no_log);
    g_autoptr(GError) error = NULL;
    g_autoptr(Store) store = store_open_rocksdb(&options, &error);
    outcome->opened = store != NULL;
    if (store == NULL)
        assert_told(error);
    else
        write_all(store, outcome);
}

static gboolean has(Store *store, StoreFamily family, const char *key) {
    g_autoptr(GBytes) value = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(store_get(store, family, text(key), &value, &error));
    g_assert_no_error(error);
    return value != NULL;
}

/* Batches are whole or not at all, and those acknowledged are there. */
static void assert_whole(const char *folder, const Outcome *outcome, const char *what) {
    const StoreOptions options = options_of(folder, outcome->no_log);
    g_autoptr(GError) error = NULL;
    g_autoptr(Store) store = store_open_rocksdb(&options, &error);
    if (store == NULL) g_error("%s: the store does not open again: %s", what, error->message);

    g_autoptr(GString) sum = g_string_new(NULL);
    for (guint b = 0; b < BATCHES; b++) {
        guint there = 0;
        char key[16];
        for (guint i = 0; i < VALUES; i++) {
            key_of(key, b, i);
            there += has(store, i % 2 ? FAMILY_TRACE : FAMILY_INDEX, key);
        }

        if (there != 0 && there != VALUES) g_error("%s: batch %u is there by halves", what, b);
        if (there == 0 && outcome->acknowledged[b]) g_error("%s: batch %u was acknowledged and is gone", what, b);
        if (there > 0) g_string_append_c(sum, (char)('a' + b));
    }

    g_autoptr(GBytes) stored = NULL;
    g_assert_true(store_get(store, FAMILY_STATS, text("sum"), &stored, &error));
    gsize size = stored ? g_bytes_get_size(stored) : 0;
    if (size != sum->len || (size > 0 && memcmp(g_bytes_get_data(stored, NULL), sum->str, size) != 0))
        g_error("%s: the sum is '%.*s', not '%s'", what, (int)size,
                stored ? (const char *)g_bytes_get_data(stored, NULL) : "", sum->str);
    g_assert_true(write_batch(store, 0, &error)); /* and it goes on */
}

/* One call in turn. */
typedef struct Run {
    FaultKind kind;
    guint at, lasts;
    const char *folder;
    char *what;
    Outcome *outcome;
} Run;

/* In a process of its own. */
static void in_process(void (*function)(const Run *run), const Run *run) {
    pid_t child = fork();
    g_assert_cmpint(child, >=, 0);
    if (child == 0) {
        function(run);
        _exit(0);
    }
    int status = 0;
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    if (status != 0) g_error("%s: the process ended with %x", run->what, (guint)status);
}

static void work_with_faults(const Run *run) {
    faults_set(run->folder, run->kind, run->at, run->lasts);
    work(run->folder, run->outcome);
    run->outcome->calls = faults_clear();
}

static void look(const Run *run) { assert_whole(run->folder, run->outcome, run->what); }

static void read_with_faults(const Run *run) {
    const StoreOptions options = options_of(run->folder, FALSE);
    faults_set(run->folder, run->kind, run->at, run->lasts);
    g_autoptr(GError) error = NULL;
    g_autoptr(Store) store = store_open_rocksdb(&options, &error);
    g_autofree char *dump = store ? store_dump(store, &error) : NULL;
    run->outcome->calls = faults_clear();
    if (dump == NULL) assert_told(error);
    if (run->outcome->calls < run->at) g_assert_nonnull(dump);
}

static Outcome *outcome_new(gboolean no_log) {
    Outcome *outcome = mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    g_assert_true(outcome != MAP_FAILED);
    *outcome = (Outcome){.no_log = no_log};
    return outcome;
}

/* FALSE when it made fewer calls than that. */
static gboolean run_once(Run run, gboolean no_log) {
    char *folder = folder_new();
    g_autofree char *store = g_build_filename(folder, "store", NULL);
    g_autofree char *what =
        g_strdup_printf("%s at call %u%s", fault_kind_name(run.kind), run.at, run.lasts ? "" : " and later");
    run.folder = store;
    run.what = what;
    run.outcome = outcome_new(no_log);

    gboolean reading = run.kind == FAULT_FAILED_READ;
    if (reading) run.at += G_MAXUINT / 2; /* nothing fails yet */
    in_process(work_with_faults, &run);
    if (reading) {
        run.at -= G_MAXUINT / 2;
        in_process(read_with_faults, &run);
    }

    gboolean again = run.outcome->calls >= run.at;
    if (again || run.outcome->opened) in_process(look, &run);

    munmap(run.outcome, sizeof *run.outcome);
    folder_remove(folder);
    return again;
}

typedef struct Case {
    FaultKind kind;
    guint lasts;
    gboolean no_log;
} Case;

static void test_every_call(gconstpointer data) {
    const Case *c = data;
    const guint step = g_strcmp0(g_getenv("PLUMB_FAULTS"), "all") == 0 ? 1 : STEP(c->no_log);
    Run run = {.kind = c->kind, .at = 1 + (guint)g_test_rand_int_range(0, (gint32)step), .lasts = c->lasts};
    while (run.at < CALLS_MAX && run_once(run, c->no_log)) run.at += step;
    g_test_message("about %u calls", run.at - 1);
    g_assert_cmpuint(run.at, >, 3); /* the layer is there */
    g_assert_cmpuint(run.at, <, CALLS_MAX);
}

/* Who is to make room on a full disk must be able to start on it. */
static void intern_on_a_full_disk(const Run *run) {
    StoreOptions options = options_of(run->folder, TRUE);
    g_autoptr(GError) error = NULL;
    Store *store = store_open_rocksdb(&options, &error);
    g_assert_no_error(error);
    Dict *dict = dict_open(store, NULL);
    guint32 id = 0;
    g_assert_true(dict_intern(dict, "create", 6, &id, NULL));
    dict_free(dict);
    faults_set(run->folder, FAULT_NO_SPACE, 1, 0);
    dict = dict_open(store, &error);
    g_assert_cmpuint(faults_clear(), >, 0); /* it was asked for room */
    g_assert_no_error(error);
    g_assert_cmpuint(dict_find(dict, "create", 6), ==, id);
    g_assert_true(dict_intern(dict, "open", 4, &id, &error));
    g_assert_cmpstr(dict_text(dict, id, NULL), ==, "open");
    dict_free(dict);
    store_close(store);
}

/* RocksDB's threads do not come along into a fork: the process that forks must never have opened a store. */
static void test_dictionary_on_a_full_disk(void) {
    char *folder = folder_new();
    const Run run = {.folder = folder, .what = (char *)"a dictionary on a full disk"};
    in_process(intern_on_a_full_disk, &run);
    folder_remove(folder);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    /* A thousand stores are made and opened: with a disk below them, most of the time would go into its syncs. */
    if (access("/dev/shm", W_OK) == 0) g_setenv("TMPDIR", "/dev/shm", TRUE);
    static Case cases[2 * 2 * FAULT_HANGING_SYNC]; /* the others are no matter of errors in turn */
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Case *c = &cases[i];
        *c = (Case){(FaultKind)(i / 4), i & 1, (i & 2) != 0};
        g_autofree char *path = g_strdup_printf("/store/faults/%s/%s/%s", fault_kind_name(c->kind),
                                                c->lasts ? "once" : "for-good", c->no_log ? "no-log" : "log");
        g_test_add_data_func(path, c, test_every_call);
    }
    g_test_add_func("/store/faults/dictionary", test_dictionary_on_a_full_disk);
    return g_test_run();
}
