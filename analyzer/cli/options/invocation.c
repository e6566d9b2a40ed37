#include "analyzer/cli/options/invocation.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/cli/format/field.h"
#include "analyzer/cli/format/progress.h"
#include "analyzer/cli/show/show_csv.h"
#include "common/base/error.h"
#include "common/base/harmless.h"

#define JSON_FLAGS (JSON_INDENT(2) | JSON_REAL_PRECISION(15))

void invocation_say(const char *command, const char *what) {
    g_autofree char *line = harmless_line(what); /* servers' texts, names of applications and files are in it */
    fprintf(stderr, "plumb%s%s: %s\n", command != NULL ? " " : "", command != NULL ? command : "", line);
}

CliExit invocation_failed(const Invocation *invocation, GError *error) {
    invocation_say(invocation->command->name, error->message);
    gboolean usage = g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_CONFIG) ||
                     g_error_matches(error, PLUMB_ERROR, PLUMB_ERROR_INPUT);
    g_error_free(error);
    return usage ? CLI_USAGE : CLI_FAILED;
}

CliExit invocation_usage(const Invocation *invocation, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    invocation_say(invocation->command->name, what);
    return CLI_USAGE;
}

/* Tables of the store that cannot be read. */
static void tell_damages(const Invocation *invocation, const json_t *document) {
    gsize i;
    const json_t *damage;
    json_array_foreach((json_t *)field_list(document, "unreadable"), i, damage) {
        g_autofree char *what =
            g_strdup_printf("%s of the store %s: %s may be missing here; `plumb status` and docs/operate.md say more",
                            field_text(damage, "file"),
                            strcmp(field_text(damage, "state"), "mended") == 0 ? "was damaged" : "cannot be read",
                            field_text(damage, "holds"));
        invocation_say(invocation->command->name, what);
    }
}

json_t *invocation_answer(const Invocation *invocation, const Ask *ask, const char *label, CliExit *exit_code) {
    g_autoptr(Progress) progress = progress_start(&invocation->style, label);
    GError *error = NULL;
    g_autoptr(Source) source = source_open(&invocation->source, &error);
    json_t *document = source != NULL ? source_ask(source, ask, &error) : NULL;
    progress_stop(g_steal_pointer(&progress));
    if (document != NULL) {
        tell_damages(invocation, document);
        return document;
    }
    *exit_code = invocation_failed(invocation, error);
    return NULL;
}

ShowOptions invocation_show_options(const Invocation *invocation) { return (ShowOptions){.style = invocation->style}; }

static CliExit finish_output(const Invocation *invocation, gboolean written) {
    if (written && fflush(stdout) == 0) return CLI_OK;
    g_autofree char *what = g_strdup_printf("cannot write the answer: %s", g_strerror(errno));
    invocation_say(invocation->command->name, what);
    return CLI_FAILED;
}

CliExit invocation_print_text(const Invocation *invocation, const GString *text) {
    return finish_output(invocation, fwrite(text->str, 1, text->len, stdout) == text->len);
}

/* jansson cuts no character between two pieces. */
static int write_json_piece(const char *json, size_t size_bytes, void *arg) {
    g_autoptr(GString) harmless = g_string_sized_new(size_bytes);
    harmless_json_append(harmless, json, size_bytes);
    return fwrite(harmless->str, 1, harmless->len, arg) == harmless->len ? 0 : -1;
}

static CliExit print_csv(const Invocation *invocation, const json_t *document) {
    const Command *command = invocation->command;
    g_autoptr(GString) text = g_string_new(NULL);
    json_auto_t *made = command->rows != NULL ? json_pack("{s:o}", "rows", command->rows(document)) : NULL;
    if (!show_csv(made != NULL ? made : document, command->csv, text)) {
        invocation_say(invocation->command->name, "this answer is no table: ask for --json");
        return CLI_USAGE;
    }
    if (json_is_true(json_object_get(document, "more")))
        invocation_say(invocation->command->name, "there are more rows than these: --limit says how many are wanted");
    return invocation_print_text(invocation, text);
}

CliExit invocation_print(const Invocation *invocation, const json_t *document, Show show, const ShowOptions *options) {
    if (invocation->json) {
        gboolean written = json_dump_callback(document, write_json_piece, stdout, JSON_FLAGS) == 0;
        return finish_output(invocation, written && fputc('\n', stdout) != EOF);
    }
    if (invocation->csv) return print_csv(invocation, document);
    GString *text = g_string_new(NULL);
    show(document, options, text);
    CliExit exit_code = invocation_print_text(invocation, text);
    g_string_free(text, TRUE);
    return exit_code;
}

CliExit invocation_show(const Invocation *invocation, const Ask *ask, const char *label, Show show,
                        const ShowOptions *options) {
    CliExit exit_code = CLI_OK;
    json_auto_t *document = invocation_answer(invocation, ask, label, &exit_code);
    return document != NULL ? invocation_print(invocation, document, show, options) : exit_code;
}
