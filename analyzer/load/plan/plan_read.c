#include <string.h>

#include "analyzer/load/plan/plan.h"
#include "common/base/clamped.h"
#include "common/base/error.h"
#include "common/base/fnv.h"

#define LINE_MOST_BYTES 4096u
#define HEAD_MOST_LINES 100u
/* What stands for a number that is no file made before. Of one that an operation writes: also how much. */
#define IS_FOLDER         (-1)
#define IS_WRITTEN(bytes) (-2 - (bytes))

typedef enum { PART_MAGIC, PART_HEAD, PART_BODY, PART_END } Part;

struct LoadPlanReader {
    LoadPlanEach each;
    void *arg;
    Part part;
    guint64 line;  /* number, from 1 */
    GString *rest; /* of the line that is not ended yet */
    guint64 hash;
    GHashTable *head;
    gint64 end_ns;
    guint64 clients;
    guint client;    /* of the operation before */
    GArray *numbers; /* gint64: bytes of a file that is made before; IS_WRITTEN(), IS_FOLDER */
    LoadPlanSums sums;
};

LoadPlanReader *load_plan_reader_new(LoadPlanEach each, void *arg) {
    LoadPlanReader *reader = g_new0(LoadPlanReader, 1);
    reader->each = each;
    reader->arg = arg;
    reader->rest = g_string_new(NULL);
    reader->hash = FNV64_BASIS;
    reader->head = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    reader->numbers = g_array_new(FALSE, FALSE, sizeof(gint64));
    return reader;
}

void load_plan_reader_free(LoadPlanReader *reader) {
    if (reader == NULL) return;
    g_string_free(reader->rest, TRUE);
    g_hash_table_unref(reader->head);
    g_array_unref(reader->numbers);
    g_free(reader);
}

const char *load_plan_head(const LoadPlanReader *reader, const char *key) {
    return g_hash_table_lookup(reader->head, key);
}

/* The words of a line, one after the other. */
typedef struct Words {
    const char *at, *end;
    gboolean failed;
} Words;

static Bytes next_word(Words *words) {
    const char *from = words->at;
    while (words->at < words->end && *words->at != ' ') words->at++;
    const Bytes word = {from, (gsize)(words->at - from)};
    words->failed |= word.size_bytes == 0;
    if (words->at < words->end) words->at++;
    return word;
}

static gint64 next_number(Words *words, gint64 most) {
    const Bytes word = next_word(words);
    const char *digits = word.data;
    gint64 number = 0;
    if (word.size_bytes > 18) words->failed = TRUE;
    for (gsize i = 0; i < word.size_bytes && !words->failed; i++) {
        words->failed |= !g_ascii_isdigit(digits[i]);
        number = number * 10 + (digits[i] - '0');
    }
    words->failed |= number > most;
    return words->failed ? 0 : number;
}

static gboolean wrong(const LoadPlanReader *reader, const char *what, GError **error) {
    return fail(error, PLUMB_ERROR_INPUT, "line %" G_GUINT64_FORMAT " of the plan: %s", reader->line, what);
}

/* ---- the head ---- */

static gboolean read_magic(LoadPlanReader *reader, const char *line, gsize length, GError **error) {
    static const char magic[] = "plumb-load-plan ";
    if (length <= strlen(magic) || memcmp(line, magic, strlen(magic)) != 0)
        return fail(error, PLUMB_ERROR_INPUT, "this is no plan: make one with 'plumb load plan'");
    Words words = {line + strlen(magic), line + length, FALSE};
    const gint64 version = next_number(&words, G_MAXINT32);
    if (words.failed) return wrong(reader, "no number of a version", error);
    if (version != 1)
        return fail(error, PLUMB_ERROR_VERSION, "the plan has version %" G_GINT64_FORMAT "; this plumb knows 1",
                    version);
    reader->part = PART_HEAD;
    return TRUE;
}

static gboolean head_number(const LoadPlanReader *reader, const char *key, guint64 most, guint64 *number,
                            GError **error) {
    const char *text = load_plan_head(reader, key);
    if (text == NULL) return fail(error, PLUMB_ERROR_INPUT, "the head of the plan lacks %s", key);
    if (!g_ascii_string_to_unsigned(text, 10, 0, most, number, NULL))
        return fail(error, PLUMB_ERROR_INPUT, "the head of the plan: %s is no number from 0 to %" G_GUINT64_FORMAT, key,
                    most);
    return TRUE;
}

static gboolean finish_head(LoadPlanReader *reader, GError **error) {
    const guint64 most_ns = LOAD_SECONDS_MOST * G_GUINT64_CONSTANT(1000000000);
    guint64 warm_up_ns, duration_ns;
    if (!head_number(reader, "warm-up-ns", most_ns, &warm_up_ns, error) ||
        !head_number(reader, "duration-ns", most_ns, &duration_ns, error) ||
        !head_number(reader, "clients", LOAD_CLIENTS_MOST, &reader->clients, error))
        return FALSE;
    reader->end_ns = (gint64)(warm_up_ns + duration_ns);
    reader->part = PART_BODY;
    return TRUE;
}

static gboolean read_head(LoadPlanReader *reader, const char *line, gsize length, GError **error) {
    if (length == 0) return finish_head(reader, error);
    const char *blank = memchr(line, ' ', length);
    if (blank == NULL || blank == line)
        return wrong(reader, "a line of the head is a name, a blank and a value", error);
    if (!g_utf8_validate(line, (gssize)length, NULL)) return wrong(reader, "it is no UTF-8", error);
    if (g_hash_table_size(reader->head) == HEAD_MOST_LINES) return wrong(reader, "the head has too many lines", error);
    const gsize key_length = (gsize)(blank - line);
    g_hash_table_replace(reader->head, g_strndup(line, key_length), g_strndup(blank + 1, length - key_length - 1));
    return TRUE;
}

/* ---- files and operations ---- */

static gboolean read_file(LoadPlanReader *reader, Words *words, GError **error) {
    const gint64 size_bytes = next_number(words, LOAD_FILE_MOST_BYTES);
    if (words->failed || words->at != words->end) return wrong(reader, "not of the form 'f BYTES'", error);
    if (reader->sums.files == LOAD_FILES_MOST + (guint64)LOAD_OPERATIONS_MOST)
        return fail(error, PLUMB_ERROR_LIMIT, "the plan has too many files");
    g_array_append_val(reader->numbers, size_bytes);
    reader->sums.files++;
    reader->sums.fill_bytes = clamped_add(reader->sums.fill_bytes, size_bytes);
    return TRUE;
}

/* A new number for what the operation makes, or one that fits. */
static const char *check_target(LoadPlanReader *reader, const LoadOperation *operation) {
    const gboolean makes = operation->kind == LOAD_WRITE || operation->kind == LOAD_MKDIR;
    if (makes) {
        const gint64 made = operation->kind == LOAD_WRITE ? IS_WRITTEN(operation->size_bytes) : IS_FOLDER;
        if (operation->file != reader->numbers->len) return "what it makes must have the next number";
        g_array_append_val(reader->numbers, made);
        return NULL;
    }
    if (operation->file >= reader->numbers->len) return "there is no file of this number yet";
    gint64 file_bytes = g_array_index(reader->numbers, gint64, operation->file);
    if (file_bytes == IS_FOLDER) return "this number is a folder's";
    if (operation->kind != LOAD_READ && operation->kind != LOAD_PREAD) return NULL;
    if (file_bytes < 0) file_bytes = IS_WRITTEN(file_bytes); /* its own inverse */
    return operation->size_bytes > file_bytes - operation->offset ? "it reads past the end of the file" : NULL;
}

static void count_operation(LoadPlanReader *reader, const LoadOperation *operation) {
    LoadPlanSums *sums = &reader->sums;
    sums->operations++;
    sums->of_kind[operation->kind]++;
    sums->last_due_ns = operation->due_ns;
    const gint64 bytes = operation->size_bytes;
    if (operation->kind == LOAD_READ || operation->kind == LOAD_PREAD)
        sums->read_bytes = clamped_add(sums->read_bytes, bytes);
    if (operation->kind == LOAD_WRITE || operation->kind == LOAD_APPEND)
        sums->write_bytes = clamped_add(sums->write_bytes, bytes);
}

/* A "+" stands for the due time of an operation that follows the one before. */
static gboolean next_plus(Words *words) {
    if (words->end - words->at < 2 || words->at[0] != '+' || words->at[1] != ' ') return FALSE;
    words->at += 2;
    return TRUE;
}

static gboolean read_operation(LoadPlanReader *reader, Words *words, GError **error) {
    LoadOperation operation;
    operation.follows = next_plus(words);
    operation.due_ns = operation.follows ? reader->sums.last_due_ns : next_number(words, G_MAXINT64);
    const Bytes kind = next_word(words);
    operation.kind = load_kind_find(kind.data, kind.size_bytes);
    operation.client = (guint)next_number(words, G_MAXINT32);
    operation.file = (guint64)next_number(words, G_MAXINT32);
    operation.offset = next_number(words, LOAD_FILE_MOST_BYTES);
    operation.size_bytes = next_number(words, LOAD_FILE_MOST_BYTES);

    if (words->failed || words->at != words->end)
        return wrong(reader, "not of the form 'o NANOSECONDS KIND CLIENT FILE OFFSET BYTES'", error);
    if (operation.kind == LOAD_KINDS) return wrong(reader, "there is no such kind of operation", error);
    if (operation.due_ns < reader->sums.last_due_ns) return wrong(reader, "it is due before the one before it", error);
    if (operation.due_ns >= reader->end_ns) return wrong(reader, "it is due after the end of the load", error);
    if (operation.client >= reader->clients) return wrong(reader, "there is no such client", error);
    if (operation.follows && (reader->sums.operations == 0 || operation.client != reader->client))
        return wrong(reader, "it follows (+) no operation of its client", error);
    if (reader->sums.operations == LOAD_OPERATIONS_MOST)
        return fail(error, PLUMB_ERROR_LIMIT, "the plan has more than %u operations", LOAD_OPERATIONS_MOST);

    const char *unfit = check_target(reader, &operation);
    if (unfit != NULL) return wrong(reader, unfit, error);
    count_operation(reader, &operation);
    reader->client = operation.client;
    if (reader->each != NULL) reader->each(reader->arg, &operation);
    return TRUE;
}

static gboolean read_end(LoadPlanReader *reader, Words *words, GError **error) {
    const gint64 files = next_number(words, G_MAXINT64), operations = next_number(words, G_MAXINT64);
    const Bytes hash = next_word(words);
    g_autofree char *text = g_strndup(hash.data, hash.size_bytes);
    guint64 stated;
    if (words->failed || words->at != words->end ||
        !g_ascii_string_to_unsigned(text, 16, 0, G_MAXUINT64, &stated, NULL))
        return wrong(reader, "not of the form 'end FILES OPERATIONS HASH'", error);
    if ((guint64)files != reader->sums.files || (guint64)operations != reader->sums.operations ||
        stated != reader->hash)
        return wrong(reader, "the plan was changed after it was made: make it anew with its seed", error);
    reader->part = PART_END;
    return TRUE;
}

static gboolean read_body(LoadPlanReader *reader, const char *line, gsize length, GError **error) {
    Words words = {line, line + length, FALSE};
    const Bytes word = next_word(&words);
    if (word.size_bytes == 1 && *line == 'o') return read_operation(reader, &words, error);
    if (word.size_bytes == 1 && *line == 'f') return read_file(reader, &words, error);
    if (word.size_bytes == 3 && memcmp(line, "end", 3) == 0) return read_end(reader, &words, error);
    return wrong(reader, "a line is a file (f), an operation (o) or the end", error);
}

static gboolean read_line(LoadPlanReader *reader, const char *line, gsize length, GError **error) {
    reader->line++;
    switch (reader->part) {
    case PART_MAGIC: return read_magic(reader, line, length, error);
    case PART_HEAD: return read_head(reader, line, length, error);
    case PART_BODY: return read_body(reader, line, length, error);
    default: return wrong(reader, "something follows the end", error);
    }
}

gboolean load_plan_read(LoadPlanReader *reader, Bytes piece, GError **error) {
    const char *at = piece.data, *end = at + piece.size_bytes;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (gsize)(end - at));
        const gsize length = (gsize)((line_end != NULL ? line_end : end) - at);
        if (length + reader->rest->len > LINE_MOST_BYTES) {
            reader->line++;
            if (reader->part == PART_MAGIC) return read_magic(reader, "", 0, error);
            return wrong(reader, "it is too long", error);
        }
        if (line_end == NULL) {
            g_string_append_len(reader->rest, at, (gssize)length);
            return TRUE;
        }

        const char *line = at;
        gsize line_length = length;
        if (reader->rest->len > 0) {
            g_string_append_len(reader->rest, at, (gssize)length);
            line = reader->rest->str;
            line_length = reader->rest->len;
        }
        if (!read_line(reader, line, line_length, error)) return FALSE;
        reader->hash = fnv64(fnv64(reader->hash, line, line_length), "\n", 1);
        g_string_truncate(reader->rest, 0);
        at = line_end + 1;
    }
    return TRUE;
}

gboolean load_plan_read_end(LoadPlanReader *reader, LoadPlanSums *sums, GError **error) {
    if (reader->part == PART_MAGIC) return read_magic(reader, "", 0, error);
    if (reader->part != PART_END || reader->rest->len > 0)
        return fail(error, PLUMB_ERROR_INPUT,
                    "the plan is cut: its last line is not there. Make it anew with its seed");
    *sums = reader->sums;
    return TRUE;
}
