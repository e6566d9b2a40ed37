#include "common/store/store_rocksdb_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "common/base/bytes.h"
#include "common/base/error.h"

#define COPY_BYTES   ((gsize)64 * 1024)
#define SECTOR_BYTES ((gsize)4096)

#define FOOTER_BYTES  53
#define MAGIC         G_GUINT64_CONSTANT(0x88e241b785f4cff7)
#define VERSION       5
#define CHECKSUM_XXH3 4
/* Behind each block: how it is compressed, and its checksum. */
#define TRAILER_BYTES   5
#define CHECKSUM_PRIME  0x6b9083d9u
#define KIND_PLAIN      0
#define KIND_ZSTD       7
#define BLOCK_MAX_BYTES ((guint64)1 << 30)
/* A frame that whoever unpacks goes past. */
#define SKIPPED_FRAME 0x184D2A50u
#define SKIPPED_HEAD  8

typedef struct Handle {
    guint64 offset, size_bytes; /* without the trailer */
} Handle;

typedef struct Mending {
    int fd; /* of the copy */
    const char *file;
    GByteArray *block; /* the one at hand, its trailer included */
    TableMended done;
} Mending;

/* ---- the copy ---- */

/* Sectors that the disk does not give become zeros. */
static gboolean copy_part(int from, int to, off_t at, gsize size_bytes) {
    guint8 part[COPY_BYTES];
    ssize_t got = pread(from, part, size_bytes, at);
    if (got != (ssize_t)size_bytes) {
        memset(part, 0, size_bytes);
        for (gsize sector = 0; sector < size_bytes; sector += SECTOR_BYTES) {
            const gsize bytes = MIN(SECTOR_BYTES, size_bytes - sector);
            if (pread(from, part + sector, bytes, at + (off_t)sector) != (ssize_t)bytes)
                memset(part + sector, 0, bytes);
        }
    }
    return pwrite(to, part, size_bytes, at) == (ssize_t)size_bytes;
}

static gboolean copy_file(int from, int to, off_t size_bytes) {
    for (off_t at = 0; at < size_bytes; at += (off_t)COPY_BYTES)
        if (!copy_part(from, to, at, (gsize)MIN((off_t)COPY_BYTES, size_bytes - at))) return FALSE;
    return TRUE;
}

/* ---- blocks ---- */

static guint32 checksum_of(const guint8 *data, gsize size_bytes, guint8 kind) {
    return (guint32)XXH3_64bits(data, size_bytes) ^ kind * CHECKSUM_PRIME;
}

/* TRUE: it is in mending->block, and as it was written. */
static gboolean read_block(Mending *mending, Handle handle) {
    const gsize bytes = (gsize)handle.size_bytes + TRAILER_BYTES;
    g_byte_array_set_size(mending->block, (guint)bytes);
    const guint8 *data = mending->block->data;
    if (pread(mending->fd, mending->block->data, bytes, (off_t)handle.offset) != (ssize_t)bytes) return FALSE;
    guint32 stored;
    memcpy(&stored, data + handle.size_bytes + 1, sizeof stored);
    return GUINT32_FROM_LE(stored) == checksum_of(data, (gsize)handle.size_bytes, data[handle.size_bytes]);
}

/* What is in the block at hand; NULL when it is packed in a way that we do not know. */
static GByteArray *unpack(const Mending *mending, Handle handle) {
    const guint8 *data = mending->block->data;
    g_autoptr(GByteArray) plain = g_byte_array_new();
    if (data[handle.size_bytes] == KIND_PLAIN) {
        g_byte_array_append(plain, data, (guint)handle.size_bytes);
        return g_steal_pointer(&plain);
    }

    ByteReader reader = byte_reader(data, (gsize)handle.size_bytes);
    const guint64 plain_bytes = read_varint(&reader);
    if (data[handle.size_bytes] != KIND_ZSTD || reader.failed || plain_bytes > BLOCK_MAX_BYTES) return NULL;
    g_byte_array_set_size(plain, (guint)plain_bytes);
    const gsize got = ZSTD_decompress(plain->data, plain->len, reader.at, reader_left(&reader));
    return got == plain_bytes ? g_steal_pointer(&plain) : NULL;
}

/* A block without entries, packed, and frames without meaning up to its size. */
static gboolean make_empty(GByteArray *block, gsize size_bytes) {
    static const guint8 nothing[8] = {0, 0, 0, 0, 1, 0, 0, 0}; /* one place to begin at, which is the end */
    guint8 packed[64];
    const gsize frame_bytes = ZSTD_compress(packed, sizeof packed, nothing, sizeof nothing, 1);
    const gsize used = 1 + frame_bytes + SKIPPED_HEAD;
    if (ZSTD_isError(frame_bytes) || size_bytes < used) return FALSE;

    g_byte_array_set_size(block, 0);
    append_varint(block, sizeof nothing);
    append_bytes(block, packed, frame_bytes);
    const guint32 head[2] = {GUINT32_TO_LE(SKIPPED_FRAME), GUINT32_TO_LE((guint32)(size_bytes - used))};
    append_bytes(block, head, sizeof head);
    const guint filled = block->len;
    g_byte_array_set_size(block, (guint)size_bytes);
    memset(block->data + filled, 0, size_bytes - filled);

    const guint32 checksum = GUINT32_TO_LE(checksum_of(block->data, size_bytes, KIND_ZSTD));
    append_u8(block, KIND_ZSTD);
    append_bytes(block, &checksum, sizeof checksum);
    return TRUE;
}

static gboolean empty_block(Mending *mending, Handle handle, GError **error) {
    if (!make_empty(mending->block, (gsize)handle.size_bytes))
        return fail(error, PLUMB_ERROR_CORRUPT, "a block of %s is too small to be put out of use", mending->file);
    if (pwrite(mending->fd, mending->block->data, mending->block->len, (off_t)handle.offset) !=
        (ssize_t)mending->block->len)
        return fail_errno(error, errno, "a copy of %s cannot be written", mending->file);
    mending->done.blocks++;
    mending->done.lost_bytes += handle.size_bytes;
    return TRUE;
}

/* ---- the index ---- */

static gboolean fail_index(const Mending *mending, GError **error) {
    return fail(error, PLUMB_ERROR_CORRUPT, "the index of %s cannot be read", mending->file);
}

static Handle read_handle(ByteReader *reader) {
    const guint64 offset = read_varint(reader);
    return (Handle){offset, read_varint(reader)};
}

static gboolean mend_index(Mending *mending, const GByteArray *index, gboolean lists_indices, GError **error);

/* A data block, or an index of them. */
static gboolean mend_block(Mending *mending, Handle handle, gboolean is_index, GError **error) {
    if (handle.size_bytes > BLOCK_MAX_BYTES) return fail_index(mending, error);
    if (!read_block(mending, handle)) return empty_block(mending, handle, error);
    if (!is_index) return TRUE;
    g_autoptr(GByteArray) index = unpack(mending, handle);
    return index != NULL ? mend_index(mending, index, FALSE, error) : fail_index(mending, error);
}

/* Entries: bytes shared with the key before (none), bytes of the key, key, handle. Behind them the places of entries,
 * four bytes each, and how many they are. */
static gboolean mend_index(Mending *mending, const GByteArray *index, gboolean lists_indices, GError **error) {
    guint32 places;
    if (index->len < sizeof places) return fail_index(mending, error);
    memcpy(&places, index->data + index->len - sizeof places, sizeof places);
    places = GUINT32_FROM_LE(places) & G_MAXINT32;
    if (places >= index->len / sizeof places) return fail_index(mending, error);

    ByteReader reader = byte_reader(index->data, index->len - (places + 1) * sizeof places);
    while (reader_left(&reader) > 0) {
        const guint64 shared = read_varint(&reader), key_bytes = read_varint(&reader);
        read_bytes(&reader, (gsize)key_bytes);
        const Handle handle = read_handle(&reader);
        if (reader.failed || shared != 0) return fail_index(mending, error);
        if (!mend_block(mending, handle, lists_indices, error)) return FALSE;
    }
    return TRUE;
}

/* The first data block begins where the file does: an index that begins with another one lists indices. */
static gboolean lists_indices(const GByteArray *index) {
    ByteReader reader = byte_reader(index->data, index->len);
    read_varint(&reader);
    read_bytes(&reader, (gsize)read_varint(&reader));
    return read_handle(&reader).offset != 0;
}

static gboolean mend_blocks(Mending *mending, off_t size_bytes, GError **error) {
    guint8 footer[FOOTER_BYTES];
    guint32 version;
    guint64 magic;
    if (size_bytes < FOOTER_BYTES ||
        pread(mending->fd, footer, sizeof footer, size_bytes - FOOTER_BYTES) != FOOTER_BYTES)
        return fail_index(mending, error);
    memcpy(&version, footer + FOOTER_BYTES - 12, sizeof version);
    memcpy(&magic, footer + FOOTER_BYTES - 8, sizeof magic);
    ByteReader reader = byte_reader(footer + 1, FOOTER_BYTES - 13);
    read_handle(&reader); /* of the meta index */
    const Handle handle = read_handle(&reader);
    if (GUINT64_FROM_LE(magic) != MAGIC || GUINT32_FROM_LE(version) != VERSION || footer[0] != CHECKSUM_XXH3 ||
        reader.failed || handle.size_bytes > BLOCK_MAX_BYTES || !read_block(mending, handle))
        return fail_index(mending, error);

    g_autoptr(GByteArray) index = unpack(mending, handle);
    return index != NULL ? mend_index(mending, index, lists_indices(index), error) : fail_index(mending, error);
}

/* ---- all of it ---- */

static gboolean sync_folder(const char *folder) {
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const gboolean synced = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) close(fd);
    return synced;
}

/* The file keeps its bytes under another name, before the copy takes its place. */
static gboolean take_place(const char *folder, const char *path, const char *copy, GError **error) {
    g_autofree char *damaged = g_strconcat(path, TABLE_DAMAGED_END, NULL);
    if (link(path, damaged) != 0 && errno != EEXIST) return fail_errno(error, errno, "%s cannot be made", damaged);
    if (!sync_folder(folder) || rename(copy, path) != 0 || !sync_folder(folder))
        return fail_errno(error, errno, "%s cannot take the place of %s", copy, path);
    return TRUE;
}

static gboolean mend_copy(Mending *mending, int from, GError **error) {
    struct stat file;
    if (fstat(from, &file) != 0 || !copy_file(from, mending->fd, file.st_size))
        return fail_errno(error, errno, "a copy of %s cannot be written", mending->file);
    if (!mend_blocks(mending, file.st_size, error)) return FALSE;
    if (mending->done.blocks == 0)
        return fail(error, PLUMB_ERROR_CORRUPT, "all data blocks of %s can be read", mending->file);
    return fsync(mending->fd) == 0 || fail_errno(error, errno, "a copy of %s cannot be synced", mending->file);
}

gboolean table_mend(const char *folder, const char *file, TableMended *mended, GError **error) {
    g_autofree char *path = g_build_filename(folder, file, NULL), *copy = g_strconcat(path, ".copy", NULL);
    const int from = open(path, O_RDONLY | O_CLOEXEC), to = open(copy, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    Mending mending = {.fd = to, .file = file, .block = g_byte_array_new()};
    const gboolean done = from >= 0 && to >= 0
                              ? mend_copy(&mending, from, error) && take_place(folder, path, copy, error)
                              : fail_errno(error, errno, "%s cannot be copied", path);
    g_byte_array_unref(mending.block);
    if (from >= 0) close(from);
    if (to >= 0) close(to);
    if (done)
        *mended = mending.done;
    else
        unlink(copy);
    return done;
}
