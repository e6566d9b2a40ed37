#include <stdlib.h>

#include "analyzer/calltree/key_table.h"
#include "analyzer/query/functions.h"

struct FunctionTop {
    const FunctionFilter *filter;
    KeyTable rows;   /* function, role, host */
    GArray *weights; /* NodeWeight, by number of the row */
    GArray *values;  /* double, the same */
    double least;    /* of those chosen */
};

void function_top_free(FunctionTop *top) {
    if (top == NULL) return;
    key_table_clear(&top->rows);
    g_array_unref(top->weights);
    g_array_unref(top->values);
    g_free(top);
}

guint function_top_all(const FunctionTop *top) { return top->rows.n; }

gboolean function_top_has(const FunctionTop *top, const StatsKey *key) {
    const guint32 row[4] = {key->object, key->role, key->host};
    guint32 number;
    return key_table_find(&top->rows, row, &number) && g_array_index(top->values, double, number) >= top->least;
}

static void add_weight(void *arg, const StatsKey *key, const NodeWeight *weight) {
    FunctionTop *top = arg;
    if (!(top->filter->roles & (1u << key->role))) return;
    guint32 number = key_table_number(&top->rows, (const guint32[4]){key->object, key->role, key->host});
    if (number == top->weights->len) g_array_set_size(top->weights, number + 1);
    NodeWeight *sum = &g_array_index(top->weights, NodeWeight, number);
    sum->calls += weight->calls;
    sum->total_ns += weight->total_ns;
    sum->self_ns += weight->self_ns;
    sum->critical_ns += weight->critical_ns;
}

static int greatest_first(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static void find_least(FunctionTop *top, const MeasureField *field, guint64 n) {
    for (guint i = 0; i < top->weights->len; i++) {
        double value = 0;
        measure_of_weight(field, &g_array_index(top->weights, NodeWeight, i), &value);
        g_array_append_val(top->values, value);
    }
    g_autofree double *sorted = g_memdup2(top->values->data, top->values->len * sizeof(double));
    if (n >= top->values->len) {
        top->least = -G_MAXDOUBLE;
        return;
    }
    qsort(sorted, top->values->len, sizeof *sorted, greatest_first);
    top->least = sorted[n - 1];
}

gboolean function_top_choose(Archive *archive, const FunctionFilter *filter, FunctionRank rank, FunctionTop **top,
                             GError **error) {
    double value;
    *top = NULL;
    if (rank.n == 0 || !measure_of_weight(rank.field, &(NodeWeight){.node = 0}, &value)) return TRUE;
    if (filter->function == G_MAXUINT32 || filter->host == G_MAXUINT32) return TRUE;
    g_autoptr(FunctionTop) chosen = g_new0(FunctionTop, 1);
    chosen->filter = filter;
    key_table_init(&chosen->rows);
    chosen->weights = g_array_new(FALSE, TRUE, sizeof(NodeWeight));
    chosen->values = g_array_new(FALSE, FALSE, sizeof(double));
    const StatsFilter stored = function_stats_filter(filter);
    if (!archive_stats_weigh(archive, &stored, add_weight, chosen, error)) return FALSE;
    find_least(chosen, rank.field, rank.n);
    *top = g_steal_pointer(&chosen);
    return TRUE;
}
