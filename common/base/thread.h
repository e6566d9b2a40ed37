/* Threads with a name that `top -H` and debuggers show, and the one kind of lock that needs attributes. */
#pragma once

#include <pthread.h>

/* Runs body(arg) on a thread of its own, called so (15 characters at most). Without threads the program is of no use:
 * when the system gives none, the process ends with a message. */
void thread_start(pthread_t *thread, const char *name, void *(*body)(void *), void *arg);

/* A lock whose waiting writers go before new readers: who takes it exclusively, for moments, is never starved. */
void rwlock_init_writers_first(pthread_rwlock_t *lock);
