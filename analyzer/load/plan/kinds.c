#include "analyzer/load/plan/kinds.h"

#include <string.h>

#include "common/base/error.h"
#include "common/base/nearest.h"

#define WEIGHT_MOST 1000000u

static const char *const names[] = {"read", "pread", "write",  "append", "open", "stat",
                                    "list", "mkdir", "rename", "delete", NULL};
G_STATIC_ASSERT(G_N_ELEMENTS(names) == LOAD_KINDS + 1);

const char *load_kind_name(LoadKind kind) { return names[kind]; }

LoadKind load_kind_find(const char *name, gsize length) {
    for (guint kind = 0; kind < LOAD_KINDS; kind++)
        if (strlen(names[kind]) == length && memcmp(names[kind], name, length) == 0) return (LoadKind)kind;
    return LOAD_KINDS;
}

static gboolean parse_part(const char *part, LoadMix *mix, GError **error) {
    const char *equals = strchr(part, '=');
    const gsize length = equals != NULL ? (gsize)(equals - part) : strlen(part);
    const LoadKind kind = load_kind_find(part, length);
    if (kind == LOAD_KINDS) {
        g_autofree char *name = g_strndup(part, length);
        const char *nearest = nearest_name(name, names);
        if (nearest != NULL)
            return fail(error, PLUMB_ERROR_CONFIG, "--mix: no kind '%s': did you mean %s?", name, nearest);
        g_autofree char *all = g_strjoinv(", ", (char **)names);
        return fail(error, PLUMB_ERROR_CONFIG, "--mix: no kind '%s': there are %s", name, all);
    }
    guint64 weight;
    if (equals == NULL || !g_ascii_string_to_unsigned(equals + 1, 10, 0, WEIGHT_MOST, &weight, NULL))
        return fail(error, PLUMB_ERROR_CONFIG, "--mix: '%s' needs a weight from 0 to %u: --mix read=70,write=30", part,
                    WEIGHT_MOST);
    mix->weight[kind] = (guint)weight;
    return TRUE;
}

gboolean load_mix_parse(const char *text, LoadMix *mix, GError **error) {
    LoadMix read = {{0}};
    guint sum = 0;
    g_auto(GStrv) parts = g_strsplit(text, ",", 0);
    for (char **part = parts; *part != NULL; part++)
        if (!parse_part(g_strstrip(*part), &read, error)) return FALSE;
    for (guint kind = 0; kind < LOAD_KINDS; kind++) sum += read.weight[kind];
    if (sum == 0) return fail(error, PLUMB_ERROR_CONFIG, "--mix: all weights are 0: --mix read=70,write=30");
    *mix = read;
    return TRUE;
}

char *load_mix_format(const LoadMix *mix) {
    GString *text = g_string_new(NULL);
    for (guint kind = 0; kind < LOAD_KINDS; kind++)
        if (mix->weight[kind] > 0)
            g_string_append_printf(text, "%s%s=%u", text->len > 0 ? "," : "", names[kind], mix->weight[kind]);
    return g_string_free(text, FALSE);
}
