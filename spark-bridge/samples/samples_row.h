/* One row of a report: values by the names of their columns, whatever the form of the log; private to samples*.c. */
#pragma once

#include "common/model/spark_records.h"

/* Disks, and interfaces, of one sample; what is past it is left out and counted. */
#define SAMPLE_DEVICES 256u

typedef enum {
    COLUMN_OTHER,
    COLUMN_CPU, /* labels */
    COLUMN_DISK,
    COLUMN_NET,
    COLUMN_USER, /* percent */
    COLUMN_NICE,
    COLUMN_SYSTEM,
    COLUMN_IRQ,
    COLUMN_SOFT,
    COLUMN_IOWAIT,
    COLUMN_STEAL,
    COLUMN_GUEST,
    COLUMN_IDLE,
    COLUMN_UTIL,
    COLUMN_READ, /* bytes a second, by the column's factor */
    COLUMN_WRITE,
    COLUMN_AWAIT,
    COLUMN_READ_AWAIT,
    COLUMN_WRITE_AWAIT,
    COLUMN_READS,
    COLUMN_WRITES,
    COLUMN_QUEUE,
    COLUMN_RECEIVED,
    COLUMN_SENT,
    COLUMN_COUNT,
} ColumnKind;

typedef struct Column {
    ColumnKind kind;
    double factor;
} Column;

/* By its name, a colon behind it left out; COLUMN_OTHER: not one that is read. */
Column column_named(const char *name, gsize length);

#define ROW_LABEL_BYTES 64u
/* A host name of the DNS has at most 253. */
#define LIMIT_HOST_BYTES 255u

typedef struct SampleRow {
    guint32 has; /* bits 1 << ColumnKind */
    double values[COLUMN_COUNT];
    char label[ROW_LABEL_BYTES];
} SampleRow;

void row_clear(SampleRow *row);
/* FALSE: the value is no number. Of columns that are not read everything is fine. */
gboolean row_set(SampleRow *row, Column column, const char *text, gsize length);

/* What rows of one time and source add up to. */
typedef struct SampleBlock {
    gboolean has_cpu;
    double user, system, iowait, steal, idle; /* shares */
    GArray *disks, *nets;                     /* HostDisk, HostNet; names are interned in 'names' */
    GStringChunk *names;
    guint64 left_out;
} SampleBlock;

void block_init(SampleBlock *block);
void block_clear(SampleBlock *block);
void block_reset(SampleBlock *block);
gboolean block_is_empty(const SampleBlock *block);
/* FALSE: the row says nothing of processors, disks or interfaces (nor is it one of a single processor). */
gboolean block_add(SampleBlock *block, const SampleRow *row);
