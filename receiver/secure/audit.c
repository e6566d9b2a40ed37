#include "receiver/secure/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/thread.h"
#include "receiver/shared/log.h"

#define OTHER_ADDRESSES "(others)"

typedef struct Refusals {
    char *address;
    guint n;
} Refusals;

struct Audit {
    char *path; /* "": none */
    atomic_int level;
    _Atomic guint64 written, lost;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    GString *queue;       /* lines */
    guint64 left_out;     /* since the last line */
    GHashTable *refusals; /* address -> Refusals, of this minute */
    gint64 minute_ends_ns;
    gboolean stopping, reopen;
    pthread_t thread;
    int fd;       /* the thread's; -1: none */
    gboolean cut; /* the file ends within a line; the thread's */
};

static gint64 now_ns(void) { return clock_monotonic_ns(clock_system()); }

/* ---- the file ---- */

static int open_file(const char *path, GError **error) {
    const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    struct stat info;
    if (fd < 0) {
        fail(error, PLUMB_ERROR_IO, "audit.path: cannot open %s: %s; name a file in a folder that plumbd may write to",
             path, g_strerror(errno));
        return -1;
    }
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) return fd;
    close(fd);
    fail(error, PLUMB_ERROR_CONFIG, "audit.path: %s is no file", path);
    return -1;
}

static void open_again(Audit *audit) {
    g_autoptr(GError) error = NULL;
    const int fd = open_file(audit->path, &error);
    if (fd < 0) {
        log_message(LOG_LEVEL_ERROR, "%s; the old file goes on", error->message);
        return;
    }
    close(audit->fd);
    audit->fd = fd;
}

/* *begun: is a part of the line there? */
static gboolean write_all(int fd, const char *text, gsize size_bytes, gboolean *begun) {
    while (size_bytes > 0) {
        const ssize_t done = write(fd, text, size_bytes);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return FALSE;
        *begun = *begun || done > 0;
        text += done;
        size_bytes -= (gsize)done;
    }
    return TRUE;
}

/* line ends in a line feed. */
static void write_line(Audit *audit, const char *line, gsize size_bytes) {
    static LogLimit limit;
    if (audit->fd < 0) {
        log_always(LOG_LEVEL_NOTICE, "audit: %.*s", (int)size_bytes - 1, line);
        atomic_fetch_add(&audit->written, 1);
        return;
    }
    /* The rest of a line for which there was no place is none of the next one's. */
    gboolean begun = FALSE;
    if (audit->cut && write_all(audit->fd, "\n", 1, &begun)) audit->cut = FALSE;
    if (!audit->cut && write_all(audit->fd, line, size_bytes, &begun)) {
        atomic_fetch_add(&audit->written, 1);
    } else {
        audit->cut = audit->cut || begun;
        atomic_fetch_add(&audit->lost, 1);
        log_limited(&limit, LOG_LEVEL_ERROR, "a line of the audit log is lost: %s: %s", audit->path, g_strerror(errno));
    }
}

static void write_lines(Audit *audit, const GString *lines) {
    const char *end = lines->str + lines->len;
    for (const char *at = lines->str, *next; at < end; at = next) {
        next = (const char *)memchr(at, '\n', (gsize)(end - at)) + 1;
        write_line(audit, at, (gsize)(next - at));
    }
}

/* ---- the queue; with the lock held ---- */

static void append_line(Audit *audit, const char *line, gsize size_bytes) {
    if (audit->queue->len + size_bytes > AUDIT_QUEUE_BYTES) {
        audit->left_out++;
        atomic_fetch_add(&audit->lost, 1);
        return;
    }
    g_string_append_len(audit->queue, line, (gssize)size_bytes);
    pthread_cond_signal(&audit->changed);
}

static void append(Audit *audit, const AuditEvent *event) {
    char line[AUDIT_LINE_BYTES];
    append_line(audit, line, audit_line(event, clock_wall_ns(clock_system()), line));
}

static void append_left_out(Audit *audit) {
    if (audit->left_out == 0) return;
    const AuditEvent event = {
        .action = AUDIT_LEFT_OUT, .outcome = "the log was not written fast enough", .lines = audit->left_out};
    audit->left_out = 0;
    append(audit, &event);
}

static void end_minute(Audit *audit) {
    GHashTableIter iter;
    void *value;
    g_hash_table_iter_init(&iter, audit->refusals);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Refusals *refusals = value;
        if (refusals->n <= AUDIT_REFUSALS_A_MINUTE) continue;
        const AuditEvent event = {.action = AUDIT_LEFT_OUT,
                                  .address = refusals->address,
                                  .outcome = "more refusals within a minute",
                                  .lines = refusals->n - AUDIT_REFUSALS_A_MINUTE};
        append(audit, &event);
    }
    g_hash_table_remove_all(audit->refusals);
}

static void end_old_minute(Audit *audit) {
    if (now_ns() >= audit->minute_ends_ns) end_minute(audit);
}

/* Has this refusal a line? */
static gboolean count_refusal(Audit *audit, const char *address) {
    end_old_minute(audit);
    if (g_hash_table_size(audit->refusals) == 0) audit->minute_ends_ns = now_ns() + NS_PER_MINUTE;
    Refusals *refusals = g_hash_table_lookup(audit->refusals, address);
    if (refusals == NULL && g_hash_table_size(audit->refusals) >= AUDIT_ADDRESSES) {
        address = OTHER_ADDRESSES;
        refusals = g_hash_table_lookup(audit->refusals, address);
    }
    if (refusals == NULL) {
        refusals = g_new0(Refusals, 1);
        refusals->address = g_strdup(address);
        g_hash_table_insert(audit->refusals, refusals->address, refusals);
    }
    return ++refusals->n <= AUDIT_REFUSALS_A_MINUTE;
}

static void refusals_free(void *data) {
    Refusals *refusals = data;
    g_free(refusals->address);
    g_free(refusals);
}

/* ---- the thread ---- */

/* For something to do, or the end of a minute of which something is to be said. */
static void wait_changed(Audit *audit) {
    if (g_hash_table_size(audit->refusals) == 0) {
        pthread_cond_wait(&audit->changed, &audit->lock);
        return;
    }
    const struct timespec until = {audit->minute_ends_ns / NS_PER_SEC, audit->minute_ends_ns % NS_PER_SEC};
    pthread_cond_timedwait(&audit->changed, &audit->lock, &until);
}

/* Takes what is queued into 'lines'. FALSE: there is nothing more, and nothing will come. */
static gboolean next_lines(Audit *audit, GString *lines, gboolean *reopen) {
    g_string_truncate(lines, 0);
    pthread_mutex_lock(&audit->lock);
    while (!audit->stopping && audit->queue->len == 0 && !audit->reopen) {
        wait_changed(audit);
        end_old_minute(audit);
    }
    if (audit->stopping) end_minute(audit);
    g_string_append_len(lines, audit->queue->str, (gssize)audit->queue->len);
    g_string_truncate(audit->queue, 0);
    append_left_out(audit); /* where they are missing: after what is written now */
    *reopen = audit->reopen;
    audit->reopen = FALSE;
    const gboolean more = !audit->stopping || lines->len > 0;
    pthread_mutex_unlock(&audit->lock);
    return more;
}

static void *audit_main(void *arg) {
    Audit *audit = arg;
    g_autoptr(GString) lines = g_string_new(NULL);
    gboolean reopen = FALSE;
    while (next_lines(audit, lines, &reopen)) {
        if (reopen && audit->fd >= 0) open_again(audit);
        write_lines(audit, lines);
    }
    return NULL;
}

/* ---- life ---- */

static void cond_init(pthread_cond_t *cond) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

Audit *audit_new(const char *path, AuditLevel level, GError **error) {
    const int fd = path[0] != '\0' ? open_file(path, error) : -1;
    if (path[0] != '\0' && fd < 0) return NULL;

    Audit *audit = g_new0(Audit, 1);
    audit->path = g_strdup(path);
    audit->fd = fd;
    atomic_init(&audit->level, (int)level);
    pthread_mutex_init(&audit->lock, NULL);
    cond_init(&audit->changed);
    audit->queue = g_string_new(NULL);
    audit->refusals = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, refusals_free);
    thread_start(&audit->thread, "audit", audit_main, audit);
    return audit;
}

void audit_free(Audit *audit) {
    if (!audit) return;
    pthread_mutex_lock(&audit->lock);
    audit->stopping = TRUE;
    pthread_cond_signal(&audit->changed);
    pthread_mutex_unlock(&audit->lock);
    pthread_join(audit->thread, NULL);

    if (audit->fd >= 0) close(audit->fd);
    g_hash_table_unref(audit->refusals);
    g_string_free(audit->queue, TRUE);
    pthread_cond_destroy(&audit->changed);
    pthread_mutex_destroy(&audit->lock);
    g_free(audit->path);
    g_free(audit);
}

void audit_set_level(Audit *audit, AuditLevel level) { atomic_store(&audit->level, (int)level); }

void audit_reopen(Audit *audit) {
    pthread_mutex_lock(&audit->lock);
    audit->reopen = TRUE;
    pthread_cond_signal(&audit->changed);
    pthread_mutex_unlock(&audit->lock);
}

/* Is it one that anybody can cause, and of which there were enough? */
static gboolean is_one_too_many(Audit *audit, const AuditEvent *event) {
    if (event->action != AUDIT_LOGIN_REFUSED && event->action != AUDIT_DENIED) return FALSE;
    if (event->principal != NULL || event->address == NULL) return FALSE;
    pthread_mutex_lock(&audit->lock);
    const gboolean enough = !count_refusal(audit, event->address);
    pthread_mutex_unlock(&audit->lock);
    return enough;
}

void audit_note(Audit *audit, const AuditEvent *event) {
    char line[AUDIT_LINE_BYTES];
    if (audit == NULL || event->action == AUDIT_NOTHING) return;
    if ((int)audit_level_of(event->action) > atomic_load(&audit->level) || is_one_too_many(audit, event)) return;
    const gsize size_bytes = audit_line(event, clock_wall_ns(clock_system()), line);
    pthread_mutex_lock(&audit->lock);
    append_line(audit, line, size_bytes);
    pthread_mutex_unlock(&audit->lock);
}

AuditFigures audit_figures(Audit *audit) {
    return (AuditFigures){atomic_load(&audit->written), atomic_load(&audit->lost)};
}
