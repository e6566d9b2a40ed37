/* What to look for: conditions that must all hold for some record of a trace. A condition that the search index does
 * not help with is left out; what is found must be looked at in any case. */
#pragma once

#include <glib.h>

typedef struct SearchTerms SearchTerms;
SearchTerms *search_terms_new(void);
void search_terms_free(SearchTerms *terms);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SearchTerms, search_terms_free)
gboolean search_terms_any(const SearchTerms *terms); /* is there a condition? */
void search_terms_host(SearchTerms *terms, guint32 host);
void search_terms_component(SearchTerms *terms, const char *text, gsize length); /* a whole component of a path */
void search_terms_value(SearchTerms *terms, guint32 key, const char *value, gsize length); /* an annotation's */
void search_terms_patterns(SearchTerms *terms, const guint32 *numbers, guint n);           /* one of these */
void search_terms_duration(SearchTerms *terms, gint64 min_ns, gint64 max_ns);              /* both included */
