#include "receiver/shared/space.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

static gboolean below(guint64 threshold, guint64 free_bytes, gboolean was_below) {
    if (threshold == 0) return FALSE;
    return free_bytes < threshold || (was_below && free_bytes < threshold + threshold / 10);
}

SpaceLevel space_level(const SpaceThresholds *thresholds, guint64 free_bytes, SpaceLevel before) {
    if (below(thresholds->thin_bytes, free_bytes, before >= SPACE_THIN)) return SPACE_THIN;
    if (below(thresholds->warn_bytes, free_bytes, before >= SPACE_LOW)) return SPACE_LOW;
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

gboolean space_is_shared(const char *path, const char *other) {
    struct stat one, two;
    return stat(path, &one) == 0 && stat(other, &two) == 0 && one.st_dev == two.st_dev;
}

static guint64 kept_free(const JournalRoom *room) { return room->reserve_bytes + room->reserve_bytes / 4; }

guint64 space_for_journal(const JournalRoom *room) {
    if (room->free_bytes == G_MAXUINT64) return room->limit_bytes;
    const guint64 all = room->free_bytes + room->used_bytes;
    const guint64 quarter = (all - MIN(kept_free(room), all)) / 4;
    return MIN(room->limit_bytes, MAX(quarter, 4 * room->segment_bytes));
}

gboolean space_is_wanted(const JournalRoom *room) { return room->free_bytes < kept_free(room); }
