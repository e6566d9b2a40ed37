#include <stdlib.h>
#include <string.h>

#include "analyzer/cli/show/show.h"
#include "analyzer/otlp/otlp_request.h"
#include "common/base/harmless.h"

void show_trace_otlp(const json_t *document, const ShowOptions *options, GString *out) {
    (void)options;
    json_auto_t *request = otlp_request(field_list(document, "spans"));
    char *text = json_dumps(request, JSON_COMPACT);
    harmless_json_append(out, text, strlen(text));
    g_string_append_c(out, '\n');
    free(text);
}
