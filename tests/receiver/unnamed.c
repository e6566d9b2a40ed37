#include "tests/receiver/unnamed.h"

#include <fcntl.h>
#include <glib.h>

int unnamed_file_in(const char *folder) {
    g_autoptr(GDir) dir = g_dir_open("/proc/self/fd", 0, NULL);
    const char *name;
    while ((name = g_dir_read_name(dir))) {
        g_autofree char *link = g_build_filename("/proc/self/fd", name, NULL);
        g_autofree char *target = g_file_read_link(link, NULL);
        if (!target || !g_str_has_prefix(target, folder) || !g_str_has_suffix(target, " (deleted)")) continue;
        int fd = open(link, O_RDWR | O_CLOEXEC);
        g_assert_cmpint(fd, >=, 0);
        return fd;
    }
    g_error("no file without a name in %s", folder);
}
