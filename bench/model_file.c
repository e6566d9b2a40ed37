#include "bench/model_file.h"

#include "common/base/error.h"
#include "common/wire/json/span_json.h"

gboolean model_read(const char *path, SpanBatch *model, GError **error) {
    g_autofree char *text = NULL;
    gsize length = 0;
    if (!g_file_get_contents(path, &text, &length, error)) return FALSE;

    g_autoptr(SpanJsonReader) reader = span_json_reader_new();
    gsize at = 0;
    while (at < length) {
        gsize consumed = 0;
        span_json_feed(reader, (Bytes){text + at, length - at}, G_MAXUINT, model, &consumed);
        if (consumed == 0) break;
        at += consumed;
    }
    span_json_finish(reader);

    SpanJsonCounts counts = span_json_counts(reader);
    if (counts.bad_values > 0)
        return fail(error, PLUMB_ERROR_INPUT, "%s: %s", path,
                    counts.first_error != NULL ? counts.first_error->message : "bad JSON");
    if (model->spans->len == 0) return fail(error, PLUMB_ERROR_INPUT, "%s holds no spans", path);
    return TRUE;
}
