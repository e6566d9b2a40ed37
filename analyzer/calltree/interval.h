/* A span as an interval of time. A reversed span (it says that it ended before it began) lasts no time at all; an end
 * past what 64 bits hold is the last moment they hold. */
#pragma once

#include "common/model/span.h"

static inline gint64 span_length_ns(const SpanRec *span) {
    if (span->duration_ns <= 0) return 0;
    if (span->begin_ns <= 0) return span->duration_ns;
    gint64 longest = G_MAXINT64 - span->begin_ns;
    return span->duration_ns < longest ? span->duration_ns : longest;
}

static inline gint64 span_end_ns(const SpanRec *span) { return span->begin_ns + span_length_ns(span); }

/* to - from for from <= to; G_MAXINT64 when 64 bits do not hold it. */
static inline gint64 interval_ns(gint64 from, gint64 to) {
    guint64 length = (guint64)to - (guint64)from;
    return length > G_MAXINT64 ? G_MAXINT64 : (gint64)length;
}
