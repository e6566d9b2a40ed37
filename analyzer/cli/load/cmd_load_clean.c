#include "analyzer/cli/commands/option_sets.h"
#include "analyzer/cli/load/executor.h"
#include "analyzer/cli/load/load_commands.h"

static CliExit run(Invocation *invocation) {
    GError *error = NULL;
    int code;
    g_autoptr(Executor) executor = executor_new(invocation, "clean", &error);
    if (executor == NULL || !executor_run(executor, &code, &error)) return invocation_failed(invocation, error);
    return code == CLI_OK || code == CLI_USAGE ? (CliExit)code : CLI_FAILED;
}

static const Option options[] = {
    OPTIONS_EXECUTOR,
    OPTION_THE_END,
};

const Command command_load_clean = {
    .name = "load clean",
    .arguments = "",
    .missing = "",
    .summary = "remove from HDFS what loads made",
    .about = "Removes the files and folders that 'plumb load run' made below --folder, and the folder. Only a folder\n"
             "that a load made is touched, and in it only what a load made: all else is named and left, and the exit\n"
             "code is 1. Files removed do not go to the trash.",
    .example = "  plumb load clean\n"
               "  plumb load clean --folder hdfs://nn:8020/load\n",
    .options = options,
    .server_only = TRUE,
    .asks_none = TRUE,
    .run = run,
};
