#include "analyzer/query/spark/tasks/stage_choices.h"

#include "analyzer/archive/spark/spark.h"

typedef struct StageList {
    GArray *stages; /* StageChoice */
    const SparkApp *app;
    gint64 wanted; /* -1: all */
} StageList;

static void note_stage(StageList *list, gint64 stage, gint32 attempt) {
    if (list->wanted >= 0 && stage != list->wanted) return;
    const StageChoice choice = {list->app->app, list->app->id ? list->app->id : list->app->app, stage, attempt, TRUE};
    if (list->stages->len > 0) {
        StageChoice *last = &g_array_index(list->stages, StageChoice, list->stages->len - 1);
        if (last->stage == stage && last->attempt == attempt) return;
        if (last->stage == stage) last->last = FALSE;
    }
    g_array_append_val(list->stages, choice);
}

static gboolean take_stage(void *arg, const void *record) {
    const SparkStage *stage = record;
    note_stage(arg, stage->stage, stage->attempt);
    return TRUE;
}

static gboolean take_stage_of(void *arg, const void *record) {
    const SparkOperation *operation = record;
    note_stage(arg, operation->stage, operation->stage_attempt);
    return TRUE;
}

GArray *stage_choices_load(Archive *archive, const SparkApp *app, gint64 stage, GError **error) {
    SparkSelect stages = SPARK_SELECT(SPARK_STAGE, app->app);
    SparkSelect operations = SPARK_SELECT(SPARK_OPERATION, app->app);
    g_autoptr(SparkRecords) texts = spark_records_new();
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(StageChoice));
    StageList list = {found, app, stage};
    if (!archive_spark_visit(archive, &stages, texts, (SparkVisitor){take_stage, &list}, error)) return NULL;
    if (found->len == 0 &&
        !archive_spark_visit(archive, &operations, texts, (SparkVisitor){take_stage_of, &list}, error))
        return NULL;
    return g_steal_pointer(&found);
}
