/* What became of every span, by the process that made it (its tracer id): the accounts that `plumb status --senders`
 * shows and verify checks. Counted in whoever takes, stores or removes spans, each in a table of its own; written
 * with the group that they are about, so that a crash leaves accounts and spans in agreement.
 *
 *   family  key                               value
 *   meta    "account/", slot u16, block u32   of each of 64 tracer ids: the stored fields, zig-zag varints
 *
 * A slot is a writer's share of the totals (layout.h), so every entry has one writer and needs no merging. */
#pragma once

#include <stdatomic.h>

#include "analyzer/archive/tables/layout.h"
#include "common/store/store.h"

/* Tracer ids of the dictionary that have accounts of their own: 3,000 hosts with many processes each, at 40 bytes a
 * thread. Those with greater ids are one together, as tracer 0. */
#define ACCOUNT_TRACERS       131072u
#define ACCOUNT_BLOCK_TRACERS 64u
#define ACCOUNT_BLOCKS        (ACCOUNT_TRACERS / ACCOUNT_BLOCK_TRACERS)
#define ACCOUNT_PREFIX        "account/"

typedef enum {
    ACCOUNT_TAKEN,    /* stored, each once; stored now: this less the two below */
    ACCOUNT_THINNED,  /* removed to make room */
    ACCOUNT_EXPIRED,  /* removed for their age */
    ACCOUNT_REPEATED, /* came again, and changed nothing */
    ACCOUNT_WAITING,  /* stored, but late, and not with their trace yet: will be taken or have come again */
    ACCOUNT_FIELDS_STORED,
    ACCOUNT_RECEIVED = ACCOUNT_FIELDS_STORED, /* since the start: came in, replays of the journal included */
    ACCOUNT_REPLAYED,                         /* since the start: the journal still had them, the store too */
    ACCOUNT_ASIDE,                            /* since the start: no store would take them */
    ACCOUNT_FIELDS
} AccountField;

struct Archive;

/* One thread adds, any may read. */
typedef struct AccountTable AccountTable;
AccountTable *account_table_new(void);
void account_table_free(AccountTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AccountTable, account_table_free)
void account_add(AccountTable *table, guint32 tracer, AccountField field, gint64 n);
/* Adds all of 'from'. */
void account_add_table(AccountTable *table, const AccountTable *from);
/* All fields of one tracer id; 0: of those that have no accounts of their own. */
void account_get(const AccountTable *table, guint32 tracer, gint64 fields[ACCOUNT_FIELDS]);
/* Sum over all tracer ids. */
void account_sum(const AccountTable *table, gint64 fields[ACCOUNT_FIELDS]); /* for tests */
/* Ids whose fields are not all 0, ascending. */
typedef void (*AccountVisit)(void *arg, guint32 tracer, const gint64 fields[ACCOUNT_FIELDS]);
void account_foreach(const AccountTable *table, AccountVisit visit, void *arg);

/* What is to be added once a group is written. */
typedef struct AccountDraft {
    AccountTable *table;
    GArray *blocks; /* guint: those with an entry */
    guint8 *listed; /* by block: is it there? */
} AccountDraft;
void account_draft_init(AccountDraft *draft);
void account_draft_clear(AccountDraft *draft);
void account_draft_add(AccountDraft *draft, guint32 tracer, AccountField field, gint64 n);
/* The entries of 'slot' as they will be when the draft is in the slot's table. */
void account_draft_put(const AccountDraft *draft, const AccountTable *table, guint16 slot, StoreBatch *batch);
/* Moves the draft into the table; it is empty then. */
void account_draft_apply(AccountDraft *draft, AccountTable *table);
void account_draft_discard(AccountDraft *draft); /* for tests */

/* Reads the tables of all slots: elements of 'slots' are AccountTable, NULL where there is none. CORRUPT, IO. */
gboolean account_load(StoreIter *meta, GPtrArray *slots, GError **error);

/* Adds the accounts of all writers to 'sum': whole once nothing is being added, at any time never ahead of whoever fed
 * the writers. */
void archive_accounts(struct Archive *archive, AccountTable *sum);

/* For verify: counts stored spans as taken or as waiting, and tells of every tracer id whose accounts say otherwise. */
void account_count_stored(AccountTable *counted, const GPtrArray *spans);
void account_count_waiting(AccountTable *counted, const GPtrArray *spans);
typedef void (*AccountDiffers)(void *arg, guint32 tracer, gint64 booked, gint64 stored);
gboolean account_check(StoreIter *meta, const AccountTable *counted, AccountDiffers differs, void *arg, GError **error);
