/* The inefficient operations of an application's stages: scores, patterns, and what the JVM was like meanwhile. */
#include <math.h>
#include <string.h>

#include "analyzer/archive/read/load.h"
#include "analyzer/archive/spark/spark.h"
#include "analyzer/diagnosis/kmeans.h"
#include "analyzer/diagnosis/permutation.h"
#include "analyzer/diagnosis/replay.h"
#include "analyzer/query/spark/diagnosis.h"
#include "analyzer/query/spark/spark_answers.h"
#include "analyzer/query/spark/tasks/app_plans.h"
#include "analyzer/query/spark/tasks/asked_app.h"
#include "analyzer/query/spark/tasks/operation_json.h"
#include "analyzer/query/spark/tasks/stage_choices.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/error.h"

#define CLUSTERS     3u
#define CLUSTER_SEED 1u
/* Numbers of clusters that are tried besides; of so few instances none means anything, of so many it takes long. */
#define SILHOUETTES_LEAST    2u
#define SILHOUETTES_MOST     6u
#define SILHOUETTES_OF_LEAST 10u
#define SILHOUETTES_OF_MOST  2000u
/* Of instances that are not on top, as many as give steady means. */
#define OTHERS_MAX ((gsize)20000)
/* Below it, most of what a task did is in no operation. */
#define COVERAGE_LOW 0.9

typedef struct Wanted {
    gint64 stage, attempt; /* -1: all */
    double top;
    guint64 limit;
    gboolean clusters, scale_by_most;
} Wanted;

/* "10%", "10 %", "0.1" */
static gboolean parse_top(const QueryParams *params, double *top, GError **error) {
    const char *text = params_text(params, "top");
    if (!text) return TRUE;
    char *end = NULL;
    double value = g_ascii_strtod(text, &end);
    end += strspn(end, " ");
    const gboolean percent = *end == '%';
    if (percent) value /= 100;
    if (!g_ascii_isdigit(text[0]) || end[percent] != '\0' || !(value > 0 && value <= 1))
        return fail(error, PLUMB_ERROR_INPUT, "top \"%s\" is no share: give 10%% or 0.1", text);
    *top = value;
    return TRUE;
}

static gboolean parse_scale(const QueryParams *params, gboolean *by_most, GError **error) {
    static const char *const scales[] = {"minmax", "max", NULL};
    guint scale = 0;
    if (!params_choice(params, "scale", scales, &scale, error)) return FALSE;
    *by_most = scale == 1;
    return TRUE;
}

static gboolean parse(const Asked *asked, Wanted *wanted, GError **error) {
    *wanted = (Wanted){.top = 0.1, .limit = 20, .clusters = TRUE};
    return asked_stage(asked, &wanted->stage, &wanted->attempt, error) &&
           params_count(asked->params, "limit", &wanted->limit, error) &&
           params_flag(asked->params, "clusters", &wanted->clusters, error) &&
           parse_scale(asked->params, &wanted->scale_by_most, error) && parse_top(asked->params, &wanted->top, error);
}

/* ---- one stage ---- */

typedef struct Scored {
    const Asked *asked;
    const Wanted *wanted;
    const SparkApp *app;
    const StageChoice *choice;
    const StageOperations *stage;
    OpScore *scores;
    gsize n_top;
    double *medians, *least, *most; /* by operation; NAN where no pipeline has it */
    double *saves_ms;               /* by operation */
    OpFigures *figures;
    StageFigures summary;
} Scored;

static const StageOperation *operation_at(const StageOperations *stage, guint32 i) {
    return &g_array_index(stage->operations, StageOperation, i);
}
static const Pipeline *pipeline_at(const StageOperations *stage, guint32 i) {
    return &g_array_index(stage->pipelines, Pipeline, i);
}
static const OpSpan *span_at(const StageOperations *stage, guint32 i) {
    return &g_array_index(stage->spans, OpSpan, i);
}

/* times: a row for each pipeline, NAN where it has no such operation. */
static void note_extremes(Scored *scored, const double *times) {
    const guint32 n_ops = scored->stage->operations->len;
    scored->least = g_new(double, n_ops + 1);
    scored->most = g_new(double, n_ops + 1);
    for (guint32 j = 0; j < n_ops; j++) scored->least[j] = scored->most[j] = NAN;
    for (gsize i = 0; i < (gsize)scored->stage->pipelines->len * n_ops; i++) {
        double *least = &scored->least[i % n_ops], *most = &scored->most[i % n_ops];
        if (isnan(times[i])) continue;
        if (isnan(*least) || times[i] < *least) *least = times[i];
        if (isnan(*most) || times[i] > *most) *most = times[i];
    }
}

/* Of each operation what the stage would have ended earlier by, had none of its instances taken longer than their
 * median. */
static void note_savings(Scored *scored) {
    const StageOperations *stage = scored->stage;
    const guint32 n = stage->pipelines->len, n_ops = stage->operations->len;
    g_autofree double *begins = g_new(double, n + 1), *took = g_new(double, n + 1), *less = g_new(double, n + 1);
    g_autofree guint32 *place = g_new(guint32, n + 1); /* in the order of their begin */
    for (guint32 i = 0; i < n; i++) {
        begins[i] = pipeline_at(stage, i)->begin_ms;
        less[i] = pipeline_at(stage, i)->duration_ms;
    }
    const guint32 slots = MAX(1, replay_slots(begins, less, n));
    replay_order(begins, n, place);
    for (guint32 i = 0; i < n; i++) took[place[i]] = less[i];

    const double whole = replay_ms(took, n, slots);
    scored->saves_ms = g_new0(double, n_ops + 1);
    for (guint32 j = 0; j < n_ops && allowance_goes_on(); j++) {
        memcpy(less, took, sizeof *less * n);
        for (guint32 i = 0; i < stage->spans->len; i++) {
            const OpSpan *span = span_at(stage, i);
            if (span->operation != j) continue;
            double *left = &less[place[span->pipeline]];
            *left = MAX(0, *left - MAX(0, span->span_ms - scored->medians[j]));
        }
        scored->saves_ms[j] = MAX(0, whole - replay_ms(less, n, slots));
    }
}

static void score(Scored *scored) {
    const StageOperations *stage = scored->stage;
    const guint32 n_pipelines = stage->pipelines->len, n_ops = stage->operations->len;
    g_autofree double *durations = g_new(double, n_pipelines + 1);
    const gsize n_times = (gsize)n_pipelines * n_ops;
    g_autofree double *times = g_new(double, n_times + 1);

    for (guint32 i = 0; i < n_pipelines; i++) durations[i] = pipeline_at(stage, i)->duration_ms;
    for (gsize i = 0; i < n_times; i++) times[i] = NAN; /* the pipeline has no such operation */
    for (guint32 i = 0; i < stage->spans->len; i++) {
        double *time = &times[(gsize)span_at(stage, i)->pipeline * n_ops + span_at(stage, i)->operation];
        *time = (isnan(*time) ? 0 : *time) + span_at(stage, i)->span_ms;
    }

    const StageOps ops = {durations,         n_pipelines,         n_ops, (const OpSpan *)stage->spans->data,
                          stage->spans->len, stage->resolution_ms};
    scored->scores = operation_scores(&ops);
    scored->medians = g_new0(double, n_ops + 1);
    operation_medians(&ops, scored->medians);
    note_extremes(scored, times);
    note_savings(scored);

    scored->n_top = top_count(stage->spans->len, scored->wanted->top);
    scored->figures = g_new0(OpFigures, n_ops + 1);
    for (guint32 j = 0; j < n_ops; j++)
        scored->figures[j].join_like = operation_is_join_like(operation_at(stage, j)->class_name);
    stage_figures(times, n_pipelines, n_ops, scored->figures, &scored->summary);
}

static void scored_clear(Scored *scored) {
    g_free(scored->scores);
    g_free(scored->medians);
    g_free(scored->least);
    g_free(scored->most);
    g_free(scored->saves_ms);
    g_free(scored->figures);
    stage_figures_clear(&scored->summary);
}

/* ---- JSON ---- */

static json_t *operations_json(const Scored *scored) {
    json_t *list = json_array();
    const guint32 n_ops = scored->stage->operations->len;
    g_autofree guint32 *on_top = g_new0(guint32, n_ops + 1);
    for (gsize i = 0; i < scored->n_top; i++) on_top[span_at(scored->stage, scored->scores[i].instance)->operation]++;

    for (guint32 j = 0; j < n_ops; j++) {
        const StageOperation *operation = operation_at(scored->stage, j);
        const OpFigures *figures = &scored->figures[j];
        json_t *object = json_object();
        json_add_operation(object, operation);

        json_object_set_new(object, "instances", json_integer(operation->instances));
        json_set_number(object, "mean_ms", figures->mean_ms);
        json_set_number(object, "std_ms", figures->deviation_ms);
        json_set_number(object, "median_ms", scored->medians[j]);
        if (!isnan(scored->least[j])) json_set_number(object, "min_ms", scored->least[j]);
        if (!isnan(scored->most[j])) json_set_number(object, "max_ms", scored->most[j]);
        json_set_number(object, "share", figures->share);
        json_set_number(object, "cv", figures->cv);
        json_set_number(object, "variance_share", figures->variance_share);
        json_set_number(object, "share_cv", figures->share_cv);
        json_set_number(object, "share_trend", figures->share_trend);
        json_object_set_new(object, "top_instances", json_integer(on_top[j]));
        json_set_number(object, "saves_ms", scored->saves_ms[j]);
        json_array_append_new(list, object);
    }

    return list;
}

static gboolean reads_hdfs(const char *class_name) {
    static const char *const classes[] = {"HadoopRDD", "NewHadoopRDD", "FileScanRDD", "DataSourceRDD"};
    const char *simple = class_name ? strrchr(class_name, '.') : NULL;
    simple = simple ? simple + 1 : class_name;
    for (guint i = 0; simple && i < G_N_ELEMENTS(classes); i++)
        if (strcmp(simple, classes[i]) == 0) return TRUE;
    return FALSE;
}

static gboolean has_trace(const Scored *scored, guint64 trace) {
    gboolean has = FALSE;
    return archive_has_trace(scored->asked->archive, trace, &has, NULL) && has;
}

static gboolean take_link(void *arg, const void *record) {
    json_t *list = arg;
    const SparkLink *link = record;
    json_t *object = json_object();
    json_object_set_new(object, "trace", json_trace_id((guint64)link->trace));
    json_object_set_new(object, "link", json_string(link_kind_name(link->kind)));
    json_set_number(object, "confidence", link->confidence);
    json_array_append_new(list, object);
    return json_array_size(list) < 16;
}

/* An operation that reads from HDFS: its trees. Under the agent they are in the task's own trace, below the operation's
 * span; else stored links tell. */
static void add_trees(const Scored *scored, json_t *object, const OpInstance *instance, gint64 task) {
    json_t *list = json_array();
    const guint64 own = task_trace_id(scored->app->id ? scored->app->id : scored->app->app, task);
    if (has_trace(scored, own)) {
        json_t *tree = json_object();
        json_object_set_new(tree, "trace", json_trace_id(own));
        json_object_set_new(tree, "link", json_string(link_kind_name(LINK_SCOPE)));
        if (scored->stage->source == OPERATION_AGENT)
            json_object_set_new(tree, "span", json_span_id((SpanId){own, (guint64)instance->id}));
        json_array_append_new(list, tree);
    } else {
        SparkSelect select = SPARK_SELECT(SPARK_LINK, scored->app->app);
        select.task = task;
        g_autoptr(SparkRecords) texts = spark_records_new();
        archive_spark_visit(scored->asked->archive, &select, texts, (SparkVisitor){take_link, list}, NULL);
    }
    json_object_set_new(object, "trees", list);
}

static json_t *top_json(const Scored *scored, json_t *stage_object) {
    json_t *list = json_array();
    const StageOperations *stage = scored->stage;
    const guint64 most = scored->wanted->limit ? scored->wanted->limit : G_MAXUINT64;

    for (gsize i = 0; i < scored->n_top; i++) {
        if (i >= most || i >= scored->asked->rows_max) {
            json_object_set_new(stage_object, "more", json_true());
            break;
        }

        const OpScore *item = &scored->scores[i];
        const OpSpan *span = span_at(stage, item->instance);
        const OpInstance *instance = &g_array_index(stage->instances, OpInstance, item->instance);
        const Pipeline *pipeline = pipeline_at(stage, span->pipeline);
        const StageOperation *operation = operation_at(stage, span->operation);

        json_t *object = json_object();
        json_object_set_new(object, "task", json_integer(pipeline->task));
        json_object_set_new(object, "partition", json_integer(pipeline->partition));
        json_object_set_new(object, "host", json_string(g_ptr_array_index(stage->hosts, pipeline->host)));
        json_add_operation(object, operation);
        json_set_number(object, "span_ms", span->span_ms);
        json_set_number(object, "pf_ms", item->pf_ms);
        json_set_number(object, "ss", item->ss);
        json_set_number(object, "is_ms2", item->is_ms2);
        if (instance->records >= 0) json_object_set_new(object, "records", json_integer(instance->records));
        if (reads_hdfs(operation->class_name)) add_trees(scored, object, instance, pipeline->task);
        json_array_append_new(list, object);
    }

    return list;
}

/* ---- clusters of the JVM's state ---- */

static json_t *features_json(const double *values) {
    json_t *object = json_object();
    for (guint f = 0; f < JVM_FEATURE_COUNT; f++)
        if (!isnan(values[f])) json_set_number(object, jvm_features[f].name, values[f]);
    return object;
}

static json_t *clusters_json(const KMeans *result) {
    json_t *object = json_object(), *list = json_array();
    for (guint c = 0; c < result->k; c++) {
        json_t *centre = json_object();
        json_object_set_new(centre, "instances", json_integer(result->sizes[c]));
        json_object_set_new(centre, "centre", features_json(result->centres + (gsize)c * result->n_features));
        json_array_append_new(list, centre);
    }
    json_object_set_new(object, "centres", list);
    json_set_number(object, "objective", result->objective);
    if (!result->others) return object;
    json_object_set_new(object, "others", features_json(result->others));
    json_object_set_new(object, "apart", features_json(result->apart));
    return object;
}

static gboolean any_known(const double *vectors, gsize n) {
    for (gsize i = 0; i < n * JVM_FEATURE_COUNT; i++)
        if (!isnan(vectors[i])) return TRUE;
    return FALSE;
}

/* Which of the features are apart beyond what chance gives. */
static void add_chance(const JvmChoice *choice, const double *vectors, gsize n, json_t *clusters) {
    g_autofree guint8 *tenths = stage_jvm_tenths(choice);
    const PermutationInput input = {.vectors = vectors,
                                    .n = n,
                                    .n_chosen = choice->n_first,
                                    .n_features = JVM_FEATURE_COUNT,
                                    .strata = tenths,
                                    .seed = CLUSTER_SEED};
    g_autofree double *p = permutation_p(&input);
    json_object_set_new(clusters, "apart_p", features_json(p));
}

/* How well other numbers of clusters would fit. */
static json_t *silhouettes_json(KMeansInput input) {
    json_t *object = json_object();
    for (input.k = SILHOUETTES_LEAST; input.k <= SILHOUETTES_MOST && allowance_goes_on(); input.k++) {
        g_autoptr(KMeans) result = kmeans_run(&input);
        char name[16];
        g_snprintf(name, sizeof name, "%u", input.k);
        if (result->k == input.k) json_set_number(object, name, result->silhouette);
    }
    return object;
}

static gboolean add_clusters(const Scored *scored, json_t *object, GError **error) {
    if (!scored->wanted->clusters || scored->n_top == 0) return TRUE;
    g_autofree guint32 *first = g_new(guint32, scored->n_top);
    for (gsize i = 0; i < scored->n_top; i++) first[i] = scored->scores[i].instance;
    const StageChoice *stage = scored->choice;
    const JvmChoice choice = {stage, scored->stage, first, scored->n_top, OTHERS_MAX};

    gsize n;
    g_autofree double *vectors = stage_jvm_vectors(scored->asked->archive, &choice, &n, error);
    if (!vectors) return FALSE;
    if (!any_known(vectors, scored->n_top)) return TRUE;

    const KMeansInput input = {.vectors = vectors,
                               .n = n,
                               .n_clustered = scored->n_top,
                               .n_features = JVM_FEATURE_COUNT,
                               .k = CLUSTERS,
                               .seed = CLUSTER_SEED,
                               .scale_by_most = scored->wanted->scale_by_most};
    g_autoptr(KMeans) result = kmeans_run(&input);
    if (!result) return TRUE;

    json_t *clusters = clusters_json(result);
    if (scored->n_top >= SILHOUETTES_OF_LEAST && scored->n_top <= SILHOUETTES_OF_MOST)
        json_object_set_new(clusters, "silhouettes", silhouettes_json(input));
    if (n > scored->n_top) add_chance(&choice, vectors, n, clusters);
    json_object_set_new(object, "clusters", clusters);
    return TRUE;
}

/* ---- stages ---- */

/* Of the pipelines whose run time is known: the share of it that lies in operations. */
static void add_coverage(json_t *object, const StageOperations *stage) {
    guint32 n = 0, low = 0;
    double run_ms = 0, covered_ms = 0;
    for (guint32 i = 0; i < stage->pipelines->len; i++) {
        const Pipeline *pipeline = pipeline_at(stage, i);
        if (pipeline->run_ms <= 0) continue;
        n++;
        run_ms += pipeline->run_ms;
        covered_ms += pipeline->covered_ms;
        low += pipeline->covered_ms < COVERAGE_LOW * pipeline->run_ms;
    }
    if (n == 0) return;
    json_set_number(object, "coverage", covered_ms / run_ms);
    json_object_set_new(object, "low_coverage_tasks", json_integer(low));
}

static json_t *stage_json(Scored *scored, GError **error) {
    const StageOperations *stage = scored->stage;
    const StagePattern pattern = stage_pattern(&scored->summary);
    json_t *object = json_object();

    json_object_set_new(object, "stage", json_integer(stage->stage));
    json_object_set_new(object, "stage_attempt", json_integer(stage->attempt));
    json_object_set_new(object, "pipelines", json_integer(stage->pipelines->len));
    json_object_set_new(object, "instances", json_integer(stage->spans->len));
    json_object_set_new(object, "source", json_string(operation_source_name(stage->source)));
    if (stage->not_read > 0) json_object_set_new(object, "tasks_not_read", json_integer(stage->not_read));
    add_coverage(object, stage);

    json_object_set_new(object, "pattern", json_string(stage_pattern_name(pattern)));
    json_object_set_new(object, "meaning", json_string(stage_pattern_meaning(pattern)));
    json_set_number(object, "others_cv", scored->summary.others_cv);
    json_object_set_new(object, "operations", operations_json(scored));
    json_object_set_new(object, "top_instances", json_integer((json_int_t)scored->n_top));
    json_object_set_new(object, "top", top_json(scored, object));

    if (add_clusters(scored, object, error)) return object;
    json_decref(object);
    return NULL;
}

/* Appends nothing for a stage without operations. */
static gboolean add_stage(Scored *scored, const StageChoice *choice, json_t *list, GError **error) {
    g_autoptr(StageOperations) stage = stage_operations_load(scored->asked->archive, choice, error);
    if (!stage) return FALSE;
    if (stage->spans->len == 0) return TRUE;
    scored->choice = choice;
    scored->stage = stage;
    score(scored);
    json_t *object = stage_json(scored, error);
    scored_clear(scored);
    if (object) json_array_append_new(list, object);
    return object != NULL;
}

static json_t *stages_json(const Asked *asked, const Wanted *wanted, const SparkApp *app, GError **error) {
    g_autoptr(GArray) stages = stage_choices_load(asked->archive, app, wanted->stage, error);
    if (!stages) return NULL;
    json_t *list = json_array();
    Scored scored = {.asked = asked, .wanted = wanted, .app = app};
    for (guint i = 0; i < stages->len; i++) {
        const StageChoice *choice = &g_array_index(stages, StageChoice, i);
        if (wanted->attempt >= 0 && choice->attempt != wanted->attempt) continue;
        if (add_stage(&scored, choice, list, error)) continue;
        json_decref(list);
        return NULL;
    }
    if (app_stage_names_add(asked->archive, app->app, &list, 1, error)) return list;
    json_decref(list);
    return NULL;
}

json_t *answer_operations(const Asked *asked, GError **error) {
    Wanted wanted;
    if (!parse(asked, &wanted, error)) return NULL;
    g_autofree char *key = asked_app(asked, error);
    if (!key) return NULL;

    SparkSelect select = SPARK_SELECT(SPARK_APP, key);
    g_autoptr(SparkRecords) records = spark_records_new();
    if (!archive_spark_load(asked->archive, &select, records, error)) return NULL;

    if (records->of[SPARK_APP]->len == 0) { /* removed since */
        fail(error, PLUMB_ERROR_NOT_FOUND, "no application \"%s\"", key);
        return NULL;
    }

    const SparkApp *app = spark_app(records, 0);
    json_t *stages = stages_json(asked, &wanted, app, error);
    if (!stages) return NULL;

    json_t *answer = json_object();
    json_object_set_new(answer, "app", json_string(app->app));
    json_add_text(answer, "name", app->name);
    json_set_number(answer, "top_share", wanted.top);
    json_object_set_new(answer, "stages", stages);
    return answer;
}
