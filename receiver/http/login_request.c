#include "receiver/http/login_request.h"

#include <string.h>

#include "common/base/clock.h"

void login_tell_refused(const LoginSources *sources, const char *path, const char *peer, const char *why) {
    const AuditEvent event = {
        .action = AUDIT_LOGIN_REFUSED, .port = "http", .address = peer, .route = path, .outcome = why};
    counter_add(sources->counters, COUNTER_HTTP_BAD_LOGIN, 1);
    audit_note(sources->audit, &event);
}

void request_refuse_login(HttpRequest *request, const char *why) {
    request->refused = g_strconcat("this needs a login: ", why, NULL);
}

gboolean request_shows_ticket(const HttpRequest *request) {
    return request->authorization != NULL && kerberos_is_negotiate(request->authorization);
}

static void refuse_token(const LoginSources *sources, HttpRequest *request, const char *peer) {
    static const char why[] = "there is no such token, or it has ended";
    login_tell_refused(sources, request->path, peer, why);
    request_refuse_login(request, why);
}

static char *by_token(const LoginSources *sources, HttpRequest *request, const char *peer, TokenMark *mark) {
    g_autofree char *user = NULL, *token = NULL, *cookie = login_cookie(request->cookie), *found = NULL;
    if (login_parse(request->authorization, &user, &token)) {
        found = security_token(sources->security, user, token, mark);
        explicit_bzero(token, strlen(token));
        if (found == NULL) refuse_token(sources, request, peer);
    } else if (cookie != NULL) {
        found = g_strdup(sessions_find(sources->sessions, cookie, clock_monotonic_ns(clock_system()), mark));
        request->by_cookie = found != NULL;
    }
    return found != NULL && security_knows(sources->security, found, *mark) ? g_steal_pointer(&found) : NULL;
}

char *request_login(const LoginSources *sources, HttpRequest *request, const char *peer, TokenMark *token) {
    if (request_shows_ticket(request) || !sources->secret) return NULL;
    return by_token(sources, request, peer, token);
}

const char *request_login_needed(const HttpRequest *request) {
    return request->refused != NULL ? request->refused : "this needs a login: see docs/security.md";
}
