/* What peers say, as it comes into the audit log: the input is a principal, a path, a question and an outcome, with
 * line feeds between. It is one line of ASCII, short enough, and JSON that says the same, or its begin. */
#include <jansson.h>
#include <string.h>

#include "fuzz/target.h"
#include "receiver/secure/audit_line.h"

static void check_text(const json_t *line, const char *key, const char *text) {
    const char *said = json_string_value(json_object_get(line, key));
    g_assert_nonnull(said);
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_strdelimit(valid, "\x7f", '?');
    if (strcmp(said, valid) == 0) return;
    g_assert_true(g_str_has_suffix(said, "...")); /* cut; the last character may have been, too */
    gsize same = strlen(said) - strlen("...");
    while (same > 0 && strncmp(said, valid, same) != 0) same--;
    g_assert_cmpuint(same + 3 * strlen("\xef\xbf\xbd") + strlen("..."), >=, strlen(said));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char line[AUDIT_LINE_BYTES];
    g_autofree char *text = g_strndup((const char *)data, size);
    g_auto(GStrv) parts = g_strsplit(text, "\n", 4);
    if (g_strv_length(parts) < 4) return 0;
    const AuditEvent event = {.action = AUDIT_QUESTION,
                              .port = "http",
                              .address = "::1",
                              .principal = parts[0],
                              .route = parts[1],
                              .query = parts[2],
                              .outcome = parts[3],
                              .status = 200};
    const gsize length = audit_line(&event, (gint64)size, line);
    g_assert_cmpuint(length, <=, AUDIT_LINE_BYTES);
    for (gsize i = 0; i + 1 < length; i++) g_assert_true(line[i] >= ' ' && line[i] < 0x7f);
    g_assert_true(line[length - 1] == '\n');

    json_t *read = json_loadb(line, length, 0, NULL);
    g_assert_true(json_is_object(read));
    check_text(read, "principal", parts[0]);
    check_text(read, "route", parts[1]);
    check_text(read, "query", parts[2]);
    check_text(read, "outcome", parts[3]);
    json_decref(read);
    return 0;
}
