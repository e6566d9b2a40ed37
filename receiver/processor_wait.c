#include "receiver/processor_wait.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* FALSE: the thread has ended, or the system does not tell. */
static gboolean read_fact(const char *thread, const char *fact, char *text, gsize size) {
    char path[128];
    g_snprintf(path, sizeof path, "/proc/self/task/%s/%s", thread, fact);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return FALSE;
    const ssize_t length = read(fd, text, size - 1);
    close(fd);
    text[MAX(length, 0)] = '\0';
    return length > 0;
}

static gboolean is_named(const char *name, const char *const *prefixes) {
    for (; *prefixes != NULL; prefixes++)
        if (g_str_has_prefix(name, *prefixes)) return TRUE;
    return FALSE;
}

gint64 processor_waited_ns(const char *const *prefixes) {
    gint64 sum_ns = 0;
    DIR *threads = opendir("/proc/self/task");
    for (const struct dirent *thread; threads != NULL && (thread = readdir(threads)) != NULL;) {
        char text[96];
        gint64 waited_ns;
        if (thread->d_name[0] == '.' || !read_fact(thread->d_name, "comm", text, sizeof text)) continue;
        if (!is_named(text, prefixes) || !read_fact(thread->d_name, "schedstat", text, sizeof text)) continue;
        if (sscanf(text, "%*d %" G_GINT64_FORMAT, &waited_ns) == 1) sum_ns += waited_ns;
    }
    if (threads != NULL) closedir(threads);
    return sum_ns;
}
