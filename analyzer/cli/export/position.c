#include "analyzer/cli/export/position.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/cli/format/out_file.h"
#include "common/base/error.h"

#define VERSION 1
/* Some 60 bytes a trace. */
#define MOST_FILE_BYTES (1u << 30)

typedef struct Sent {
    gint64 begin_ns, spans;
} Sent;

struct Position {
    char *path, *url;
    gint64 since_ns;
    GHashTable *sent; /* trace -> Sent */
};

static gboolean fail_file(const Position *position, GError **error) {
    return fail(error, PLUMB_ERROR_INPUT,
                "%s is no position of a forwarding to %s: give each address a file of its own, or remove it to begin "
                "anew",
                position->path, position->url);
}

static gboolean take_sent(Position *position, const json_t *list) {
    gsize i;
    json_t *item;
    json_array_foreach((json_t *)list, i, item) {
        const char *trace;
        json_int_t begin_ns, spans;
        if (json_unpack(item, "[sII]", &trace, &begin_ns, &spans) != 0) return FALSE;
        position_add(position, trace, begin_ns, spans);
    }
    return json_is_array(list);
}

static gboolean load(Position *position, GError **error) {
    struct stat status;
    if (stat(position->path, &status) != 0)
        return errno == ENOENT || fail_errno(error, errno, "cannot read %s", position->path);
    if (status.st_size > (off_t)MOST_FILE_BYTES) return fail_file(position, error);
    json_auto_t *document = json_load_file(position->path, 0, NULL);
    int version = 0;
    json_int_t since_ns;
    const char *url;
    json_t *sent;
    if (json_unpack(document, "{s:i, s:s, s:I, s:o}", "version", &version, "to", &url, "since_time_ns", &since_ns,
                    "sent", &sent) != 0 ||
        version != VERSION || strcmp(url, position->url) != 0 || !take_sent(position, sent))
        return fail_file(position, error);
    position->since_ns = since_ns;
    return TRUE;
}

Position *position_open(const char *path, const char *url, gint64 since_ns, GError **error) {
    g_autoptr(Position) position = g_new0(Position, 1);
    position->path = g_strdup(path);
    position->url = g_strdup(url);
    position->since_ns = since_ns;
    position->sent = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return path == NULL || load(position, error) ? g_steal_pointer(&position) : NULL;
}

void position_free(Position *position) {
    if (position == NULL) return;
    g_hash_table_unref(position->sent);
    g_free(position->path);
    g_free(position->url);
    g_free(position);
}

gint64 position_since_ns(const Position *position) { return position->since_ns; }

gint64 position_sent(const Position *position, const char *trace) {
    const Sent *sent = g_hash_table_lookup(position->sent, trace);
    return sent != NULL ? sent->spans : -1;
}

void position_add(Position *position, const char *trace, gint64 begin_ns, gint64 spans) {
    Sent *sent = g_new(Sent, 1);
    *sent = (Sent){begin_ns, spans};
    g_hash_table_replace(position->sent, g_strdup(trace), sent);
}

static gboolean is_before(gpointer trace, gpointer value, gpointer since_ns) {
    (void)trace;
    return ((const Sent *)value)->begin_ns < *(const gint64 *)since_ns;
}

void position_advance(Position *position, gint64 since_ns) {
    if (since_ns <= position->since_ns) return;
    position->since_ns = since_ns;
    g_hash_table_foreach_remove(position->sent, is_before, &since_ns);
}

gboolean position_save(const Position *position, GError **error) {
    if (position->path == NULL) return TRUE;
    json_t *list = json_array();
    GHashTableIter iter;
    gpointer trace, value;
    g_hash_table_iter_init(&iter, position->sent);
    while (g_hash_table_iter_next(&iter, &trace, &value)) {
        const Sent *sent = value;
        json_array_append_new(
            list, json_pack("[s,I,I]", (const char *)trace, (json_int_t)sent->begin_ns, (json_int_t)sent->spans));
    }
    json_auto_t *document = json_pack("{s:i, s:s, s:I, s:o}", "version", VERSION, "to", position->url, "since_time_ns",
                                      (json_int_t)position->since_ns, "sent", list);
    char *text = json_dumps(document, JSON_COMPACT);
    g_autoptr(OutFile) file = out_file_open(position->path, error);
    const gboolean saved =
        file != NULL && out_file_write(file, (Bytes){text, strlen(text)}, error) && out_file_finish(file, error);
    free(text);
    return saved;
}
