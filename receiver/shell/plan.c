#include "receiver/shell/plan.h"

#include <string.h>

#include "common/base/error.h"
#include "common/base/harmless.h"

#define PERIOD                                                                                                         \
    {"since", PLAN_TEXT, "time", FALSE, FALSE}, { "until", PLAN_TEXT, "time", FALSE, FALSE }
#define HOST_AND_ROLE                                                                                                  \
    {"host", PLAN_TEXT, "host", FALSE, FALSE}, { "role", PLAN_TEXT, "role", FALSE, FALSE }
#define LIMIT                                                                                                          \
    { "limit", PLAN_NUMBER, NULL, FALSE, FALSE }
#define BRIEF                                                                                                          \
    { "brief", PLAN_FLAG, NULL, FALSE, FALSE }
#define APP                                                                                                            \
    { "app", PLAN_TEXT, "app", TRUE, TRUE }
#define STAGE                                                                                                          \
    { "stage", PLAN_TEXT, NULL, FALSE, FALSE }
#define TASK                                                                                                           \
    { "task", PLAN_NUMBER, NULL, FALSE, FALSE }
#define OPTION(name, kind, of)                                                                                         \
    { name, kind, of, FALSE, FALSE }
#define ARGUMENT(name, of, required)                                                                                   \
    { name, PLAN_TEXT, of, TRUE, required }
#define THE_END                                                                                                        \
    { NULL, PLAN_FLAG, NULL, FALSE, FALSE }

static const PlanParameter none[] = {THE_END};
static const PlanParameter of_status[] = {OPTION("senders", PLAN_FLAG, NULL), THE_END};
static const PlanParameter of_slow[] = {PERIOD, LIMIT, THE_END};
static const PlanParameter of_nodes[] = {ARGUMENT("on-host", "host", FALSE),
                                         PERIOD,
                                         OPTION("method", PLAN_CHOICE, "plumb|paper|peers"),
                                         OPTION("predict", PLAN_TEXT, "app"),
                                         OPTION("on", PLAN_TEXT, "host"),
                                         OPTION("hint", PLAN_FLAG, NULL),
                                         BRIEF,
                                         LIMIT,
                                         THE_END};
static const PlanParameter of_functions[] = {
    PERIOD,
    HOST_AND_ROLE,
    OPTION("function", PLAN_TEXT, "function"),
    OPTION("exclude", PLAN_LIST, "function"),
    OPTION("by", PLAN_CHOICE, "host|minute|host,minute"),
    OPTION("bytes", PLAN_FLAG, NULL),
    OPTION("sort", PLAN_CHOICE,
           "function|role|host|minute|mean|std|min|max|q25|q50|q75|q95|q99|calls|total|self|critical|bytes|rate|empty|"
           "small"),
    LIMIT,
    THE_END};
#define FIGURES "mean|std|min|max|q25|q50|q75|q95|q99|calls|total|self|critical|bytes|rate|empty|small"
static const PlanParameter of_series[] = {ARGUMENT("function", "function", FALSE),
                                          PERIOD,
                                          HOST_AND_ROLE,
                                          OPTION("by", PLAN_CHOICE, "host"),
                                          OPTION("field", PLAN_CHOICE, FIGURES),
                                          OPTION("step", PLAN_TEXT, "duration"),
                                          OPTION("sort", PLAN_CHOICE, "total|ratio|host"),
                                          LIMIT,
                                          THE_END};
static const PlanParameter of_distribution[] = {ARGUMENT("function", "function", FALSE),
                                                PERIOD,
                                                HOST_AND_ROLE,
                                                OPTION("pattern", PLAN_TEXT, "pattern"),
                                                OPTION("node", PLAN_NUMBER, NULL),
                                                OPTION("of", PLAN_CHOICE, "duration|bytes|rate"),
                                                OPTION("step", PLAN_TEXT, "duration"),
                                                THE_END};
static const PlanParameter of_forest[] = {PERIOD,
                                          HOST_AND_ROLE,
                                          OPTION("function", PLAN_TEXT, "function"),
                                          OPTION("exclude", PLAN_LIST, "function"),
                                          OPTION("pattern", PLAN_TEXT, "pattern"),
                                          OPTION("level", PLAN_CHOICE, "forest|tree"),
                                          OPTION("bytes", PLAN_FLAG, NULL),
                                          OPTION("sort", PLAN_CHOICE, "calls|total|critical|traces"),
                                          LIMIT,
                                          THE_END};
#define WHICH_TRACES                                                                                                   \
    OPTION("function", PLAN_TEXT, "function"), OPTION("path", PLAN_TEXT, "path"), HOST_AND_ROLE,                       \
        OPTION("min-duration", PLAN_TEXT, "duration"), OPTION("max-duration", PLAN_TEXT, "duration"),                  \
        OPTION("call-min-duration", PLAN_TEXT, "duration"), OPTION("call-max-duration", PLAN_TEXT, "duration"),        \
        OPTION("min-spans", PLAN_NUMBER, NULL), OPTION("max-spans", PLAN_NUMBER, NULL),                                \
        OPTION("annotation", PLAN_LIST, "annotation"), OPTION("incomplete", PLAN_FLAG, NULL),                          \
        OPTION("pattern", PLAN_TEXT, "pattern")
static const PlanParameter of_traces[] = {
    PERIOD, WHICH_TRACES, OPTION("sort", PLAN_CHOICE, "begin|duration|spans"), LIMIT, OPTION("after", PLAN_TEXT, NULL),
    THE_END};
static const PlanParameter of_contrast[] = {OPTION("a-min-duration", PLAN_TEXT, "duration"),
                                            OPTION("a-max-duration", PLAN_TEXT, "duration"),
                                            OPTION("a-since", PLAN_TEXT, "time"),
                                            OPTION("a-until", PLAN_TEXT, "time"),
                                            PERIOD,
                                            WHICH_TRACES,
                                            LIMIT,
                                            THE_END};
static const PlanParameter of_trace[] = {
    ARGUMENT("id", "trace", TRUE),     BRIEF,  OPTION("fold", PLAN_FLAG, NULL), OPTION("ids", PLAN_FLAG, NULL), LIMIT,
    OPTION("part", PLAN_NUMBER, NULL), THE_END};
static const PlanParameter of_find[] = {ARGUMENT("id", "trace", TRUE), ARGUMENT("text", NULL, TRUE),
                                        OPTION("part", PLAN_NUMBER, NULL), LIMIT, THE_END};
static const PlanParameter of_span[] = {ARGUMENT("id", "span", TRUE), THE_END};
static const PlanParameter of_diff[] = {ARGUMENT("a", NULL, TRUE),
                                        ARGUMENT("b", NULL, TRUE),
                                        OPTION("kind", PLAN_CHOICE, "period|pattern|trace|app"),
                                        PERIOD,
                                        HOST_AND_ROLE,
                                        OPTION("by", PLAN_CHOICE, "host"),
                                        STAGE,
                                        OPTION("sort", PLAN_CHOICE, "total|mean|percent|z"),
                                        LIMIT,
                                        THE_END};
static const PlanParameter of_why[] = {ARGUMENT("what", "app", TRUE),
                                       STAGE,
                                       TASK,
                                       OPTION("method", PLAN_CHOICE, "bigroots|ledger"),
                                       BRIEF,
                                       LIMIT,
                                       THE_END};
static const PlanParameter of_hosts[] = {ARGUMENT("host", "host", FALSE), OPTION("app", PLAN_TEXT, "app"), PERIOD,
                                         LIMIT, THE_END};
static const PlanParameter of_samples[] = {ARGUMENT("host", "host", TRUE), PERIOD,
                                           OPTION("step", PLAN_TEXT, "duration"), THE_END};
static const PlanParameter of_marks[] = {PERIOD, OPTION("host", PLAN_TEXT, "host"), OPTION("kind", PLAN_TEXT, NULL),
                                         LIMIT, THE_END};
static const PlanParameter of_skew[] = {PERIOD, LIMIT, THE_END};
static const PlanParameter of_names[] = {ARGUMENT("text", NULL, FALSE),
                                         OPTION("kind", PLAN_CHOICE, "function|host|annotation"),
                                         PERIOD,
                                         OPTION("role", PLAN_TEXT, "role"),
                                         LIMIT,
                                         THE_END};
static const PlanParameter of_stragglers[] = {APP,
                                              STAGE,
                                              OPTION("method", PLAN_CHOICE, "bigroots|pcc|mantri|xue|ledger"),
                                              BRIEF,
                                              OPTION("evidence", PLAN_CHOICE, "causes|near|all"),
                                              OPTION("ratio", PLAN_TEXT, "number"),
                                              OPTION("lambda-p", PLAN_TEXT, "number"),
                                              OPTION("lambda-q", PLAN_TEXT, "number"),
                                              OPTION("lambda-t", PLAN_TEXT, "number"),
                                              OPTION("lambda-e", PLAN_TEXT, "number"),
                                              OPTION("lambda-w", PLAN_TEXT, "number"),
                                              OPTION("window", PLAN_TEXT, "duration"),
                                              OPTION("peers", PLAN_CHOICE, "median|mean"),
                                              OPTION("edge", PLAN_CHOICE, "true|false"),
                                              OPTION("lambda-ca", PLAN_TEXT, "number"),
                                              OPTION("lambda-cq", PLAN_TEXT, "number"),
                                              OPTION("scope", PLAN_CHOICE, "stage|application"),
                                              OPTION("hdfs", PLAN_CHOICE, "auto|no|yes"),
                                              OPTION("sort", PLAN_CHOICE, "excess|scale|duration|stage"),
                                              LIMIT,
                                              THE_END};
static const PlanParameter of_operations[] = {APP,
                                              STAGE,
                                              OPTION("top", PLAN_TEXT, "number"),
                                              BRIEF,
                                              OPTION("clusters", PLAN_CHOICE, "true|false"),
                                              OPTION("scale", PLAN_CHOICE, "minmax|max"),
                                              LIMIT,
                                              THE_END};
static const PlanParameter of_pipelines[] = {APP, {"stage", PLAN_TEXT, NULL, FALSE, TRUE}, LIMIT, THE_END};
static const PlanParameter of_advise[] = {ARGUMENT("app", "app", FALSE),
                                          OPTION("conf", PLAN_FLAG, NULL),
                                          OPTION("all", PLAN_FLAG, NULL),
                                          OPTION("simulate", PLAN_FLAG, NULL),
                                          OPTION("method", PLAN_CHOICE, "ours|drelephant"),
                                          OPTION("node", PLAN_TEXT, NULL),
                                          OPTION("limits", PLAN_TEXT, NULL),
                                          OPTION("fail-on", PLAN_CHOICE, "low|moderate|severe|critical"),
                                          PERIOD,
                                          LIMIT,
                                          THE_END};
static const PlanParameter of_apps[] = {OPTION("advice", PLAN_FLAG, NULL), LIMIT, THE_END};
static const PlanParameter of_jobs[] = {APP, LIMIT, THE_END};
static const PlanParameter of_executors[] = {APP, OPTION("sort", PLAN_CHOICE, "executor|tasks|time|gc"), LIMIT,
                                             THE_END};
static const PlanParameter of_stages[] = {
    APP, STAGE, OPTION("sort", PLAN_CHOICE, "stage|duration|tasks|median|stragglers|input|shuffle"), LIMIT, THE_END};
static const PlanParameter of_tasks[] = {APP,
                                         STAGE,
                                         TASK,
                                         OPTION("status", PLAN_CHOICE, "running|success|failed|killed|lost"),
                                         OPTION("host", PLAN_TEXT, "host"),
                                         OPTION("sort", PLAN_CHOICE, "task|duration|begin|gc|input|shuffle"),
                                         LIMIT,
                                         THE_END};

const PlanAnalysis plan_analyses[] = {
    {"slow", "What is slow, and why", of_slow},
    {"why", "Why a trace, or tasks of an application, were slow", of_why},
    {"advise", "What to change in an application, and what that saves", of_advise},
    {"nodes", "Hosts that are slower than predicted", of_nodes},
    {"functions", "Time, calls and bytes of functions", of_functions},
    {"series", "A figure of functions over time, by host against its peers", of_series},
    {"distribution", "How calls of a function are spread", of_distribution},
    {"forest", "Compressed call trees", of_forest},
    {"traces", "Traces that match", of_traces},
    {"contrast", "What tells slow traces from the others", of_contrast},
    {"trace", "One trace as a tree", of_trace},
    {"find", "Which calls of a trace have a text", of_find},
    {"span", "All that is stored of one span", of_span},
    {"diff", "What became slower", of_diff},
    {"hosts", "Hosts that tasks waited for", of_hosts},
    {"marks", "What was done to the hosts", of_marks},
    {"samples", "A host's processor, disk and network over time", of_samples},
    {"skew", "How far the clocks of hosts are apart", of_skew},
    {"names", "Functions, hosts and annotations that are stored", of_names},
    {"apps", "Applications of Spark", of_apps},
    {"jobs", "Jobs of an application", of_jobs},
    {"executors", "Executors of an application", of_executors},
    {"stages", "Stages of an application", of_stages},
    {"tasks", "Tasks of an application", of_tasks},
    {"stragglers", "Slow tasks of an application, and their causes", of_stragglers},
    {"operations", "Operations of an application that waste time", of_operations},
    {"pipelines", "Tasks of a stage as bars of their operations", of_pipelines},
    {"status", "What became of all spans", of_status},
    {"verify", "Compute everything stored again, and compare", none},
    {NULL, NULL, NULL},
};

/* ---- the list, as JSON ---- */

static const char *const kinds[] = {[PLAN_FLAG] = "flag",
                                    [PLAN_NUMBER] = "number",
                                    [PLAN_CHOICE] = "choice",
                                    [PLAN_TEXT] = "text",
                                    [PLAN_LIST] = "list"};

static json_t *choices_of(const PlanParameter *parameter) {
    json_t *choices = json_array();
    g_auto(GStrv) names = g_strsplit(parameter->of, "|", 0);
    for (char **name = names; *name != NULL; name++) json_array_append_new(choices, json_string(*name));
    return choices;
}

static json_t *parameter_json(const PlanParameter *parameter) {
    json_t *row = json_pack("{s:s, s:s, s:b, s:b}", "name", parameter->name, "kind", kinds[parameter->kind], "argument",
                            parameter->argument, "required", parameter->required);
    if (parameter->kind == PLAN_CHOICE)
        json_object_set_new(row, "choices", choices_of(parameter));
    else if (parameter->of != NULL)
        json_object_set_new(row, "of", json_string(parameter->of));
    return row;
}

json_t *plan_list(void) {
    json_t *list = json_array();
    for (const PlanAnalysis *analysis = plan_analyses; analysis->name != NULL; analysis++) {
        json_t *parameters = json_array();
        for (const PlanParameter *at = analysis->parameters; at->name != NULL; at++)
            json_array_append_new(parameters, parameter_json(at));
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "analysis", analysis->name, "title", analysis->title,
                                              "parameters", parameters));
    }
    return list;
}

/* ---- what a reader sent ---- */

static const PlanAnalysis *find_analysis(const char *name) {
    for (const PlanAnalysis *at = plan_analyses; at->name != NULL; at++)
        if (strcmp(at->name, name) == 0) return at;
    return NULL;
}

static const PlanParameter *find_parameter(const PlanAnalysis *analysis, const char *name) {
    for (const PlanParameter *at = analysis->parameters; at->name != NULL; at++)
        if (strcmp(at->name, name) == 0) return at;
    return NULL;
}

/* One line of text that is not empty. */
static gboolean is_text(const json_t *value) {
    const char *text = json_string_value(value);
    if (text == NULL || text[0] == '\0' || json_string_length(value) > PLAN_TEXT_BYTES) return FALSE;
    for (const char *at = text; *at != '\0'; at = g_utf8_next_char(at))
        if (g_unichar_iscntrl(g_utf8_get_char(at))) return FALSE;
    return TRUE;
}

static gboolean is_choice(const PlanParameter *parameter, const char *text) {
    g_auto(GStrv) names = g_strsplit(parameter->of, "|", 0);
    return text != NULL && g_strv_contains((const char *const *)names, text);
}

static gboolean fail_value(const PlanParameter *parameter, const char *wanted, GError **error) {
    return fail(error, PLUMB_ERROR_INPUT, "%s: must be %s", parameter->name, wanted);
}

static void add(GPtrArray *to, const PlanParameter *parameter, const char *text) {
    g_ptr_array_add(to, parameter->argument ? g_strdup(text) : g_strdup_printf("--%s=%s", parameter->name, text));
}

static gboolean add_list(GPtrArray *to, const PlanParameter *parameter, const json_t *value, GError **error) {
    const size_t n = json_array_size(value);
    if (!json_is_array(value) || n > PLAN_LIST_MAX) return fail_value(parameter, "a list of at most 16 texts", error);
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(value, i);
        if (!is_text(item)) return fail_value(parameter, "a list of lines of at most 1024 bytes", error);
        add(to, parameter, json_string_value(item));
    }
    return TRUE;
}

static gboolean add_number(GPtrArray *to, const PlanParameter *parameter, const json_t *value, GError **error) {
    const json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || number > G_MAXINT32)
        return fail_value(parameter, "a whole number from 0 to 2147483647", error);
    g_autofree char *text = g_strdup_printf("%" JSON_INTEGER_FORMAT, number);
    add(to, parameter, text);
    return TRUE;
}

static gboolean add_value(GPtrArray *to, const PlanParameter *parameter, const json_t *value, GError **error) {
    switch (parameter->kind) {
    case PLAN_FLAG:
        if (!json_is_boolean(value)) return fail_value(parameter, "true or false", error);
        if (json_is_true(value)) g_ptr_array_add(to, g_strconcat("--", parameter->name, NULL));
        return TRUE;
    case PLAN_NUMBER: return add_number(to, parameter, value, error);
    case PLAN_CHOICE:
        if (!is_choice(parameter, json_string_value(value)))
            return fail(error, PLUMB_ERROR_INPUT, "%s: must be one of %s", parameter->name, parameter->of);
        add(to, parameter, json_string_value(value));
        return TRUE;
    case PLAN_LIST: return add_list(to, parameter, value, error);
    default:
        if (!is_text(value)) return fail_value(parameter, "one line of at most 1024 bytes", error);
        add(to, parameter, json_string_value(value));
        return TRUE;
    }
}

static gboolean check_names(const PlanAnalysis *analysis, const json_t *parameters, GError **error) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)parameters, name, value) {
        if (find_parameter(analysis, name) != NULL) continue;
        return fail(error, PLUMB_ERROR_INPUT, "%s has no parameter of that name: shell/analyses lists them",
                    analysis->name);
    }
    return TRUE;
}

/* Options, or the arguments that follow them. */
static gboolean add_values(GPtrArray *to, const PlanAnalysis *analysis, const json_t *parameters, gboolean arguments,
                           GError **error) {
    const char *lacking = NULL;
    for (const PlanParameter *at = analysis->parameters; at->name != NULL; at++) {
        if (at->argument != arguments) continue;
        const json_t *value = json_object_get(parameters, at->name);
        if (value == NULL) {
            if (at->required) return fail(error, PLUMB_ERROR_INPUT, "%s is needed", at->name);
            if (at->argument) lacking = at->name;
            continue;
        }
        if (at->argument && lacking != NULL)
            return fail(error, PLUMB_ERROR_INPUT, "%s is needed before %s", lacking, at->name);
        if (!add_value(to, at, value, error)) return FALSE;
    }
    return TRUE;
}

char **plan_arguments(const json_t *request, const PlanAnalysis **analysis, GError **error) {
    const char *name = json_string_value(json_object_get(request, "analysis"));
    const json_t *parameters = json_object_get(request, "parameters");
    const PlanAnalysis *found = name != NULL ? find_analysis(name) : NULL;
    if (found == NULL || (parameters != NULL && !json_is_object(parameters))) {
        fail(error, PLUMB_ERROR_INPUT,
             "send {\"analysis\": NAME, \"parameters\": {...}}, NAME being one of those in shell/analyses");
        return NULL;
    }

    g_autoptr(GPtrArray) arguments = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(arguments, g_strdup(found->name));
    if (!check_names(found, parameters, error) || !add_values(arguments, found, parameters, FALSE, error)) return NULL;
    g_ptr_array_add(arguments, g_strdup("--")); /* what follows is no option, whatever it begins with */
    if (!add_values(arguments, found, parameters, TRUE, error)) return NULL;
    g_ptr_array_add(arguments, NULL);
    *analysis = found;
    return (char **)g_ptr_array_free(g_steal_pointer(&arguments), FALSE);
}

/* Is "--" needed for what follows it? */
static gboolean needs_end(const char *const *rest) {
    for (; *rest != NULL; rest++)
        if ((*rest)[0] == '-') return TRUE;
    return FALSE;
}

char *plan_command(const char *const *arguments) {
    GString *command = g_string_new("plumb");
    gboolean options = TRUE;
    for (; *arguments != NULL; arguments++) {
        const gboolean end = options && strcmp(*arguments, "--") == 0;
        options = options && !end;
        if (end && !needs_end(arguments + 1)) continue;
        g_autofree char *word = harmless_word(*arguments);
        g_string_append_printf(command, " %s", word);
    }
    return g_string_free(command, FALSE);
}
