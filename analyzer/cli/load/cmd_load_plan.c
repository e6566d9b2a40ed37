#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/cli/commands/option_sets.h"
#include "analyzer/cli/format/out_file.h"
#include "analyzer/cli/load/audit_file.h"
#include "analyzer/cli/load/load_commands.h"
#include "analyzer/cli/load/values.h"
#include "analyzer/load/plan/plan.h"
#include "common/base/error.h"

static gboolean write_piece(void *arg, Bytes piece, GError **error) { return out_file_write(arg, piece, error); }

#define DAY_NS (24 * G_GINT64_CONSTANT(3600000000000))

static gint64 size_unit(const char *name) {
    if (strcmp(name, "KiB") == 0) return 1024;
    return strcmp(name, "10KB") == 0 ? 10000 : 1;
}

static LoadGaps gaps_of(const char *name) {
    for (LoadGaps gaps = GAPS_PARETO; gaps < GAPS_EVEN; gaps++)
        if (strcmp(load_gaps_name(gaps), name) == 0) return gaps;
    return GAPS_EVEN;
}

static gboolean read_amounts(const Invocation *invocation, LoadModel *model, GError **error) {
    guint64 clients = model->clients, session = model->session;
    if (!value_whole(invocation, "seed", &model->seed, error) ||
        !value_duration(invocation, "duration", &model->duration_ns, error) ||
        !value_duration(invocation, "warm-up", &model->warm_up_ns, error) ||
        !value_duration(invocation, "ramp", &model->ramp_ns, error) ||
        !value_whole(invocation, "files", &model->files, error) ||
        !value_size(invocation, "max-file", &model->max_file_bytes, error) ||
        !value_whole(invocation, "clients", &clients, error) || !value_whole(invocation, "session", &session, error))
        return FALSE;
    model->clients = (guint)MIN(clients, G_MAXUINT);
    model->session = (guint)MIN(session, G_MAXUINT);
    return TRUE;
}

/* Room for LOAD_PROFILE_BYTES_MOST, and one more. */
static gboolean profile_text(const char *path, char *text, GError **error) {
    FILE *file = fopen(path, "re");
    if (file == NULL) return fail_errno(error, errno, "--profile %s", path);
    const gsize n = fread(text, 1, LOAD_PROFILE_BYTES_MOST + 1, file);
    const int number = ferror(file) ? errno : 0;
    fclose(file);
    if (number != 0) return fail_errno(error, number, "--profile %s", path);
    if (n > LOAD_PROFILE_BYTES_MOST)
        return fail(error, PLUMB_ERROR_CONFIG, "--profile %s: it has more than %u bytes", path,
                    LOAD_PROFILE_BYTES_MOST);
    text[n] = '\0';
    return TRUE;
}

static gboolean read_profile(const Invocation *invocation, LoadProfile *profile, GError **error) {
    const char *path = option_text(invocation, "profile");
    if (path == NULL && option_text(invocation, "day") != NULL)
        return fail(error, PLUMB_ERROR_CONFIG, "--day is of --profile: name its file");
    if (path == NULL) return TRUE;
    profile->day_ns = DAY_NS;
    if (!value_duration(invocation, "day", &profile->day_ns, error)) return FALSE;

    g_autofree char *text = g_malloc(LOAD_PROFILE_BYTES_MOST + 1);
    return profile_text(path, text, error) && load_profile_parse(text, profile, error);
}

static gboolean read_model(const Invocation *invocation, LoadModel *model, GError **error) {
    load_preset(option_text(invocation, "preset"), model);
    if (option_text(invocation, "rate") != NULL && option_text(invocation, "alpha") != NULL)
        return fail(error, PLUMB_ERROR_CONFIG, "--rate and --alpha exclude each other: the same rate, or the model's");
    if (option_text(invocation, "rate") != NULL && option_text(invocation, "persistence") != NULL)
        return fail(error, PLUMB_ERROR_CONFIG, "--persistence is of rates that change: leave out --rate");

    if (!value_real(invocation, "alpha", (Range){1e-6, 100}, &model->alpha, error) ||
        !value_real(invocation, "rate", (Range){1e-3, 1e6}, &model->rate, error) ||
        !value_real(invocation, "persistence", (Range){0, 0.999}, &model->persistence, error) ||
        !value_real(invocation, "zipf", (Range){0, 5}, &model->zipf, error) || !read_amounts(invocation, model, error))
        return FALSE;

    if (option_text(invocation, "gaps") != NULL) model->gaps = gaps_of(option_text(invocation, "gaps"));
    if (option_text(invocation, "size-unit") != NULL)
        model->size_unit_bytes = size_unit(option_text(invocation, "size-unit"));
    if (!read_profile(invocation, &model->profile, error)) return FALSE;
    const char *mix = option_text(invocation, "mix");
    if (mix != NULL && !load_mix_parse(mix, &model->mix, error)) return FALSE;
    return load_model_check(model, error);
}

static json_t *describe(const char *path, const LoadModel *model, const LoadPlanSums *sums) {
    g_autofree char *shown = g_utf8_make_valid(path, -1);
    json_t *kinds = json_array();
    for (guint kind = 0; kind < LOAD_KINDS; kind++)
        if (sums->of_kind[kind] > 0)
            json_array_append_new(kinds, json_pack("{s:s, s:I}", "kind", load_kind_name((LoadKind)kind), "operations",
                                                   (json_int_t)sums->of_kind[kind]));

    const double seconds = (double)(model->warm_up_ns + model->duration_ns) / 1e9;
    json_t *document =
        json_pack("{s:s, s:s, s:I, s:I, s:f, s:I, s:I, s:o}", "plan", shown, "preset", model->preset, "warm_up_ns",
                  (json_int_t)model->warm_up_ns, "duration_ns", (json_int_t)model->duration_ns, "per_s",
                  (double)sums->operations / seconds, "operations", (json_int_t)sums->operations, "files",
                  (json_int_t)sums->files, "kinds", kinds);
    g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, model->seed); /* may be past what JSON has */
    json_object_set_new(document, "seed", json_string(seed));
    json_object_set_new(document, "fill_bytes", json_integer(sums->fill_bytes));
    json_object_set_new(document, "read_bytes", json_integer(sums->read_bytes));
    json_object_set_new(document, "write_bytes", json_integer(sums->write_bytes));
    json_object_set_new(document, "files_cut", json_integer((json_int_t)sums->files_cut));
    json_object_set_new(document, "requests_cut", json_integer((json_int_t)sums->requests_cut));
    return document;
}

/* ---- of an audit log ---- */

/* What has no meaning there: the log says when what is done. */
static const char *const of_models[] = {"alpha", "rate", "persistence", "profile", "day",    "ramp",
                                        "gaps",  "mix",  "files",       "zipf",    "session"};

static gboolean read_audit_options(const Invocation *invocation, AuditOptions *options, GError **error) {
    *options = (AuditOptions){.speed = 1};
    load_preset("alicloud", &options->model);
    options->model.warm_up_ns = options->model.duration_ns = 0;
    if (strcmp(option_text(invocation, "preset"), options->model.preset) != 0)
        return fail(error, PLUMB_ERROR_CONFIG, "--from-audit and --preset exclude each other: the log says it");
    for (guint i = 0; i < G_N_ELEMENTS(of_models); i++)
        if (option_text(invocation, of_models[i]) != NULL)
            return fail(error, PLUMB_ERROR_CONFIG, "--from-audit and --%s exclude each other: the log says it",
                        of_models[i]);
    if (!read_amounts(invocation, &options->model, error) ||
        !value_real(invocation, "speed", (Range){1e-3, 1e4}, &options->speed, error))
        return FALSE;
    if (option_text(invocation, "size-unit") != NULL)
        options->model.size_unit_bytes = size_unit(option_text(invocation, "size-unit"));

    const gint64 duration_ns = options->model.duration_ns;
    if (duration_ns > 0) options->duration_ns = duration_ns + options->model.warm_up_ns;
    if (duration_ns == 0) options->model.duration_ns = G_GINT64_CONSTANT(1000000000); /* it is the log's */
    return load_model_check(&options->model, error);
}

static json_t *describe_audit(const char *path, const AuditOptions *options, const LoadPlanSums *sums,
                              const AuditSums *of_log) {
    LoadModel model = options->model;
    model.preset = "audit";
    model.duration_ns = of_log->end_ns - model.warm_up_ns;
    json_t *document = describe(path, &model, sums), *left_out = json_object();
    GHashTableIter iter;
    gpointer command, n;
    g_hash_table_iter_init(&iter, of_log->left_out);
    while (g_hash_table_iter_next(&iter, &command, &n))
        json_object_set_new(left_out, command, json_integer((json_int_t) * (guint64 *)n));
    json_object_set_new(document, "audit",
                        json_pack("{s:f, s:I, s:I, s:I, s:I, s:o}", "speed", options->speed, "lines",
                                  (json_int_t)of_log->lines, "refused", (json_int_t)of_log->refused, "other_lines",
                                  (json_int_t)of_log->other_lines, "later", (json_int_t)of_log->later, "left_out",
                                  left_out));
    return document;
}

static CliExit run_audit(Invocation *invocation) {
    const char *path = invocation->arguments[0];
    const gboolean to_stdout = strcmp(path, "-") == 0;
    GError *error = NULL;
    AuditOptions options;
    LoadPlanSums sums;
    AuditSums of_log;
    if (!read_audit_options(invocation, &options, &error)) return invocation_failed(invocation, error);
    g_autoptr(AuditPlan) plan = audit_plan_new(&options);
    g_autoptr(OutFile) file = out_file_open(to_stdout ? NULL : path, &error);
    if (file == NULL || !audit_file_plan(option_text(invocation, "from-audit"), plan, write_piece, file, &error) ||
        !audit_plan_end(plan, &sums, &of_log, &error) || !out_file_finish(file, &error))
        return invocation_failed(invocation, error);
    if (to_stdout) return CLI_OK;

    json_auto_t *document = describe_audit(path, &options, &sums, &of_log);
    const ShowOptions show = invocation_show_options(invocation);
    return invocation_print(invocation, document, show_load_plan, &show);
}

static CliExit run(Invocation *invocation) {
    const char *path = invocation->arguments[0];
    if (g_str_has_suffix(path, ".gz") || g_str_has_suffix(path, ".zst"))
        return invocation_usage(invocation, "a plan is not compressed: leave out the ending of '%s'", path);

    if (option_text(invocation, "from-audit") != NULL) return run_audit(invocation);
    if (option_text(invocation, "speed") != NULL)
        return invocation_usage(invocation, "--speed is of --from-audit: name a log");

    GError *error = NULL;
    LoadModel model;
    LoadPlanSums sums;
    if (!read_model(invocation, &model, &error)) return invocation_failed(invocation, error);
    const gboolean to_stdout = strcmp(path, "-") == 0;
    g_autoptr(OutFile) file = out_file_open(to_stdout ? NULL : path, &error);
    if (file == NULL || !load_plan_draw(&model, write_piece, file, &sums, &error) || !out_file_finish(file, &error))
        return invocation_failed(invocation, error);
    if (to_stdout) return CLI_OK;

    json_auto_t *document = describe(path, &model, &sums);
    const ShowOptions show = invocation_show_options(invocation);
    return invocation_print(invocation, document, show_load_plan, &show);
}

static const Option options[] = {
    {"preset", OPTION_CHOICE, "alicloud|table15|yahoo", NULL, "where all that is not said here comes from", "alicloud"},
    {"seed", OPTION_TEXT, "N", NULL, "of the random numbers: the same seed gives the same plan (default: 1)", NULL},
    {"alpha", OPTION_TEXT, "A", NULL,
     "part of the source cluster's rate, which was 916 operations a second in the mean (default: 0.01)", NULL},
    {"rate", OPTION_TEXT, "R", NULL, "operations a second, the same all the time, instead of --alpha", NULL},
    {"persistence", OPTION_TEXT, "R", NULL,
     "how much of a second's rate goes on into the next, 0 to 0.999 (default: 0)", NULL},
    {"profile", OPTION_TEXT, "FILE", NULL,
     "by what the rate is multiplied at which time of day: lines of HH:MM FACTOR; the plan begins at 00:00", NULL},
    {"day", OPTION_TEXT, "TIME", NULL, "of --profile: how long a day takes (default: 24h)", NULL},
    {"duration", OPTION_TEXT, "TIME", NULL, "how long is measured (default: 5m)", NULL},
    {"warm-up", OPTION_TEXT, "TIME", NULL, "how long before it the load runs, not measured (default: 30s)", NULL},
    {"ramp", OPTION_TEXT, "TIME", NULL, "of the warm-up, from its begin: the rate rises to the full one (default: 0s)",
     NULL},
    {"gaps", OPTION_CHOICE, "pareto|lomax|poisson|even", NULL, "between operations (default: pareto)", NULL},
    {"mix", OPTION_TEXT, "KIND=N,...", NULL,
     "weights of read, pread, write, append, open, stat, list, mkdir, rename, delete", NULL},
    {"files", OPTION_TEXT, "N", NULL, "files that are made before (default: 100; of yahoo: 10000)", NULL},
    {"max-file", OPTION_TEXT, "SIZE", NULL, "larger files and writes are cut to it (default: 64M; of yahoo: 1M)", NULL},
    {"size-unit", OPTION_CHOICE, "B|KiB|10KB", NULL, "of the model's sizes of requests (default: B)", NULL},
    {"zipf", OPTION_TEXT, "E", NULL, "exponent of the files' popularity; 0: all alike (default: 0; of yahoo: 0.75)",
     NULL},
    {"from-audit", OPTION_TEXT, "LOG", NULL, "replay this audit log of a NameNode, instead of drawing what is done",
     NULL},
    {"speed", OPTION_TEXT, "X", NULL, "of the replay: 2 is twice as fast as the log (default: 1)", NULL},
    {"clients", OPTION_TEXT, "N", NULL, "clients with connections of their own (default: 16)", NULL},
    {"session", OPTION_TEXT, "N", NULL,
     "operations of a session: it comes by itself, and each begins when the one before has ended (default: 1)", NULL},
    OPTION_THE_END,
};

const Command command_load_plan = {
    .name = "load plan",
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .missing = "where is the plan to go? plumb load plan FILE; -: standard output",
    .summary = "draw a load for HDFS: which operation is due when, on which file",
    .about = "Draws a plan for 'plumb load run' and writes it to FILE. The same options give the same plan, byte for\n"
             "byte, on every machine. It asks no server. docs/load.md says what is drawn, and the format of the file.",
    .example = "  plumb load plan night.plan --alpha 0.05 --duration 10m\n"
               "  plumb load plan reads.plan --preset table15 --seed 7\n"
               "  plumb load plan small.plan --rate 50 --duration 1m --mix read=70,write=20,stat=10 --max-file 1M\n"
               "  plumb load plan monday.plan --from-audit hdfs-audit.log --speed 2 --duration 30m\n",
    .options = options,
    .server_only = TRUE,
    .asks_none = TRUE,
    .run = run,
};
