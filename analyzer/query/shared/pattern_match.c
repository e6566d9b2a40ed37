#include "analyzer/query/shared/pattern_match.h"

void pattern_match_init(PatternMatch *match, Archive *archive,
                        gboolean (*matches)(const void *arg, const Pattern *pattern), const void *arg) {
    *match = (PatternMatch){archive, matches, arg, g_hash_table_new(NULL, NULL)};
}

void pattern_match_clear(PatternMatch *match) { g_clear_pointer(&match->known, g_hash_table_unref); }

gboolean pattern_match_number(PatternMatch *match, guint32 number) {
    gpointer key = GUINT_TO_POINTER(number);
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(match->known, key));
    if (known == 0) {
        g_autofree guint32 *node_of = NULL;
        guint32 nodes;
        g_autoptr(Pattern) pattern = archive_pattern_of_rows(match->archive, number, &node_of, &nodes);
        known = pattern && match->matches(match->arg, pattern) ? 2 : 1;
        g_hash_table_insert(match->known, key, GUINT_TO_POINTER(known));
    }
    return known == 2;
}

gboolean pattern_match_record(PatternMatch *match, ArchiveScan *scan, guint32 number) {
    if (!pattern_match_number(match, number)) return FALSE;
    if (!pattern_is_mixed(number)) return TRUE;
    g_autoptr(Pattern) own = archive_scan_pattern(scan, NULL);
    return own && match->matches(match->arg, own);
}
