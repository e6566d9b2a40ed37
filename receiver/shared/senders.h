/* What senders say about themselves, so that losses on their side are visible here, and what was taken from each. At
 * most SENDERS_MAX are kept: a new one takes the place of the one heard of longest ago, whose figures go to those of
 * all others. Any thread; called once per batch, never per span. */
#pragma once

#include <glib.h>

#include "common/model/batch.h"
#include "common/pack/pack.h"

#define SENDERS_MAX           16384u /* 3,000 hosts with five processes each; a process costs under 2 KiB */
#define SENDER_REASONS_MAX    16u
#define SENDER_NAME_MAX_BYTES 256u /* longer names and reasons are cut at a character's start */

typedef struct SenderDrop {
    char *reason;
    gint64 spans;
} SenderDrop;

typedef struct SenderInfo {
    char *name;      /* "" of those that do not say, and of all that had to go */
    gint64 sequence; /* highest seen */
    gint64 spans_sent;
    gint64 spans_queued;
    gint64 last_seen_ns; /* wall clock */
    guint64 repeated;    /* batches that came again: the reply to the first was lost */
    guint32 n_drops;
    SenderDrop drops[SENDER_REASONS_MAX];
    guint64 received; /* spans taken, repeated ones included, since plumbd's start */
    guint64 refused[PACK_RESULT_COUNT];
} SenderInfo;

typedef struct Senders Senders;
Senders *senders_new(void);
void senders_free(Senders *senders);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Senders, senders_free)

/* Notes what came with a batch. The result stands for the sender until senders_took(). */
typedef struct SenderEntry SenderEntry;
SenderEntry *senders_note(Senders *senders, const BatchSender *said, gint64 now_ns);
/* The end of the batch: what was taken and refused of it; 0 and NULL when it has to come again. */
void senders_took(Senders *senders, SenderEntry *entry, guint64 received, const guint32 refused[PACK_RESULT_COUNT]);
guint senders_count(Senders *senders); /* without the one of no name */
/* Visits all as they are at one moment, by name. */
void senders_foreach(Senders *senders, void (*visit)(void *arg, const SenderInfo *info), void *arg);
