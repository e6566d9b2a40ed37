/* A ticket of Kerberos in the head of a request. The thread that accepts judges it (receiver/net/errand.h), for that
 * takes long, and writes to a file; meanwhile its connection is in PHASE_LOGIN, and others are served. */
#pragma once

#include "receiver/net/acceptor.h"
#include "receiver/secure/kerberos.h"

typedef struct HttpTicket HttpTicket;

typedef struct HttpTicketOptions {
    Inbox *home; /* of Errand */
    /* principal: a new string; NULL: error says why it is none. answer: as of kerberos_negotiate(). */
    void (*judged)(void *owner, char *principal, char *answer, const GError *error);
    void *owner;
} HttpTicketOptions;

/* kerberos, a reference, and authorization are taken over. The ticket is there until 'judged' is called. */
HttpTicket *ticket_judge(Acceptor *acceptor, const HttpTicketOptions *options, Kerberos *kerberos, char *authorization);
/* Its owner ends: 'judged' is not called any more. NULL: nothing. */
void ticket_leave(HttpTicket *ticket);
