/* Tokens: long random texts by which senders and readers log in. The file of auth.tokens has one a line:
 *
 *   NAME ROLE[,ROLE] HASH UNTIL    # bridge write 9f86...0f00a08 2027-01-31
 *
 * HASH is the SHA-256 of the token, in hexadecimal digits; UNTIL is the last day on which it is good, or "never". Who
 * reads the file cannot log in with what is in it. Tokens are random, so one plain hash is enough: there is nothing to
 * guess. A name may stand in several lines, so that one token can replace another while both are good; each
 * has its own roles, and who logged in by one of them is out when that one is gone. */
#pragma once

#include "receiver/secure/access.h"

typedef struct Tokens Tokens;
/* CONFIG, with the number of the line. */
Tokens *tokens_parse(const char *text, GError **error); /* for tests */
/* Reads a secret file (common/base/secret_file.h). */
Tokens *tokens_read(const char *path, GError **error);
void tokens_free(Tokens *tokens);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Tokens, tokens_free)

/* Tells a token from others of its name: the begin of its hash, which is no secret. */
typedef guint64 TokenMark;

/* "token:NAME" of a token that is good now (seconds since the epoch); borrowed, NULL: there is none. user: its name, or
 * TOKEN_ANY_USER. *mark: which it is. */
const char *tokens_find(const Tokens *tokens, const char *user, const char *token, gint64 now_s, TokenMark *mark);
#define TOKEN_ANY_USER "token"
/* The roles of that token of that principal, not of others of its name. 0: it is not good now. */
guint tokens_roles(const Tokens *tokens, const char *principal, TokenMark mark, gint64 now_s);
/* Has one become void in this time? */
gboolean tokens_ended(const Tokens *tokens, gint64 since_s, gint64 until_s);
