/* A blocking client of the span service: for `plumb import`, the load client and tests. */
#pragma once

#include "common/wire/message.h"
#include "common/wire/secure.h"

typedef struct WireClient WireClient;

/* address: "host:port", "[v6]:port". security: NULL for a plain connection; used as long as the client. Error PEER
 * names the address and what to check; CONFIG, IO of its files. */
WireClient *wire_client_connect(const char *address, const WireSecurity *security, gint timeout_ms, GError **error);
void wire_client_close(WireClient *client);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WireClient, wire_client_close)

/* Sends one batch and waits for the reply. A reply other than OK is no error. What it says of
 * sampling is left out. */
gboolean wire_client_submit(WireClient *client, const SpanBatch *batch, WireReply *reply,
                            GError **error); /* for tests */
/* As above, but waits and sends again while the receiver says TRY_LATER, and connects again after a lost connection,
 * up to give_up_ms in all. */
gboolean wire_client_deliver(WireClient *client, const SpanBatch *batch, gint64 give_up_ms, WireReply *reply,
                             GError **error);

/* The same for records of Spark (submitRecords). */
gboolean wire_client_deliver_records(WireClient *client, const SparkRecords *records, gint64 give_up_ms,
                                     WireReply *reply, GError **error);
