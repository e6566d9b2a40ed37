/* The client's side of a login to the port for spans: SASL in Thrift's framing, by a token (PLAIN) or by a ticket of
 * Kerberos (GSSAPI, RFC 4752, with the layer "auth" alone). Bytes only: client.c sends and receives them. */
#pragma once

#include "common/base/bytes.h"
#include "common/wire/secure.h"

/* Of each message: a status and the size of what follows. */
#define WIRE_LOGIN_HEAD_BYTES 5u
#define WIRE_LOGIN_OK         2
#define WIRE_LOGIN_COMPLETE   5

/* Is there anything to log in by? security: NULL for nothing. */
gboolean wire_login_is_set(const WireSecurity *security);

typedef struct WireLogin WireLogin;
/* host: of the receiver, whose principal is plumb/host. security is used as long as the login. */
WireLogin *wire_login_new(const WireSecurity *security, const char *host);
void wire_login_free(WireLogin *login);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WireLogin, wire_login_free)
/* Sets out to what is to be sent. said: what the receiver's last message carried; empty at first. Errors: CONFIG (there
 * is no ticket, or the receiver is not the one it is for), IO. */
gboolean wire_login_step(WireLogin *login, Bytes said, GByteArray *out, GError **error);
/* Is our part over? The receiver's COMPLETE counts only then. */
gboolean wire_login_is_over(const WireLogin *login);
/* By what, for a message; borrowed. */
const char *wire_login_by(const WireLogin *login);

/* ---- of both sides ---- */

/* What GSSAPI says of a failure; a new string. */
char *wire_gss_failure(guint32 major, guint32 minor);
