#include "analyzer/query/shared/json_compact.h"

#include <string.h>

#include "common/base/allowance.h"
#include "common/base/digits.h"
#include "common/base/harmless.h"

#define FIRST_BYTES 4096u
#define REAL_BYTES  64u
#define REAL_FLAGS  (JSON_ENCODE_ANY | JSON_REAL_PRECISION(15))

void json_text_clear(JsonText *text) {
    g_free(text->data);
    allowance_release(text->size);
    *text = (JsonText){NULL, 0, 0};
}

/* Room for so many bytes at the end. */
static char *room(JsonText *text, gsize n) {
    if (text->size - text->used < n) {
        const gsize before = text->size;
        text->size = MAX(MAX(2 * text->size, FIRST_BYTES), text->used + n);
        allowance_charge(text->size - before);
        text->data = g_realloc(text->data, text->size);
    }
    return text->data + text->used;
}

void json_put_bytes(JsonText *text, const char *data, gsize n) {
    if (n == 0) return; /* there may be no memory yet */
    memcpy(room(text, n), data, n);
    text->used += n;
}

static void put_char(JsonText *text, char c) {
    *room(text, 1) = c;
    text->used++;
}

/* Nearly all characters of names are ASCII: what is not is looked at one by one. */
static gboolean plain_ascii(guint8 c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

static void put_code(JsonText *text, gunichar c) {
    static const char digits[] = "0123456789ABCDEF";
    char *at = room(text, 6);
    memcpy(at, "\\u", 2);
    for (guint i = 0; i < 4; i++) at[2 + i] = digits[c >> (12 - 4 * i) & 15];
    text->used += 6;
}

static void put_escaped(JsonText *text, guint8 c) {
    static const char names[] = "btn\0fr"; /* of 8 to 13; 11 has none */
    if (c != '"' && c != '\\' && (c < '\b' || c > '\r' || c == '\v')) {
        put_code(text, c);
        return;
    }
    char *at = room(text, 2);
    at[0] = '\\';
    at[1] = c >= 0x20 ? (char)c : names[c - '\b'];
    text->used += 2;
}

void json_put_string(JsonText *text, const char *string, gsize length) {
    const char *from = string, *at = string, *end = string + length;
    if (!allowance_goes_on_with(length)) return; /* nobody will read it */
    put_char(text, '"');

    while (at < end) {
        gunichar c = (guint8)*at;
        gsize bytes = 1;
        if (plain_ascii((guint8)c) || (c >= 0x7f && (bytes = harmless_json_find(at, end, &c)) == 0)) {
            at++;
            continue;
        }

        json_put_bytes(text, from, (gsize)(at - from));
        if (c < 0x7f)
            put_escaped(text, (guint8)c);
        else
            put_code(text, c);
        from = at += bytes;
    }

    json_put_bytes(text, from, (gsize)(end - from));
    put_char(text, '"');
}

void json_put_integer(JsonText *text, json_int_t value) {
    char digits[DIGITS_MOST], *end = digits + sizeof digits, *at = digits_before_signed(end, value);
    json_put_bytes(text, at, (gsize)(end - at));
}

/* rows: NULL, or of this object. */
static void put_object(JsonText *text, json_t *object, const JsonRows *rows) {
    char before = '{';
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        put_char(text, before);
        json_put_string(text, json_object_iter_key(at), json_object_iter_key_len(at));
        put_char(text, ':');
        if (rows != NULL && strcmp(json_object_iter_key(at), rows->member) == 0)
            json_put_bytes(text, rows->text.data, rows->text.used);
        else
            json_put_value(text, json_object_iter_value(at));
        before = ',';
    }
    if (before == '{') put_char(text, '{');
    put_char(text, '}');
}

static void put_array(JsonText *text, json_t *array) {
    gsize n = json_array_size(array);
    put_char(text, '[');
    for (gsize i = 0; i < n; i++) {
        if (i > 0) put_char(text, ',');
        json_put_value(text, json_array_get(array, i));
    }
    put_char(text, ']');
}

void json_put_value(JsonText *text, json_t *value) {
    if (!allowance_goes_on()) return; /* nobody will read it */
    switch (json_typeof(value)) {
    case JSON_OBJECT: put_object(text, value, NULL); break;
    case JSON_ARRAY: put_array(text, value); break;
    case JSON_STRING: json_put_string(text, json_string_value(value), json_string_length(value)); break;
    case JSON_INTEGER: json_put_integer(text, json_integer_value(value)); break;
    case JSON_REAL: text->used += json_dumpb(value, room(text, REAL_BYTES), REAL_BYTES, REAL_FLAGS); break;
    case JSON_TRUE: json_put_bytes(text, "true", 4); break;
    case JSON_FALSE: json_put_bytes(text, "false", 5); break;
    case JSON_NULL: json_put_bytes(text, "null", 4); break;
    }
}

static char *finish(JsonText *text, gsize *size_bytes) {
    *size_bytes = text->used;
    *room(text, 1) = '\0';
    return text->data;
}

char *json_compact(json_t *document, gsize *size_bytes) {
    JsonText text = {NULL, 0, 0};
    json_put_value(&text, document);
    return finish(&text, size_bytes);
}

GBytes *json_compact_bytes(json_t *document) {
    gsize size_bytes;
    char *text = json_compact(document, &size_bytes);
    json_decref(document);
    return g_bytes_new_take(text, size_bytes);
}

char *json_compact_rows(json_t *document, JsonRows *rows, gsize *size_bytes) {
    JsonText text = {NULL, 0, 0};
    if (rows->member == NULL) return json_compact(document, size_bytes);
    if (strcmp(rows->member, JSON_ROWS_ALL) == 0) {
        text = rows->text;
        rows->text = (JsonText){NULL, 0, 0};
        return finish(&text, size_bytes);
    }
    room(&text, rows->text.used + FIRST_BYTES);
    put_object(&text, document, rows);
    return finish(&text, size_bytes);
}
