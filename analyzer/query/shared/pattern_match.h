/* Which traces have a pattern that a question asks for. Each is looked at once: traces are many, patterns few. */
#pragma once

#include "analyzer/archive/read/scan.h"

typedef struct PatternMatch {
    Archive *archive;
    gboolean (*matches)(const void *arg, const Pattern *pattern);
    const void *arg;
    GHashTable *known; /* pattern number -> 1: no, 2: yes */
} PatternMatch;

void pattern_match_init(PatternMatch *match, Archive *archive,
                        gboolean (*matches)(const void *arg, const Pattern *pattern), const void *arg);
void pattern_match_clear(PatternMatch *match);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PatternMatch, pattern_match_clear)

/* By the store's number. A mixed pattern counts rare shapes: it only tells that one of them may match. */
gboolean pattern_match_number(PatternMatch *match, guint32 number);
/* Of the scan's current record, whose pattern has that number: of a rare shape the record itself tells. */
gboolean pattern_match_record(PatternMatch *match, ArchiveScan *scan, guint32 number);
