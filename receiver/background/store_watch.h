/* Does the store take what it is given, and if not, will it ever again?
 *
 * RocksDB refuses all writes after some errors of its disk, and goes on refusing when the disk works again: only one
 * that is opened anew takes them, and one that failed cannot be closed (store_rocksdb.c, abandon()). So while the store
 * refuses writes, its folder is tried, once a second. As long as that fails, too, or there is less space than the store
 * needs, plumbd waits: a new start would help nobody, and what is stored can still be asked for. Once it works, the
 * store has STORE_WATCH_NS to recover by itself; then the process has to be started anew. Nothing that was acknowledged
 * is lost with it: the journal has what the store lacks. One thread. */
#pragma once

#include "receiver/shared/admission.h"

/* RocksDB looks for free space every five seconds. */
#define STORE_WATCH_NS G_GINT64_CONSTANT(12000000000)

typedef struct StoreWatch {
    gint64 tried_ns;   /* when the folder was last tried; 0: the store does not fail */
    gint64 working_ns; /* since when the folder has worked while the store has not; 0: it does not */
    gboolean given_up; /* told already */
} StoreWatch;

typedef struct StoreFolder {
    const char *path;
    guint64 needs_bytes; /* free, or no store can write out what it has in memory */
} StoreFolder;

/* 'fails': the store refuses writes. TRUE, once: it will not recover. */
gboolean store_watch_look(StoreWatch *watch, gboolean fails, const StoreFolder *folder, gint64 now_ns);
