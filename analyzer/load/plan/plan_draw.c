#include "analyzer/load/plan/model.h"
#include "analyzer/load/plan/targets.h"
#include "common/base/error.h"
#include "common/base/fnv.h"

#define PIECE_BYTES (64u << 10)
/* Of a file that is made to be appended to: its last block is there. */
#define APPENDED_BYTES 1024

typedef struct Drawing {
    const LoadModel *model;
    Draws draws;
    Targets *targets;
    guint weights;       /* sum */
    guint64 next_number; /* of files and folders */
    LoadPlanSums sums;
    GString *text;
    guint64 hash;
    LoadPlanWrite write;
    void *arg;
} Drawing;

static gboolean flush(Drawing *drawing, GError **error) {
    const GString *text = drawing->text;
    drawing->hash = fnv64(drawing->hash, text->str, text->len);
    const gboolean written = drawing->write(drawing->arg, (Bytes){text->str, text->len}, error);
    g_string_truncate(drawing->text, 0);
    return written;
}

static void append_real(Drawing *drawing, const char *key, double value) {
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append_printf(drawing->text, "%s %s\n", key, g_ascii_formatd(text, sizeof text, "%.12g", value));
}

static void append_head(Drawing *drawing) {
    const LoadModel *model = drawing->model;
    GString *text = drawing->text;
    g_autofree char *mix = load_mix_format(&model->mix);
    g_string_append_printf(text, "plumb-load-plan 1\npreset %s\nseed %" G_GUINT64_FORMAT "\n", model->preset,
                           model->seed);

    if (model->rate > 0) {
        append_real(drawing, "rate", model->rate);
    } else {
        append_real(drawing, "alpha", model->alpha);
        append_real(drawing, "persistence", model->persistence);
    }

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
    g_string_append_printf(text, "recent %s\n\n", model->recent ? "yes" : "no");
}

static guint64 make_file(Drawing *drawing, gint64 size_bytes) {
    g_string_append_printf(drawing->text, "f %" G_GINT64_FORMAT "\n", size_bytes);
    drawing->sums.files++;
    drawing->sums.fill_bytes += size_bytes;
    return drawing->next_number++;
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
    drawing->sums.requests_cut += drawn > most_bytes;
    return MIN(drawn, most_bytes);
}

static void draw_read(Drawing *drawing, LoadOperation *operation) {
    operation->file = targets_pick(drawing->targets, &drawing->draws);
    const gint64 file_bytes = targets_file_bytes(drawing->targets, operation->file);
    operation->size_bytes = draw_size(drawing, file_bytes);
    const guint64 places = (guint64)(file_bytes - operation->size_bytes) + 1;
    operation->offset = (gint64)draw_below(&drawing->draws, DRAW_OFFSET, places);
    drawing->sums.read_bytes += operation->size_bytes;
}

static void draw_write(Drawing *drawing, LoadOperation *operation) {
    operation->file = operation->kind == LOAD_APPEND ? make_file(drawing, APPENDED_BYTES) : drawing->next_number++;
    operation->size_bytes = draw_size(drawing, drawing->model->max_file_bytes);
    drawing->sums.write_bytes += operation->size_bytes;
    if (operation->kind == LOAD_WRITE) targets_written(drawing->targets, operation->file, operation->due_ns);
}

/* Files that are made for it stand in the plan before it. */
static void draw_target(Drawing *drawing, LoadOperation *operation) {
    switch (operation->kind) {
    case LOAD_READ:
    case LOAD_PREAD: draw_read(drawing, operation); break;
    case LOAD_WRITE:
    case LOAD_APPEND: draw_write(drawing, operation); break;
    case LOAD_MKDIR: operation->file = drawing->next_number++; break;
    case LOAD_RENAME: operation->file = make_file(drawing, 0); break;
    case LOAD_DELETE:
        if (!targets_take_old(drawing->targets, &drawing->draws, operation->due_ns, &operation->file))
            operation->file = make_file(drawing, 0);
        break;
    default: operation->file = targets_pick(drawing->targets, &drawing->draws); break;
    }
}

static void append_operation(Drawing *drawing, const LoadOperation *operation) {
    g_string_append_printf(
        drawing->text, "o %" G_GINT64_FORMAT " %s %u %" G_GUINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n",
        operation->due_ns, load_kind_name(operation->kind), operation->client, operation->file, operation->offset,
        operation->size_bytes);
    drawing->sums.operations++;
    drawing->sums.of_kind[operation->kind]++;
    drawing->sums.last_due_ns = operation->due_ns;
}

static gboolean draw_all(Drawing *drawing, GError **error) {
    const LoadModel *model = drawing->model;
    append_head(drawing);
    for (guint64 file = 0; file < model->files; file++) {
        make_file(drawing, targets_file_bytes(drawing->targets, file));
        if (drawing->text->len > PIECE_BYTES && !flush(drawing, error)) return FALSE;
    }

    const gint64 end_ns = model->warm_up_ns + model->duration_ns;
    Arrivals arrivals;
    arrivals_init(&arrivals, model, &drawing->draws);
    for (gint64 due_ns; (due_ns = arrivals_next(&arrivals, end_ns)) < end_ns;) {
        if (drawing->sums.operations == LOAD_OPERATIONS_MOST)
            return fail(error, PLUMB_ERROR_LIMIT, "more than %u operations: lower the rate, or the duration",
                        LOAD_OPERATIONS_MOST);
        LoadOperation operation = {.due_ns = due_ns, .kind = draw_kind(drawing)};
        operation.client = (guint)draw_below(&drawing->draws, DRAW_CLIENT, model->clients);
        draw_target(drawing, &operation);
        append_operation(drawing, &operation);
        if (drawing->text->len > PIECE_BYTES && !flush(drawing, error)) return FALSE;
    }

    if (!flush(drawing, error)) return FALSE;
    g_string_append_printf(drawing->text,
                           "end %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %016" G_GINT64_MODIFIER "x\n",
                           drawing->sums.files, drawing->sums.operations, drawing->hash);
    return flush(drawing, error);
}

gboolean load_plan_draw(const LoadModel *model, LoadPlanWrite write, void *arg, LoadPlanSums *sums, GError **error) {
    Drawing drawing = {.model = model, .hash = FNV64_BASIS, .write = write, .arg = arg};
    draws_init(&drawing.draws, model->seed);
    drawing.targets = targets_new(model, &drawing.draws);
    drawing.sums.files_cut = targets_cut(drawing.targets);
    drawing.text = g_string_sized_new(PIECE_BYTES + 256);
    for (guint kind = 0; kind < LOAD_KINDS; kind++) drawing.weights += model->mix.weight[kind];

    const gboolean drawn = draw_all(&drawing, error);
    if (drawn) *sums = drawing.sums;
    g_string_free(drawing.text, TRUE);
    targets_free(drawing.targets);
    return drawn;
}
