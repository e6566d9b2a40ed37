#include "spark-bridge/logs/operation_line.h"

#include <string.h>

/* What a line must say, as bits. */
enum {
    SAID_TAG = 1,
    SAID_FLAG = 2,
    SAID_TIME = 4,
    SAID_THREAD = 8,
    SAID_STAGE = 16,
    SAID_PARTITION = 32,
    SAID_ALL = 63
};

static const char tag_prefix[] = "[RDD]";

static void feature(OperationLine *line, LogText name, LogText text) {
    for (guint i = 0; i < JVM_FEATURE_COUNT; i++) {
        if (!log_text_is(name, jvm_features[i].name)) continue;
        char digits[40];
        if (text.length == 0 || text.length >= sizeof digits) return;
        memcpy(digits, text.data, text.length);
        digits[text.length] = '\0';
        char *end;
        const double value = g_ascii_strtod(digits, &end);
        /* Not NaN, and nothing that no counter reaches. */
        if (*end == '\0' && end != digits && value >= 0 && value <= 1e18) line->features[i] = value;
        return;
    }
}

/* "HadoopRDD[0] at textFile at ..." */
static gint64 rdd_id(LogText text) {
    const char *open = log_text_find(text, "[");
    if (open == NULL) return -1;
    const char *close = log_text_find(log_text_between(open + 1, text.data + text.length), "]");
    gint64 id = -1;
    if (close != NULL) log_text_natural(log_text_between(open + 1, close), &id);
    return id <= G_MAXINT32 ? id : -1;
}

static guint tag(OperationLine *line, LogText value) {
    if (!log_text_begins(value, tag_prefix)) return 0;
    line->class_name = log_text_trimmed(log_text_after(value, sizeof tag_prefix - 1));
    return line->class_name.length > 0 ? SAID_TAG : 0;
}

static guint flag(OperationLine *line, LogText value) {
    if (log_text_is(value, "start"))
        line->flag = OPERATION_BEGINS;
    else if (log_text_is(value, "end"))
        line->flag = OPERATION_RETURNS;
    else if (log_text_is(value, "exception"))
        line->flag = OPERATION_THROWS;
    else
        return 0;
    return SAID_FLAG;
}

static guint text_pair(OperationLine *line, LogText name, LogText value) {
    if (log_text_is(name, "this")) {
        line->rdd_text = value;
        if (line->rdd < 0) line->rdd = rdd_id(value);
    } else if (log_text_is(name, "application"))
        line->app = value;
    else if (log_text_is(name, "executor"))
        line->executor = value;
    else if (log_text_is(name, "host"))
        line->host = value;
    else
        feature(line, name, value);
    return 0;
}

/* What of SAID_ALL the pair says. */
static guint pair(OperationLine *line, LogText name, LogText value) {
    if (log_text_is(name, "tag")) return tag(line, value);
    if (log_text_is(name, "flag")) return flag(line, value);
    if (log_text_is(name, "timestamp")) return log_text_natural(value, &line->timestamp_ms) ? SAID_TIME : 0;
    if (log_text_is(name, "thread")) return log_text_natural(value, &line->thread) ? SAID_THREAD : 0;
    if (log_text_is(name, "stage")) return log_text_natural(value, &line->stage) ? SAID_STAGE : 0;
    if (log_text_is(name, "partitionId")) return log_text_natural(value, &line->partition) ? SAID_PARTITION : 0;
    if (log_text_is(name, "nanoTime")) {
        /* The clock's zero may lie in its future, so any number will do; the only one it cannot be is "not said". */
        if (log_text_number(value, &line->nano) && line->nano == -1) line->nano = 0;
        return 0;
    }
    if (log_text_is(name, "taskAttemptId")) return log_text_natural(value, &line->task), 0;
    if (log_text_is(name, "stageAttempt")) return log_text_natural(value, &line->stage_attempt), 0;
    if (log_text_is(name, "rddId")) return log_text_natural(value, &line->rdd), 0;
    return text_pair(line, name, value);
}

gboolean operation_line_parse(LogText text, OperationLine *out) {
    OperationLine line = {.nano = -1, .stage_attempt = -1, .task = -1, .rdd = -1};
    for (guint i = 0; i < JVM_FEATURE_COUNT; i++) line.features[i] = -1;
    const char *at = text.data, *end = at + text.length;
    guint said = 0;
    while (at < end) {
        const char *stop = memchr(at, ';', (gsize)(end - at));
        if (stop == NULL) stop = end;
        const char *equals = memchr(at, '=', (gsize)(stop - at));
        if (equals != NULL)
            said |= pair(&line, log_text_trimmed(log_text_between(at, equals)),
                         log_text_trimmed(log_text_between(equals + 1, stop)));
        at = stop + 1;
    }
    const gboolean small = line.stage <= G_MAXINT32 && line.partition <= G_MAXINT32 && line.stage_attempt <= G_MAXINT32;
    /* Milliseconds since the epoch that as nanoseconds fit into 64 bits. */
    if (said != SAID_ALL || !small || line.timestamp_ms > G_MAXINT64 / 1000000) return FALSE;
    *out = line;
    return TRUE;
}
