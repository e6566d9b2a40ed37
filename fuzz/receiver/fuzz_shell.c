/* What a reader asks the page's shell for. The arguments that are made of it are such as plumb takes: the command
 * first, options of the list with no space for another one, one "--", and then values alone. */
#include <string.h>

#include "fuzz/target.h"
#include "receiver/shell/plan.h"

static gboolean is_of(const PlanAnalysis *analysis, const char *option) {
    for (const PlanParameter *at = analysis->parameters; at->name != NULL; at++) {
        const gsize length = strlen(at->name);
        if (at->argument || strncmp(option, at->name, length) != 0) continue;
        if (option[length] == (at->kind == PLAN_FLAG ? '\0' : '=')) return TRUE;
    }
    return FALSE;
}

static void look_at(char **arguments, const PlanAnalysis *analysis) {
    g_assert_cmpstr(arguments[0], ==, analysis->name);
    guint i = 1;
    for (; strcmp(arguments[i], "--") != 0; i++) {
        g_assert_true(g_str_has_prefix(arguments[i], "--") && is_of(analysis, arguments[i] + 2));
        g_assert_cmpuint(strlen(arguments[i]), <=, PLAN_TEXT_BYTES + 32);
    }
    g_assert_cmpuint(g_strv_length(arguments + i + 1), <=, 2);

    g_autofree char *command = plan_command((const char *const *)arguments);
    g_auto(GStrv) read_again = NULL;
    g_assert_true(g_shell_parse_argv(command, NULL, &read_again, NULL));
    g_assert_cmpstr(read_again[0], ==, "plumb");
    g_assert_cmpuint(g_strv_length(read_again), <=, g_strv_length(arguments) + 1);
    g_assert_null(strpbrk(command, "\n\r\033"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    json_t *request = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    if (request == NULL) return 0;
    const PlanAnalysis *analysis = NULL;
    g_autoptr(GError) error = NULL;
    g_auto(GStrv) arguments = plan_arguments(request, &analysis, &error);
    g_assert_true((arguments == NULL) == (error != NULL));
    if (arguments != NULL) look_at(arguments, analysis);
    if (error != NULL) g_assert_true(g_utf8_validate(error->message, -1, NULL));
    json_decref(request);
    return 0;
}
