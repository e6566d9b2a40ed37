/* Logins by Kerberos: a peer shows a ticket for a service of ours, whose key is in the keytab. On the span port by
 * SASL's mechanism GSSAPI (RFC 4752), with the layer "auth" alone: what keeps others from reading is TLS. On the HTTP
 * port by SPNEGO (RFC 4559), in one message.
 *
 * MIT's GSSAPI; its settings come from krb5.conf. Any thread; a login is one thread's. */
#pragma once

#include "common/base/bytes.h"

/* With tickets of Active Directory, which have all groups of a user. */
#define KERBEROS_TOKEN_BYTES 65536u
#define KERBEROS_HTTP        "HTTP/"

typedef struct Kerberos Kerberos;
/* A reference. principals: "plumb/_HOST", _HOST being the name of this machine; those that begin with KERBEROS_HTTP are
 * for the HTTP port, the others for the span port. CONFIG: whose key the keytab lacks, or that it is no secret file;
 * IO. */
Kerberos *kerberos_new(const char *keytab, const char *const *principals, GError **error);
Kerberos *kerberos_ref(Kerberos *kerberos);
void kerberos_unref(Kerberos *kerberos);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Kerberos, kerberos_unref)

typedef enum {
    KERBEROS_GOES_ON, /* the answer is to be sent; more must come */
    KERBEROS_DONE,
    KERBEROS_REFUSED,
} KerberosResult;

typedef struct KerberosLogin KerberosLogin;
KerberosLogin *kerberos_login_new(Kerberos *kerberos);
void kerberos_login_free(KerberosLogin *login);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KerberosLogin, kerberos_login_free)
/* One message of the mechanism GSSAPI, and what is to be answered (it is set to that). REFUSED: INPUT says why. */
KerberosResult kerberos_login_step(KerberosLogin *login, Bytes message, GByteArray *answer, GError **error);
/* After DONE: "krb5:dn/h1@SITE"; borrowed. */
const char *kerberos_login_principal(const KerberosLogin *login);

/* "Negotiate ...": the principal, a new string. NULL: INPUT. *answer, for the header of that name, is a new string, or
 * NULL. */
char *kerberos_negotiate(Kerberos *kerberos, const char *authorization, char **answer, GError **error);
/* Is it such a header? */
gboolean kerberos_is_negotiate(const char *authorization);
