#include "analyzer/cli/commands/option_sets.h"
#include "analyzer/cli/spread/spread_commands.h"
#include "analyzer/cli/spread/spread_show.h"

static void add_option(const Invocation *invocation, json_t *mark, const char *name) {
    const char *value = option_text(invocation, name);
    if (value != NULL) json_object_set_new(mark, name, json_string(value));
}

static CliExit mark_run(Invocation *invocation) {
    GError *error = NULL;
    json_auto_t *mark = json_pack("{s:s}", "text", invocation->arguments[0]);
    if (mark == NULL) return invocation_usage(invocation, "the text is not UTF-8");
    add_option(invocation, mark, "host");
    add_option(invocation, mark, "kind");
    add_option(invocation, mark, "begin");
    add_option(invocation, mark, "end");

    g_autoptr(Source) source = source_open(&invocation->source, &error);
    json_auto_t *answer = source != NULL ? source_mark(source, mark, &error) : NULL;
    if (answer == NULL) return invocation_failed(invocation, error);
    json_auto_t *document = json_pack("{s:[O]}", "marks", json_object_get(answer, "mark"));
    const ShowOptions options = invocation_show_options(invocation);
    return invocation_print(invocation, document, show_marks, &options);
}

static const Option options[] = {
    {"host", OPTION_TEXT, "HOST", NULL, "it was done there (default: on all hosts)", NULL},
    {"kind", OPTION_TEXT, "KIND", NULL, "what it is: fault, deployment, ... (default: note)", NULL},
    {"begin", OPTION_TEXT, "TIME", NULL, "since when: 15m (ago), 2026-11-21T10:00:00Z, or ns since 1970 (default: now)",
     NULL},
    {"end", OPTION_TEXT, "TIME", NULL, "until when (default: it is a moment)", NULL},
    OPTION_THE_END,
};

const Command command_mark = {
    .name = "mark",
    .arguments = "TEXT",
    .min_arguments = 1,
    .max_arguments = 1,
    .missing = "what was done? plumb mark --kind deployment 'Hadoop 3.4.2 on rack 7'",
    .summary = "notes what was done to the hosts, to be seen beside what became slow",
    .about = "A deployment, a fault that was made, anything that may explain what is measured. 'plumb marks' lists\n"
             "them, and the page has them in its maps and curves. A mark with the same host, kind and --begin\n"
             "(as it was printed) replaces the one before, so what still lasts gets its --end later. Without\n"
             "--begin it is now, in whole milliseconds.",
    .example = "  plumb mark --kind deployment 'Hadoop 3.4.2 on rack 7'\n"
               "  plumb mark --host 10.0.3.17 --kind fault --begin 20m --end 5m 'disk throttled to 20 MB/s'\n"
               "  plumb mark --begin 2026-11-21T10:00:00.125Z --end now 'rolling restart'   # as it was printed\n",
    .server_only = TRUE,
    .options = options,
    .run = mark_run,
};
