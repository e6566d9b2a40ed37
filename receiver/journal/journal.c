#include "receiver/journal/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/base/error.h"
#include "common/base/file.h"

#define SEGMENT_PREFIX "plumb-"
#define SEGMENT_SUFFIX ".journal"
#define SPARE_PREFIX   "spare-"
/* Records of one write: two vectors each, one for the end mark, and IOV_MAX is 1024. */
#define WRITE_RECORDS 500
/* Files that are done with and kept for the next segments, and after how many trims those go that were not used. */
#define SPARE_BYTES (G_GINT64_CONSTANT(512) * 1024 * 1024)
#define SPARE_TRIMS 240u
/* Less free space than this is as good as none. */
#define PROBE_BYTES (1024 * 1024)

struct JournalSegment {
    guint64 number;
    char *path;
    gsize size_bytes;
    gboolean damaged;
    gboolean unread; /* found, and not replayed yet */
    atomic_int holds;
    /* Records since the start (Journal.appended): those in here are after 'before' and up to 'last'; those up to
     * 'synced' are on the disk. */
    guint64 before, last, synced;
    JournalHeader header; /* of one that was begun */
    gboolean failed;      /* a sync of it has failed: 'synced' stays as it is */
};

struct Journal {
    char *path;
    gsize segment_bytes;
    gboolean sync;
    gboolean made; /* the folder, by journal_open() */
    int lock_fd;
    pthread_mutex_t lock;
    pthread_cond_t synced;
    GQueue segments;     /* JournalSegment, oldest first; the current one is the last */
    GPtrArray *found;    /* those that were there when the journal was opened; one that is done with may be gone */
    guint64 last_number; /* of the newest segment: what the next one tells of it */
    guint64 last_size_bytes;
    guint64 last_salt;
    int fd;              /* of the current segment, the last of 'segments'; -1: the next append begins one */
    gboolean spoilt;     /* the current one: nothing more goes into it */
    GQueue spares;       /* char *: paths */
    guint64 last_spare;  /* the highest number in their names */
    guint spares_unused; /* the least there were since the last look, and the trims since then */
    guint spare_trims;
    guint64 salt;
    guint64 appended;        /* records since the start */
    JournalSegment *syncing; /* without the lock; NULL: none */
};

static void segment_free(void *data) {
    JournalSegment *segment = data;
    g_free(segment->path);
    g_free(segment);
}

/* ---- opening ---- */

static gboolean lock_folder(Journal *journal, GError **error) {
    g_autofree char *file = g_build_filename(journal->path, "LOCK", NULL);
    journal->lock_fd = file_lock(file);
    if (journal->lock_fd >= 0) return TRUE;
    if (errno != EWOULDBLOCK) return fail_errno(error, errno, "cannot lock the journal folder %s", journal->path);
    return fail(error, PLUMB_ERROR_BUSY, "the journal folder %s is in use by another plumbd (lsof %s names it)",
                journal->path, file);
}

static gboolean sync_folder(const char *path, GError **error) {
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const gboolean good = fd >= 0 && fsync(fd) == 0;
    const int err = errno;
    if (fd >= 0) close(fd);
    return good || fail_errno(error, err, "cannot sync the folder %s", path);
}

static gboolean parse_name(const char *name, guint64 *number) {
    if (!g_str_has_prefix(name, SEGMENT_PREFIX) || !g_str_has_suffix(name, SEGMENT_SUFFIX)) return FALSE;
    char *end;
    *number = g_ascii_strtoull(name + strlen(SEGMENT_PREFIX), &end, 16);
    return *number > 0 && strcmp(end, SEGMENT_SUFFIX) == 0;
}

static gboolean parse_spare(const char *name, guint64 *number) {
    if (!g_str_has_prefix(name, SPARE_PREFIX) || !g_str_has_suffix(name, SEGMENT_SUFFIX)) return FALSE;
    *number = g_ascii_strtoull(name + strlen(SPARE_PREFIX), NULL, 16);
    return TRUE;
}

static gint compare_segments(gconstpointer a, gconstpointer b, gpointer unused) {
    (void)unused;
    const JournalSegment *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static gboolean read_header(const JournalSegment *segment, JournalHeader *header, GError **error) {
    guint8 bytes[JOURNAL_HEADER_BYTES];
    const int fd = open(segment->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_errno(error, errno, "cannot read %s", segment->path);
    const ssize_t n = pread(fd, bytes, sizeof bytes, 0);
    const int err = errno;
    close(fd);
    if (n < 0) return fail_errno(error, err, "cannot read %s", segment->path);
    return journal_header_decode((Bytes){bytes, (gsize)n}, header, error);
}

/* A segment of another version must stop the start before anything is changed. */
static gboolean check_version(const JournalSegment *segment, GError **error) {
    g_autoptr(GError) problem = NULL;
    JournalHeader header;
    if (!read_header(segment, &header, &problem) && g_error_matches(problem, PLUMB_ERROR, PLUMB_ERROR_VERSION))
        return fail(error, PLUMB_ERROR_VERSION, "journal segment %s was made by another plumbd: %s; start that one",
                    segment->path, problem->message);
    return TRUE;
}

/* What the next segment will tell of the newest that was found. A crash has ended that one: where its records end is
 * known only when it was read. Its replay finds it in memory then. */
static void look_at_last(Journal *journal, const JournalSegment *last) {
    g_autoptr(JournalFile) file = journal_file_open(last->path, NULL);
    journal->last_number = last->number;
    JournalReader reader;
    if (!file || !journal_reader_init(&reader, journal_file_bytes(file), journal_file_source(file), NULL)) return;
    Bytes payload;
    while (journal_reader_next(&reader, &payload)) continue;
    journal->last_size_bytes = journal_reader_end(&reader);
    journal->last_salt = reader.header.salt;
}

static gboolean take_stock(Journal *journal, GError **error) {
    g_autoptr(GError) problem = NULL;
    g_autoptr(GDir) folder = g_dir_open(journal->path, 0, &problem);
    if (!folder) return fail(error, PLUMB_ERROR_IO, "cannot read the journal folder: %s", problem->message);

    const char *name;
    while ((name = g_dir_read_name(folder))) {
        guint64 number;
        if (parse_spare(name, &number)) {
            g_queue_push_tail(&journal->spares, g_build_filename(journal->path, name, NULL));
            journal->last_spare = MAX(journal->last_spare, number);
        }
        if (!parse_name(name, &number)) continue;

        JournalSegment *segment = g_new0(JournalSegment, 1);
        segment->number = number;
        segment->path = g_build_filename(journal->path, name, NULL);
        struct stat info;
        if (stat(segment->path, &info) == 0) segment->size_bytes = (gsize)info.st_size;
        segment->unread = TRUE;
        atomic_init(&segment->holds, 1); /* until it was replayed */
        g_queue_insert_sorted(&journal->segments, segment, compare_segments, NULL);
    }

    for (GList *at = journal->segments.head; at; at = at->next) {
        if (!check_version(at->data, error)) return FALSE;
        g_ptr_array_add(journal->found, at->data);
    }

    JournalSegment *last = g_queue_peek_tail(&journal->segments);
    if (last) look_at_last(journal, last);
    return TRUE;
}

Journal *journal_open(const JournalOptions *options, GError **error) {
    g_autoptr(Journal) journal = g_new0(Journal, 1);
    journal->path = g_strdup(options->path);
    journal->segment_bytes = options->segment_bytes;
    journal->sync = options->sync;
    journal->lock_fd = journal->fd = -1;

    pthread_mutex_init(&journal->lock, NULL);
    pthread_cond_init(&journal->synced, NULL);
    g_queue_init(&journal->segments);
    g_queue_init(&journal->spares);
    journal->found = g_ptr_array_new();

    journal->made = !g_file_test(journal->path, G_FILE_TEST_EXISTS);
    if (g_mkdir_with_parents(journal->path, 0700) != 0) {
        fail_errno(error, errno, "cannot make the journal folder %s", journal->path);
        return NULL;
    }

    g_autofree char *parent = g_path_get_dirname(journal->path);
    if (journal->made && journal->sync && !sync_folder(parent, error)) return NULL;
    if (!lock_folder(journal, error) || !take_stock(journal, error)) return NULL;
    return g_steal_pointer(&journal);
}

/* Moves the paths of so many spares to *gone. */
static void drop_spares(Journal *journal, guint n, GPtrArray *gone) {
    for (; n > 0 && !g_queue_is_empty(&journal->spares); n--) g_ptr_array_add(gone, g_queue_pop_tail(&journal->spares));
}

/* Without the lock: to give back what a segment has takes the kernel milliseconds, for which nobody is to wait. */
static void unlink_all(GPtrArray *gone) {
    for (guint i = 0; i < gone->len; i++) unlink(g_ptr_array_index(gone, i));
    g_ptr_array_unref(gone);
}

void journal_close(Journal *journal) {
    if (!journal) return;
    GPtrArray *gone = g_ptr_array_new_with_free_func(g_free);
    drop_spares(journal, journal->spares.length, gone);
    unlink_all(gone);
    if (journal->fd >= 0) close(journal->fd);
    if (journal->lock_fd >= 0) close(journal->lock_fd);
    g_queue_clear_full(&journal->segments, segment_free);
    g_queue_clear_full(&journal->spares, g_free);
    g_ptr_array_unref(journal->found);
    pthread_cond_destroy(&journal->synced);
    pthread_mutex_destroy(&journal->lock);
    g_free(journal->path);
    g_free(journal);
}

void journal_discard(Journal *journal) {
    if (journal && journal->made && g_queue_is_empty(&journal->segments)) {
        g_autofree char *file = g_build_filename(journal->path, "LOCK", NULL);
        unlink(file);
        rmdir(journal->path);
    }
    journal_close(journal);
}

/* ---- what was there ---- */

guint journal_found(Journal *journal) { return journal->found->len; }

gboolean journal_found_open(Journal *journal, guint i, JournalSegment **segment, JournalFile **file, GError **error) {
    JournalSegment *found = g_ptr_array_index(journal->found, i);
    JournalFile *opened = journal_file_open(found->path, error);
    if (!opened) {
        journal_mark_damaged(journal, found);
        journal_found_done(journal, found);
        return FALSE;
    }
    *segment = found;
    *file = opened;
    return TRUE;
}

JournalNext journal_found_next(Journal *journal, guint i) {
    if (i + 1 >= journal->found->len) return (JournalNext){.last = TRUE};
    const JournalSegment *found = g_ptr_array_index(journal->found, i);
    const JournalSegment *next = g_ptr_array_index(journal->found, i + 1); /* its turn is yet to come: it is held */
    JournalNext told = {.missing = (guint)(next->number - found->number - 1)};
    JournalHeader header;
    if (!read_header(next, &header, NULL) || header.previous_number != found->number) return told;
    told.size_bytes = header.previous_size_bytes;
    told.salt = header.previous_salt;
    told.exact = header.version > 2;
    return told;
}

void journal_found_done(Journal *journal, JournalSegment *segment) {
    pthread_mutex_lock(&journal->lock);
    segment->unread = FALSE;
    journal_release(segment);
    pthread_mutex_unlock(&journal->lock);
}

void journal_mark_damaged(Journal *journal, JournalSegment *segment) {
    pthread_mutex_lock(&journal->lock);
    segment->damaged = TRUE;
    pthread_mutex_unlock(&journal->lock);
}

/* ---- segments to write into; all with the lock held ---- */

static gboolean write_all(int fd, gsize offset, struct iovec *vectors, int n, GError **error) {
    while (n > 0) {
        ssize_t done = pwritev(fd, vectors, n, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return fail_errno(error, errno, "cannot write to the journal");
        offset += (gsize)done;
        while (n > 0 && (gsize)done >= vectors->iov_len) {
            done -= (ssize_t)vectors->iov_len;
            vectors++;
            n--;
        }
        if (n > 0) {
            vectors->iov_base = (char *)vectors->iov_base + done;
            vectors->iov_len -= (gsize)done;
        }
    }
    return TRUE;
}

/* A file to write a segment into: one that is done with, whose pages and blocks are there already, or a new one. What
 * it held is no part of the new segment, whose records have another salt. */
static int open_file(Journal *journal, char **path, GError **error) {
    *path = g_queue_pop_head(&journal->spares);
    journal->spares_unused = MIN(journal->spares_unused, journal->spares.length);
    int fd = *path ? open(*path, O_WRONLY | O_CLOEXEC) : -1;
    if (fd >= 0) return fd;
    g_free(*path);
    g_autofree char *name =
        g_strdup_printf(SPARE_PREFIX "%" G_GINT64_MODIFIER "x" SEGMENT_SUFFIX, ++journal->last_spare);
    *path = g_build_filename(journal->path, name, NULL);
    fd = open(*path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) fail_errno(error, errno, "cannot make the journal segment %s", *path);
    return fd;
}

/* Never over a file that is there. */
static gboolean rename_to_new(const char *from, const char *to) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return TRUE;
    if (errno != EINVAL && errno != ENOSYS) return FALSE;
    /* The file system does not know the flag. */
    if (link(from, to) != 0) return FALSE;
    unlink(from);
    return TRUE;
}

/* The name comes last: a file that has it has its header. */
static gboolean name_file(const Journal *journal, int fd, const char *path, JournalSegment *segment, GError **error) {
    guint8 bytes[JOURNAL_HEADER_BYTES], end[JOURNAL_RECORD_HEADER_BYTES];
    journal_header_encode(&segment->header, bytes);
    journal_end_encode(journal->salt, sizeof bytes, end);
    struct iovec vectors[] = {{bytes, sizeof bytes}, {end, sizeof end}};
    if (!write_all(fd, 0, vectors, G_N_ELEMENTS(vectors), error)) return FALSE;
    g_autofree char *name =
        g_strdup_printf(SEGMENT_PREFIX "%016" G_GINT64_MODIFIER "x" SEGMENT_SUFFIX, segment->number);
    segment->path = g_build_filename(journal->path, name, NULL);
    segment->size_bytes = sizeof bytes;
    if (rename_to_new(path, segment->path)) return TRUE;
    return fail_errno(error, errno, "cannot make the journal segment %s", segment->path);
}

static void leave_segment(Journal *journal) {
    close(journal->fd);
    journal->fd = -1;
}

/* The newest one, when it holds nothing, is as if it had never been: else a disk that fails would gather them. */
static void drop_empty(Journal *journal, JournalSegment *segment) {
    if (segment->last > segment->before || unlink(segment->path) != 0) return;
    journal->last_number = segment->header.previous_number;
    journal->last_size_bytes = segment->header.previous_size_bytes;
    journal->last_salt = segment->header.previous_salt;
    g_queue_pop_tail(&journal->segments);
    segment_free(segment);
}

/* The kernel tells of an error once, and may then call the lost pages clean: a later sync of this file would succeed
 * without them. So there is none, and nothing more goes into it. */
static void abandon_segment(Journal *journal, JournalSegment *segment) {
    segment->failed = TRUE;
    leave_segment(journal);
    drop_empty(journal, segment);
}

static gboolean begin_segment(Journal *journal, GError **error) {
    if (getrandom(&journal->salt, sizeof journal->salt, 0) != sizeof journal->salt)
        return fail_errno(error, errno, "no random numbers");
    g_autofree char *path = NULL;
    int fd = open_file(journal, &path, error);
    if (fd < 0) return FALSE;

    JournalSegment *segment = g_new0(JournalSegment, 1);
    segment->number = journal->last_number + 1;
    segment->header = (JournalHeader){.number = segment->number,
                                      .salt = journal->salt,
                                      .previous_number = journal->last_number,
                                      .previous_size_bytes = journal->last_size_bytes,
                                      .previous_salt = journal->last_salt};
    segment->before = segment->last = segment->synced = journal->appended;

    if (!name_file(journal, fd, path, segment, error)) {
        close(fd);
        unlink(path);
        segment_free(segment);
        return FALSE;
    }

    g_queue_push_tail(&journal->segments, segment);
    journal->last_number = segment->number;
    journal->last_size_bytes = segment->size_bytes;
    journal->last_salt = journal->salt;
    journal->fd = fd;
    journal->spoilt = FALSE;

    if (!journal->sync || sync_folder(journal->path, error)) return TRUE;
    abandon_segment(journal, segment);
    return FALSE;
}

/* ---- syncing; all with the lock held ---- */

/* Syncs the current segment, letting go of the lock meanwhile. One at a time: of two at once, one alone would hear
 * of an error. */
static gboolean sync_current(Journal *journal, GError **error) {
    JournalSegment *current = g_queue_peek_tail(&journal->segments);
    const guint64 up_to = current->last;
    journal->syncing = current; /* so it is neither left nor trimmed */
    pthread_mutex_unlock(&journal->lock);
    const int result = fdatasync(journal->fd);
    const int err = errno;
    pthread_mutex_lock(&journal->lock);
    journal->syncing = NULL;
    pthread_cond_broadcast(&journal->synced);
    if (result == 0) {
        current->synced = up_to;
        return TRUE;
    }
    abandon_segment(journal, current);
    return fail_errno(error, err, "cannot sync the journal");
}

/* The current segment, with room. A full one is synced before it is left: what is behind it on the disk tells that it
 * is whole. */
static gboolean ready_segment(Journal *journal, GError **error) {
    while (journal->fd >= 0) {
        JournalSegment *current = g_queue_peek_tail(&journal->segments);
        if (current->size_bytes < journal->segment_bytes && !journal->spoilt) return TRUE;
        if (journal->syncing)
            pthread_cond_wait(&journal->synced, &journal->lock);
        else if (!journal->sync || current->synced == current->last) {
            leave_segment(journal);
            drop_empty(journal, current);
        } else
            (void)sync_current(journal, NULL); /* those who need these records on disk ask for it, and get the error */
    }
    return begin_segment(journal, error);
}

/* ---- appending; all with the lock held ---- */

static gboolean append_some(Journal *journal, const JournalRecord *records, gsize n, gsize *offset, GError **error) {
    guint8 heads[WRITE_RECORDS + 1][JOURNAL_RECORD_HEADER_BYTES];
    struct iovec vectors[2 * WRITE_RECORDS + 1];
    gsize at = *offset;
    for (gsize i = 0; i < n; i++) {
        journal_record_encode(&records[i], journal->salt, at, heads[i]);
        vectors[2 * i] = (struct iovec){heads[i], JOURNAL_RECORD_HEADER_BYTES};
        vectors[2 * i + 1] = (struct iovec){(void *)records[i].payload.data, records[i].payload.size_bytes};
        at += JOURNAL_RECORD_HEADER_BYTES + records[i].payload.size_bytes;
    }
    journal_end_encode(journal->salt, at, heads[n]);
    vectors[2 * n] = (struct iovec){heads[n], JOURNAL_RECORD_HEADER_BYTES};
    if (!write_all(journal->fd, *offset, vectors, (int)(2 * n + 1), error)) return FALSE;
    *offset = at;
    return TRUE;
}

/* What was written of an append that failed must not be replayed as if it had been taken; when it cannot be taken back,
 * at least nothing is to follow it. */
static void take_back(Journal *journal, gsize size_bytes) {
    guint8 end[JOURNAL_RECORD_HEADER_BYTES];
    struct iovec vector = {end, sizeof end};
    journal_end_encode(journal->salt, size_bytes, end);
    journal->spoilt =
        ftruncate(journal->fd, (off_t)size_bytes) != 0 || !write_all(journal->fd, size_bytes, &vector, 1, NULL);
}

static gboolean append_locked(Journal *journal, const JournalRecord *records, gsize n, GError **error) {
    if (!ready_segment(journal, error)) return FALSE;
    JournalSegment *current = g_queue_peek_tail(&journal->segments);
    gsize offset = current->size_bytes;
    for (gsize i = 0; i < n; i += WRITE_RECORDS) {
        if (append_some(journal, records + i, MIN(n - i, WRITE_RECORDS), &offset, error)) continue;
        take_back(journal, current->size_bytes);
        return FALSE;
    }
    current->size_bytes = journal->last_size_bytes = offset;
    current->last = journal->appended += n;
    return TRUE;
}

gboolean journal_append(Journal *journal, const JournalRecord *records, gsize n, JournalSegment **segment,
                        GError **error) {
    pthread_mutex_lock(&journal->lock);
    gboolean done = append_locked(journal, records, n, error);
    if (done) {
        *segment = g_queue_peek_tail(&journal->segments);
        journal_hold(*segment);
    }
    pthread_mutex_unlock(&journal->lock);
    return done;
}

guint64 journal_position(Journal *journal) {
    pthread_mutex_lock(&journal->lock);
    const guint64 position = journal->appended;
    pthread_mutex_unlock(&journal->lock);
    return position;
}

/* The newest segment that holds records after 'from' and up to 'to' that are not on the disk; NULL: there is none.
 * Segments that are gone had nothing that the store does not have on the disk. */
static JournalSegment *unsynced_segment(const Journal *journal, guint64 from, guint64 to) {
    for (GList *at = journal->segments.tail; at; at = at->prev) {
        JournalSegment *segment = at->data;
        if (segment->last <= from) break;
        if (segment->before < to && segment->synced < MIN(segment->last, to)) return segment;
    }
    return NULL;
}

gboolean journal_sync(Journal *journal, guint64 from, GError **error) {
    gboolean done = TRUE;
    JournalSegment *segment;
    pthread_mutex_lock(&journal->lock);
    const guint64 to = journal->appended;
    while (done && (segment = unsynced_segment(journal, from, to))) {
        if (segment->failed)
            done = fail(error, PLUMB_ERROR_IO, "cannot sync the journal: an earlier attempt failed");
        else if (journal->syncing)
            pthread_cond_wait(&journal->synced, &journal->lock);
        else
            done = sync_current(journal, error);
    }
    pthread_mutex_unlock(&journal->lock);
    return done;
}

gboolean journal_probe(Journal *journal, GError **error) {
    pthread_mutex_lock(&journal->lock);
    gboolean good = ready_segment(journal, error);
    if (good) {
        const JournalSegment *current = g_queue_peek_tail(&journal->segments);
        if (fallocate(journal->fd, FALLOC_FL_KEEP_SIZE, (off_t)current->size_bytes, PROBE_BYTES) != 0 &&
            errno != EOPNOTSUPP)
            good = fail_errno(error, errno, "cannot write to the journal");
        while (good && journal->syncing) pthread_cond_wait(&journal->synced, &journal->lock);
        if (good && journal->sync && journal->fd >= 0) good = sync_current(journal, error);
    }
    pthread_mutex_unlock(&journal->lock);
    return good;
}

/* ---- segments ---- */

void journal_hold(JournalSegment *segment) {
    if (segment) atomic_fetch_add(&segment->holds, 1);
}

void journal_release(JournalSegment *segment) {
    if (segment) atomic_fetch_sub(&segment->holds, 1);
}

guint64 journal_segment_number(const JournalSegment *segment) { return segment ? segment->number : JOURNAL_NONE; }

const char *journal_segment_path(const JournalSegment *segment) { return segment->path; }

JournalUsage journal_usage(Journal *journal) {
    JournalUsage usage = {0};
    pthread_mutex_lock(&journal->lock);
    for (GList *at = journal->segments.head; at; at = at->next) {
        const JournalSegment *segment = at->data;
        usage.bytes += segment->size_bytes;
        if (segment->unread) usage.unread_bytes += segment->size_bytes;
        usage.segments++;
        if (usage.oldest == 0) usage.oldest = segment->number;
        usage.newest = segment->number;
    }
    usage.spare_bytes = (guint64)journal->spares.length * journal->segment_bytes;
    pthread_mutex_unlock(&journal->lock);
    return usage;
}

/* *gone gets the path when the file is to be unlinked. */
static void dispose_file(Journal *journal, const JournalSegment *segment, GPtrArray *gone) {
    if (segment->damaged) {
        g_autofree char *kept = g_strconcat(segment->path, ".damaged", NULL);
        (void)!rename(segment->path, kept); /* else it stays, and the next start reports it again */
        return;
    }
    /* Where a sync has failed, none is tried again. */
    if (!segment->failed && journal->spares.length < (guint)(SPARE_BYTES / (gint64)journal->segment_bytes)) {
        g_autofree char *name =
            g_strdup_printf(SPARE_PREFIX "%" G_GINT64_MODIFIER "x" SEGMENT_SUFFIX, ++journal->last_spare);
        g_autofree char *path = g_build_filename(journal->path, name, NULL);
        if (rename_to_new(segment->path, path)) {
            g_queue_push_tail(&journal->spares, g_steal_pointer(&path));
            return;
        }
    }
    g_ptr_array_add(gone, g_strdup(segment->path));
}

/* Those that were not needed for a while. */
static void trim_spares(Journal *journal, GPtrArray *gone) {
    if (++journal->spare_trims < SPARE_TRIMS) return;
    drop_spares(journal, journal->spares_unused, gone);
    journal->spare_trims = 0;
    journal->spares_unused = journal->spares.length;
}

void journal_drop_spares(Journal *journal) {
    GPtrArray *gone = g_ptr_array_new_with_free_func(g_free);
    pthread_mutex_lock(&journal->lock);
    drop_spares(journal, journal->spares.length, gone);
    journal->spares_unused = 0;
    pthread_mutex_unlock(&journal->lock);
    unlink_all(gone);
}

void journal_trim(Journal *journal, JournalNeeds needed_from, void *arg) {
    GPtrArray *gone = g_ptr_array_new_with_free_func(g_free);
    pthread_mutex_lock(&journal->lock);
    while (!g_queue_is_empty(&journal->segments)) {
        JournalSegment *oldest = g_queue_peek_head(&journal->segments);
        if (atomic_load(&oldest->holds) > 0 || oldest->number >= needed_from(arg)) break;
        if (oldest == journal->syncing) break;
        if (journal->fd >= 0 && journal->segments.length == 1) leave_segment(journal);
        g_queue_pop_head(&journal->segments);
        dispose_file(journal, oldest, gone);
        segment_free(oldest);
    }
    trim_spares(journal, gone);
    pthread_mutex_unlock(&journal->lock);
    unlink_all(gone);
}
