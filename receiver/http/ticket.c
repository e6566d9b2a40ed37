#include "receiver/http/ticket.h"

struct HttpTicket {
    Errand errand;
    HttpTicketOptions options; /* owner NULL: it has left */
    Kerberos *kerberos;
    char *peer, *path;
    char *authorization, *answer, *principal;
    GError *error; /* set when there is no principal */
};

static void ticket_free(void *data) {
    HttpTicket *ticket = data;
    kerberos_unref(ticket->kerberos);
    g_free(ticket->peer);
    g_free(ticket->path);
    g_free(ticket->authorization);
    g_free(ticket->answer);
    g_free(ticket->principal);
    g_clear_error(&ticket->error);
    g_free(ticket);
}

/* On the thread for errands. */
static void ticket_work(Errand *errand) {
    HttpTicket *ticket = (HttpTicket *)errand;
    ticket->principal = kerberos_negotiate(ticket->kerberos, ticket->authorization, &ticket->answer, &ticket->error);
}

/* A refusal is told also when its peer has left. */
static void ticket_back(Errand *errand) {
    HttpTicket *ticket = (HttpTicket *)errand;
    const HttpTicketOptions *options = &ticket->options;
    if (ticket->principal == NULL)
        login_tell_refused(&options->sources, ticket->path, ticket->peer, ticket->error->message);
    if (options->owner != NULL)
        options->judged(options->owner, g_steal_pointer(&ticket->principal), g_steal_pointer(&ticket->answer),
                        ticket->error);
    ticket_free(ticket);
}

HttpTicket *ticket_judge(const HttpTicketOptions *options, Kerberos *kerberos, const char *peer, HttpRequest *request) {
    HttpTicket *ticket = g_new0(HttpTicket, 1);
    ticket->errand = (Errand){.work = ticket_work, .back = ticket_back, .free = ticket_free, .home = options->home};
    ticket->options = *options;
    ticket->kerberos = kerberos;
    ticket->peer = g_strdup(peer);
    ticket->path = g_strdup(request->path);
    ticket->authorization = g_steal_pointer(&request->authorization);
    errands_give(options->errands, &ticket->errand);
    return ticket;
}

void ticket_leave(HttpTicket *ticket) {
    if (ticket == NULL) return;
    if (errands_withdraw(ticket->options.errands, &ticket->errand))
        ticket_free(ticket);
    else
        ticket->options.owner = NULL;
}
