/* What the store holds. plumbd adds what only a running receiver knows. */
#include "analyzer/archive/read/distinct.h"
#include "analyzer/archive/spark/spark.h"
#include "analyzer/query/shared/json_damage.h"
#include "analyzer/query/shared/question.h"
#include "analyzer/query/spans/span_answers.h"
#include "common/store/store_damage.h"
#include "common/wire/message.h"

static void add_totals(json_t *store, const ArchiveTotals *totals) {
    json_object_set_new(store, "traces", json_count(totals->traces));
    json_object_set_new(store, "spans", json_count(totals->spans));
    json_object_set_new(store, "incomplete_traces", json_count(totals->incomplete_traces));
    json_object_set_new(store, "patterns", json_count(totals->patterns));
    json_object_set_new(store, "duplicates", json_count(totals->duplicates));
    json_object_set_new(store, "late_spans", json_count(totals->late_spans));
    json_object_set_new(store, "late_spans_waiting", json_count(totals->late_waiting));
    json_object_set_new(store, "late_spans_apart", json_count(totals->late_apart));
    if (totals->traces == 0) return;
    json_object_set_new(store, "first_time_ns", json_integer(totals->first_ns));
    json_object_set_new(store, "last_time_ns", json_integer(totals->last_ns));
}

static void add_usage(json_t *store, const StoreUsage *usage, guint64 spans) {
    json_object_set_new(store, "disk_bytes", json_count(usage->disk_bytes));
    if (usage->free_bytes != G_MAXUINT64) json_object_set_new(store, "free_bytes", json_count(usage->free_bytes));
    if (usage->disk_bytes == 0) return;
    json_t *families = json_object();
    for (StoreFamily family = 0; family < FAMILY_COUNT; family++)
        json_object_set_new(families, store_family_name(family), json_count(usage->family_bytes[family]));
    json_object_set_new(store, "family_bytes", families);
    if (spans == 0) return;
    double per_span = (double)usage->disk_bytes / (double)spans;
    json_object_set_new(store, "bytes_per_span", json_real((double)(gint64)(per_span * 10 + 0.5) / 10));
}

/* Of Spark and of hosts; absent when there are none. */
static void add_records(json_t *store, const SparkTotals *totals) {
    json_t *records = json_object();
    guint64 all = 0;
    for (guint kind = 0; kind < SPARK_KIND_COUNT; kind++) {
        all += totals->records[kind];
        json_object_set_new(records, spark_kind_name((SparkKind)kind), json_count(totals->records[kind]));
    }
    if (all > 0)
        json_object_set_new(store, "records", records);
    else
        json_decref(records);
}

json_t *answer_status(const Asked *asked, GError **error) {
    ArchiveDistinct distinct = {0};
    SparkTotals spark = {0};
    g_autoptr(GError) problem = NULL;
    if (!archive_distinct(asked->archive, &distinct, &problem) ||
        !archive_spark_totals(asked->archive, &spark, &problem)) {
        /* What cannot be read of the store is what this answer has to say. */
        if (!store_has_damage(archive_store(asked->archive))) {
            g_propagate_error(error, g_steal_pointer(&problem));
            return NULL;
        }
    }
    ArchiveTotals totals = archive_totals(asked->archive);
    StoreUsage usage = store_usage(archive_store(asked->archive));

    json_t *answer = json_object(), *store = json_object();
    json_object_set_new(answer, "version", json_string(PLUMB_VERSION));
    json_object_set_new(answer, "wire_version", json_integer(WIRE_VERSION));
    json_object_set_new(answer, "store", store);
    add_totals(store, &totals);
    json_object_set_new(store, "functions", json_count(distinct.functions));
    json_object_set_new(store, "hosts", json_count(distinct.hosts));
    add_records(store, &spark);
    add_usage(store, &usage, totals.spans);
    json_t *unreadable = json_damages(asked->archive, G_MAXUINT);
    if (unreadable) json_object_set_new(store, "unreadable", unreadable);
    return answer;
}
