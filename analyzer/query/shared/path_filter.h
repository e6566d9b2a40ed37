/* What a search for a path finds.
 *
 * The text is whole components of a path, in order: "/a/b" stands for /a/b and all below it; "b/c", without the first
 * '/', for these two one behind the other anywhere in a path. A '*' stands for any characters within its component.
 * Whole components, because only those can be looked up; and because /a/b is seldom asked for to see /a/bc. */
#pragma once

#include "analyzer/archive/read/search_terms.h"

typedef struct PathFilter {
    gboolean anchored;
    GPtrArray *components; /* char * */
} PathFilter;

/* NULL when the text has no component. */
PathFilter *path_filter_new(const char *text);
void path_filter_free(PathFilter *filter);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PathFilter, path_filter_free)

/* Of an annotation's value: FALSE when it is no path. */
gboolean path_filter_fits(const PathFilter *filter, const char *value, gsize length);
void path_filter_terms(const PathFilter *filter, SearchTerms *terms);
