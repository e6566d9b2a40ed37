#include <math.h>
#include <string.h>

#include "analyzer/load/plan/model.h"
#include "common/base/error.h"

/* The head of a plan that we drew. */
typedef struct Head {
    const LoadPlanReader *reader;
    GError **error;
} Head;

static gboolean lacks(const Head *head, const char *key) {
    return fail(head->error, PLUMB_ERROR_INPUT,
                "the head of the plan does not say its %s: only a plan that 'plumb load plan' drew can be drawn anew",
                key);
}

static gboolean head_whole(const Head *head, const char *key, guint64 *value) {
    const char *text = load_plan_head(head->reader, key);
    return (text != NULL && g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64, value, NULL)) || lacks(head, key);
}

static gboolean head_amount(const Head *head, const char *key, gint64 *value) {
    guint64 read;
    if (!head_whole(head, key, &read)) return FALSE;
    *value = (gint64)MIN(read, (guint64)G_MAXINT64);
    return TRUE;
}

static gboolean head_real(const Head *head, const char *key, double *value) {
    const char *text = load_plan_head(head->reader, key);
    char *end = NULL;
    const double real = text != NULL ? g_ascii_strtod(text, &end) : 0;
    if (text == NULL || end == text || *end != '\0' || !isfinite(real) || real < 0) return lacks(head, key);
    *value = real;
    return TRUE;
}

static gboolean head_rate(const Head *head, LoadModel *model) {
    if (load_plan_head(head->reader, "rate") != NULL) return head_real(head, "rate", &model->rate);
    model->rate = 0;
    return head_real(head, "alpha", &model->alpha) && head_real(head, "persistence", &model->persistence);
}

static gboolean head_words(const Head *head, LoadModel *model) {
    const char *preset = load_plan_head(head->reader, "preset"), *gaps = load_plan_head(head->reader, "gaps");
    const char *mix = load_plan_head(head->reader, "mix"), *recent = load_plan_head(head->reader, "recent");
    if (preset == NULL || !load_preset(preset, model)) return lacks(head, "preset");
    if (mix == NULL || !load_mix_parse(mix, &model->mix, NULL)) return lacks(head, "mix");
    if (gaps == NULL) return lacks(head, "gaps");
    model->gaps = GAPS_PARETO;
    while (model->gaps < GAPS_EVEN && strcmp(load_gaps_name(model->gaps), gaps) != 0) model->gaps++;
    model->recent = recent != NULL && strcmp(recent, "yes") == 0;
    return TRUE;
}

static gboolean head_profile(const Head *head, LoadModel *model) {
    const char *times = load_plan_head(head->reader, "profile");
    if (times == NULL) return TRUE;
    if (!head_amount(head, "day-ns", &model->profile.day_ns)) return FALSE;
    return load_profile_parse(times, &model->profile, NULL) || lacks(head, "profile");
}

gboolean load_plan_model(const LoadPlanReader *reader, LoadModel *model, GError **error) {
    const Head head = {reader, error};
    LoadModel read;
    gint64 clients;
    if (!head_words(&head, &read) || !head_rate(&head, &read) || !head_profile(&head, &read) ||
        !head_whole(&head, "seed", &read.seed) || !head_amount(&head, "warm-up-ns", &read.warm_up_ns) ||
        !head_amount(&head, "duration-ns", &read.duration_ns) || !head_whole(&head, "files", &read.files) ||
        !head_amount(&head, "max-file", &read.max_file_bytes) ||
        !head_amount(&head, "size-unit", &read.size_unit_bytes) || !head_amount(&head, "clients", &clients) ||
        !head_real(&head, "zipf", &read.zipf) || !head_real(&head, "compress", &read.compress))
        return FALSE;
    if (load_plan_head(reader, "ramp-ns") != NULL && !head_amount(&head, "ramp-ns", &read.ramp_ns)) return FALSE;
    gint64 session = 1;
    if (load_plan_head(reader, "session") != NULL && !head_amount(&head, "session", &session)) return FALSE;
    if (load_plan_head(reader, "files-seed") != NULL && !head_whole(&head, "files-seed", &read.files_seed))
        return FALSE;
    if (read.size_unit_bytes < 1) return lacks(&head, "size-unit");
    read.session = (guint)MIN(session, LOAD_SESSION_MOST + 1);
    read.clients = (guint)MIN(clients, LOAD_CLIENTS_MOST + 1);
    if (!load_model_check(&read, error)) return FALSE;
    *model = read;
    return TRUE;
}
