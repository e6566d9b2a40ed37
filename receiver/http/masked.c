#include "receiver/http/masked.h"

#include <string.h>

#include "receiver/http/request.h"

/* Instead of what would be dropped. */
#define DROPPED "(masked)"

static char *masked_annotation(Masker *masker, const char *text) {
    const char *equals = strchr(text, '=');
    if (equals == NULL) return g_strdup(text);
    g_autofree char *key = g_strndup(text, (gsize)(equals - text));
    g_autofree char *value = masker_value(masker, key, equals + 1);
    return g_strdup_printf("%s=%s", key, value != NULL ? value : DROPPED);
}

char *masked_param(Masker *masker, const char *name, const char *value) {
    /* What has no valid text is refused later; bytes of it are shown to nobody. */
    if (masker == NULL || !g_utf8_validate(value, -1, NULL)) return g_strdup(value);
    if (strcmp(name, "annotation") == 0) return masked_annotation(masker, value);
    if (strcmp(name, "path") != 0) return masker_text(masker, value);
    char *path = masker_value(masker, "path", value);
    return path != NULL ? path : g_strdup(DROPPED);
}

/* Forms of which the parts are not known here: they are not told at all. */
static gboolean is_closed(const char *name) {
    static const char *const names[] = {"tags", "tag", "annotationQuery", "function", "operation", "spanName", NULL};
    return g_strv_contains(names, name);
}

typedef struct Rewritten {
    Masker *masker;
    GString *text;
} Rewritten;

static void add(void *arg, const char *name, const char *value) {
    const Rewritten *rewritten = arg;
    g_autofree char *masked = !g_utf8_validate(value, -1, NULL) ? g_strdup("(malformed)")
                              : is_closed(name)                 ? g_strdup(DROPPED)
                                                                : masked_param(rewritten->masker, name, value);
    g_string_append_printf(rewritten->text, "%s%s=%s", rewritten->text->len > 0 ? "&" : "", name, masked);
}

char *masked_query(Masker *masker, const char *query) {
    const char *why;
    if (masker == NULL || query == NULL) return g_strdup(query);
    g_autoptr(GString) text = g_string_new(NULL);
    Rewritten rewritten = {masker, text};
    if (!http_query_parse(query, add, &rewritten, &why)) return g_strdup("(malformed)");
    return g_string_free(g_steal_pointer(&text), FALSE);
}
