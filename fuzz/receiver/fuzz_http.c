/* The head of an HTTP request, its query, and the names in it. What was taken is text without a zero byte, and is read
 * again the same. */
#include <string.h>

#include "fuzz/target.h"
#include "receiver/http/http_names.h"
#include "receiver/http/request.h"

static void add_pair(void *bytes, const char *name, const char *value) {
    g_assert_cmpuint(name[0], !=, '\0');
    *(gsize *)bytes += strlen(name) + strlen(value);
}

static gboolean brings_spans(const HttpRequest *request) {
    return request->spans == HTTP_OTLP || request->spans == HTTP_ZIPKIN || request->spans == HTTP_HTRACED;
}

static void look_at(const HttpRequest *request) {
    const char *why = NULL;
    gsize bytes = 0;
    g_assert_cmpuint(request->path[0], ==, '/');
    g_assert_cmpuint(request->body_bytes, <=, brings_spans(request) ? HTTP_SPANS_MAX_BYTES : HTTP_BODY_MAX_BYTES);
    g_assert_true(!request->in_chunks || (brings_spans(request) && request->body_bytes == 0));
    g_assert_true(request->host != NULL || !request->chunks);
    if (!http_query_parse(request->query, add_pair, &bytes, &why)) g_assert_nonnull(why);
    g_assert_cmpuint(bytes, <=, request->query == NULL ? 0 : strlen(request->query));
    g_autoptr(HttpNames) names = http_names_new("127.0.0.1:9096", NULL);
    if (request->host != NULL && http_names_has(names, request->host)) {
        g_autofree char *origin = g_strconcat("http://", request->host, NULL);
        g_assert_true(http_origin_is_own(origin, request->host, FALSE));
    }
    http_origin_is_own(request->origin, request->host, TRUE);
}

/* The size of the head; 0: it is not whole, or too long. In two pieces, it is the same one. */
static gsize look(Bytes stream) {
    HttpHead whole = {0}, pieces = {0};
    gsize head_bytes, in_pieces;
    HttpHeadState state = http_head_look(&whole, stream, TRUE, &head_bytes);
    if (state == HEAD_GROWS) state = http_head_look(&whole, stream, TRUE, &head_bytes);
    const gsize half = stream.size_bytes / 2;
    HttpHeadState first = http_head_look(&pieces, (Bytes){stream.data, half}, TRUE, &in_pieces);
    if (first != HEAD_PARTIAL && first != HEAD_GROWS) return state == HEAD_WHOLE ? head_bytes : 0;
    do first = http_head_look(&pieces, stream, TRUE, &in_pieces);
    while (first == HEAD_GROWS);
    g_assert_cmpint(first, ==, state);
    g_assert_cmpuint(in_pieces, ==, head_bytes);
    return state == HEAD_WHOLE ? head_bytes : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const Bytes stream = {data, size};
    const gsize head_bytes = look(stream);
    g_assert_cmpuint(head_bytes, <=, size);
    const Bytes head = {data, head_bytes > 0 ? head_bytes - 4 : size};
    g_auto(HttpRequest) request = {0};
    g_autoptr(GError) error = NULL;
    int code = 0;
    if (http_request_parse(head, &request, &code, &error)) {
        g_assert_null(error);
        look_at(&request);
    } else {
        g_assert_nonnull(error);
        g_assert_cmpint(code, >=, 400);
    }
    return 0;
}
