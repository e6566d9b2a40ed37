#include "analyzer/archive/internal.h"

TraceVersion version_make(Archive *archive, Compressor *compressor, const SpanRec *const *spans, gsize n) {
    TraceVersion version = {.tree = tree_build(spans, n, archive->options.clock_tolerance_ns)};
    version.node_of = g_new(guint32, version.tree->n_nodes);
    version.pattern = compressor_tree(compressor, version.tree, version.node_of);
    version.times = times_compute(version.tree, version.node_of);
    return version;
}

gboolean version_count_in(Archive *archive, TraceVersion *version, guint32 number, gboolean add) {
    if (!pattern_is_mixed(number)) return TRUE;
    g_autofree guint32 *row_of = g_new(guint32, version->pattern->n_nodes);
    if (!mixed_table_rows(archive->mixed, number, version->pattern, add, row_of)) return FALSE;
    g_free(version->row_of);
    version->row_of = g_steal_pointer(&row_of);
    return TRUE;
}

void version_clear(TraceVersion *version) {
    g_clear_pointer(&version->tree, tree_free);
    g_clear_pointer(&version->times, times_free);
    g_clear_pointer(&version->node_of, g_free);
    g_clear_pointer(&version->row_of, g_free);
    g_clear_pointer(&version->pattern, pattern_unref);
}
