#include "receiver/state/account_report.h"

#include <string.h>
#include <time.h>

#include "common/base/clock.h"

/* How often, and with what pauses, to look for a moment at which nothing moves. Under load there may be none. */
#define ATTEMPTS 5
#define PAUSE_NS (2 * NS_PER_MS)

typedef struct Look {
    AccountSums sums;
    gint64 held;       /* spans that shards say they hold */
    gint64 stored;     /* spans that the store says it holds */
    gboolean negative; /* more of a process were stored than came */
} Look;

static void look_at(void *arg, guint32 tracer, const AccountSums *sums) {
    (void)tracer;
    Look *look = arg;
    if (sums->open < 0 || sums->stored < 0) look->negative = TRUE;
}

static gboolean shards_wait(const StateSources *sources) {
    for (guint i = 0; i < sources->n_shards; i++)
        if (shard_state(sources->shards[i]).mailbox_bytes > 0) return FALSE;
    return TRUE;
}

/* TRUE: nothing moved meanwhile. */
static gboolean look(const StateSources *sources, Look *found) {
    gboolean moved, moving;
    guint64 epoch = accounts_epoch(sources->accounts, &moved);
    moved = moved || !shards_wait(sources);
    *found = (Look){.stored = (gint64)archive_totals(sources->archive).spans};
    accounts_read(sources->accounts, look_at, found, &found->sums);
    for (guint i = 0; i < sources->n_shards; i++) found->held += (gint64)shard_state(sources->shards[i]).spans;
    moved = moved || found->stored != (gint64)archive_totals(sources->archive).spans;
    return !moved && shards_wait(sources) && epoch == accounts_epoch(sources->accounts, &moving) && !moving;
}

static guint64 refused_spans(const StateSources *sources) {
    guint64 refused = 0;
    for (int i = COUNTER_REFUSED; i <= COUNTER_REFUSED_LAST; i++) {
        const char *reason = counter_info((Counter)i).reason;
        if (reason[0] != '\0') refused += counter_set_sum(sources->counters, (Counter)i);
    }
    return refused;
}

AccountReport account_report_read(const StateSources *sources) {
    Look found;
    gboolean settled = look(sources, &found);
    for (guint i = 1; !settled && i < ATTEMPTS; i++) {
        struct timespec pause = {.tv_nsec = PAUSE_NS};
        nanosleep(&pause, NULL);
        settled = look(sources, &found);
    }
    AccountReport accounts = {.sums = found.sums, .refused = refused_spans(sources), .settled = settled};
    accounts.agree = !found.negative;
    if (settled) accounts.agree &= found.sums.open == found.held && found.sums.stored == found.stored;
    return accounts;
}
