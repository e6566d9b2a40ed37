#include "analyzer/diagnosis/ledger/ledger.h"

#include <string.h>

#include "common/base/clock.h"

/* Of one stage, by what is traced. */
typedef struct StageKnown {
    gboolean known[N_TRACED];
    StageUsual usual[N_TRACED];
} StageKnown;

struct Ledgers {
    const TaskTable *table;
    const Stragglers *stragglers;
    const LedgerTimes *times;
    StageKnown **stages; /* NULL: not asked for yet */
};

Ledgers *ledgers_new(const TaskTable *table, const Stragglers *stragglers, const LedgerTimes *times) {
    Ledgers *ledgers = g_new0(Ledgers, 1);
    *ledgers = (Ledgers){table, stragglers, times, g_new0(StageKnown *, MAX(stragglers->n_stages, 1))};
    return ledgers;
}

void ledgers_free(Ledgers *ledgers) {
    if (!ledgers) return;
    for (guint32 s = 0; s < ledgers->stragglers->n_stages; s++) g_free(ledgers->stages[s]);
    g_free(ledgers->stages);
    g_free(ledgers);
}

static const StageUsual *usual_of(Ledgers *ledgers, guint32 stage, LedgerTraced traced) {
    if (!ledgers->stages[stage]) ledgers->stages[stage] = g_new0(StageKnown, 1);
    StageKnown *known = ledgers->stages[stage];
    if (!known->known[traced]) {
        known->known[traced] = TRUE;
        known->usual[traced] = stage_usual(ledgers->table, ledgers->stragglers, ledgers->times, stage, traced);
    }
    return &known->usual[traced];
}

static gboolean is_known(const TaskTimes *times, LedgerPart part) {
    return part == LEDGER_SCHEDULER ? times->run_ns >= 0 : times->measured_ns[part] >= 0;
}

/* What is expected beyond the usual is shared out among the parts of the run, in proportion: what no other part gets,
 * rounded, is the unexplained one's. So is all that is expected of parts that are not known of the task: it has them,
 * too, and nobody measured them. */
static void compare(const StageUsual *usual, const TaskTimes *times, gint64 data_ns, Ledger *ledger) {
    gint64 run_ns = 0, left_ns = data_ns;
    for (guint k = 0; k < LEDGER_PART_COUNT; k++)
        if (ledger_part_of_run((LedgerPart)k)) run_ns += usual->parts_ns[k];

    for (guint k = 0; k < LEDGER_PART_COUNT; k++) {
        gint64 expected_ns = usual->parts_ns[k];
        if (k == LEDGER_UNEXPLAINED) {
            expected_ns += left_ns;
        } else if (run_ns > 0 && ledger_part_of_run((LedgerPart)k)) {
            const gint64 share_ns = (gint64)((__int128)data_ns * usual->parts_ns[k] / run_ns);
            expected_ns += share_ns;
            left_ns -= share_ns;
        }
        if (k != LEDGER_UNEXPLAINED && !is_known(times, (LedgerPart)k)) {
            left_ns += expected_ns;
            expected_ns = 0;
        }
        ledger->more_ns[k] = ledger->time_ns[k] - expected_ns;
    }
    ledger->more_ns[LEDGER_DATA] = data_ns;
    memcpy(ledger->varies_ns, usual->varies_ns, sizeof ledger->varies_ns);
}

gboolean ledgers_of(Ledgers *ledgers, guint32 row, Ledger *ledger) {
    const TaskTimes *times = ledger_times_at(ledgers->times, row);
    if (!times) return FALSE;

    const guint32 stage = ledgers->table->stage[row];
    const StageUsual *usual = usual_of(ledgers, stage, TRACED_NOTHING);
    Ledger result = {.traced = task_times_traced(times)};
    for (; result.traced > TRACED_NOTHING; result.traced--) {
        const StageUsual *traced = usual_of(ledgers, stage, result.traced);
        if (traced->n < LEDGER_TRACED_PEERS) continue;
        usual = traced;
        break;
    }

    const double duration_ms = task_duration_ms(ledgers->table, row), most_ms = (double)(G_MAXINT64 / 4 / NS_PER_MS);
    result.duration_ns = (gint64)MIN(duration_ms, most_ms) * NS_PER_MS;
    result.usual_ns = usual->duration_ns;
    result.peers = usual->n;
    ledger_split(times, result.duration_ns, result.traced, result.time_ns);
    if (usual->n > 0) {
        compare(usual, times, CLAMP(usual_more_ns(usual, times), 0, MAX(ledger_excess_ns(&result), 0)), &result);
        result.bound_ns = usual_bound_ns(usual, times);
    } else {
        result.more_ns[LEDGER_UNEXPLAINED] = ledger_excess_ns(&result);
    }
    *ledger = result;
    return TRUE;
}
