/* Connections on their way from the threads that accept them to the thread that serves them. */
#pragma once

#include "receiver/net/acceptor.h"

typedef struct Arrivals Arrivals;
Arrivals *arrivals_new(void);
/* Closes those that were not taken. */
void arrivals_free(Arrivals *arrivals);

/* Any thread. */
void arrivals_put(Arrivals *arrivals, const Arrival *arrival);
/* Any thread: as if there were some. */
void arrivals_wake(Arrivals *arrivals);
/* Any thread: so many wait. */
guint arrivals_waiting(const Arrivals *arrivals);

/* For its owner: readable when there are some. */
int arrivals_fd(const Arrivals *arrivals);
/* All of them, in the order in which they came. 'take' takes each over. */
void arrivals_take(Arrivals *arrivals, void (*take)(void *arg, const Arrival *arrival), void *arg);
