/* Who a request says that it is from: by a ticket of Kerberos, a token, or the cookie of a session. */
#pragma once

#include "receiver/http/login.h"
#include "receiver/http/request.h"
#include "receiver/secure/audit.h"
#include "receiver/secure/security.h"
#include "receiver/shared/counters.h"

typedef struct LoginSources {
    Security *security;
    Sessions *sessions;
    Audit *audit;       /* NULL: none */
    Counters *counters; /* of this thread */
    gboolean secret;    /* it came under TLS: tokens and cookies are taken so alone */
} LoginSources;

/* Does it say so by a ticket? */
gboolean request_shows_ticket(const HttpRequest *request);
/* What it says otherwise: the principal, a new string. NULL: nothing, or what is no login. *token: by which, if it was
 * one. Sets request->by_cookie. */
char *request_login(const LoginSources *sources, HttpRequest *request, const char *peer, TokenMark *token);
/* A refusal is counted, and told. */
void login_tell_refused(const LoginSources *sources, const char *path, const char *peer, const char *why);
/* It is kept for the answer, in request->refused. */
void request_refuse_login(HttpRequest *request, const char *why);
/* What the answer says to who needs a login; borrowed. */
const char *request_login_needed(const HttpRequest *request);
