#include "common/wire/htraced/htraced_batch.h"

#include "common/base/limits.h"

void htraced_set_tracer(SpanBatch *batch, const char *tracer, gsize length) {
    const guint32 index = batch_intern(batch, tracer, length);
    for (guint i = 0; i < batch->spans->len; i++) {
        BatchSpan *span = &g_array_index(batch->spans, BatchSpan, i);
        if (batch_string(batch, span->tracer).length == 0) span->tracer = index;
    }
}

gboolean htraced_batch_fits(const SpanBatch *batch, GError **error) {
    if (batch->spans->len > LIMIT_BATCH_SPANS)
        return fail(error, PLUMB_ERROR_LIMIT, "more than %u spans: send fewer at a time", LIMIT_BATCH_SPANS);
    if (batch->strings->len > LIMIT_BATCH_STRINGS)
        return fail(error, PLUMB_ERROR_LIMIT, "more than %u names and keys: send fewer spans at a time",
                    LIMIT_BATCH_STRINGS);
    const guint entries = MAX(MAX(batch->parents->len, batch->annotations->len), batch->notes->len);
    if (entries > LIMIT_BATCH_ENTRIES)
        return fail(error, PLUMB_ERROR_LIMIT, "more than %u parents, annotations or notes: send fewer spans at a time",
                    LIMIT_BATCH_ENTRIES);
    return TRUE;
}
