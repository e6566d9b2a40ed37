#include "analyzer/diagnosis/advise/finding.h"

#include <math.h>

#define KIB 1024.0
#define MIB (1024.0 * 1024)

const char *certainty_name(Certainty certainty) {
    static const char *const names[] = {"sure", "likely", "possible"};
    return names[certainty];
}

const char *severity_name(Severity severity) {
    static const char *const names[] = {"none", "low", "moderate", "severe", "critical"};
    return names[severity];
}

Severity finding_severity(const Finding *finding) {
    static const double limits[] = {0.02, 0.1, 0.2, 0.5};
    Severity severity = SEVERITY_NONE;
    while ((guint)severity < G_N_ELEMENTS(limits) && finding->share >= limits[severity]) severity++;
    return severity;
}

static void finding_free(gpointer data) {
    Finding *finding = data;
    for (guint i = 0; i < finding->changes->len; i++) {
        Change *change = &g_array_index(finding->changes, Change, i);
        g_free(change->from);
        g_free(change->to);
    }
    g_array_unref(finding->changes);
    g_array_unref(finding->stages);
    g_array_unref(finding->tasks);
    g_ptr_array_unref(finding->evidence);
    g_free(finding->what);
    g_free(finding->formula);
    g_free(finding->advice);
    g_free(finding->risk);
    g_free(finding);
}

static void unknown_clear(gpointer data) { g_free(((Unknown *)data)->why); }

Advice *advice_new(void) {
    Advice *advice = g_new0(Advice, 1);
    advice->findings = g_ptr_array_new_with_free_func(finding_free);
    advice->unknown = g_array_new(FALSE, TRUE, sizeof(Unknown));
    g_array_set_clear_func(advice->unknown, unknown_clear);
    advice->well = g_array_new(FALSE, FALSE, sizeof(Well));
    return advice;
}

void advice_free(Advice *advice) {
    if (advice == NULL) return;
    g_ptr_array_unref(advice->findings);
    g_array_unref(advice->unknown);
    g_array_unref(advice->well);
    g_free(advice);
}

Finding *advice_add(Advice *advice, const char *rule, Certainty certainty) {
    Finding *finding = g_new0(Finding, 1);
    finding->rule = rule;
    finding->certainty = certainty;
    finding->evidence = g_ptr_array_new_with_free_func(g_free);
    finding->changes = g_array_new(FALSE, TRUE, sizeof(Change));
    finding->stages = g_array_new(FALSE, FALSE, sizeof(gint64));
    finding->tasks = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_ptr_array_add(advice->findings, finding);
    return finding;
}

void advice_unknown(Advice *advice, const char *rule, const char *why) {
    const Unknown unknown = {rule, g_strdup(why)};
    g_array_append_val(advice->unknown, unknown);
}

void finding_change(Finding *finding, const AdviseFacts *facts, const char *key, char *to) {
    const char *from = advise_setting(facts, key);
    const Change change = {key,   g_strdup(from != NULL ? from : ""),     to, advise_is_set(facts, key),
                           FALSE, advise_program_sets(facts, key) != NULL};
    g_array_append_val(finding->changes, change);
}

void finding_evidence(Finding *finding, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    g_ptr_array_add(finding->evidence, g_strdup_vprintf(format, arguments));
    va_end(arguments);
}

void finding_stage(Finding *finding, const AdviseStage *stage) { g_array_append_val(finding->stages, stage->stage); }

void finding_task(Finding *finding, gint64 task) { g_array_append_val(finding->tasks, task); }

char *bytes_text(double bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    guint unit = 0;
    while (bytes >= KIB && unit + 1 < G_N_ELEMENTS(units)) {
        bytes /= KIB;
        unit++;
    }
    return g_strdup_printf(unit > 0 && bytes < 10 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

char *bytes_setting(double bytes) { return g_strdup_printf("%.0fm", MAX(ceil(bytes / MIB - 1e-6), 1)); }

char *core_time_text(double ms) {
    const double s = ms / 1e3;
    if (s < 600) return g_strdup_printf(s < 10 ? "%.1f core-seconds" : "%.0f core-seconds", s);
    return s < 7200 ? g_strdup_printf("%.0f core-minutes", s / 60) : g_strdup_printf("%.1f core-hours", s / 3600);
}

char *stage_text(const AdviseStage *stage) {
    g_autofree char *attempt = stage->attempt > 0 ? g_strdup_printf(".%d", stage->attempt) : g_strdup("");
    g_autofree char *name = stage->name != NULL ? g_strdup_printf(" (%s)", stage->name) : g_strdup("");
    return g_strdup_printf("stage %" G_GINT64_FORMAT "%s%s", stage->stage, attempt, name);
}
