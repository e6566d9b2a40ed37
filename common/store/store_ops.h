/* What a store implementation provides; private to common/store. store.c checks arguments and calls through here. */
#pragma once

#include "common/store/store.h"

typedef struct StoreDamage StoreDamage;

typedef struct StoreOps {
    void (*close)(Store *store);
    gboolean (*get)(Store *store, StoreFamily family, Bytes key, GBytes **value, GError **error);
    gboolean (*write)(Store *store, StoreBatch *batch, gboolean sync, GError **error);
    gboolean (*sync)(Store *store, GError **error);
    StoreUsage (*usage)(Store *store);
    gboolean (*flush)(Store *store, gboolean compact, GError **error);
    gboolean (*reclaim)(Store *store, StoreFamily family, Bytes from, Bytes until, GError **error);
    gboolean (*compact)(Store *store, StoreFamily family, Bytes from, Bytes until, GError **error);
    void (*set_quiet)(Store *store, gboolean quiet); /* NULL: there is never anything to merge */
    void (*damages)(Store *store, void (*visit)(void *arg, const StoreDamage *damage), void *arg); /* NULL: none */
    void (*check_damages)(Store *store);                                                           /* NULL: the same */
    guint64 (*next_mark)(Store *store);
    gboolean (*set_mark)(Store *store, gboolean flush, GError **error);
    guint64 (*reached_mark)(Store *store);

    StoreBatch *(*batch_new)(Store *store);
    void (*batch_free)(StoreBatch *batch);
    void (*batch_clear)(StoreBatch *batch);
    void (*batch_put)(StoreBatch *batch, StoreFamily family, Bytes key, Bytes value);
    void (*batch_put_lent)(StoreBatch *batch, StoreFamily family, Bytes key, Bytes value); /* NULL: batch_put */
    void (*batch_delete)(StoreBatch *batch, StoreFamily family, Bytes key);
    void (*batch_merge)(StoreBatch *batch, StoreFamily family, Bytes key, Bytes operand);
    void (*batch_merge_lent)(StoreBatch *batch, StoreFamily family, Bytes key, Bytes operand); /* NULL: batch_merge */
    void (*batch_delete_range)(StoreBatch *batch, StoreFamily family, Bytes from, Bytes until);

    StoreIter *(*iter_new)(Store *store, StoreFamily family);
    void (*iter_free)(StoreIter *iter);
    gboolean (*iter_seek)(StoreIter *iter, Bytes key);
    gboolean (*iter_seek_before)(StoreIter *iter, Bytes key);
    gboolean (*iter_next)(StoreIter *iter);
    gboolean (*iter_previous)(StoreIter *iter);
    Bytes (*iter_key)(const StoreIter *iter);
    Bytes (*iter_value)(const StoreIter *iter);
    gboolean (*iter_error)(StoreIter *iter, GError **error);
} StoreOps;

/* Implementations put these first into their own structs. */
struct Store {
    const StoreOps *ops;
    StoreMerge merge;
    gboolean read_only;
    const char *folder; /* what store_folder() says */
};

struct StoreBatch {
    const StoreOps *ops;
    gsize size_bytes; /* keys and values, and a little for each entry */
    guint merges;
    guint stray_merges; /* into families other than STATS */
};

struct StoreIter {
    const StoreOps *ops;
    gboolean valid;
    gboolean bad;     /* the current value could not be merged: iteration has stopped here */
    gboolean refused; /* and here, since the allowance is used up */
};

/* The value of a key whose merge failed. A failed merge must not fail the compaction that met it: the engine would
 * refuse every write from then on. Sixteen bytes that no encoder of ours writes. */
extern const Bytes store_bad_value;
gboolean store_value_is_bad(const void *data, gsize size_bytes);

/* merge(), whose result is store_bad_value when it fails or the existing value is bad already. 'out' is empty. */
void store_merge_or_bad(StoreMerge merge, Bytes existing, const Bytes *operands, gsize n, GByteArray *out);

gboolean store_fail_bad_value(StoreFamily family, GError **error);
