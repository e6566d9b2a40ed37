/* What the commands of `plumb` are made of. A command is a table of options and a function; parsing, --help, the
 * mistyped-name hints, shell completion and the parameters of the question it asks all come from the table. */
#pragma once

#include "analyzer/cli/format/style.h"
#include "analyzer/cli/show/show.h"
#include "analyzer/cli/source/source.h"

typedef enum {
    CLI_OK = 0,
    CLI_FAILED = 1,
    CLI_USAGE = 2,     /* the command line is wrong */
    CLI_DIFFERENT = 3, /* verify found differences */
} CliExit;

typedef enum {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_NUMBER, /* not negative */
    OPTION_CHOICE, /* 'value' lists what may be given: "tree|forest|calls=calls_ns", the part after '=' being what the
                    * API is told */
    OPTION_LIST,   /* may be given several times */
    OPTION_END
} OptionKind;

typedef struct Option {
    const char *name; /* without the dashes */
    OptionKind kind;
    const char *value; /* what --help calls it: "TIME"; NULL for flags */
    const char *param; /* parameter of the API that it becomes, or NULL */
    const char *help;
    const char *fallback; /* default, or NULL */
} Option;

typedef struct Invocation Invocation;

typedef struct Command {
    const char *name;
    const char *arguments; /* as in the usage line: "ID", "FILE...", "" */
    guint min_arguments, max_arguments;
    const char *missing;   /* said when there are too few: what they are and an example */
    const char *summary;   /* one line of `plumb --help` */
    const char *about;     /* paragraph of `plumb COMMAND --help` */
    const char *example;   /* lines, each ending in a line feed */
    const Option *options; /* ends with OPTION_END */
    gboolean server_only;  /* has no --store */
    gboolean asks_none;    /* and needs no server either: --help does not tell of one */
    const char *csv;       /* the rows that --csv prints, as show_csv() has it; NULL: it has no --csv */
    /* Makes these rows of an answer whose lists of numbers are none yet, "csv" being "rows" then; NULL: they are there.
     * A new reference. */
    json_t *(*rows)(const json_t *document);
    CliExit (*run)(Invocation *invocation);
} Command;

struct Invocation {
    const Command *command;
    Style style;
    SourceOptions source; /* server or store, as told */
    gboolean json, csv;   /* not both */
    guint n_arguments;
    char **arguments;
    struct OptionValues *values;
};

/* Values of options of the command's table: NULL, FALSE or an empty list when not given and without default. */
const char *option_text(const Invocation *invocation, const char *name);
gboolean option_flag(const Invocation *invocation, const char *name);
const char *const *option_list(const Invocation *invocation, const char *name);
guint64 option_number(const Invocation *invocation, const char *name);

/* A question with the parameters of all given options that have one. Free with ask_free(). */
Ask *invocation_ask(const Invocation *invocation, const char *question);
/* Asks, while a progress line with 'label' is shown; on failure says why on standard error and sets *exit_code. */
json_t *invocation_answer(const Invocation *invocation, const Ask *ask, const char *label, CliExit *exit_code);
/* Prints the document as JSON, CSV or through show. */
CliExit invocation_print(const Invocation *invocation, const json_t *document, Show show, const ShowOptions *options);
CliExit invocation_print_text(const Invocation *invocation, const GString *text);
/* Both: asks, and prints the answer. */
CliExit invocation_show(const Invocation *invocation, const Ask *ask, const char *label, Show show,
                        const ShowOptions *options);
ShowOptions invocation_show_options(const Invocation *invocation);
/* Says what is wrong and returns the exit code that fits the error. Frees error. */
CliExit invocation_failed(const Invocation *invocation, GError *error);
/* Says what is wrong with the command line. */
CliExit invocation_usage(const Invocation *invocation, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* One line on standard error: "plumb COMMAND: what"; command may be NULL. */
void invocation_say(const char *command, const char *what);
