#include "analyzer/archive/tables/account.h"

#include <string.h>

#include "common/base/allowance.h"
#include "common/base/error.h"

#define KEY_BYTES (sizeof ACCOUNT_PREFIX - 1 + 6)
/* A draft of more gives its blocks back: 64 of them are those of 4,096 processes, 256 KiB. Ever new processes would
 * else have it grow as large as the tables. */
#define DRAFT_BLOCKS_KEPT 64u

typedef struct AccountBlock {
    _Atomic gint64 counts[ACCOUNT_BLOCK_TRACERS][ACCOUNT_FIELDS];
} AccountBlock;

struct AccountTable {
    AccountBlock *_Atomic blocks[ACCOUNT_BLOCKS];
};

AccountTable *account_table_new(void) { return g_new0(AccountTable, 1); }

void account_table_free(AccountTable *table) {
    if (table == NULL) return;
    for (guint i = 0; i < ACCOUNT_BLOCKS; i++) g_free(atomic_load_explicit(&table->blocks[i], memory_order_relaxed));
    g_free(table);
}

static guint32 own_or_others(guint32 tracer) { return tracer < ACCOUNT_TRACERS ? tracer : 0; }

static AccountBlock *block_find(const AccountTable *table, guint number) {
    return atomic_load_explicit(&table->blocks[number], memory_order_acquire);
}

static AccountBlock *block_get(AccountTable *table, guint number) {
    AccountBlock *block = block_find(table, number);
    if (G_LIKELY(block != NULL)) return block;
    block = g_new0(AccountBlock, 1);
    atomic_store_explicit(&table->blocks[number], block, memory_order_release);
    return block;
}

/* Of a table that nobody else reads. */
static void block_drop(AccountTable *table, guint number) {
    g_free(atomic_load_explicit(&table->blocks[number], memory_order_relaxed));
    atomic_store_explicit(&table->blocks[number], NULL, memory_order_relaxed);
}

static gint64 count_of(const AccountBlock *block, guint at, guint field) {
    return atomic_load_explicit(&block->counts[at][field], memory_order_relaxed);
}

static void count_add(AccountBlock *block, guint at, guint field, gint64 n) {
    _Atomic gint64 *count = &block->counts[at][field];
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + n, memory_order_relaxed);
}

void account_add(AccountTable *table, guint32 tracer, AccountField field, gint64 n) {
    tracer = own_or_others(tracer);
    count_add(block_get(table, tracer / ACCOUNT_BLOCK_TRACERS), tracer % ACCOUNT_BLOCK_TRACERS, field, n);
}

static void block_add(AccountBlock *into, const AccountBlock *from) {
    for (guint at = 0; at < ACCOUNT_BLOCK_TRACERS; at++) {
        for (guint field = 0; field < ACCOUNT_FIELDS; field++) {
            gint64 n = count_of(from, at, field);
            if (n != 0) count_add(into, at, field, n);
        }
    }
}

void account_add_table(AccountTable *table, const AccountTable *from) {
    for (guint i = 0; i < ACCOUNT_BLOCKS; i++) {
        const AccountBlock *block = block_find(from, i);
        if (block != NULL) block_add(block_get(table, i), block);
    }
}

void account_get(const AccountTable *table, guint32 tracer, gint64 fields[ACCOUNT_FIELDS]) {
    tracer = own_or_others(tracer);
    const AccountBlock *block = block_find(table, tracer / ACCOUNT_BLOCK_TRACERS);
    for (guint field = 0; field < ACCOUNT_FIELDS; field++)
        fields[field] = block != NULL ? count_of(block, tracer % ACCOUNT_BLOCK_TRACERS, field) : 0;
}

static void add_fields(void *arg, guint32 tracer, const gint64 fields[ACCOUNT_FIELDS]) {
    (void)tracer;
    for (guint field = 0; field < ACCOUNT_FIELDS; field++) ((gint64 *)arg)[field] += fields[field];
}

void account_sum(const AccountTable *table, gint64 fields[ACCOUNT_FIELDS]) {
    memset(fields, 0, ACCOUNT_FIELDS * sizeof *fields);
    account_foreach(table, add_fields, fields);
}

void account_foreach(const AccountTable *table, AccountVisit visit, void *arg) {
    for (guint i = 0; i < ACCOUNT_BLOCKS; i++) {
        const AccountBlock *block = block_find(table, i);
        for (guint at = 0; block != NULL && at < ACCOUNT_BLOCK_TRACERS && allowance_goes_on(); at++) {
            gint64 fields[ACCOUNT_FIELDS];
            gboolean any = FALSE;
            for (guint field = 0; field < ACCOUNT_FIELDS; field++) {
                fields[field] = count_of(block, at, field);
                any |= fields[field] != 0;
            }
            if (any) visit(arg, i * ACCOUNT_BLOCK_TRACERS + at, fields);
        }
    }
}

/* ---- drafts ---- */

void account_draft_init(AccountDraft *draft) {
    draft->table = account_table_new();
    draft->blocks = g_array_new(FALSE, FALSE, sizeof(guint));
    draft->listed = g_new0(guint8, ACCOUNT_BLOCKS);
}

void account_draft_clear(AccountDraft *draft) {
    g_clear_pointer(&draft->table, account_table_free);
    g_clear_pointer(&draft->blocks, g_array_unref);
    g_clear_pointer(&draft->listed, g_free);
}

void account_draft_add(AccountDraft *draft, guint32 tracer, AccountField field, gint64 n) {
    tracer = own_or_others(tracer);
    guint number = tracer / ACCOUNT_BLOCK_TRACERS;
    if (!draft->listed[number]) g_array_append_val(draft->blocks, number);
    draft->listed[number] = 1;
    count_add(block_get(draft->table, number), tracer % ACCOUNT_BLOCK_TRACERS, field, n);
}

static LayoutKey account_key(guint16 slot, guint32 block) {
    LayoutKey key = {.size_bytes = KEY_BYTES};
    memcpy(key.bytes, ACCOUNT_PREFIX, sizeof ACCOUNT_PREFIX - 1);
    guint8 *at = key.bytes + sizeof ACCOUNT_PREFIX - 1;
    for (guint i = 0; i < 2; i++) *at++ = (guint8)(slot >> (8 - 8 * i));
    for (guint i = 0; i < 4; i++) *at++ = (guint8)(block >> (24 - 8 * i));
    return key;
}

void account_draft_put(const AccountDraft *draft, const AccountTable *table, guint16 slot, StoreBatch *batch) {
    g_autoptr(GByteArray) value = g_byte_array_new();
    for (guint i = 0; i < draft->blocks->len; i++) {
        guint number = g_array_index(draft->blocks, guint, i);
        const AccountBlock *add = block_find(draft->table, number), *has = block_find(table, number);
        g_byte_array_set_size(value, 0);
        for (guint at = 0; at < ACCOUNT_BLOCK_TRACERS; at++) {
            for (guint field = 0; field < ACCOUNT_FIELDS_STORED; field++)
                append_zigzag(value, count_of(add, at, field) + (has != NULL ? count_of(has, at, field) : 0));
        }
        LayoutKey key = account_key(slot, number);
        store_batch_put(batch, FAMILY_META, key_bytes(&key), (Bytes){value->data, value->len});
    }
}

void account_draft_apply(AccountDraft *draft, AccountTable *table) {
    for (guint i = 0; i < draft->blocks->len; i++) {
        guint number = g_array_index(draft->blocks, guint, i);
        block_add(block_get(table, number), block_find(draft->table, number));
    }
    account_draft_discard(draft);
}

void account_draft_discard(AccountDraft *draft) {
    const gboolean many = draft->blocks->len > DRAFT_BLOCKS_KEPT;
    for (guint i = 0; i < draft->blocks->len; i++) {
        guint number = g_array_index(draft->blocks, guint, i);
        if (many)
            block_drop(draft->table, number);
        else
            memset(block_find(draft->table, number), 0, sizeof(AccountBlock));
        draft->listed[number] = 0;
    }
    g_array_set_size(draft->blocks, 0);
}

/* ---- from the store ---- */

static gboolean block_decode(Bytes value, AccountBlock *block) {
    ByteReader r = byte_reader(value.data, value.size_bytes);
    for (guint at = 0; at < ACCOUNT_BLOCK_TRACERS; at++) {
        for (guint field = 0; field < ACCOUNT_FIELDS_STORED; field++) count_add(block, at, field, read_zigzag(&r));
    }
    return !r.failed && reader_left(&r) == 0;
}

gboolean account_load(StoreIter *meta, GPtrArray *slots, GError **error) {
    Bytes prefix = {ACCOUNT_PREFIX, sizeof ACCOUNT_PREFIX - 1};
    for (gboolean more = store_iter_seek(meta, prefix); more; more = store_iter_next(meta)) {
        Bytes key = store_iter_key(meta);
        if (key.size_bytes != KEY_BYTES || memcmp(key.data, prefix.data, prefix.size_bytes) != 0) break;
        ByteReader r = byte_reader((const guint8 *)key.data + prefix.size_bytes, 6);
        guint slot = read_u16be(&r), number = read_u32be(&r);
        if (number >= ACCOUNT_BLOCKS) return fail(error, PLUMB_ERROR_CORRUPT, "stored books have a malformed key");
        if (slot >= slots->len) g_ptr_array_set_size(slots, (gint)slot + 1);
        AccountTable *table = g_ptr_array_index(slots, slot);
        if (table == NULL) g_ptr_array_index(slots, slot) = table = account_table_new();
        if (!block_decode(store_iter_value(meta), block_get(table, number)))
            return fail(error, PLUMB_ERROR_CORRUPT, "stored books of slot %u, block %u are malformed", slot, number);
    }
    g_autoptr(GError) local = NULL;
    if (store_iter_error(meta, &local)) return TRUE;
    g_propagate_error(error, g_steal_pointer(&local));
    return FALSE;
}

/* ---- against what is stored ---- */

void account_count_stored(AccountTable *counted, const GPtrArray *spans) {
    for (guint i = 0; i < spans->len; i++)
        account_add(counted, ((const SpanRec *)g_ptr_array_index(spans, i))->tracer, ACCOUNT_TAKEN, 1);
}

void account_count_waiting(AccountTable *counted, const GPtrArray *spans) {
    for (guint i = 0; i < spans->len; i++)
        account_add(counted, ((const SpanRec *)g_ptr_array_index(spans, i))->tracer, ACCOUNT_WAITING, 1);
}

typedef struct Comparison {
    const AccountTable *booked, *counted;
    AccountDiffers differs;
    void *arg;
} Comparison;

static gint64 booked_as_stored(const gint64 fields[ACCOUNT_FIELDS]) {
    return fields[ACCOUNT_TAKEN] - fields[ACCOUNT_THINNED] - fields[ACCOUNT_EXPIRED];
}

static void compare_booked(void *arg, guint32 tracer, const gint64 fields[ACCOUNT_FIELDS]) {
    const Comparison *comparison = arg;
    gint64 counted[ACCOUNT_FIELDS];
    account_get(comparison->counted, tracer, counted);
    gint64 booked = booked_as_stored(fields);
    if (booked != counted[ACCOUNT_TAKEN]) comparison->differs(comparison->arg, tracer, booked, counted[ACCOUNT_TAKEN]);
    gint64 waiting = counted[ACCOUNT_WAITING];
    if (fields[ACCOUNT_WAITING] != waiting)
        comparison->differs(comparison->arg, tracer, fields[ACCOUNT_WAITING], waiting);
}

/* Those that no book knows at all. */
static void compare_counted(void *arg, guint32 tracer, const gint64 fields[ACCOUNT_FIELDS]) {
    const Comparison *comparison = arg;
    gint64 booked[ACCOUNT_FIELDS];
    account_get(comparison->booked, tracer, booked);
    gboolean known = FALSE;
    for (guint field = 0; field < ACCOUNT_FIELDS; field++) known |= booked[field] != 0;
    if (!known) comparison->differs(comparison->arg, tracer, 0, fields[ACCOUNT_TAKEN] + fields[ACCOUNT_WAITING]);
}

gboolean account_check(StoreIter *meta, const AccountTable *counted, AccountDiffers differs, void *arg,
                       GError **error) {
    g_autoptr(GPtrArray) slots = g_ptr_array_new_with_free_func((GDestroyNotify)account_table_free);
    if (!account_load(meta, slots, error)) return FALSE;
    g_autoptr(AccountTable) booked = account_table_new();
    for (guint i = 0; i < slots->len; i++)
        if (g_ptr_array_index(slots, i) != NULL) account_add_table(booked, g_ptr_array_index(slots, i));
    Comparison comparison = {booked, counted, differs, arg};
    account_foreach(booked, compare_booked, &comparison);
    account_foreach(counted, compare_counted, &comparison);
    return TRUE;
}
