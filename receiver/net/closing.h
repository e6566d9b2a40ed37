/* What is said of a connection of a sender that we close, or let end: it is counted by its reason and logged, and a
 * login that was refused is in the audit log. */
#pragma once

#include "receiver/secure/audit.h"
#include "receiver/shared/counters.h"
#include "receiver/shared/shares.h"

/* Who closes it: one thread of one port. */
typedef struct ClosingPort {
    const char *name;
    Counters *counters;
    Audit *audit; /* NULL: none */
} ClosingPort;

/* principal: who has logged in; NULL: nobody. COUNTER_COUNT: the peer closed it, in order, and nothing is said. For
 * COUNTER_CLOSED_TLS, before anything else is done with OpenSSL. */
void closing_tell(const ClosingPort *port, const PeerPlace *place, const char *principal, Counter reason);
