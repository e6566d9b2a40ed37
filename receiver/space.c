#include "receiver/space.h"

#include <sys/statvfs.h>

static gboolean below(guint64 mark, guint64 free_bytes, gboolean was_below) {
    if (mark == 0) return FALSE;
    return free_bytes < mark || (was_below && free_bytes < mark + mark / 10);
}

SpaceLevel space_level(const SpaceMarks *marks, guint64 free_bytes, SpaceLevel before) {
    if (below(marks->thin_bytes, free_bytes, before >= SPACE_THIN)) return SPACE_THIN;
    if (below(marks->warn_bytes, free_bytes, before >= SPACE_LOW)) return SPACE_LOW;
    return SPACE_FINE;
}

const char *space_level_name(SpaceLevel level) {
    static const char *const names[] = {"fine", "low", "thinning"};
    return names[level];
}

guint64 space_free_bytes(const char *path) {
    struct statvfs info;
    if (statvfs(path, &info) != 0) return G_MAXUINT64;
    return (guint64)info.f_bavail * info.f_frsize;
}
