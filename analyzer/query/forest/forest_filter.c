#include "analyzer/query/forest/forest.h"
#include "common/base/error.h"

gboolean forest_filter_parse(const Asked *asked, ForestFilter *filter, GError **error) {
    filter->roles = ALL_ROLES;
    filter->function = asked_name(asked, "function");
    filter->host = asked_name(asked, "host");
    filter->exclude = asked_excludes(asked);
    return params_period(asked->params, asked->now_ns, &filter->period, error) &&
           params_roles(asked->params, &filter->roles, error) &&
           asked_pattern(asked, "pattern", &filter->pattern, error);
}

void forest_filter_clear(ForestFilter *filter) { g_clear_pointer(&filter->exclude, g_array_unref); }

gboolean forest_filter_drops(const ForestFilter *filter) {
    return filter->roles != ALL_ROLES || filter->exclude->len > 0;
}

gboolean forest_filter_wants(const ForestFilter *filter, const Pattern *pattern) {
    if (filter->function == 0) return TRUE;
    if (filter->function == G_MAXUINT32) return FALSE; /* which is also what placeholders are called */
    for (guint32 i = 1; i < pattern->n_nodes; i++) {
        if (pattern->nodes[i].name == filter->function) return TRUE;
    }
    return FALSE;
}

static gboolean keep(void *arg, const PatternNode *node) {
    const ForestFilter *filter = arg;
    if (node->name == NAME_MISSING) return filter->roles == ALL_ROLES;
    return filter->roles & (1u << node->role) && !is_excluded(filter->exclude, node->name);
}

Pattern *forest_filter_apply(const ForestFilter *filter, Compressor *compressor, const Pattern *pattern,
                             guint32 **map) {
    if (!forest_filter_drops(filter)) {
        *map = NULL;
        return pattern_ref(pattern);
    }
    *map = g_new(guint32, pattern->n_nodes);
    return compressor_filter(compressor, pattern, keep, (void *)filter, *map);
}
