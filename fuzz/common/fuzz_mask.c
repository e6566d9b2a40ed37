/* Rules of masking, and texts: the input is rules, a line feed, the key of an annotation, a line feed, its value. What
 * is masked is no longer than a value may be, is UTF-8, and stays as it is when it is masked again. */
#include <string.h>

#include "common/base/limits.h"
#include "common/model/mask.h"
#include "fuzz/target.h"

static void check(Masker *masker, const char *key, const char *value) {
    g_autofree char *masked = masker_value(masker, key, value), *text = masker_text(masker, value);
    g_autofree char *again = masked != NULL ? masker_value(masker, key, masked) : NULL;
    g_autofree char *text_again = masker_text(masker, text);
    g_assert_cmpstr(masked, ==, again);
    g_assert_cmpstr(text, ==, text_again);
    g_assert_true(masked == NULL || (g_utf8_validate(masked, -1, NULL) && strlen(masked) <= LIMIT_VALUE_BYTES));
    g_assert_true(g_utf8_validate(text, -1, NULL) && strlen(text) <= LIMIT_VALUE_BYTES);
}

static void check_batch(Masker *masker, const char *key, const char *value) {
    g_autoptr(SpanBatch) batch = batch_new();
    BatchSpan *span = batch_begin_span(batch, (SpanId){1, 1});
    const gsize length = strlen(value);
    const char *end = length > LIMIT_NAME_BYTES ? g_utf8_find_prev_char(value, value + LIMIT_NAME_BYTES + 1) : NULL;
    span->name = batch_intern(batch, value, end != NULL ? (gsize)(end - value) : length);
    batch_add_annotation(batch, batch_intern(batch, key, strlen(key)), batch_copy(batch, value, strlen(value)));
    batch_add_note(batch, 1, batch_copy(batch, value, strlen(value)));
    masker_batch(masker, batch);
    g_assert_cmpuint(batch_string(batch, batch_span(batch, 0)->name).length, <=, LIMIT_NAME_BYTES);
    g_assert_cmpuint(batch_span(batch, 0)->n_annotations, <=, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    g_autofree char *input = g_strndup((const char *)data, MIN(size, LIMIT_VALUE_BYTES));
    g_autofree char *valid = g_utf8_make_valid(input, -1);
    g_auto(GStrv) parts = g_strsplit(valid, "\n", 3);
    if (g_strv_length(parts) < 3 || strlen(parts[2]) > LIMIT_VALUE_BYTES) return 0;
    g_auto(GStrv) rules = g_strsplit(parts[0], ";", 0);
    for (char **at = rules; *at != NULL; at++) g_strstrip(*at);
    g_autoptr(GError) error = NULL;
    g_autoptr(Mask) mask = mask_new((const char *const *)rules, "0123456789abcdef", 16, &error);
    g_assert_true((mask == NULL) == (error != NULL));
    if (mask == NULL) return 0;
    g_autoptr(Masker) masker = masker_new(mask);
    check(masker, parts[1], parts[2]);
    check_batch(masker, parts[1], parts[2]);
    return 0;
}
