#include "analyzer/diagnosis/ledger/ledger_causes.h"

#include <stdlib.h>

LedgerOptions ledger_options(void) { return (LedgerOptions){.lambda_p = 1.6, .lambda_w = 0.5}; }

/* What is named beside the greatest cause has one of so many parts of that. */
#define BESIDE 2

/* ---- accounts ---- */

static const FeatureTopic topic_of[ACCOUNT_COUNT] = {
    [ACCOUNT_DATA] = TOPIC_DATA,       [ACCOUNT_WORK] = TOPIC_DATA,       [ACCOUNT_GC] = TOPIC_JVM,
    [ACCOUNT_DESERIALIZE] = TOPIC_JVM, [ACCOUNT_SERIALIZE] = TOPIC_JVM,   [ACCOUNT_RESULT] = TOPIC_JVM,
    [ACCOUNT_SCHEDULER] = TOPIC_JVM,   [ACCOUNT_HDFS] = TOPIC_HDFS,       [ACCOUNT_CPU] = TOPIC_CPU,
    [ACCOUNT_DISK] = TOPIC_DISK,       [ACCOUNT_NETWORK] = TOPIC_NETWORK,
};

static LedgerAccount account_of_load(FeatureTopic topic) {
    return topic == TOPIC_CPU ? ACCOUNT_CPU : topic == TOPIC_DISK ? ACCOUNT_DISK : ACCOUNT_NETWORK;
}

typedef struct Sum {
    gint64 ns, usual_ns; /* beside ns, what is no cause since it is usual */
    gint64 most_ns;      /* of what has most of ns: */
    LedgerPart part;
    gint load;
} Sum;

static void sum_add(Sum *sum, LedgerPart part, gint64 ns, gint load) {
    sum->ns += ns;
    if (ns <= sum->most_ns) return;
    sum->most_ns = ns;
    sum->part = part;
    sum->load = load;
}

/* What was measured, but for a part that a load takes. */
static void add_measured(const Ledger *ledger, LedgerPart taken, Sum *sums) {
    for (guint k = 0; k < ACCOUNT_COUNT; k++) sums[k] = (Sum){.load = -1};
    for (guint k = 0; k < LEDGER_PART_COUNT; k++) {
        const LedgerAccount account = ledger_account((LedgerPart)k);
        if (k != taken && account != ACCOUNT_NONE) sum_add(&sums[account], (LedgerPart)k, ledger->more_ns[k], -1);
    }
    for (guint k = 0; k < ACCOUNT_COUNT; k++)
        if (sums[k].ns <= ledger->varies_ns[k]) sums[k] = (Sum){.usual_ns = MAX(0, sums[k].ns), .load = -1};
}

/* ---- what is left to the host's resources ---- */

/* The part of a load that is beyond the peers'. */
static double beyond(const LedgerLoad *load) { return load->above ? 1 - load->usual / load->value : 0; }

/* The load of the processors; -1: it is not above. */
static gint cpu_load(LedgerLoads loads) {
    for (guint i = 0; i < loads.n; i++)
        if (loads.items[i].topic == TOPIC_CPU && loads.items[i].above) return (gint)i;
    return -1;
}

/* That is told from what is usual by the load. */
static void leave_to_loads(const Ledger *ledger, LedgerLoads loads, gint cpu, Sum *sums) {
    double all = 0;
    for (guint i = 0; i < loads.n; i++) all += beyond(&loads.items[i]);
    const gint64 left_ns = MAX(0, ledger->more_ns[LEDGER_UNEXPLAINED]);
    for (guint i = 0; i < loads.n; i++) {
        if (!loads.items[i].above) continue;
        const gint64 ns = (gint64)(beyond(&loads.items[i]) / all * (double)left_ns);
        sum_add(&sums[account_of_load(loads.items[i].topic)], LEDGER_UNEXPLAINED, ns, (gint)i);
    }
    if (cpu >= 0) sum_add(&sums[ACCOUNT_CPU], LEDGER_PROCESSOR, MAX(0, ledger->more_ns[LEDGER_PROCESSOR]), cpu);
}

/* ---- causes ---- */

static gint most_first(gconstpointer a, gconstpointer b) {
    const LedgerCause *x = a, *y = b;
    if (x->explains_ns != y->explains_ns) return x->explains_ns > y->explains_ns ? -1 : 1;
    return (gint)x->part - (gint)y->part;
}

void ledger_decide(const Ledger *ledger, LedgerLoads loads, const LedgerOptions *options, guint32 straggler,
                   GArray *found) {
    const gint64 excess_ns = ledger_excess_ns(ledger);
    if (excess_ns <= 0 || ledger->peers == 0) return;

    Sum sums[ACCOUNT_COUNT];
    const gint cpu = cpu_load(loads);
    add_measured(ledger, cpu >= 0 ? LEDGER_PROCESSOR : LEDGER_PART_COUNT, sums);
    leave_to_loads(ledger, loads, cpu, sums);

    const double least_ns = MAX(1, options->lambda_w * (double)excess_ns);
    const gboolean data_alone = (double)sums[ACCOUNT_DATA].ns >= least_ns && ledger->duration_ns <= ledger->bound_ns;
    LedgerCause causes[ACCOUNT_COUNT];
    gint64 most_ns = 0;
    guint n = 0;
    const guint looked_at = data_alone ? ACCOUNT_DATA + 1 : ACCOUNT_COUNT;
    for (guint k = 0; k < looked_at; k++) most_ns = MAX(most_ns, sums[k].ns + sums[k].usual_ns);
    for (guint k = 0; k < looked_at; k++) {
        const gint64 ns = sums[k].ns;
        const gboolean small = (double)ns < least_ns || ns < most_ns / BESIDE;
        if (ns <= 0 || (small && !options->small)) continue;
        causes[n++] =
            (LedgerCause){straggler, sums[k].part, topic_of[k], MIN(ns, excess_ns), excess_ns, sums[k].load, small};
    }

    if (n == 0) return;
    const guint before = found->len;
    g_array_append_vals(found, causes, n);
    qsort(&g_array_index(found, LedgerCause, before), n, sizeof(LedgerCause), most_first);
}
