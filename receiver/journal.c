#include "receiver/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/base/error.h"

#define SEGMENT_PREFIX "plumb-"
#define SEGMENT_SUFFIX ".journal"
/* Records of one writev: two vectors each, and IOV_MAX is 1024. */
#define WRITE_RECORDS 512
/* Less free space than this is as good as none. */
#define PROBE_BYTES (1024 * 1024)

struct JournalSegment {
    guint64 number;
    char *path;
    gsize size_bytes;
    gboolean damaged;
    atomic_int holds;
};

struct Journal {
    char *path;
    gsize segment_bytes;
    gboolean sync;
    gboolean made; /* the folder, by journal_open() */
    int lock_fd;
    pthread_mutex_t lock;
    pthread_cond_t synced;
    GQueue segments; /* JournalSegment, oldest first; the current one is the last */
    guint found;     /* of them, at the front, were there when the journal was opened */
    guint64 last_number;
    guint64 last_size_bytes;
    int fd; /* of the current segment; -1: the next append begins one */
    guint64 salt;
    guint64 appended, synced_up_to; /* records since the start */
    guint64 failed_up_to;           /* of these a sync has failed: some may not survive a power cut */
    gboolean syncing;
};

static void segment_free(void *data) {
    JournalSegment *segment = data;
    g_free(segment->path);
    g_free(segment);
}

/* ---- opening ---- */

static gboolean lock_folder(Journal *journal, GError **error) {
    g_autofree char *file = g_build_filename(journal->path, "LOCK", NULL);
    journal->lock_fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (journal->lock_fd < 0) return fail_errno(error, errno, "cannot write to the journal folder %s", journal->path);
    if (flock(journal->lock_fd, LOCK_EX | LOCK_NB) == 0) return TRUE;
    if (errno != EWOULDBLOCK) return fail_errno(error, errno, "cannot lock %s", file);
    return fail(error, PLUMB_ERROR_BUSY, "the journal folder %s is in use by another plumbd (lsof %s names it)",
                journal->path, file);
}

static gboolean parse_name(const char *name, guint64 *number) {
    if (!g_str_has_prefix(name, SEGMENT_PREFIX) || !g_str_has_suffix(name, SEGMENT_SUFFIX)) return FALSE;
    char *end;
    *number = g_ascii_strtoull(name + strlen(SEGMENT_PREFIX), &end, 16);
    return *number > 0 && strcmp(end, SEGMENT_SUFFIX) == 0;
}

static gint compare_segments(gconstpointer a, gconstpointer b, gpointer unused) {
    (void)unused;
    const JournalSegment *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static gboolean read_header(const JournalSegment *segment, JournalHeader *header, GError **error) {
    g_autoptr(GMappedFile) map = g_mapped_file_new(segment->path, FALSE, error);
    if (!map) return FALSE;
    return journal_header_decode((Bytes){g_mapped_file_get_contents(map), g_mapped_file_get_length(map)}, header,
                                 error);
}

/* A segment of a newer version must stop the start before anything is changed. */
static gboolean check_version(const JournalSegment *segment, GError **error) {
    g_autoptr(GError) problem = NULL;
    JournalHeader header;
    if (!read_header(segment, &header, &problem) && g_error_matches(problem, PLUMB_ERROR, PLUMB_ERROR_VERSION))
        return fail(error, PLUMB_ERROR_VERSION, "journal segment %s was made by a newer plumbd: %s; start that one",
                    segment->path, problem->message);
    return TRUE;
}

static gboolean take_stock(Journal *journal, GError **error) {
    g_autoptr(GError) problem = NULL;
    g_autoptr(GDir) folder = g_dir_open(journal->path, 0, &problem);
    if (!folder) return fail(error, PLUMB_ERROR_IO, "cannot read the journal folder: %s", problem->message);
    const char *name;
    while ((name = g_dir_read_name(folder))) {
        guint64 number;
        if (!parse_name(name, &number)) continue;
        JournalSegment *segment = g_new0(JournalSegment, 1);
        segment->number = number;
        segment->path = g_build_filename(journal->path, name, NULL);
        struct stat info;
        if (stat(segment->path, &info) == 0) segment->size_bytes = (gsize)info.st_size;
        atomic_init(&segment->holds, 1); /* until it was replayed */
        g_queue_insert_sorted(&journal->segments, segment, compare_segments, NULL);
    }
    for (GList *at = journal->segments.head; at; at = at->next)
        if (!check_version(at->data, error)) return FALSE;
    journal->found = journal->segments.length;
    JournalSegment *last = g_queue_peek_tail(&journal->segments);
    if (last) {
        journal->last_number = last->number;
        journal->last_size_bytes = last->size_bytes;
    }
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
    journal->made = !g_file_test(journal->path, G_FILE_TEST_EXISTS);
    if (g_mkdir_with_parents(journal->path, 0700) != 0) {
        fail_errno(error, errno, "cannot make the journal folder %s", journal->path);
        return NULL;
    }
    if (!lock_folder(journal, error) || !take_stock(journal, error)) return NULL;
    return g_steal_pointer(&journal);
}

void journal_close(Journal *journal) {
    if (!journal) return;
    if (journal->fd >= 0) close(journal->fd);
    if (journal->lock_fd >= 0) close(journal->lock_fd);
    g_queue_clear_full(&journal->segments, segment_free);
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

guint journal_found(Journal *journal) { return journal->found; }

gboolean journal_found_open(Journal *journal, guint i, JournalSegment **segment, GMappedFile **map, GError **error) {
    JournalSegment *found = g_queue_peek_nth(&journal->segments, i);
    g_autoptr(GError) problem = NULL;
    GMappedFile *mapped = g_mapped_file_new(found->path, FALSE, &problem);
    if (!mapped) {
        journal_mark_damaged(journal, found);
        journal_release(found);
        return fail(error, PLUMB_ERROR_IO, "%s", problem->message);
    }
    *segment = found;
    *map = mapped;
    return TRUE;
}

guint64 journal_found_size_once(Journal *journal, guint i) {
    const JournalSegment *found = g_queue_peek_nth(&journal->segments, i);
    const JournalSegment *next = g_queue_peek_nth(&journal->segments, i + 1);
    JournalHeader header;
    if (!next || !read_header(next, &header, NULL) || header.previous_number != found->number) return 0;
    return header.previous_size_bytes;
}

void journal_mark_damaged(Journal *journal, JournalSegment *segment) {
    pthread_mutex_lock(&journal->lock);
    segment->damaged = TRUE;
    pthread_mutex_unlock(&journal->lock);
}

/* ---- appending; all with the lock held ---- */

static gboolean write_all(int fd, struct iovec *vectors, int n, GError **error) {
    while (n > 0) {
        ssize_t done = writev(fd, vectors, n);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return fail_errno(error, errno, "cannot write to the journal");
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

static void sync_folder(const Journal *journal) {
    int fd = open(journal->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

static gboolean begin_segment(Journal *journal, GError **error) {
    JournalHeader header = {journal->last_number + 1, 0, journal->last_number, journal->last_size_bytes};
    if (getrandom(&header.salt, sizeof header.salt, 0) != sizeof header.salt)
        return fail_errno(error, errno, "no random numbers");
    g_autofree char *name = g_strdup_printf(SEGMENT_PREFIX "%016" G_GINT64_MODIFIER "x" SEGMENT_SUFFIX, header.number);
    g_autofree char *path = g_build_filename(journal->path, name, NULL);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) return fail_errno(error, errno, "cannot make the journal segment %s", path);
    guint8 bytes[JOURNAL_HEADER_BYTES];
    journal_header_encode(&header, bytes);
    struct iovec vector = {bytes, sizeof bytes};
    if (!write_all(fd, &vector, 1, error)) {
        close(fd);
        unlink(path);
        return FALSE;
    }
    if (journal->sync) sync_folder(journal);
    JournalSegment *segment = g_new0(JournalSegment, 1);
    segment->number = header.number;
    segment->path = g_steal_pointer(&path);
    segment->size_bytes = sizeof bytes;
    g_queue_push_tail(&journal->segments, segment);
    journal->last_number = header.number;
    journal->last_size_bytes = sizeof bytes;
    journal->salt = header.salt;
    journal->fd = fd;
    return TRUE;
}

static void leave_segment(Journal *journal) {
    while (journal->syncing) pthread_cond_wait(&journal->synced, &journal->lock);
    if (journal->fd < 0) return;
    close(journal->fd);
    journal->fd = -1;
}

/* The current segment, with room; a full one is synced before it is left, as journal_sync() sees only the current one.
 */
static gboolean ready_segment(Journal *journal, GError **error) {
    JournalSegment *current = g_queue_peek_tail(&journal->segments);
    if (journal->fd >= 0 && current->size_bytes >= journal->segment_bytes) {
        if (journal->sync && journal->synced_up_to < journal->appended) {
            if (fdatasync(journal->fd) != 0) return fail_errno(error, errno, "cannot sync the journal");
            journal->synced_up_to = journal->appended;
        }
        leave_segment(journal);
    }
    return journal->fd >= 0 || begin_segment(journal, error);
}

static gboolean append_some(Journal *journal, const JournalRecord *records, gsize n, gsize *offset, GError **error) {
    guint8 heads[WRITE_RECORDS][JOURNAL_RECORD_HEADER_BYTES];
    struct iovec vectors[2 * WRITE_RECORDS];
    gsize at = *offset;
    for (gsize i = 0; i < n; i++) {
        journal_record_encode(&records[i], journal->salt, at, heads[i]);
        vectors[2 * i] = (struct iovec){heads[i], JOURNAL_RECORD_HEADER_BYTES};
        vectors[2 * i + 1] = (struct iovec){(void *)records[i].payload.data, records[i].payload.size_bytes};
        at += JOURNAL_RECORD_HEADER_BYTES + records[i].payload.size_bytes;
    }
    if (!write_all(journal->fd, vectors, (int)(2 * n), error)) return FALSE;
    *offset = at;
    return TRUE;
}

static gboolean append_locked(Journal *journal, const JournalRecord *records, gsize n, GError **error) {
    if (!ready_segment(journal, error)) return FALSE;
    JournalSegment *current = g_queue_peek_tail(&journal->segments);
    gsize offset = current->size_bytes;
    for (gsize i = 0; i < n; i += WRITE_RECORDS) {
        if (append_some(journal, records + i, MIN(n - i, WRITE_RECORDS), &offset, error)) continue;
        /* What was written of it must not be replayed as if it had been taken; when it cannot be taken back, at least
         * nothing is to follow it. */
        if (ftruncate(journal->fd, (off_t)current->size_bytes) != 0) leave_segment(journal);
        return FALSE;
    }
    current->size_bytes = journal->last_size_bytes = offset;
    journal->appended += n;
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

gboolean journal_sync(Journal *journal, GError **error) {
    pthread_mutex_lock(&journal->lock);
    guint64 wanted = journal->appended;
    gboolean done = TRUE;
    while (done && journal->synced_up_to < wanted) {
        if (journal->syncing) {
            pthread_cond_wait(&journal->synced, &journal->lock);
            continue;
        }
        if (wanted <= journal->failed_up_to) {
            done = fail(error, PLUMB_ERROR_IO, "cannot sync the journal: an earlier attempt failed");
            break;
        }
        if (journal->fd < 0) { /* trimmed: stored, and synced there */
            journal->synced_up_to = journal->appended;
            break;
        }
        guint64 up_to = journal->appended;
        int fd = journal->fd; /* stays open: leave_segment() waits for the end of the sync */
        journal->syncing = TRUE;
        pthread_mutex_unlock(&journal->lock);
        int result = fdatasync(fd);
        int err = errno;
        pthread_mutex_lock(&journal->lock);
        journal->syncing = FALSE;
        if (result == 0)
            journal->synced_up_to = up_to;
        else
            done = fail_errno(error, err, "cannot sync the journal");
        pthread_cond_broadcast(&journal->synced);
        if (done) continue;
        /* The kernel may now call the lost pages clean: nothing more goes into this file. */
        journal->failed_up_to = journal->appended;
        leave_segment(journal);
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
        usage.segments++;
        if (usage.oldest == 0) usage.oldest = segment->number;
        usage.newest = segment->number;
    }
    pthread_mutex_unlock(&journal->lock);
    return usage;
}

static void dispose_file(const JournalSegment *segment) {
    if (!segment->damaged) {
        unlink(segment->path);
        return;
    }
    g_autofree char *kept = g_strconcat(segment->path, ".damaged", NULL);
    (void)!rename(segment->path, kept); /* else it stays, and the next start reports it again */
}

void journal_trim(Journal *journal, JournalNeeds needed_from, void *arg) {
    pthread_mutex_lock(&journal->lock);
    while (!g_queue_is_empty(&journal->segments)) {
        JournalSegment *oldest = g_queue_peek_head(&journal->segments);
        if (atomic_load(&oldest->holds) > 0 || oldest->number >= needed_from(arg)) break;
        if (journal->fd >= 0 && journal->segments.length == 1) {
            leave_segment(journal); /* may have let others in: look again */
            if (atomic_load(&oldest->holds) > 0 || oldest->number >= needed_from(arg)) break;
        }
        g_queue_pop_head(&journal->segments);
        dispose_file(oldest);
        segment_free(oldest);
    }
    pthread_mutex_unlock(&journal->lock);
}
