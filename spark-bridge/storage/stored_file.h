/* Stored bytes by path: files and folders of this machine, and of HDFS through WebHDFS.
 *
 * A path that begins with webhdfs:// (or swebhdfs:// for TLS) is HDFS's: webhdfs://HOST:PORT[,HOST:PORT...]/PATH, the
 * NameNodes' HTTP addresses, of which any may be the active one. All else is a local path.
 *
 * A file that grows is read at any offset up to what is there now; one that is renamed while it is open stays the same
 * file. What a connection breaks is tried again for retry_ms with growing pauses and, after that, is error PEER: the
 * file's handle stays usable, so the caller can try later where it was. */
#pragma once

#include "common/base/error.h"

/* What the handles of one program share. Outlives them; belongs to one thread. */
typedef struct Storage Storage;

typedef struct StorageOptions {
    const char *user; /* of HDFS; NULL: $HADOOP_USER_NAME, else the user's name */
    guint retry_ms;   /* how long a lost HDFS is asked again before that is an error */
    /* Asked between tries; TRUE: give up now. May be NULL. */
    gboolean (*stopped)(void *arg);
    /* Told once when HDFS does not answer, and with NULL when it does again. May be NULL. */
    void (*waiting)(void *arg, const char *why);
    void *arg;
} StorageOptions;

Storage *storage_new(const StorageOptions *options);
void storage_free(Storage *storage);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Storage, storage_free)

typedef struct StoredFacts {
    char *name; /* the last part of the path */
    guint64 id; /* the same for one file under any name: inode, HDFS's file id */
    guint64 size_bytes;
    gint64 changed_ms; /* last change, ms since the epoch */
    gboolean folder;
    gboolean open; /* HDFS: still being written, so the size is a lower bound */
} StoredFacts;

void stored_facts_clear(StoredFacts *facts);

gboolean storage_is_remote(const char *path);
/* Errors: NOT_FOUND, IO (with what to do about it), PEER. */
gboolean storage_look(Storage *storage, const char *path, StoredFacts *facts, GError **error);
/* The entries of a folder, in the order of their names; an array of StoredFacts that clears them. */
GArray *storage_list(Storage *storage, const char *path, GError **error);
char *storage_join(const char *folder, const char *name);

typedef struct StoredFile StoredFile;

StoredFile *stored_file_open(Storage *storage, const char *path, GError **error);
void stored_file_close(StoredFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoredFile, stored_file_close)

const char *stored_file_path(const StoredFile *file);
/* What identifies it, as StoredFacts has it. */
guint64 stored_file_id(const StoredFile *file);
/* Reads at most size_bytes from there. How many; 0 at the present end, -1 with an error. */
gssize stored_file_read(StoredFile *file, guint64 offset, void *to, gsize size_bytes, GError **error);
