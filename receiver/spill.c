#include "receiver/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/base/error.h"

#define NO_SLOT G_MAXUINT32

typedef struct Extent {
    guint32 slot, at;
    guint32 size_bytes : 31;
    guint32 more : 1; /* the part goes on in the next extent */
    guint32 check;    /* of its bytes */
} Extent;

G_STATIC_ASSERT(sizeof(Extent) == 16);

struct Spill {
    char *folder;
    int fd;             /* -1: not yet made */
    GArray *slots;      /* guint32: bytes in it that are needed */
    GArray *free_slots; /* guint32 */
    guint32 slot, at;   /* where the next byte goes */
    GPtrArray *lists;   /* GArray of Extent, or NULL; [0] is not used */
    GArray *free_lists; /* guint32 */
    guint64 live_bytes, written_bytes;
    gsize extents;
};

Spill *spill_new(const char *folder) {
    Spill *spill = g_new0(Spill, 1);
    spill->folder = g_strdup(folder);
    spill->fd = -1;
    spill->slot = NO_SLOT;
    spill->slots = g_array_new(FALSE, TRUE, sizeof(guint32));
    spill->free_slots = g_array_new(FALSE, FALSE, sizeof(guint32));
    spill->lists = g_ptr_array_new();
    g_ptr_array_add(spill->lists, NULL);
    spill->free_lists = g_array_new(FALSE, FALSE, sizeof(guint32));
    return spill;
}

void spill_free(Spill *spill) {
    if (!spill) return;
    if (spill->fd >= 0) close(spill->fd);
    for (guint i = 0; i < spill->lists->len; i++)
        if (spill->lists->pdata[i]) g_array_unref(spill->lists->pdata[i]);
    g_ptr_array_unref(spill->lists);
    g_array_unref(spill->slots);
    g_array_unref(spill->free_slots);
    g_array_unref(spill->free_lists);
    g_free(spill->folder);
    g_free(spill);
}

/* Not every file system has files that never had a name. */
static int open_unnamed(const char *folder) {
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) return fd;
    g_autofree char *path = g_build_filename(folder, "open-traces-XXXXXX", NULL);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) unlink(path);
    return fd;
}

static gboolean pop(GArray *numbers, guint32 *number) {
    if (numbers->len == 0) return FALSE;
    *number = g_array_index(numbers, guint32, numbers->len - 1);
    g_array_set_size(numbers, numbers->len - 1);
    return TRUE;
}

/* ---- slots ---- */

static inline guint32 *needed(const Spill *spill, guint32 slot) { return &g_array_index(spill->slots, guint32, slot); }

static inline off_t place(const Extent *extent) { return (off_t)extent->slot * SPILL_SLOT_BYTES + extent->at; }

guint64 spill_file_bytes(const Spill *spill) {
    return (guint64)(spill->slots->len - spill->free_slots->len) * SPILL_SLOT_BYTES;
}

static void release_slot(Spill *spill, guint32 slot) {
    /* A hint: where the file system cannot, the space stays the file's, and serves the slot's next use. */
    (void)fallocate(spill->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)slot * SPILL_SLOT_BYTES,
                    SPILL_SLOT_BYTES);
    g_array_append_val(spill->free_slots, slot);
}

static void give_extent(Spill *spill, const Extent *extent) {
    *needed(spill, extent->slot) -= extent->size_bytes;
    if (*needed(spill, extent->slot) > 0) return;
    if (extent->slot == spill->slot)
        spill->at = 0;
    else
        release_slot(spill, extent->slot);
}

static gboolean next_slot(Spill *spill, guint64 limit_bytes, GError **error) {
    guint32 slot;
    if (spill_file_bytes(spill) + SPILL_SLOT_BYTES > limit_bytes)
        return fail(error, PLUMB_ERROR_LIMIT, "open traces have all the space on disk that they may have (%.0f MB)",
                    (double)limit_bytes / 1e6);
    if (!pop(spill->free_slots, &slot)) {
        slot = spill->slots->len;
        g_array_set_size(spill->slots, slot + 1);
    }
    const guint32 full = spill->slot;
    spill->slot = slot;
    spill->at = 0;
    if (full != NO_SLOT && *needed(spill, full) == 0) release_slot(spill, full);
    return TRUE;
}

/* ---- writing ---- */

static gboolean write_all(Spill *spill, const guint8 *bytes, gsize size_bytes, off_t at, GError **error) {
    while (size_bytes > 0) {
        const ssize_t done = pwrite(spill->fd, bytes, size_bytes, at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return fail_errno(error, done < 0 ? errno : EIO, "cannot write a file in %s", spill->folder);
        bytes += done;
        size_bytes -= (gsize)done;
        at += done;
    }
    return TRUE;
}

/* As much as the slot has room for; *extent says how much. */
static gboolean put_extent(Spill *spill, Bytes bytes, guint64 limit_bytes, Extent *extent, GError **error) {
    if ((spill->slot == NO_SLOT || spill->at == SPILL_SLOT_BYTES) && !next_slot(spill, limit_bytes, error))
        return FALSE;
    const guint32 part = (guint32)MIN(bytes.size_bytes, SPILL_SLOT_BYTES - spill->at);
    const Extent made = {.slot = spill->slot,
                         .at = spill->at,
                         .size_bytes = part & G_MAXINT32,
                         .more = part < bytes.size_bytes,
                         .check = (guint32)XXH3_64bits(bytes.data, part)};
    if (!write_all(spill, bytes.data, part, place(&made), error)) return FALSE;
    spill->at += part;
    *needed(spill, spill->slot) += part;
    *extent = made;
    return TRUE;
}

static gboolean put_part(Spill *spill, GArray *extents, Bytes bytes, guint64 limit_bytes, GError **error) {
    const guint before = extents->len;
    const guint32 slot = spill->slot, at = spill->at;
    while (bytes.size_bytes > 0) {
        Extent extent;
        if (!put_extent(spill, bytes, limit_bytes, &extent, error)) {
            for (guint i = before; i < extents->len; i++) give_extent(spill, &g_array_index(extents, Extent, i));
            g_array_set_size(extents, before);
            if (spill->slot == slot) spill->at = at;
            return FALSE;
        }
        g_array_append_val(extents, extent);
        bytes.data = (const guint8 *)bytes.data + extent.size_bytes;
        bytes.size_bytes -= extent.size_bytes;
    }
    spill->extents += extents->len - before;
    return TRUE;
}

gboolean spill_put(Spill *spill, SpillList *list, Bytes bytes, guint64 limit_bytes, GError **error) {
    if (spill->fd < 0) spill->fd = open_unnamed(spill->folder);
    if (spill->fd < 0) return fail_errno(error, errno, "cannot make a file in %s", spill->folder);
    GArray *extents = *list ? spill->lists->pdata[*list] : g_array_new(FALSE, FALSE, sizeof(Extent));
    if (!put_part(spill, extents, bytes, limit_bytes, error)) {
        if (!*list) g_array_unref(extents);
        return FALSE;
    }
    spill->live_bytes += bytes.size_bytes;
    spill->written_bytes += bytes.size_bytes;
    if (*list) return TRUE;
    if (!pop(spill->free_lists, list)) {
        *list = spill->lists->len;
        g_ptr_array_add(spill->lists, NULL);
    }
    spill->lists->pdata[*list] = extents;
    return TRUE;
}

/* ---- reading ---- */

static gboolean get_extent(const Spill *spill, const Extent *extent, guint8 *out, GError **error) {
    for (gsize have = 0; have < extent->size_bytes;) {
        const ssize_t done = pread(spill->fd, out + have, extent->size_bytes - have, place(extent) + (off_t)have);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return fail_errno(error, errno, "cannot read back a file in %s", spill->folder);
        if (done == 0) return fail(error, PLUMB_ERROR_CORRUPT, "a file in %s has become shorter", spill->folder);
        have += (gsize)done;
    }
    if ((guint32)XXH3_64bits(out, extent->size_bytes) != extent->check)
        return fail(error, PLUMB_ERROR_CORRUPT, "a file in %s does not hold what was written to it", spill->folder);
    return TRUE;
}

gboolean spill_get(Spill *spill, SpillList list, guint *at, GByteArray *out, GError **error) {
    const GArray *extents = spill->lists->pdata[list];
    const guint before = out->len;
    gboolean more = TRUE;
    for (guint i = *at; more && i < extents->len; *at = ++i) {
        const Extent *extent = &g_array_index(extents, Extent, i);
        const guint have = out->len;
        g_byte_array_set_size(out, have + extent->size_bytes);
        if (!get_extent(spill, extent, out->data + have, error)) {
            g_byte_array_set_size(out, before);
            return FALSE;
        }
        more = extent->more;
    }
    return TRUE;
}

/* ---- lists ---- */

guint64 spill_list_bytes(const Spill *spill, SpillList list) {
    const GArray *extents = spill->lists->pdata[list];
    guint64 bytes = 0;
    for (guint i = 0; i < extents->len; i++) bytes += g_array_index(extents, Extent, i).size_bytes;
    return bytes;
}

void spill_drop(Spill *spill, SpillList list) {
    GArray *extents = spill->lists->pdata[list];
    spill->live_bytes -= spill_list_bytes(spill, list);
    spill->extents -= extents->len;
    for (guint i = 0; i < extents->len; i++) give_extent(spill, &g_array_index(extents, Extent, i));
    g_array_unref(extents);
    spill->lists->pdata[list] = NULL;
    g_array_append_val(spill->free_lists, list);
}

guint64 spill_live_bytes(const Spill *spill) { return spill->live_bytes; }
guint64 spill_written_bytes(const Spill *spill) { return spill->written_bytes; }

gsize spill_memory_bytes(const Spill *spill) {
    /* An array is an allocation for itself and one for its room, which doubles. */
    return spill->extents * 2 * sizeof(Extent) + (spill->lists->len - spill->free_lists->len) * 96 +
           spill->slots->len * 2 * sizeof(guint32);
}
