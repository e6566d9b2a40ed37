#include "receiver/http/login.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "common/base/clock.h"

#define SESSION_NS    (LOGIN_SECONDS * NS_PER_SEC)
#define SESSION_BYTES 16u
/* Past that one gives way: nobody has so many readers. */
#define SESSIONS_MOST 1024u

/* ---- headers ---- */

/* What follows a scheme; NULL: it is another one. */
static const char *after(const char *text, const char *scheme) {
    const gsize length = strlen(scheme);
    if (g_ascii_strncasecmp(text, scheme, length) != 0 || text[length] != ' ') return NULL;
    return text + length + strspn(text + length, " ");
}

static gboolean parse_basic(const char *coded, char **user, char **token) {
    if (coded[0] == '\0' || strlen(coded) % 4 != 0) return FALSE;
    gsize size;
    g_autofree guchar *bytes = g_base64_decode(coded, &size);
    if (bytes == NULL || size == 0 || memchr(bytes, '\0', size) != NULL) return FALSE;
    g_autofree char *text = g_strndup((const char *)bytes, size);
    char *colon = strchr(text, ':');
    if (colon == NULL || colon == text || colon[1] == '\0') return FALSE;
    *user = g_strndup(text, (gsize)(colon - text));
    *token = g_strdup(colon + 1);
    return TRUE;
}

gboolean login_parse(const char *authorization, char **user, char **token) {
    if (authorization == NULL) return FALSE;
    const char *bearer = after(authorization, "Bearer"), *basic = after(authorization, "Basic");
    if (basic != NULL) return parse_basic(basic, user, token);
    if (bearer == NULL || bearer[0] == '\0') return FALSE;
    *user = g_strdup("token");
    *token = g_strdup(bearer);
    return TRUE;
}

char *login_cookie(const char *header) {
    if (header == NULL) return NULL;
    g_auto(GStrv) cookies = g_strsplit(header, ";", 0);
    for (char **cookie = cookies; *cookie != NULL; cookie++) {
        g_strstrip(*cookie);
        if (g_str_has_prefix(*cookie, LOGIN_COOKIE "=")) return g_strdup(*cookie + strlen(LOGIN_COOKIE "="));
    }
    return NULL;
}

/* ---- sessions ---- */

typedef struct Session {
    char *id, *principal;
    TokenMark token;
    gint64 ends_ns;
} Session;

struct Sessions {
    GHashTable *by_id; /* Session.id -> Session */
    GQueue order;      /* Session: those that end first, first */
};

static void session_free(void *data) {
    Session *session = data;
    g_free(session->id);
    g_free(session->principal);
    g_free(session);
}

Sessions *sessions_new(void) {
    Sessions *sessions = g_new0(Sessions, 1);
    sessions->by_id = g_hash_table_new(g_str_hash, g_str_equal);
    g_queue_init(&sessions->order);
    return sessions;
}

void sessions_free(Sessions *sessions) {
    if (!sessions) return;
    g_hash_table_unref(sessions->by_id);
    g_queue_clear_full(&sessions->order, session_free);
    g_free(sessions);
}

static void drop(Sessions *sessions, Session *session) {
    g_hash_table_remove(sessions->by_id, session->id);
    g_queue_remove(&sessions->order, session);
    session_free(session);
}

static void drop_ended(Sessions *sessions, gint64 now_ns) {
    Session *first;
    while ((first = g_queue_peek_head(&sessions->order)) != NULL && first->ends_ns <= now_ns) drop(sessions, first);
}

/* The oldest of whoever has most of them: one token cannot log others out, however often it logs in. */
static Session *who_gives_way(const Sessions *sessions) {
    g_autoptr(GHashTable) counts = g_hash_table_new(g_str_hash, g_str_equal);
    guint most = 0;
    for (const GList *at = sessions->order.head; at != NULL; at = at->next) {
        const char *principal = ((const Session *)at->data)->principal;
        const guint n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, principal)) + 1;
        g_hash_table_insert(counts, (void *)principal, GUINT_TO_POINTER(n));
        most = MAX(most, n);
    }
    const GList *at = sessions->order.head;
    while (GPOINTER_TO_UINT(g_hash_table_lookup(counts, ((const Session *)at->data)->principal)) < most) at = at->next;
    return at->data;
}

static char *random_id(void) {
    guint8 bytes[SESSION_BYTES];
    while (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        if (errno != EINTR) g_error("no random bytes: %s", g_strerror(errno));
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < sizeof bytes; i++) g_string_append_printf(text, "%02x", bytes[i]);
    return g_string_free(text, FALSE);
}

const char *sessions_begin(Sessions *sessions, const char *principal, TokenMark token, gint64 now_ns) {
    drop_ended(sessions, now_ns);
    if (sessions->order.length >= SESSIONS_MOST) drop(sessions, who_gives_way(sessions));
    Session *session = g_new0(Session, 1);
    session->id = random_id();
    session->principal = g_strdup(principal);
    session->token = token;
    session->ends_ns = now_ns + SESSION_NS;
    g_hash_table_insert(sessions->by_id, session->id, session);
    g_queue_push_tail(&sessions->order, session);
    return session->id;
}

const char *sessions_find(Sessions *sessions, const char *id, gint64 now_ns, TokenMark *token) {
    drop_ended(sessions, now_ns);
    const Session *session = g_hash_table_lookup(sessions->by_id, id);
    if (session == NULL) return NULL;
    *token = session->token;
    return session->principal;
}

void sessions_end(Sessions *sessions, const char *id) {
    Session *session = g_hash_table_lookup(sessions->by_id, id);
    if (session != NULL) drop(sessions, session);
}
