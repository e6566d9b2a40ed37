#include "analyzer/cli/commands/option_sets.h"
#include "analyzer/cli/format/out_file.h"
#include "analyzer/cli/load/load_commands.h"
#include "analyzer/load/results/report.h"

static json_t *report_of(const Invocation *invocation, guint i, GError **error) {
    g_autoptr(LoadRun) run = load_run_open(invocation->arguments[i], error);
    const LoadReportOptions options = {.slowest = (guint)MIN(option_number(invocation, "slowest"), LOAD_SLOWEST),
                                       .pictures = option_text(invocation, "html") != NULL};
    return run != NULL ? load_report(run, invocation->arguments[i], &options) : NULL;
}

static gboolean write_page(const Invocation *invocation, const json_t *document, GError **error) {
    const ShowOptions show = invocation_show_options(invocation);
    g_autoptr(GString) page = g_string_new(NULL);
    show_load_html(document, &show, page);
    g_autoptr(OutFile) file = out_file_open(option_text(invocation, "html"), error);
    return file != NULL && out_file_write(file, (Bytes){page->str, page->len}, error) && out_file_finish(file, error);
}

static CliExit run(Invocation *invocation) {
    if (option_text(invocation, "html") != NULL && invocation->json)
        return invocation_usage(invocation, "--html and --json exclude each other");

    GError *error = NULL;
    json_auto_t *document = report_of(invocation, 0, &error);
    if (document != NULL && invocation->n_arguments > 1) {
        json_t *other = report_of(invocation, 1, &error);
        if (other == NULL) return invocation_failed(invocation, error);
        document = load_compare(document, other);
    }
    if (document == NULL) return invocation_failed(invocation, error);
    if (option_text(invocation, "html") == NULL) {
        const ShowOptions show = invocation_show_options(invocation);
        return invocation_print(invocation, document, show_load_report, &show);
    }
    return write_page(invocation, document, &error) ? CLI_OK : invocation_failed(invocation, error);
}

static const Option options[] = {
    {"slowest", OPTION_NUMBER, "N", NULL, "how many of the slowest operations are named, 100 at most", "10"},
    {"html", OPTION_TEXT, "FILE", NULL, "write it as a page with pictures instead, one file that needs no other", NULL},
    OPTION_THE_END,
};

const Command command_load_report = {
    .name = "load report",
    .arguments = "RESULT [RESULT2]",
    .min_arguments = 1,
    .max_arguments = 2,
    .missing = "report what? Name the file that 'plumb load run' wrote",
    .summary = "what a load was like, or what two differ in",
    .about = "Prints by kind of operation how many there were, how many failed, and their latency, counted from when\n"
             "they were due, with intervals of 95 %; then the slowest operations. Of two results it says which\n"
             "quantiles differ by more than chance. It asks no server, and reads a result of a run that was killed.",
    .example = "  plumb load report night.plan.result\n"
               "  plumb load report before.result after.result\n"
               "  plumb load report night.plan.result --json\n"
               "  plumb load report night.plan.result --html night.html\n",
    .options = options,
    .server_only = TRUE,
    .run = run,
};
