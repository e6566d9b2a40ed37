#include "analyzer/query/spark/normals.h"

#include <math.h>

#include "analyzer/query/spans/functions.h"
#include "common/base/clock.h"

const char *pace_name(Pace pace) {
    static const char *const names[] = {"unknown", "normal", "slow"};
    return names[pace];
}

void normals_clear(Normals *normals) {
    for (guint i = 0; i < NORMAL_COUNT; i++) node_stats_clear(&normals->of[i]);
}

/* Statistics of a period, host by host: those of 'host', and of all others. */
static gboolean load_period(Archive *archive, const NormalAsk *ask, NodeStats *there, NodeStats *elsewhere,
                            GError **error) {
    const FunctionFilter filter = {
        .period = ask->period, .roles = ALL_ROLES, .function = ask->function, .by_host = TRUE};
    g_autoptr(GArray) rows = function_rows_new();
    if (!function_rows_load(archive, &filter, rows, error)) return FALSE;
    for (guint i = 0; i < rows->len; i++) {
        const FunctionRow *row = &g_array_index(rows, FunctionRow, i);
        node_stats_merge(row->host == ask->host ? there : elsewhere, &row->stats);
    }
    return TRUE;
}

Period normal_hour(gint64 time_ns) {
    const gint64 hour_ns = 60 * NS_PER_MINUTE, since_ns = time_ns - time_ns % hour_ns;
    return (Period){since_ns, since_ns + hour_ns};
}

gboolean normals_load(Archive *archive, const NormalAsk *ask, Normals *normals, GError **error) {
    const gint64 since_ns = ask->period.since_ns;
    const NormalAsk before = {ask->function, ask->host, {since_ns - 24 * 60 * NS_PER_MINUTE, since_ns}};
    g_auto(Normals) read = {.period = ask->period};
    NodeStats *of = read.of;
    for (guint i = 0; i < NORMAL_COUNT; i++) node_stats_init(&of[i]);

    if (!load_period(archive, ask, &of[NORMAL_THERE], &of[NORMAL_ELSEWHERE], error)) return FALSE;
    if (of[NORMAL_ELSEWHERE].duration.count == 0 &&
        !load_period(archive, &before, &of[NORMAL_BEFORE], &of[NORMAL_ELSEWHERE], error))
        return FALSE;
    node_stats_merge(&of[NORMAL_ALL], &of[NORMAL_THERE]);
    node_stats_merge(&of[NORMAL_ALL], &of[NORMAL_ELSEWHERE]);

    *normals = read;
    for (guint i = 0; i < NORMAL_COUNT; i++) node_stats_init(&of[i]); /* they are the caller's now */
    return TRUE;
}

void json_add_normals(json_t *object, Archive *archive, Normals *normals) {
    static const char *const names[NORMAL_COUNT] = {"normal", "normal_on_host", "normal_elsewhere", "normal_before"};
    json_add_period(object, archive, normals->period, TRUE);
    for (guint i = 0; i < NORMAL_COUNT; i++) {
        if (normals->of[i].duration.count == 0) continue;
        json_t *measure = json_object();
        measure_add(measure, &normals->of[i]);
        json_object_set_new(object, names[i], measure);
    }
}

static double floor_of(PaceOf of) { return of == PACE_OF_SELF ? 0 : PACE_CRITICAL_FLOOR_NS; }

static double mean_of(PaceOf of, const NodeStats *stats) {
    const gint64 ns = of == PACE_OF_SELF ? stats->self_ns : stats->critical_ns;
    return (double)ns / (double)stats->duration.count + floor_of(of);
}

PaceFound normals_pace(const Normals *normals, PaceOf of, gint64 ns, guint64 calls) {
    static const NormalOf bases[] = {NORMAL_ELSEWHERE, NORMAL_BEFORE};
    for (guint i = 0; i < G_N_ELEMENTS(bases) && calls > 0; i++) {
        const NodeStats *usual = &normals->of[bases[i]];
        if (usual->duration.count == 0) continue;
        const double mean_ns = (double)ns / (double)calls + floor_of(of), usual_ns = mean_of(of, usual);
        const gboolean self = of == PACE_OF_SELF;
        const double deviation_ns = self ? dist_stddev(&usual->duration) : usual_ns;
        const double bound_ns = PACE_ERRORS * deviation_ns / sqrt((double)calls);
        const gboolean slow =
            mean_ns >= (self ? PACE_TIMES : PACE_TIMES_CRITICAL) * usual_ns && mean_ns - usual_ns > bound_ns;
        return (PaceFound){slow ? PACE_SLOW : PACE_NORMAL, bases[i], usual_ns,
                           usual_ns > 0 ? mean_ns / usual_ns : INFINITY};
    }
    return (PaceFound){.pace = PACE_UNKNOWN};
}

PaceFound normals_pace_there(const Normals *normals, PaceOf of) {
    const NodeStats *there = &normals->of[NORMAL_THERE];
    return normals_pace(normals, of, of == PACE_OF_SELF ? there->self_ns : there->critical_ns, there->duration.count);
}
