/* What every store must do; run on each implementation. */
#include <pthread.h>
#include <string.h>

#include "common/base/error.h"
#include "tests/base/seed.h"
#include "tests/store/fixture.h"

static Store *open_without_log(const StoreOptions *options, GError **error) {
    StoreOptions changed = *options;
    changed.no_log = TRUE;
    return store_open_rocksdb(&changed, error);
}

static const struct {
    const char *name;
    StoreOpen open;
} implementations[] = {
    {"memory", store_open_memory}, {"rocksdb", store_open_rocksdb}, {"rocksdb-no-log", open_without_log}};

static Store *open_new(gconstpointer data, const char *folder) {
    const guint i = GPOINTER_TO_UINT(data);
    g_autoptr(GError) error = NULL;
    const StoreOptions options = small_options(folder);
    Store *store = implementations[i].open(&options, &error);
    g_assert_no_error(error);
    return store;
}

static void write_ok(Store *store, StoreBatch *batch) {
    g_autoptr(GError) error = NULL;
    store_write(store, batch, FALSE, &error);
    g_assert_no_error(error);
}

static void test_values(gconstpointer data) {
    char *folder = folder_new();
    g_autoptr(Store) store = open_new(data, folder);
    assert_value(store, FAMILY_TRACE, "a", NULL);
    put(store, FAMILY_TRACE, "a", "1");
    assert_value(store, FAMILY_TRACE, "a", "1");
    for (guint i = 0; i < FAMILY_COUNT; i++) {
        if (i != FAMILY_TRACE) assert_value(store, (StoreFamily)i, "a", NULL);
    }

    put(store, FAMILY_TRACE, "a", "");
    assert_value(store, FAMILY_TRACE, "a", "");
    put(store, FAMILY_TRACE, "", "empty key");
    assert_value(store, FAMILY_TRACE, "", "empty key");
    assert_value(store, FAMILY_TRACE, "aa", NULL);

    g_autoptr(StoreBatch) batch = store_batch_new(store);
    g_autofree char *large = g_malloc0(5 << 20);
    large[5 << 19] = 7;
    store_batch_put(batch, FAMILY_PATTERN, (Bytes){"\0\xff\0", 3}, (Bytes){large, 5 << 20});
    write_ok(store, batch);

    g_autoptr(GBytes) found = NULL;
    g_assert_true(store_get(store, FAMILY_PATTERN, (Bytes){"\0\xff\0", 3}, &found, NULL));
    g_assert_cmpmem(g_bytes_get_data(found, NULL), g_bytes_get_size(found), large, 5 << 20);
    g_assert_true(store_sync(store, NULL));
    g_clear_pointer(&store, store_close);
    folder_remove(folder);
}

static void test_batches(gconstpointer data) {
    char *folder = folder_new();
    g_autoptr(Store) store = open_new(data, folder);
    g_autoptr(StoreBatch) batch = store_batch_new(store);
    g_assert_cmpuint(store_batch_size_bytes(batch), ==, 0);

    store_batch_put(batch, FAMILY_INDEX, text("a"), text("1"));
    store_batch_delete(batch, FAMILY_INDEX, text("a"));
    store_batch_put(batch, FAMILY_INDEX, text("b"), text("1"));
    store_batch_put(batch, FAMILY_INDEX, text("b"), text("2"));
    store_batch_delete(batch, FAMILY_INDEX, text("c"));
    store_batch_put(batch, FAMILY_INDEX, text("c"), text("3"));
    store_batch_put(batch, FAMILY_STATS, text("s"), text("x"));
    store_batch_merge(batch, FAMILY_STATS, text("s"), text("y"));
    store_batch_merge(batch, FAMILY_STATS, text("s"), text("z"));
    store_batch_merge(batch, FAMILY_STATS, text("t"), text("1"));
    store_batch_delete(batch, FAMILY_STATS, text("t"));
    store_batch_merge(batch, FAMILY_STATS, text("t"), text("2"));

    g_assert_cmpuint(store_batch_size_bytes(batch), >, 20);
    assert_value(store, FAMILY_INDEX, "b", NULL);
    write_ok(store, batch);
    g_assert_cmpuint(store_batch_size_bytes(batch), ==, 0);
    assert_value(store, FAMILY_INDEX, "a", NULL);
    assert_value(store, FAMILY_INDEX, "b", "2");
    assert_value(store, FAMILY_INDEX, "c", "3");
    assert_value(store, FAMILY_STATS, "s", "xyz");
    assert_value(store, FAMILY_STATS, "t", "2");

    /* An empty batch is fine, and the emptied one can be filled again. */
    write_ok(store, batch);
    store_batch_put(batch, FAMILY_INDEX, text("d"), text("4"));
    write_ok(store, batch);
    assert_value(store, FAMILY_INDEX, "d", "4");

    g_clear_pointer(&batch, store_batch_free);
    g_clear_pointer(&store, store_close);
    folder_remove(folder);
}

/* Values that are lent stand between others in their order, and may go once they are written. */
static void test_lent_values(gconstpointer data) {
    char *folder = folder_new();
    g_autoptr(Store) store = open_new(data, folder);
    g_autoptr(StoreBatch) batch = store_batch_new(store);
    g_autofree char *put = g_strdup("put"), *first = g_strdup("1"), *third = g_strdup("3");

    store_batch_put_lent(batch, FAMILY_INDEX, text("a"), text(put));
    store_batch_put(batch, FAMILY_INDEX, text("b"), text("copied"));
    store_batch_merge_lent(batch, FAMILY_STATS, text("s"), text(first));
    store_batch_merge(batch, FAMILY_STATS, text("s"), text("2"));
    store_batch_merge_lent(batch, FAMILY_STATS, text("s"), text(third));
    store_batch_merge_lent(batch, FAMILY_STATS, text("r"), text(third)); /* the same bytes again, at another key */

    write_ok(store, batch);
    memset(put, '!', strlen(put));
    *first = *third = '!';
    assert_value(store, FAMILY_INDEX, "a", "put");
    assert_value(store, FAMILY_INDEX, "b", "copied");
    assert_value(store, FAMILY_STATS, "s", "123");
    assert_value(store, FAMILY_STATS, "r", "3");

    store_batch_merge_lent(batch, FAMILY_INDEX, text("a"), text(put));
    g_autoptr(GError) error = NULL;
    g_assert_false(store_write(store, batch, FALSE, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);

    g_clear_pointer(&batch, store_batch_free);
    g_clear_pointer(&store, store_close);
    folder_remove(folder);
}

static void test_refused_batch_is_kept(gconstpointer data) {
    char *folder = folder_new();
    Store *store = open_new(data, folder);
    StoreBatch *batch = store_batch_new(store);
    g_autoptr(GError) error = NULL;
    store_batch_put(batch, FAMILY_INDEX, text("a"), text("1"));
    store_batch_merge(batch, FAMILY_INDEX, text("a"), text("1"));
    gsize size = store_batch_size_bytes(batch);
    g_assert_false(store_write(store, batch, FALSE, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
    g_assert_cmpuint(store_batch_size_bytes(batch), ==, size);
    assert_value(store, FAMILY_INDEX, "a", NULL);
    store_batch_free(batch);
    store_close(store);

    StoreOptions options = small_options(folder);
    options.merge = NULL;
    store = implementations[GPOINTER_TO_UINT(data)].open(&options, NULL);
    batch = store_batch_new(store);
    store_batch_merge(batch, FAMILY_STATS, text("a"), text("1"));
    g_clear_error(&error);
    g_assert_false(store_write(store, batch, FALSE, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
    store_batch_free(batch);
    store_close(store);
    folder_remove(folder);
}

/* The same operands, cut into batches, flushes and compactions in many ways. */
static void test_merge_is_associative(gconstpointer data) {
    char *folder = folder_new();
    g_autoptr(Store) store = open_new(data, folder);
    g_autoptr(StoreBatch) batch = store_batch_new(store);

    for (guint round = 0; round < 20; round++) {
        g_autofree char *key = g_strdup_printf("key %u", round);
        g_autoptr(GString) expected = g_string_new(NULL);
        if (g_random_boolean()) {
            put(store, FAMILY_STATS, key, "start,");
            g_string_append(expected, "start,");
        }

        for (guint i = 0; i < 30; i++) {
            g_autofree char *operand = g_strdup_printf("%u,", i);
            g_string_append(expected, operand);
            store_batch_merge(batch, FAMILY_STATS, text(key), text(operand));
            if (g_random_int_range(0, 3) == 0) write_ok(store, batch);
            if (g_random_int_range(0, 15) == 0) g_assert_true(store_flush(store, g_random_boolean(), NULL));
        }
        write_ok(store, batch);
        assert_value(store, FAMILY_STATS, key, expected->str);
    }

    g_clear_pointer(&batch, store_batch_free);
    g_clear_pointer(&store, store_close);
    folder_remove(folder);
}

static void assert_corrupt(Store *store, const char *key) {
    g_autoptr(GError) error = NULL;
    GBytes *untouched = (GBytes *)&error;
    g_assert_false(store_get(store, FAMILY_STATS, text(key), &untouched, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
    g_assert_true(untouched == (GBytes *)&error);
    /* A scan stops there and says so. */
    g_clear_error(&error);
    g_autoptr(StoreIter) iter = store_iter_new(store, FAMILY_STATS);
    guint n = 0;
    for (gboolean more = store_iter_seek(iter, text("")); more; more = store_iter_next(iter)) n++;
    g_assert_cmpuint(n, ==, 1);
    g_assert_false(store_iter_error(iter, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
    g_assert_false(store_iter_next(iter));
}

static void test_failed_merge(gconstpointer data) {
    char *folder = folder_new();
    g_autoptr(Store) store = open_new(data, folder);
    g_autoptr(StoreBatch) batch = store_batch_new(store);
    put(store, FAMILY_STATS, "a", "1");
    put(store, FAMILY_STATS, "b", "1");
    put(store, FAMILY_STATS, "c", "1");

    store_batch_merge(batch, FAMILY_STATS, text("b"), text("!"));
    write_ok(store, batch);
    assert_corrupt(store, "b");
    store_batch_merge(batch, FAMILY_STATS, text("b"), text("2"));
    write_ok(store, batch);
    assert_corrupt(store, "b");

    /* The others are as good as before, and the store goes on. */
    g_assert_true(store_flush(store, TRUE, NULL));
    assert_corrupt(store, "b");
    assert_value(store, FAMILY_STATS, "a", "1");
    assert_value(store, FAMILY_STATS, "c", "1");
    put(store, FAMILY_STATS, "b", "whole again");
    assert_value(store, FAMILY_STATS, "b", "whole again");

    g_clear_pointer(&batch, store_batch_free);
    g_clear_pointer(&store, store_close);
    folder_remove(folder);
}

/* ---- iterators ---- */

static void test_iterator_edges(gconstpointer data) {
    static const Bytes keys[] = {{"", 0},   {"\0", 1}, {"a", 1},    {"a\0", 2},
                                 {"ab", 2}, {"b", 1},  {"\xff", 1}, {"\xff\xff", 2}};
    static const struct {
        Bytes key;
        int seek, before; /* positions in keys; -1: none */
    } cases[] = {
        {{"", 0}, 0, -1},
        {{"\0", 1}, 1, 0},
        {{"\0\0", 2}, 2, 1},
        {{"A", 1}, 2, 1},
        {{"a", 1}, 2, 1},
        {{"a\0", 2}, 3, 2},
        {{"a\0x", 3}, 4, 3},
        {{"aa", 2}, 4, 3},
        {{"ac", 2}, 5, 4},
        {{"c", 1}, 6, 5},
        {{"\x7f", 1}, 6, 5},
        {{"\x80", 1}, 6, 5},
        {{"\xff", 1}, 6, 5},
        {{"\xff\0", 2}, 7, 6},
        {{"\xff\xff", 2}, 7, 6},
        {{"\xff\xff\0", 3}, -1, 7},
        {{"\xff\xff\xff", 3}, -1, 7},
    };

    char *folder = folder_new();
    g_autoptr(Store) store = open_new(data, folder);
    g_autoptr(StoreIter) empty = store_iter_new(store, FAMILY_TRACE_ID);
    g_assert_false(store_iter_seek(empty, text("")));
    g_assert_false(store_iter_seek_before(empty, text("zzz")));
    g_assert_false(store_iter_next(empty) || store_iter_previous(empty));
    g_assert_true(store_iter_error(empty, NULL));

    g_autoptr(StoreBatch) batch = store_batch_new(store);
    for (guint i = 0; i < G_N_ELEMENTS(keys); i++) store_batch_put(batch, FAMILY_TRACE_ID, keys[i], keys[i]);
    write_ok(store, batch);
    g_autoptr(StoreIter) iter = store_iter_new(store, FAMILY_TRACE_ID);

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const Bytes key = cases[i].key;
        for (guint before = 0; before < 2; before++) {
            int at = before ? cases[i].before : cases[i].seek;
            g_test_message("case %u before %u", i, before);
            gboolean found = before ? store_iter_seek_before(iter, key) : store_iter_seek(iter, key);
            g_assert_cmpint(found, ==, at >= 0);
            if (!found) continue;
            Bytes there = store_iter_key(iter), value = store_iter_value(iter);
            g_assert_cmpmem(there.data, there.size_bytes, keys[at].data, keys[at].size_bytes);
            g_assert_cmpmem(value.data, value.size_bytes, keys[at].data, keys[at].size_bytes);
            int neighbour = before ? at - 1 : at + 1;
            found = before ? store_iter_previous(iter) : store_iter_next(iter);
            g_assert_cmpint(found, ==, neighbour >= 0 && neighbour < (int)G_N_ELEMENTS(keys));
            if (!found) continue;
            there = store_iter_key(iter);
            g_assert_cmpmem(there.data, there.size_bytes, keys[neighbour].data, keys[neighbour].size_bytes);
            /* And back. */
            g_assert_true(before ? store_iter_next(iter) : store_iter_previous(iter));
            there = store_iter_key(iter);
            g_assert_cmpmem(there.data, there.size_bytes, keys[at].data, keys[at].size_bytes);
        }
    }

    g_assert_true(store_iter_error(iter, NULL));
    g_clear_pointer(&iter, store_iter_free);
    g_clear_pointer(&empty, store_iter_free);
    g_clear_pointer(&batch, store_batch_free);
    g_clear_pointer(&store, store_close);
    folder_remove(folder);
}

static void test_iterator_sees_its_moment(gconstpointer data) {
    char *folder = folder_new();
    g_autoptr(Store) store = open_new(data, folder);
    put(store, FAMILY_TRACE, "a", "1");
    put(store, FAMILY_TRACE, "c", "1");

    g_autoptr(StoreIter) then = store_iter_new(store, FAMILY_TRACE);
    g_autoptr(StoreBatch) batch = store_batch_new(store);
    store_batch_put(batch, FAMILY_TRACE, text("b"), text("2"));
    store_batch_put(batch, FAMILY_TRACE, text("a"), text("2"));
    store_batch_delete(batch, FAMILY_TRACE, text("c"));
    write_ok(store, batch);
    g_assert_true(store_flush(store, TRUE, NULL));

    g_autoptr(StoreIter) now = store_iter_new(store, FAMILY_TRACE);
    StoreIter *both[] = {then, now};
    const char *expected[] = {"a1c1", "a2b2"};
    for (guint i = 0; i < 2; i++) {
        g_autoptr(GString) seen = g_string_new(NULL);
        for (gboolean more = store_iter_seek(both[i], text("")); more; more = store_iter_next(both[i])) {
            Bytes key = store_iter_key(both[i]), value = store_iter_value(both[i]);
            g_string_append_len(seen, key.data, (gssize)key.size_bytes);
            g_string_append_len(seen, value.data, (gssize)value.size_bytes);
        }
        g_assert_cmpstr(seen->str, ==, expected[i]);
    }

    g_clear_pointer(&then, store_iter_free);
    g_clear_pointer(&now, store_iter_free);
    g_clear_pointer(&batch, store_batch_free);
    g_clear_pointer(&store, store_close);
    folder_remove(folder);
}

/* ---- against a model ---- */

static int compare_text(gconstpointer a, gconstpointer b, gpointer unused) {
    (void)unused;
    return strcmp(a, b);
}

static void change_range(GTree *model, StoreBatch *batch) {
    int from = g_random_int_range(0, 200), until = from + g_random_int_range(0, 20);
    g_autofree char *first = g_strdup_printf("%03d", from), *end = g_strdup_printf("%03d", until);
    store_batch_delete_range(batch, FAMILY_STATS, text(first), text(end));
    for (int i = from; i < until; i++) {
        g_autofree char *key = g_strdup_printf("%03d", i);
        g_tree_remove(model, key);
    }
}

/* One random change, in the batch and in the model (text -> text). */
static void change(GTree *model, StoreBatch *batch) {
    if (g_random_int_range(0, 50) == 0) {
        change_range(model, batch);
        return;
    }

    char *key = g_strdup_printf("%03d", g_random_int_range(0, 200));
    char *value = g_strdup_printf("v%d", g_random_int_range(0, 1000));
    const char *old = g_tree_lookup(model, key);

    switch (g_random_int_range(0, 4)) {
    case 0:
        store_batch_delete(batch, FAMILY_STATS, text(key));
        g_tree_remove(model, key);
        g_free(key);
        g_free(value);
        return;
    case 1: {
        store_batch_merge(batch, FAMILY_STATS, text(key), text(value));
        char *joined = g_strconcat(old != NULL ? old : "", value, NULL);
        g_free(value);
        value = joined;
        break;
    }
    default: store_batch_put(batch, FAMILY_STATS, text(key), text(value));
    }

    g_tree_replace(model, key, value);
}

static gboolean append_model(gpointer key, gpointer value, gpointer out) {
    g_string_append_printf(out, "%s=%s\n", (char *)key, (char *)value);
    return FALSE;
}

static void assert_equals_model(Store *store, GTree *model) {
    g_autoptr(GString) expected = g_string_new(NULL), forward = g_string_new(NULL), backward = g_string_new(NULL);
    g_tree_foreach(model, append_model, expected);
    g_autoptr(StoreIter) iter = store_iter_new(store, FAMILY_STATS);
    for (gboolean more = store_iter_seek(iter, text("")); more; more = store_iter_next(iter)) {
        Bytes key = store_iter_key(iter), value = store_iter_value(iter);
        g_string_append_printf(forward, "%.*s=%.*s\n", (int)key.size_bytes, (const char *)key.data,
                               (int)value.size_bytes, (const char *)value.data);
    }
    for (gboolean more = store_iter_seek_before(iter, text("~")); more; more = store_iter_previous(iter)) {
        Bytes key = store_iter_key(iter), value = store_iter_value(iter);
        g_autofree char *line = g_strdup_printf("%.*s=%.*s\n", (int)key.size_bytes, (const char *)key.data,
                                                (int)value.size_bytes, (const char *)value.data);
        g_string_prepend(backward, line);
    }
    g_assert_cmpstr(forward->str, ==, expected->str);
    g_assert_cmpstr(backward->str, ==, expected->str);
}

static void test_against_a_model(gconstpointer data) {
    char *folder = folder_new();
    g_autoptr(Store) store = open_new(data, folder);
    g_autoptr(GTree) model = g_tree_new_full(compare_text, NULL, g_free, g_free);
    g_autoptr(StoreBatch) batch = store_batch_new(store);

    for (guint step = 0; step < 1500; step++) {
        change(model, batch);
        if (g_random_int_range(0, 10) != 0) continue;

        write_ok(store, batch);
        g_autofree char *key = g_strdup_printf("%03d", g_random_int_range(0, 200));
        assert_value(store, FAMILY_STATS, key, g_tree_lookup(model, key));
        if (g_random_int_range(0, 20) == 0) g_assert_true(store_flush(store, g_random_boolean(), NULL));
        if (g_random_int_range(0, 20) == 0)
            g_assert_true(store_compact(store, FAMILY_STATS, text("050"), text("150"), NULL));
        if (g_random_int_range(0, 10) == 0) assert_equals_model(store, model);
    }

    write_ok(store, batch);
    assert_equals_model(store, model);
    g_clear_pointer(&batch, store_batch_free);
    g_clear_pointer(&store, store_close);
    folder_remove(folder);
}

/* ---- threads ---- */

#define WRITERS 3
#define BATCHES 200

typedef struct Worker {
    Store *store;
    guint number;
    gint *running; /* atomic */
} Worker;

/* Each batch gives the same value to two keys and appends one letter to a shared one. */
static void *writer(void *arg) {
    Worker *worker = arg;
    g_autofree char *left = g_strdup_printf("%u left", worker->number);
    g_autofree char *right = g_strdup_printf("%u right", worker->number);
    g_autoptr(StoreBatch) batch = store_batch_new(worker->store);
    for (guint i = 0; i < BATCHES; i++) {
        g_autofree char *value = g_strdup_printf("%u", i);
        store_batch_put(batch, FAMILY_TRACE, text(left), text(value));
        store_batch_put(batch, FAMILY_TRACE, text(right), text(value));
        store_batch_merge(batch, FAMILY_STATS, text("shared"), text("x"));
        write_ok(worker->store, batch);
    }
    __atomic_sub_fetch(worker->running, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void *reader(void *arg) {
    Worker *worker = arg;
    while (__atomic_load_n(worker->running, __ATOMIC_ACQUIRE) > 0) {
        g_autoptr(StoreIter) iter = store_iter_new(worker->store, FAMILY_TRACE);
        g_autofree char *last = NULL;
        guint n = 0;
        for (gboolean more = store_iter_seek(iter, text("")); more; more = store_iter_next(iter), n++) {
            Bytes value = store_iter_value(iter);
            char *now = g_strndup(value.data, value.size_bytes);
            if (n % 2 == 1) g_assert_cmpstr(now, ==, last); /* a batch is seen whole or not at all */
            g_free(last);
            last = now;
        }
        g_assert_cmpuint(n % 2, ==, 0);
        g_autoptr(GBytes) shared = NULL;
        g_assert_true(store_get(worker->store, FAMILY_STATS, text("shared"), &shared, NULL));
        store_usage(worker->store);
    }
    return NULL;
}

static void test_threads(gconstpointer data) {
    char *folder = folder_new();
    g_autoptr(Store) store = open_new(data, folder);
    gint running = WRITERS;
    Worker workers[WRITERS + 2];
    pthread_t threads[WRITERS + 2];
    for (guint i = 0; i < WRITERS + 2; i++) {
        workers[i] = (Worker){store, i, &running};
        g_assert_cmpint(pthread_create(&threads[i], NULL, i < WRITERS ? writer : reader, &workers[i]), ==, 0);
    }
    for (guint i = 0; i < WRITERS + 2; i++) pthread_join(threads[i], NULL);
    g_autofree char *all = g_strnfill(WRITERS * BATCHES, 'x');
    assert_value(store, FAMILY_STATS, "shared", all);
    g_clear_pointer(&store, store_close);
    folder_remove(folder);
}

/* ---- marks ---- */

static void wait_reached(Store *store, guint64 mark) {
    while (store_reached_mark(store) < mark) g_usleep(1000);
}

static void test_marks(gconstpointer data) {
    char *folder = folder_new();
    g_autoptr(Store) store = open_new(data, folder);
    gboolean no_log = GPOINTER_TO_UINT(data) == 2;

    for (guint round = 0; round < 3; round++) {
        put(store, FAMILY_TRACE, "a", "1");
        guint64 mark = store_next_mark(store);
        if (no_log) g_assert_cmpuint(store_reached_mark(store), <, mark);
        g_assert_true(store_set_mark(store, FALSE, NULL));
        if (no_log) g_assert_cmpuint(store_next_mark(store), ==, mark + 1);
        if (no_log) g_assert_cmpuint(store_reached_mark(store), <, mark); /* nothing asked for it */

        if (round < 2) {
            g_assert_true(store_set_mark(store, TRUE, NULL));
            wait_reached(store, mark);
        } else {
            g_assert_true(store_flush(store, FALSE, NULL));
            g_assert_cmpuint(store_reached_mark(store), >=, mark);
        }

        if (round != 1) continue;
        store_close(store);
        store = open_new(data, folder);
        g_assert_cmpuint(store_reached_mark(store), >=, mark);
    }

    /* Full buffers are written out without being asked. */
    guint64 mark = store_next_mark(store);
    g_assert_true(store_set_mark(store, FALSE, NULL));
    g_autofree char *large = g_strnfill(64 << 10, 'v');
    for (guint i = 0; i < 64; i++) put(store, FAMILY_TRACE, "b", large);
    wait_reached(store, mark);
    g_clear_pointer(&store, store_close);
    folder_remove(folder);
}

/* ---- ranges ---- */

static void assert_keys(Store *store, StoreFamily family, const char *expected) {
    g_autoptr(GString) keys = g_string_new(NULL);
    g_autoptr(StoreIter) iter = store_iter_new(store, family);
    for (gboolean more = store_iter_seek(iter, text("")); more; more = store_iter_next(iter)) {
        Bytes key = store_iter_key(iter);
        g_string_append_len(keys, key.data, (gssize)key.size_bytes);
        g_string_append_c(keys, ' ');
    }
    g_assert_true(store_iter_error(iter, NULL));
    g_assert_cmpstr(keys->str, ==, expected);
}

static void test_deleted_ranges(gconstpointer data) {
    char *folder = folder_new();
    g_autoptr(Store) store = open_new(data, folder);
    static const char *const keys[] = {"a", "b", "ba", "c", "d"};
    for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
        put(store, FAMILY_TRACE, keys[i], "1");
        put(store, FAMILY_INDEX, keys[i], "1");
    }

    g_autoptr(StoreIter) before = store_iter_new(store, FAMILY_TRACE);
    g_autoptr(StoreBatch) batch = store_batch_new(store);
    store_batch_put(batch, FAMILY_TRACE, text("bb"), text("goes"));
    store_batch_put(batch, FAMILY_TRACE, text("z"), text("stays"));
    store_batch_delete_range(batch, FAMILY_TRACE, text("b"), text("c"));
    store_batch_put(batch, FAMILY_TRACE, text("bc"), text("comes"));
    store_batch_delete_range(batch, FAMILY_TRACE, text("x"), text("x"));
    store_batch_put(batch, FAMILY_TRACE, text("ab"), text("comes"));
    g_assert_cmpuint(store_batch_size_bytes(batch), >, 30);

    write_ok(store, batch);
    assert_keys(store, FAMILY_TRACE, "a ab bc c d z ");
    assert_keys(store, FAMILY_INDEX, "a b ba c d ");
    assert_value(store, FAMILY_TRACE, "ba", NULL);
    assert_value(store, FAMILY_TRACE, "bc", "comes");
    g_assert_true(store_iter_seek(before, text("b"))); /* it sees its moment */

    /* The space comes back; nothing else changes, and what is written again is there again. */
    put(store, FAMILY_TRACE, "bd", "again");
    g_autoptr(GError) error = NULL;
    store_batch_delete_range(batch, FAMILY_TRACE, text("a"), text("b"));
    write_ok(store, batch);
    store_reclaim(store, FAMILY_TRACE, text("a"), text("b"), &error);
    g_assert_no_error(error);
    assert_keys(store, FAMILY_TRACE, "bc bd c d z ");
    store_compact(store, FAMILY_TRACE, text("a"), text("d"), &error);
    g_assert_no_error(error);
    assert_keys(store, FAMILY_TRACE, "bc bd c d z ");
    put(store, FAMILY_TRACE, "a", "again");
    assert_value(store, FAMILY_TRACE, "a", "again");

    g_clear_pointer(&before, store_iter_free);
    g_clear_pointer(&batch, store_batch_free);
    g_clear_pointer(&store, store_close);
    folder_remove(folder);
}

typedef struct Expiry {
    gint calls;
    const char *below; /* values less than this are expired */
} Expiry;

static gboolean expired(void *arg, StoreFamily family, Bytes key, Bytes value) {
    Expiry *expiry = arg;
    g_assert_cmpint(family, ==, FAMILY_TRACE_ID);
    g_assert_cmpuint(key.size_bytes, ==, 1);
    g_atomic_int_inc(&expiry->calls);
    return value.size_bytes > 0 && *(const char *)value.data < *expiry->below;
}

static void test_expired_entries(gconstpointer data) {
    char *folder = folder_new();
    Expiry expiry = {0, "5"};
    StoreOptions options = small_options(folder);
    options.expired = expired;
    options.expired_arg = &expiry;
    g_autoptr(Store) store = implementations[GPOINTER_TO_UINT(data)].open(&options, NULL);

    static const char *const values[] = {"9", "1", "4", "5", ""};
    for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
        const char key[2] = {(char)('a' + i), 0};
        put(store, FAMILY_TRACE_ID, key, values[i]);
        put(store, FAMILY_STATS, key, values[i]);
    }

    g_autoptr(GError) error = NULL;
    store_compact(store, FAMILY_TRACE_ID, text("a"), text("c"), &error);
    g_assert_no_error(error);
    assert_value(store, FAMILY_TRACE_ID, "b", NULL); /* others may go with it, but need not */
    store_compact(store, FAMILY_TRACE_ID, text("a"), text("z"), &error);
    store_compact(store, FAMILY_STATS, text("a"), text("z"), &error);
    g_assert_no_error(error);
    g_assert_cmpint(expiry.calls, >=, 5);
    assert_keys(store, FAMILY_TRACE_ID, "a d e ");
    assert_keys(store, FAMILY_STATS, "a b c d e ");

    expiry.below = "\x7f";
    store_compact(store, FAMILY_TRACE_ID, text("a"), text("z"), &error);
    g_assert_no_error(error);
    assert_keys(store, FAMILY_TRACE_ID, "e ");

    g_clear_pointer(&store, store_close);
    folder_remove(folder);
}

static void test_usage(gconstpointer data) {
    char *folder = folder_new();
    g_autoptr(Store) store = open_new(data, folder);
    StoreUsage before = store_usage(store);
    g_autofree char *value = g_malloc(1 << 20);
    for (guint i = 0; i < 1 << 20; i++) value[i] = (char)g_random_int();
    g_autoptr(StoreBatch) batch = store_batch_new(store);
    store_batch_put(batch, FAMILY_TRACE, text("a"), (Bytes){value, 1 << 20});
    write_ok(store, batch);
    StoreUsage after = store_usage(store);
    g_assert_cmpuint(after.live_bytes, >=, before.live_bytes + (1 << 20));
    g_assert_cmpuint(after.memory_bytes, >=, before.memory_bytes + (1 << 20));
    g_assert_cmpuint(after.free_bytes, >, 0);
    g_assert_false(after.stalled);
    if (GPOINTER_TO_UINT(data) == 1) g_assert_cmpuint(after.disk_bytes, >=, before.disk_bytes + (1 << 20));
    g_clear_pointer(&batch, store_batch_free);
    g_clear_pointer(&store, store_close);
    folder_remove(folder);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        GTestDataFunc run;
    } cases[] = {
        {"values", test_values},
        {"batches", test_batches},
        {"lent values", test_lent_values},
        {"refused-batch", test_refused_batch_is_kept},
        {"merge-associative", test_merge_is_associative},
        {"merge-fails", test_failed_merge},
        {"iterator-edges", test_iterator_edges},
        {"iterator-snapshot", test_iterator_sees_its_moment},
        {"model", test_against_a_model},
        {"threads", test_threads},
        {"marks", test_marks},
        {"deleted-ranges", test_deleted_ranges},
        {"expired-entries", test_expired_entries},
        {"usage", test_usage},
    };

    g_test_init(&argc, &argv, NULL);
    g_random_set_seed(run_seed());

    for (guint i = 0; i < G_N_ELEMENTS(implementations); i++) {
        for (guint j = 0; j < G_N_ELEMENTS(cases); j++) {
            g_autofree char *path = g_strdup_printf("/store/%s/%s", implementations[i].name, cases[j].name);
            g_test_add_data_func(path, GUINT_TO_POINTER(i), cases[j].run);
        }
    }

    return g_test_run();
}
