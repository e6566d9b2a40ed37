#include "analyzer/cli/import/follow.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/error.h"

#define LOOK_EVERY_MS 1000
#define FILE_EVENTS   (IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)
#define FOLDER_EVENTS (IN_CREATE | IN_MOVED_TO)

struct Follow {
    char *path;
    int inotify;
    int signals;
    sigset_t blocked_before;
    gboolean stopped;
};

Follow *follow_new(const char *path, GError **error) {
    g_autoptr(Follow) follow = g_new0(Follow, 1);
    follow->path = g_strdup(path);
    follow->signals = -1;
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, &follow->blocked_before);
    follow->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    follow->signals = signalfd(-1, &ends, SFD_NONBLOCK | SFD_CLOEXEC);
    g_autofree char *folder = g_path_get_dirname(path);
    if (follow->inotify < 0 || follow->signals < 0 || inotify_add_watch(follow->inotify, folder, FOLDER_EVENTS) < 0 ||
        inotify_add_watch(follow->inotify, path, FILE_EVENTS) < 0) {
        fail_errno(error, errno, "cannot follow %s", path);
        return NULL;
    }
    return g_steal_pointer(&follow);
}

void follow_free(Follow *follow) {
    if (follow == NULL) return;
    if (follow->inotify >= 0) close(follow->inotify);
    if (follow->signals >= 0) close(follow->signals);
    pthread_sigmask(SIG_SETMASK, &follow->blocked_before, NULL);
    g_free(follow->path);
    g_free(follow);
}

gboolean follow_stopped(Follow *follow) {
    struct signalfd_siginfo taken;
    while (read(follow->signals, &taken, sizeof taken) == (ssize_t)sizeof taken) follow->stopped = TRUE;
    return follow->stopped;
}

static void drain_events(Follow *follow) {
    char events[4096];
    while (read(follow->inotify, events, sizeof events) > 0) {
    }
}

FollowEvent follow_wait(Follow *follow, int fd, guint64 position, GError **error) {
    for (;;) {
        /* Events that came before are forgotten first: what they told is seen by the looks that follow. */
        drain_events(follow);

        struct stat open_file, named;
        if (fstat(fd, &open_file) != 0) {
            fail_errno(error, errno, "cannot look at %s", follow->path);
            return FOLLOW_FAILED;
        }
        if ((guint64)open_file.st_size > position) return FOLLOW_GROWN;
        if ((guint64)open_file.st_size < position) return FOLLOW_TRUNCATED;

        gboolean exists = stat(follow->path, &named) == 0;
        if (exists && (named.st_ino != open_file.st_ino || named.st_dev != open_file.st_dev)) {
            inotify_add_watch(follow->inotify, follow->path, FILE_EVENTS);
            return FOLLOW_REPLACED;
        }

        struct pollfd ready[] = {{.fd = follow->inotify, .events = POLLIN}, {.fd = follow->signals, .events = POLLIN}};
        if (poll(ready, G_N_ELEMENTS(ready), LOOK_EVERY_MS) < 0 && errno != EINTR) {
            fail_errno(error, errno, "cannot wait for %s", follow->path);
            return FOLLOW_FAILED;
        }

        if (follow_stopped(follow)) return FOLLOW_STOPPED;
    }
}
