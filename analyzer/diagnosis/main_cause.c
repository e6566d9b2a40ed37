#include "analyzer/diagnosis/main_cause.h"

/* A cause is named before others when it explains this share of the excess. */
#define MAIN_SHARE 0.5

/* The median task of the stage had about the peers' amount. */
static double more_data_ms(const Evidence *evidence, double usual, double duration_ms) {
    const double median_ms = duration_ms - evidence->excess_ms;
    return usual > 0 ? median_ms * (evidence->value / usual - 1) : duration_ms;
}

double cause_explains_ms(const Evidence *evidence, const TaskTable *table, guint32 task,
                         const BigRootsOptions *options) {
    const double usual = evidence_usual(evidence, options), duration_ms = task_duration_ms(table, task);
    double explained = 0;
    switch (task_feature(table, evidence->feature)->kind) {
    case FEATURE_WAIT: explained = evidence->value - usual; break;
    case FEATURE_TIME: explained = (evidence->value - usual) * duration_ms; break;
    case FEATURE_NUMERIC: explained = more_data_ms(evidence, usual, duration_ms); break;
    case FEATURE_RESOURCE: explained = evidence->value > 0 ? duration_ms * (1 - usual / evidence->value) : 0; break;
    case FEATURE_DISCRETE: break;
    }
    return CLAMP(explained, 0, MAX(evidence->excess_ms, 0));
}

/* The higher is named first. */
static int rank_of(const Evidence *evidence, const TaskTable *table, double explained_ms) {
    const Feature *feature = task_feature(table, evidence->feature);
    const gboolean measured = feature->kind == FEATURE_WAIT || feature->kind == FEATURE_TIME;
    if (measured && explained_ms >= MAIN_SHARE * evidence->excess_ms) return 3;
    if (feature->kind == FEATURE_NUMERIC && feature->topic != TOPIC_HDFS) return 2;
    return feature->kind == FEATURE_DISCRETE ? 0 : 1;
}

gint main_cause(const Evidence *evidence, guint n, const TaskTable *table, const BigRootsOptions *options,
                guint32 task) {
    gint best = -1;
    int best_rank = 0;
    double most = 0;
    for (guint i = 0; i < n; i++) {
        if (evidence[i].verdict != VERDICT_CAUSE) continue;
        const double explained = cause_explains_ms(&evidence[i], table, task, options);
        const FeatureKind kind = task_feature(table, evidence[i].feature)->kind;
        if (kind == FEATURE_NUMERIC && explained < MAIN_LEAST * evidence[i].excess_ms) continue;
        const int rank = rank_of(&evidence[i], table, explained);
        if (best >= 0 && (rank < best_rank || (rank == best_rank && explained <= most))) continue;
        best = (gint)i;
        best_rank = rank;
        most = explained;
    }
    return best;
}

gboolean cause_explains_most(const Evidence *evidence, const TaskTable *table, guint32 task,
                             const BigRootsOptions *options) {
    return cause_explains_ms(evidence, table, task, options) >= MAIN_SHARE * evidence->excess_ms;
}
