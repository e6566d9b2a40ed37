#define _GNU_SOURCE /* pthread_setname_np(), pthread_rwlockattr_setkind_np() */
#include "common/base/thread.h"

#include <glib.h>

void thread_start(pthread_t *thread, const char *name, void *(*body)(void *), void *arg) {
    const int err = pthread_create(thread, NULL, body, arg);
    if (err != 0)
        g_error("cannot start the thread %s: %s; raise the limit of threads (ulimit -u, TasksMax= of the unit)", name,
                g_strerror(err));
    pthread_setname_np(*thread, name);
}

void rwlock_init_writers_first(pthread_rwlock_t *lock) {
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
}
