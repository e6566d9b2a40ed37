/* The two kinds of storage behind stored_file.h; private to its files. */
#pragma once

#include "spark-bridge/storage/stored_file.h"

struct Storage {
    StorageOptions options;
    char *user;
    void *web; /* stored_webhdfs.c's connection; NULL: none yet */
};

struct StoredFile {
    const struct StoredOps *ops;
    Storage *storage;
    char *path;
    guint64 id;
    int fd; /* local */
};

typedef struct StoredOps {
    gboolean (*look)(Storage *storage, const char *path, StoredFacts *facts, GError **error);
    /* Appends to entries, in any order. */
    gboolean (*list)(Storage *storage, const char *path, GArray *entries, GError **error);
    /* Sets the id. */
    gboolean (*open)(StoredFile *file, GError **error);
    gssize (*read)(StoredFile *file, guint64 offset, void *to, gsize size_bytes, GError **error);
} StoredOps;

extern const StoredOps stored_local, stored_webhdfs;

void webhdfs_free(void *web);
