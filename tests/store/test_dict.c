#include <pthread.h>
#include <string.h>

#include "common/base/error.h"
#include "common/base/limits.h"
#include "common/store/dict.h"
#include "tests/store/fixture.h"

static const struct {
    const char *name;
    StoreOpen open;
} implementations[] = {{"memory", store_open_memory}, {"rocksdb", store_open_rocksdb}};

static Store *open_in(gconstpointer data, const char *folder, gboolean read_only) {
    StoreOptions options = small_options(folder);
    options.read_only = read_only;
    g_autoptr(GError) error = NULL;
    Store *store = implementations[GPOINTER_TO_UINT(data)].open(&options, &error);
    g_assert_no_error(error);
    return store;
}

static guint32 intern(Dict *dict, const char *name) {
    g_autoptr(GError) error = NULL;
    guint32 id = G_MAXUINT32;
    dict_intern(dict, name, strlen(name), &id, &error);
    g_assert_no_error(error);
    return id;
}

static void test_ids(gconstpointer data) {
    char *folder = folder_new();
    Store *store = open_in(data, folder, FALSE);
    g_autoptr(Dict) dict = dict_open(store, NULL);
    g_assert_cmpuint(dict_size(dict), ==, 0);
    g_assert_cmpuint(intern(dict, ""), ==, 0);
    g_assert_cmpuint(intern(dict, "DataNode/10.0.0.1"), ==, 1);
    g_assert_cmpuint(intern(dict, "create"), ==, 2);
    g_assert_cmpuint(intern(dict, "DataNode/10.0.0.1"), ==, 1);
    g_assert_cmpuint(dict_find(dict, "create", 6), ==, 2);
    g_assert_cmpuint(dict_find(dict, "create", 5), ==, 0);
    g_assert_cmpuint(dict_find(dict, "", 0), ==, 0);

    gsize length = 99;
    g_assert_cmpstr(dict_text(dict, 2, &length), ==, "create");
    g_assert_cmpuint(length, ==, 6);
    g_assert_cmpstr(dict_text(dict, 0, &length), ==, "");
    g_assert_cmpuint(length, ==, 0);
    g_assert_cmpstr(dict_text(dict, 3, NULL), ==, "");
    g_assert_cmpstr(dict_text(dict, G_MAXUINT32, NULL), ==, "");

    /* Bytes, not texts. */
    guint32 id;
    g_assert_true(dict_intern(dict, "a\0b", 3, &id, NULL));
    g_assert_cmpuint(dict_find(dict, "a\0b", 3), ==, id);
    g_assert_cmpuint(dict_find(dict, "a", 1), ==, 0);

    g_autofree char *longest = g_strnfill(LIMIT_NAME_BYTES + 1, 'x');
    g_assert_true(dict_intern(dict, longest, LIMIT_NAME_BYTES, &id, NULL));
    guint32 untouched = 77;
    g_autoptr(GError) error = NULL;
    g_assert_false(dict_intern(dict, longest, LIMIT_NAME_BYTES + 1, &untouched, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_LIMIT);
    g_assert_cmpuint(untouched, ==, 77);
    g_assert_cmpuint(dict_find(dict, longest, LIMIT_NAME_BYTES + 1), ==, 0);
    g_assert_cmpuint(dict_size(dict), ==, 4);

    /* What was interned is in the store, whoever opens it next. */
    g_autoptr(Dict) again = dict_open(store, NULL);
    for (guint32 i = 0; i <= 5; i++) {
        gsize first, second;
        const char *a = dict_text(dict, i, &first), *b = dict_text(again, i, &second);
        g_assert_cmpmem(a, first, b, second);
    }
    g_clear_pointer(&dict, dict_free);
    g_clear_pointer(&again, dict_free);
    store_close(store);
    folder_remove(folder);
}

static void test_read_only(void) {
    const gpointer rocksdb = GUINT_TO_POINTER(1);
    char *folder = folder_new();
    Store *store = open_in(rocksdb, folder, FALSE);
    Dict *dict = dict_open(store, NULL);
    intern(dict, "known");
    Store *beside = open_in(rocksdb, folder, TRUE);
    Dict *reading = dict_open(beside, NULL);
    g_assert_cmpuint(intern(reading, "known"), ==, 1);
    g_autoptr(GError) error = NULL;
    guint32 id;
    g_assert_false(dict_intern(reading, "unknown", 7, &id, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_NOT_FOUND);
    dict_free(reading);
    store_close(beside);
    dict_free(dict);
    store_close(store);
    folder_remove(folder);
}

static void put_entry(Store *store, const char *key, gsize key_bytes, const char *value) {
    g_autoptr(StoreBatch) batch = store_batch_new(store);
    store_batch_put(batch, FAMILY_DICT, (Bytes){key, key_bytes}, text(value));
    g_assert_true(store_write(store, batch, FALSE, NULL));
}

static void test_damage(gconstpointer data) {
    static const struct {
        const char *key;
        gsize key_bytes;
        const char *value;
    } cases[] = {
        {"\0\0\0\3", 4, "gap"},   {"\0\0\0\0", 4, "zero"}, {"\0\0\0\2\0", 5, "long key"},
        {"\0\0", 2, "short key"}, {"\0\0\0\2", 4, ""},     {"\0\0\0\2", 4, "first"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *folder = folder_new();
        Store *store = open_in(data, folder, FALSE);
        put_entry(store, "\0\0\0\1", 4, "first");
        put_entry(store, cases[i].key, cases[i].key_bytes, cases[i].value);

        g_autoptr(GError) error = NULL;
        g_assert_null(dict_open(store, &error));
        g_test_message("%s", error->message);
        g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
        store_close(store);
        folder_remove(folder);
    }
}

/* More than its tables begin with, and than it keeps in memory at a time. */
#define MANY 200000u

static void name_of(guint32 id, char *name, gsize size) {
    g_snprintf(name, size, "FSClient/10.%u.%u.%u/%u", id >> 16 & 255, id >> 8 & 255, id & 255, id * 7);
}

static void test_many(gconstpointer data) {
    char *folder = folder_new(), name[64];
    Store *store = open_in(data, folder, FALSE);
    g_autoptr(StoreBatch) batch = store_batch_new(store);

    for (guint32 id = 1; id <= MANY; id++) {
        const guint8 key[4] = {(guint8)(id >> 24), (guint8)(id >> 16), (guint8)(id >> 8), (guint8)id};
        name_of(id, name, sizeof name);
        store_batch_put(batch, FAMILY_DICT, (Bytes){key, sizeof key}, text(name));
    }
    g_assert_true(store_write(store, batch, FALSE, NULL));
    Dict *dict = dict_open(store, NULL);
    g_assert_cmpuint(dict_size(dict), ==, MANY);

    for (guint round = 0; round < 2; round++) {
        for (guint32 id = 1; id <= MANY; id++) {
            name_of(id, name, sizeof name);
            g_assert_cmpuint(dict_find(dict, name, strlen(name)), ==, id);
            g_assert_cmpstr(dict_text(dict, id, NULL), ==, name);
        }
        dict_rest(dict);
    }

    g_assert_cmpuint(intern(dict, "FSClient/10.0.0.1/7"), ==, 1);
    g_assert_cmpuint(intern(dict, "one more"), ==, MANY + 1);
    dict_free(dict);
    store_close(store);
    folder_remove(folder);
}

/* ---- threads ---- */

#define THREADS 4
#define NAMES   500
#define ROUNDS  3

typedef struct Worker {
    Dict *dict;
    guint32 ids[NAMES];
    guint first;
} Worker;

static void *interner(void *arg) {
    Worker *worker = arg;
    for (guint i = 0; i < NAMES * ROUNDS; i++) {
        guint n = (worker->first + i * 7) % NAMES;
        g_autofree char *name = g_strdup_printf("name %u", n);
        guint32 id = intern(worker->dict, name);
        g_assert_true(worker->ids[n] == 0 || worker->ids[n] == id);
        worker->ids[n] = id;
        g_assert_cmpstr(dict_text(worker->dict, id, NULL), ==, name);
        g_assert_cmpuint(dict_size(worker->dict), >=, id);
    }
    return NULL;
}

static void test_threads(gconstpointer data) {
    char *folder = folder_new();
    Store *store = open_in(data, folder, FALSE);
    Dict *dict = dict_open(store, NULL);
    g_autofree Worker *workers = g_new0(Worker, THREADS);
    pthread_t threads[THREADS];

    for (guint i = 0; i < THREADS; i++) {
        workers[i].dict = dict;
        workers[i].first = i * 13;
        g_assert_cmpint(pthread_create(&threads[i], NULL, interner, &workers[i]), ==, 0);
    }
    for (guint i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);

    g_assert_cmpuint(dict_size(dict), ==, NAMES);
    for (guint n = 0; n < NAMES; n++) {
        for (guint i = 1; i < THREADS; i++) g_assert_cmpuint(workers[i].ids[n], ==, workers[0].ids[n]);
    }

    dict_free(dict);
    dict = dict_open(store, NULL);
    g_assert_cmpuint(dict_size(dict), ==, NAMES);
    dict_free(dict);
    store_close(store);
    folder_remove(folder);
}

/* Without a folder all is in memory, so less of it is let in. */
static void test_full_in_memory(void) {
    char *folder = folder_new();
    Store *store = open_in(GUINT_TO_POINTER(0), folder, FALSE);
    g_autoptr(Dict) dict = dict_open(store, NULL);
    g_assert_true(dict_in_memory(dict));

    g_autoptr(GError) error = NULL;
    char name[LIMIT_NAME_BYTES];
    memset(name, 'n', sizeof name);
    guint32 id = 0, n = 0;

    for (; n <= LIMIT_DICTIONARY_MEMORY_BYTES / LIMIT_NAME_BYTES; n++) {
        memcpy(name, &n, sizeof n);
        if (!dict_intern(dict, name, sizeof name, &id, &error)) break;
    }

    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_LIMIT);
    g_assert_nonnull(strstr(error->message, "in memory"));
    g_assert_cmpuint(n, >, LIMIT_DICTIONARY_MEMORY_BYTES / LIMIT_NAME_BYTES * 9 / 10);
    g_assert_cmpuint(dict_size(dict), ==, n);
    memcpy(name, &(guint32){0}, sizeof n);
    g_assert_cmpuint(dict_find(dict, name, sizeof name), ==, 1);

    g_clear_pointer(&dict, dict_free);
    store_close(store);
    folder_remove(folder);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(implementations); i++) {
        const char *name = implementations[i].name;
        g_autofree char *ids = g_strdup_printf("/dict/%s/ids", name);
        g_autofree char *damage = g_strdup_printf("/dict/%s/damage", name);
        g_autofree char *threads = g_strdup_printf("/dict/%s/threads", name);
        g_test_add_data_func(ids, GUINT_TO_POINTER(i), test_ids);
        g_autofree char *many = g_strdup_printf("/dict/%s/many", name);
        g_test_add_data_func(damage, GUINT_TO_POINTER(i), test_damage);
        g_test_add_data_func(many, GUINT_TO_POINTER(i), test_many);
        g_test_add_data_func(threads, GUINT_TO_POINTER(i), test_threads);
    }
    g_test_add_func("/dict/rocksdb/read-only", test_read_only);
    g_test_add_func("/dict/full-in-memory", test_full_in_memory);
    return g_test_run();
}
