#include "receiver/secure/tokens.h"

#include <string.h>

#include "common/base/error.h"
#include "common/base/secret_file.h"

#define HASH_DIGITS    64u
#define NAME_MAX_BYTES 64u
#define DAY_S          (24 * 3600)

typedef struct Token {
    char *principal;
    TokenMark mark;
    guint roles;
    gint64 ends_s; /* from then on it is void; G_MAXINT64: never */
} Token;

struct Tokens {
    GHashTable *by_hash; /* char *, of HASH_DIGITS small digits -> Token */
};

static void token_free(void *data) {
    Token *token = data;
    g_free(token->principal);
    g_free(token);
}

void tokens_free(Tokens *tokens) {
    if (!tokens) return;
    g_hash_table_unref(tokens->by_hash);
    g_free(tokens);
}

/* ---- one line ---- */

static gboolean is_name(const char *text) {
    const gsize length = strlen(text);
    if (length == 0 || length > NAME_MAX_BYTES || strcmp(text, TOKEN_ANY_USER) == 0) return FALSE;
    for (const char *at = text; *at != '\0'; at++)
        if (!g_ascii_isalnum(*at) && strchr("._-", *at) == NULL) return FALSE;
    return TRUE;
}

static gboolean parse_roles(const char *text, guint *roles) {
    g_auto(GStrv) names = g_strsplit(text, ",", 0);
    guint all = 0;
    for (char **name = names; *name != NULL; name++) {
        AccessRole role;
        if (!access_role_parse(*name, &role)) return FALSE;
        all |= role;
    }
    *roles = all;
    return all != 0;
}

static gboolean parse_end(const char *text, gint64 *ends_s) {
    if (strcmp(text, "never") == 0) {
        *ends_s = G_MAXINT64;
        return TRUE;
    }
    if (strlen(text) != strlen("2027-01-31")) return FALSE;
    g_autofree char *begin = g_strconcat(text, "T00:00:00Z", NULL);
    g_autoptr(GDateTime) day = g_date_time_new_from_iso8601(begin, NULL);
    if (day == NULL) return FALSE;
    *ends_s = g_date_time_to_unix(day) + DAY_S;
    return TRUE;
}

static gboolean is_hash(const char *text) {
    return strlen(text) == HASH_DIGITS && strspn(text, "0123456789abcdef") == HASH_DIGITS;
}

static TokenMark mark_of(const char *hash) {
    g_autofree char *begin = g_strndup(hash, 16);
    return g_ascii_strtoull(begin, NULL, 16);
}

static gboolean add_line(Tokens *tokens, char *const *words, GError **error) {
    guint roles;
    gint64 ends_s;
    if (g_strv_length((char **)words) != 4)
        return fail(error, PLUMB_ERROR_CONFIG,
                    "write NAME ROLE HASH UNTIL, as `plumb token new NAME --role ROLE` does");
    if (!is_name(words[0]))
        return fail(error, PLUMB_ERROR_CONFIG,
                    "a name has up to 64 letters, digits, '.', '_' and '-', and is not 'token'");
    if (!parse_roles(words[1], &roles))
        return fail(error, PLUMB_ERROR_CONFIG, "roles are write, read, metrics, peer and admin, with commas between");
    if (!is_hash(words[2]))
        return fail(error, PLUMB_ERROR_CONFIG, "the third word is a SHA-256 of 64 small hexadecimal digits");
    if (!parse_end(words[3], &ends_s))
        return fail(error, PLUMB_ERROR_CONFIG, "the last word is a day, as 2027-01-31, or never");

    Token *token = g_new0(Token, 1);
    token->principal = g_strconcat("token:", words[0], NULL);
    token->mark = mark_of(words[2]);
    token->roles = roles;
    token->ends_s = ends_s;
    if (g_hash_table_insert(tokens->by_hash, g_strdup(words[2]), token)) return TRUE;
    return fail(error, PLUMB_ERROR_CONFIG, "this token is there twice");
}

/* The words of a line, without what follows a '#'. Free with g_strfreev(). */
static char **words_of(const char *line) {
    g_autofree char *text = g_strndup(line, strcspn(line, "#\r"));
    g_auto(GStrv) pieces = g_strsplit_set(text, " \t", 0);
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    for (char **piece = pieces; *piece != NULL; piece++)
        if (**piece != '\0') g_ptr_array_add(words, g_strdup(*piece));
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&words), FALSE);
}

/* ---- the file ---- */

Tokens *tokens_parse(const char *text, GError **error) {
    g_autoptr(Tokens) tokens = g_new0(Tokens, 1);
    tokens->by_hash = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, token_free);
    g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
    for (guint i = 0; lines[i] != NULL; i++) {
        g_auto(GStrv) words = words_of(lines[i]);
        if (words[0] == NULL || add_line(tokens, words, error)) continue;
        g_prefix_error(error, "line %u: ", i + 1);
        return NULL;
    }
    return g_steal_pointer(&tokens);
}

Tokens *tokens_read(const char *path, GError **error) {
    gsize size_bytes;
    char *text = secret_file_read(path, &size_bytes, error);
    Tokens *tokens = text != NULL ? tokens_parse(text, error) : NULL;
    secret_free(text, size_bytes);
    if (tokens == NULL) g_prefix_error(error, "auth.tokens: %s", text != NULL ? path : "");
    return tokens;
}

/* ---- questions ---- */

const char *tokens_find(const Tokens *tokens, const char *user, const char *token, gint64 now_s, TokenMark *mark) {
    g_autofree char *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, token, -1);
    const Token *found = g_hash_table_lookup(tokens->by_hash, hash);
    if (found == NULL || now_s >= found->ends_s) return NULL;
    const char *name = found->principal + strlen("token:");
    *mark = found->mark;
    return strcmp(user, TOKEN_ANY_USER) == 0 || strcmp(user, name) == 0 ? found->principal : NULL;
}

guint tokens_roles(const Tokens *tokens, const char *principal, TokenMark mark, gint64 now_s) {
    GHashTableIter iter;
    void *value;
    g_hash_table_iter_init(&iter, tokens->by_hash);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Token *token = value;
        if (token->mark == mark && now_s < token->ends_s && strcmp(token->principal, principal) == 0)
            return token->roles;
    }
    return 0;
}

gboolean tokens_ended(const Tokens *tokens, gint64 since_s, gint64 until_s) {
    GHashTableIter iter;
    void *value;
    g_hash_table_iter_init(&iter, tokens->by_hash);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Token *token = value;
        if (token->ends_s > since_s && token->ends_s <= until_s) return TRUE;
    }
    return FALSE;
}
