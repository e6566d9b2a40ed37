#include <string.h>

#include "analyzer/cli/source/source_kinds.h"
#include "analyzer/query/query.h"
#include "common/base/clock.h"
#include "common/base/error.h"

/* A running plumbd may remove a file, its content being merged into another, between our reading of the list of files
 * and our opening of them; the next try sees the new list. */
#define OPEN_TRIES 3

typedef struct StoreSource {
    Store *store;
    Archive *archive;
} StoreSource;

static void store_source_close(void *data) {
    StoreSource *self = data;
    archive_free(self->archive);
    store_close(self->store);
    g_free(self);
}

static StoreSource *open_once(const char *folder, GError **error) {
    StoreOptions options = {.path = folder, .read_only = TRUE, .merge = archive_merge};
    g_autoptr(Store) store = store_open_rocksdb(&options, error);
    Archive *archive = store != NULL ? archive_open(store, &(ArchiveOptions){0}, error) : NULL;
    if (archive == NULL) return NULL;
    StoreSource *self = g_new0(StoreSource, 1);
    self->store = g_steal_pointer(&store);
    self->archive = archive;
    return self;
}

/* RocksDB keeps a file of this name in every store. */
static gboolean is_store(const char *folder) {
    g_autofree char *current = g_build_filename(folder, "CURRENT", NULL);
    return g_file_test(current, G_FILE_TEST_EXISTS);
}

void *source_store_open(const char *told, GError **error) {
    /* People name the folder that holds plumbd's store and journal: /var/lib/plumbline, script/server --data DIR. */
    g_autofree char *inner = g_build_filename(told, "store", NULL);
    const char *folder = !is_store(told) && is_store(inner) ? inner : told;
    if (!g_file_test(folder, G_FILE_TEST_IS_DIR)) {
        fail(error, PLUMB_ERROR_NOT_FOUND,
             "no folder %s: --store takes the folder that plumbd's store.path names, or that of plumb import --store",
             folder);
        return NULL;
    }
    for (guint i = 1;; i++) {
        g_autoptr(GError) why = NULL;
        StoreSource *self = open_once(folder, &why);
        if (self != NULL) return self;
        gboolean passing =
            g_error_matches(why, PLUMB_ERROR, PLUMB_ERROR_IO) || g_error_matches(why, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
        if (passing && i < OPEN_TRIES) continue;
        g_propagate_error(error, g_steal_pointer(&why));
        return NULL;
    }
}

static QueryParams *params_of(const Ask *ask) {
    QueryParams *params = query_params_new();
    for (guint i = 0; i < ask->names->len; i++)
        query_params_add(params, g_ptr_array_index(ask->names, i), g_ptr_array_index(ask->values, i));
    return params;
}

static json_t *store_source_ask(void *data, const Ask *ask, GError **error) {
    StoreSource *self = data;
    g_autoptr(QueryParams) params = params_of(ask);
    return query_run(self->archive, ask->question, params, clock_wall_ns(clock_system()), error);
}

typedef struct Forward {
    const SourceSink *sink;
    GError *error;
    gboolean stopped;
} Forward;

static gboolean forward(void *arg, Bytes piece) {
    Forward *to = arg;
    if (to->sink->write(to->sink->arg, piece, &to->error)) return TRUE;
    to->stopped = TRUE;
    return FALSE;
}

static gboolean store_source_export(void *data, const Ask *ask, const SourceSink *sink, GError **error) {
    StoreSource *self = data;
    g_autoptr(QueryParams) params = params_of(ask);
    Forward to = {sink, NULL, FALSE};
    QuerySink pieces = {forward, &to};
    g_autoptr(GError) why = NULL;
    gboolean done = query_export(self->archive, params, clock_wall_ns(clock_system()), &pieces, &why);
    if (to.error != NULL) {
        g_propagate_error(error, to.error);
        return FALSE;
    }
    if (to.stopped) return fail(error, PLUMB_ERROR_IO, "stopped");
    if (!done) g_propagate_error(error, g_steal_pointer(&why));
    return done;
}

static gboolean store_source_flush(void *data, guint64 *closed_traces, GError **error) {
    (void)data;
    (void)closed_traces;
    return fail(error, PLUMB_ERROR_CONFIG, "a store folder is read only: ask the running plumbd with --server");
}

static json_t *store_source_mark(void *data, const json_t *mark, GError **error) {
    (void)mark;
    store_source_flush(data, NULL, error);
    return NULL;
}

const SourceKind source_store_kind = {store_source_ask, store_source_export, store_source_flush, store_source_mark,
                                      store_source_close};
