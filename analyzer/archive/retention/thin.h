/* Makes room without forgetting what matters: of patterns with many traces in an hour, some are kept, the others go.
 *
 * Kept are: traces that are incomplete, in parts, or flagged (a call that ends before it begins, or leaves its parent's
 * time); those slower than THIN_SLOW of all that the pattern had in that hour, thinned ones included; and of the rest
 * 'keep' of each pattern and hour, each with the same chance. Patterns with no more than that are not touched.
 * Statistics stay as they are, and count what is gone (removed_counts.h). */
#pragma once

#include "analyzer/archive/archive.h"

#define THIN_SLOW 0.99
/* Patterns of one hour that are looked at; further ones stay whole. */
#define THIN_PATTERNS 200000u

typedef struct ThinOptions {
    guint keep;
    gint64 until_ns; /* only hours that end before */
} ThinOptions;

typedef struct ThinResult {
    guint64 traces, spans; /* removed */
    gboolean more;         /* not through yet */
} ThinResult;

/* Goes through the hours, oldest first. */
typedef struct Thinner Thinner;
Thinner *thinner_new(Archive *archive, const ThinOptions *options);
void thinner_free(Thinner *thinner);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Thinner, thinner_free)
/* Looks at about max_records records, and gives back the space of each hour that it has finished. An error ends the
 * step, and nothing else. NO_SPACE, IO, CORRUPT. */
gboolean thinner_step(Thinner *thinner, guint max_records, ThinResult *result, GError **error);
