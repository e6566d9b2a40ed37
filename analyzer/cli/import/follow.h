/* Waiting for a file to grow, be cut short, or be replaced by another of its name (rotation), and for the signals that
 * end it. Waits on inotify; looks once a second all the same, for file systems that send no events (NFS). */
#pragma once

#include <glib.h>

typedef struct Follow Follow;

typedef enum {
    FOLLOW_GROWN,
    FOLLOW_TRUNCATED, /* shorter than what was read: go on at its begin */
    FOLLOW_REPLACED,  /* the name stands for another file now, and the old one is read to its end */
    FOLLOW_STOPPED,   /* SIGINT or SIGTERM came */
    FOLLOW_FAILED,
} FollowEvent;

/* Blocks SIGINT and SIGTERM in the calling thread until follow_free(), and takes them itself. Error IO. */
Follow *follow_new(const char *path, GError **error);
void follow_free(Follow *follow);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Follow, follow_free)

/* Waits for something to happen to the file open as fd, of which 'position' bytes were read. */
FollowEvent follow_wait(Follow *follow, int fd, guint64 position, GError **error);
/* Has a signal come? Does not wait. */
gboolean follow_stopped(Follow *follow);
