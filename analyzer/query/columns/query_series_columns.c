/* Figures of many hosts over time as columns: of 3,000 hosts and 120 steps a document would be 5 MB of digits. */
#include "analyzer/query/columns/column_answers.h"
#include "analyzer/query/columns/column_block.h"
#include "analyzer/query/spans/series.h"
#include "common/base/allowance.h"

enum { AT, VALUES, CALLS, N_COLUMNS };

/* What is in the answer, of all that was found. */
typedef struct Shown {
    const SeriesFound *found;
    guint n; /* series */
    guint32 points;
    gint64 least, most; /* of values */
    guint64 most_calls;
} Shown;

static void look(Shown *shown) {
    for (guint i = 0; i < shown->n; i++) {
        const GArray *points = ((const Series *)shown->found->all->pdata[i])->points;
        if (!allowance_goes_on_with(points->len * sizeof(SeriesPoint))) return;
        for (guint j = 0; j < points->len; j++) {
            const SeriesPoint *point = &g_array_index(points, SeriesPoint, j);
            shown->least = MIN(shown->least, point->value);
            shown->most = MAX(shown->most, point->value);
            shown->most_calls = MAX(shown->most_calls, point->calls);
        }
        shown->points += points->len;
    }
}

/* Whole numbers up to 2^32, as most are, are exact in half the bytes. */
static ColumnType type_for(gint64 least, guint64 most) {
    return least < 0 || most >= G_MAXUINT32 ? COLUMN_F64 : column_type_for((guint32)most + 1);
}

static void put(const Column *column, guint32 row, double value) {
    if (column->type == COLUMN_F64)
        ((double *)column->values)[row] = value;
    else
        column_set(column, row, (guint32)value);
}

static void fill(const Shown *shown, const Column *columns) {
    guint32 row = 0;
    for (guint i = 0; i < shown->n; i++) {
        const GArray *points = ((const Series *)shown->found->all->pdata[i])->points;
        if (!allowance_goes_on_with(points->len * sizeof(SeriesPoint))) return;
        for (guint j = 0; j < points->len; j++, row++) {
            const SeriesPoint *point = &g_array_index(points, SeriesPoint, j);
            ((guint8 *)columns[AT].values)[row] = (guint8)point->step;
            put(&columns[VALUES], row, (double)point->value);
            put(&columns[CALLS], row, (double)point->calls);
        }
    }
}

static void add_series(const Asked *asked, const Shown *shown, json_t *head) {
    json_t *list = json_array();
    json_object_set_new(head, "series", list);
    for (guint i = 0; i < shown->n && allowance_goes_on(); i++) {
        const Series *series = shown->found->all->pdata[i];
        json_t *row = series_row_json(asked, shown->found, series);
        json_object_set_new(row, "points", json_integer(series->points->len));
        json_array_append_new(list, row);
    }
}

json_t *answer_series_columns(const Asked *asked, GError **error) {
    G_STATIC_ASSERT(STEPS_MAX <= G_MAXUINT8);
    g_auto(SeriesFound) found = {0};
    if (!series_find(asked, &found, error)) return NULL;
    json_auto_t *head = series_head_json(&found);
    Shown shown = {.found = &found, .n = answer_rows(asked, found.limit, found.all->len, head)};
    look(&shown);

    Column columns[N_COLUMNS] = {
        [AT] = {"at", COLUMN_U8, NULL},
        [VALUES] = {"values", type_for(shown.least, (guint64)shown.most), NULL},
        [CALLS] = {"calls", type_for(0, shown.most_calls), NULL},
    };
    g_auto(ColumnBlock) block = {.columns = columns, .n_columns = N_COLUMNS, .rows = shown.points};
    if (!column_block_open(&block, error)) return NULL;
    fill(&shown, columns);

    add_series(asked, &shown, head);
    series_add_peers(asked, &found, head);
    if (asked->columns != NULL)
        *asked->columns = column_block_take(&block, head);
    else
        column_block_add_json(&block, head);
    return g_steal_pointer(&head);
}
