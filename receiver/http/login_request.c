#include "receiver/http/login_request.h"

#include <string.h>

#include "common/base/clock.h"

static void refuse(const LoginSources *sources, HttpRequest *request, const char *peer, const char *why) {
    const AuditEvent event = {
        .action = AUDIT_LOGIN_REFUSED, .port = "http", .address = peer, .route = request->path, .outcome = why};
    counter_add(sources->counters, COUNTER_HTTP_BAD_LOGIN, 1);
    audit_note(sources->audit, &event);
    request->refused = g_strconcat("this needs a login: ", why, NULL);
}

static char *by_ticket(const LoginSources *sources, HttpRequest *request, const char *peer, char **negotiated) {
    g_autoptr(Kerberos) kerberos = security_kerberos(sources->security);
    g_autoptr(GError) error = NULL;
    if (kerberos == NULL) return NULL;
    char *principal = kerberos_negotiate(kerberos, request->authorization, negotiated, &error);
    if (principal == NULL) refuse(sources, request, peer, error->message);
    return principal;
}

static char *by_token(const LoginSources *sources, HttpRequest *request, const char *peer, TokenMark *mark) {
    g_autofree char *user = NULL, *token = NULL, *cookie = login_cookie(request->cookie), *found = NULL;
    if (login_parse(request->authorization, &user, &token)) {
        found = security_token(sources->security, user, token, mark);
        explicit_bzero(token, strlen(token));
        if (found == NULL) refuse(sources, request, peer, "there is no such token, or it has ended");
    } else if (cookie != NULL) {
        found = g_strdup(sessions_find(sources->sessions, cookie, clock_monotonic_ns(clock_system()), mark));
    }
    return found != NULL && security_knows(sources->security, found, *mark) ? g_steal_pointer(&found) : NULL;
}

char *request_login(const LoginSources *sources, HttpRequest *request, const char *peer, char **negotiated,
                    TokenMark *token) {
    const char *authorization = request->authorization;
    *negotiated = NULL;
    if (authorization != NULL && kerberos_is_negotiate(authorization))
        return by_ticket(sources, request, peer, negotiated);
    return sources->secret ? by_token(sources, request, peer, token) : NULL;
}

const char *request_login_needed(const HttpRequest *request) {
    return request->refused != NULL ? request->refused : "this needs a login: see docs/security.md";
}
