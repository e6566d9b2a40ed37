#include "spark-bridge/samples/samples_row.h"

#include <math.h>
#include <string.h>

#define KIB 1024.0

typedef struct NamedColumn {
    const char *name;
    Column column;
} NamedColumn;

/* sysstat's names through its versions; those of its JSON have no "%" and "/s". kB are 1024 bytes, sectors 512. */
static const NamedColumn named_columns[] = {
    {"CPU", {COLUMN_CPU, 1}},
    {"cpu", {COLUMN_CPU, 1}},
    {"DEV", {COLUMN_DISK, 1}},
    {"Device", {COLUMN_DISK, 1}},
    {"disk-device", {COLUMN_DISK, 1}},
    {"disk_device", {COLUMN_DISK, 1}},
    {"IFACE", {COLUMN_NET, 1}},
    {"iface", {COLUMN_NET, 1}},
    {"%usr", {COLUMN_USER, 1}},
    {"%user", {COLUMN_USER, 1}},
    {"usr", {COLUMN_USER, 1}},
    {"user", {COLUMN_USER, 1}},
    {"%nice", {COLUMN_NICE, 1}},
    {"nice", {COLUMN_NICE, 1}},
    {"%sys", {COLUMN_SYSTEM, 1}},
    {"%system", {COLUMN_SYSTEM, 1}},
    {"sys", {COLUMN_SYSTEM, 1}},
    {"system", {COLUMN_SYSTEM, 1}},
    {"%irq", {COLUMN_IRQ, 1}},
    {"irq", {COLUMN_IRQ, 1}},
    {"%soft", {COLUMN_SOFT, 1}},
    {"soft", {COLUMN_SOFT, 1}},
    {"%iowait", {COLUMN_IOWAIT, 1}},
    {"iowait", {COLUMN_IOWAIT, 1}},
    {"%steal", {COLUMN_STEAL, 1}},
    {"steal", {COLUMN_STEAL, 1}},
    {"%guest", {COLUMN_GUEST, 1}},
    {"guest", {COLUMN_GUEST, 1}},
    {"%idle", {COLUMN_IDLE, 1}},
    {"idle", {COLUMN_IDLE, 1}},
    {"%util", {COLUMN_UTIL, 1}},
    {"util", {COLUMN_UTIL, 1}},
    {"util-percent", {COLUMN_UTIL, 1}},
    {"rkB/s", {COLUMN_READ, KIB}},
    {"rkB", {COLUMN_READ, KIB}},
    {"kB_read/s", {COLUMN_READ, KIB}},
    {"rMB/s", {COLUMN_READ, KIB *KIB}},
    {"MB_read/s", {COLUMN_READ, KIB *KIB}},
    {"rsec/s", {COLUMN_READ, 512}},
    {"rd_sec/s", {COLUMN_READ, 512}},
    {"wkB/s", {COLUMN_WRITE, KIB}},
    {"wkB", {COLUMN_WRITE, KIB}},
    {"kB_wrtn/s", {COLUMN_WRITE, KIB}},
    {"wMB/s", {COLUMN_WRITE, KIB *KIB}},
    {"MB_wrtn/s", {COLUMN_WRITE, KIB *KIB}},
    {"wsec/s", {COLUMN_WRITE, 512}},
    {"wr_sec/s", {COLUMN_WRITE, 512}},
    {"await", {COLUMN_AWAIT, 1}},
    {"r_await", {COLUMN_READ_AWAIT, 1}},
    {"w_await", {COLUMN_WRITE_AWAIT, 1}},
    {"r/s", {COLUMN_READS, 1}},
    {"w/s", {COLUMN_WRITES, 1}},
    {"aqu-sz", {COLUMN_QUEUE, 1}},
    {"avgqu-sz", {COLUMN_QUEUE, 1}},
    {"rxkB/s", {COLUMN_RECEIVED, KIB}},
    {"rxkB", {COLUMN_RECEIVED, KIB}},
    {"rxMB/s", {COLUMN_RECEIVED, KIB *KIB}},
    {"rxbyt/s", {COLUMN_RECEIVED, 1}},
    {"txkB/s", {COLUMN_SENT, KIB}},
    {"txkB", {COLUMN_SENT, KIB}},
    {"txMB/s", {COLUMN_SENT, KIB *KIB}},
    {"txbyt/s", {COLUMN_SENT, 1}},
};

Column column_named(const char *name, gsize length) {
    if (length > 1 && name[length - 1] == ':') length--;
    for (guint i = 0; i < G_N_ELEMENTS(named_columns); i++)
        if (strlen(named_columns[i].name) == length && memcmp(named_columns[i].name, name, length) == 0)
            return named_columns[i].column;
    return (Column){COLUMN_OTHER, 1};
}

/* ---- rows ---- */

void row_clear(SampleRow *row) {
    row->has = 0;
    row->label[0] = '\0';
}

/* Digits with one point or comma; a sign is never there. */
static gboolean read_number(const char *text, gsize length, double *value) {
    char copy[40];
    guint marks = 0;
    if (length == 0 || length >= sizeof copy) return FALSE;
    for (gsize i = 0; i < length; i++) {
        const gboolean mark = text[i] == ',' || text[i] == '.';
        if (!mark && !g_ascii_isdigit(text[i])) return FALSE;
        marks += mark;
        copy[i] = mark ? '.' : text[i];
    }
    if (marks > 1 || marks == length) return FALSE;
    copy[length] = '\0';
    *value = g_ascii_strtod(copy, NULL);
    return TRUE;
}

gboolean row_set(SampleRow *row, Column column, const char *text, gsize length) {
    if (column.kind == COLUMN_OTHER) return TRUE;
    row->has |= 1u << column.kind;
    if (column.kind > COLUMN_NET) {
        double value;
        if (!read_number(text, length, &value)) return FALSE;
        row->values[column.kind] = value * column.factor;
        return TRUE;
    }
    if (length == 0 || length >= ROW_LABEL_BYTES) return FALSE;
    memcpy(row->label, text, length);
    row->label[length] = '\0';
    return TRUE;
}

/* ---- blocks ---- */

void block_init(SampleBlock *block) {
    *block = (SampleBlock){.disks = g_array_new(FALSE, FALSE, sizeof(HostDisk)),
                           .nets = g_array_new(FALSE, FALSE, sizeof(HostNet)),
                           .names = g_string_chunk_new(256)};
}

void block_clear(SampleBlock *block) {
    g_array_unref(block->disks);
    g_array_unref(block->nets);
    g_string_chunk_free(block->names);
}

void block_reset(SampleBlock *block) {
    block->has_cpu = FALSE;
    g_array_set_size(block->disks, 0);
    g_array_set_size(block->nets, 0);
    g_string_chunk_clear(block->names);
}

gboolean block_is_empty(const SampleBlock *block) {
    return !block->has_cpu && block->disks->len == 0 && block->nets->len == 0;
}

static gboolean has(const SampleRow *row, ColumnKind kind) { return row->has >> kind & 1; }
static double value_or(const SampleRow *row, ColumnKind kind, double otherwise) {
    return has(row, kind) ? row->values[kind] : otherwise;
}
static double share_of(double percent) { return CLAMP(percent / 100, 0, 1); }

/* Guests' time is in the user's already where sar tells "%user"; mpstat tells it apart. Nice is user time of low
 * priority: what is left for a task is the same. */
static void add_cpu(SampleBlock *block, const SampleRow *row) {
    block->has_cpu = TRUE;
    block->user = share_of(row->values[COLUMN_USER] + value_or(row, COLUMN_NICE, 0) + value_or(row, COLUMN_GUEST, 0));
    block->system =
        share_of(value_or(row, COLUMN_SYSTEM, 0) + value_or(row, COLUMN_IRQ, 0) + value_or(row, COLUMN_SOFT, 0));
    block->iowait = has(row, COLUMN_IOWAIT) ? share_of(row->values[COLUMN_IOWAIT]) : -1;
    block->steal = has(row, COLUMN_STEAL) ? share_of(row->values[COLUMN_STEAL]) : -1;
    block->idle = share_of(row->values[COLUMN_IDLE]);
}

static double await_of(const SampleRow *row) {
    if (has(row, COLUMN_AWAIT)) return row->values[COLUMN_AWAIT];
    const double reads = value_or(row, COLUMN_READS, 0), writes = value_or(row, COLUMN_WRITES, 0);
    if (!has(row, COLUMN_READ_AWAIT) || !has(row, COLUMN_WRITE_AWAIT)) return -1;
    if (reads + writes <= 0) return 0;
    return (row->values[COLUMN_READ_AWAIT] * reads + row->values[COLUMN_WRITE_AWAIT] * writes) / (reads + writes);
}

static void add_disk(SampleBlock *block, const SampleRow *row) {
    const HostDisk disk = {
        .device = g_string_chunk_insert(block->names, row->label),
        .util = has(row, COLUMN_UTIL) ? share_of(row->values[COLUMN_UTIL]) : -1,
        .read_bytes = value_or(row, COLUMN_READ, -1),
        .write_bytes = value_or(row, COLUMN_WRITE, -1),
        .await_ms = await_of(row),
        .queue = value_or(row, COLUMN_QUEUE, -1),
    };
    g_array_append_val(block->disks, disk);
}

static void add_net(SampleBlock *block, const SampleRow *row) {
    const HostNet net = {
        .interface = g_string_chunk_insert(block->names, row->label),
        .rx_bytes = value_or(row, COLUMN_RECEIVED, -1),
        .tx_bytes = value_or(row, COLUMN_SENT, -1),
    };
    g_array_append_val(block->nets, net);
}

gboolean block_add(SampleBlock *block, const SampleRow *row) {
    if (has(row, COLUMN_DISK) || has(row, COLUMN_NET)) {
        const gboolean disk = has(row, COLUMN_DISK);
        if (disk && !has(row, COLUMN_UTIL) && !has(row, COLUMN_READ)) return FALSE;
        if (!disk && !has(row, COLUMN_RECEIVED)) return FALSE;
        if ((disk ? block->disks : block->nets)->len >= SAMPLE_DEVICES)
            block->left_out++;
        else if (disk)
            add_disk(block, row);
        else
            add_net(block, row);
        return TRUE;
    }
    if (!has(row, COLUMN_USER) || !has(row, COLUMN_IDLE)) return FALSE;
    const gboolean all = !has(row, COLUMN_CPU) || strcmp(row->label, "all") == 0 || strcmp(row->label, "-1") == 0;
    if (all) add_cpu(block, row);
    return TRUE;
}
