/* A growing batch of records of Spark, of all kinds, with the memory of their texts and lists: what readers fill, the
 * wire carries, the store keeps and diagnoses read. Used by one thread at a time. */
#pragma once

#include "common/model/spark.h"

typedef struct SparkRecords {
    GArray *of[SPARK_KIND_COUNT]; /* of SparkApp, SparkExecutor, ... */
    struct SparkArena *arena;
} SparkRecords;

SparkRecords *spark_records_new(void);
/* Empties it for the next use; every record, text and list of it is gone. */
void spark_records_clear(SparkRecords *records);
void spark_records_free(SparkRecords *records);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SparkRecords, spark_records_free)

/* Records of all kinds. */
gsize spark_records_count(const SparkRecords *records);
/* Memory that it holds, nearly: readers hand a batch on when it is large. */
gsize spark_records_bytes(const SparkRecords *records);

/* Size of a record of a kind, and "task", "stage", ... */
gsize spark_kind_size(SparkKind kind);
const char *spark_kind_name(SparkKind kind);

/* Appends a record in which everything is unknown; the pointer is valid until the next record of its kind is added. */
void *spark_records_add(SparkRecords *records, SparkKind kind);
/* Appends a deep copy of a record of another batch. */
void spark_records_copy(SparkRecords *records, SparkKind kind, const void *record);
/* Makes everything of the record unknown. */
void spark_record_init(SparkKind kind, void *record);

#define SPARK_ACCESS(Type, kind, add, get)                                                                             \
    static inline Type *add(SparkRecords *records) { return (Type *)spark_records_add(records, kind); }                \
    static inline const Type *get(const SparkRecords *records, guint i) {                                              \
        return &g_array_index(records->of[kind], Type, i);                                                             \
    }
SPARK_ACCESS(SparkApp, SPARK_APP, spark_add_app, spark_app)
SPARK_ACCESS(SparkExecutor, SPARK_EXECUTOR, spark_add_executor, spark_executor)
SPARK_ACCESS(SparkJob, SPARK_JOB, spark_add_job, spark_job)
SPARK_ACCESS(SparkStage, SPARK_STAGE, spark_add_stage, spark_stage)
SPARK_ACCESS(SparkTask, SPARK_TASK, spark_add_task, spark_task)
SPARK_ACCESS(SparkOperation, SPARK_OPERATION, spark_add_operation, spark_operation)
SPARK_ACCESS(HostSample, SPARK_SAMPLE, spark_add_sample, spark_sample)
SPARK_ACCESS(SparkSplit, SPARK_SPLIT, spark_add_split, spark_split)
SPARK_ACCESS(SparkLink, SPARK_LINK, spark_add_link, spark_link)
SPARK_ACCESS(SparkQuery, SPARK_QUERY, spark_add_query, spark_query)
SPARK_ACCESS(HostMark, SPARK_MARK, spark_add_mark, spark_mark)
SPARK_ACCESS(SparkProfile, SPARK_PROFILE, spark_add_profile, spark_profile)
SPARK_ACCESS(SparkExclusion, SPARK_EXCLUSION, spark_add_exclusion, spark_exclusion)
#undef SPARK_ACCESS

/* Zero-terminated text in the batch's memory. spark_text_shared() keeps equal texts once (hosts, executors, names: what
 * repeats); spark_text() copies without looking (paths, reasons). NULL stays NULL. Every text is one that wire and
 * store take: cut at its limit (LIMIT_VALUE_BYTES) and at a zero byte, what is no UTF-8 in it replaced. */
const char *spark_text(SparkRecords *records, const char *data, gsize length);
const char *spark_text_shared(SparkRecords *records, const char *data, gsize length);
/* Memory for a list, aligned to 8, zeroed. */
void *spark_list(SparkRecords *records, gsize items, gsize item_bytes);

struct SparkForm;
/* Deep copy of a struct of a form (spark_fields.h), texts and lists into the memory of 'into'. */
void spark_form_copy(const struct SparkForm *form, SparkRecords *into, const void *from, void *to);
