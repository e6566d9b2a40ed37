/* The group under construction: what writer.c collects and commit.c writes. */
#pragma once

#include "analyzer/archive/archive_inside.h"
#include "analyzer/archive/idset.h"
#include "analyzer/archive/index/postings.h"
#include "analyzer/archive/tables/puts.h"
#include "analyzer/archive/write/group_calls.h"
#include "analyzer/archive/write/trace_version.h"
#include "analyzer/archive/write/writer.h"

struct ArchiveWriter {
    Archive *archive;
    Compressor *compressor;
    StatsGroup *stats;           /* of the traces added since the last seal */
    StatsGroup *taken;           /* what replaced records had added to their patterns' rows of all hosts */
    gsize stats_idle_bytes;      /* what it takes when empty: it keeps its tables */
    Puts records, index_entries; /* the same */
    Postings *postings;          /* of the records */
    StoreBatch *batch;
    IdSet traces;
    StoredTotals change; /* of the totals */
    guint32 max_pattern; /* greatest number used */
    guint64 mixed_upto;  /* what the batch has of nodes of mixed patterns */
    gboolean any;        /* the group holds something */
    gboolean unwritten;  /* it was sealed and could not be written: no roll-up begins before it is */
    /* Sealing moves statistics, records and index entries into the batch; after a failed write the group stays sealed
     * until something is added. */
    gboolean sealed;
    Region values;             /* of sealed statistics: the batch refers to them */
    GArray *functions, *hosts; /* guint32: those with rows that were sealed */
    guint16 slot;              /* of archive->slots; nobody else's */
    AccountTable *accounts;    /* of the slot */
    AccountDraft draft;        /* what the group adds to them */
    guint64 pending_spans;     /* given since the last commit */
    gboolean replaying;
    GroupCalls calls;
    FailureKeys failure_keys;

    /* Scratch, to spare allocations. */
    GPtrArray *given;   /* the spans of one trace, as they came */
    GPtrArray *fresh;   /* those not stored yet, distinct */
    GPtrArray *again;   /* of those that group_append_parts() was given last, the ones that came again */
    GByteArray *index;  /* value of the trace's index entry */
    GByteArray *ids;    /* of a record that is kept without */
    GByteArray *record; /* the one at hand */
    GArray *failed;     /* guint32: nodes of its tree whose calls failed */
};

/* What join.c shares with writer.c. */
typedef struct PartPlace {
    guint64 trace_id;
    guint part;
    guint32 flags;   /* TRACE_PART or 0; of one that was stored with the very same calls TRACE_FAILURES, too */
    guint32 dropped; /* what its spans have lost before; DROPPED_IDS: their ids are made up */
    /* A stored record of the same key goes, which has the calls that version->shared tells: their terms are listed. */
    gboolean replaces;
    gboolean again; /* it was stored with the very same calls */
} PartPlace;

static inline const SpanRec *const *list_spans(const GPtrArray *list, guint from) {
    return (const SpanRec *const *)(gconstpointer)(list->pdata + from);
}
gsize spans_bytes(const GPtrArray *spans);
/* Under which number a record that comes into the group is counted; what comes of it is in the version. */
guint32 group_count_in(ArchiveWriter *writer, TraceVersion *version);
/* Puts the record into the group, and finds writer->failed. */
void group_put_record(ArchiveWriter *writer, const PartPlace *place, const TraceVersion *version, guint32 number);
/* Spans that no stored record joins become parts of their own, from place.part on. Returns whether one of them is
 * incomplete. */
gboolean group_append_parts(ArchiveWriter *writer, PartPlace place, const GPtrArray *spans);
/* writer->index, as it is put with group_put_index(). */
void index_set(GByteArray *index, guint part, guint32 second);
void group_put_index(ArchiveWriter *writer, guint64 trace_id);
/* Whether a sealed group waits to be written: no roll-up begins meanwhile. */
void note_unwritten(ArchiveWriter *writer, gboolean unwritten);
/* After a trace: gives back the lists of a large one. */
void lists_end(ArchiveWriter *writer);
/* In the accounts. */
void count_spans(ArchiveWriter *writer, const GPtrArray *spans, AccountField field, gint64 each);
/* Of the spans that were given, 'kept' are with their trace now; the others came again. */
void count_given(ArchiveWriter *writer, const GPtrArray *kept, AccountField again_as);
