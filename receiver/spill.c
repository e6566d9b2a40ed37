#include "receiver/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/base/error.h"

#define NO_SLOT G_MAXUINT32
/* Small parts are written together, so many bytes at a time. */
#define BUFFER_BYTES (64u * 1024)

typedef struct Extent {
    guint32 slot, at;
    guint32 size_bytes : 31;
    guint32 more : 1; /* the part goes on in the next extent */
    guint32 check;    /* of its bytes */
} Extent;

G_STATIC_ASSERT(sizeof(Extent) == 16);

/* A slot that is being filled. */
typedef struct Filling {
    guint32 slot, at; /* where the next byte goes */
} Filling;

struct Spill {
    char *folder;
    int fd;             /* -1: not yet made */
    GArray *slots;      /* guint32: bytes in it that are needed */
    GArray *free_slots; /* guint32 */
    Filling parts, small;
    guint8 *buffer;     /* BUFFER_BYTES: what is not written yet of the slot for small parts; NULL: none came yet */
    guint32 written;    /* of that slot */
    GPtrArray *lists;   /* GArray of Extent, or NULL; [0] is not used */
    GArray *free_lists; /* guint32 */
    guint64 live_bytes, written_bytes;
    gsize extents;
};

Spill *spill_new(const char *folder) {
    Spill *spill = g_new0(Spill, 1);
    spill->folder = g_strdup(folder);
    spill->fd = -1;
    spill->parts.slot = spill->small.slot = NO_SLOT;
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
    g_free(spill->buffer);
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

static inline off_t place(guint32 slot, guint32 at) { return (off_t)slot * SPILL_SLOT_BYTES + at; }

guint64 spill_file_bytes(const Spill *spill) {
    return (guint64)(spill->slots->len - spill->free_slots->len) * SPILL_SLOT_BYTES;
}

static void release_slot(Spill *spill, guint32 slot) {
    /* A hint: where the file system cannot, the space stays the file's, and serves the slot's next use. */
    (void)fallocate(spill->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)slot * SPILL_SLOT_BYTES,
                    SPILL_SLOT_BYTES);
    g_array_append_val(spill->free_slots, slot);
}

static void give_bytes(Spill *spill, guint32 slot, guint32 size_bytes) {
    *needed(spill, slot) -= size_bytes;
    if (*needed(spill, slot) > 0) return;
    if (slot == spill->parts.slot)
        spill->parts.at = 0;
    else if (slot == spill->small.slot)
        spill->small.at = spill->written = 0;
    else
        release_slot(spill, slot);
}

static gboolean next_slot(Spill *spill, Filling *filling, guint64 limit_bytes, GError **error) {
    guint32 slot;
    if (spill_file_bytes(spill) + SPILL_SLOT_BYTES > limit_bytes)
        return fail(error, PLUMB_ERROR_LIMIT, "open traces have all the space on disk that they may have (%.0f MB)",
                    (double)limit_bytes / 1e6);
    if (!pop(spill->free_slots, &slot)) {
        slot = spill->slots->len;
        g_array_set_size(spill->slots, slot + 1);
    }
    const guint32 full = filling->slot;
    *filling = (Filling){.slot = slot};
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

static guint32 check_of(const void *bytes, gsize size_bytes) { return (guint32)XXH3_64bits(bytes, size_bytes); }

/* As much as the slot has room for; *extent says how much. */
static gboolean put_extent(Spill *spill, Bytes bytes, guint64 limit_bytes, Extent *extent, GError **error) {
    Filling *filling = &spill->parts;
    if ((filling->slot == NO_SLOT || filling->at == SPILL_SLOT_BYTES) && !next_slot(spill, filling, limit_bytes, error))
        return FALSE;
    const guint32 part = (guint32)MIN(bytes.size_bytes, SPILL_SLOT_BYTES - filling->at);
    const Extent made = {.slot = filling->slot,
                         .at = filling->at,
                         .size_bytes = part & G_MAXINT32,
                         .more = part < bytes.size_bytes,
                         .check = check_of(bytes.data, part)};
    if (!write_all(spill, bytes.data, part, place(made.slot, made.at), error)) return FALSE;
    filling->at += part;
    *needed(spill, made.slot) += part;
    *extent = made;
    return TRUE;
}

static void give_extents(Spill *spill, const GArray *extents, guint from) {
    for (guint i = from; i < extents->len; i++) {
        const Extent *extent = &g_array_index(extents, Extent, i);
        give_bytes(spill, extent->slot, extent->size_bytes);
    }
}

static gboolean put_part(Spill *spill, GArray *extents, Bytes bytes, guint64 limit_bytes, GError **error) {
    const guint before = extents->len;
    const Filling filling = spill->parts;
    while (bytes.size_bytes > 0) {
        Extent extent;
        if (!put_extent(spill, bytes, limit_bytes, &extent, error)) {
            give_extents(spill, extents, before);
            g_array_set_size(extents, before);
            if (spill->parts.slot == filling.slot) spill->parts.at = filling.at;
            return FALSE;
        }
        g_array_append_val(extents, extent);
        bytes.data = (const guint8 *)bytes.data + extent.size_bytes;
        bytes.size_bytes -= extent.size_bytes;
    }
    spill->extents += extents->len - before;
    return TRUE;
}

/* The file, if it is not there yet. */
static gboolean need_file(Spill *spill, GError **error) {
    if (spill->fd < 0) spill->fd = open_unnamed(spill->folder);
    return spill->fd >= 0 || fail_errno(error, errno, "cannot make a file in %s", spill->folder);
}

static SpillList new_list(Spill *spill, GArray *extents) {
    SpillList list;
    if (!pop(spill->free_lists, &list)) {
        list = spill->lists->len;
        g_ptr_array_add(spill->lists, NULL);
    }
    spill->lists->pdata[list] = extents;
    return list;
}

gboolean spill_put(Spill *spill, SpillList *list, Bytes bytes, guint64 limit_bytes, GError **error) {
    if (!need_file(spill, error)) return FALSE;
    GArray *extents = *list ? spill->lists->pdata[*list] : g_array_new(FALSE, FALSE, sizeof(Extent));
    if (!put_part(spill, extents, bytes, limit_bytes, error)) {
        if (!*list) g_array_unref(extents);
        return FALSE;
    }
    spill->live_bytes += bytes.size_bytes;
    spill->written_bytes += bytes.size_bytes;
    if (!*list) *list = new_list(spill, extents);
    return TRUE;
}

/* ---- small parts ---- */

static gboolean write_buffer(Spill *spill, GError **error) {
    const Filling *filling = &spill->small;
    if (filling->at == spill->written) return TRUE;
    if (!write_all(spill, spill->buffer, filling->at - spill->written, place(filling->slot, spill->written), error))
        return FALSE;
    spill->written = filling->at;
    return TRUE;
}

/* Room in the buffer, for bytes of one slot. */
static gboolean need_buffer(Spill *spill, guint32 size_bytes, guint64 limit_bytes, GError **error) {
    Filling *filling = &spill->small;
    const gboolean full = filling->slot == NO_SLOT || filling->at + size_bytes > SPILL_SLOT_BYTES;
    if (!spill->buffer) spill->buffer = g_malloc(BUFFER_BYTES);
    if ((full || filling->at + size_bytes - spill->written > BUFFER_BYTES) && !write_buffer(spill, error)) return FALSE;
    if (!full) return TRUE;
    if (!next_slot(spill, filling, limit_bytes, error)) return FALSE;
    spill->written = 0;
    return TRUE;
}

gboolean spill_put_small(Spill *spill, Bytes bytes, guint64 limit_bytes, SpillPlace *where, GError **error) {
    const guint32 size_bytes = (guint32)bytes.size_bytes;
    if (!need_file(spill, error) || !need_buffer(spill, size_bytes, limit_bytes, error)) return FALSE;
    Filling *filling = &spill->small;
    memcpy(spill->buffer + filling->at - spill->written, bytes.data, size_bytes);
    *where = (SpillPlace){.slot = filling->slot,
                          .at = filling->at & (SPILL_SLOT_BYTES - 1),
                          .size_bytes = size_bytes & SPILL_SMALL_MAX_BYTES,
                          .check = check_of(bytes.data, size_bytes)};
    filling->at += size_bytes;
    *needed(spill, filling->slot) += size_bytes;
    spill->live_bytes += size_bytes;
    spill->written_bytes += size_bytes;
    return TRUE;
}

static Extent extent_of(const SpillPlace *where) {
    return (Extent){.slot = where->slot, .at = where->at, .size_bytes = where->size_bytes, .check = where->check};
}

SpillList spill_list_small(Spill *spill, const SpillPlace *where) {
    const Extent extent = extent_of(where);
    GArray *extents = g_array_new(FALSE, FALSE, sizeof(Extent));
    g_array_append_val(extents, extent);
    spill->extents++;
    return new_list(spill, extents);
}

void spill_drop_small(Spill *spill, const SpillPlace *where) {
    spill->live_bytes -= where->size_bytes;
    give_bytes(spill, where->slot, where->size_bytes);
}

/* ---- reading ---- */

static gboolean get_extent(const Spill *spill, const Extent *extent, guint8 *out, GError **error) {
    if (extent->slot == spill->small.slot && extent->at >= spill->written) {
        memcpy(out, spill->buffer + extent->at - spill->written, extent->size_bytes);
        return TRUE;
    }
    for (gsize have = 0; have < extent->size_bytes;) {
        const ssize_t done =
            pread(spill->fd, out + have, extent->size_bytes - have, place(extent->slot, extent->at) + (off_t)have);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return fail_errno(error, errno, "cannot read back a file in %s", spill->folder);
        if (done == 0) return fail(error, PLUMB_ERROR_CORRUPT, "a file in %s has become shorter", spill->folder);
        have += (gsize)done;
    }
    if (check_of(out, extent->size_bytes) != extent->check)
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

gboolean spill_get_small(const Spill *spill, const SpillPlace *where, GByteArray *out, GError **error) {
    const Extent extent = extent_of(where);
    const guint before = out->len;
    g_byte_array_set_size(out, before + extent.size_bytes);
    if (get_extent(spill, &extent, out->data + before, error)) return TRUE;
    g_byte_array_set_size(out, before);
    return FALSE;
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
    give_extents(spill, extents, 0);
    g_array_unref(extents);
    spill->lists->pdata[list] = NULL;
    g_array_append_val(spill->free_lists, list);
}

guint64 spill_live_bytes(const Spill *spill) { return spill->live_bytes; }
guint64 spill_written_bytes(const Spill *spill) { return spill->written_bytes; }

gsize spill_memory_bytes(const Spill *spill) {
    /* An array is an allocation for itself and one for its room, which doubles. */
    return spill->extents * 2 * sizeof(Extent) + (spill->lists->len - spill->free_lists->len) * 96 +
           spill->slots->len * 2 * sizeof(guint32) + (spill->buffer ? BUFFER_BYTES : 0);
}
