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

/* The hour, host by host. */
static gboolean load_hour(Archive *archive, const FunctionFilter *filter, guint32 host, Normals *normals,
                          GError **error) {
    g_autoptr(GArray) rows = function_rows_new();
    if (!function_rows_load(archive, filter, rows, error)) return FALSE;
    for (guint i = 0; i < rows->len; i++) {
        const FunctionRow *row = &g_array_index(rows, FunctionRow, i);
        node_stats_merge(&normals->of[NORMAL_ALL], &row->stats);
        node_stats_merge(&normals->of[row->host == host ? NORMAL_THERE : NORMAL_ELSEWHERE], &row->stats);
    }
    return TRUE;
}

static gboolean load_before(Archive *archive, FunctionFilter filter, guint32 host, Normals *normals, GError **error) {
    g_autoptr(GArray) rows = function_rows_new();
    filter.host = host;
    filter.period = (Period){filter.period.since_ns - 24 * 60 * NS_PER_MINUTE, filter.period.since_ns};
    if (!function_rows_load(archive, &filter, rows, error)) return FALSE;
    for (guint i = 0; i < rows->len; i++)
        node_stats_merge(&normals->of[NORMAL_BEFORE], &g_array_index(rows, FunctionRow, i).stats);
    return TRUE;
}

gboolean normals_load(Archive *archive, const NormalAsk *ask, Normals *normals, GError **error) {
    const gint64 hour_ns = 60 * NS_PER_MINUTE, since_ns = ask->begin_ns - ask->begin_ns % hour_ns;
    const guint32 host = ask->host;
    const FunctionFilter filter = {
        .period = {since_ns, since_ns + hour_ns},
        .roles = ALL_ROLES,
        .function = ask->function,
        .by_host = TRUE,
    };
    g_auto(Normals) read = {.period = filter.period};
    for (guint i = 0; i < NORMAL_COUNT; i++) node_stats_init(&read.of[i]);
    if (!load_hour(archive, &filter, host, &read, error)) return FALSE;
    if (host && read.of[NORMAL_ELSEWHERE].duration.count == 0 && !load_before(archive, filter, host, &read, error))
        return FALSE;

    *normals = read;
    for (guint i = 0; i < NORMAL_COUNT; i++) node_stats_init(&read.of[i]); /* they are the caller's now */
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

PaceFound normals_pace(const Normals *normals, double self_ns, guint64 calls) {
    static const NormalOf bases[] = {NORMAL_ELSEWHERE, NORMAL_BEFORE};
    for (guint i = 0; i < G_N_ELEMENTS(bases) && calls > 0; i++) {
        const NodeStats *usual = &normals->of[bases[i]];
        const guint64 n = usual->duration.count;
        if (n == 0) continue;
        const double usual_ns = (double)usual->self_ns / (double)n;
        const double bound_ns = PACE_ERRORS * dist_stddev(&usual->duration) / sqrt((double)calls);
        const gboolean slow = self_ns >= PACE_TIMES * usual_ns && self_ns - usual_ns > bound_ns;
        return (PaceFound){slow ? PACE_SLOW : PACE_NORMAL, bases[i], usual_ns,
                           usual_ns > 0 ? self_ns / usual_ns : INFINITY};
    }
    return (PaceFound){.pace = PACE_UNKNOWN};
}
