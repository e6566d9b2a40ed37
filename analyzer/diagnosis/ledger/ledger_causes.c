#include "analyzer/diagnosis/ledger/ledger_causes.h"

#include <stdlib.h>

LedgerOptions ledger_options(void) { return (LedgerOptions){.lambda_p = 1.6, .lambda_w = 0.5}; }

/* What is named beside the greatest cause has one of so many parts of that. */
#define BESIDE 2

/* ---- what parts speak of ---- */

typedef enum Account {
    ACCOUNT_DATA,
    ACCOUNT_WORK,
    ACCOUNT_GC,
    ACCOUNT_DESERIALIZE,
    ACCOUNT_SERIALIZE,
    ACCOUNT_RESULT,
    ACCOUNT_SCHEDULER,
    ACCOUNT_HDFS,
    ACCOUNT_CPU,
    ACCOUNT_DISK,
    ACCOUNT_NETWORK,
    ACCOUNT_COUNT,
    ACCOUNT_NONE = ACCOUNT_COUNT
} Account;

static const Account account_of[LEDGER_PART_COUNT] = {
    [LEDGER_DATA] = ACCOUNT_DATA,
    [LEDGER_PROCESSOR] = ACCOUNT_WORK,
    [LEDGER_PROCESSOR_WAIT] = ACCOUNT_CPU,
    [LEDGER_GC] = ACCOUNT_GC,
    [LEDGER_SHUFFLE_WAIT] = ACCOUNT_NETWORK,
    [LEDGER_SHUFFLE_WRITE] = ACCOUNT_DISK,
    [LEDGER_HDFS_DISK] = ACCOUNT_HDFS,
    [LEDGER_HDFS_NETWORK] = ACCOUNT_HDFS,
    [LEDGER_HDFS_LOCK] = ACCOUNT_HDFS,
    [LEDGER_HDFS_SERVER] = ACCOUNT_HDFS,
    [LEDGER_DESERIALIZE] = ACCOUNT_DESERIALIZE,
    [LEDGER_SERIALIZE] = ACCOUNT_SERIALIZE,
    [LEDGER_RESULT] = ACCOUNT_RESULT,
    [LEDGER_SCHEDULER] = ACCOUNT_SCHEDULER,
    [LEDGER_UNEXPLAINED] = ACCOUNT_NONE,
};

static const FeatureTopic topic_of[ACCOUNT_COUNT] = {
    [ACCOUNT_DATA] = TOPIC_DATA,       [ACCOUNT_WORK] = TOPIC_DATA,       [ACCOUNT_GC] = TOPIC_JVM,
    [ACCOUNT_DESERIALIZE] = TOPIC_JVM, [ACCOUNT_SERIALIZE] = TOPIC_JVM,   [ACCOUNT_RESULT] = TOPIC_JVM,
    [ACCOUNT_SCHEDULER] = TOPIC_JVM,   [ACCOUNT_HDFS] = TOPIC_HDFS,       [ACCOUNT_CPU] = TOPIC_CPU,
    [ACCOUNT_DISK] = TOPIC_DISK,       [ACCOUNT_NETWORK] = TOPIC_NETWORK,
};

static Account account_of_load(FeatureTopic topic) {
    return topic == TOPIC_CPU ? ACCOUNT_CPU : topic == TOPIC_DISK ? ACCOUNT_DISK : ACCOUNT_NETWORK;
}

typedef struct Sum {
    gint64 ns, unusual_ns, most_ns; /* unusual: of unusual parts; most: of the greatest of these */
    LedgerPart part;
    gint load;
} Sum;

/* What is left to a load has been told from what is usual by that. */
static void sum_add(Sum *sum, const Ledger *ledger, LedgerPart part, gint64 ns, gint load) {
    if (ns <= 0) return;
    sum->ns += ns;
    if (load < 0 && ledger->more_ns[part] <= ledger->varies_ns[part]) return;
    sum->unusual_ns += ns;
    if (ns <= sum->most_ns) return;
    sum->most_ns = ns;
    sum->part = part;
    sum->load = load;
}

/* ---- what is left to the host's resources ---- */

/* The part of a load that is beyond the peers'. */
static double beyond(const LedgerLoad *load) { return load->above ? 1 - load->usual / load->value : 0; }

static void leave_to_loads(const Ledger *ledger, LedgerLoads loads, Sum *sums) {
    double all = 0;
    gint cpu = -1;
    for (guint i = 0; i < loads.n; i++) {
        all += beyond(&loads.items[i]);
        if (loads.items[i].topic == TOPIC_CPU && loads.items[i].above) cpu = (gint)i;
    }

    for (guint i = 0; i < loads.n; i++) {
        if (!loads.items[i].above) continue;
        const gint64 ns = (gint64)(beyond(&loads.items[i]) / all * (double)ledger->more_ns[LEDGER_UNEXPLAINED]);
        sum_add(&sums[account_of_load(loads.items[i].topic)], ledger, LEDGER_UNEXPLAINED, ns, (gint)i);
    }

    const Account work = cpu >= 0 ? ACCOUNT_CPU : ACCOUNT_WORK;
    sum_add(&sums[work], ledger, LEDGER_PROCESSOR, ledger->more_ns[LEDGER_PROCESSOR], cpu);
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
    for (guint k = 0; k < ACCOUNT_COUNT; k++) sums[k] = (Sum){.load = -1};
    for (guint k = 0; k < LEDGER_PART_COUNT; k++)
        if (k != LEDGER_PROCESSOR && account_of[k] != ACCOUNT_NONE)
            sum_add(&sums[account_of[k]], ledger, (LedgerPart)k, ledger->more_ns[k], -1);
    leave_to_loads(ledger, loads, sums);

    const double least_ns = MAX(1, options->lambda_w * (double)excess_ns);
    const gboolean data_alone = (double)sums[ACCOUNT_DATA].ns >= least_ns && ledger->duration_ns <= ledger->bound_ns;
    LedgerCause causes[ACCOUNT_COUNT];
    gint64 most_ns = 0;
    guint n = 0;
    const guint looked_at = data_alone ? ACCOUNT_DATA + 1 : ACCOUNT_COUNT;
    for (guint k = 0; k < looked_at; k++) most_ns = MAX(most_ns, sums[k].ns);
    for (guint k = 0; k < looked_at; k++) {
        const gint64 ns = sums[k].unusual_ns;
        const gboolean small = (double)ns < least_ns || ns < most_ns / BESIDE;
        if (ns == 0 || (small && !options->small)) continue;
        causes[n++] =
            (LedgerCause){straggler, sums[k].part, topic_of[k], MIN(ns, excess_ns), excess_ns, sums[k].load, small};
    }

    if (n == 0) return;
    const guint before = found->len;
    g_array_append_vals(found, causes, n);
    qsort(&g_array_index(found, LedgerCause, before), n, sizeof(LedgerCause), most_first);
}
