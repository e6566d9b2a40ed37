#include "analyzer/load/plan/model.h"
#include "analyzer/load/plan/plan_text.h"
#include "analyzer/load/plan/targets.h"

/* Of a file that is made to be appended to: its last block is there. */
#define APPENDED_BYTES 1024

typedef struct Drawing {
    const LoadModel *model;
    Draws draws;
    Targets *targets;
    guint weights; /* sum */
    PlanText text;
} Drawing;

static void append_real(Drawing *drawing, const char *key, double value) {
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append_printf(drawing->text.text, "%s %s\n", key, g_ascii_formatd(text, sizeof text, "%.12g", value));
}

static void append_profile(Drawing *drawing) {
    const LoadProfile *profile = &drawing->model->profile;
    if (profile->n == 0) return;
    g_autofree char *times = load_profile_format(profile);
    g_string_append_printf(drawing->text.text, "profile %s\nday-ns %" G_GINT64_FORMAT "\n", times, profile->day_ns);
}

static void append_head(Drawing *drawing) {
    const LoadModel *model = drawing->model;
    GString *text = drawing->text.text;
    g_autofree char *mix = load_mix_format(&model->mix);
    g_string_append_printf(text, "plumb-load-plan 1\npreset %s\nseed %" G_GUINT64_FORMAT "\n", model->preset,
                           model->seed);

    if (model->rate > 0) {
        append_real(drawing, "rate", model->rate);
    } else {
        append_real(drawing, "alpha", model->alpha);
        append_real(drawing, "persistence", model->persistence);
    }

    append_profile(drawing);
    append_real(drawing, "mean-rate", load_model_mean_rate(model));
    g_string_append_printf(text, "gaps %s\nmix %s\n", load_gaps_name(model->gaps), mix);
    g_string_append_printf(text, "warm-up-ns %" G_GINT64_FORMAT "\nduration-ns %" G_GINT64_FORMAT "\n",
                           model->warm_up_ns, model->duration_ns);
    g_string_append_printf(text, "files %" G_GUINT64_FORMAT "\nmax-file %" G_GINT64_FORMAT "\n", model->files,
                           model->max_file_bytes);
    g_string_append_printf(text, "size-unit %" G_GINT64_FORMAT "\nclients %u\n", model->size_unit_bytes,
                           model->clients);
    append_real(drawing, "zipf", model->zipf);
    append_real(drawing, "compress", model->compress);
    g_string_append_printf(text, "recent %s\n", model->recent ? "yes" : "no");
    if (model->session > 1) g_string_append_printf(text, "session %u\n", model->session);
    if (model->ramp_ns > 0) g_string_append_printf(text, "ramp-ns %" G_GINT64_FORMAT "\n", model->ramp_ns);
    if (model->files_seed != 0) g_string_append_printf(text, "files-seed %" G_GUINT64_FORMAT "\n", model->files_seed);
    g_string_append_printf(text, "%s\n", model->more != NULL ? model->more : "");
}

static LoadKind draw_kind(Drawing *drawing) {
    guint64 at = draw_below(&drawing->draws, DRAW_KIND, drawing->weights);
    for (guint kind = 0; kind < LOAD_KINDS; kind++) {
        const guint weight = drawing->model->mix.weight[kind];
        if (at < weight) return (LoadKind)kind;
        at -= weight;
    }
    g_assert_not_reached();
}

static gint64 draw_size(Drawing *drawing, gint64 most_bytes) {
    const gint64 drawn = draw_request_bytes(&drawing->draws, drawing->model);
    drawing->text.sums.requests_cut += drawn > most_bytes;
    return MIN(drawn, most_bytes);
}

static void draw_read(Drawing *drawing, LoadOperation *operation) {
    operation->file = targets_pick(drawing->targets, &drawing->draws);
    const gint64 file_bytes = targets_file_bytes(drawing->targets, operation->file);
    operation->size_bytes = draw_size(drawing, file_bytes);
    const guint64 places = (guint64)(file_bytes - operation->size_bytes) + 1;
    operation->offset = (gint64)draw_below(&drawing->draws, DRAW_OFFSET, places);
}

static void draw_write(Drawing *drawing, LoadOperation *operation) {
    operation->file =
        operation->kind == LOAD_APPEND ? plan_text_file(&drawing->text, APPENDED_BYTES) : drawing->text.next_number++;
    operation->size_bytes = draw_size(drawing, drawing->model->max_file_bytes);
    if (operation->kind == LOAD_WRITE) targets_written(drawing->targets, operation->file, operation->due_ns);
}

/* Files that are made for it stand in the plan before it. */
static void draw_target(Drawing *drawing, LoadOperation *operation) {
    switch (operation->kind) {
    case LOAD_READ:
    case LOAD_PREAD: draw_read(drawing, operation); break;
    case LOAD_WRITE:
    case LOAD_APPEND: draw_write(drawing, operation); break;
    case LOAD_MKDIR: operation->file = drawing->text.next_number++; break;
    case LOAD_RENAME: operation->file = plan_text_file(&drawing->text, 0); break;
    case LOAD_DELETE:
        if (!targets_take_old(drawing->targets, &drawing->draws, operation->due_ns, &operation->file))
            operation->file = plan_text_file(&drawing->text, 0);
        break;
    default: operation->file = targets_pick(drawing->targets, &drawing->draws); break;
    }
}

/* The operations of one session, all of one client. */
static gboolean draw_session(Drawing *drawing, gint64 due_ns, GError **error) {
    const guint client = (guint)draw_below(&drawing->draws, DRAW_CLIENT, drawing->model->clients);
    for (guint i = 0; i < MAX(drawing->model->session, 1); i++) {
        LoadOperation operation = {.due_ns = due_ns, .follows = i > 0, .kind = draw_kind(drawing), .client = client};
        draw_target(drawing, &operation);
        if (!plan_text_operation(&drawing->text, &operation, error)) return FALSE;
    }
    return TRUE;
}

static gboolean draw_all(Drawing *drawing, GError **error) {
    const LoadModel *model = drawing->model;
    append_head(drawing);
    for (guint64 file = 0; file < model->files; file++) {
        plan_text_file(&drawing->text, targets_file_bytes(drawing->targets, file));
        if (!plan_text_flush_much(&drawing->text, error)) return FALSE;
    }

    const gint64 end_ns = model->warm_up_ns + model->duration_ns;
    Arrivals arrivals;
    arrivals_init(&arrivals, model, &drawing->draws);
    for (gint64 due_ns; (due_ns = arrivals_next(&arrivals, end_ns)) < end_ns;)
        if (!draw_session(drawing, due_ns, error)) return FALSE;
    return plan_text_end(&drawing->text, error);
}

gboolean load_plan_draw(const LoadModel *model, LoadPlanWrite write, void *arg, LoadPlanSums *sums, GError **error) {
    Drawing drawing = {.model = model};
    plan_text_init(&drawing.text, write, arg);
    draws_init(&drawing.draws, model->seed);
    if (model->files_seed != 0) draws_seed(&drawing.draws, DRAW_POPULATION, model->files_seed);
    drawing.targets = targets_new(model, &drawing.draws);
    drawing.text.sums.files_cut = targets_cut(drawing.targets);
    for (guint kind = 0; kind < LOAD_KINDS; kind++) drawing.weights += model->mix.weight[kind];

    const gboolean drawn = draw_all(&drawing, error);
    if (drawn) *sums = drawing.text.sums;
    plan_text_clear(&drawing.text);
    targets_free(drawing.targets);
    return drawn;
}
