#include "tests/load/records.h"

#include <string.h>
#include <zlib.h>

GByteArray *result_begin(const char *more) {
    GByteArray *result = g_byte_array_new();
    g_autofree char *head =
        g_strconcat("plumb-load-result 1\nplan-warm-up-ns 1000000000\nplan-duration-ns 10000000000\n"
                    "warm-up-operations 5\nplan-hash 17\n",
                    more, "\n", NULL);
    g_byte_array_append(result, (const guint8 *)head, (guint)strlen(head));
    return result;
}

static void put(guint8 *at, guint64 value, guint n_bytes) {
    for (guint i = 0; i < n_bytes; i++) at[i] = (guint8)(value >> 8 * i);
}

static void seal(GByteArray *result, guint8 *record) {
    put(record + 60, crc32(0, record, 60), 4);
    g_byte_array_append(result, record, LOAD_RECORD_BYTES);
}

void result_operation(GByteArray *result, const MadeOperation *operation) {
    guint8 record[LOAD_RECORD_BYTES] = {'o', (guint8)operation->kind};
    put(record + 2, operation->error, 2);
    put(record + 8, (guint64)operation->due_ns, 8);
    put(record + 16, (guint64)operation->begin_ns, 8);
    put(record + 24, (guint64)operation->end_ns, 8);
    put(record + 32, (guint64)operation->bytes, 8);
    put(record + 40, operation->trace, 8);
    put(record + 48, operation->number, 8);
    put(record + 56, operation->unfinished, 4);
    seal(result, record);
}

void result_text(GByteArray *result, guint number, const char *text) {
    const gsize length = strlen(text);
    for (guint part = 0; part * 52 < length; part++) {
        guint8 record[LOAD_RECORD_BYTES] = {'t', (guint8)part};
        put(record + 2, number, 2);
        put(record + 4, length, 4);
        memcpy(record + 8, text + part * 52, MIN(52, length - part * 52));
        seal(result, record);
    }
}

void result_end(GByteArray *result, LoadRunEnd end, gint64 end_ns, guint64 handed_on) {
    guint8 record[LOAD_RECORD_BYTES] = {'e', (guint8)end};
    put(record + 8, (guint64)end_ns, 8);
    put(record + 16, handed_on, 8);
    seal(result, record);
}
