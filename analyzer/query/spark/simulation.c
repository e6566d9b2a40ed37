#include "analyzer/query/spark/simulation.h"

#include <math.h>

#include "analyzer/diagnosis/advise/what_if.h"
#include "analyzer/query/spark/tasks/asked_app.h"
#include "common/base/allowance.h"

/* With so many the knee is at the least number whose time is within a tenth of that of the most. */
#define KNEE_TIMES     1.1
#define EXECUTORS_MOST 1024u

/* 1, 2, 3, 4, 6, 8, 12, 16, ... */
static guint next_number(guint n) {
    guint power = 1;
    while (2 * power <= n) power *= 2;
    return n < 4 ? n + 1 : n == power ? n + power / 2 : 2 * power;
}

static guint most_at_once(const SimApp *sim) {
    guint most = 1;
    for (guint i = 0; i < sim->stages->len; i++) most = MAX(most, g_array_index(sim->stages, SimStage, i).tasks);
    return most;
}

typedef struct Cluster {
    double cores; /* of an executor */
    guint slots, executors;
} Cluster;

/* As it was: executors of the size of the first, as many as could run most tasks at once. */
static Cluster cluster_of(const AdviseFacts *facts) {
    const double cpus = MAX(advise_number(facts, "spark.task.cpus"), 1);
    const guint known = facts->executors->len > 0 ? g_array_index(facts->executors, AdviseExecutor, 0).cores : 0;
    const double cores = known > 0 ? known : cpus;
    Cluster cluster = {cores, MAX((guint)(cores / cpus), 1), 1};
    cluster.executors = MAX((guint)ceil((double)facts->slots / cluster.slots), 1);
    return cluster;
}

typedef struct Row {
    guint executors;
    double time_ms;
} Row;

static GArray *rows_of(const SimApp *sim, const Cluster *cluster) {
    const guint enough = (most_at_once(sim) + cluster->slots - 1) / cluster->slots;
    const guint last = MAX(MIN(enough, EXECUTORS_MOST), cluster->executors);
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(Row));
    for (guint n = 1, told = 0; allowance_goes_on(); n = next_number(n)) {
        const guint between[] = {cluster->executors, last, n};
        for (guint i = 0; i < G_N_ELEMENTS(between); i++) {
            if (between[i] <= told || between[i] > MIN(n, last)) continue;
            const Row row = {between[i], sim_app_time(sim, between[i] * cluster->slots)};
            g_array_append_val(rows, row);
            told = between[i];
        }
        if (told >= last) return rows;
    }
    return rows;
}

static guint knee_of(const GArray *rows) {
    double least_ms = INFINITY;
    for (guint i = 0; i < rows->len; i++) least_ms = MIN(least_ms, g_array_index(rows, Row, i).time_ms);
    for (guint i = 0; i < rows->len; i++)
        if (g_array_index(rows, Row, i).time_ms <= KNEE_TIMES * least_ms) return g_array_index(rows, Row, i).executors;
    return 1;
}

/* Without what each rule found. */
static json_t *what_if_json(const AdviseFacts *facts, const SimApp *sim, const Advice *advice, guint slots) {
    json_t *list = json_array();
    const double as_it_was_ms = sim_app_time(sim, slots);
    g_autoptr(GArray) found = what_ifs(sim, facts, advice, slots);
    for (guint i = 0; i < found->len; i++) {
        const WhatIf *what = &g_array_index(found, WhatIf, i);
        json_t *one = json_object();
        json_add_text(one, "rule", what->rule);
        json_object_set_new(one, "stages", json_count(what->stages));
        json_object_set_new(one, "time_ns", json_ns_of_ms(what->time_ms));
        json_object_set_new(one, "saves_ns", json_ns_of_ms(as_it_was_ms - what->time_ms));
        json_array_append_new(list, one);
    }
    return list;
}

void json_add_simulation(json_t *answer, const AdviseFacts *facts, const SimApp *sim, const Advice *advice) {
    const Cluster cluster = cluster_of(facts);
    const double cpus = MAX(advise_number(facts, "spark.task.cpus"), 1), work_ms = sim_app_work(sim) * cpus;
    g_autoptr(GArray) rows = rows_of(sim, &cluster);
    json_t *object = json_object(), *list = json_array();
    for (guint i = 0; i < rows->len; i++) {
        const Row *row = &g_array_index(rows, Row, i);
        const double held_ms = row->time_ms * row->executors * cluster.cores;
        json_t *one = json_object();
        json_object_set_new(one, "executors", json_count(row->executors));
        json_object_set_new(one, "time_ns", json_ns_of_ms(row->time_ms));
        json_object_set_new(one, "held_ns", json_ns_of_ms(held_ms));
        if (held_ms > 0) json_object_set_new(one, "busy_share", json_real(work_ms / held_ms));
        json_array_append_new(list, one);
    }

    json_object_set_new(object, "executors", json_count(cluster.executors));
    json_object_set_new(object, "executor_slots", json_count(cluster.slots));
    json_object_set_new(object, "measured_ns", json_ns_of_ms((double)(facts->end_ms - facts->begin_ms)));
    json_object_set_new(object, "driver_ns", json_ns_of_ms(sim->driver_ms));
    json_object_set_new(object, "start_ns", json_ns_of_ms(sim->start_ms));
    json_object_set_new(object, "critical_ns", json_ns_of_ms(sim_app_time(sim, 0)));
    json_object_set_new(object, "knee", json_count(knee_of(rows)));
    json_object_set_new(object, "rows", list);
    json_object_set_new(object, "what_if", what_if_json(facts, sim, advice, cluster.executors * cluster.slots));
    json_object_set_new(answer, "simulation", object);
}
