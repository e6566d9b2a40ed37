#include "analyzer/cli/load/find_run.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/cli/load/find_folder.h"
#include "analyzer/cli/load/plan_file.h"
#include "analyzer/cli/load/values.h"
#include "analyzer/load/plan/model.h"
#include "common/base/error.h"

/* A step is over when the p99 of all operations was so many times its bound for ten seconds: it fails anyway. */
#define HOPELESS 10

static gboolean remove_old(const FindFolder *folder, GError **error) {
    static const char *const endings[] = {"plan", "result"};
    for (guint step = 1; step <= FIND_STEPS_MOST; step++) {
        for (guint i = 0; i < G_N_ELEMENTS(endings); i++) {
            g_autofree char *file = find_folder_file(folder, step, endings[i]);
            if (unlink(file) != 0 && errno != ENOENT) return fail_errno(error, errno, "%s", file);
        }
    }
    return TRUE;
}

static gboolean make_folder(const Invocation *invocation, const FindFolder *folder, GError **error) {
    if (mkdir(folder->path, 0777) == 0) return TRUE;
    if (errno != EEXIST) return fail_errno(error, errno, "%s", folder->path);
    if (!option_flag(invocation, "overwrite"))
        return fail(error, PLUMB_ERROR_CONFIG,
                    "%s is there already: name another folder with --result, or say "
                    "--overwrite",
                    folder->path);
    return remove_old(folder, error);
}

static gboolean draw_step(const FindFolder *folder, const LoadModel *base, const FindStep *step, GError **error) {
    LoadModel model = *base;
    g_autofree char *more = find_folder_head(folder, step);
    g_autofree char *path = find_folder_file(folder, folder->n_steps + 1, "plan");
    /* Other due times in each search, but the same files. */
    model.seed = base->seed + step->search - 1;
    model.files_seed = base->files_seed != 0 ? base->files_seed : base->seed;
    model.more = more;
    if (base->rate > 0) {
        model.rate = step->rate / load_profile_mean(&base->profile, base->warm_up_ns + base->duration_ns);
    } else {
        model.alpha = base->alpha * step->rate / load_model_mean_rate(base);
    }
    return load_model_check(&model, error) && plan_file_draw(path, &model, NULL, error);
}

/* *code: of the executor. */
static gboolean run_step(const Invocation *invocation, const FindFolder *folder, int *code, GError **error) {
    g_autofree char *plan = find_folder_file(folder, folder->n_steps + 1, "plan");
    g_autofree char *result = find_folder_file(folder, folder->n_steps + 1, "result");
    g_autoptr(Executor) executor = executor_new(invocation, "run", error);
    if (executor == NULL || !run_configure(invocation, executor, error)) return FALSE;
    executor_set(executor, "plan", plan);
    executor_set(executor, "result", result);
    const gint64 p99_most_ns = load_limits_p99_most_ns(&folder->limits);
    if (option_text(invocation, "max-p99") == NULL && p99_most_ns > 0) {
        char text[G_ASCII_DTOSTR_BUF_SIZE];
        g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, p99_most_ns * HOPELESS);
        executor_set(executor, "max-p99-ns", text);
    }
    return executor_run(executor, code, error);
}

/* All steps. FALSE without an error: the executor said why, and ended with *code. */
static gboolean run_steps(const Invocation *invocation, FindFolder *folder, const LoadModel *base, int *code,
                          GError **error) {
    FindStep next;
    while (find_next(&folder->settings, folder->steps, folder->n_steps, &next)) {
        g_autofree char *said = NULL;
        if (!draw_step(folder, base, &next, error) || !run_step(invocation, folder, code, error)) return FALSE;
        g_autofree char *result = find_folder_file(folder, folder->n_steps + 1, "result");
        if (access(result, F_OK) != 0) return FALSE;
        if (!find_folder_take(folder, &said, error)) return FALSE;
        if (said == NULL) return FALSE;
        if (!option_flag(invocation, "quiet")) invocation_say(invocation->command->name, said);
    }
    return TRUE;
}

static gboolean read_settings(const Invocation *invocation, const LoadModel *base, FindSettings *settings,
                              GError **error) {
    *settings = (FindSettings){.start = load_model_mean_rate(base), .precision = 10};
    if (!value_real(invocation, "precision", (Range){1, 100}, &settings->precision, error)) return FALSE;
    settings->precision /= 100;
    const guint64 searches = option_number(invocation, "searches");
    settings->searches = (guint)MIN(searches, FIND_SEARCHES_MOST);
    return (searches >= 1 && searches <= FIND_SEARCHES_MOST) ||
           fail(error, PLUMB_ERROR_CONFIG, "--searches=%" G_GUINT64_FORMAT ": from 1 to %u", searches,
                FIND_SEARCHES_MOST);
}

static FindFolder *begin(const Invocation *invocation, LoadModel *base, GError **error) {
    const char *plan = invocation->arguments[0], *result = option_text(invocation, "result");
    const char *limits = option_text(invocation, "find-max");
    g_autofree char *path = result != NULL ? g_strdup(result) : g_strconcat(plan, ".find", NULL);
    LoadLimits parsed;
    FindSettings settings;
    if (!load_limits_parse(limits, &parsed, error) || !plan_file_check(plan, base, error) ||
        !read_settings(invocation, base, &settings, error))
        return NULL;
    /* A wrong option is told before a folder is made. */
    g_autoptr(Executor) executor = executor_new(invocation, "run", error);
    if (executor == NULL || !run_configure(invocation, executor, error)) return NULL;
    g_autoptr(FindFolder) folder = find_folder_new(path, limits, &settings, error);
    if (folder == NULL || !make_folder(invocation, folder, error)) return NULL;
    return g_steal_pointer(&folder);
}

CliExit find_run(Invocation *invocation) {
    GError *error = NULL;
    LoadModel base;
    g_autoptr(FindFolder) folder = begin(invocation, &base, &error);
    if (folder == NULL) return invocation_failed(invocation, error);
    int ended = 0;
    const gboolean done = run_steps(invocation, folder, &base, &ended, &error);
    CliExit code = done ? CLI_OK : ended == CLI_USAGE ? CLI_USAGE : CLI_FAILED;
    if (error != NULL) code = invocation_failed(invocation, error);
    if (folder->n_steps == 0) {
        remove_old(folder, NULL);
        rmdir(folder->path); /* if nothing else is in it */
        return code;
    }
    const ShowOptions show = invocation_show_options(invocation);
    const CliExit printed = invocation_print(invocation, find_folder_report(folder), show_load_find, &show);
    return code == CLI_OK ? printed : code;
}
