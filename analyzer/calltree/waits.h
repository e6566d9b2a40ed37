/* Which functions wait for others, and where those others are.
 *
 * The own time of a function that waits is not work: somebody else works then. Who that is hangs at another place of
 * the tree, mostly on another host. A table of names says which functions wait (PART_WAIT), and what stands for one
 * operation at one server (PART_STATION): what hangs below it works for those who wait. Three chains know nothing of
 * each other: writing a block, reading one, a call of the NameNode. docs/call-trees.md, "Through waits", says how the
 * critical path goes on there. */
#pragma once

#include "analyzer/calltree/pattern.h"

typedef enum { CHAIN_NONE, CHAIN_WRITE, CHAIN_READ, CHAIN_RPC } WaitChain;

/* What a function is in its chain. */
typedef enum {
    PART_WAIT = 1 << 0,
    PART_STATION = 1 << 1,
    PART_SEND = 1 << 2,     /* hands a packet to the next station */
    PART_RECEIVE = 1 << 3,  /* takes a packet: waits until it is sent, and works while it comes */
    PART_BELOW = 1 << 4,    /* what it waits for hangs below it */
    PART_STREAM = 1 << 5,   /* no function: the annotation "stream" */
    PART_ASIDE = 1 << 6,    /* goes on beside its caller, who does not wait for it */
    PART_BLOCKS = 1 << 7,   /* the application's thread waits there */
    PART_TURNS = 1 << 8,    /* an operation of Spark: runs by turns with the others of its task (times_turns.c) */
    PART_COMPUTED = 1 << 9, /* no function: the annotation "exclusiveNs" */
    PART_ANSWERS = 1 << 10, /* acknowledges packets, one after the other */
    PART_ANSWER = 1 << 11,  /* waits for the acknowledgement of the next station */
    PART_ASKS = 1 << 12,    /* asks a station for a block, and waits for its answer */
    PART_VOTES = 1 << 13    /* asks one of several, of whom a majority is enough for its caller, who waits for that */
} WaitFlags;
#define PART_CHAIN_SHIFT 14u /* the chain lies above the flags */

/* Flags and chain of a function; 0: it has no part. */
typedef guint16 WaitPart;
static inline WaitChain part_chain(WaitPart part) { return (WaitChain)(part >> PART_CHAIN_SHIFT); }

/* Annotation of what belongs to one stream of an application: its waits, and what it waits for. */
#define STREAM_ANNOTATION "stream"
/* Of an operation of Spark: for how long its code ran, with all that it called but other operations. */
#define COMPUTED_ANNOTATION "exclusiveNs"

/* Parts of the names seen last. Any thread may ask. */
typedef struct WaitTable WaitTable;
WaitTable *wait_table_new(const Lookup *lookup); /* the lookup must outlive it */
void wait_table_free(WaitTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WaitTable, wait_table_free)

/* Of a dictionary id. */
WaitPart wait_table_part(WaitTable *table, guint32 name);
/* Dictionary id of the host of a tracer; 0: not known. */
guint32 wait_table_host(const WaitTable *table, guint32 tracer);
static inline gboolean wait_table_is_stream(WaitTable *table, guint32 key) {
    return (wait_table_part(table, key) & PART_STREAM) != 0;
}
static inline gboolean wait_table_is_computed(WaitTable *table, guint32 key) {
    return (wait_table_part(table, key) & PART_COMPUTED) != 0;
}
/* Are times computed from it? */
static inline gboolean wait_table_needs(WaitTable *table, guint32 key) {
    return (wait_table_part(table, key) & (PART_STREAM | PART_COMPUTED)) != 0;
}
