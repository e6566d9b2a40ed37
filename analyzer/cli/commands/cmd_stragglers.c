#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"

static CliExit stragglers_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "stragglers");
    ask_add(ask, "app", invocation->arguments[0]);
    ShowOptions options = invocation_show_options(invocation);
    options.brief = option_flag(invocation, "brief");
    return invocation_show(invocation, ask, "comparing tasks", show_stragglers, &options);
}

static const Option options[] = {
    {"stage", OPTION_TEXT, "STAGE[.ATTEMPT]", "stage", "only this stage's", NULL},
    {"method", OPTION_CHOICE, "bigroots|pcc|mantri|xue|ledger", "method", "how causes are found", "bigroots"},
    {"brief", OPTION_FLAG, NULL, NULL, "without the evidence", NULL},
    {"evidence", OPTION_CHOICE, "causes|near|all", "evidence",
     "bigroots: what is shown beside causes: nothing, what later rules dropped, or all features", "causes"},
    {"ratio", OPTION_TEXT, "R", "ratio", "a straggler takes so many times its stage's median (default: 1.5)", NULL},
    {"lambda-p", OPTION_TEXT, "X", "lambda_p", "so many times its peers' (default: 1.6; without --edge true: 2.2)",
     NULL},
    {"lambda-q", OPTION_TEXT, "X", "lambda_q", "above this quantile of the application (default: 0.9)", NULL},
    {"lambda-t", OPTION_TEXT, "X", "lambda_t", "times: above this share of the task's (default: 0.2)", NULL},
    {"lambda-e", OPTION_TEXT, "X", "lambda_e", "edges: below this share of the load (default: 0.7)", NULL},
    {"lambda-w", OPTION_TEXT, "X", "lambda_w", "waits, ledgers: at least this share of the time lost (default: 0.5)",
     NULL},
    {"window", OPTION_TEXT, "DURATION", "window", "looked at before and after the task (default: 5s)", NULL},
    {"peers", OPTION_CHOICE, "median|mean", "peers", "what of the peers is compared with", NULL},
    {"edge", OPTION_CHOICE, "true|false", "edge", "whether loads that the tasks made themselves are left out", NULL},
    {"lambda-ca", OPTION_TEXT, "X", "lambda_ca", "pcc: least correlation (default: 0.3)", NULL},
    {"lambda-cq", OPTION_TEXT, "X", "lambda_cq", "pcc: above this quantile (default: 0.9)", NULL},
    {"scope", OPTION_CHOICE, "stage|application", "scope", "pcc: correlated over all tasks of what", NULL},
    {"hdfs", OPTION_CHOICE, "auto|no|yes", "hdfs", "whether traces of HDFS are read (auto: up to 50,000 tasks)", NULL},
    {"sort", OPTION_CHOICE, "excess=excess_ns|scale|duration=duration_ns|stage", "sort", "order", "excess"},
    {"limit", OPTION_NUMBER, "N", "limit", "at most N stragglers (0: all)", "20"},
    OPTION_THE_END,
};

const Command command_stragglers = {
    .name = "stragglers",
    .arguments = "APP",
    .min_arguments = 1,
    .max_arguments = 1,
    .missing = "of which application? Give its id, the beginning of it, its name, or \"latest\"",
    .summary = "tasks that were slow, and what made them so",
    .about =
        "Lists an application's stragglers, tasks that took 1.5 times the median of their stage or more, with their\n"
        "causes: what was unusual about them compared with the other tasks of the stage, on other hosts and on\n"
        "their own. Below each cause stands what shows it. docs/spark.md defines the methods.",
    .example = "  plumb stragglers latest\n"
               "  plumb stragglers app-20261121205309-0001 --stage 3 --evidence near\n"
               "  plumb stragglers app-20261121205309-0001 --method pcc --lambda-ca 0.4\n",
    .csv = "stragglers",
    .options = options,
    .run = stragglers_run,
};
