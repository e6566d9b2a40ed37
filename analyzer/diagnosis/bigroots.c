#include "analyzer/diagnosis/bigroots.h"

#include <math.h>

#include "analyzer/diagnosis/order.h"
#include "analyzer/diagnosis/peers.h"
#include "analyzer/diagnosis/scale.h"
#include "common/base/allowance.h"

BigRootsOptions bigroots_options(gboolean edge_detection) {
    return (BigRootsOptions){
        .lambda_p = edge_detection ? 1.6 : 2.2,
        .lambda_q = 0.9,
        .lambda_t = 0.2,
        .lambda_e = 0.7,
        .lambda_w = 0.5,
        .window_ms = 5000,
        .edge_detection = edge_detection,
        .peers = PEER_MEDIAN,
        .keep = KEEP_NEAR,
    };
}

const char *verdict_name(Verdict verdict) {
    static const char *const names[] = {"cause", "quantile", "share",      "no-peers", "peers",
                                        "edge",  "local",    "normal-too", "small"};
    G_STATIC_ASSERT(G_N_ELEMENTS(names) == VERDICT_COUNT);
    return names[verdict];
}

/* ---- the rules ---- */

static double peers_figure(const PeerFigures *peers, const BigRootsOptions *options) {
    return options->peers == PEER_MEAN ? peers->mean : peers->median;
}

static gboolean over_peers(double value, const PeerFigures *peers, const BigRootsOptions *options) {
    return peers->n > 0 && order_above(value, peers_figure(peers, options) * options->lambda_p);
}

static Verdict decide_locality(const Evidence *evidence) {
    if (evidence->value != 2) return VERDICT_LOCAL;
    if (evidence->others.n == 0) return VERDICT_NO_PEERS;
    /* The sum of the normal tasks below half their number is their mean below a half. */
    return evidence->others.mean < 0.5 ? VERDICT_CAUSE : VERDICT_NORMAL_TOO;
}

double evidence_usual(const Evidence *evidence, const BigRootsOptions *options) {
    double usual = INFINITY;
    if (evidence->over_others) usual = MIN(usual, peers_figure(&evidence->others, options));
    if (evidence->over_same_host) usual = MIN(usual, peers_figure(&evidence->same_host, options));
    return isfinite(usual) ? usual : 0;
}

static Verdict decide_wait(const Evidence *evidence, const BigRootsOptions *options) {
    if (evidence->others.n + evidence->same_host.n == 0) return VERDICT_NO_PEERS;
    if (!evidence->over_others && !evidence->over_same_host) return VERDICT_PEERS;
    const double more = evidence->value - evidence_usual(evidence, options);
    return more >= options->lambda_w * evidence->excess_ms ? VERDICT_CAUSE : VERDICT_SMALL;
}

Verdict bigroots_decide(Evidence *evidence, FeatureKind kind, const BigRootsOptions *options) {
    if (kind == FEATURE_DISCRETE) return decide_locality(evidence);
    const double value = evidence->value;
    evidence->over_others = over_peers(value, &evidence->others, options);
    evidence->over_same_host = over_peers(value, &evidence->same_host, options);
    if (kind == FEATURE_WAIT) return decide_wait(evidence, options);
    if (!order_above(value, evidence->quantile)) return VERDICT_QUANTILE;
    if (kind == FEATURE_TIME && !(value > options->lambda_t)) return VERDICT_SHARE;
    if (evidence->others.n + evidence->same_host.n == 0) return VERDICT_NO_PEERS;
    if (!evidence->over_others && !evidence->over_same_host) return VERDICT_PEERS;
    /* Without samples before or after the task nothing says that the load came and went with it: NAN is not below. */
    const double bound = options->lambda_e * value;
    const gboolean own =
        kind == FEATURE_RESOURCE && options->edge_detection && evidence->head < bound && evidence->tail < bound;
    return own ? VERDICT_EDGE : VERDICT_CAUSE;
}

/* ---- figures ---- */

typedef struct Run {
    const TaskTable *table;
    const Stragglers *stragglers;
    const BigRootsOptions *options;
    GArray *found;
    Peers *peers;
    guint feature;
    FeatureKind kind;
    const double *values; /* F of the feature */
    double quantile;
} Run;

static void keep(Run *run, Evidence *evidence) {
    evidence->verdict = (guint8)bigroots_decide(evidence, run->kind, run->options);
    const EvidenceKept kept = run->options->keep;
    const gboolean early = evidence->verdict == VERDICT_QUANTILE || evidence->verdict == VERDICT_LOCAL;
    if (evidence->verdict != VERDICT_CAUSE && (kept == KEEP_CAUSES || (kept == KEEP_NEAR && early))) return;
    g_array_append_val(run->found, *evidence);
}

static void look_around(const Run *run, Evidence *evidence) {
    const Feature *feature = task_feature(run->table, run->feature);
    const guint32 task = run->stragglers->list[evidence->straggler].task;
    const UsageSeries *series = feature->series[run->table->host[task]];
    if (series == NULL) return;
    const gint64 begin_ms = run->table->begin_ms[task], end_ms = MAX(begin_ms, run->table->end_ms[task]);
    evidence->head = usage_mean(series, begin_ms - run->options->window_ms, begin_ms);
    evidence->tail = usage_mean(series, end_ms, end_ms + run->options->window_ms);
}

static Evidence evidence_on(const Run *run, guint32 straggler) {
    const guint32 task = run->stragglers->list[straggler].task;
    return (Evidence){
        .straggler = straggler,
        .feature = (guint16)run->feature,
        .raw = task_feature(run->table, run->feature)->values[task],
        .value = run->values[task],
        .quantile = run->quantile,
        .others = {0, NAN, NAN},
        .same_host = {0, NAN, NAN},
        .head = NAN,
        .tail = NAN,
    };
}

static void test_stage(Run *run, const StageTasks *stage) {
    gboolean loaded = FALSE;
    for (guint32 i = 0; i < stage->n_stragglers && allowance_goes_on(); i++) {
        const guint32 straggler = stage->first_straggler + i, task = run->stragglers->list[straggler].task;
        const double value = run->values[task];
        const gboolean low = run->kind == FEATURE_WAIT ? value <= 0 : !order_above(value, run->quantile);
        if (isnan(value) || (low && run->options->keep != KEEP_ALL)) continue;
        if (!loaded) peers_load(run->peers, stage, run->values);
        loaded = TRUE;
        Evidence evidence = evidence_on(run, straggler);
        peers_of(run->peers, task, &evidence.others, &evidence.same_host);
        if (run->kind == FEATURE_RESOURCE) look_around(run, &evidence);
        evidence.excess_ms = task_duration_ms(run->table, task) - stage->median_ms;
        keep(run, &evidence);
    }
}

/* ---- locality ---- */

/* The normal tasks of a stage: counted, and no stragglers. */
static PeerFigures normal_tasks(const Run *run, const StageTasks *stage) {
    const guint32 *order = run->stragglers->order + stage->first;
    double sum = 0;
    guint32 n = 0, next = stage->first_straggler, end = next + stage->n_stragglers;
    for (guint32 i = 0; i < stage->n; i++) {
        const gboolean straggles = next < end && run->stragglers->list[next].task == order[i];
        next += straggles; /* stragglers come in the order of the tasks */
        if (straggles || !(run->table->flags[order[i]] & ROW_COUNTED) || isnan(run->values[order[i]])) continue;
        sum += run->values[order[i]];
        n++;
    }
    return (PeerFigures){n, n > 0 ? sum / n : NAN, NAN};
}

static void test_locality(Run *run, const StageTasks *stage) {
    if (stage->n_stragglers == 0) return;
    const PeerFigures normal = normal_tasks(run, stage);
    for (guint32 i = 0; i < stage->n_stragglers; i++) {
        Evidence evidence = evidence_on(run, stage->first_straggler + i);
        evidence.others = normal;
        if (!isnan(evidence.value)) keep(run, &evidence);
    }
}

GArray *bigroots_run(const TaskTable *table, const Stragglers *stragglers, const BigRootsOptions *options) {
    Run run = {table, stragglers, options, g_array_new(FALSE, FALSE, sizeof(Evidence)), NULL, 0, 0, NULL, 0};
    g_autoptr(Peers) peers = run.peers = peers_new(table, stragglers);

    for (guint f = 0; f < table->features->len && allowance_goes_on_with(table->count * sizeof(double)); f++) {
        g_autofree double *values = feature_scaled(table, stragglers, f);
        run.feature = f;
        run.kind = task_feature(table, f)->kind;
        run.values = values;
        run.quantile = 0;

        if (run.kind != FEATURE_DISCRETE) {
            gsize n;
            g_autofree double *known = feature_known(table, values, &n);
            run.quantile = order_quantile(known, n, options->lambda_q);
        }

        for (guint32 s = 0; s < stragglers->n_stages; s++) {
            if (run.kind == FEATURE_DISCRETE)
                test_locality(&run, &stragglers->stages[s]);
            else
                test_stage(&run, &stragglers->stages[s]);
        }
    }

    return run.found;
}
