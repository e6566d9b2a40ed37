#include "common/model/naming.h"

#include <string.h>

#include "common/base/error.h"

const char *const naming_default_templates[] = {
    "sendBlock_{n}",
    "BlockReaderLocal#fillBuffer({n})",
    "BlockReaderLocalLegacy#fillBuffer({n})",
    "BlockReaderRemote2#readNextPacket({n})",
    "BlockReaderRemote#readChunk({n})",
    "hedgedRead{n}",
    NULL,
};

#define SLOT            "{n}"
#define SLOT_LENGTH     3
#define FOLD_HEX_DIGITS 4

/* A template taken apart; lengths are of the parts before and after {n}. */
typedef struct Shape {
    gsize prefix_length;
    gsize name_length; /* the prefix without its trailing punctuation */
    const char *suffix;
    gsize suffix_length;
} Shape;

typedef struct Rule {
    char *template; /* owned */
    char *name;     /* owned, zero-terminated */
    Shape shape;
} Rule;

struct NamingRules {
    GArray *rules; /* Rule */
};

/* FALSE when text has not exactly one {n} with a name before it. */
static gboolean template_shape(const char *text, gsize length, Shape *shape) {
    const char *slot = g_strstr_len(text, (gssize)length, SLOT);
    if (slot == NULL) return FALSE;
    shape->prefix_length = (gsize)(slot - text);
    shape->suffix = slot + SLOT_LENGTH;
    shape->suffix_length = length - shape->prefix_length - SLOT_LENGTH;
    if (g_strstr_len(shape->suffix, (gssize)shape->suffix_length, SLOT) != NULL) return FALSE;
    shape->name_length = shape->prefix_length;
    while (shape->name_length > 0 && strchr("_(:#-. ", text[shape->name_length - 1]) != NULL) shape->name_length--;
    return shape->name_length > 0;
}

static gboolean is_number(const char *text, gsize length) {
    gsize at = length > 0 && text[0] == '-' ? 1 : 0;
    if (at == length) return FALSE;
    for (; at < length; at++) {
        if (!g_ascii_isdigit(text[at])) return FALSE;
    }
    return TRUE;
}

static void rule_clear(gpointer data) {
    Rule *rule = data;
    g_free(rule->template);
    g_free(rule->name);
}

NamingRules *naming_rules_new(const char *const *templates, GError **error) {
    g_autoptr(NamingRules) made = g_new0(NamingRules, 1);
    made->rules = g_array_new(FALSE, FALSE, sizeof(Rule));
    g_array_set_clear_func(made->rules, rule_clear);
    for (; *templates != NULL; templates++) {
        Rule rule = {.template = g_strdup(*templates)};
        if (!template_shape(rule.template, strlen(rule.template), &rule.shape)) {
            rule_clear(&rule);
            fail(error, PLUMB_ERROR_CONFIG,
                 "naming rule '%s': write {n} exactly once, after a name, as in 'sendBlock_{n}'", *templates);
            return NULL;
        }
        rule.name = g_strndup(rule.template, rule.shape.name_length);
        g_array_append_val(made->rules, rule);
    }
    return g_steal_pointer(&made);
}

void naming_rules_free(NamingRules *rules) {
    if (rules == NULL) return;
    g_array_unref(rules->rules);
    g_free(rules);
}

/* Does text consist of the rule's prefix, a number and the rule's suffix? */
static gboolean rule_matches(const Rule *rule, const char *text, gsize length) {
    const Shape *shape = &rule->shape;
    if (length <= shape->prefix_length + shape->suffix_length) return FALSE;
    return memcmp(text, rule->template, shape->prefix_length) == 0 &&
           memcmp(text + length - shape->suffix_length, shape->suffix, shape->suffix_length) == 0 &&
           is_number(text + shape->prefix_length, length - shape->prefix_length - shape->suffix_length);
}

NormalName naming_normalise(const NamingRules *rules, const char *description, gsize length) {
    for (guint i = 0; i < rules->rules->len; i++) {
        const Rule *rule = &g_array_index(rules->rules, Rule, i);
        if (!rule_matches(rule, description, length)) continue;
        const Shape *shape = &rule->shape;
        return (NormalName){rule->name, shape->name_length, rule->template, description + shape->prefix_length,
                            length - shape->prefix_length - shape->suffix_length};
    }
    return (NormalName){description, length, NULL, NULL, 0};
}

/* Appends one word, of letters and digits. */
static gsize fold_word(const char *word, gsize length, char *folded) {
    gsize digits = 0, hex = 0, n = 0;
    for (gsize i = 0; i < length; i++) {
        if (g_ascii_isdigit(word[i])) digits++;
        if (g_ascii_isxdigit(word[i])) hex++;
    }
    if (digits > 0 && hex == length && length >= FOLD_HEX_DIGITS) {
        folded[0] = '#';
        return 1;
    }
    for (gsize i = 0; i < length; i++) {
        if (!g_ascii_isdigit(word[i]))
            folded[n++] = word[i];
        else if (i == 0 || !g_ascii_isdigit(word[i - 1]))
            folded[n++] = '#';
    }
    return n;
}

gsize naming_fold(const char *description, gsize length, char *folded) {
    gsize n = 0;
    for (gsize at = 0, end; at < length; at = end) {
        for (end = at; end < length && g_ascii_isalnum(description[end]); end++) continue;
        if (end > at)
            n += fold_word(description + at, end - at, folded + n);
        else
            folded[n++] = description[end++];
    }
    return n;
}

gboolean naming_is_template(const char *key, gsize length) {
    Shape shape;
    return template_shape(key, length, &shape);
}

gboolean naming_restore(const char *key, gsize key_length, const char *number, gsize number_length, GString *out) {
    Shape shape;
    if (!template_shape(key, key_length, &shape) || !is_number(number, number_length)) return FALSE;
    g_string_append_len(out, key, (gssize)shape.prefix_length);
    g_string_append_len(out, number, (gssize)number_length);
    g_string_append_len(out, shape.suffix, (gssize)shape.suffix_length);
    return TRUE;
}
