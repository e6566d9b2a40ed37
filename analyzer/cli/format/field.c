#include "analyzer/cli/format/field.h"

static const json_t *get(const json_t *object, const char *name) { return json_object_get(object, name); }

gint64 field_int(const json_t *object, const char *name) {
    const json_t *value = get(object, name);
    if (json_is_integer(value)) return json_integer_value(value);
    double real = json_real_value(value);
    if (real >= 9.2e18 || real <= -9.2e18) return real > 0 ? G_MAXINT64 : G_MININT64;
    return (gint64)real;
}

double field_number(const json_t *object, const char *name) { return json_number_value(get(object, name)); }

gboolean field_true(const json_t *object, const char *name) { return json_is_true(get(object, name)); }

const char *field_text(const json_t *object, const char *name) {
    const char *text = json_string_value(get(object, name));
    return text != NULL ? text : "";
}

/* NULL is an empty list to jansson's functions. */
const json_t *field_list(const json_t *object, const char *name) {
    const json_t *value = get(object, name);
    return json_is_array(value) ? value : NULL;
}

const json_t *field_object(const json_t *object, const char *name) {
    const json_t *value = get(object, name);
    return json_is_object(value) ? value : NULL;
}

gboolean field_present(const json_t *object, const char *name) { return get(object, name) != NULL; }
