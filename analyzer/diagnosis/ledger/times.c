#include "analyzer/diagnosis/ledger/times.h"

#include <math.h>

const char *ledger_part_name(LedgerPart part) {
    static const char *const names[] = {"data",         "processor",     "processor_wait", "gc",
                                        "shuffle_wait", "shuffle_write", "hdfs_disk",      "hdfs_network",
                                        "hdfs_lock",    "hdfs_server",   "hdfs_sleep",     "deserialize",
                                        "serialize",    "result",        "scheduler",      "unexplained"};
    G_STATIC_ASSERT(G_N_ELEMENTS(names) == LEDGER_PART_COUNT);
    return names[part];
}

/* ---- what parts speak of ---- */

LedgerAccount ledger_account(LedgerPart part) {
    static const LedgerAccount accounts[] = {
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
        [LEDGER_HDFS_SLEEP] = ACCOUNT_HDFS,
        [LEDGER_DESERIALIZE] = ACCOUNT_DESERIALIZE,
        [LEDGER_SERIALIZE] = ACCOUNT_SERIALIZE,
        [LEDGER_RESULT] = ACCOUNT_RESULT,
        [LEDGER_SCHEDULER] = ACCOUNT_SCHEDULER,
        [LEDGER_UNEXPLAINED] = ACCOUNT_NONE,
    };
    G_STATIC_ASSERT(G_N_ELEMENTS(accounts) == LEDGER_PART_COUNT);
    return accounts[part];
}

void ledger_accounts(const gint64 parts_ns[LEDGER_PART_COUNT], gint64 accounts_ns[ACCOUNT_COUNT]) {
    for (guint k = 0; k < ACCOUNT_COUNT; k++) accounts_ns[k] = 0;
    for (guint k = 0; k < LEDGER_PART_COUNT; k++) {
        const LedgerAccount account = ledger_account((LedgerPart)k);
        if (account != ACCOUNT_NONE) accounts_ns[account] += parts_ns[k];
    }
}

/* ---- the split ---- */

static const LedgerPart around_run[] = {LEDGER_DESERIALIZE, LEDGER_SERIALIZE, LEDGER_RESULT};
static const LedgerPart waits[] = {LEDGER_PROCESSOR_WAIT, LEDGER_GC,          LEDGER_SHUFFLE_WAIT,
                                   LEDGER_SHUFFLE_WRITE,  LEDGER_HDFS_DISK,   LEDGER_HDFS_NETWORK,
                                   LEDGER_HDFS_LOCK,      LEDGER_HDFS_SERVER, LEDGER_HDFS_SLEEP};

gboolean ledger_part_of_run(LedgerPart part) {
    return part != LEDGER_DATA && part != LEDGER_DESERIALIZE && part != LEDGER_SERIALIZE && part != LEDGER_RESULT &&
           part != LEDGER_SCHEDULER;
}

/* How much must be traced for a part to be known; event logs tell the others. */
static LedgerTraced traced_for(LedgerPart part) {
    if (part == LEDGER_PROCESSOR_WAIT) return TRACED_PROCESSOR;
    return part >= LEDGER_HDFS_DISK && part <= LEDGER_HDFS_SLEEP ? TRACED_HDFS : TRACED_NOTHING;
}

/* As much of it as there is. */
static gint64 take(gint64 wanted, gint64 *left) {
    const gint64 taken = CLAMP(wanted, 0, *left);
    *left -= taken;
    return taken;
}

/* The waits of the run, of which left_ns is not the processor's; what is left of it then. */
static gint64 split_waits(const TaskTimes *times, gint64 left_ns, LedgerTraced traced, gint64 *parts_ns) {
    const gint64 whole_ns = left_ns;
    unsigned __int128 sum = 0;
    for (guint i = 0; i < G_N_ELEMENTS(waits); i++) {
        parts_ns[waits[i]] = traced >= traced_for(waits[i]) ? CLAMP(times->measured_ns[waits[i]], 0, whole_ns) : 0;
        sum += (guint64)parts_ns[waits[i]];
    }

    for (guint i = 0; i < G_N_ELEMENTS(waits); i++) {
        gint64 *part = &parts_ns[waits[i]];
        if (sum > (unsigned __int128)whole_ns) *part = (gint64)((unsigned __int128)*part * (guint64)whole_ns / sum);
        left_ns -= *part;
    }
    return left_ns;
}

void ledger_split(const TaskTimes *times, gint64 duration_ns, LedgerTraced traced, gint64 parts_ns[LEDGER_PART_COUNT]) {
    gint64 left_ns = MAX(duration_ns, 0);
    for (guint i = 0; i < LEDGER_PART_COUNT; i++) parts_ns[i] = 0;

    gint64 run_ns = take(times->run_ns, &left_ns);
    for (guint i = 0; i < G_N_ELEMENTS(around_run); i++)
        parts_ns[around_run[i]] = take(times->measured_ns[around_run[i]], &left_ns);
    if (times->run_ns < 0)
        run_ns = left_ns;
    else
        parts_ns[LEDGER_SCHEDULER] = left_ns;

    parts_ns[LEDGER_PROCESSOR] = take(times->measured_ns[LEDGER_PROCESSOR], &run_ns);
    parts_ns[LEDGER_UNEXPLAINED] = split_waits(times, run_ns, traced, parts_ns);
}

/* ---- of which tasks ---- */

struct LedgerTimes {
    guint32 count;
    guint32 *place; /* of each row, from 1; 0: none */
    GArray *times;  /* TaskTimes */
};

static void add_row(LedgerTimes *times, guint32 row) {
    if (times->place[row]) return;
    TaskTimes fresh = {.run_ns = -1, .bytes = NAN, .records = NAN};
    for (guint i = 0; i < LEDGER_PART_COUNT; i++) fresh.measured_ns[i] = -1;
    g_array_append_val(times->times, fresh);
    times->place[row] = times->times->len;
}

LedgerTimes *ledger_times_new(const TaskTable *table, const Stragglers *stragglers) {
    LedgerTimes *times = g_new0(LedgerTimes, 1);
    *times = (LedgerTimes){table->count, g_new0(guint32, MAX(table->count, 1)), NULL};
    times->times = g_array_new(FALSE, FALSE, sizeof(TaskTimes));
    for (guint32 i = 0; i < stragglers->count; i++) add_row(times, stragglers->list[i].task);

    for (guint32 s = 0; s < stragglers->n_stages; s++) {
        const StageTasks *stage = &stragglers->stages[s];
        const guint32 n = stage->n_stragglers > 0 ? MIN(stage->n, LEDGER_PEERS) : 0;
        for (guint32 i = 0; i < n; i++)
            add_row(times, stragglers->order[stage->first + (guint32)((guint64)i * stage->n / n)]);
    }
    return times;
}

void ledger_times_free(LedgerTimes *times) {
    if (!times) return;
    g_free(times->place);
    g_array_unref(times->times);
    g_free(times);
}

TaskTimes *ledger_times_at(const LedgerTimes *times, guint32 row) {
    const guint32 place = row < times->count ? times->place[row] : 0;
    return place ? &g_array_index(times->times, TaskTimes, place - 1) : NULL;
}

gsize ledger_times_bytes(const LedgerTimes *times) {
    return times->count * sizeof(guint32) + times->times->len * sizeof(TaskTimes);
}
