/* What senders say about themselves, so that losses on their side are visible here. At most SENDERS_MAX are kept: a new
 * one takes the place of the one heard of longest ago. Any thread; called once per batch, never per span. */
#pragma once

#include <glib.h>

#include "common/model/batch.h"

#define SENDERS_MAX           1024u /* processes of one cluster that send; each costs under 4 KiB */
#define SENDER_REASONS_MAX    16u
#define SENDER_NAME_MAX_BYTES 256u /* longer names and reasons are cut at a character's start */

typedef struct SenderDrop {
    char *reason;
    gint64 spans;
} SenderDrop;

typedef struct SenderInfo {
    char *name;
    gint64 sequence; /* highest seen */
    gint64 spans_sent;
    gint64 spans_queued;
    gint64 last_seen_ns; /* wall clock */
    guint64 repeated;    /* batches that came again: the reply to the first was lost */
    guint32 n_drops;
    SenderDrop drops[SENDER_REASONS_MAX];
} SenderInfo;

typedef struct Senders Senders;
Senders *senders_new(void);
void senders_free(Senders *senders);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Senders, senders_free)

/* Notes what came with a batch; does nothing when the sender said nothing of itself. */
void senders_note(Senders *senders, const BatchSender *said, gint64 now_ns);
guint senders_count(Senders *senders);
/* Visits all, by name, under the lock: 'visit' must not call back. */
void senders_foreach(Senders *senders, void (*visit)(void *arg, const SenderInfo *info), void *arg);
