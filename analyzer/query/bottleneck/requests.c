#include "analyzer/query/bottleneck/requests.h"

#include <string.h>

#include "analyzer/query/shared/pattern_match.h"
#include "common/base/allowance.h"

/* Whose traces may be asked for: those that have a root of that name. */
typedef struct Root {
    Archive *archive;
    const char *name;
} Root;

/* root: a function's name, or with a '*' at its end all that begin so. */
static gboolean request_name_fits(const char *root, const char *name) {
    const gsize length = strlen(root);
    if (length > 0 && root[length - 1] == '*') return strncmp(root, name, length - 1) == 0;
    return strcmp(root, name) == 0;
}

static gboolean shape_has(const void *arg, const Pattern *pattern) {
    const Root *root = arg;
    for (guint32 i = 1; i < pattern->n_nodes; i = pattern->nodes[i].end) {
        const guint32 name = pattern->nodes[i].name;
        if (name != NAME_MISSING && request_name_fits(root->name, node_text(root->archive, name))) return TRUE;
    }
    return FALSE;
}

/* Every k-th, so that as many are left. */
static void thin_out(GArray *requests, guint64 most) {
    if (most == 0 || requests->len <= most) return;
    for (guint i = 0; i < most; i++) {
        const guint from = (guint)((guint64)i * requests->len / most);
        g_array_index(requests, Request, i) = g_array_index(requests, Request, from);
    }
    g_array_set_size(requests, (guint)most);
}

GArray *requests_find(const Asked *asked, const RequestFilter *filter, guint64 *found, GError **error) {
    g_autoptr(GArray) requests = g_array_new(FALSE, FALSE, sizeof(Request));
    /* A trace in several parts is met once for each. */
    g_autoptr(GHashTable) in_parts = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    g_autoptr(ArchiveScan) scan =
        archive_scan_new(asked->archive, filter->period.since_ns, filter->period.until_ns, FALSE);
    g_autoptr(GError) failure = NULL;
    const Root root = {asked->archive, filter->root};
    g_auto(PatternMatch) shapes = {0};
    Request request;
    TraceSummary summary;
    gsize charged = 0;

    pattern_match_init(&shapes, asked->archive, shape_has, &root);
    archive_scan_summaries_only(scan);
    while (archive_scan_next(scan, &request.trace_id, &summary, &failure)) {
        if (!pattern_match_number(&shapes, summary.pattern)) continue;
        if (summary.flags & TRACE_PART &&
            !g_hash_table_add(in_parts, g_memdup2(&request.trace_id, sizeof request.trace_id)))
            continue;
        request.begin_ns = summary.begin_ns;
        g_array_append_val(requests, request);
        allowance_hold(&charged, requests->len * sizeof request);
    }
    allowance_hold(&charged, 0);
    if (failure) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return NULL;
    }

    *found = requests->len;
    thin_out(requests, filter->most);
    return g_steal_pointer(&requests);
}

guint32 request_root(Archive *archive, const TraceView *view, const char *root, guint32 from) {
    const CallTree *tree = view->tree;
    for (guint32 i = from; i < tree->n_nodes && allowance_goes_on(); i = tree->end[i])
        if (tree->span[i] && request_name_fits(root, node_text(archive, tree->span[i]->name))) return i;
    return 0;
}
