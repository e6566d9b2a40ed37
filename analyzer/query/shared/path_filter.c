#include "analyzer/query/shared/path_filter.h"

#include <string.h>

#include "analyzer/archive/index/terms.h"

PathFilter *path_filter_new(const char *text) {
    g_autoptr(PathFilter) filter = g_new0(PathFilter, 1);
    gsize length = strlen(text), part_length;
    const char *at = path_begin(text, length), *end = text + length, *part;
    filter->anchored = at != NULL;
    filter->components = g_ptr_array_new_with_free_func(g_free);
    if (at == NULL) at = text;
    while (path_next(&at, end, &part, &part_length)) g_ptr_array_add(filter->components, g_strndup(part, part_length));
    return filter->components->len > 0 ? g_steal_pointer(&filter) : NULL;
}

void path_filter_free(PathFilter *filter) {
    if (filter == NULL) return;
    g_ptr_array_unref(filter->components);
    g_free(filter);
}

/* Goes back to the last '*' only: what stands before it has matched as early as can be. */
static gboolean component_fits(const char *wanted, const char *text, gsize length) {
    const char *end = text + length, *star = NULL, *retry = NULL;
    while (text < end) {
        if (*wanted == '*') {
            star = ++wanted;
            retry = text;
        } else if (*wanted == *text) {
            wanted++;
            text++;
        } else if (star != NULL) {
            wanted = star;
            text = ++retry;
        } else {
            return FALSE;
        }
    }
    while (*wanted == '*') wanted++;
    return *wanted == '\0';
}

static gboolean fits_here(const PathFilter *filter, const char *at, const char *end) {
    for (guint i = 0; i < filter->components->len; i++) {
        const char *component;
        gsize length;
        if (!path_next(&at, end, &component, &length)) return FALSE;
        if (!component_fits(g_ptr_array_index(filter->components, i), component, length)) return FALSE;
    }
    return TRUE;
}

gboolean path_filter_fits(const PathFilter *filter, const char *value, gsize length) {
    const char *at = path_begin(value, length), *end = value + length, *component;
    gsize component_length;
    if (at == NULL) return FALSE;
    if (filter->anchored) return fits_here(filter, at, end);
    do {
        if (fits_here(filter, at, end)) return TRUE;
    } while (path_next(&at, end, &component, &component_length));
    return FALSE;
}

void path_filter_terms(const PathFilter *filter, SearchTerms *terms) {
    /* The last first: it is the rarest, and where nothing has it the others need not be looked up. */
    for (guint i = filter->components->len; i-- > 0;) {
        const char *component = g_ptr_array_index(filter->components, i);
        if (strchr(component, '*') == NULL) search_terms_component(terms, component, strlen(component));
    }
}
