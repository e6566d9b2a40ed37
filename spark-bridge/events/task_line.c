#include "spark-bridge/events/task_line.h"

#define MOST_DIGITS 18

/* Every brace is asked for where it must be, and what is passed over has none: so a line in which another event begins,
 * since a writer died in it, does not pass. */
typedef struct Cursor {
    const char *at, *end;
} Cursor;

typedef struct Text {
    const char *text;
    gsize length;
} Text;

static inline gboolean skip_bytes(Cursor *cursor, const char *text, gsize length) {
    if (cursor->end - cursor->at < (gssize)length || memcmp(cursor->at, text, length) != 0) return FALSE;
    cursor->at += length;
    return TRUE;
}
#define SKIP(cursor, literal)    skip_bytes(cursor, literal, sizeof(literal) - 1)
#define FIELD(cursor, key, read) (SKIP(cursor, ",\"" key "\":") && (read))

/* None below 0, and none that begins with a 0 but that. */
static gboolean read_number(Cursor *cursor, gint64 *number) {
    const char *begin = cursor->at;
    gint64 sum = 0;
    for (; cursor->at < cursor->end && (guchar)(*cursor->at - '0') < 10; cursor->at++)
        if (cursor->at - begin < MOST_DIGITS) sum = sum * 10 + (*cursor->at - '0');
    const gssize digits = cursor->at - begin;
    if (digits == 0 || digits > MOST_DIGITS || (*begin == '0' && digits > 1)) return FALSE;
    *number = sum;
    return TRUE;
}

static gboolean read_small(Cursor *cursor, gint32 *number) {
    gint64 large;
    if (!read_number(cursor, &large) || large > G_MAXINT32) return FALSE;
    *number = (gint32)large;
    return TRUE;
}

static gboolean read_time(Cursor *cursor, EventRecord *record, gint64 *time_ms) {
    gint64 read_ms;
    if (!read_number(cursor, &read_ms)) return FALSE;
    if (read_ms == 0) return TRUE; /* Spark's "not yet" */
    *time_ms = read_ms;
    record->newest_ms = MAX(record->newest_ms, read_ms);
    return TRUE;
}

static gboolean read_flag(Cursor *cursor, gint32 *flag) {
    *flag = SKIP(cursor, "true");
    return *flag || SKIP(cursor, "false");
}

/* Of ASCII that stands as it is. */
static gboolean read_text(Cursor *cursor, Text *text) {
    if (!SKIP(cursor, "\"")) return FALSE;
    text->text = cursor->at;
    while (cursor->at < cursor->end && g_ascii_isprint(*cursor->at) && *cursor->at != '"' && *cursor->at != '\\')
        cursor->at++;
    text->length = (gsize)(cursor->at - text->text);
    return SKIP(cursor, "\"");
}

/* To the end of an object without others in it. */
static gboolean skip_flat(Cursor *cursor) {
    const char *close = memchr(cursor->at, '}', (gsize)(cursor->end - cursor->at));
    if (close == NULL || memchr(cursor->at, '{', (gsize)(close - cursor->at)) != NULL) return FALSE;
    cursor->at = close + 1;
    return TRUE;
}

static gboolean skip_accumulables(Cursor *cursor) {
    if (SKIP(cursor, "[]")) return TRUE;
    if (!SKIP(cursor, "[")) return FALSE;
    do
        if (!SKIP(cursor, "{\"ID\":") || !skip_flat(cursor)) return FALSE;
    while (SKIP(cursor, ","));
    return SKIP(cursor, "]");
}

static gboolean read_info(Cursor *cursor, EventRecord *record) {
    SparkTask *task = &record->as.task;
    Text executor, host, locality;
    gint32 ignored;
    gboolean good = SKIP(cursor, "{\"Task ID\":") && read_number(cursor, &task->task);
    good = good && FIELD(cursor, "Index", read_small(cursor, &task->partition));
    good = good && FIELD(cursor, "Attempt", read_small(cursor, &task->attempt));
    if (good && SKIP(cursor, ",\"Partition ID\":")) good = read_small(cursor, &task->partition); /* since 3.3 */
    good = good && FIELD(cursor, "Launch Time", read_time(cursor, record, &task->launch_ms));
    good = good && FIELD(cursor, "Executor ID", read_text(cursor, &executor));
    good = good && FIELD(cursor, "Host", read_text(cursor, &host));
    good = good && FIELD(cursor, "Locality", read_text(cursor, &locality));
    good = good && FIELD(cursor, "Speculative", read_flag(cursor, &task->speculative));
    good = good && FIELD(cursor, "Getting Result Time", read_time(cursor, record, &task->getting_result_ms));
    good = good && FIELD(cursor, "Finish Time", read_time(cursor, record, &task->finish_ms));
    good = good && FIELD(cursor, "Failed", read_flag(cursor, &ignored));
    good = good && FIELD(cursor, "Killed", read_flag(cursor, &ignored));
    good = good && FIELD(cursor, "Accumulables", skip_accumulables(cursor)) && SKIP(cursor, "}");
    if (!good) return FALSE;

    task->executor = spark_text_shared(record->texts, executor.text, executor.length);
    task->host = spark_text_shared(record->texts, host.text, host.length);
    task->locality = task_locality_parse(locality.text, locality.length);
    return TRUE;
}

static gboolean read_metrics(Cursor *cursor, const TaskGroups *groups, guint number, gint64 *metrics);

/* A field that is no metric of the group, from behind the quote of its key. */
static gboolean read_other(Cursor *cursor, const TaskGroups *groups, guint number, gint64 *metrics) {
    const guint within = number == 0 ? task_groups_within(groups, cursor->at) : 0;
    const char *close = memchr(cursor->at, '"', (gsize)(cursor->end - cursor->at));
    gint64 ignored;
    if (close == NULL || memchr(cursor->at, '\\', (gsize)(close - cursor->at)) != NULL) return FALSE;
    cursor->at = close;
    if (!SKIP(cursor, "\":")) return FALSE;
    if (SKIP(cursor, "{")) return within > 0 ? read_metrics(cursor, groups, within, metrics) : skip_flat(cursor);
    return SKIP(cursor, "[]") || read_number(cursor, &ignored);
}

/* The fields of an object, from behind its brace to behind the other. */
static gboolean read_metrics(Cursor *cursor, const TaskGroups *groups, guint number, gint64 *metrics) {
    const TaskGroup *group = &groups->of[number];
    guint next = 0;
    do {
        if (!SKIP(cursor, "\"")) return FALSE;
        const gint at = task_group_find(group, cursor->at, &next);
        if (at < 0) {
            if (!read_other(cursor, groups, number, metrics)) return FALSE;
            continue;
        }
        gint64 amount;
        cursor->at += group->keys[at].length;
        if (!SKIP(cursor, "\":") || !read_number(cursor, &amount)) return FALSE;
        if (amount > 0 || number != TASK_GROUP_EXECUTOR) metrics[group->metrics[at]] = amount;
    } while (SKIP(cursor, ","));
    return SKIP(cursor, "}");
}

static gboolean read_end(Cursor *cursor, const TaskGroups *groups, EventRecord *record) {
    SparkTask *task = &record->as.task;
    task->status = TASK_SUCCESS;
    if (!SKIP(cursor, ",\"Task Executor Metrics\":{")) return FALSE;
    const gboolean measured = !SKIP(cursor, "\"JVMHeapMemory\":0,"); /* else nothing was */
    if (!(measured ? read_metrics(cursor, groups, TASK_GROUP_EXECUTOR, task->metrics) : skip_flat(cursor)))
        return FALSE;
    if (!SKIP(cursor, ",\"Task Metrics\":{") || !read_metrics(cursor, groups, 0, task->metrics)) return FALSE;
    return task->metrics[METRIC_PEAK_MEMORY_BYTES] >= 0; /* before 3.0 it is among the Accumulables */
}

gboolean task_line_parse(const TaskGroups *groups, EventKind kind, Bytes line, EventRecord *record) {
    SparkTask *task = &record->as.task;
    Cursor cursor = {line.data, (const char *)line.data + line.size_bytes};
    const gboolean ended = kind == EVENT_TASK_END;
    Text type;
    if (!ended && kind != EVENT_TASK_START) return FALSE;

    record->event = kind;
    record->kind = SPARK_TASK;
    record->newest_ms = -1;
    spark_record_init(SPARK_TASK, &record->as);
    if (!SKIP(&cursor, "{\"Event\":\"SparkListenerTask")) return FALSE;
    if (!(ended ? SKIP(&cursor, "End\"") : SKIP(&cursor, "Start\""))) return FALSE;
    if (!FIELD(&cursor, "Stage ID", read_number(&cursor, &task->stage))) return FALSE;
    if (!FIELD(&cursor, "Stage Attempt ID", read_small(&cursor, &task->stage_attempt))) return FALSE;
    if (ended && !FIELD(&cursor, "Task Type", read_text(&cursor, &type))) return FALSE;
    if (ended && !FIELD(&cursor, "Task End Reason", SKIP(&cursor, "{\"Reason\":\"Success\"}"))) return FALSE;

    if (!FIELD(&cursor, "Task Info", read_info(&cursor, record))) return FALSE;
    if (ended && !read_end(&cursor, groups, record)) return FALSE;
    return SKIP(&cursor, "}") && cursor.at == cursor.end;
}
