#include "analyzer/cli/commands/analysis.h"

#include <string.h>

#include "common/base/config.h"
#include "common/base/error.h"

const char *const analysis_default_excludes[] = {"OpWriteBlockProto", "dataStreamer", "waitForAckedSeqno", NULL};

#define COLOURS "none|red|green|yellow|blue|magenta|cyan|white"

static const ConfigOption options[] = {
    {"analysis.level", CONFIG_ENUM, "forest", 0, 0, "forest|tree", FALSE,
     "forest: equal trees of all traces become one. tree: equal calls merge inside each trace only."},
    {"analysis.exclude", CONFIG_LIST, "", 0, 0, NULL, FALSE,
     "Functions to leave out of trees; what they called moves up. default stands for OpWriteBlockProto, dataStreamer, "
     "waitForAckedSeqno."},
    {"analysis.roles", CONFIG_LIST, "", 0, 0, NULL, FALSE,
     "The roles to show: client, namenode, datanode, journalnode, local. Empty: all."},
    {"analysis.progress", CONFIG_BOOL, "true", 0, 0, NULL, FALSE, "Show a progress line on a terminal."},
    {"colors.client", CONFIG_ENUM, "white", 0, 0, COLOURS, FALSE, "Colour of the client's functions."},
    {"colors.namenode", CONFIG_ENUM, "green", 0, 0, COLOURS, FALSE, "Colour of the NameNode's functions."},
    {"colors.datanode", CONFIG_ENUM, "blue", 0, 0, COLOURS, FALSE, "Colour of the DataNodes' functions."},
    {"colors.journalnode", CONFIG_ENUM, "cyan", 0, 0, COLOURS, FALSE, "Colour of the JournalNodes' functions."},
    {"colors.local", CONFIG_ENUM, "yellow", 0, 0, COLOURS, FALSE, "Colour of all others."},
    {"functions.client", CONFIG_LIST, "", 0, 0, NULL, FALSE,
     "Functions to show as the client's, whoever recorded them."},
    {"functions.namenode", CONFIG_LIST, "", 0, 0, NULL, FALSE, "Functions to show as the NameNode's."},
    {"functions.datanode", CONFIG_LIST, "", 0, 0, NULL, FALSE, "Functions to show as the DataNodes'."},
    {"functions.journalnode", CONFIG_LIST, "", 0, 0, NULL, FALSE, "Functions to show as the JournalNodes'."},
    {"functions.local", CONFIG_LIST, "", 0, 0, NULL, FALSE, "Functions to show as local."},
    {NULL, CONFIG_BOOL, NULL, 0, 0, NULL, FALSE, NULL},
};

static gboolean take_roles(const Config *config, Analysis *analysis, GError **error) {
    const char *const *roles = config_list(config, "analysis.roles");
    for (guint i = 0; roles[i] != NULL; i++) {
        Role role;
        if (!role_parse(roles[i], &role))
            return fail(error, PLUMB_ERROR_CONFIG,
                        "analysis.roles: \"%s\" is no role: use client, namenode, datanode, journalnode, local",
                        roles[i]);
    }
    analysis->roles = g_strjoinv(",", (char **)roles);
    return TRUE;
}

static void take_excludes(const Config *config, Analysis *analysis) {
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    const char *const *list = config_list(config, "analysis.exclude");
    for (guint i = 0; list[i] != NULL; i++) {
        if (strcmp(list[i], "default") != 0) {
            g_ptr_array_add(names, g_strdup(list[i]));
            continue;
        }
        for (guint d = 0; analysis_default_excludes[d] != NULL; d++)
            g_ptr_array_add(names, g_strdup(analysis_default_excludes[d]));
    }
    g_ptr_array_add(names, NULL);
    analysis->exclude = (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

static void take_role(const Config *config, Analysis *analysis, Role role) {
    g_autofree char *colour = g_strconcat("colors.", role_name(role), NULL);
    g_autofree char *functions = g_strconcat("functions.", role_name(role), NULL);
    /* COLOURS names the colours in the order of Colour. */
    analysis->colours[role] = (Colour)config_enum(config, colour);
    const char *const *names = config_list(config, functions);
    for (guint i = 0; names[i] != NULL; i++)
        g_hash_table_insert(analysis->role_of, g_strdup(names[i]), GINT_TO_POINTER((gint)role));
}

Analysis *analysis_load(const char *path, GError **error) {
    g_autoptr(Config) config = config_new(options);
    if (!config_load(config, path, error)) return NULL;
    g_autoptr(Analysis) analysis = g_new0(Analysis, 1);
    analysis->role_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (!take_roles(config, analysis, error)) return NULL;
    analysis->level = g_strdup(config_enum(config, "analysis.level") == 0 ? "forest" : "tree");
    analysis->progress = config_bool(config, "analysis.progress");
    take_excludes(config, analysis);
    for (guint role = 0; role < ROLE_COUNT; role++) take_role(config, analysis, (Role)role);
    return g_steal_pointer(&analysis);
}

void analysis_free(Analysis *analysis) {
    if (analysis == NULL) return;
    g_free(analysis->level);
    g_strfreev(analysis->exclude);
    g_free(analysis->roles);
    g_hash_table_unref(analysis->role_of);
    g_free(analysis);
}

static void apply_to_node(const Analysis *analysis, json_t *node) {
    const char *function = json_string_value(json_object_get(node, "function"));
    gpointer role;
    if (function == NULL || !g_hash_table_lookup_extended(analysis->role_of, function, NULL, &role)) return;
    json_object_set_new(node, "role", json_string(role_name((Role)GPOINTER_TO_INT(role))));
}

void analysis_apply_roles(const Analysis *analysis, json_t *forest) {
    if (g_hash_table_size(analysis->role_of) == 0) return;
    gsize i, k;
    json_t *pattern, *node;
    json_array_foreach(json_object_get(forest, "patterns"), i, pattern)
        json_array_foreach(json_object_get(pattern, "nodes"), k, node) apply_to_node(analysis, node);
}
