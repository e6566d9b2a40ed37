#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/otlp/otlp_inside.h"

static void put_text(GByteArray *out, guint8 number, const char *text) {
    const gsize length = strlen(text);
    append_u8(out, (guint8)(number << 3 | 2));
    append_varint(out, length);
    append_bytes(out, text, length);
}

static void put_number(GByteArray *out, guint8 number, guint64 value) {
    append_u8(out, (guint8)(number << 3));
    append_varint(out, value);
}

static GBytes *json_bytes(json_t *document) {
    json_auto_t *whole = document;
    char *text = json_dumps(whole, JSON_COMPACT);
    if (text == NULL) return g_bytes_new_static("{}", 2);
    return g_bytes_new_with_free_func(text, strlen(text), free, text);
}

GBytes *otlp_response(OtlpForm form, guint32 rejected, const char *message) {
    const gboolean partial = rejected > 0 || message[0] != '\0';
    if (form == OTLP_JSON) {
        if (!partial) return g_bytes_new_static("{}", 2);
        g_autofree char *count = g_strdup_printf("%u", rejected); /* 64-bit numbers are texts in protobuf's JSON */
        return json_bytes(
            json_pack("{s:{s:s, s:s}}", "partialSuccess", "rejectedSpans", count, "errorMessage", message));
    }

    GByteArray *out = g_byte_array_new();
    if (partial) {
        g_autoptr(GByteArray) success = g_byte_array_new();
        if (rejected > 0) put_number(success, 1, rejected);
        if (message[0] != '\0') put_text(success, 2, message);
        append_u8(out, 1 << 3 | 2);
        append_varint(out, success->len);
        append_bytes(out, success->data, success->len);
    }
    return g_byte_array_free_to_bytes(out);
}

GBytes *otlp_error(OtlpForm form, int code, const char *message) {
    if (form == OTLP_JSON) return json_bytes(json_pack("{s:i, s:s}", "code", code, "message", message));
    GByteArray *out = g_byte_array_new();
    put_number(out, 1, (guint64)code);
    put_text(out, 2, message);
    return g_byte_array_free_to_bytes(out);
}

const char *otlp_content_type(OtlpForm form) {
    return form == OTLP_JSON ? "application/json" : "application/x-protobuf";
}

int otlp_code_of_http(int http) {
    switch (http) {
    case 400: return 3; /* INVALID_ARGUMENT */
    case 413:           /* RESOURCE_EXHAUSTED, as 429 */
    case 429: return 8;
    case 503: return 14; /* UNAVAILABLE */
    default: return 13;  /* INTERNAL */
    }
}
