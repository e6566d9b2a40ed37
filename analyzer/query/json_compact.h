/* The text of a document: the same bytes as of json_dumps() with JSON_COMPACT and 15 digits of reals, but not made
 * character by character and of each integer by way of printf. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* To be freed with g_free(); ends with a zero that does not count. */
char *json_compact(json_t *document, gsize *size_bytes);
