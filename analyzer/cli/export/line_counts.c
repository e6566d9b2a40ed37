#include "analyzer/cli/export/line_counts.h"

#include <string.h>

#include "common/wire/json/record_json.h"

/* What the line of a record of Spark begins with. */
static const char record_begin[] = "{\"" RECORD_JSON_KEY "\":";
#define RECORD_BEGIN_BYTES (sizeof record_begin - 1)

void line_counts_add(LineCounts *counts, Bytes piece) {
    const char *at = piece.data, *end = at + piece.size_bytes;
    while (at < end) {
        while (at < end && counts->matched < RECORD_BEGIN_BYTES && *at != '\n')
            counts->matched = *at++ == record_begin[counts->matched] ? counts->matched + 1 : G_MAXSIZE;
        if (at == end || (at = memchr(at, '\n', (gsize)(end - at))) == NULL) return;
        counts->records += counts->matched == RECORD_BEGIN_BYTES;
        counts->spans += counts->matched != RECORD_BEGIN_BYTES;
        counts->matched = 0;
        at++;
    }
}
