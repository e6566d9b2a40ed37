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

/* What is known to hold nothing but numbers, times, ids, words of ours, and names that are never masked; and what is
 * masked by itself. All others (names of functions, tags, texts that are looked for, and whatever comes later) are not
 * told at all. */
static gboolean may_be_told(const char *name) {
    static const char *const names[] = {"a",
                                        "b",
                                        "all",
                                        "annotation",
                                        "app",
                                        "by",
                                        "call_max_duration",
                                        "call_min_duration",
                                        "clusters",
                                        "columns",
                                        "edge",
                                        "end",
                                        "endTs",
                                        "evidence",
                                        "field",
                                        "hdfs",
                                        "hint",
                                        "host",
                                        "id",
                                        "incomplete",
                                        "kind",
                                        "level",
                                        "limit",
                                        "lookback",
                                        "maxDuration",
                                        "max_duration",
                                        "max_spans",
                                        "method",
                                        "minDuration",
                                        "min_duration",
                                        "min_spans",
                                        "of",
                                        "on",
                                        "part",
                                        "path",
                                        "pattern",
                                        "peers",
                                        "ratio",
                                        "role",
                                        "scope",
                                        "service",
                                        "serviceName",
                                        "since",
                                        "sort",
                                        "stage",
                                        "start",
                                        "status",
                                        "step",
                                        "summary",
                                        "task",
                                        "top",
                                        "trace",
                                        "traceIds",
                                        "until",
                                        "window",
                                        NULL};
    return g_strv_contains(names, name) || g_str_has_prefix(name, "lambda_") || g_str_has_prefix(name, "a_");
}

typedef struct Rewritten {
    Masker *masker;
    GString *text;
} Rewritten;

static void add(void *arg, const char *name, const char *value) {
    const Rewritten *rewritten = arg;
    g_autofree char *masked = !g_utf8_validate(value, -1, NULL) ? g_strdup("(malformed)")
                              : !may_be_told(name)              ? g_strdup(DROPPED)
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
