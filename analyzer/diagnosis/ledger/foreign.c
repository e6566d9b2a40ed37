#include "analyzer/diagnosis/ledger/foreign.h"

#include <math.h>

#include "analyzer/diagnosis/ledger/robust.h"
#include "analyzer/diagnosis/order.h"
#include "common/base/allowance.h"

/* What all tasks of one host use a ms, from one begin or end of a task to the next. */
typedef struct Steps {
    guint32 n;
    double *at_ms, *rate, *until; /* from at_ms on; until: the integral before at_ms */
} Steps;

/* Of a task, while they are made. */
#define STEP_BYTES (2 * (2 * sizeof(OrderItem) + 3 * sizeof(double)))

static void steps_clear(Steps *steps) {
    g_free(steps->at_ms);
    g_free(steps->rate);
    g_free(steps->until);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Steps, steps_clear)

/* Rows of the table, those of one host together: of host h they are [first[h], first[h + 1]). */
typedef struct ByHost {
    guint32 *first, *rows;
} ByHost;

static void by_host_clear(ByHost *by_host) {
    g_free(by_host->first);
    g_free(by_host->rows);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ByHost, by_host_clear)

static ByHost rows_by_host(const TaskTable *table) {
    ByHost result = {g_new0(guint32, (gsize)table->n_hosts + 1), g_new(guint32, MAX(table->count, 1))};
    for (guint32 i = 0; i < table->count; i++) result.first[table->host[i] + 1]++;
    for (guint32 host = 0; host < table->n_hosts; host++) result.first[host + 1] += result.first[host];
    g_autofree guint32 *next = g_memdup2(result.first, sizeof(guint32) * ((gsize)table->n_hosts + 1));
    for (guint32 i = 0; i < table->count; i++) result.rows[next[table->host[i]]++] = i;
    return result;
}

static double rate_of(const TaskTable *table, const double *use, guint32 row) {
    const double duration_ms = task_duration_ms(table, row);
    return use[row] > 0 && duration_ms > 0 ? use[row] / duration_ms : 0;
}

static Steps steps_of(const TaskTable *table, const double *use, const guint32 *rows, guint32 n) {
    g_autofree OrderItem *items = g_new(OrderItem, 2 * (gsize)n + 1), *scratch = g_new(OrderItem, 2 * (gsize)n + 1);
    guint32 count = 0;
    for (guint32 i = 0; i < n; i++) {
        if (rate_of(table, use, rows[i]) <= 0) continue;
        items[count++] = (OrderItem){(double)table->begin_ms[rows[i]], 2 * i};
        items[count++] = (OrderItem){(double)table->end_ms[rows[i]], 2 * i + 1};
    }
    order_sort(items, scratch, count);

    Steps steps = {count, g_new(double, count + 1), g_new(double, count + 1), g_new(double, count + 1)};
    double rate = 0, until = 0;
    for (guint32 i = 0; i < count; i++) {
        const double change = rate_of(table, use, rows[items[i].index / 2]);
        if (i > 0) until += rate * (items[i].value - items[i - 1].value);
        rate = MAX(0, rate + (items[i].index % 2 ? -change : change)); /* rounding */
        steps.at_ms[i] = items[i].value;
        steps.rate[i] = rate;
        steps.until[i] = until;
    }
    return steps;
}

/* Used by all tasks from the first on until then. */
static double used_until(const Steps *steps, double at_ms) {
    guint32 low = 0, high = steps->n;
    while (low < high) {
        const guint32 middle = low + (high - low) / 2;
        if (steps->at_ms[middle] <= at_ms)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? 0 : steps->until[low - 1] + steps->rate[low - 1] * (at_ms - steps->at_ms[low - 1]);
}

/* Of each row what all tasks of its host used a ms while it ran. */
static void find_used(const TaskTable *table, const double *use, double *used) {
    const gsize all_bytes = (table->count + 2 * ((gsize)table->n_hosts + 1)) * sizeof(guint32);
    gsize held = all_bytes;
    allowance_charge(held);
    g_auto(ByHost) by_host = rows_by_host(table);
    for (guint32 host = 0; host < table->n_hosts && allowance_goes_on(); host++) {
        const guint32 *rows = by_host.rows + by_host.first[host], n = by_host.first[host + 1] - by_host.first[host];
        allowance_hold(&held, all_bytes + n * STEP_BYTES);
        if (allowance_over()) break;
        g_auto(Steps) steps = steps_of(table, use, rows, n);
        for (guint32 i = 0; i < n && allowance_goes_on(); i++) {
            const double duration_ms = task_duration_ms(table, rows[i]), begin_ms = (double)table->begin_ms[rows[i]];
            if (duration_ms <= 0) continue;
            const double whole = used_until(&steps, begin_ms + duration_ms) - used_until(&steps, begin_ms);
            used[rows[i]] = MAX(0, whole / duration_ms);
        }
    }
    allowance_hold(&held, 0);
}

/* What one unit a ms loads a host by; not below 0. */
static double load_of_unit(const TaskTable *table, const double *used, const double *loads) {
    if (allowance_over()) return 0;
    g_autofree double *x = g_new(double, MAX(table->count, 1)), *y = g_new(double, MAX(table->count, 1));
    guint32 n = 0;
    for (guint32 i = 0; i < table->count; i++) {
        if (!(table->flags[i] & ROW_COUNTED) || isnan(loads[i])) continue;
        x[n] = used[i];
        y[n++] = loads[i];
    }
    return MAX(0, slope_median((Points){x, y, n}));
}

double *foreign_load(const TaskTable *table, guint feature, const double *use) {
    const double *loads = task_feature(table, feature)->values;
    gsize held = 0;
    allowance_hold(&held, table->count * 3 * sizeof(double)); /* of used, x and y */
    g_autofree double *used = g_new0(double, MAX(table->count, 1));
    find_used(table, use, used);
    const double unit = load_of_unit(table, used, loads);
    allowance_release(held);
    double *foreign = g_new(double, MAX(table->count, 1));
    for (guint32 i = 0; i < table->count; i++) foreign[i] = isnan(loads[i]) ? NAN : MAX(0, loads[i] - unit * used[i]);
    return foreign;
}
