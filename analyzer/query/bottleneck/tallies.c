#include "analyzer/query/bottleneck/tallies.h"

#include <string.h>

#include "common/base/allowance.h"

struct Tallies {
    GHashTable *by_key;  /* Tally -> itself */
    GHashTable *numbers; /* gint64 of a second since 1970 -> its number + 1, by when it came first */
    guint32 second;      /* the number of the one that is added to */
    gsize charged;
};

static guint key_hash(gconstpointer data) {
    const TallyKey *key = &((const Tally *)data)->key;
    return ((key->kind * 31 + key->a) * 31 + key->b) * 31 + key->c;
}

static gboolean key_equal(gconstpointer a, gconstpointer b) {
    return memcmp(&((const Tally *)a)->key, &((const Tally *)b)->key, sizeof(TallyKey)) == 0;
}

static void tally_free(gpointer data) {
    Tally *tally = data;
    g_array_unref(tally->seconds);
    g_free(tally);
}

Tallies *tallies_new(void) {
    Tallies *tallies = g_new0(Tallies, 1);
    tallies->by_key = g_hash_table_new_full(key_hash, key_equal, tally_free, NULL);
    tallies->numbers = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    return tallies;
}

void tallies_free(Tallies *tallies) {
    if (!tallies) return;
    allowance_release(tallies->charged);
    g_hash_table_unref(tallies->by_key);
    g_hash_table_unref(tallies->numbers);
    g_free(tallies);
}

static void charge(Tallies *tallies, gsize bytes) {
    allowance_charge(bytes);
    tallies->charged += bytes;
}

void tallies_in_second(Tallies *tallies, gint64 second) {
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(tallies->numbers, &second));
    if (number == 0) {
        number = g_hash_table_size(tallies->numbers) + 1;
        g_hash_table_insert(tallies->numbers, g_memdup2(&second, sizeof second), GUINT_TO_POINTER(number));
        charge(tallies, 2 * sizeof second + sizeof(gpointer));
    }
    tallies->second = number - 1;
}

guint tallies_seconds(const Tallies *tallies) { return MAX(g_hash_table_size(tallies->numbers), 1); }

static Tally *tally_at(Tallies *tallies, TallyKey key) {
    const Tally like = {.key = key};
    Tally *tally = g_hash_table_lookup(tallies->by_key, &like);
    if (tally) return tally;
    tally = g_new0(Tally, 1);
    tally->key = key;
    tally->seconds = g_array_new(FALSE, TRUE, sizeof(TallySecond));
    g_hash_table_add(tallies->by_key, tally);
    charge(tallies, sizeof *tally);
    return tally;
}

static void add(TallySecond *sum, const TallySecond *times) {
    sum->calls += times->calls;
    sum->total_ns += times->total_ns;
    sum->self_ns += times->self_ns;
    sum->critical_ns += times->critical_ns;
}

Tally *tallies_add(Tallies *tallies, TallyKey key, const TallySecond *times) {
    Tally *tally = tally_at(tallies, key);
    GArray *seconds = tally->seconds;
    if (seconds->len == 0 || g_array_index(seconds, TallySecond, seconds->len - 1).second != tallies->second) {
        const TallySecond now = {.second = tallies->second};
        g_array_append_val(seconds, now);
        charge(tallies, sizeof now);
    }
    add(&g_array_index(seconds, TallySecond, seconds->len - 1), times);
    add(&tally->all, times);
    return tally;
}

const Tally *tallies_find(const Tallies *tallies, TallyKey key) {
    const Tally like = {.key = key};
    return g_hash_table_lookup(tallies->by_key, &like);
}

static gint most_first(gconstpointer a, gconstpointer b, gpointer unused) {
    (void)unused;
    const Tally *x = *(const Tally *const *)a, *y = *(const Tally *const *)b;
    if (x->all.critical_ns != y->all.critical_ns) return x->all.critical_ns > y->all.critical_ns ? -1 : 1;
    if (x->all.total_ns != y->all.total_ns) return x->all.total_ns > y->all.total_ns ? -1 : 1;
    return memcmp(&x->key, &y->key, sizeof x->key);
}

GPtrArray *tallies_of(const Tallies *tallies, TallyKind kind) {
    GPtrArray *list = g_ptr_array_new();
    GHashTableIter iter;
    gpointer tally;
    g_hash_table_iter_init(&iter, tallies->by_key);
    while (allowance_goes_on() && g_hash_table_iter_next(&iter, &tally, NULL))
        if (((const Tally *)tally)->key.kind == kind) g_ptr_array_add(list, tally);
    allowance_sort(list->pdata, list->len, sizeof(gpointer), most_first, NULL);
    return list;
}

double tally_calls(const TallySecond *times) { return times->calls; }
double tally_total(const TallySecond *times) { return (double)times->total_ns; }
double tally_critical(const TallySecond *times) { return (double)times->critical_ns; }

double *tally_values(const Tallies *tallies, const Tally *tally, TallyField field) {
    double *values = g_new0(double, tallies_seconds(tallies));
    for (guint i = 0; i < tally->seconds->len && allowance_goes_on(); i++) {
        const TallySecond *second = &g_array_index(tally->seconds, TallySecond, i);
        values[second->second] += field(second);
    }
    return values;
}
