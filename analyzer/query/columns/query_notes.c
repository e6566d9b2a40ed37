/* When the notes of a trace's calls were written, as columns: what they say is in "span". */
#include "analyzer/query/columns/calls.h"
#include "analyzer/query/columns/column_answers.h"
#include "analyzer/query/columns/column_block.h"

enum { AFTER, ROW, N_COLUMNS };

static CallNote *note_at(const Calls *calls, guint i) { return &g_array_index(calls->notes, CallNote, i); }

/* The first of a slot. */
static guint first_of_slot(const Calls *calls, guint32 slot) {
    guint low = 0, high = calls->notes->len;
    while (low < high) {
        const guint middle = low + (high - low) / 2;
        if (note_at(calls, middle)->slot < slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void set_rows(void *arg, guint32 row, const Call *call, gint32 parent) {
    (void)parent;
    const Calls *calls = arg;
    if (!(call->flags & CALL_NOTES)) return;
    const guint32 slot = (guint32)(call - calls->calls);
    for (guint i = first_of_slot(calls, slot); i < calls->notes->len && note_at(calls, i)->slot == slot; i++)
        note_at(calls, i)->row = row + 1;
}

/* Those of spans that are no rows, as a second one of an id is none, come first. */
static gint compare_notes(gconstpointer left, gconstpointer right) {
    const CallNote *a = left, *b = right;
    if (a->row != b->row) return a->row < b->row ? -1 : 1;
    return (a->after_ns > b->after_ns) - (a->after_ns < b->after_ns);
}

static void fill(const ColumnBlock *block, const Calls *calls, guint first) {
    for (guint32 i = 0; i < block->rows; i++) {
        const CallNote *note = note_at(calls, first + i);
        ((double *)block->columns[AFTER].values)[i] = (double)note->after_ns;
        ((guint32 *)block->columns[ROW].values)[i] = note->row - 1;
    }
}

json_t *answer_trace_notes(const Asked *asked, GError **error) {
    CallsAsked wanted;
    if (!calls_asked_read(asked, &wanted, error)) return NULL;
    wanted.notes_max = MIN(CALLS_MAX_NOTES, asked->rows_max);
    g_autoptr(Calls) calls = calls_load(asked, &wanted, error);
    if (calls == NULL) return NULL;
    const CallsWalk walk = {set_rows, calls, NULL};
    if (!calls_each(calls, &walk, error)) return NULL;
    calls_drop_links(calls);
    g_array_sort(calls->notes, compare_notes);
    guint first = 0;
    while (first < calls->notes->len && note_at(calls, first)->row == 0) first++;

    Column columns[N_COLUMNS] = {[AFTER] = {"after", COLUMN_F64, NULL}, [ROW] = {"row", COLUMN_U32, NULL}};
    g_auto(ColumnBlock) block = {.columns = columns, .n_columns = N_COLUMNS, .rows = calls->notes->len - first};
    if (!column_block_open(&block, error)) return NULL;
    fill(&block, calls, first);

    json_auto_t *answer = json_object();
    calls_add_head(calls, answer);
    if (calls->more_notes) json_object_set_new(answer, "more", json_true());
    if (asked->columns != NULL)
        *asked->columns = column_block_take(&block, answer);
    else
        column_block_add_json(&block, answer);
    return g_steal_pointer(&answer);
}
