#include "receiver/background/store_watch.h"

#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/file.h"
#include "receiver/shared/space.h"

#define TRY_NS    NS_PER_SEC
#define TRY_BYTES 4096u

/* Can files be made there, written and synced? */
static gboolean folder_works(const StoreFolder *folder) {
    static const char bytes[TRY_BYTES] = {0};
    if (space_free_bytes(folder->path) < folder->needs_bytes) return FALSE;
    const int fd = file_open_unnamed(folder->path);
    if (fd < 0) return FALSE;
    const gboolean works = write(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes && fdatasync(fd) == 0;
    close(fd);
    return works;
}

gboolean store_watch_look(StoreWatch *watch, gboolean fails, const StoreFolder *folder, gint64 now_ns) {
    if (!fails) {
        *watch = (StoreWatch){0};
        return FALSE;
    }
    if (now_ns - watch->tried_ns < TRY_NS && watch->tried_ns != 0) return FALSE;
    watch->tried_ns = now_ns;
    if (!folder_works(folder)) {
        watch->working_ns = 0;
        return FALSE;
    }
    if (watch->working_ns == 0) watch->working_ns = now_ns;
    if (watch->given_up || now_ns - watch->working_ns < STORE_WATCH_NS) return FALSE;
    watch->given_up = TRUE;
    return TRUE;
}
