/* What decides who somebody is: the file of tokens, SASL's messages before the first frame, and the headers of a
 * request. The first byte of the input says which. */
#include <stdio.h>
#include <string.h>

#include "fuzz/target.h"
#include "receiver/http/login.h"
#include "receiver/secure/sasl.h"
#include "receiver/secure/tokens.h"

/* Of each line, by the begin of its hash. */
static void look_at_roles(const Tokens *tokens, const char *text) {
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line != NULL; line++) {
        char name[65], mark[17];
        if (sscanf(*line, "%64s %*s %16s", name, mark) != 2) continue;
        g_autofree char *principal = g_strconcat("token:", name, NULL);
        const guint roles = tokens_roles(tokens, principal, g_ascii_strtoull(mark, NULL, 16), 0);
        g_assert_cmpuint(roles, <=, ACCESS_ALL);
    }
}

static void look_at_tokens(const char *text) {
    g_autoptr(GError) error = NULL;
    g_autoptr(Tokens) tokens = tokens_parse(text, &error);
    g_assert_true((tokens == NULL) == (error != NULL));
    if (tokens == NULL) return;
    TokenMark mark;
    g_assert_null(tokens_find(tokens, TOKEN_ANY_USER, text, 0, &mark)); /* no file holds its own hash */
    look_at_roles(tokens, text);
    tokens_ended(tokens, 0, G_MAXINT64);
}

static void look_at_sasl(Bytes stream) {
    gboolean begun = FALSE;
    SaslMessage message;
    while (sasl_cut(stream, begun, &message) == SASL_WHOLE) {
        g_autofree char *user = NULL, *password = NULL;
        g_assert_cmpuint(message.needed_bytes, <=, stream.size_bytes);
        g_assert_cmpuint(message.payload.size_bytes, <=, SASL_MAX_BYTES);
        if (sasl_plain_parse(message.payload, &user, &password))
            g_assert_true(user[0] != '\0' && password[0] != '\0' &&
                          strlen(user) + strlen(password) + 2 <= message.payload.size_bytes);
        begun = TRUE;
        stream = (Bytes){(const guint8 *)stream.data + message.needed_bytes, stream.size_bytes - message.needed_bytes};
    }
}

static void look_at_headers(const char *text) {
    g_autofree char *user = NULL, *token = NULL, *cookie = login_cookie(text);
    if (cookie != NULL) g_assert_cmpuint(strlen(cookie), <, strlen(text));
    if (!login_parse(text, &user, &token)) return;
    g_assert_true(user[0] != '\0' && token[0] != '\0');
    g_assert_cmpuint(strlen(user) + strlen(token), <, strlen(text) + strlen(TOKEN_ANY_USER));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    g_autofree char *text = g_strndup((const char *)data + 1, size - 1);
    switch (data[0]) {
    case 't': look_at_tokens(text); break;
    case 's': look_at_sasl((Bytes){data + 1, size - 1}); break;
    default: look_at_headers(text); break;
    }
    return 0;
}
