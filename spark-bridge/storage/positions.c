#include "spark-bridge/storage/positions.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/file.h"

#define FORMAT  "plumb-bridge positions"
#define VERSION 1

struct Positions {
    char *path; /* NULL: in memory only */
    int lock;
    GHashTable *logs; /* path -> LogPosition */
    gboolean changed;
};

static void log_position_free(LogPosition *position) {
    if (position == NULL) return;
    g_free(position->app);
    g_free(position);
}

static LogPosition *log_position_copy(const LogPosition *position) {
    LogPosition *copy = g_memdup2(position, sizeof *position);
    copy->app = g_strdup(position->app);
    return copy;
}

/* Numbers over 2^63 do not occur: offsets, inodes. */
static guint64 number_at(const json_t *object, const char *key) {
    return (guint64)MAX(json_integer_value(json_object_get(object, key)), 0);
}

static LogPosition *position_read(const json_t *entry) {
    LogPosition *position = g_new0(LogPosition, 1);
    position->app = g_strdup(json_string_value(json_object_get(entry, "app")));
    position->number = number_at(entry, "file_number");
    position->compact = json_is_true(json_object_get(entry, "compact"));
    position->id = number_at(entry, "file_id");
    position->at.plain_offset = number_at(entry, "content_offset");
    position->at.line = number_at(entry, "line");
    position->at.packed_offset = number_at(entry, "file_offset");
    position->at.packed_plain = number_at(entry, "file_content_offset");
    position->size_bytes = number_at(entry, "file_bytes");
    position->ended = json_is_true(json_object_get(entry, "ended"));
    if (position->at.packed_plain <= position->at.plain_offset) return position;
    log_position_free(position);
    return NULL;
}

static json_t *position_write(const char *log, const LogPosition *position) {
    json_t *entry = json_pack("{s:s, s:I, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "log", log, "file_number",
                              (json_int_t)position->number, "compact", position->compact, "file_id",
                              (json_int_t)position->id, "content_offset", (json_int_t)position->at.plain_offset, "line",
                              (json_int_t)position->at.line, "file_offset", (json_int_t)position->at.packed_offset,
                              "file_content_offset", (json_int_t)position->at.packed_plain, "file_bytes",
                              (json_int_t)position->size_bytes, "ended", position->ended);
    if (entry != NULL && position->app != NULL) json_object_set_new(entry, "app", json_string(position->app));
    return entry;
}

static gboolean load_entries(Positions *positions, const json_t *document) {
    const json_t *logs = json_object_get(document, "logs");
    if (!json_is_array(logs)) return FALSE;
    gsize i;
    json_t *entry;
    json_array_foreach(logs, i, entry) {
        const char *log = json_string_value(json_object_get(entry, "log"));
        LogPosition *position = log != NULL ? position_read(entry) : NULL;
        if (position == NULL) return FALSE;
        g_hash_table_insert(positions->logs, g_strdup(log), position);
    }
    return TRUE;
}

static gboolean load(Positions *positions, GError **error) {
    const char *path = positions->path;
    struct stat facts;
    if (stat(path, &facts) != 0) {
        if (errno == ENOENT) return TRUE;
        return fail_errno(error, errno, "cannot read the positions in %s", path);
    }

    json_error_t why;
    json_t *document = json_load_file(path, 0, &why);
    const char *format = json_string_value(json_object_get(document, "format"));
    const json_int_t version = json_integer_value(json_object_get(document, "version"));

    gboolean done = FALSE;
    if (g_strcmp0(format, FORMAT) != 0)
        fail(error, PLUMB_ERROR_CORRUPT,
             "%s holds no positions of plumb-bridge (%s): name another file, or remove it to read all logs anew, which "
             "changes nothing in the store",
             path, document == NULL ? why.text : "another format");
    else if (version != VERSION)
        fail(error, PLUMB_ERROR_VERSION,
             "the positions in %s are of version %d, this program knows version %d: use a "
             "newer one, or remove the file to read all logs anew",
             path, (int)version, VERSION);
    else if (!load_entries(positions, document))
        fail(error, PLUMB_ERROR_CORRUPT,
             "the positions in %s are damaged: remove the file to read all logs anew, which "
             "changes nothing in the store",
             path);
    else
        done = TRUE;

    json_decref(document);
    return done;
}

/* The file itself is replaced at each save, so the lock is on one beside it. */
static gboolean take_lock(Positions *positions, GError **error) {
    g_autofree char *path = g_strconcat(positions->path, ".lock", NULL);
    positions->lock = file_lock(path);
    if (positions->lock >= 0) return TRUE;
    if (errno != EWOULDBLOCK)
        return fail_errno(error, errno, "cannot keep positions in %s (its folder must be there, and writable)",
                          positions->path);
    return fail(error, PLUMB_ERROR_BUSY, "another plumb-bridge uses %s: stop it, or give each its own --state",
                positions->path);
}

Positions *positions_open(const char *path, GError **error) {
    g_autoptr(Positions) positions = g_new0(Positions, 1);
    positions->path = g_strdup(path);
    positions->lock = -1;
    positions->logs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)log_position_free);
    if (path != NULL && (!take_lock(positions, error) || !load(positions, error))) return NULL;
    return g_steal_pointer(&positions);
}

void positions_close(Positions *positions) {
    if (positions == NULL) return;
    if (positions->lock >= 0) close(positions->lock);
    g_hash_table_unref(positions->logs);
    g_free(positions->path);
    g_free(positions);
}

const LogPosition *positions_get(const Positions *positions, const char *log) {
    return g_hash_table_lookup(positions->logs, log);
}

void positions_set(Positions *positions, const char *log, const LogPosition *position) {
    g_hash_table_insert(positions->logs, g_strdup(log), log_position_copy(position));
    positions->changed = TRUE;
}

typedef struct Gone {
    const char *folder;
    GHashTable *present;
} Gone;

static gboolean is_gone(gpointer log, gpointer position G_GNUC_UNUSED, gpointer arg) {
    const Gone *gone = arg;
    const gsize length = strlen(gone->folder);
    const char *path = log;
    const gboolean within = strncmp(path, gone->folder, length) == 0 && path[length] == '/' &&
                            path[length + 1] != '\0' && strchr(path + length + 1, '/') == NULL;
    return within && !g_hash_table_contains(gone->present, path);
}

void positions_forget(Positions *positions, const char *folder, GHashTable *present) {
    Gone gone = {folder, present};
    if (g_hash_table_foreach_remove(positions->logs, is_gone, &gone) > 0) positions->changed = TRUE;
}

static char *positions_text(const Positions *positions) {
    json_t *logs = json_array();
    GHashTableIter iter;
    gpointer log, position;
    g_hash_table_iter_init(&iter, positions->logs);
    while (g_hash_table_iter_next(&iter, &log, &position)) {
        json_t *entry = position_write(log, position);
        if (entry != NULL) json_array_append_new(logs, entry); /* NULL: a path that is not UTF-8 */
    }
    json_t *document = json_pack("{s:s, s:i, s:o}", "format", FORMAT, "version", VERSION, "logs", logs);
    char *text = json_dumps(document, JSON_INDENT(1));
    json_decref(document);
    return text;
}

gboolean positions_save(Positions *positions, GError **error) {
    if (positions->path == NULL || !positions->changed) return TRUE;
    char *text = positions_text(positions);
    g_autoptr(GError) why = NULL;
    /* A temporary file beside it, synced and renamed over it. */
    const gboolean done =
        g_file_set_contents_full(positions->path, text, (gssize)strlen(text),
                                 G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0600, &why);
    free(text);
    if (!done) {
        const gboolean full = g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOSPC);
        return fail(error, full ? PLUMB_ERROR_NO_SPACE : PLUMB_ERROR_IO, "cannot keep positions: %s", why->message);
    }
    positions->changed = FALSE;
    return TRUE;
}
