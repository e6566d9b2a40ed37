#include "spark-bridge/logs/operations.h"

#include <string.h>

#include "spark-bridge/logs/operation_line.h"

#define NS_PER_MS G_GINT64_CONSTANT(1000000)

/* An operation that is going on. */
typedef struct Going {
    SparkOperation at_begin; /* texts are NULL but those below */
    char *class_name, *rdd_text, *app, *executor, *host;
    gint64 nano;
    gint64 nested_ns, nested_gc_ms; /* of the operations within it that have ended */
    guint64 line;
} Going;

typedef struct Thread {
    gint64 id;
    GPtrArray *stack; /* of Going */
    gint64 begun;     /* operations so far: the next one's number */
    /* What ended last: its end may come again. */
    gint64 last_stage, last_partition, last_rdd;
    guint last_class;
    gboolean ended_any;
} Thread;

struct OperationLog {
    OperationSite site;
    GHashTable *threads; /* of Thread, by id */
    guint open;
    OperationCounts counts;
};

static void going_free(gpointer data) {
    Going *going = data;
    g_free(going->class_name);
    g_free(going->rdd_text);
    g_free(going->app);
    g_free(going->executor);
    g_free(going->host);
    g_free(going);
}

static void thread_free(gpointer data) {
    Thread *thread = data;
    g_ptr_array_unref(thread->stack);
    g_free(thread);
}

OperationLog *operation_log_new(const OperationSite *site) {
    OperationLog *log = g_new0(OperationLog, 1);
    if (site != NULL) log->site = *site;
    log->threads = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, thread_free);
    return log;
}

void operation_log_free(OperationLog *log) {
    if (log == NULL) return;
    g_hash_table_unref(log->threads);
    g_free(log);
}

const OperationCounts *operation_log_counts(const OperationLog *log) { return &log->counts; }

const char *operation_trouble_text(OperationTrouble trouble) {
    static const char *const texts[OPERATION_TROUBLE_COUNT] = {
        [OPERATION_LINE_UNREADABLE] = "lines that cannot be read",
        [OPERATION_LINE_TOO_LONG] = "lines that are too long",
        [OPERATION_REPEATED_END] = "lines that repeat an end",
        [OPERATION_END_WITHOUT_BEGIN] = "ends without a begin",
        [OPERATION_BEGIN_WITHOUT_END] = "begins without an end",
        [OPERATION_CLOCK_BACK] = "ends before their begin",
        [OPERATION_TOO_MANY_OPEN] = "begins passed over, since too many operations have no end",
    };
    g_return_val_if_fail((guint)trouble < OPERATION_TROUBLE_COUNT, "");
    return texts[trouble];
}

static void trouble(OperationLog *log, OperationTrouble kind, guint64 line) {
    if (log->counts.troubles[kind]++ == 0) log->counts.first_line[kind] = line;
}

void operation_log_too_long(OperationLog *log, guint64 number) {
    log->counts.lines++;
    trouble(log, OPERATION_LINE_TOO_LONG, number);
}

gboolean operation_log_line_begins(Bytes head) {
    LogText rest = log_text_trimmed(log_text(head));
    if (!log_text_begins(rest, "tag")) return FALSE;
    rest = log_text_trimmed(log_text_after(rest, 3));
    return log_text_begins(rest, "=") && log_text_begins(log_text_trimmed(log_text_after(rest, 1)), "[RDD]");
}

static guint class_hash(const char *name, gsize length) {
    guint hash = 5381;
    for (gsize i = 0; i < length; i++) hash = hash * 33 + (guint8)name[i];
    return hash;
}

static Thread *thread_of(OperationLog *log, gint64 id) {
    Thread *thread = g_hash_table_lookup(log->threads, &id);
    if (thread != NULL) return thread;
    thread = g_new0(Thread, 1);
    thread->id = id;
    thread->stack = g_ptr_array_new_with_free_func(going_free);
    g_hash_table_insert(log->threads, &thread->id, thread);
    return thread;
}

static char *copy(LogText text, const char *otherwise) {
    return text.length > 0 ? g_strndup(text.data, text.length) : g_strdup(otherwise);
}

static Going *going_new(const OperationLog *log, Thread *thread, const OperationLine *line, guint64 number) {
    Going *going = g_new0(Going, 1);
    SparkOperation *operation = &going->at_begin;
    spark_record_init(SPARK_OPERATION, operation);

    operation->stage = line->stage;
    operation->task = line->task;
    operation->stage_attempt = (gint32)line->stage_attempt;
    operation->partition = (gint32)line->partition;
    operation->rdd = line->rdd;
    operation->thread = line->thread;
    operation->instance = thread->begun++;
    operation->begin_ns = line->timestamp_ms * NS_PER_MS;
    operation->source = OPERATION_RULES;
    memcpy(operation->at_start, line->features, sizeof operation->at_start);

    going->class_name = copy(line->class_name, NULL);
    going->rdd_text = copy(line->rdd_text, NULL);
    going->app = copy(line->app, log->site.app);
    going->executor = copy(line->executor, log->site.executor);
    going->host = copy(line->host, log->site.host);

    going->nano = line->nano;
    going->line = number;
    return going;
}

static const char *text(SparkRecords *records, const char *value) {
    return value == NULL ? NULL : spark_text_shared(records, value, strlen(value));
}

static void hand_out(OperationLog *log, const Going *going, const SparkOperation *ended, SparkRecords *records) {
    SparkOperation *operation = spark_add_operation(records);
    *operation = *ended;
    operation->app = text(records, going->app);
    operation->executor = text(records, going->executor);
    operation->host = text(records, going->host);
    operation->class_name = text(records, going->class_name);
    operation->rdd_text = text(records, going->rdd_text);
    log->counts.operations++;
}

/* The innermost operation of the thread: its end never came. */
static void give_up(OperationLog *log, Thread *thread, SparkRecords *records) {
    const Going *going = g_ptr_array_index(thread->stack, thread->stack->len - 1);
    trouble(log, OPERATION_BEGIN_WITHOUT_END, going->line);
    hand_out(log, going, &going->at_begin, records);
    g_ptr_array_set_size(thread->stack, (gint)thread->stack->len - 1);
    log->open--;
}

static void begins(OperationLog *log, const OperationLine *line, guint64 number, SparkRecords *records) {
    Thread *thread = thread_of(log, line->thread);
    /* A thread runs one task at a time: what is left of another one ended by an exception. */
    while (thread->stack->len > 0) {
        const SparkOperation *outer = &((Going *)g_ptr_array_index(thread->stack, thread->stack->len - 1))->at_begin;
        if (outer->stage == line->stage && outer->task == line->task) break;
        give_up(log, thread, records);
    }
    if (thread->stack->len >= OPERATION_MOST_DEPTH || log->open >= OPERATION_MOST_OPEN) {
        trouble(log, OPERATION_TOO_MANY_OPEN, number);
        return;
    }
    g_ptr_array_add(thread->stack, going_new(log, thread, line, number));
    log->open++;
    thread->ended_any = FALSE;
}

static gboolean means(const Going *going, const OperationLine *line) {
    const SparkOperation *operation = &going->at_begin;
    const gsize length = strlen(going->class_name);
    return operation->stage == line->stage && operation->partition == line->partition && operation->rdd == line->rdd &&
           length == line->class_name.length && memcmp(going->class_name, line->class_name.data, length) == 0;
}

/* How many of the innermost operations are to be given up before the one that ends here; -1: there is none. */
static gint above(const Thread *thread, const OperationLine *line) {
    for (guint i = thread->stack->len; i > 0; i--)
        if (means(g_ptr_array_index(thread->stack, i - 1), line)) return (gint)(thread->stack->len - i);
    return -1;
}

static void without_begin(OperationLog *log, const Thread *thread, const OperationLine *line, guint64 number) {
    const gboolean again = thread != NULL && thread->ended_any && thread->last_stage == line->stage &&
                           thread->last_partition == line->partition && thread->last_rdd == line->rdd &&
                           thread->last_class == class_hash(line->class_name.data, line->class_name.length);
    trouble(log, again ? OPERATION_REPEATED_END : OPERATION_END_WITHOUT_BEGIN, number);
}

static gint64 length_ns(OperationLog *log, const Going *going, const OperationLine *line, guint64 number) {
    const gboolean fine = going->nano != -1 && line->nano != -1;
    gint64 ns;
    const gboolean fits = fine && !__builtin_sub_overflow(line->nano, going->nano, &ns);
    if (!fits) ns = line->timestamp_ms * NS_PER_MS - going->at_begin.begin_ns;
    if (ns >= 0) return ns;
    trouble(log, OPERATION_CLOCK_BACK, number);
    return 0;
}

/* Milliseconds of collections from begin to end; -1: one of them does not say. */
static gint64 collected_ms(const Going *going, const OperationLine *line) {
    const double before = going->at_begin.at_start[JVM_GC_MS], after = line->features[JVM_GC_MS];
    return before < 0 || after < 0 ? -1 : (gint64)MAX(0.0, after - before);
}

static void finish(OperationLog *log, Thread *thread, const OperationLine *line, guint64 number,
                   SparkRecords *records) {
    const guint at = thread->stack->len - 1;
    const Going *going = g_ptr_array_index(thread->stack, at);
    const gint64 gc_ms = collected_ms(going, line);
    gint64 all_ns = length_ns(log, going, line, number);
    SparkOperation ended = going->at_begin;

    /* A sum that a wild clock makes too large for its type is cut. */
    if (__builtin_add_overflow(ended.begin_ns, all_ns, &ended.end_ns)) {
        ended.end_ns = G_MAXINT64;
        all_ns = G_MAXINT64 - ended.begin_ns;
    }

    ended.exclusive_ns = MAX(0, all_ns - MIN(all_ns, going->nested_ns));
    ended.gc_ms = gc_ms < 0 ? -1 : MAX(0, gc_ms - going->nested_gc_ms);
    memcpy(ended.at_end, line->features, sizeof ended.at_end);
    hand_out(log, going, &ended, records);
    log->counts.exceptions += line->flag == OPERATION_THROWS;

    if (at > 0) {
        Going *outer = g_ptr_array_index(thread->stack, at - 1);
        if (__builtin_add_overflow(outer->nested_ns, all_ns, &outer->nested_ns)) outer->nested_ns = G_MAXINT64;
        if (gc_ms > 0 && outer->nested_gc_ms < G_MAXINT64 - gc_ms) outer->nested_gc_ms += gc_ms;
    }

    thread->last_stage = ended.stage;
    thread->last_partition = ended.partition;
    thread->last_rdd = ended.rdd;
    thread->last_class = class_hash(going->class_name, strlen(going->class_name));
    thread->ended_any = TRUE;
    g_ptr_array_set_size(thread->stack, (gint)at);
    log->open--;
}

static void ends(OperationLog *log, const OperationLine *line, guint64 number, SparkRecords *records) {
    Thread *thread = g_hash_table_lookup(log->threads, &line->thread);
    const gint lost = thread == NULL ? -1 : above(thread, line);
    if (lost < 0) {
        without_begin(log, thread, line, number);
        return;
    }
    for (gint i = 0; i < lost; i++) give_up(log, thread, records);
    finish(log, thread, line, number, records);
}

void operation_log_line(OperationLog *log, Bytes line, guint64 number, SparkRecords *records) {
    const LogText text = log_text_trimmed(log_text(line));
    if (text.length == 0) return;
    if (text.length > OPERATION_MOST_LINE_BYTES) {
        operation_log_too_long(log, number);
        return;
    }
    log->counts.lines++;
    OperationLine parsed;
    if (!operation_line_parse(text, &parsed))
        trouble(log, OPERATION_LINE_UNREADABLE, number);
    else if (parsed.flag == OPERATION_BEGINS)
        begins(log, &parsed, number, records);
    else
        ends(log, &parsed, number, records);
}

void operation_log_end(OperationLog *log, SparkRecords *records) {
    GHashTableIter threads;
    gpointer thread;
    g_hash_table_iter_init(&threads, log->threads);
    while (g_hash_table_iter_next(&threads, NULL, &thread))
        while (((Thread *)thread)->stack->len > 0) give_up(log, thread, records);
}
