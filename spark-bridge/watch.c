#include "spark-bridge/watch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define EVENTS (IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR)

struct Watch {
    int inotify, signals;
    sigset_t blocked_before;
    gboolean stopped;
};

Watch *watch_new(GError **error) {
    Watch *watch = g_new0(Watch, 1);
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, &watch->blocked_before);
    watch->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    watch->signals = signalfd(-1, &ends, SFD_NONBLOCK | SFD_CLOEXEC);
    if (watch->signals >= 0) return watch;
    fail_errno(error, errno, "cannot wait for signals");
    watch_free(watch);
    return NULL;
}

void watch_free(Watch *watch) {
    if (watch == NULL) return;
    if (watch->inotify >= 0) close(watch->inotify);
    if (watch->signals >= 0) close(watch->signals);
    pthread_sigmask(SIG_SETMASK, &watch->blocked_before, NULL);
    g_free(watch);
}

void watch_folder(Watch *watch, const char *path) {
    if (watch->inotify >= 0) inotify_add_watch(watch->inotify, path, EVENTS);
}

gboolean watch_stopped(Watch *watch) {
    struct signalfd_siginfo taken;
    while (read(watch->signals, &taken, sizeof taken) == (ssize_t)sizeof taken) watch->stopped = TRUE;
    return watch->stopped;
}

void watch_wait(Watch *watch, guint timeout_ms) {
    if (watch_stopped(watch)) return;
    struct pollfd ready[] = {{.fd = watch->signals, .events = POLLIN}, {.fd = watch->inotify, .events = POLLIN}};
    if (poll(ready, G_N_ELEMENTS(ready), (int)timeout_ms) <= 0 || ready[1].revents == 0) return;
    char events[4096];
    while (read(watch->inotify, events, sizeof events) > 0) {
    }
}
