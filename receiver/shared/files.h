/* File descriptors: how many the process may have, and who gets them. Connections get what is left beside the store and
 * the journal, which must never be without one. */
#pragma once

#include <glib.h>

/* The least to start with: the store's and the journal's files, sockets, and what each thread waits on. */
#define FILES_LEAST 256u
/* Of a network thread and its acceptor: each waits on an eventfd, by way of three of libevent. */
#define FILES_NET_THREAD 8u
/* For all else that is no sender's connection: the store's files, HTTP, the journal. With a low limit, half of it. */
#define FILES_RESERVED 1536u

typedef struct FilePlan {
    guint senders, readers; /* connections that can be taken: as many as asked for, or fewer */
    guint store;            /* files that the store may keep open */
    guint net_threads;      /* as wanted */
} FilePlan;

/* Raises the limit as far as the process may. wanted: the connections asked for. When there are fewer descriptors than
 * all that needs, a warning in the log says so. Errors: CONFIG, for a limit with which nothing works. */
gboolean files_plan(const FilePlan *wanted, FilePlan *plan, GError **error);
