#include "receiver/http/ticket.h"

struct HttpTicket {
    Errand errand;
    HttpTicketOptions options; /* owner NULL: it has left */
    Kerberos *kerberos;
    char *authorization, *answer, *principal;
    GError *error; /* set when there is no principal */
};

static void ticket_free(void *data) {
    HttpTicket *ticket = data;
    kerberos_unref(ticket->kerberos);
    g_free(ticket->authorization);
    g_free(ticket->answer);
    g_free(ticket->principal);
    g_clear_error(&ticket->error);
    g_free(ticket);
}

/* On the thread that accepts. */
static void ticket_work(Errand *errand) {
    HttpTicket *ticket = (HttpTicket *)errand;
    ticket->principal = kerberos_negotiate(ticket->kerberos, ticket->authorization, &ticket->answer, &ticket->error);
}

static void ticket_back(Errand *errand) {
    HttpTicket *ticket = (HttpTicket *)errand;
    const HttpTicketOptions *options = &ticket->options;
    if (options->owner != NULL)
        options->judged(options->owner, g_steal_pointer(&ticket->principal), g_steal_pointer(&ticket->answer),
                        ticket->error);
    ticket_free(ticket);
}

HttpTicket *ticket_judge(Acceptor *acceptor, const HttpTicketOptions *options, Kerberos *kerberos,
                         char *authorization) {
    HttpTicket *ticket = g_new0(HttpTicket, 1);
    ticket->errand = (Errand){.work = ticket_work, .back = ticket_back, .free = ticket_free, .home = options->home};
    ticket->options = *options;
    ticket->kerberos = kerberos;
    ticket->authorization = authorization;
    acceptor_do(acceptor, &ticket->errand);
    return ticket;
}

void ticket_leave(HttpTicket *ticket) {
    if (ticket == NULL) return;
    ticket->options.owner = NULL;
    atomic_store(&ticket->errand.in_vain, TRUE);
}
