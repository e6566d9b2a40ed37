/* Threads with a name that `top -H` and debuggers show. */
#pragma once

#include <pthread.h>

/* Runs body(arg) on a thread of its own, called so (15 characters at most). Without threads the program is of no use:
 * when the system gives none, the process ends with a message. */
void thread_start(pthread_t *thread, const char *name, void *(*body)(void *), void *arg);
