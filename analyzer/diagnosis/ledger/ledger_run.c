#include "analyzer/diagnosis/ledger/ledger_run.h"

#include <math.h>

#include "analyzer/diagnosis/ledger/robust.h"
#include "analyzer/diagnosis/order.h"
#include "analyzer/diagnosis/peers.h"
#include "analyzer/diagnosis/scale.h"
#include "common/base/allowance.h"

/* The peers' median when the value is far enough above it and lower than 'usual'; else that. */
static double lower(double usual, const PeerFigures *peers, double value, double lambda_p, double least) {
    const gboolean above =
        peers->n > 0 && order_above(value, peers->median * lambda_p) && order_above(value, peers->median + least);
    return above ? MIN(usual, peers->median) : usual;
}

/* Sets the loads of one resource: of straggler i it is loads[i * step]. */
static void find_loads(const LedgerInput *input, guint resource, guint step, LedgerLoad *loads) {
    const TaskTable *table = input->table;
    const guint feature = input->foreign->features[resource];
    const double *values = input->foreign->values[resource];
    const FeatureTopic topic = task_feature(table, feature)->topic;
    g_autoptr(Peers) peers = peers_new(table, input->stragglers);
    gsize n;
    g_autofree double *known = feature_known(table, values, &n);
    const double least = LEDGER_DEVIATIONS * robust_deviation(known, (guint32)n), p = input->options.lambda_p;

    for (guint32 s = 0; s < input->stragglers->n_stages; s++) {
        const StageTasks *stage = &input->stragglers->stages[s];
        if (stage->n_stragglers > 0) peers_load(peers, stage, values);
        for (guint32 i = 0; i < stage->n_stragglers && allowance_goes_on(); i++) {
            const guint32 straggler = stage->first_straggler + i, task = input->stragglers->list[straggler].task;
            const double value = values[task];
            PeerFigures others, same_host;
            peers_of(peers, task, &others, &same_host);
            const double usual = lower(lower(INFINITY, &others, value, p, least), &same_host, value, p, least);
            const gboolean above = value > 0 && isfinite(usual);
            loads[(gsize)straggler * step] = (LedgerLoad){feature, topic, above, value, above ? usual : NAN};
        }
    }
}

GArray *ledger_run(const LedgerInput *input, LedgerLoad **loads) {
    const guint n_loads = input->foreign->n;
    GArray *found = g_array_new(FALSE, FALSE, sizeof(LedgerCause));
    LedgerLoad *set = g_new0(LedgerLoad, (gsize)input->stragglers->count * n_loads + 1);
    for (guint i = 0; i < n_loads && allowance_goes_on_with(input->table->count * sizeof(double)); i++)
        find_loads(input, i, n_loads, set + i);

    for (guint32 i = 0; i < input->stragglers->count && allowance_goes_on(); i++) {
        Ledger ledger;
        if (!ledgers_of(input->ledgers, input->stragglers->list[i].task, &ledger)) continue;
        ledger_decide(&ledger, (LedgerLoads){set + (gsize)i * n_loads, n_loads}, &input->options, i, found);
    }

    *loads = set;
    return found;
}
