#include "analyzer/load/results/result.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "common/base/clamped.h"
#include "common/base/error.h"
#include "common/base/little_endian.h"

#define CHECKED_BYTES   60u
#define TEXT_BYTES      52u
#define TEXT_MOST_BYTES (8 * TEXT_BYTES)
#define TEXTS_MOST      1000u
#define HEAD_MOST_BYTES (64u << 10)
#define PIECE_BYTES     (1u << 20)
#define NS_PER_SECOND   G_GINT64_CONSTANT(1000000000)
/* Two weeks: no operation of a plan takes longer. */
#define TIME_MOST_NS    (2 * LOAD_SECONDS_MOST * NS_PER_SECOND)
#define FLAG_UNFINISHED 1u

struct LoadRunReader {
    LoadRun *run;
    gboolean body;
    GByteArray *rest; /* the head so far; then the record that is not whole yet */
};

LoadRunReader *load_run_reader_new(void) {
    LoadRunReader *reader = g_new0(LoadRunReader, 1);
    LoadRun *run = reader->run = g_new0(LoadRun, 1);
    reader->rest = g_byte_array_new();
    run->head = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    run->keys = g_ptr_array_new();
    run->texts = g_ptr_array_new_with_free_func(g_free);
    run->failures = g_array_new(FALSE, TRUE, sizeof(guint64));
    run->slowest = g_array_new(FALSE, FALSE, sizeof(LoadSlow));
    run->end = RUN_KILLED;
    for (guint kind = 0; kind < LOAD_KINDS; kind++)
        run->kinds[kind].samples = g_array_new(FALSE, FALSE, sizeof(LoadSample));
    return reader;
}

void load_run_free(LoadRun *run) {
    if (run == NULL) return;
    for (guint kind = 0; kind < LOAD_KINDS; kind++) g_array_unref(run->kinds[kind].samples);
    g_hash_table_unref(run->head);
    g_ptr_array_unref(run->keys);
    g_ptr_array_unref(run->texts);
    g_array_unref(run->failures);
    g_array_unref(run->slowest);
    g_clear_pointer(&run->hosts, g_ptr_array_unref);
    g_free(run);
}

void load_run_reader_free(LoadRunReader *reader) {
    if (reader == NULL) return;
    load_run_free(reader->run);
    g_byte_array_unref(reader->rest);
    g_free(reader);
}

const char *load_run_head(const LoadRun *run, const char *key) {
    const char *value = g_hash_table_lookup(run->head, key);
    return value != NULL ? value : "";
}

const char *load_run_end_name(LoadRunEnd end) {
    static const char *const names[] = {"done",    "interrupted", "errors", "lag",   "result",
                                        "latency", "bytes",       "space",  "killed"};
    return names[end];
}

/* ---- the head ---- */

static gboolean head_number(const LoadRun *run, const char *key, guint64 most, guint64 *number, GError **error) {
    const char *text = load_run_head(run, key);
    if (g_ascii_string_to_unsigned(text, 10, 0, most, number, NULL)) return TRUE;
    return fail(error, PLUMB_ERROR_INPUT, "the head of the result: %s is no number from 0 to %" G_GUINT64_FORMAT, key,
                most);
}

static gboolean check_magic(const char *line, GError **error) {
    static const char magic[] = "plumb-load-result ";
    guint64 version;
    if (!g_str_has_prefix(line, magic) ||
        !g_ascii_string_to_unsigned(line + strlen(magic), 10, 0, G_MAXINT32, &version, NULL))
        return fail(error, PLUMB_ERROR_INPUT, "this is no result of a load: 'plumb load run' writes them");
    if (version != 1)
        return fail(error, PLUMB_ERROR_VERSION, "the result has version %" G_GUINT64_FORMAT "; this plumb knows 1",
                    version);
    return TRUE;
}

static gboolean parse_head(LoadRun *run, const char *text, GError **error) {
    g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
    if (!check_magic(lines[0], error)) return FALSE;
    for (char **line = lines + 1; *line != NULL; line++) {
        char *blank = strchr(*line, ' ');
        if (blank == NULL || blank == *line)
            return fail(error, PLUMB_ERROR_INPUT, "a line of the result's head is a name, a blank and a value");
        *blank = '\0';
        if (g_hash_table_contains(run->head, *line)) continue;
        char *key = g_strdup(*line);
        g_hash_table_insert(run->head, key, g_strdup(blank + 1));
        g_ptr_array_add(run->keys, key);
    }

    const guint64 most_ns = (guint64)LOAD_SECONDS_MOST * (guint64)NS_PER_SECOND;
    guint64 warm_up_ns, duration_ns;
    if (!head_number(run, "plan-warm-up-ns", most_ns, &warm_up_ns, error) ||
        !head_number(run, "plan-duration-ns", most_ns, &duration_ns, error) ||
        !head_number(run, "warm-up-operations", LOAD_OPERATIONS_MOST, &run->in_warm_up, error))
        return FALSE;
    run->closed = *load_run_head(run, "closed") != '\0';
    run->shared = *load_run_head(run, "share") != '\0';
    run->sessions = *load_run_head(run, "plan-session") != '\0';
    run->warm_up_ns = (gint64)warm_up_ns;
    run->duration_ns = (gint64)duration_ns;
    return TRUE;
}

/* Takes what belongs to the head out of the piece. */
static gboolean read_head(LoadRunReader *reader, Bytes *piece, GError **error) {
    const char *at = piece->data;
    const gsize before = reader->rest->len;
    const gsize taken = MIN(piece->size_bytes, HEAD_MOST_BYTES + 1 - before);
    g_byte_array_append(reader->rest, piece->data, (guint)taken);
    const char *text = (const char *)reader->rest->data;
    const char *end = g_strstr_len(text, (gssize)reader->rest->len, "\n\n");

    if (end == NULL) {
        if (reader->rest->len > HEAD_MOST_BYTES)
            return fail(error, PLUMB_ERROR_INPUT, "this is no result of a load: 'plumb load run' writes them");
        *piece = (Bytes){at + taken, 0};
        return TRUE;
    }

    const gsize length = (gsize)(end - text);
    if (!g_utf8_validate(text, (gssize)length, NULL))
        return fail(error, PLUMB_ERROR_INPUT, "the head of the result is no UTF-8");
    g_autofree char *copy = g_strndup(text, length);
    if (!parse_head(reader->run, copy, error)) return FALSE;
    reader->body = TRUE;
    g_byte_array_set_size(reader->rest, 0);
    const gsize used = length + 2 - before;
    *piece = (Bytes){at + used, piece->size_bytes - used};
    return TRUE;
}

/* ---- records ---- */

/* The slowest are a heap with the fastest of them on top. */
static void keep_slow(GArray *heap, const LoadSlow *slow) {
    LoadSlow *at = (LoadSlow *)(void *)heap->data;
    if (heap->len == LOAD_SLOWEST) {
        if (slow->latency_ns <= at[0].latency_ns) return;
        guint i = 0;
        for (guint child = 1; child < heap->len; child = 2 * i + 1) {
            if (child + 1 < heap->len && at[child + 1].latency_ns < at[child].latency_ns) child++;
            if (at[child].latency_ns >= slow->latency_ns) break;
            at[i] = at[child];
            i = child;
        }
        at[i] = *slow;
        return;
    }
    g_array_append_vals(heap, slow, 1);
    at = (LoadSlow *)(void *)heap->data;
    guint i = heap->len - 1;
    for (; i > 0 && at[(i - 1) / 2].latency_ns > slow->latency_ns; i = (i - 1) / 2) at[i] = at[(i - 1) / 2];
    at[i] = *slow;
}

static gboolean take_operation(LoadRun *run, const guint8 *record) {
    const guint error = get_u16_le(record + 2);
    const gint64 begin_ns = (gint64)get_u64_le(record + 16), end_ns = (gint64)get_u64_le(record + 24),
                 bytes = (gint64)get_u64_le(record + 32);
    LoadSlow slow = {.unfinished = (get_u32_le(record + 56) & FLAG_UNFINISHED) != 0,
                     .number = get_u64_le(record + 48),
                     .trace = get_u64_le(record + 40),
                     .due_ns = (gint64)get_u64_le(record + 8)};
    if (record[1] >= LOAD_KINDS || error > TEXTS_MOST || slow.due_ns < 0 || begin_ns < slow.due_ns ||
        end_ns < begin_ns || end_ns > TIME_MOST_NS || bytes < 0 || bytes > LOAD_FILE_MOST_BYTES ||
        slow.number >= LOAD_OPERATIONS_MOST)
        return FALSE;

    slow.latency_ns = end_ns - slow.due_ns;
    slow.service_ns = end_ns - begin_ns;
    slow.kind = (LoadKind)record[1];
    run->end_ns = MAX(run->end_ns, end_ns);
    run->seen++;
    if (!run->shared && !run->sessions) run->handed_on = MAX(run->handed_on, slow.number + 1);
    if (slow.due_ns < run->warm_up_ns) {
        run->warm_up_seen++;
        return TRUE;
    }

    LoadKindRun *kind = &run->kinds[slow.kind];
    kind->operations++;
    kind->bytes = clamped_add(kind->bytes, bytes);
    kind->unfinished += slow.unfinished;
    if (error > 0) {
        kind->failed++;
        if (run->failures->len <= error) g_array_set_size(run->failures, error + 1);
        g_array_index(run->failures, guint64, error)++;
        return TRUE;
    }
    const LoadSample sample = {slow.latency_ns, slow.service_ns, (guint32)(slow.due_ns / NS_PER_SECOND),
                               get_u32_le(record + 4)};
    g_array_append_val(kind->samples, sample);
    keep_slow(run->slowest, &slow);
    return TRUE;
}

static gboolean take_text(LoadRun *run, const guint8 *record) {
    const guint part = record[1], number = get_u16_le(record + 2);
    const gsize length = get_u32_le(record + 4), from = part * TEXT_BYTES;
    if (number == 0 || number > TEXTS_MOST || length > TEXT_MOST_BYTES || from >= length) return FALSE;
    if (run->texts->len <= number) g_ptr_array_set_size(run->texts, (gint)number + 1);
    char **text = (char **)&run->texts->pdata[number];
    if (*text == NULL) *text = g_malloc0(TEXT_MOST_BYTES + 1);
    memcpy(*text + from, record + 8, MIN(TEXT_BYTES, length - from));
    return TRUE;
}

static gboolean take_end(LoadRun *run, const guint8 *record) {
    const gint64 end_ns = (gint64)get_u64_le(record + 8), handed_on = (gint64)get_u64_le(record + 16);
    if (record[1] >= RUN_KILLED || end_ns < 0 || end_ns > TIME_MOST_NS || handed_on < 0 ||
        handed_on > LOAD_OPERATIONS_MOST)
        return FALSE;
    run->end = (LoadRunEnd)record[1];
    run->end_ns = MAX(run->end_ns, end_ns);
    run->handed_on = MAX(run->handed_on, (guint64)handed_on);
    return TRUE;
}

static void take_record(LoadRun *run, const guint8 *record) {
    run->records++;
    gboolean sound = get_u32_le(record + CHECKED_BYTES) == crc32(0, record, CHECKED_BYTES);
    if (sound && record[0] == 'o') {
        sound = take_operation(run, record);
    } else if (sound && record[0] == 't') {
        sound = take_text(run, record);
    } else if (sound && record[0] == 'e') {
        sound = take_end(run, record);
    }
    run->damaged += !sound;
}

gboolean load_run_read(LoadRunReader *reader, Bytes piece, GError **error) {
    if (!reader->body && !read_head(reader, &piece, error)) return FALSE;
    const guint8 *at = piece.data, *end = at + piece.size_bytes;
    if (!reader->body || piece.size_bytes == 0) return TRUE;

    if (reader->rest->len > 0) {
        const gsize lacks = MIN(LOAD_RECORD_BYTES - reader->rest->len, piece.size_bytes);
        g_byte_array_append(reader->rest, at, (guint)lacks);
        at += lacks;
        if (reader->rest->len < LOAD_RECORD_BYTES) return TRUE;
        take_record(reader->run, reader->rest->data);
        g_byte_array_set_size(reader->rest, 0);
    }
    for (; (gsize)(end - at) >= LOAD_RECORD_BYTES; at += LOAD_RECORD_BYTES) take_record(reader->run, at);
    g_byte_array_append(reader->rest, at, (guint)(end - at));
    return TRUE;
}

gint load_slow_compare(gconstpointer a, gconstpointer b) {
    const LoadSlow *x = a, *y = b;
    if (x->latency_ns != y->latency_ns) return x->latency_ns > y->latency_ns ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

LoadRun *load_run_read_end(LoadRunReader *reader, GError **error) {
    if (!reader->body) {
        fail(error, PLUMB_ERROR_INPUT, "this is no result of a load: 'plumb load run' writes them");
        return NULL;
    }
    reader->run->cut_bytes = reader->rest->len;
    if (reader->run->shared || reader->run->sessions)
        reader->run->handed_on = MAX(reader->run->handed_on, reader->run->seen);
    /* What would be in the warm-up was not known before. */
    if (reader->run->closed || reader->run->sessions) reader->run->in_warm_up = reader->run->warm_up_seen;
    g_array_sort(reader->run->slowest, load_slow_compare);
    for (guint i = 0; i < reader->run->texts->len; i++) {
        char **text = (char **)&reader->run->texts->pdata[i];
        if (*text == NULL || g_utf8_validate(*text, -1, NULL)) continue;
        char *valid = g_utf8_make_valid(*text, -1); /* a part of it is missing, or it was cut in a character */
        g_free(*text);
        *text = valid;
    }
    return g_steal_pointer(&reader->run);
}

LoadRun *load_run_open(const char *path, GError **error) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        fail_errno(error, errno, "%s", path);
        return NULL;
    }
    g_autoptr(LoadRunReader) reader = load_run_reader_new();
    g_autofree guint8 *piece = g_malloc(PIECE_BYTES);
    gboolean sound = TRUE;
    for (ssize_t n = 1; sound && n != 0;) {
        n = read(fd, piece, PIECE_BYTES);
        if (n > 0) sound = load_run_read(reader, (Bytes){piece, (gsize)n}, error);
        if (n < 0 && errno != EINTR) sound = fail_errno(error, errno, "%s", path);
    }
    close(fd);
    LoadRun *run = sound ? load_run_read_end(reader, error) : NULL;
    if (run == NULL && g_error_matches(*error, PLUMB_ERROR, PLUMB_ERROR_INPUT)) g_prefix_error(error, "%s: ", path);
    return run;
}
