#include "analyzer/cli/commands/option_sets.h"
#include "analyzer/cli/format/out_file.h"
#include "analyzer/cli/load/find_folder.h"
#include "analyzer/cli/load/load_commands.h"
#include "analyzer/cli/load/waited.h"
#include "analyzer/load/results/report.h"

#define COMPARED_MOST 2u
#define SHARES_MOST   10000u

/* The i-th result; with --merge all of them as one. NULL with an error. */
static LoadRun *open_run(const Invocation *invocation, guint i, GError **error) {
    g_autoptr(LoadRun) run = load_run_open(invocation->arguments[i], error);
    if (!option_flag(invocation, "merge")) return g_steal_pointer(&run);
    for (guint next = 1; run != NULL && next < invocation->n_arguments; next++) {
        g_autoptr(LoadRun) other = load_run_open(invocation->arguments[next], error);
        if (other == NULL) return NULL;
        if (!load_run_merge(run, other, error)) {
            g_prefix_error(error, "%s: ", invocation->arguments[next]);
            return NULL;
        }
    }
    return g_steal_pointer(&run);
}

static json_t *report_of(const Invocation *invocation, guint i, GError **error) {
    g_autoptr(LoadRun) run = open_run(invocation, i, error);
    const LoadReportOptions options = {.slowest = (guint)MIN(option_number(invocation, "slowest"), LOAD_SLOWEST),
                                       .pictures = option_text(invocation, "html") != NULL};
    if (run == NULL) return NULL;
    json_t *document = load_report(run, invocation->arguments[i], &options);
    if (!option_flag(invocation, "untraced")) waited_add(invocation, run, FALSE, document);
    return document;
}

static gboolean write_page(const Invocation *invocation, const json_t *document, GError **error) {
    const ShowOptions show = invocation_show_options(invocation);
    g_autoptr(GString) page = g_string_new(NULL);
    show_load_html(document, &show, page);
    g_autoptr(OutFile) file = out_file_open(option_text(invocation, "html"), error);
    return file != NULL && out_file_write(file, (Bytes){page->str, page->len}, error) && out_file_finish(file, error);
}

static CliExit print(const Invocation *invocation, const json_t *document, Show show) {
    GError *error = NULL;
    const ShowOptions options = invocation_show_options(invocation);
    if (option_text(invocation, "html") == NULL) return invocation_print(invocation, document, show, &options);
    return write_page(invocation, document, &error) ? CLI_OK : invocation_failed(invocation, error);
}

/* What 'plumb load run --find-max' left. */
static CliExit report_search(const Invocation *invocation) {
    GError *error = NULL;
    if (invocation->n_arguments > 1)
        return invocation_usage(invocation, "searches are not compared: name one folder, or two results");
    g_autoptr(FindFolder) folder = find_folder_open(invocation->arguments[0], &error);
    if (folder == NULL) return invocation_failed(invocation, error);
    return print(invocation, find_folder_report(folder), show_load_find);
}

static CliExit run(Invocation *invocation) {
    if (option_text(invocation, "html") != NULL && invocation->json)
        return invocation_usage(invocation, "--html and --json exclude each other");
    if (invocation->n_arguments > COMPARED_MOST && !option_flag(invocation, "merge"))
        return invocation_usage(invocation,
                                "'%s' is too much: two results are compared; --merge makes one of those of "
                                "several hosts",
                                invocation->arguments[COMPARED_MOST]);
    if (g_file_test(invocation->arguments[0], G_FILE_TEST_IS_DIR)) return report_search(invocation);

    GError *error = NULL;
    json_auto_t *document = report_of(invocation, 0, &error);
    if (document != NULL && invocation->n_arguments > 1 && !option_flag(invocation, "merge")) {
        json_t *other = report_of(invocation, 1, &error);
        if (other == NULL) return invocation_failed(invocation, error);
        document = load_compare(document, other);
    }
    if (document == NULL) return invocation_failed(invocation, error);
    return print(invocation, document, show_load_report);
}

static const Option options[] = {
    {"slowest", OPTION_NUMBER, "N", NULL, "how many of the slowest operations are named, 100 at most", "10"},
    {"merge", OPTION_FLAG, NULL, NULL, "the results are of hosts that shared one run: report them as one", NULL},
    {"html", OPTION_TEXT, "FILE", NULL, "write it as a page with pictures instead, one file that needs no other", NULL},
    {"untraced", OPTION_FLAG, NULL, NULL, "do not ask plumbd whom the operations of a traced run waited for", NULL},
    OPTION_THE_END,
};

const Command command_load_report = {
    .name = "load report",
    .arguments = "RESULT...",
    .min_arguments = 1,
    .max_arguments = SHARES_MOST,
    .missing = "report what? Name the file that 'plumb load run' wrote",
    .summary = "what a load was like, or what two differ in",
    .about =
        "Prints by kind of operation how many there were, how many failed, and their latency, counted from when\n"
        "they were due, with intervals of 95 %; then the slowest operations. Of two results it says which\n"
        "quantiles differ by more than chance. Of a folder of 'plumb load run --find-max' it prints which rates held.\n"
        "Of a traced run it asks plumbd (--server) whom the operations waited for: which function, at which host, by\n"
        "critical-path time, and says that first. It reads a result of a run that was killed.",
    .example = "  plumb load report night.plan.result\n"
               "  plumb load report before.result after.result\n"
               "  plumb load report night.plan.find\n"
               "  plumb load report --merge night.plan.1-of-2.result night.plan.2-of-2.result\n"
               "  plumb load report night.plan.result --json\n"
               "  plumb load report night.plan.result --html night.html\n",
    .options = options,
    .server_only = TRUE,
    .run = run,
};
