/* What a request says of who asks: a token in Authorization, as "Bearer TOKEN" or as the password of "Basic", or the
 * cookie of a session that such a request has begun (for browsers, which keep no token). */
#pragma once

#include "receiver/secure/tokens.h"

/* User and token of an Authorization; to be freed. FALSE: it has none, and nothing changed. */
gboolean login_parse(const char *authorization, char **user, char **token);
/* The value of our cookie in a Cookie header; a new string, NULL: it is not there. */
char *login_cookie(const char *header);

#define LOGIN_COOKIE  "__Host-plumb"
#define LOGIN_SECONDS (12 * 3600)

/* Sessions of browsers, in memory: gone with the process, and after twelve hours. One thread. */
typedef struct Sessions Sessions;
Sessions *sessions_new(void);
void sessions_free(Sessions *sessions);
/* The cookie's value, 128 random bits; borrowed. */
const char *sessions_begin(Sessions *sessions, const char *principal, TokenMark token, gint64 now_ns);
/* Whose session; borrowed, NULL: there is none. *token: by which it began. */
const char *sessions_find(Sessions *sessions, const char *id, gint64 now_ns, TokenMark *token);
void sessions_end(Sessions *sessions, const char *id);
