#include "receiver/http/ticket.h"

#include "receiver/http/login_request.h"

typedef struct HttpTicket {
    Errand errand;
    HttpConnection *connection; /* NULL: it is closed */
    Kerberos *kerberos;
    char *authorization, *answer, *principal;
    GError *error; /* set when there is no principal */
} HttpTicket;

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
    HttpConnection *connection = ticket->connection;
    if (connection != NULL) {
        connection->ticket = NULL;
        connection->negotiated = g_steal_pointer(&ticket->answer);
        http_connection_log_in(connection, g_steal_pointer(&ticket->principal), ticket->error);
    }
    ticket_free(ticket);
}

gboolean ticket_judge(HttpConnection *connection) {
    HttpServer *server = connection->server;
    HttpRequest *request = &connection->exchange->request;
    if (connection->child_of != NULL || !request_shows_ticket(request)) return FALSE;
    Kerberos *kerberos = security_kerberos(server->options.security);
    if (kerberos == NULL) return FALSE;

    HttpTicket *ticket = g_new0(HttpTicket, 1);
    ticket->errand = (Errand){.work = ticket_work, .back = ticket_back, .free = ticket_free, .home = server->done};
    ticket->connection = connection;
    ticket->kerberos = kerberos;
    ticket->authorization = g_steal_pointer(&request->authorization);
    connection->ticket = ticket;
    connection->phase = PHASE_LOGIN; /* the time of the head goes on */
    acceptor_do(server->acceptor, &ticket->errand);
    return TRUE;
}

void ticket_leave(HttpConnection *connection) {
    HttpTicket *ticket = g_steal_pointer(&connection->ticket);
    if (ticket == NULL) return;
    ticket->connection = NULL;
    atomic_store(&ticket->errand.in_vain, TRUE);
}
