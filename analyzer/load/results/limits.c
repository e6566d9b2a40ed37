#include "analyzer/load/results/limits.h"

#include <string.h>

#include "common/base/config_value.h"
#include "common/base/error.h"

#define ERRORS_MOST_PERCENT 1.0
#define TIME_MOST_NS        G_GINT64_CONSTANT(3600000000000)

static const char *const quantiles[] = {"p50", "p90", "p95", "p99", "p999"};

const char *load_verdict_name(LoadVerdict verdict) {
    static const char *const names[] = {"holds", "fails", "undecided", "generator"};
    return names[verdict];
}

static gboolean parse_percent(const char *text, double *percent) {
    char *end = NULL;
    *percent = g_ascii_strtod(text, &end);
    return end != text && (*end == '\0' || strcmp(end, "%") == 0) && *percent >= 0 && *percent <= 100;
}

static gboolean find_quantile(const char *name, const char **quantile) {
    for (guint i = 0; i < G_N_ELEMENTS(quantiles); i++) {
        if (strcmp(quantiles[i], name) != 0) continue;
        *quantile = quantiles[i];
        return TRUE;
    }
    return FALSE;
}

/* "read:p99" before the sign, "50ms" after it. */
static gboolean parse_term(char *name, const char *bound, LoadTerm *term, GError **error) {
    char *colon = strchr(name, ':');
    *term = (LoadTerm){.kind = LOAD_KINDS};
    if (colon != NULL) {
        *colon = '\0';
        term->kind = load_kind_find(name, strlen(name));
        if (term->kind == LOAD_KINDS) return fail(error, PLUMB_ERROR_CONFIG, "there is no kind '%s'", name);
        name = colon + 1;
    }

    if (strcmp(name, "errors") == 0 && term->kind == LOAD_KINDS) {
        term->what = TERM_ERRORS;
        return parse_percent(bound, &term->most_percent) ||
               fail(error, PLUMB_ERROR_CONFIG, "errors<=%s: must be 0 to 100 percent", bound);
    }

    if (strcmp(name, "lag") == 0 && term->kind == LOAD_KINDS) {
        term->what = TERM_LAG;
    } else if (!find_quantile(name, &term->quantile)) {
        return fail(error, PLUMB_ERROR_CONFIG, "'%s' is none of p50, p90, p95, p99, p999, errors and lag", name);
    }
    return (duration_parse(bound, &term->most_ns) && term->most_ns > 0 && term->most_ns <= TIME_MOST_NS) ||
           fail(error, PLUMB_ERROR_CONFIG, "%s<=%s: must be a time with its unit, an hour at most: 50ms, 2s", name,
                bound);
}

static gboolean parse_terms(const char *text, LoadLimits *limits, GError **error) {
    for (const char *at = text; *at != '\0'; at++)
        if (g_ascii_iscntrl(*at)) return fail(error, PLUMB_ERROR_CONFIG, "it goes over more than one line");
    g_auto(GStrv) parts = g_strsplit(text, ",", 0);
    gboolean errors = FALSE;
    for (char **part = parts; *part != NULL; part++) {
        char *sign = strstr(*part, "<=");
        if (sign == NULL) return fail(error, PLUMB_ERROR_CONFIG, "'%s' lacks its bound: p99<=50ms", *part);
        if (limits->n == LOAD_TERMS_MOST - 1)
            return fail(error, PLUMB_ERROR_CONFIG, "%u bounds at most", LOAD_TERMS_MOST - 1);
        *sign = '\0';
        LoadTerm *term = &limits->terms[limits->n++];
        if (!parse_term(g_strstrip(*part), g_strstrip(sign + 2), term, error)) return FALSE;
        errors |= term->what == TERM_ERRORS;
    }
    if (!errors)
        limits->terms[limits->n++] =
            (LoadTerm){.what = TERM_ERRORS, .kind = LOAD_KINDS, .most_percent = ERRORS_MOST_PERCENT};
    return load_limits_first(limits) != NULL ||
           fail(error, PLUMB_ERROR_CONFIG, "a bound of a latency is needed: p99<=50ms");
}

gboolean load_limits_parse(const char *text, LoadLimits *limits, GError **error) {
    LoadLimits read = {.n = 0};
    if (!parse_terms(text, &read, error)) {
        g_prefix_error(error, "--find-max: ");
        return FALSE;
    }
    *limits = read;
    return TRUE;
}

const LoadTerm *load_limits_first(const LoadLimits *limits) {
    for (guint i = 0; i < limits->n; i++)
        if (limits->terms[i].what == TERM_QUANTILE) return &limits->terms[i];
    return NULL;
}

gint64 load_limits_p99_most_ns(const LoadLimits *limits) {
    gint64 most_ns = 0;
    for (guint i = 0; i < limits->n; i++) {
        const LoadTerm *term = &limits->terms[i];
        if (term->what != TERM_QUANTILE || term->kind != LOAD_KINDS) continue;
        if (strcmp(term->quantile, "p99") == 0 || strcmp(term->quantile, "p999") == 0)
            most_ns = MAX(most_ns, term->most_ns);
    }
    return most_ns;
}

/* ---- runs ---- */

static double number(const json_t *object, const char *key) { return json_number_value(json_object_get(object, key)); }

const json_t *load_kind_row(const json_t *report, LoadKind kind) {
    const json_t *kinds = json_object_get(report, "kinds"), *row;
    gsize i;
    if (kind == LOAD_KINDS) return json_array_get(kinds, json_array_size(kinds) - 1);
    json_array_foreach(kinds, i, row) {
        if (strcmp(json_string_value(json_object_get(row, "kind")), load_kind_name(kind)) == 0) return row;
    }
    return NULL;
}

static const char *term_name(const LoadTerm *term) {
    return term->what == TERM_QUANTILE ? term->quantile : term->what == TERM_ERRORS ? "errors" : "lag";
}

static LoadJudgement judged(LoadVerdict verdict, gboolean within, const LoadTerm *term, const char *what) {
    const char *kind = term->kind < LOAD_KINDS ? load_kind_name(term->kind) : "";
    return (LoadJudgement){verdict, within,
                           g_strdup_printf("%s%s%s %s", kind, *kind != '\0' ? ":" : "", term_name(term), what)};
}

static LoadJudgement judge_quantile(const LoadTerm *term, const json_t *report) {
    const json_t *row = load_kind_row(report, term->kind);
    const json_t *quantile = json_object_get(json_object_get(row, "latency"), term->quantile);
    if (quantile == NULL) return judged(STEP_FAILS, FALSE, term, "is of no operation that ended well");
    const gboolean within = number(quantile, "ns") <= (double)term->most_ns;
    const json_t *high = json_object_get(quantile, "high_ns");
    if (number(quantile, "low_ns") > (double)term->most_ns) return judged(STEP_FAILS, FALSE, term, "is above");
    if (!json_is_integer(high)) return judged(STEP_UNDECIDED, within, term, "is of too few operations");
    if (json_number_value(high) <= (double)term->most_ns) return judged(STEP_HOLDS, TRUE, term, "is within");
    return judged(STEP_UNDECIDED, within, term, "may be either");
}

static LoadJudgement judge_errors(const LoadTerm *term, const json_t *report) {
    const json_t *row = load_kind_row(report, LOAD_KINDS);
    const double bad = number(row, "failed") + number(row, "unfinished") + number(report, "missing");
    const double due = number(report, "due");
    const gboolean within = due > 0 && 100 * bad / due <= term->most_percent;
    return judged(within ? STEP_HOLDS : STEP_FAILS, within, term, within ? "are within" : "are above");
}

static LoadJudgement judge_lag(const LoadTerm *term, const json_t *report) {
    const json_t *waited = json_object_get(report, "waited_for_thread");
    const gboolean within = waited != NULL && number(waited, "p99_ns") <= (double)term->most_ns;
    return judged(within ? STEP_HOLDS : STEP_FAILS, within, term, within ? "is within" : "is above");
}

static LoadJudgement judge_term(const LoadTerm *term, const json_t *report) {
    switch (term->what) {
    case TERM_QUANTILE: return judge_quantile(term, report);
    case TERM_ERRORS: return judge_errors(term, report);
    default: return judge_lag(term, report);
    }
}

/* Worse than the other. */
static gboolean worse(LoadVerdict a, LoadVerdict b) {
    static const guint order[] = {[STEP_HOLDS] = 0, [STEP_UNDECIDED] = 1, [STEP_FAILS] = 2, [STEP_GENERATOR] = 2};
    return order[a] > order[b];
}

LoadJudgement load_judge(const LoadLimits *limits, const json_t *report) {
    const char *end = json_string_value(json_object_get(report, "end"));
    LoadJudgement found = {STEP_HOLDS, TRUE, NULL};
    for (guint i = 0; i < limits->n; i++) {
        LoadJudgement term = judge_term(&limits->terms[i], report);
        const gboolean within = found.within && term.within;
        if (found.why == NULL || worse(term.verdict, found.verdict)) {
            g_free(found.why);
            found = term;
        } else {
            g_free(term.why);
        }
        found.within = within;
    }

    if (strcmp(end, "done") != 0) {
        g_free(found.why);
        found = (LoadJudgement){STEP_FAILS, FALSE, g_strdup_printf("stopped early: %s", end)};
    }
    if (found.verdict == STEP_FAILS && json_is_true(json_object_get(report, "generator_late")))
        found.verdict = STEP_GENERATOR;
    return found;
}
