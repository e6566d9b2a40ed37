#include "analyzer/archive/read/period_stats.h"
#include "analyzer/calltree/stats/key_table.h"
#include "analyzer/query/spans/functions.h"
#include "common/base/allowance.h"

/* Values of one function and role by number of the host. Rows come host by host in order, so that what is added to
 * lies together: in a table of all rows by their keys, each would be a cache miss. In pages, since a function that only
 * a few of many hosts have must not take room for all. */
#define ABSENT     G_MININT64
#define PAGE_HOSTS 32u
/* Of memory for values. With more functions and hosts all rows are built, a slice at a time. */
#define TOP_BYTES_MAX (16u << 20)

struct FunctionTop {
    const FunctionFilter *filter;
    const MeasureField *field;
    KeyTable functions; /* function, role */
    KeyTable hosts;
    GPtrArray *values; /* by number of the function: GPtrArray of pages of gint64, NULL: no row; ABSENT: nor here */
    guint32 last;      /* number of the function met last */
    guint all;         /* rows */
    gsize value_bytes; /* of memory; charged */
    gboolean given_up; /* it would take too much */
    double least;      /* of those chosen */
    gboolean everything;
    GArray *places; /* StatsPlace: where those chosen lie */
};

void function_top_free(FunctionTop *top) {
    if (top == NULL) return;
    allowance_release(top->value_bytes);
    key_table_clear(&top->functions);
    key_table_clear(&top->hosts);
    g_ptr_array_unref(top->values);
    g_array_unref(top->places);
    g_free(top);
}

static FunctionTop *top_new(const FunctionFilter *filter, const MeasureField *field) {
    FunctionTop *top = g_new0(FunctionTop, 1);
    top->filter = filter;
    top->field = field;
    key_table_init(&top->functions);
    key_table_init(&top->hosts);
    top->values = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
    top->places = g_array_new(FALSE, FALSE, sizeof(StatsPlace));
    return top;
}

static gint64 value_at(const GPtrArray *pages, guint32 host) {
    const gint64 *page = host / PAGE_HOSTS < pages->len ? pages->pdata[host / PAGE_HOSTS] : NULL;
    return page == NULL ? ABSENT : page[host % PAGE_HOSTS];
}

static gint64 *value_slot(FunctionTop *top, GPtrArray *pages, guint32 host) {
    const guint32 number = host / PAGE_HOSTS;
    gsize bytes = top->value_bytes;
    if (number >= pages->len) {
        bytes += 2 * (number + 1 - pages->len) * sizeof *pages->pdata;
        g_ptr_array_set_size(pages, (gint)number + 1);
    }
    if (pages->pdata[number] == NULL) {
        bytes += PAGE_HOSTS * sizeof(gint64);
        gint64 *page = pages->pdata[number] = g_new(gint64, PAGE_HOSTS);
        for (guint i = 0; i < PAGE_HOSTS; i++) page[i] = ABSENT;
    }
    allowance_hold(&top->value_bytes, bytes);
    return (gint64 *)pages->pdata[number] + host % PAGE_HOSTS;
}

guint function_top_all(const FunctionTop *top) { return top->all; }

gboolean function_top_has(const FunctionTop *top, const StatsKey *key) {
    guint32 function, host;
    if (!key_table_find(&top->functions, (const guint32[4]){key->object, key->role}, &function) ||
        !key_table_find(&top->hosts, (const guint32[4]){key->host}, &host))
        return FALSE;
    gint64 value = value_at(top->values->pdata[function], host);
    return value != ABSENT && (double)value >= top->least;
}

void function_top_places(const FunctionTop *top, StatsFilter *filter) {
    if (top->everything) return;
    filter->places = (const StatsPlace *)(gconstpointer)top->places->data;
    filter->n_places = top->places->len;
}

/* ---- adding up ---- */

static GPtrArray *values_of(FunctionTop *top, const StatsKey *key) {
    const KeyTable *functions = &top->functions;
    gboolean same =
        functions->n > 0 && functions->keys[top->last][0] == key->object && functions->keys[top->last][1] == key->role;
    if (!same) top->last = key_table_number(&top->functions, (const guint32[4]){key->object, key->role});
    if (top->last == top->values->len) g_ptr_array_add(top->values, g_ptr_array_new_with_free_func(g_free));
    return top->values->pdata[top->last];
}

static void add_weight(void *arg, const StatsKey *key, const NodeWeight *weight) {
    FunctionTop *top = arg;
    gint64 value = 0;
    if (top->given_up || !(top->filter->roles & (1u << key->role))) return;
    GPtrArray *values = values_of(top, key);
    gint64 *sum = value_slot(top, values, key_table_number(&top->hosts, (const guint32[4]){key->host}));
    measure_of_weight(top->field, weight, &value);
    top->all += *sum == ABSENT;
    *sum = *sum == ABSENT ? value : *sum + value;
    top->given_up = top->value_bytes + key_table_bytes(&top->functions) + key_table_bytes(&top->hosts) > TOP_BYTES_MAX;
}

/* Nothing more is read of rows when there are too many. */
static gboolean goes_on(void *arg, const StatsKey *key) {
    (void)key;
    return !((const FunctionTop *)arg)->given_up;
}

/* ---- choosing ---- */

/* The k-th greatest, k from 0, of n values; which change places. */
static double nth_greatest(double *values, guint n, guint k) {
    guint from = 0, until = n;

    while (until - from > 1) {
        double pivot = values[from + (until - from) / 2];
        guint i = from, greater = from, less = until; /* from..greater..i..less..until: >, ==, unknown, < */

        while (i < less) {
            double value = values[i];
            if (value > pivot) {
                values[i++] = values[greater];
                values[greater++] = value;
            } else if (value < pivot) {
                values[i] = values[--less];
                values[less] = value;
            } else {
                i++;
            }
        }

        if (k >= greater && k < less) return pivot;
        if (k < greater)
            until = greater;
        else
            from = less;
    }

    return values[from];
}

static void find_least(FunctionTop *top, guint64 n) {
    top->everything = n >= top->all;
    top->least = -G_MAXDOUBLE;
    if (top->everything) return;
    g_autofree double *all = g_new(double, top->all);
    guint used = 0;
    for (guint f = 0; f < top->values->len && allowance_goes_on(); f++) {
        const GPtrArray *values = top->values->pdata[f];
        allowance_goes_on_with(values->len * PAGE_HOSTS * sizeof(gint64));
        for (guint h = 0; h < values->len * PAGE_HOSTS; h++) {
            gint64 value = value_at(values, h);
            if (value != ABSENT) all[used++] = (double)value;
        }
    }
    if (allowance_goes_on()) top->least = nth_greatest(all, used, (guint)n - 1);
}

static void find_places(FunctionTop *top) {
    for (guint f = 0; f < top->values->len && allowance_goes_on(); f++) {
        const GPtrArray *values = top->values->pdata[f];
        allowance_goes_on_with(values->len * PAGE_HOSTS * sizeof(gint64));
        const guint32 *function = top->functions.keys[f];
        guint32 last = 0;
        for (guint h = 0; h < values->len * PAGE_HOSTS; h++) {
            gint64 value = value_at(values, h);
            if (value == ABSENT || (double)value < top->least) continue;
            StatsPlace place = {stats_cell(top->hosts.keys[h][0]), function[0], function[1]};
            if (place.cell != last) g_array_append_val(top->places, place);
            last = place.cell;
        }
    }
    guint n = stats_places_tidy((StatsPlace *)(gpointer)top->places->data, top->places->len);
    g_array_set_size(top->places, n);
}

gboolean function_top_choose(Archive *archive, const FunctionFilter *filter, FunctionRank rank, FunctionTop **top,
                             GError **error) {
    gint64 value;
    *top = NULL;
    if (rank.n == 0 || !measure_of_weight(rank.field, &(NodeWeight){.node = 0}, &value)) return TRUE;
    if (filter->function == G_MAXUINT32 || filter->host == G_MAXUINT32) return TRUE;
    g_autoptr(FunctionTop) chosen = top_new(filter, rank.field);
    StatsFilter stored = function_stats_filter(filter);
    stored.wanted = goes_on;
    stored.wanted_arg = chosen;
    if (!archive_stats_weigh(archive, &stored, add_weight, chosen, error)) return FALSE;
    if (chosen->given_up) return TRUE;
    find_least(chosen, rank.n);
    if (!allowance_check(error)) return FALSE;
    if (!chosen->everything) find_places(chosen);
    *top = g_steal_pointer(&chosen);
    return TRUE;
}
