#include "common/base/config_value.h"

#include <errno.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/error.h"

typedef struct Unit {
    const char *name;
    gint64 factor;
} Unit;

/* Largest first: the first unit that divides a number gives its shortest form. */
static const Unit size_units[] = {
    {"T", G_GINT64_CONSTANT(1) << 40}, {"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}, {"", 1}, {NULL, 0},
};
static const Unit duration_units[] = {
    {"d", 24 * 60 * NS_PER_MINUTE},
    {"h", 60 * NS_PER_MINUTE},
    {"m", NS_PER_MINUTE},
    {"s", NS_PER_SEC},
    {"ms", NS_PER_MS},
    {"us", NS_PER_US},
    {"ns", 1},
    {NULL, 0},
};

/* A decimal number at *at, which is moved behind it. */
static gboolean parse_number(const char **at, gint64 *number) {
    const char *digits = **at == '-' ? *at + 1 : *at;
    if (!g_ascii_isdigit(*digits)) return FALSE;
    char *end;
    errno = 0;
    gint64 parsed = g_ascii_strtoll(*at, &end, 10);
    if (errno == ERANGE) return FALSE;
    *at = end;
    *number = parsed;
    return TRUE;
}

static const char *skip_blanks(const char *at) {
    while (g_ascii_isspace(*at)) at++;
    return at;
}

static gboolean parse_scaled(const char *text, const Unit *units, gint64 *number) {
    const char *at = skip_blanks(text);
    gint64 count, scaled;
    if (!parse_number(&at, &count)) return FALSE;
    g_autofree char *unit = g_strstrip(g_strdup(at));
    for (; units->name != NULL; units++) {
        if (strcmp(unit, units->name) != 0) continue;
        if (__builtin_mul_overflow(count, units->factor, &scaled)) return FALSE;
        *number = scaled;
        return TRUE;
    }
    return FALSE;
}

gboolean size_parse(const char *text, gint64 *size_bytes) {
    g_autofree char *plain = g_ascii_strup(text, -1);
    g_strstrip(plain);
    /* "64KiB", "64KB" and "64K" mean the same, "64B" is 64. */
    gsize length = strlen(plain);
    if (g_str_has_suffix(plain, "IB")) {
        if (length < 3 || !g_ascii_isalpha(plain[length - 3])) return FALSE;
        plain[length - 2] = 0;
    } else if (g_str_has_suffix(plain, "B")) {
        plain[length - 1] = 0;
    }
    return parse_scaled(plain, size_units, size_bytes);
}

gboolean duration_parse(const char *text, gint64 *duration_ns) {
    const char *at = skip_blanks(text);
    if (at[0] == '0' && *skip_blanks(at + 1) == 0) {
        *duration_ns = 0;
        return TRUE;
    }
    return parse_scaled(text, duration_units, duration_ns);
}

static char *format_scaled(gint64 number, const Unit *units) {
    if (number == 0) return g_strdup("0");
    while (number % units->factor != 0) units++;
    return g_strdup_printf("%" G_GINT64_FORMAT "%s", number / units->factor, units->name);
}

char *size_format(gint64 size_bytes) { return format_scaled(size_bytes, size_units); }
char *duration_format(gint64 duration_ns) { return format_scaled(duration_ns, duration_units); }

void config_value_clear(ConfigValue *value) {
    g_free(value->text);
    g_strfreev(value->list);
    *value = (ConfigValue){NULL, 0, NULL};
}

static gboolean parse_bool(const char *text, gint64 *number) {
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1", NULL};
    for (guint i = 0; words[i] != NULL; i++) {
        if (g_ascii_strcasecmp(text, words[i]) != 0) continue;
        *number = i % 2;
        return TRUE;
    }
    return FALSE;
}

static gboolean parse_int(const char *text, gint64 *number) {
    gint64 parsed;
    if (!parse_number(&text, &parsed) || *text != 0) return FALSE;
    *number = parsed;
    return TRUE;
}

static gboolean parse_choice(const char *text, const char *choices, gint64 *number) {
    g_auto(GStrv) names = g_strsplit(choices, "|", -1);
    for (guint i = 0; names[i] != NULL; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *number = i;
        return TRUE;
    }
    return FALSE;
}

static char **split_list(const char *text) {
    g_auto(GStrv) parts = g_strsplit(text, ";", -1);
    GPtrArray *kept = g_ptr_array_new();
    for (char **part = parts; *part != NULL; part++) {
        if (*g_strstrip(*part) != 0) g_ptr_array_add(kept, g_strdup(*part));
    }
    g_ptr_array_add(kept, NULL);
    return (char **)g_ptr_array_free(kept, FALSE);
}

static gboolean has_bounds(const ConfigOption *option) { return option->min != 0 || option->max != 0; }

static gboolean parse_number_of(const ConfigOption *option, const char *text, gint64 *number) {
    gint64 parsed = 0;
    gboolean ok = TRUE;
    switch (option->type) {
    case CONFIG_BOOL: ok = parse_bool(text, &parsed); break;
    case CONFIG_INT: ok = parse_int(text, &parsed); break;
    case CONFIG_SIZE: ok = size_parse(text, &parsed) && parsed >= 0; break;
    case CONFIG_DURATION: ok = duration_parse(text, &parsed) && parsed >= 0; break;
    case CONFIG_ENUM: ok = parse_choice(text, option->choices, &parsed); break;
    case CONFIG_STRING:
    case CONFIG_LIST: break;
    }
    if (!ok || (has_bounds(option) && (parsed < option->min || parsed > option->max))) return FALSE;
    *number = parsed;
    return TRUE;
}

gboolean config_value_parse(const ConfigOption *option, const char *text, const char *where, ConfigValue *value,
                            GError **error) {
    g_autofree char *stripped = g_strstrip(g_strdup(text));
    gint64 number = 0;
    if (!parse_number_of(option, stripped, &number)) {
        g_autofree char *allowed = config_value_allowed(option);
        return fail(error, PLUMB_ERROR_CONFIG, "%s: %s = '%s': must be %s", where, option->name, stripped, allowed);
    }
    config_value_clear(value);
    value->number = number;
    if (option->type == CONFIG_LIST) value->list = split_list(stripped);
    value->text = g_steal_pointer(&stripped);
    return TRUE;
}

static char *format_bound(const ConfigOption *option, gint64 bound) {
    switch (option->type) {
    case CONFIG_SIZE: return size_format(bound);
    case CONFIG_DURATION: return duration_format(bound);
    default: return g_strdup_printf("%" G_GINT64_FORMAT, bound);
    }
}

static char *choices_text(const char *choices) {
    g_auto(GStrv) names = g_strsplit(choices, "|", -1);
    g_autofree char *listed = g_strjoinv(", ", names);
    return g_strdup_printf("one of %s", listed);
}

char *config_value_allowed(const ConfigOption *option) {
    const char *kind = NULL;
    switch (option->type) {
    case CONFIG_BOOL: return g_strdup("true or false");
    case CONFIG_STRING: return g_strdup("text");
    case CONFIG_LIST: return g_strdup("texts with ';' between");
    case CONFIG_ENUM: return choices_text(option->choices);
    case CONFIG_INT: kind = "a whole number"; break;
    case CONFIG_SIZE: kind = "a size in bytes or with K, M, G or T"; break;
    case CONFIG_DURATION: kind = "a time with ms, s, m, h or d"; break;
    }
    if (!has_bounds(option)) return g_strdup(kind);
    g_autofree char *min = format_bound(option, option->min), *max = format_bound(option, option->max);
    return g_strdup_printf("%s, from %s to %s", kind, min, max);
}
