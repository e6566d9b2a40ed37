/* Normalised function names: numbers go out of the name and into an annotation.
 *
 * A rule is a template with one {n}: "sendBlock_{n}" turns "sendBlock_1073741825" into the name "sendBlock" (the
 * template up to {n}, less trailing "_(:#-." and blanks) and the annotation {key = the template itself, value =
 * "1073741825"}. The template and the number together give the original back, so nothing is lost. {n} matches one or
 * more decimal digits, optionally after '-'. First rule that matches wins. */
#pragma once

#include <glib.h>

typedef struct NamingRules NamingRules;

/* The defaults: sendBlock_{n}; BlockReaderLocal#fillBuffer({n}); BlockReaderLocalLegacy#fillBuffer({n});
 * BlockReaderRemote2#readNextPacket({n}); BlockReaderRemote#readChunk({n}); hedgedRead{n}. */
extern const char *const naming_default_templates[]; /* NULL-terminated */

/* NULL with *error (CONFIG, naming the template) when one has not exactly one {n} or nothing before it. */
NamingRules *naming_rules_new(const char *const *templates, GError **error);
void naming_rules_free(NamingRules *rules);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NamingRules, naming_rules_free)

typedef struct NormalName {
    const char *name; /* borrowed from the rules or, without a match, from the input */
    gsize name_length;
    const char *key;    /* the template, borrowed; NULL without a match */
    const char *number; /* borrowed from the input */
    gsize number_length;
} NormalName;

/* Thread-safe: rules do not change after they were made. */
NormalName naming_normalise(const NamingRules *rules, const char *description, gsize length);

/* The name without its numbers, as a last resort where there is no rule: each run of digits becomes '#', and so does a
 * word of four or more hexadecimal digits with a decimal one among them. 'folded' has room for 'length' bytes; returns
 * how many there are. */
gsize naming_fold(const char *description, gsize length, char *folded);

/* Is an annotation key such a template? */
gboolean naming_is_template(const char *key, gsize length);
/* Appends the original description. FALSE, with nothing appended, when key is no template or number is no number. */
gboolean naming_restore(const char *key, gsize key_length, const char *number, gsize number_length, GString *out);
