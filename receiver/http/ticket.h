/* A ticket of Kerberos in the head of a request. The thread that accepts judges it (receiver/net/errand.h), for that
 * takes long, and writes to a file; meanwhile its connection is in PHASE_LOGIN, and others are served. */
#pragma once

#include "receiver/http/server_inside.h"

/* FALSE: it shows none that could be judged. Else http_connection_log_in() follows, and the ticket is gone from the
 * request. */
gboolean ticket_judge(HttpConnection *connection);
/* The connection ends. */
void ticket_leave(HttpConnection *connection);
