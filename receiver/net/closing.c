#include "receiver/net/closing.h"

#include "receiver/secure/transport.h"
#include "receiver/shared/log.h"

static gboolean is_refused_login(Counter reason) {
    return reason == COUNTER_CLOSED_TLS || reason == COUNTER_CLOSED_PLAIN || reason == COUNTER_CLOSED_TLS_HERE ||
           reason == COUNTER_CLOSED_NO_LOGIN;
}

/* Behind the reason: what its word does not say. */
static const char *more_of(Counter reason) {
    if (reason == COUNTER_CLOSED_TLS) return transport_reason();
    if (reason == COUNTER_FRAME_GARBAGE)
        return "no request of this port begins so (HTTP, as OTLP's, is for listen.http)";
    return "";
}

void closing_tell(const ClosingPort *port, const PeerPlace *place, const char *principal, Counter reason) {
    static LogLimit limit;
    if (atomic_load(&place->gave_way)) reason = COUNTER_CLOSED_GAVE_WAY;
    if (reason == COUNTER_COUNT) return;
    counter_add(port->counters, reason, 1);
    const char *more = more_of(reason);
    g_autofree char *why = g_strconcat(counter_info(reason).reason, *more != '\0' ? ": " : "", more, NULL);
    log_limited(&limit, LOG_LEVEL_WARNING, "connection of %s closed: %s", peer_place_name(place), why);
    if (!is_refused_login(reason)) return;
    const AuditEvent event = {.action = AUDIT_LOGIN_REFUSED,
                              .port = port->name,
                              .principal = principal,
                              .address = peer_place_name(place),
                              .outcome = why};
    audit_note(port->audit, &event);
}
