#include "receiver/traces/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/base/error.h"
#include "common/base/file.h"
#include "receiver/traces/spill_space.h"

/* What is written at a time: a run of so many units, or fewer where no more lie side by side. */
#define RUN_UNITS 4u
/* Free units that the file keeps in any case. With those that are being filled, and of what lies alone as many again,
 * it is less than SPILL_SPARE_BYTES. */
#define SPARE_UNITS 16u
/* So many side by side are given back first. */
#define TRIM_UNITS 16u

typedef struct Extent {
    guint32 unit, at; /* where it begins, in the unit */
    guint32 size_bytes : 31;
    guint32 more : 1; /* the part goes on in the next extent */
    guint32 check;    /* of its bytes */
} Extent;

G_STATIC_ASSERT(sizeof(Extent) == 16);

/* A run that is being filled; it is written when it is full. */
typedef struct Filling {
    SpillRun run; /* held; n is 0: none */
    guint32 at;   /* where the next byte goes */
    guint8 *buffer;
} Filling;

struct Spill {
    char *folder;
    int fd; /* -1: not yet made */
    guint64 limit_bytes;
    SpillSpace space;
    guint untrimmed; /* free units that were not given back when it was tried last */
    Filling fillings[SPILL_KINS];
    GPtrArray *lists;   /* GArray of Extent, or NULL; [0] is not used */
    GArray *free_lists; /* guint32 */
    guint64 live_bytes, written_bytes;
    gsize extents;
};

Spill *spill_new(const char *folder) {
    Spill *spill = g_new0(Spill, 1);
    spill->folder = g_strdup(folder);
    spill->fd = -1;
    spill_space_init(&spill->space);
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
    g_array_unref(spill->free_lists);
    for (guint kin = 0; kin < SPILL_KINS; kin++) g_free(spill->fillings[kin].buffer);
    spill_space_clear(&spill->space);
    g_free(spill->folder);
    g_free(spill);
}

static gboolean pop(GArray *numbers, guint32 *number) {
    if (numbers->len == 0) return FALSE;
    *number = g_array_index(numbers, guint32, numbers->len - 1);
    g_array_set_size(numbers, numbers->len - 1);
    return TRUE;
}

/* ---- space ---- */

static inline guint64 place(guint32 unit, guint32 at) { return (guint64)unit * SPILL_UNIT_BYTES + at; }

guint64 spill_file_bytes(const Spill *spill) {
    return (guint64)(spill->space.n_units - spill->space.n_holes) * SPILL_UNIT_BYTES;
}

/* Gives free places back to the file system, of at least so many units side by side, until no more than 'spare' units
 * of them are left. */
static void trim(Spill *spill, guint least, guint spare) {
    SpillRun run;
    guint end = G_MAXUINT;
    while (spill_space_spare(&spill->space) > spare && spill_space_trim(&spill->space, least, &end, &run))
        /* A hint: where the file system cannot, the space stays the file's, and serves the place's next use. */
        (void)fallocate(spill->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)place(run.unit, 0),
                        (off_t)run.n * SPILL_UNIT_BYTES);
    spill->untrimmed = spill_space_spare(&spill->space);
}

void spill_set_limit(Spill *spill, guint64 limit_bytes) {
    const guint64 used = (guint64)spill_space_used(&spill->space) * SPILL_UNIT_BYTES;
    spill->limit_bytes = limit_bytes;
    if (spill_file_bytes(spill) <= limit_bytes) return;
    trim(spill, 1, used < limit_bytes ? (guint)((limit_bytes - used) / SPILL_UNIT_BYTES) : 0);
}

/* A call costs about the same for one unit and for many: as long as it is not too much, places that lie alone wait. */
static void trim_some(Spill *spill) {
    const guint most = spill_space_used(&spill->space) / 4 + SPARE_UNITS, spare = spill_space_spare(&spill->space);
    if (spare > most && spare >= spill->untrimmed + most / 4) trim(spill, spare > 2 * most ? 1 : TRIM_UNITS, most / 2);
    spill->untrimmed = MIN(spill->untrimmed, spare);
}

static void give_bytes(Spill *spill, guint64 at, guint32 size_bytes) {
    spill_space_drop(&spill->space, at, size_bytes);
    trim_some(spill);
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

static inline guint32 run_bytes(const Filling *filling) { return filling->run.n * SPILL_UNIT_BYTES; }

/* All of the run, so that whole pages are written: of a part of one the rest would have to be read first. */
static gboolean write_run(Spill *spill, Filling *filling, GError **error) {
    memset(filling->buffer + filling->at, 0, run_bytes(filling) - filling->at);
    if (!write_all(spill, filling->buffer, run_bytes(filling), (off_t)place(filling->run.unit, 0), error)) return FALSE;
    spill_space_release(&spill->space, filling->run);
    filling->run.n = filling->at = 0;
    return TRUE;
}

/* Beside what is being filled. */
static guint units_left(const Spill *spill) {
    const guint64 most = spill->limit_bytes / SPILL_UNIT_BYTES;
    const guint used = spill_space_used(&spill->space);
    return used < most ? (guint)MIN(most - used, G_MAXINT) : 0;
}

static gboolean need_units(const Spill *spill, guint64 size_bytes, GError **error) {
    if (size_bytes <= (guint64)units_left(spill) * SPILL_UNIT_BYTES) return TRUE;
    return fail(error, PLUMB_ERROR_LIMIT, "open traces have all the space on disk that they may have (%.0f MB)",
                (double)spill->limit_bytes / 1e6);
}

/* So many bytes side by side, up to a unit. */
static gboolean need_room(Spill *spill, Filling *filling, guint32 size_bytes, GError **error) {
    if (filling->at + size_bytes <= run_bytes(filling)) return TRUE;
    if (!need_units(spill, size_bytes, error)) return FALSE;
    if (filling->run.n > 0 && !write_run(spill, filling, error)) return FALSE;
    if (!filling->buffer) filling->buffer = g_malloc(RUN_UNITS * SPILL_UNIT_BYTES);
    filling->run = spill_space_take(&spill->space, MIN(units_left(spill), RUN_UNITS));
    return TRUE;
}

static guint32 check_of(const void *bytes, gsize size_bytes) { return (guint32)XXH3_64bits(bytes, size_bytes); }

/* Is it in the run that is being filled? */
static inline gboolean is_filling(const Filling *filling, const Extent *extent) {
    return extent->unit - filling->run.unit < filling->run.n;
}

static inline guint32 offset_in(const Filling *filling, const Extent *extent) {
    return (extent->unit - filling->run.unit) * SPILL_UNIT_BYTES + extent->at;
}

static void copy_in(Spill *spill, Filling *filling, const void *bytes, guint32 size_bytes) {
    memcpy(filling->buffer + filling->at, bytes, size_bytes);
    spill_space_need(&spill->space, place(filling->run.unit, filling->at), size_bytes);
    filling->at += size_bytes;
}

/* As much as the run has room for; *extent says how much. */
static gboolean put_extent(Spill *spill, Filling *filling, Bytes bytes, Extent *extent, GError **error) {
    if (!need_room(spill, filling, 1, error)) return FALSE;
    const guint32 part = (guint32)MIN(bytes.size_bytes, run_bytes(filling) - filling->at);
    *extent = (Extent){.unit = filling->run.unit + filling->at / SPILL_UNIT_BYTES,
                       .at = filling->at % SPILL_UNIT_BYTES,
                       .size_bytes = part & G_MAXINT32,
                       .more = part < bytes.size_bytes,
                       .check = check_of(bytes.data, part)};
    copy_in(spill, filling, bytes.data, part);
    return TRUE;
}

static void give_extents(Spill *spill, const GArray *extents, guint from) {
    for (guint i = from; i < extents->len; i++) {
        const Extent *extent = &g_array_index(extents, Extent, i);
        give_bytes(spill, place(extent->unit, extent->at), extent->size_bytes);
    }
}

/* The run goes on where the first of these extents that is in it began. */
static void take_out(Filling *filling, const GArray *extents, guint from) {
    for (guint i = from; i < extents->len; i++) {
        const Extent *extent = &g_array_index(extents, Extent, i);
        if (!is_filling(filling, extent)) continue;
        filling->at = offset_in(filling, extent);
        return;
    }
}

static gboolean put_part(Spill *spill, Filling *filling, GArray *extents, Bytes bytes, GError **error) {
    const guint before = extents->len;
    const guint room = run_bytes(filling) - filling->at;
    if (bytes.size_bytes > room && !need_units(spill, bytes.size_bytes - room, error)) return FALSE;
    while (bytes.size_bytes > 0) {
        Extent extent;
        if (!put_extent(spill, filling, bytes, &extent, error)) {
            take_out(filling, extents, before);
            give_extents(spill, extents, before);
            g_array_set_size(extents, before);
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
    if (spill->fd < 0) spill->fd = file_open_unnamed(spill->folder);
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

gboolean spill_put(Spill *spill, SpillKin kin, SpillList *list, Bytes bytes, GError **error) {
    if (!need_file(spill, error)) return FALSE;
    GArray *extents = *list ? spill->lists->pdata[*list] : g_array_new(FALSE, FALSE, sizeof(Extent));
    if (!put_part(spill, &spill->fillings[kin], extents, bytes, error)) {
        if (!*list) g_array_unref(extents);
        return FALSE;
    }
    spill->live_bytes += bytes.size_bytes;
    spill->written_bytes += bytes.size_bytes;
    if (!*list) *list = new_list(spill, extents);
    return TRUE;
}

/* ---- small parts ---- */

gboolean spill_put_small(Spill *spill, Bytes bytes, SpillPlace *where, GError **error) {
    const guint32 size_bytes = (guint32)bytes.size_bytes;
    Filling *filling = &spill->fillings[SPILL_WAITING];
    if (!need_file(spill, error) || !need_room(spill, filling, size_bytes, error)) return FALSE;
    *where = (SpillPlace){.unit = filling->run.unit + filling->at / SPILL_UNIT_BYTES,
                          .at = filling->at & (SPILL_UNIT_BYTES - 1),
                          .size_bytes = size_bytes & SPILL_SMALL_MAX_BYTES,
                          .check = check_of(bytes.data, size_bytes)};
    copy_in(spill, filling, bytes.data, size_bytes);
    spill->live_bytes += size_bytes;
    spill->written_bytes += size_bytes;
    return TRUE;
}

static Extent extent_of(const SpillPlace *where) {
    return (Extent){.unit = where->unit, .at = where->at, .size_bytes = where->size_bytes, .check = where->check};
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
    give_bytes(spill, place(where->unit, where->at), where->size_bytes);
}

/* ---- reading ---- */

static gboolean get_extent(const Spill *spill, const Extent *extent, guint8 *out, GError **error) {
    for (guint kin = 0; kin < SPILL_KINS; kin++) {
        const Filling *filling = &spill->fillings[kin];
        if (!is_filling(filling, extent)) continue;
        memcpy(out, filling->buffer + offset_in(filling, extent), extent->size_bytes);
        return TRUE;
    }
    for (gsize have = 0; have < extent->size_bytes;) {
        const ssize_t done =
            pread(spill->fd, out + have, extent->size_bytes - have, (off_t)(place(extent->unit, extent->at) + have));
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
    gsize bytes = spill_space_memory_bytes(&spill->space);
    for (guint kin = 0; kin < SPILL_KINS; kin++)
        bytes += spill->fillings[kin].buffer ? RUN_UNITS * SPILL_UNIT_BYTES : 0;
    /* An array is an allocation for itself and one for its room, which doubles. */
    return bytes + spill->extents * 2 * sizeof(Extent) + (spill->lists->len - spill->free_lists->len) * 96;
}
