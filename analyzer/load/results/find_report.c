#include "analyzer/load/results/find_max.h"

static json_t *rate_json(double rate) { return rate > 0 ? json_real(rate) : json_null(); }

json_t *find_report_new(const char *folder, const char *limit_text, const LoadLimits *limits,
                        const FindSettings *settings) {
    g_autofree char *shown = g_utf8_make_valid(folder, -1), *limit = g_utf8_make_valid(limit_text, -1);
    const LoadTerm *first = load_limits_first(limits);
    const char *kind = first->kind < LOAD_KINDS ? load_kind_name(first->kind) : "all";
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:f, s:i, s:[], s:[]}", "folder", shown, "find_max", limit, "kind",
                     kind, "quantile", first->quantile, "bound_ns", (json_int_t)first->most_ns, "precision",
                     settings->precision, "searches_planned", (int)settings->searches, "searches", "steps");
}

/* Of what the first quantile is of. */
static json_t *latency_of(const json_t *report, const LoadLimits *limits) {
    const json_t *row = load_kind_row(report, load_limits_first(limits)->kind);
    json_t *latency = json_object_get(row, "latency");
    return latency != NULL ? json_deep_copy(latency) : json_null();
}

void find_report_add(json_t *document, const LoadLimits *limits, const FindStep *step, const char *why,
                     const json_t *report) {
    if (json_array_size(json_object_get(document, "steps")) == 0)
        json_object_set(document, "head", json_object_get(report, "head"));
    json_t *row = json_pack("{s:i, s:f, s:s, s:b, s:s, s:o}", "search", (int)step->search, "rate_per_s", step->rate,
                            "verdict", load_verdict_name(step->verdict), "within", (int)step->within, "why", why,
                            "latency", latency_of(report, limits));
    static const char *const taken[] = {"result",         "end", "asked_per_s", "achieved_per_s",
                                        "generator_late", "due", "done",        "seconds"};
    for (guint i = 0; i < G_N_ELEMENTS(taken); i++) json_object_set(row, taken[i], json_object_get(report, taken[i]));
    json_array_append_new(json_object_get(document, "steps"), row);
}

void find_report_end(json_t *document, const FindStep *steps, guint n_steps, gboolean ended) {
    json_t *searches = json_object_get(document, "searches");
    double held = 0, failed = 0;
    gboolean none_held = n_steps == 0, none_failed = n_steps == 0, generator = FALSE;
    const guint n_searches = n_steps > 0 ? steps[n_steps - 1].search : 0;
    for (guint search = 1; search <= n_searches; search++) {
        const FindBracket bracket = find_bracket(steps, n_steps, search);
        json_array_append_new(searches, json_pack("{s:i, s:o, s:o, s:b}", "search", (int)search, "held_per_s",
                                                  rate_json(bracket.held), "failed_per_s", rate_json(bracket.failed),
                                                  "generator", (int)bracket.generator));
        held = search == 1 ? bracket.held : MIN(held, bracket.held);
        failed = MAX(failed, bracket.failed);
        none_held |= bracket.held <= 0;
        none_failed |= bracket.failed <= 0;
        generator |= bracket.generator;
    }

    /* What held in every search, and what failed in every one. */
    json_object_set_new(document, "held_per_s", rate_json(none_held ? 0 : held));
    json_object_set_new(document, "failed_per_s", rate_json(none_failed ? 0 : failed));
    json_object_set_new(document, "generator", json_boolean(generator));
    json_object_set_new(document, "ended", json_boolean(ended));
}
