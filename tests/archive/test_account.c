/* Accounts by process: drafts, what is stored of them, and names past the bound. */
#include "analyzer/archive/tables/account.h"
#include "common/base/error.h"

static Store *store;

static void write_draft(AccountDraft *draft, AccountTable *table, guint16 slot) {
    g_autoptr(StoreBatch) batch = store_batch_new(store);
    account_draft_put(draft, table, slot, batch);
    g_assert_true(store_write(store, batch, FALSE, NULL));
    account_draft_apply(draft, table);
}

static void assert_field(const AccountTable *table, guint32 tracer, AccountField field, gint64 n) {
    gint64 fields[ACCOUNT_FIELDS];
    account_get(table, tracer, fields);
    g_assert_cmpint(fields[field], ==, n);
}

static void test_drafts(void) {
    StoreOptions options = {0};
    store = store_open_memory(&options, NULL);
    AccountDraft draft;
    account_draft_init(&draft);
    g_autoptr(AccountTable) table = account_table_new();
    account_draft_add(&draft, 5, ACCOUNT_TAKEN, 10);
    account_draft_add(&draft, 70, ACCOUNT_REPEATED, 2);
    assert_field(table, 5, ACCOUNT_TAKEN, 0); /* not before it is written */
    write_draft(&draft, table, 0);
    account_draft_add(&draft, 5, ACCOUNT_TAKEN, 100);
    account_draft_discard(&draft);
    account_draft_add(&draft, 5, ACCOUNT_TAKEN, 1);
    account_draft_add(&draft, ACCOUNT_TRACERS + 7, ACCOUNT_EXPIRED, 3); /* one of the others */
    account_draft_add(&draft, 5, ACCOUNT_REPLAYED, 9);                  /* not stored */
    write_draft(&draft, table, 0);
    assert_field(table, 5, ACCOUNT_TAKEN, 11);
    assert_field(table, 0, ACCOUNT_EXPIRED, 3);
    assert_field(table, ACCOUNT_TRACERS + 8, ACCOUNT_EXPIRED, 3);

    g_autoptr(GPtrArray) slots = g_ptr_array_new_with_free_func((GDestroyNotify)account_table_free);
    g_autoptr(StoreIter) meta = store_iter_new(store, FAMILY_META);
    g_autoptr(GError) error = NULL;
    g_assert_true(account_load(meta, slots, &error));
    const AccountTable *read = g_ptr_array_index(slots, 0);
    assert_field(read, 5, ACCOUNT_TAKEN, 11);
    assert_field(read, 5, ACCOUNT_REPLAYED, 0);
    assert_field(read, 70, ACCOUNT_REPEATED, 2);
    assert_field(read, 0, ACCOUNT_EXPIRED, 3);
    gint64 sum[ACCOUNT_FIELDS];
    account_sum(read, sum);
    g_assert_cmpint(sum[ACCOUNT_TAKEN], ==, 11);
    account_draft_clear(&draft);
    g_clear_pointer(&meta, store_iter_free);
    store_close(store);
}

static void test_damage(void) {
    StoreOptions options = {0};
    store = store_open_memory(&options, NULL);
    g_autoptr(StoreBatch) batch = store_batch_new(store);
    store_batch_put(batch, FAMILY_META, (Bytes){ACCOUNT_PREFIX "\0\0\0\0\0\0", sizeof ACCOUNT_PREFIX - 1 + 6},
                    (Bytes){"\x01", 1});
    g_assert_true(store_write(store, batch, FALSE, NULL));
    g_autoptr(GPtrArray) slots = g_ptr_array_new_with_free_func((GDestroyNotify)account_table_free);
    g_autoptr(StoreIter) meta = store_iter_new(store, FAMILY_META);
    g_autoptr(GError) error = NULL;
    g_assert_false(account_load(meta, slots, &error));
    g_assert_error(error, PLUMB_ERROR, PLUMB_ERROR_CORRUPT);
    g_clear_pointer(&meta, store_iter_free);
    store_close(store);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/account/drafts", test_drafts);
    g_test_add_func("/account/damage", test_damage);
    return g_test_run();
}
