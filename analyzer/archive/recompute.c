#include <stdlib.h>

#include "analyzer/archive/internal.h"

/* A group's rows are moved out when they take this much memory. */
#define FLUSH_BYTES (16u << 20)

typedef struct Recomputing {
    Archive *archive;
    Compressor *compressor;
    StatsGroup *group;
    GByteArray *spans;
    GPtrArray *list;
    gboolean flat;
    RowMap *rows;
} Recomputing;

static int compare_u32(gconstpointer a, gconstpointer b) {
    guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
    return x < y ? -1 : x > y;
}

static void keep_row(void *arg, const StatsKey *key, StatsRow *row) {
    Recomputing *work = arg;
    StatsKey as = *key;
    if (work->flat) as.bucket = 0;
    stats_row_merge(row_map_get(work->rows, &as), row);
}

static gboolean recompute_record(Recomputing *work, Bytes record, guint64 trace_id, GError **error) {
    TraceSummary summary;
    g_byte_array_set_size(work->spans, 0);
    g_ptr_array_set_size(work->list, 0);
    if (!record_summary(record, &summary, error)) return FALSE;
    if (!part_decode(work->archive, record, trace_id, work->spans, error)) return FALSE;
    if (!spans_point(trace_id, (Bytes){work->spans->data, work->spans->len}, work->list, error)) return FALSE;
    g_auto(TraceVersion) version = version_make(
        work->archive, work->compressor, (const SpanRec *const *)(gconstpointer)work->list->pdata, work->list->len);
    const StatsTrace trace = version_stats(&version, summary.pattern);
    stats_group_add_pattern(work->group, &trace);
    if (stats_group_size_bytes(work->group) > FLUSH_BYTES) {
        stats_group_foreach(work->group, keep_row, work);
        stats_group_clear(work->group);
    }
    return TRUE;
}

static gboolean wanted(const Recompute *what, Bytes record, GError **error, gboolean *failed) {
    TraceSummary summary;
    *failed = !record_summary(record, &summary, error);
    if (*failed || stats_bucket(LEVEL_MINUTE, summary.begin_ns) != what->minute) return FALSE;
    return bsearch(&summary.pattern, what->patterns, what->n_patterns, sizeof(guint32), compare_u32) != NULL;
}

static gboolean recompute_minute(Recomputing *work, const Recompute *what, GError **error) {
    guint32 first = 0, last = 0;
    trace_seconds_of_minute(what->minute, &first, &last);
    gboolean more = iter_seek_key(what->traces, trace_key(&(TraceKey){first, 0, 0}));
    for (; more; more = store_iter_next(what->traces)) {
        TraceKey key;
        if (!trace_key_parse(store_iter_key(what->traces), &key) || key.second > last) break;
        gboolean failed = FALSE;
        Bytes record = store_iter_value(what->traces);
        if (wanted(what, record, error, &failed) && !recompute_record(work, record, key.trace_id, error)) return FALSE;
        if (failed) return FALSE;
    }
    stats_group_foreach(work->group, keep_row, work);
    return iter_finished(what->traces, error);
}

gboolean recompute_rows(Archive *archive, const Recompute *what, gboolean flat, RowMap *rows, GError **error) {
    Recomputing work = {.archive = archive, .flat = flat, .rows = rows};
    work.compressor = compressor_new(&archive->lookup, COMPRESSOR_SHAPES);
    work.group = stats_group_new(&archive->lookup, FALSE);
    work.spans = g_byte_array_new();
    work.list = g_ptr_array_new();
    gboolean ok = recompute_minute(&work, what, error);
    compressor_free(work.compressor);
    stats_group_free(work.group);
    g_byte_array_unref(work.spans);
    g_ptr_array_unref(work.list);
    return ok;
}
