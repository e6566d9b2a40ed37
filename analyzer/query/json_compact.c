#include "analyzer/query/json_compact.h"

#include <string.h>

#define FIRST_BYTES   4096u
#define INTEGER_BYTES 24u
#define REAL_BYTES    64u
#define REAL_FLAGS    (JSON_ENCODE_ANY | JSON_REAL_PRECISION(15))

typedef struct Text {
    char *data;
    gsize used, size;
} Text;

/* Room for so many bytes at the end. */
static char *room(Text *text, gsize n) {
    if (text->size - text->used < n) {
        text->size = MAX(2 * text->size, text->used + n);
        text->data = g_realloc(text->data, text->size);
    }
    return text->data + text->used;
}

static void put_bytes(Text *text, const char *data, gsize n) {
    memcpy(room(text, n), data, n);
    text->used += n;
}

static void put_char(Text *text, char c) {
    *room(text, 1) = c;
    text->used++;
}

static gboolean plain(guint8 c) { return c >= 0x20 && c != '"' && c != '\\'; }

static void put_escaped(Text *text, guint8 c) {
    static const char names[] = "btn\0fr"; /* of 8 to 13; 11 has none */
    char *at = room(text, 6);
    *at++ = '\\';
    if (c == '"' || c == '\\' || (c >= '\b' && c <= '\r' && c != '\v')) {
        *at = c >= 0x20 ? (char)c : names[c - '\b'];
        text->used += 2;
        return;
    }
    static const char digits[] = "0123456789ABCDEF";
    memcpy(at, "u00", 3);
    at[3] = digits[c >> 4];
    at[4] = digits[c & 15];
    text->used += 6;
}

static void put_string(Text *text, const char *string, gsize length) {
    put_char(text, '"');
    for (gsize from = 0, at = 0;; from = ++at) {
        while (at < length && plain((guint8)string[at])) at++;
        put_bytes(text, string + from, at - from);
        if (at == length) break;
        put_escaped(text, (guint8)string[at]);
    }
    put_char(text, '"');
}

static void put_integer(Text *text, json_int_t value) {
    char digits[INTEGER_BYTES], *at = digits + sizeof digits;
    guint64 left = value < 0 ? -(guint64)value : (guint64)value;
    do *--at = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (value < 0) *--at = '-';
    put_bytes(text, at, (gsize)(digits + sizeof digits - at));
}

static void put_value(Text *text, json_t *value);

static void put_object(Text *text, json_t *object) {
    char before = '{';
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        put_char(text, before);
        put_string(text, json_object_iter_key(at), json_object_iter_key_len(at));
        put_char(text, ':');
        put_value(text, json_object_iter_value(at));
        before = ',';
    }
    if (before == '{') put_char(text, '{');
    put_char(text, '}');
}

static void put_array(Text *text, json_t *array) {
    gsize n = json_array_size(array);
    put_char(text, '[');
    for (gsize i = 0; i < n; i++) {
        if (i > 0) put_char(text, ',');
        put_value(text, json_array_get(array, i));
    }
    put_char(text, ']');
}

static void put_value(Text *text, json_t *value) {
    switch (json_typeof(value)) {
    case JSON_OBJECT: put_object(text, value); break;
    case JSON_ARRAY: put_array(text, value); break;
    case JSON_STRING: put_string(text, json_string_value(value), json_string_length(value)); break;
    case JSON_INTEGER: put_integer(text, json_integer_value(value)); break;
    case JSON_REAL: text->used += json_dumpb(value, room(text, REAL_BYTES), REAL_BYTES, REAL_FLAGS); break;
    case JSON_TRUE: put_bytes(text, "true", 4); break;
    case JSON_FALSE: put_bytes(text, "false", 5); break;
    case JSON_NULL: put_bytes(text, "null", 4); break;
    }
}

char *json_compact(json_t *document, gsize *size_bytes) {
    Text text = {g_malloc(FIRST_BYTES), 0, FIRST_BYTES};
    put_value(&text, document);
    *size_bytes = text.used;
    *room(&text, 1) = '\0';
    return text.data;
}
