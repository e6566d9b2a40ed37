#define _GNU_SOURCE /* getline */
#include "analyzer/cli/export/position.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/cli/format/out_file.h"
#include "common/base/error.h"
#include "common/base/file.h"

#define VERSION 2
/* Some 50 bytes a trace. */
#define MOST_FILE_BYTES (1u << 30)
/* A file of fewer lines stays as it is, whatever they say. */
#define LEAST_LINES 10000u
#define PIECE_BYTES (256u * 1024)

typedef struct Sent {
    gint64 begin_ns, spans;
    gboolean grown;
} Sent;

struct Position {
    char *path, *url;
    gint64 since_ns;
    GHashTable *sent; /* trace -> Sent */
    GString *news;    /* lines that are not in the file yet */
    guint64 news_lines, file_lines, file_bytes;
    int lock; /* -1: none, it is kept nowhere */
    int fd;   /* of the file, to append; -1: it is not there, or not whole, and the next time is written anew */
};

static void put_sent(Position *position, const char *trace, gint64 begin_ns, gint64 spans) {
    Sent *sent = g_new(Sent, 1);
    *sent = (Sent){begin_ns, spans, FALSE};
    g_hash_table_replace(position->sent, g_strdup(trace), sent);
}

static gboolean is_before(gpointer trace, gpointer value, gpointer since_ns) {
    (void)trace;
    return ((const Sent *)value)->begin_ns < *(const gint64 *)since_ns;
}

static void forget(Position *position) { g_hash_table_foreach_remove(position->sent, is_before, &position->since_ns); }

/* ---- reading ---- */

static gboolean fail_file(const Position *position, GError **error) {
    return fail(error, PLUMB_ERROR_INPUT,
                "%s is no position of a forwarding to %s: give each address a file of its own, or remove it to begin "
                "anew",
                position->path, position->url);
}

static gboolean take_head(Position *position, const char *line, gsize size_bytes) {
    json_auto_t *head = json_loadb(line, size_bytes, 0, NULL);
    int version = 0;
    json_int_t since_ns;
    const char *url;
    if (json_unpack(head, "{s:i, s:s, s:I}", "version", &version, "to", &url, "since_time_ns", &since_ns) != 0 ||
        version != VERSION || strcmp(url, position->url) != 0)
        return FALSE;
    position->since_ns = since_ns;
    return TRUE;
}

static gboolean take_line(Position *position, const char *line, gsize size_bytes) {
    json_auto_t *item = json_loadb(line, size_bytes, 0, NULL);
    const char *trace;
    json_int_t begin_ns, spans;
    if (line[size_bytes - 1] != '\n') return FALSE;
    if (json_unpack(item, "[sII]", &trace, &begin_ns, &spans) == 0) {
        put_sent(position, trace, begin_ns, spans);
        return TRUE;
    }
    if (json_unpack(item, "{s:I}", "since_time_ns", &begin_ns) != 0) return FALSE;
    position->since_ns = MAX(position->since_ns, begin_ns);
    return TRUE;
}

static gboolean read_lines(Position *position, FILE *file, gboolean *whole) {
    char *line = NULL;
    size_t room = 0;
    ssize_t n = getline(&line, &room, file);
    const gboolean good = n > 0 && take_head(position, line, (gsize)n);
    while (good && (n = getline(&line, &room, file)) > 0) {
        *whole = take_line(position, line, (gsize)n) && *whole;
        position->file_lines++;
    }
    free(line);
    forget(position);
    return good;
}

static gboolean open_to_append(Position *position, GError **error) {
    position->fd = open(position->path, O_WRONLY | O_APPEND | O_CLOEXEC);
    return position->fd >= 0 || fail_errno(error, errno, "cannot open %s", position->path);
}

static gboolean load(Position *position, GError **error) {
    FILE *file = fopen(position->path, "re");
    if (file == NULL) return errno == ENOENT || fail_errno(error, errno, "cannot read %s", position->path);
    struct stat status;
    gboolean whole = TRUE;
    const gboolean good =
        fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) && read_lines(position, file, &whole);
    fclose(file);
    if (!good) return fail_file(position, error);
    position->file_bytes = (guint64)status.st_size;
    return !whole || open_to_append(position, error);
}

/* Two that write one file would each leave out what the other sent. */
static gboolean take_lock(Position *position, GError **error) {
    g_autofree char *path = g_strconcat(position->path, ".lock", NULL);
    position->lock = file_lock(path);
    if (position->lock >= 0) return TRUE;
    if (errno != EWOULDBLOCK)
        return fail_errno(error, errno, "cannot keep the position in %s (its folder must be there, and writable)",
                          position->path);
    return fail(error, PLUMB_ERROR_BUSY,
                "another plumb export --follow uses %s: stop it, or give each its own --position", position->path);
}

Position *position_open(const char *path, const char *url, gint64 since_ns, GError **error) {
    g_autoptr(Position) position = g_new0(Position, 1);
    position->path = g_strdup(path);
    position->url = g_strdup(url);
    position->since_ns = since_ns;
    position->sent = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    position->news = g_string_new(NULL);
    position->lock = position->fd = -1;
    return path == NULL || (take_lock(position, error) && load(position, error)) ? g_steal_pointer(&position) : NULL;
}

void position_free(Position *position) {
    if (position == NULL) return;
    if (position->fd >= 0) close(position->fd);
    if (position->lock >= 0) close(position->lock);
    g_hash_table_unref(position->sent);
    g_string_free(position->news, TRUE);
    g_free(position->path);
    g_free(position->url);
    g_free(position);
}

/* ---- what was sent ---- */

gint64 position_since_ns(const Position *position) { return position->since_ns; }

gboolean position_was_sent(const Position *position, const char *trace) {
    return g_hash_table_contains(position->sent, trace);
}

gboolean position_grew(Position *position, const char *trace, gint64 spans) {
    Sent *sent = g_hash_table_lookup(position->sent, trace);
    if (sent == NULL || sent->grown || spans <= sent->spans) return FALSE;
    sent->grown = TRUE;
    return TRUE;
}

static void append_sent(GString *out, const char *trace, const Sent *sent) {
    json_auto_t *item = json_pack("[s,I,I]", trace, (json_int_t)sent->begin_ns, (json_int_t)sent->spans);
    char *text = json_dumps(item, JSON_COMPACT);
    g_string_append(out, text);
    g_string_append_c(out, '\n');
    free(text);
}

void position_add(Position *position, const char *trace, gint64 begin_ns, gint64 spans) {
    put_sent(position, trace, begin_ns, spans);
    if (position->path == NULL) return;
    append_sent(position->news, trace, g_hash_table_lookup(position->sent, trace));
    position->news_lines++;
}

void position_advance(Position *position, gint64 since_ns) {
    if (since_ns <= position->since_ns) return;
    position->since_ns = since_ns;
    forget(position);
    if (position->path == NULL) return;
    g_string_append_printf(position->news, "{\"since_time_ns\":%" G_GINT64_FORMAT "}\n", since_ns);
    position->news_lines++;
}

/* ---- writing ---- */

static gboolean put_text(Position *position, OutFile *file, GString *text, GError **error) {
    position->file_bytes += text->len;
    if (position->file_bytes > MOST_FILE_BYTES)
        return fail(error, PLUMB_ERROR_LIMIT,
                    "%s would be larger than 1 GiB, with %u traces of the time of --reach: make that shorter, or "
                    "choose fewer traces",
                    position->path, g_hash_table_size(position->sent));
    const gboolean done = out_file_write(file, (Bytes){text->str, text->len}, error);
    g_string_truncate(text, 0);
    return done;
}

static gboolean put_all(Position *position, OutFile *file, GError **error) {
    g_autoptr(GString) text = g_string_new(NULL);
    json_auto_t *head = json_pack("{s:i, s:s, s:I}", "version", VERSION, "to", position->url, "since_time_ns",
                                  (json_int_t)position->since_ns);
    char *line = json_dumps(head, JSON_COMPACT);
    g_string_append(text, line);
    g_string_append_c(text, '\n');
    free(line);

    GHashTableIter iter;
    gpointer trace, sent;
    g_hash_table_iter_init(&iter, position->sent);
    while (g_hash_table_iter_next(&iter, &trace, &sent)) {
        append_sent(text, trace, sent);
        if (text->len >= PIECE_BYTES && !put_text(position, file, text, error)) return FALSE;
    }
    return put_text(position, file, text, error) && out_file_finish(file, error);
}

/* The file as it was stays until the new one is whole. */
static gboolean write_anew(Position *position, GError **error) {
    if (position->fd >= 0) close(position->fd);
    position->fd = -1;
    position->file_bytes = 0;
    g_autoptr(OutFile) file = out_file_open(position->path, error);
    if (file == NULL || !put_all(position, file, error) || !open_to_append(position, error)) return FALSE;
    position->file_lines = g_hash_table_size(position->sent);
    return TRUE;
}

static gboolean append_news(Position *position, GError **error) {
    const GString *news = position->news;
    for (gsize at = 0; at < news->len;) {
        const ssize_t n = write(position->fd, news->str + at, news->len - at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail_errno(error, errno, "cannot write %s", position->path);
        at += (gsize)n;
    }
    if (fdatasync(position->fd) != 0) return fail_errno(error, errno, "cannot write %s", position->path);
    position->file_lines += position->news_lines;
    position->file_bytes += news->len;
    return TRUE;
}

gboolean position_save(Position *position, GError **error) {
    if (position->path == NULL || (position->news->len == 0 && position->fd >= 0)) return TRUE;
    const guint64 lines = position->file_lines + position->news_lines;
    const gboolean anew = position->fd < 0 || lines > LEAST_LINES + 2 * (guint64)g_hash_table_size(position->sent) ||
                          position->file_bytes + position->news->len > MOST_FILE_BYTES;
    if (!(anew ? write_anew(position, error) : append_news(position, error))) return FALSE;
    g_string_truncate(position->news, 0);
    position->news_lines = 0;
    return TRUE;
}
