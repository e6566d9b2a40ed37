/* Lines of tasks that are read as Spark writes them, against what simdjson makes of the same lines. */
#include "spark-bridge/events/task_line.h"

#include <string.h>

#include "common/model/spark_fields.h"
#include "spark-bridge/events/events.h"
#include "spark-bridge/storage/line_reader.h"

typedef struct Both {
    TaskGroups groups;
    JsonEvents *json;
    SparkRecords *texts;
    guint tasks, fast; /* lines of tasks; those that were read without simdjson */
    gboolean spoiled[EVENT_KINDS];
} Both;

static Both *both_new(void) {
    Both *both = g_new0(Both, 1);
    task_groups_init(&both->groups);
    both->json = json_events_new(&both->groups);
    both->texts = spark_records_new();
    return both;
}

static void both_free(Both *both) {
    json_events_free(both->json);
    spark_records_free(both->texts);
    g_free(both);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Both, both_free)

static EventKind kind_of(Bytes line) {
    static const char end[] = "{\"Event\":\"SparkListenerTaskEnd\"", start[] = "{\"Event\":\"SparkListenerTaskStart\"";
    if (line.size_bytes > sizeof end && memcmp(line.data, end, sizeof end - 1) == 0) return EVENT_TASK_END;
    if (line.size_bytes > sizeof start && memcmp(line.data, start, sizeof start - 1) == 0) return EVENT_TASK_START;
    return EVENT_OTHER;
}

/* TRUE: it was read without simdjson, which says the same. */
static gboolean agree(Both *both, Bytes line) {
    EventRecord fast = {.texts = both->texts}, slow = {.texts = both->texts};
    const EventKind kind = kind_of(line);
    const char *problem = NULL;
    if (!task_line_parse(&both->groups, kind, line, &fast)) return FALSE;
    g_assert_true(json_events_parse(both->json, kind, line, &slow, &problem));
    g_assert_null(problem);
    g_assert_cmpint(fast.kind, ==, slow.kind);
    g_assert_cmpint(fast.event, ==, slow.event);
    g_assert_cmpint(fast.newest_ms, ==, slow.newest_ms);
    g_assert_true(spark_form_equal(spark_form(SPARK_TASK), &fast.as, &slow.as));
    return TRUE;
}

/* Calls each line of a recorded log that tells of a task. */
static void each_task(Both *both, const char *log, void (*each)(Both *both, Bytes line)) {
    const StorageOptions options = {.retry_ms = 0};
    g_autoptr(Storage) storage = storage_new(&options);
    g_autofree char *path = g_build_filename(TEST_DATA_DIR, "spark", log, NULL);
    g_autoptr(GError) error = NULL;
    StoredFile *file = stored_file_open(storage, path, &error);
    g_assert_no_error(error);
    g_autoptr(LineReader) reader = line_reader_new(file, NULL, events_wanted);

    Line line;
    LineState state;
    while ((state = line_reader_next(reader, &line, &error)) == LINE_READY)
        if (kind_of(line.bytes) != EVENT_OTHER) each(both, line.bytes);
    g_assert_no_error(error);
    g_assert_cmpint(state, ==, LINE_END);
}

static void count_line(Both *both, Bytes line) {
    both->tasks++;
    both->fast += agree(both, line);
}

/* All of healthy logs; what failed or was lost is simdjson's. */
static void test_recorded(void) {
    static const struct {
        const char *log;
        gboolean all;
    } logs[] = {{"3.5.6/normal.zstd", TRUE},        {"4.3.0/normal.zstd", TRUE},        {"3.5.6/queries.zstd", FALSE},
                {"4.3.0/queries.zstd", FALSE},      {"4.3.0/failed_tasks.zstd", FALSE}, {"4.3.0/given.zstd", FALSE},
                {"4.3.0/executor_lost.zstd", FALSE}};
    for (guint i = 0; i < G_N_ELEMENTS(logs); i++) {
        g_autoptr(Both) both = both_new();
        each_task(both, logs[i].log, count_line);
        g_assert_cmpuint(both->tasks, >, 10);
        g_assert_cmpuint(both->fast, >=, logs[i].all ? both->tasks : both->tasks / 2);
    }
}

/* A copy of exactly the line's size and the padding, which the sanitizer watches. */
static guint8 *padded(const guint8 *text, gsize n) {
    guint8 *copy = g_malloc(n + LINE_PADDING_BYTES);
    memcpy(copy, text, n);
    memset(copy + n, '"', LINE_PADDING_BYTES);
    return copy;
}

static gboolean agree_copy(Both *both, const guint8 *text, gsize n) {
    g_autofree guint8 *copy = padded(text, n);
    return agree(both, (Bytes){copy, n});
}

/* Is a place behind the one text, and before the next other text? */
static gboolean is_between(const char *text, gsize n, gsize at, const char *begin, const char *end) {
    const char *from = g_strstr_len(text, (gssize)n, begin);
    const char *to = from ? g_strstr_len(from, (gssize)n - (from - text), end) : NULL;
    return from && text + at > from && (!to || text + at < to);
}

/* Another byte. From the Accumulables on only numbers are read: of a byte that is no text there, and of a backslash in
 * what is passed over, only simdjson knows. */
static void spoil_byte(Both *both, Bytes line, gsize at, char byte) {
    const gsize n = line.size_bytes;
    g_autofree guint8 *copy = padded(line.data, n);
    const char *text = (const char *)copy;
    const gboolean is_behind = is_between(text, n, at, "\"Accumulables\":[", "\n");
    const gboolean is_flat = is_between(text, n, at, "\"Accumulables\":[", "\"Task Metrics\":") ||
                             is_between(text, n, at, "\"Push Based Shuffle\":{", "}");
    const gboolean is_passed = byte == '\\' ? is_flat : strchr("\x01\xff", byte) && is_behind;
    copy[at] = (guint8)byte;
    EventRecord fast = {.texts = both->texts};
    if (is_passed)
        task_line_parse(&both->groups, kind_of(line), (Bytes){copy, n}, &fast);
    else
        agree(both, (Bytes){copy, n});
}

/* A writer died anywhere in the line, and another event came after; or a byte is another, but for quotes: where nothing
 * is read from, only simdjson sees that one is missing. */
static void spoil_line(Both *both, Bytes line) {
    static const char bytes[] = "{},:0x-\x01\xff\\";
    const guint8 *text = line.data;
    const gsize n = line.size_bytes;
    if (both->spoiled[kind_of(line)]) return;
    both->spoiled[kind_of(line)] = TRUE;
    g_assert_true(agree_copy(both, text, n));
    for (gsize cut = 1; cut < n; cut++) {
        g_autoptr(GByteArray) torn = g_byte_array_new();
        g_byte_array_append(torn, text, (guint)cut);
        g_assert_false(agree_copy(both, torn->data, torn->len));
        g_byte_array_append(torn, text, (guint)n);
        g_assert_false(agree_copy(both, torn->data, torn->len));
    }
    for (gsize at = 0; at < n; at++)
        for (const char *byte = text[at] == '"' ? "" : bytes; *byte != '\0'; byte++) spoil_byte(both, line, at, *byte);
}

static void test_spoiled(void) {
    g_autoptr(Both) both = both_new();
    each_task(both, "4.3.0/normal.zstd", spoil_line);
    g_assert_true(both->spoiled[EVENT_TASK_START] && both->spoiled[EVENT_TASK_END]);
}

#define TASK(number, host, failed)                                                                                     \
    "{\"Event\":\"SparkListenerTaskStart\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task Info\":{\"Task ID\":" number   \
    ",\"Index\":0,\"Attempt\":0,\"Launch Time\":5,\"Executor ID\":\"0\",\"Host\":\"" host                              \
    "\",\"Locality\":\"ANY\",\"Speculative\":false,\"Getting Result Time\":0,\"Finish Time\":0,\"Failed\":" failed     \
    ",\"Killed\":false,\"Accumulables\":[]}}"

/* What is not as usual is left to simdjson, whatever it says. */
static void test_unusual(void) {
    static const struct {
        const char *line;
        gboolean read;
    } cases[] = {
        {TASK("7", "h", "false"), TRUE}, /* before 3.3: without its partition */
        {TASK("123456789012345678", "h", "false"), TRUE},
        {TASK("1234567890123456789", "h", "false"), FALSE},
        {TASK("07", "h", "false"), FALSE},
        {TASK("-7", "h", "false"), FALSE},
        {TASK("7.5", "h", "false"), FALSE},
        {TASK("", "h", "false"), FALSE},
        {TASK("7", "h\\u00e9", "false"), FALSE},
        {TASK("7", "h\xc3\xa9", "false"), FALSE},
        {TASK("7", "h", "null"), FALSE},
        {TASK("7", "h\x01", "false"), FALSE},
        {TASK("7", "h", "false") " ", FALSE},
        {" " TASK("7", "h", "false"), FALSE},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Both) both = both_new();
        g_assert_cmpint(agree_copy(both, (const guint8 *)cases[i].line, strlen(cases[i].line)), ==, cases[i].read);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/task-line/recorded", test_recorded);
    g_test_add_func("/task-line/spoiled", test_spoiled);
    g_test_add_func("/task-line/unusual", test_unusual);
    return g_test_run();
}
