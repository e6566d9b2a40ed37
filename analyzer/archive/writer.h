/* The group under construction: what writer.c collects and commit.c writes. */
#pragma once

#include "analyzer/archive/idset.h"
#include "analyzer/archive/internal.h"
#include "analyzer/archive/postings.h"
#include "analyzer/archive/puts.h"

struct ArchiveWriter {
    Archive *archive;
    Compressor *compressor;
    StatsGroup *stats;           /* of the traces added since the last seal */
    gsize stats_idle_bytes;      /* what it takes when empty: it keeps its tables */
    Puts records, index_entries; /* the same */
    Postings *postings;          /* of the records */
    StoreBatch *batch;
    IdSet traces;
    StoredTotals change; /* of the totals */
    guint32 max_pattern; /* greatest number used */
    /* Sealing moves statistics, records and index entries into the batch; after a failed write the group stays sealed
     * until something is added. */
    gboolean sealed;
    GArray *functions;         /* StatsKey of the rows of functions that were sealed */
    GArray *operands;          /* PatternOperand of those of patterns */
    GByteArray *operand_bytes; /* their values */
    guint16 slot;              /* of archive->slots; nobody else's */
    AccountTable *books;       /* of the slot */
    AccountDraft draft;        /* what the group adds to them */
    gboolean replaying;

    /* Scratch, to spare allocations. */
    StatsGroup *replaced; /* the pattern rows of a record that is replaced */
    GPtrArray *given;     /* the spans of archive_writer_add() */
    GPtrArray *fresh;     /* those not stored yet, distinct */
    GByteArray *index;    /* value of the trace's index entry */
};
