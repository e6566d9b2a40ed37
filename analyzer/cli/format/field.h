/* Fields of a JSON document that came from outside: an absent field, or one of another type, is 0, "" or an empty list.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

gint64 field_int(const json_t *object, const char *name); /* of reals: their integer part */
double field_number(const json_t *object, const char *name);
gboolean field_true(const json_t *object, const char *name);
const char *field_text(const json_t *object, const char *name); /* borrowed */
const json_t *field_list(const json_t *object, const char *name);
const json_t *field_object(const json_t *object, const char *name); /* NULL when absent */
gboolean field_present(const json_t *object, const char *name);
