#include "analyzer/archive/idset.h"

#include <string.h>

static guint64 hash_seed;

__attribute__((constructor)) static void seed_once(void) { hash_seed = (guint64)g_random_int() << 32 | g_random_int(); }

static inline gsize hash_id(guint64 id) {
    guint64 x = (id ^ hash_seed) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 32)) * G_GUINT64_CONSTANT(0xd6e8feb86659fd93);
    return (gsize)(x ^ (x >> 32));
}

#define ID_SET_MIN 1024u

void id_set_init(IdSet *set) { *set = (IdSet){.slots = g_new0(guint64, ID_SET_MIN), .mask = ID_SET_MIN - 1}; }

void id_set_clear(IdSet *set) { g_clear_pointer(&set->slots, g_free); }

void id_set_empty(IdSet *set) {
    if (set->used > 0) memset(set->slots, 0, (set->mask + 1) * sizeof *set->slots);
    set->used = 0;
    set->has_zero = FALSE;
}

/* The slot of an id, or the free one where it belongs. */
static inline gsize id_set_slot(const IdSet *set, guint64 id) {
    gsize at = hash_id(id) & set->mask;
    while (set->slots[at] != 0 && set->slots[at] != id) at = (at + 1) & set->mask;
    return at;
}

gboolean id_set_has(const IdSet *set, guint64 id) {
    return id == 0 ? set->has_zero : set->slots[id_set_slot(set, id)] == id;
}

static void id_set_grow(IdSet *set) {
    IdSet old = *set;
    set->mask = 2 * old.mask + 1;
    set->slots = g_new0(guint64, set->mask + 1);
    for (gsize i = 0; i <= old.mask; i++) {
        if (old.slots[i] != 0) set->slots[id_set_slot(set, old.slots[i])] = old.slots[i];
    }
    g_free(old.slots);
}

void id_set_add(IdSet *set, guint64 id) {
    if (id == 0) {
        set->has_zero = TRUE;
        return;
    }
    gsize at = id_set_slot(set, id);
    if (set->slots[at] == id) return;
    set->slots[at] = id;
    set->used++;
    if (2 * set->used > set->mask) id_set_grow(set);
}

void span_table_init(SpanTable *table, gsize n, SpanTexts texts) {
    gsize size = 16;
    while (size < 2 * n) size *= 2;
    *table = (SpanTable){.slots = g_new0(const SpanRec *, size), .mask = size - 1, .texts = texts};
}

void span_table_clear(SpanTable *table) { g_clear_pointer(&table->slots, g_free); }

static gsize span_table_slot(const SpanTable *table, SpanId id) {
    gsize at = hash_id(id.span) & table->mask;
    while (table->slots[at] != NULL && !span_id_equal(table->slots[at]->id, id)) at = (at + 1) & table->mask;
    return at;
}

void span_table_add(SpanTable *table, const SpanRec *span) {
    gsize at = span_table_slot(table, span->id);
    if (table->slots[at] == NULL) {
        table->slots[at] = span;
        table->used++;
    } else if (span_rec_compare(span, table->slots[at], &table->texts) < 0) {
        table->slots[at] = span;
    }
}

/* Removal closes the gap: every entry that could have stood in the free slot moves up. */
gboolean span_table_remove(SpanTable *table, SpanId id) {
    gsize gap = span_table_slot(table, id);
    if (table->slots[gap] == NULL) return FALSE;
    table->used--;
    for (gsize at = (gap + 1) & table->mask; table->slots[at] != NULL; at = (at + 1) & table->mask) {
        gsize home = hash_id(table->slots[at]->id.span) & table->mask;
        if (((at - home) & table->mask) < ((at - gap) & table->mask)) continue;
        table->slots[gap] = table->slots[at];
        gap = at;
    }
    table->slots[gap] = NULL;
    return TRUE;
}

static int compare_begin(gconstpointer a, gconstpointer b) {
    const SpanRec *x = *(const SpanRec *const *)a, *y = *(const SpanRec *const *)b;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    return span_id_compare(x->id, y->id);
}

void span_table_list(const SpanTable *table, GPtrArray *spans) {
    guint from = spans->len;
    for (gsize i = 0; i <= table->mask; i++) {
        if (table->slots[i] != NULL) g_ptr_array_add(spans, (gpointer)table->slots[i]);
    }
    if (spans->len > from) qsort(spans->pdata + from, spans->len - from, sizeof(gpointer), compare_begin);
}
