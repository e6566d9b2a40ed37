/* The accounts at one moment (docs/plumbd.md, "Accounting"). */
#pragma once

#include "receiver/state/state.h"

typedef struct AccountReport {
    AccountSums sums;
    guint64 refused;  /* since the start */
    gboolean settled; /* nothing moved while they were read: then 'open' is what shards hold, exactly */
    gboolean agree;
} AccountReport;
/* Looks again for some milliseconds when spans move. */
AccountReport account_report_read(const StateSources *sources);
