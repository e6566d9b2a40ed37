#include <string.h>
#include <unistd.h>

#include "analyzer/cli/commands/option_sets.h"
#include "analyzer/cli/load/find_run.h"
#include "analyzer/cli/load/load_commands.h"
#include "analyzer/cli/load/plan_file.h"
#include "analyzer/cli/load/values.h"
#include "analyzer/cli/load/waited.h"
#include "analyzer/load/results/report.h"
#include "common/base/config_value.h"
#include "common/base/error.h"

#define NS_PER_SECOND G_GINT64_CONSTANT(1000000000)
#define SLOWEST       10u
#define THREADS_MOST  20000u
/* What the executor ends with after SIGINT or SIGTERM. */
#define INTERRUPTED 130

/* The result's file is not there yet, or may be written over. */
static gboolean check_result(const Invocation *invocation, const char *path, GError **error) {
    if (access(path, F_OK) != 0 || option_flag(invocation, "overwrite")) return TRUE;
    return fail(error, PLUMB_ERROR_CONFIG, "%s is there already: name another file, with --result, or say --overwrite",
                path);
}

static void set_whole(Executor *executor, const char *name, gint64 value) {
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, value);
    executor_set(executor, name, text);
}

/* "2/3" */
static gboolean set_share(const Invocation *invocation, Executor *executor, GError **error) {
    const char *text = option_text(invocation, "share");
    gint64 wait_ns = 600 * NS_PER_SECOND;
    guint64 number, of;
    if (!value_duration(invocation, "wait", &wait_ns, error)) return FALSE;
    if (text == NULL) return TRUE;
    if (!share_parse(text, &number, &of))
        return fail(error, PLUMB_ERROR_CONFIG, "--share=%s: must be I/N, as 1/3: the first of three hosts", text);
    executor_set(executor, "share", text);
    set_whole(executor, "wait-ns", wait_ns);
    return TRUE;
}

/* "2%" of HDFS, or "10G". */
static gboolean set_min_free(const Invocation *invocation, Executor *executor, GError **error) {
    const char *text = option_text(invocation, "min-free");
    char *end = NULL;
    const double percent = g_ascii_strtod(text, &end);
    if (end != text && strcmp(end, "%") == 0 && percent >= 0 && percent <= 100) {
        char number[G_ASCII_DTOSTR_BUF_SIZE];
        executor_set(executor, "min-free-percent", g_ascii_formatd(number, sizeof number, "%.6f", percent));
        return TRUE;
    }
    gint64 bytes;
    if (!size_parse(text, &bytes) || bytes < 0)
        return fail(error, PLUMB_ERROR_CONFIG, "--min-free=%s: must be a part of HDFS, as 2%%, or a size, as 10G",
                    text);
    set_whole(executor, "min-free-bytes", bytes);
    return TRUE;
}

gboolean run_configure(const Invocation *invocation, Executor *executor, GError **error) {
    double max_errors = 50;
    gint64 max_lag_ns = 60 * NS_PER_SECOND, max_p99_ns = 0, drain_ns = 30 * NS_PER_SECOND, max_bytes = 0;
    const guint64 threads = option_number(invocation, "threads");
    guint64 closed = 0;
    if (!value_real(invocation, "max-errors", (Range){0, 100}, &max_errors, error) ||
        !value_duration(invocation, "max-lag", &max_lag_ns, error) ||
        !value_duration(invocation, "max-p99", &max_p99_ns, error) ||
        !value_duration(invocation, "drain", &drain_ns, error) ||
        !value_size(invocation, "max-bytes", &max_bytes, error) || !value_whole(invocation, "closed", &closed, error))
        return FALSE;
    if (option_text(invocation, "closed") != NULL && (closed < 1 || closed > THREADS_MOST))
        return fail(error, PLUMB_ERROR_CONFIG, "--closed=%" G_GUINT64_FORMAT ": from 1 to %u", closed, THREADS_MOST);
    if (option_text(invocation, "max-bytes") != NULL && max_bytes < 1)
        return fail(error, PLUMB_ERROR_CONFIG, "--max-bytes: a byte at least");
    if (threads < 1 || threads > THREADS_MOST)
        return fail(error, PLUMB_ERROR_CONFIG, "--threads=%" G_GUINT64_FORMAT ": from 1 to %u", threads, THREADS_MOST);

    char text[G_ASCII_DTOSTR_BUF_SIZE];
    executor_set(executor, "max-errors", g_ascii_formatd(text, sizeof text, "%.6f", max_errors));
    set_whole(executor, "max-lag-ns", max_lag_ns);
    set_whole(executor, "drain-ns", drain_ns);
    if (max_p99_ns > 0) set_whole(executor, "max-p99-ns", max_p99_ns);
    if (closed > 0) executor_set(executor, "closed", option_text(invocation, "closed"));
    if (max_bytes > 0) set_whole(executor, "max-bytes", max_bytes);
    if (!set_min_free(invocation, executor, error) || !set_share(invocation, executor, error)) return FALSE;
    g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT, threads);
    executor_set(executor, "threads", text);
    executor_set(executor, "new-client", option_flag(invocation, "new-client") ? "true" : "false");
    executor_set(executor, "live",
                 option_flag(invocation, "quiet") ? "off"
                 : invocation->json               ? "json"
                 : invocation->style.progress     ? "terminal"
                                                  : "lines");
    return TRUE;
}

static CliExit print_report(const Invocation *invocation, const char *path) {
    GError *error = NULL;
    g_autoptr(LoadRun) result = load_run_open(path, &error);
    if (result == NULL) return invocation_failed(invocation, error);
    json_auto_t *document = load_report(result, path, &(LoadReportOptions){.slowest = SLOWEST});
    waited_add(invocation, result, TRUE, document);
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

/* "day.plan.result", "day.plan.2-of-3.result". A new string. */
static char *result_name(const Invocation *invocation, const char *plan) {
    const char *given = option_text(invocation, "result"), *share = option_text(invocation, "share");
    guint64 number, of;
    if (given != NULL) return g_strdup(given);
    if (share == NULL || !share_parse(share, &number, &of)) return g_strconcat(plan, ".result", NULL);
    return g_strdup_printf("%s.%" G_GUINT64_FORMAT "-of-%" G_GUINT64_FORMAT ".result", plan, number, of);
}

static CliExit run(Invocation *invocation) {
    static const char *const of_one_run[] = {"share", "hdr-log", "closed"};
    for (guint i = 0; option_text(invocation, "find-max") != NULL && i < G_N_ELEMENTS(of_one_run); i++)
        if (option_text(invocation, of_one_run[i]) != NULL)
            return invocation_usage(invocation, "--find-max and --%s exclude each other", of_one_run[i]);
    if (option_text(invocation, "find-max") != NULL) return find_run(invocation);

    GError *error = NULL;
    const char *plan = invocation->arguments[0], *hdr_log = option_text(invocation, "hdr-log");
    g_autofree char *result = result_name(invocation, plan);
    if (!check_result(invocation, result, &error) || (hdr_log != NULL && !check_result(invocation, hdr_log, &error)) ||
        !plan_file_check(plan, NULL, &error))
        return invocation_failed(invocation, error);
    g_autoptr(Executor) executor = executor_new(invocation, "run", &error);
    if (executor == NULL || !run_configure(invocation, executor, &error)) return invocation_failed(invocation, error);
    executor_set(executor, "plan", plan);
    executor_set(executor, "result", result);
    if (hdr_log != NULL) executor_set(executor, "hdr-log", hdr_log);
    return execute(invocation, executor, result);
}

static const Option options[] = {
    OPTIONS_EXECUTOR,
    {"result", OPTION_TEXT, "FILE", NULL, "where the results go (default: the plan's name and .result, or .find)",
     NULL},
    {"overwrite", OPTION_FLAG, NULL, NULL, "replace that file if it is there", NULL},
    {"trace", OPTION_TEXT, "HOST:PORT", NULL, "run with the agent, and send spans to this plumbd", NULL},
    {"sampling", OPTION_TEXT, "POLICY", NULL, "which operations are traced then (docs/tracing.md)", "Load#*=always"},
    {"agent-jar", OPTION_TEXT, "FILE", NULL, "plumb-agent.jar (default: where it is installed, or was built)", NULL},
    {"new-client", OPTION_FLAG, NULL, NULL, "a new FileSystem for each operation", NULL},
    {"threads", OPTION_NUMBER, "N", NULL, "operations at a time, at most; further ones wait", "2000"},
    {"closed", OPTION_TEXT, "N", NULL, "a closed loop of N workers, which wait for the cluster (docs/load.md)", NULL},
    {"share", OPTION_TEXT, "I/N", NULL, "this host is the I-th of N that share the plan and begin together", NULL},
    {"wait", OPTION_TEXT, "TIME", NULL, "of --share: how long the others are waited for (default: 10m)", NULL},
    {"hdr-log", OPTION_TEXT, "FILE", NULL, "write latencies as a log of HdrHistogram, too, by kind and second", NULL},
    {"max-errors", OPTION_TEXT, "PERCENT", NULL, "stop when more of the last 10 s failed (default: 50)", NULL},
    {"max-lag", OPTION_TEXT, "TIME", NULL, "stop when operations begin later than this (default: 60s)", NULL},
    {"max-p99", OPTION_TEXT, "TIME", NULL, "stop when the p99 of each of 10 seconds was above this", NULL},
    {"max-bytes", OPTION_TEXT, "SIZE", NULL, "stop when this host has read and written so much", NULL},
    {"min-free", OPTION_TEXT, "AMOUNT", NULL,
     "stop when HDFS has less left, as 2% or 10G; files that would leave less are not begun", "2%"},
    {"drain", OPTION_TEXT, "TIME", NULL, "how long is waited for the last operations (default: 30s)", NULL},
    {"find-max", OPTION_TEXT, "LIMITS", NULL,
     "find the greatest rate that holds them: p99<=50ms, or read:p99<=50ms,errors<=1%", NULL},
    {"searches", OPTION_NUMBER, "N", NULL, "of --find-max: how often it is looked for", "3"},
    {"precision", OPTION_TEXT, "PERCENT", NULL, "of --find-max: how near it comes (default: 10)", NULL},
    {"quiet", OPTION_FLAG, NULL, NULL, "no progress: no line of it, and with --json only the report", NULL},
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
        "names. SIGINT ends it early; the results so far are whole. With --find-max the plan is drawn anew at other\n"
        "rates and run at each, until the greatest that holds is known; the results go to a folder, which 'plumb load\n"
        "report' takes. With --json it prints a document each second, on a line of its own, and the report's last.\n"
        "docs/load.md says all of it.",
    .example = "  plumb load run night.plan\n"
               "  plumb load run night.plan --folder hdfs://nn:8020/load --result night-1.result\n"
               "  plumb load run night.plan --find-max 'p99<=50ms,errors<=0.5%'\n"
               "  plumb load run night.plan --trace plumbd-host:9410 --overwrite\n",
    .options = options,
    .server_only = TRUE,
    .run = run,
};
