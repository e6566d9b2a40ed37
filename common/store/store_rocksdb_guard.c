#include "common/store/store_rocksdb_internal.h"

void guard_init(RocksGuard *guard) {
    pthread_mutex_init(&guard->lock, NULL);
    pthread_cond_init(&guard->changed, NULL);
}

void guard_clear(RocksGuard *guard) {
    pthread_cond_destroy(&guard->changed);
    pthread_mutex_destroy(&guard->lock);
}

void guard_enter(RocksGuard *guard, const RocksBatch *batch) {
    pthread_mutex_lock(&guard->lock);
    while (guard->active && rocks_batch_touches(batch, guard->family, guard->from, guard->until))
        pthread_cond_wait(&guard->changed, &guard->lock);
    guard->writers++;
    pthread_mutex_unlock(&guard->lock);
}

void guard_leave(RocksGuard *guard) {
    pthread_mutex_lock(&guard->lock);
    guard->writers--;
    pthread_cond_broadcast(&guard->changed);
    pthread_mutex_unlock(&guard->lock);
}

void guard_set(RocksGuard *guard, StoreFamily family, Bytes from, Bytes until) {
    pthread_mutex_lock(&guard->lock);
    while (guard->active) pthread_cond_wait(&guard->changed, &guard->lock);
    guard->active = TRUE;
    guard->family = family;
    guard->from = from;
    guard->until = until;
    /* Those who come from here on look at the range. */
    while (guard->writers > 0) pthread_cond_wait(&guard->changed, &guard->lock);
    pthread_mutex_unlock(&guard->lock);
}

void guard_lift(RocksGuard *guard) {
    pthread_mutex_lock(&guard->lock);
    guard->active = FALSE;
    pthread_cond_broadcast(&guard->changed);
    pthread_mutex_unlock(&guard->lock);
}
