#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/cli/commands/option_sets.h"
#include "analyzer/cli/load/executor.h"
#include "analyzer/cli/load/load_commands.h"
#include "analyzer/cli/load/values.h"
#include "analyzer/load/plan/plan.h"
#include "analyzer/load/results/report.h"
#include "common/base/error.h"

#define PIECE_BYTES (1u << 20)
#define SLOWEST     10u
/* What the executor ends with after SIGINT or SIGTERM. */
#define INTERRUPTED 130

/* Before a JVM is started for nothing. */
static gboolean check_plan(const char *path, GError **error) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_errno(error, errno, "%s", path);
    g_autoptr(LoadPlanReader) reader = load_plan_reader_new(NULL, NULL);
    g_autofree guint8 *piece = g_malloc(PIECE_BYTES);
    gboolean sound = TRUE;
    for (ssize_t n = 1; sound && n != 0;) {
        n = read(fd, piece, PIECE_BYTES);
        if (n > 0) sound = load_plan_read(reader, (Bytes){piece, (gsize)n}, error);
        if (n < 0 && errno != EINTR) sound = fail_errno(error, errno, "%s", path);
    }
    close(fd);

    LoadPlanSums sums;
    if (sound && load_plan_read_end(reader, &sums, error)) return TRUE;
    if (!g_error_matches(*error, PLUMB_ERROR, PLUMB_ERROR_IO)) g_prefix_error(error, "%s: ", path);
    return FALSE;
}

/* The result's file is not there yet, or may be written over. */
static gboolean check_result(const Invocation *invocation, const char *path, GError **error) {
    if (access(path, F_OK) != 0 || option_flag(invocation, "overwrite")) return TRUE;
    return fail(error, PLUMB_ERROR_CONFIG, "%s is there already: name another file with --result, or say --overwrite",
                path);
}

static gboolean set_limits(const Invocation *invocation, Executor *executor, GError **error) {
    double max_errors = 50;
    gint64 max_lag_ns = G_GINT64_CONSTANT(60000000000), drain_ns = G_GINT64_CONSTANT(30000000000);
    const guint64 threads = option_number(invocation, "threads");
    if (!value_real(invocation, "max-errors", (Range){0, 100}, &max_errors, error) ||
        !value_duration(invocation, "max-lag", &max_lag_ns, error) ||
        !value_duration(invocation, "drain", &drain_ns, error))
        return FALSE;
    if (threads < 1 || threads > 20000)
        return fail(error, PLUMB_ERROR_CONFIG, "--threads=%" G_GUINT64_FORMAT ": from 1 to 20000", threads);

    char text[G_ASCII_DTOSTR_BUF_SIZE];
    executor_set(executor, "max-errors", g_ascii_formatd(text, sizeof text, "%.6f", max_errors));
    g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, max_lag_ns);
    executor_set(executor, "max-lag-ns", text);
    g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, drain_ns);
    executor_set(executor, "drain-ns", text);
    g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT, threads);
    executor_set(executor, "threads", text);
    executor_set(executor, "new-client", option_flag(invocation, "new-client") ? "true" : "false");
    return TRUE;
}

static CliExit print_report(const Invocation *invocation, const char *path) {
    GError *error = NULL;
    g_autoptr(LoadRun) result = load_run_open(path, &error);
    if (result == NULL) return invocation_failed(invocation, error);
    json_auto_t *document = load_report(result, path, &(LoadReportOptions){.slowest = SLOWEST});
    const ShowOptions show = invocation_show_options(invocation);
    return invocation_print(invocation, document, show_load_report, &show);
}

static CliExit execute(const Invocation *invocation, Executor *executor, const char *result) {
    GError *error = NULL;
    int code;
    /* An old result goes when there is a new one. */
    g_autofree char *old = g_strconcat(result, ".old", NULL);
    const gboolean kept = option_flag(invocation, "overwrite") && rename(result, old) == 0;
    const gboolean ran = executor_run(executor, &code, &error);
    const gboolean begun = ran && access(result, F_OK) == 0;
    if (kept && begun)
        unlink(old);
    else if (kept)
        rename(old, result);
    if (!ran) return invocation_failed(invocation, error);
    if (code == CLI_USAGE) return CLI_USAGE;
    if (!begun) {
        if (code != CLI_FAILED)
            invocation_say(invocation->command->name, "the executor ended before the load began: --java-option and "
                                                      "--classpath say how it is started");
        return CLI_FAILED;
    }
    const CliExit printed = print_report(invocation, result);
    return code == CLI_OK ? printed : CLI_FAILED;
}

static CliExit run(Invocation *invocation) {
    GError *error = NULL;
    const char *plan = invocation->arguments[0];
    g_autofree char *result = option_text(invocation, "result") != NULL ? g_strdup(option_text(invocation, "result"))
                                                                        : g_strconcat(plan, ".result", NULL);
    if (!check_result(invocation, result, &error) || !check_plan(plan, &error))
        return invocation_failed(invocation, error);
    g_autoptr(Executor) executor = executor_new(invocation, "run", &error);
    if (executor == NULL || !set_limits(invocation, executor, &error)) return invocation_failed(invocation, error);
    executor_set(executor, "plan", plan);
    executor_set(executor, "result", result);
    executor_set(executor, "live",
                 option_flag(invocation, "quiet") ? "off"
                 : invocation->style.progress     ? "terminal"
                                                  : "lines");
    return execute(invocation, executor, result);
}

static const Option options[] = {
    OPTIONS_EXECUTOR,
    {"result", OPTION_TEXT, "FILE", NULL, "where the results go (default: the plan's name and .result)", NULL},
    {"overwrite", OPTION_FLAG, NULL, NULL, "replace that file if it is there", NULL},
    {"trace", OPTION_TEXT, "HOST:PORT", NULL, "run with the agent, and send spans to this plumbd", NULL},
    {"sampling", OPTION_TEXT, "POLICY", NULL, "which operations are traced then (docs/tracing.md)", "Load#*=always"},
    {"agent-jar", OPTION_TEXT, "FILE", NULL, "plumb-agent.jar (default: where it is installed, or was built)", NULL},
    {"new-client", OPTION_FLAG, NULL, NULL, "a new FileSystem for each operation", NULL},
    {"threads", OPTION_NUMBER, "N", NULL, "operations at a time, at most; further ones wait", "2000"},
    {"max-errors", OPTION_TEXT, "PERCENT", NULL, "stop when more of the last 10 s failed (default: 50)", NULL},
    {"max-lag", OPTION_TEXT, "TIME", NULL, "stop when operations begin later than this (default: 60s)", NULL},
    {"drain", OPTION_TEXT, "TIME", NULL, "how long is waited for the last operations (default: 30s)", NULL},
    {"quiet", OPTION_FLAG, NULL, NULL, "no line of progress", NULL},
    OPTION_THE_END,
};

const Command command_load_run = {
    .name = "load run",
    .arguments = "PLAN",
    .min_arguments = 1,
    .max_arguments = 1,
    .missing = "run what? Draw a plan with 'plumb load plan'",
    .summary = "carry out a plan on HDFS",
    .about =
        "Makes the files of the plan below --folder, then begins each operation when it is due, whatever became of\n"
        "those before it: latency counts from the due time. Every operation's result goes to a file as it ends, and\n"
        "'plumb load report' prints it again. It uses the Hadoop client and configuration that 'hadoop classpath'\n"
        "names. SIGINT ends it early; the results so far are whole. docs/load.md says all of it.",
    .example = "  plumb load run night.plan\n"
               "  plumb load run night.plan --folder hdfs://nn:8020/load --result night-1.result\n"
               "  plumb load run night.plan --trace plumbd-host:9410 --overwrite\n",
    .options = options,
    .server_only = TRUE,
    .run = run,
};
