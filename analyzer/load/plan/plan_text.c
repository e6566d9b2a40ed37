#include "analyzer/load/plan/plan_text.h"

#include "common/base/clamped.h"
#include "common/base/error.h"
#include "common/base/fnv.h"

#define PIECE_BYTES (64u << 10)

void plan_text_init(PlanText *text, LoadPlanWrite write, void *arg) {
    *text = (PlanText){.text = g_string_sized_new(PIECE_BYTES + 256), .hash = FNV64_BASIS, .write = write, .arg = arg};
}

void plan_text_clear(PlanText *text) {
    if (text->text != NULL) g_string_free(text->text, TRUE);
    text->text = NULL;
}

static gboolean flush(PlanText *text, GError **error) {
    text->hash = fnv64(text->hash, text->text->str, text->text->len);
    const gboolean written = text->write(text->arg, (Bytes){text->text->str, text->text->len}, error);
    g_string_truncate(text->text, 0);
    return written;
}

gboolean plan_text_flush_much(PlanText *text, GError **error) {
    return text->text->len <= PIECE_BYTES || flush(text, error);
}

guint64 plan_text_file(PlanText *text, gint64 size_bytes) {
    g_string_append_printf(text->text, "f %" G_GINT64_FORMAT "\n", size_bytes);
    text->sums.files++;
    text->sums.fill_bytes = clamped_add(text->sums.fill_bytes, size_bytes);
    return text->next_number++;
}

gboolean plan_text_operation(PlanText *text, const LoadOperation *operation, GError **error) {
    if (text->sums.operations == LOAD_OPERATIONS_MOST)
        return fail(error, PLUMB_ERROR_LIMIT, "more than %u operations: lower the rate, or the duration",
                    LOAD_OPERATIONS_MOST);
    if (operation->follows)
        g_string_append(text->text, "o +");
    else
        g_string_append_printf(text->text, "o %" G_GINT64_FORMAT, operation->due_ns);
    g_string_append_printf(text->text, " %s %u %" G_GUINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n",
                           load_kind_name(operation->kind), operation->client, operation->file, operation->offset,
                           operation->size_bytes);
    text->sums.operations++;
    text->sums.of_kind[operation->kind]++;
    text->sums.last_due_ns = operation->due_ns;
    if (operation->kind == LOAD_READ || operation->kind == LOAD_PREAD)
        text->sums.read_bytes = clamped_add(text->sums.read_bytes, operation->size_bytes);
    if (operation->kind == LOAD_WRITE || operation->kind == LOAD_APPEND)
        text->sums.write_bytes = clamped_add(text->sums.write_bytes, operation->size_bytes);
    return plan_text_flush_much(text, error);
}

gboolean plan_text_end(PlanText *text, GError **error) {
    if (!flush(text, error)) return FALSE;
    g_string_append_printf(text->text, "end %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %016" G_GINT64_MODIFIER "x\n",
                           text->sums.files, text->sums.operations, text->hash);
    return flush(text, error);
}
