#include "analyzer/query/spark/tasks/task_links.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/archive/read/load.h"
#include "analyzer/archive/read/scan.h"
#include "analyzer/archive/read/search_terms.h"
#include "analyzer/query/shared/trace_view.h"
#include "common/base/clamped.h"
#include "common/base/clock.h"

/* Tasks of a host by launch; latest_ms[i]: the latest finish of the first i + 1. */
typedef struct HostTasks {
    GArray *tasks; /* const SparkTask * */
    gint64 *latest_ms;
} HostTasks;

typedef struct Linker {
    Archive *archive;
    const LinkAsk *ask;
    SparkRecords *links;
    GHashTable *linked; /* trace ids that are done with */
    GHashTable *hosts;  /* name -> HostTasks */
    GHashTable *splits; /* path -> PathSplits */
    GHashTable *known;  /* task attempt id -> const SparkTask * */
    guint32 context_key, path_keys[3], place_keys[2];
} Linker;

/* Splits of a path by start, those of unknown start (-1) first. */
typedef struct PathSplits {
    GArray *splits; /* const SparkSplit * */
    gint64 longest; /* G_MAXINT64: of one the length is unknown */
    guint unplaced; /* how many have no start */
} PathSplits;

static void path_splits_free(gpointer data) {
    PathSplits *path = data;
    g_array_unref(path->splits);
    g_free(path);
}

static void host_tasks_free(gpointer data) {
    HostTasks *host = data;
    g_array_unref(host->tasks);
    g_free(host->latest_ms);
    g_free(host);
}

gint64 caller_context_task(const char *text, gsize length, const char *app_id) {
    static const char head[] = "SPARK_TASK_", task[] = "_TId_";
    g_autofree char *copy = g_strndup(text, length);
    const gsize app_length = strlen(app_id);
    for (const char *at = strstr(copy, head); at; at = strstr(at, head)) {
        at += sizeof(head) - 1;
        if (strncmp(at, app_id, app_length) != 0 || at[app_length] != '_') continue;
        const char *number = strstr(at, task);
        gint64 id = number ? g_ascii_strtoll(number + sizeof(task) - 1, NULL, 10) : -1;
        if (number && g_ascii_isdigit(number[sizeof(task) - 1]) && id >= 0) return id;
    }
    return -1;
}

const char *hdfs_path_of(const char *text) {
    const char *authority = strstr(text, "://");
    if (!authority) return text;
    const char *path = strchr(authority + 3, '/');
    return path ? path : text;
}

/* ---- what there is ---- */

static int by_launch(const void *a, const void *b) {
    const SparkTask *x = *(const SparkTask *const *)a, *y = *(const SparkTask *const *)b;
    if (x->launch_ms != y->launch_ms) return x->launch_ms < y->launch_ms ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

static gint64 finish_of(const SparkTask *task) { return task->finish_ms < 0 ? G_MAXINT64 : task->finish_ms; }

static void sort_hosts(Linker *linker) {
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, linker->hosts);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        HostTasks *host = value;
        g_array_sort(host->tasks, by_launch);
        host->latest_ms = g_new(gint64, host->tasks->len);
        gint64 latest = G_MININT64;
        for (guint i = 0; i < host->tasks->len; i++) {
            latest = MAX(latest, finish_of(g_array_index(host->tasks, const SparkTask *, i)));
            host->latest_ms[i] = latest;
        }
    }
}

static void take_task(Linker *linker, const SparkTask *task) {
    g_hash_table_insert(linker->known, (gpointer)&task->task, (gpointer)task);
    if (!task->host || task->launch_ms < 0) return;
    HostTasks *host = g_hash_table_lookup(linker->hosts, task->host);
    if (!host) {
        host = g_new0(HostTasks, 1);
        host->tasks = g_array_new(FALSE, FALSE, sizeof(const SparkTask *));
        g_hash_table_insert(linker->hosts, (gpointer)task->host, host);
    }
    g_array_append_val(host->tasks, task);
}

static void take_split(Linker *linker, const SparkSplit *split) {
    if (!split->path) return;
    const char *name = hdfs_path_of(split->path);
    PathSplits *path = g_hash_table_lookup(linker->splits, name);
    if (!path) {
        path = g_new0(PathSplits, 1);
        path->splits = g_array_new(FALSE, FALSE, sizeof(const SparkSplit *));
        g_hash_table_insert(linker->splits, (gpointer)name, path);
    }
    g_array_append_val(path->splits, split);
    path->longest = split->length < 0 ? G_MAXINT64 : MAX(path->longest, split->length);
    if (split->start < 0) path->unplaced++;
}

static int by_start(const void *a, const void *b) {
    const SparkSplit *x = *(const SparkSplit *const *)a, *y = *(const SparkSplit *const *)b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

static void sort_splits(Linker *linker) {
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, linker->splits);
    while (g_hash_table_iter_next(&iter, NULL, &value)) g_array_sort(((PathSplits *)value)->splits, by_start);
}

static guint32 key_id(Archive *archive, const char *text) {
    guint32 id = dict_find(archive_dict(archive), text, strlen(text));
    return id ? id : G_MAXUINT32; /* no span's */
}

static void linker_init(Linker *linker) {
    static const char *const paths[] = {"path", "src", "filename"}, *const places[] = {"position", "offset"};
    const SparkRecords *records = linker->ask->records;
    linker->linked = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    linker->hosts = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, host_tasks_free);
    linker->splits = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, path_splits_free);
    linker->known = g_hash_table_new(g_int64_hash, g_int64_equal);
    linker->context_key = key_id(linker->archive, "callerContext");
    for (gsize i = 0; i < G_N_ELEMENTS(paths); i++) linker->path_keys[i] = key_id(linker->archive, paths[i]);
    for (gsize i = 0; i < G_N_ELEMENTS(places); i++) linker->place_keys[i] = key_id(linker->archive, places[i]);
    for (guint i = 0; i < records->of[SPARK_TASK]->len; i++) take_task(linker, spark_task(records, i));
    for (guint i = 0; i < records->of[SPARK_SPLIT]->len; i++) take_split(linker, spark_split(records, i));
    sort_hosts(linker);
    sort_splits(linker);
}

static void linker_clear(Linker *linker) {
    g_hash_table_unref(linker->linked);
    g_hash_table_unref(linker->hosts);
    g_hash_table_unref(linker->splits);
    g_hash_table_unref(linker->known);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Linker, linker_clear)

static void add_link(Linker *linker, const SparkTask *task, guint64 trace, LinkKind kind, double confidence) {
    SparkLink *link = spark_add_link(linker->links);
    link->app = spark_text_shared(linker->links, linker->ask->app, strlen(linker->ask->app));
    link->task = task->task;
    link->trace = (gint64)trace;
    link->span = 0;
    link->kind = kind;
    link->confidence = confidence;
}

static gboolean wants(const Linker *linker, LinkKind kind) { return linker->ask->kinds >> kind & 1; }

/* ---- the tasks' own traces ---- */

static gboolean link_scopes(Linker *linker, GError **error) {
    const SparkRecords *records = linker->ask->records;
    for (guint i = 0; i < records->of[SPARK_TASK]->len; i++) {
        const SparkTask *task = spark_task(records, i);
        guint64 trace = task_trace_id(linker->ask->app_id, task->task);
        gboolean has = FALSE;
        if (!archive_has_trace(linker->archive, trace, &has, error)) return FALSE;
        if (!has) continue;
        gint64 key = (gint64)trace;
        g_hash_table_add(linker->linked, g_memdup2(&key, sizeof(key)));
        if (wants(linker, LINK_SCOPE)) add_link(linker, task, trace, LINK_SCOPE, 1);
    }
    return TRUE;
}

/* ---- one trace ---- */

static gint64 context_task(const Linker *linker, const GByteArray *spans) {
    const SpanRec *span;
    for (gsize at = 0; (span = spans_next(spans, &at)) != NULL;) {
        SpanCursor cursor = span_cursor(span);
        SpanAnnotation annotation;
        while (span_next_annotation(&cursor, &annotation)) {
            if (annotation.key != linker->context_key) continue;
            gint64 task = caller_context_task(annotation.value, annotation.length, linker->ask->app_id);
            if (task >= 0) return task;
        }
    }
    return -1;
}

/* The path and place of one span; free the path with g_free(). */
static char *span_touch(const Linker *linker, const SpanRec *span, gint64 *place) {
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    char *path = NULL;
    *place = -1;
    while (span_next_annotation(&cursor, &annotation)) {
        for (gsize i = 0; !path && i < G_N_ELEMENTS(linker->path_keys); i++)
            if (annotation.key == linker->path_keys[i]) path = g_strndup(annotation.value, annotation.length);
        for (gsize i = 0; *place < 0 && i < G_N_ELEMENTS(linker->place_keys); i++)
            if (annotation.key == linker->place_keys[i]) annotation_number(&annotation, place);
    }
    return path;
}

static gboolean runs_at(const Linker *linker, const SparkTask *task, gint64 time_ns) {
    const gint64 time_ms = time_ns / NS_PER_MS, slack_ms = linker->ask->slack_ns / NS_PER_MS;
    return task->launch_ms >= 0 && time_ms >= task->launch_ms - slack_ms && time_ms - slack_ms <= finish_of(task);
}

static gboolean task_on_host(const SparkTask *task, const char *host) {
    return task->host && strcmp(task->host, host) == 0;
}

static void time_candidates(const Linker *linker, const char *host, gint64 begin_ns, GPtrArray *found) {
    const HostTasks *tasks = g_hash_table_lookup(linker->hosts, host);
    const gint64 slack_ms = linker->ask->slack_ns / NS_PER_MS, time_ms = begin_ns / NS_PER_MS;
    guint low = 0, high = tasks ? tasks->tasks->len : 0;
    while (low < high) { /* the first that was launched later */
        guint middle = low + (high - low) / 2;
        const SparkTask *task = g_array_index(tasks->tasks, const SparkTask *, middle);
        if (task->launch_ms - slack_ms <= time_ms)
            low = middle + 1;
        else
            high = middle;
    }
    for (guint i = low; i-- > 0 && time_ms - slack_ms <= tasks->latest_ms[i];) {
        const SparkTask *task = g_array_index(tasks->tasks, const SparkTask *, i);
        if (runs_at(linker, task, begin_ns)) g_ptr_array_add(found, (gpointer)task);
    }
}

/* Logs may count in seconds. */
#define LOG_RESOLUTION_MS 1000

/* Two executors may be on one host, and a log's host need not be known. */
static gboolean may_be_of(const SparkSplit *split, const SparkTask *task) {
    return !split->executor || !task->executor || strcmp(split->executor, task->executor) == 0;
}

/* An executor's line that names no task: any that ran there when it was written, and runs when the span begins. */
static void unnamed_candidates(const Linker *linker, const SparkSplit *split, const char *host, gint64 begin_ns,
                               GPtrArray *found) {
    g_autoptr(GPtrArray) running = g_ptr_array_new();
    if (split->host && strcmp(split->host, host) != 0) return;
    time_candidates(linker, host, begin_ns, running);
    for (guint i = 0; i < running->len; i++) {
        const SparkTask *task = g_ptr_array_index(running, i);
        const gboolean then =
            split->time_ms < 0 ||
            (task->launch_ms <= clamped_add(split->time_ms, LOG_RESOLUTION_MS) && finish_of(task) >= split->time_ms);
        if (then && may_be_of(split, task) && !g_ptr_array_find(found, task, NULL))
            g_ptr_array_add(found, (gpointer)task);
    }
}

/* Is the place in the split? A reader goes on to the end of its last line or page, beyond it. */
static gboolean split_has(const SparkSplit *split, gint64 place) {
    if (place < 0 || split->start < 0) return TRUE;
    return place >= split->start && (split->length < 0 || place - split->start <= split->length);
}

/* How many of a path's splits begin at or before a place. */
static guint splits_until(const PathSplits *path, gint64 place) {
    guint low = 0, high = path->splits->len;
    while (low < high) {
        const guint middle = low + (high - low) / 2;
        if (g_array_index(path->splits, const SparkSplit *, middle)->start <= place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void take_candidate(const Linker *linker, const SparkSplit *split, const char *host, const SpanRec *span,
                           GPtrArray *found) {
    if (split->task < 0) {
        unnamed_candidates(linker, split, host, span->begin_ns, found);
        return;
    }
    const SparkTask *task = g_hash_table_lookup(linker->known, &split->task);
    if (!task || !task_on_host(task, host) || !runs_at(linker, task, span->begin_ns)) return;
    if (!g_ptr_array_find(found, task, NULL)) g_ptr_array_add(found, (gpointer)task);
}

/* Tasks whose input this is: their executor said so, and they run when it is read. A large file has thousands of
 * splits: only those that may have the place are looked at. */
static void split_candidates(const Linker *linker, const char *host, const GByteArray *spans, GPtrArray *found) {
    const SpanRec *span;
    for (gsize at = 0; (span = spans_next(spans, &at)) != NULL;) {
        gint64 place;
        g_autofree char *name = span_touch(linker, span, &place);
        const PathSplits *path = name ? g_hash_table_lookup(linker->splits, hdfs_path_of(name)) : NULL;
        if (!path) continue;
        guint i = place < 0 ? path->splits->len : splits_until(path, place);
        while (i-- > 0) {
            const SparkSplit *split = g_array_index(path->splits, const SparkSplit *, i);
            /* Before this one only those without a place of their own may have it. */
            if (place >= 0 && split->start >= 0 && place - split->start > path->longest)
                i = MIN(i, path->unplaced);
            else if (split_has(split, place))
                take_candidate(linker, split, host, span, found);
        }
    }
}

static void link_candidates(Linker *linker, const GPtrArray *tasks, guint64 trace, LinkKind kind) {
    if (tasks->len > LINK_CANDIDATES_MAX) return;
    for (guint i = 0; i < tasks->len; i++) add_link(linker, g_ptr_array_index(tasks, i), trace, kind, 1.0 / tasks->len);
}

/* The span that began the trace, if a client's. */
static const SpanRec *client_root(const Linker *linker, const GByteArray *spans, guint32 *host) {
    const Lookup *lookup = archive_lookup(linker->archive);
    const SpanRec *span, *root = NULL;
    for (gsize at = 0; (span = spans_next(spans, &at)) != NULL;) {
        Role role;
        guint32 where;
        if (root && span->begin_ns >= root->begin_ns) continue;
        lookup->process(lookup->arg, span->tracer, &role, &where);
        if (role != ROLE_CLIENT) continue;
        root = span;
        *host = where;
    }
    return root;
}

/* TRUE: it was linked. host: as of HostScan.name. */
static gboolean link_trace(Linker *linker, guint64 trace, const char *host, const GByteArray *spans) {
    gint64 id = wants(linker, LINK_CALLER_CONTEXT) ? context_task(linker, spans) : -1;
    const SparkTask *task = id >= 0 ? g_hash_table_lookup(linker->known, &id) : NULL;
    if (task) {
        add_link(linker, task, trace, LINK_CALLER_CONTEXT, 1);
        return TRUE;
    }
    guint32 where = 0;
    const SpanRec *root = host ? client_root(linker, spans, &where) : NULL;
    if (!root || strcmp(dict_text(archive_dict(linker->archive), where, NULL), host) != 0) return FALSE;
    g_autoptr(GPtrArray) found = g_ptr_array_new();
    LinkKind kind = LINK_SPLIT;
    if (wants(linker, LINK_SPLIT)) split_candidates(linker, host, spans, found);
    if (found->len == 0 && wants(linker, LINK_TIME_HOST)) {
        kind = LINK_TIME_HOST;
        time_candidates(linker, host, root->begin_ns, found);
    }
    link_candidates(linker, found, trace, kind);
    return found->len > 0;
}

/* ---- the traces of one host ---- */

static gint64 ms_to_ns(gint64 ms) { return ms > G_MAXINT64 / NS_PER_MS ? G_MAXINT64 : ms * NS_PER_MS; }

/* All records that ran on a host between two times. 'name': what Spark calls it; NULL: it is no host of tasks, and only
 * what names a task there is one's. */
typedef struct HostScan {
    guint32 host;
    const char *name;
    gint64 from_ms, until_ms;
} HostScan;

static gboolean link_host(Linker *linker, const HostScan *host, GError **error) {
    const gint64 slack_ns = linker->ask->slack_ns, until_ns = ms_to_ns(host->until_ms);
    g_autoptr(ArchiveScan) scan =
        archive_scan_new(linker->archive, ms_to_ns(host->from_ms) - slack_ns,
                         until_ns > G_MAXINT64 - slack_ns ? G_MAXINT64 : until_ns + slack_ns, FALSE);

    g_autoptr(SearchTerms) terms = search_terms_new();
    search_terms_host(terms, host->host);
    archive_scan_by_terms(scan, g_steal_pointer(&terms));

    g_autoptr(GByteArray) spans = g_byte_array_new();
    g_autoptr(GError) failure = NULL;
    guint64 trace;
    TraceSummary summary;

    while (archive_scan_next(scan, &trace, &summary, &failure)) {
        gint64 key = (gint64)trace;
        if (g_hash_table_contains(linker->linked, &key)) continue;
        g_byte_array_set_size(spans, 0);
        if (!archive_scan_spans(scan, spans, error)) return FALSE;
        if (link_trace(linker, trace, host->name, spans))
            g_hash_table_add(linker->linked, g_memdup2(&key, sizeof(key)));
    }

    if (!failure) return TRUE;
    g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}

static gboolean link_task_hosts(Linker *linker, HostScan *all, GError **error) {
    GHashTableIter iter;
    gpointer name, value;
    g_hash_table_iter_init(&iter, linker->hosts);
    while (g_hash_table_iter_next(&iter, &name, &value)) {
        const HostTasks *tasks = value;
        const SparkTask *first = g_array_index(tasks->tasks, const SparkTask *, 0);
        HostScan host = {.name = name, .from_ms = first->launch_ms};
        host.until_ms = tasks->latest_ms[tasks->tasks->len - 1];
        all->from_ms = MIN(all->from_ms, host.from_ms);
        all->until_ms = MAX(all->until_ms, host.until_ms);
        host.host = dict_find(archive_dict(linker->archive), name, strlen(name));
        /* 0: nothing that was traced ran there. */
        if (host.host != 0 && !link_host(linker, &host, error)) return FALSE;
    }
    return TRUE;
}

/* Calls of clients that are not traced: the NameNode's spans are traces of their own, and name the task. */
static gboolean link_namenodes(Linker *linker, HostScan *host, GError **error) {
    g_autoptr(GArray) hosts = g_array_new(FALSE, FALSE, sizeof(guint32));
    archive_namenode_hosts(linker->archive, hosts);
    for (guint i = 0; i < hosts->len; i++) {
        host->host = g_array_index(hosts, guint32, i);
        if (!link_host(linker, host, error)) return FALSE;
    }
    return TRUE;
}

gboolean task_links_find(Archive *archive, const LinkAsk *ask, SparkRecords *links, GError **error) {
    g_auto(Linker) linker = {.archive = archive, .ask = ask, .links = links};
    linker_init(&linker);
    if (!link_scopes(&linker, error)) return FALSE;
    if ((ask->kinds & ~(1u << LINK_SCOPE)) == 0) return TRUE;
    HostScan all = {.from_ms = G_MAXINT64, .until_ms = G_MININT64};
    if (!link_task_hosts(&linker, &all, error)) return FALSE;
    gboolean contexts = wants(&linker, LINK_CALLER_CONTEXT) && linker.context_key != G_MAXUINT32;
    return !contexts || all.from_ms > all.until_ms || link_namenodes(&linker, &all, error);
}
