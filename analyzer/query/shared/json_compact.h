/* The text of a document: the same bytes as of json_dumps() with JSON_COMPACT and 15 digits of reals, but not made
 * character by character and of each integer by way of printf. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* Text that grows. Cleared it is empty, and may be used. */
typedef struct JsonText {
    char *data;
    gsize used, size;
} JsonText;

void json_text_clear(JsonText *text);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(JsonText, json_text_clear)

/* As it is. */
void json_put_bytes(JsonText *text, const char *data, gsize n);
/* Quoted and escaped; must be UTF-8. */
void json_put_string(JsonText *text, const char *string, gsize length);
void json_put_integer(JsonText *text, json_int_t value);
void json_put_value(JsonText *text, json_t *value);

/* Rows that were never part of a document: the text is the value of the member of that name, which is null there. */
#define JSON_ROWS_ALL ""
typedef struct JsonRows {
    const char *member; /* NULL: there are none; JSON_ROWS_ALL: the text is all of the answer */
    JsonText text;
} JsonRows;

static inline void json_rows_clear(JsonRows *rows) { json_text_clear(&rows->text); }
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(JsonRows, json_rows_clear)

/* To be freed with g_free(); ends with a zero that does not count. */
char *json_compact(json_t *document, gsize *size_bytes);
/* The same as bytes, a new reference; takes the document's. */
GBytes *json_compact_bytes(json_t *document);
/* The same, of an object and its rows, whose text may be taken. */
char *json_compact_rows(json_t *document, JsonRows *rows, gsize *size_bytes);
