#include "receiver/net/closing.h"

#include "receiver/secure/transport.h"
#include "receiver/shared/log.h"

static gboolean is_refused_login(Counter reason) {
    return reason == COUNTER_CLOSED_TLS || reason == COUNTER_CLOSED_PLAIN || reason == COUNTER_CLOSED_TLS_HERE ||
           reason == COUNTER_CLOSED_NO_LOGIN;
}

void closing_tell(const ClosingPort *port, const PeerPlace *place, const char *principal, Counter reason) {
    static LogLimit limit;
    if (atomic_load(&place->gave_way)) reason = COUNTER_CLOSED_GAVE_WAY;
    if (reason == COUNTER_COUNT) return;
    counter_add(port->counters, reason, 1);
    const gboolean tls = reason == COUNTER_CLOSED_TLS;
    g_autofree char *why =
        g_strconcat(counter_info(reason).reason, tls ? ": " : "", tls ? transport_reason() : "", NULL);
    log_limited(&limit, LOG_LEVEL_WARNING, "connection of %s closed: %s", peer_place_name(place), why);
    if (!is_refused_login(reason)) return;
    const AuditEvent event = {.action = AUDIT_LOGIN_REFUSED,
                              .port = port->name,
                              .principal = principal,
                              .address = peer_place_name(place),
                              .outcome = why};
    audit_note(port->audit, &event);
}
