#include "analyzer/query/nodes/failed_rows.h"

#include "common/base/allowance.h"

typedef struct FailedRow {
    StatsKey key;
    guint at, size; /* in the bytes */
} FailedRow;

void failed_rows_init(FailedRows *failed) {
    *failed = (FailedRows){.rows = g_array_new(FALSE, FALSE, sizeof(FailedRow)), .bytes = g_byte_array_new()};
}

void failed_rows_clear(FailedRows *failed) {
    allowance_release(failed->charged);
    g_array_unref(failed->rows);
    g_byte_array_unref(failed->bytes);
}

void failed_rows_note(FailedRows *failed, const StatsKey *key, const StatsHosts *hosts) {
    if (failed->minute != key->bucket) {
        g_array_set_size(failed->rows, 0);
        g_byte_array_set_size(failed->bytes, 0);
        failed->minute = key->bucket;
        failed->next = 0;
    }
    if (!allowance_goes_on()) return;
    const FailedRow row = {*key, failed->bytes->len, (guint)hosts->row.size_bytes};
    g_array_append_val(failed->rows, row);
    g_byte_array_append(failed->bytes, hosts->row.data, (guint)hosts->row.size_bytes);
    const gsize bytes = failed->rows->len * sizeof row + failed->bytes->len;
    allowance_hold(&failed->charged, MAX(failed->charged, bytes));
}

static int compare(const StatsKey *a, const StatsKey *b) {
    const guint32 left[] = {stats_cell(a->host), a->object, a->role, a->host};
    const guint32 right[] = {stats_cell(b->host), b->object, b->role, b->host};
    for (guint i = 0; i < G_N_ELEMENTS(left); i++)
        if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
    return 0;
}

gboolean failed_rows_find(FailedRows *failed, const StatsKey *key, Bytes *row) {
    if (failed->minute != key->bucket) return FALSE;
    for (; failed->next < failed->rows->len; failed->next++) {
        const FailedRow *next = &g_array_index(failed->rows, FailedRow, failed->next);
        const int order = compare(&next->key, key);
        if (order > 0) return FALSE;
        *row = (Bytes){failed->bytes->data + next->at, next->size};
        if (order == 0) return TRUE;
    }
    return FALSE;
}
