#include <string.h>

#include "analyzer/load/plan/model.h"
#include "common/base/error.h"

#define NS_PER_SECOND G_GINT64_CONSTANT(1000000000)

static const char *const gaps_names[] = {"pareto", "lomax", "poisson", "even"};

const char *load_gaps_name(LoadGaps gaps) { return gaps_names[gaps]; }

/* Only reads, of files that are there: what table 15 measured. No mix was published, so the others' are ours. */
static const LoadModel presets[] = {
    {.preset = "alicloud",
     .mix = {{[LOAD_READ] = 60, [LOAD_WRITE] = 20, [LOAD_STAT] = 10, [LOAD_LIST] = 5, [LOAD_DELETE] = 5}},
     .files = 100,
     .max_file_bytes = 64 << 20},
    {.preset = "table15", .mix = {{[LOAD_READ] = 1}}, .files = 100, .max_file_bytes = 64 << 20},
    {.preset = "yahoo",
     .mix = {{[LOAD_READ] = 80, [LOAD_WRITE] = 10, [LOAD_DELETE] = 10}},
     .files = 10000,
     .max_file_bytes = 1 << 20,
     .zipf = 0.75,
     .recent = TRUE,
     .compress = 60},
};

gboolean load_preset(const char *name, LoadModel *model) {
    for (guint i = 0; i < G_N_ELEMENTS(presets); i++) {
        if (strcmp(presets[i].preset, name) != 0) continue;
        *model = presets[i];
        model->seed = 1;
        model->alpha = 0.01;
        model->warm_up_ns = 30 * NS_PER_SECOND;
        model->duration_ns = 300 * NS_PER_SECOND;
        model->size_unit_bytes = 1;
        model->clients = 16;
        model->session = 1;
        return TRUE;
    }
    return FALSE;
}

gboolean load_model_check(const LoadModel *model, GError **error) {
    const double seconds = ((double)model->warm_up_ns + (double)model->duration_ns) / (double)NS_PER_SECOND;
    if (model->duration_ns < NS_PER_SECOND)
        return fail(error, PLUMB_ERROR_CONFIG, "--duration: a load takes a second at least");
    if (model->profile.n > 0 && model->profile.day_ns < NS_PER_SECOND)
        return fail(error, PLUMB_ERROR_CONFIG, "--day: a day takes a second at least");
    if (model->ramp_ns > model->warm_up_ns)
        return fail(error, PLUMB_ERROR_CONFIG, "--ramp: it is part of --warm-up, and cannot be longer");
    if (seconds > LOAD_SECONDS_MOST)
        return fail(error, PLUMB_ERROR_CONFIG, "--duration: with --warm-up it is %.0f days; the most is 7",
                    seconds / 86400);
    const double operations = load_model_mean_rate(model) * seconds;
    if (!(operations > 0))
        return fail(error, PLUMB_ERROR_CONFIG,
                    "nothing would be drawn: the rate is 0 for all of the plan's time; raise the factors of --profile "
                    "that it reaches, lengthen --duration, or shorten --day");
    if (!(operations <= LOAD_OPERATIONS_MOST))
        return fail(error, PLUMB_ERROR_CONFIG,
                    "about %.0f operations would be drawn; a plan has %u at most: lower the rate, or the duration",
                    operations, LOAD_OPERATIONS_MOST);
    if (model->files < 1 || model->files > LOAD_FILES_MOST)
        return fail(error, PLUMB_ERROR_CONFIG, "--files: from 1 to %u", LOAD_FILES_MOST);
    if (model->max_file_bytes < 1 || model->max_file_bytes > LOAD_FILE_MOST_BYTES)
        return fail(error, PLUMB_ERROR_CONFIG, "--max-file: from 1 to 1T");
    if (model->clients < 1 || model->clients > LOAD_CLIENTS_MOST)
        return fail(error, PLUMB_ERROR_CONFIG, "--clients: from 1 to %u", LOAD_CLIENTS_MOST);
    if (model->session < 1 || model->session > LOAD_SESSION_MOST)
        return fail(error, PLUMB_ERROR_CONFIG, "--session: from 1 to %u", LOAD_SESSION_MOST);
    return TRUE;
}
