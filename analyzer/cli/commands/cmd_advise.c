#include <string.h>

#include "analyzer/cli/commands/commands.h"
#include "analyzer/cli/commands/option_sets.h"

static int rank_of(const char *severity) {
    static const char *const names[] = {"none", "low", "moderate", "severe", "critical"};
    for (int i = 0; i < (int)G_N_ELEMENTS(names); i++)
        if (strcmp(names[i], severity) == 0) return i;
    return 0;
}

static CliExit judged(const json_t *document, const char *fail_on) {
    return fail_on != NULL && rank_of(field_text(document, "severity")) >= rank_of(fail_on) ? CLI_DIFFERENT : CLI_OK;
}

/* All applications of a period. */
static CliExit all_run(Invocation *invocation, Ask *ask) {
    if (option_text(invocation, "since") == NULL)
        return invocation_usage(invocation, "on which application? Give its id, the beginning of it, its name, or "
                                            "'latest' ('plumb apps' lists them); --since 7d is of all");
    if (option_flag(invocation, "conf")) return invocation_usage(invocation, "--conf is of one application: name it");
    if (option_flag(invocation, "simulate"))
        return invocation_usage(invocation, "--simulate is of one application: name it");
    CliExit exit_code = CLI_OK;
    json_t *document = invocation_answer(invocation, ask, "reading what tasks did", &exit_code);
    if (document == NULL) return exit_code;
    const ShowOptions options = invocation_show_options(invocation);
    exit_code = invocation_print(invocation, document, show_advise_all, &options);
    if (exit_code == CLI_OK) exit_code = judged(document, option_text(invocation, "fail-on"));
    json_decref(document);
    return exit_code;
}

static CliExit advise_run(Invocation *invocation) {
    g_autoptr(Ask) ask = invocation_ask(invocation, "advise");
    const char *app = invocation->arguments[0];
    if (app == NULL) return all_run(invocation, ask);
    ask_add(ask, "app", app);
    const char *fail_on = option_text(invocation, "fail-on"), *method = option_text(invocation, "method");
    const gboolean conf = option_flag(invocation, "conf"), elephant = strcmp(method, "drelephant") == 0;

    if (option_flag(invocation, "simulate")) {
        if (conf || elephant || fail_on != NULL)
            return invocation_usage(invocation, "--simulate gives times, no findings: leave out --conf, --method and "
                                                "--fail-on");
        const ShowOptions options = invocation_show_options(invocation);
        return invocation_show(invocation, ask, "reading what its tasks did", show_simulation, &options);
    }

    if (conf && elephant)
        return invocation_usage(invocation, "--conf is of our own findings: --method drelephant proposes no settings");

    CliExit exit_code = CLI_OK;
    json_t *document = invocation_answer(invocation, ask, "reading what its tasks did", &exit_code);
    if (document == NULL) return exit_code;
    const ShowOptions options = invocation_show_options(invocation);
    const Show show = elephant ? show_drelephant : conf ? show_advise_conf : show_advise;
    exit_code = invocation_print(invocation, document, show, &options);
    if (conf && json_array_size(field_list(document, "conf")) == 0)
        invocation_say("advise", "no setting of spark-submit to change; without --conf it says what was found");
    if (exit_code == CLI_OK) exit_code = judged(document, fail_on);
    json_decref(document);
    return exit_code;
}

static const Option options[] = {
    {"conf", OPTION_FLAG, NULL, NULL, "only the settings, as spark-submit takes them", NULL},
    {"all", OPTION_FLAG, NULL, "all", "small findings, too, and what is well", NULL},
    {"simulate", OPTION_FLAG, NULL, "simulate", "how long it would take with other numbers of executors", NULL},
    {"method", OPTION_CHOICE, "ours|drelephant", "method", "our findings, or Dr. Elephant's table of severities",
     "ours"},
    {"node", OPTION_TEXT, "16c,64g", "node",
     "cores and memory of a node, for Dr. Elephant's table, where no log says it", NULL},
    {"limits", OPTION_TEXT, "RULE=L/M/S/C", "limits",
     "where severities of Dr. Elephant's table begin: gc=0.1/0.15/never/0.3,failures=..., by commas", NULL},
    {"fail-on", OPTION_CHOICE, "low|moderate|severe|critical", NULL,
     "exit with 3 when a finding is as severe or more, and the job's doing", NULL},
    OPTION_PERIOD,
    {"limit", OPTION_NUMBER, "N", "limit", "of all applications at most N (0: all)", NULL},
    OPTION_THE_END,
};

const Command command_advise = {
    .name = "advise",
    .arguments = "[APP]",
    .max_arguments = 1,
    .summary = "what to change in an application of Spark, and what that saves",
    .about =
        "What costs an application of Spark time, those that cost most first: what shows it, which setting to\n"
        "change, from what to what, how that was worked out, how sure it is, and what may become worse. Costs\n"
        "are core-seconds: of tasks, or of executors that held cores without use. What a slow host did is told,\n"
        "and never as the job's fault. spark-submit $(plumb advise latest --conf) job.py runs it with all of them.\n"
        "Without APP, --since lists all applications of a period, those that cost most for nothing first.",
    .example = "  plumb advise latest\n"
               "  plumb advise latest --conf\n"
               "  plumb advise app-20260101120000-0001 --fail-on severe\n"
               "  plumb advise latest --method drelephant\n"
               "  plumb advise latest --simulate\n"
               "  plumb advise --since 7d\n",
    .options = options,
    .run = advise_run,
};
