/* What is in force: TLS and the rules about roles. It is read from files, checked whole, and then swapped; what is bad
 * changes nothing. Connections keep the TLS that they began with; what their peers may do is asked again when
 * security_generation() has changed.
 *
 * Any thread; there is one lock, held for moments. */
#pragma once

#include "receiver/secure/access.h"
#include "receiver/secure/kerberos.h"
#include "receiver/secure/tls.h"
#include "receiver/secure/tokens.h"

typedef struct SecuritySettings {
    TlsFiles tls;
    const char *tokens; /* the file of auth.tokens; empty: none */
    const char *keytab; /* empty: no Kerberos */
    const char *const *principals;
    AccessRules rules;
} SecuritySettings;

typedef struct Security Security;
/* The settings are used until the next ones are given. Errors: CONFIG, IO; nothing is in force then. */
Security *security_new(const SecuritySettings *settings, GError **error);
void security_free(Security *security);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Security, security_free)

/* Reads all files again. FALSE: what was in force stays. settings: NULL for those in force. */
gboolean security_reload(Security *security, const SecuritySettings *settings, GError **error);
/* Has one of the files another time than when it was read, or has a token ended? Each such state is told once. */
gboolean security_is_outdated(Security *security);
/* Rises with each change. */
guint security_generation(const Security *security);
/* Changes it: what else open connections are judged by is another now. Any thread. */
void security_judge_again(Security *security);

/* A reference for a new connection; NULL: no TLS. */
struct ssl_ctx_st *security_tls(Security *security);
/* A reference; NULL: no Kerberos. */
Kerberos *security_kerberos(Security *security);
/* When the certificate ends, in seconds since the epoch; 0: there is none. */
gint64 security_ends_s(Security *security);
/* "token:NAME", a new string, of a token that is good; user as of tokens_find(). NULL: there is none. */
char *security_token(Security *security, const char *user, const char *token, TokenMark *mark);
/* FALSE: the token by which it has logged in was taken back, or has ended. mark: of others, any. */
gboolean security_knows(Security *security, const char *principal, TokenMark mark);
/* What a principal may do; NULL: who has not logged in. mark: as above. open: of the port. */
guint security_roles(Security *security, const char *principal, TokenMark mark, gboolean open);
