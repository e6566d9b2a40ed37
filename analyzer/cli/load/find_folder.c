#include "analyzer/cli/load/find_folder.h"

#include <unistd.h>

#include "analyzer/load/results/report.h"
#include "common/base/error.h"

#define NAME_DIGITS "%03u"

void find_folder_free(FindFolder *folder) {
    if (folder == NULL) return;
    g_free(folder->path);
    g_free(folder->limit_text);
    json_decref(folder->document);
    g_free(folder);
}

FindFolder *find_folder_new(const char *path, const char *limit_text, const FindSettings *settings, GError **error) {
    g_autoptr(FindFolder) folder = g_new0(FindFolder, 1);
    folder->path = g_strdup(path);
    folder->limit_text = g_strdup(limit_text);
    folder->settings = *settings;
    if (!load_limits_parse(limit_text, &folder->limits, error)) return NULL;
    folder->document = find_report_new(path, limit_text, &folder->limits, settings);
    return g_steal_pointer(&folder);
}

char *find_folder_file(const FindFolder *folder, guint step, const char *ending) {
    return g_strdup_printf("%s/step-" NAME_DIGITS ".%s", folder->path, step, ending);
}

char *find_folder_head(const FindFolder *folder, const FindStep *step) {
    char rate[G_ASCII_DTOSTR_BUF_SIZE], start[G_ASCII_DTOSTR_BUF_SIZE], precision[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_dtostr(rate, sizeof rate, step->rate);
    g_ascii_dtostr(start, sizeof start, folder->settings.start);
    g_ascii_dtostr(precision, sizeof precision, folder->settings.precision);
    return g_strdup_printf("find-limit %s\nfind-start %s\nfind-precision %s\nfind-searches %u\n"
                           "find-search %u\nfind-rate %s\n",
                           folder->limit_text, start, precision, folder->settings.searches, step->search, rate);
}

/* ---- results ---- */

static gboolean head_real(const LoadRun *run, const char *key, double *value, GError **error) {
    const char *text = load_run_head(run, key);
    char *end = NULL;
    *value = g_ascii_strtod(text, &end);
    if (end != text && *end == '\0' && *value > 0 && *value < 1e9) return TRUE;
    return fail(error, PLUMB_ERROR_INPUT, "this is no step of a search for the greatest rate: %s is missing", key);
}

static gboolean head_count(const LoadRun *run, const char *key, guint most, guint *value, GError **error) {
    guint64 read;
    if (!g_ascii_string_to_unsigned(load_run_head(run, key), 10, 1, most, &read, error)) return FALSE;
    *value = (guint)read;
    return TRUE;
}

static char *say_step(const FindFolder *folder, const FindStep *step, const char *why) {
    return g_strdup_printf("step %u: %.4g/s: %s (%s)", folder->n_steps, step->rate, load_verdict_name(step->verdict),
                           why);
}

gboolean find_folder_take(FindFolder *folder, char **said, GError **error) {
    g_autofree char *path = find_folder_file(folder, folder->n_steps + 1, "result");
    g_autoptr(LoadRun) run = load_run_open(path, error);
    if (run == NULL) return FALSE;
    folder->last_end = load_run_end_name(run->end);
    /* Ended by what has nothing to do with the rate. */
    if (run->end == RUN_INTERRUPTED || run->end == RUN_KILLED || run->end == RUN_RESULT || run->end == RUN_BYTES ||
        run->end == RUN_SPACE)
        return TRUE;
    FindStep *step = &folder->steps[folder->n_steps];
    if (!head_real(run, "plan-find-rate", &step->rate, error) ||
        !head_count(run, "plan-find-search", FIND_SEARCHES_MOST, &step->search, error)) {
        g_prefix_error(error, "%s: ", path);
        return FALSE;
    }

    json_auto_t *report = load_report(run, path, &(LoadReportOptions){.slowest = 0});
    const LoadJudgement judgement = load_judge(&folder->limits, report);
    step->verdict = judgement.verdict;
    step->within = judgement.within;
    folder->n_steps++;
    find_report_add(folder->document, &folder->limits, step, judgement.why, report);
    if (said != NULL) *said = say_step(folder, step, judgement.why);
    g_free(judgement.why);
    return TRUE;
}

static FindFolder *open_first(const char *path, GError **error) {
    g_autofree char *first = g_strdup_printf("%s/step-" NAME_DIGITS ".result", path, 1);
    if (access(first, F_OK) != 0) {
        fail(error, PLUMB_ERROR_NOT_FOUND, "%s has no step-001.result: it is no folder of 'plumb load run --find-max'",
             path);
        return NULL;
    }
    g_autoptr(LoadRun) run = load_run_open(first, error);
    FindSettings settings;
    if (run == NULL || !head_real(run, "plan-find-start", &settings.start, error) ||
        !head_real(run, "plan-find-precision", &settings.precision, error) ||
        !head_count(run, "plan-find-searches", FIND_SEARCHES_MOST, &settings.searches, error))
        return NULL;
    return find_folder_new(path, load_run_head(run, "plan-find-limit"), &settings, error);
}

FindFolder *find_folder_open(const char *path, GError **error) {
    g_autoptr(FindFolder) folder = open_first(path, error);
    for (guint step = 1; folder != NULL && step <= FIND_STEPS_MOST && folder->n_steps + 1 == step; step++) {
        g_autofree char *next = find_folder_file(folder, step, "result");
        if (access(next, F_OK) != 0) break;
        if (!find_folder_take(folder, NULL, error)) return NULL;
    }
    return g_steal_pointer(&folder);
}

const json_t *find_folder_report(FindFolder *folder) {
    FindStep next;
    const gboolean ended = !find_next(&folder->settings, folder->steps, folder->n_steps, &next);
    find_report_end(folder->document, folder->steps, folder->n_steps, ended);
    return folder->document;
}
