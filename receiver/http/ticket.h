/* A ticket of Kerberos in the head of a request. A thread for that judges it (receiver/net/errand.h); meanwhile its
 * connection is in PHASE_LOGIN, and others are served. */
#pragma once

#include "receiver/http/login_request.h"
#include "receiver/net/errand.h"

typedef struct HttpTicket HttpTicket;

typedef struct HttpTicketOptions {
    Errands *errands;
    Inbox *home; /* of Errand */
    LoginSources sources;
    /* principal: a new string; NULL: error says why it is none, which is told already. answer: as of
     * kerberos_negotiate(). */
    void (*judged)(void *owner, char *principal, char *answer, const GError *error);
    void *owner;
} HttpTicketOptions;

/* kerberos, a reference, and the Authorization of the request are taken over. peer: who shows it. The ticket is there
 * until 'judged' is called. */
HttpTicket *ticket_judge(const HttpTicketOptions *options, Kerberos *kerberos, const char *peer, HttpRequest *request);
/* Its owner ends: 'judged' is not called any more. NULL: nothing. */
void ticket_leave(HttpTicket *ticket);
