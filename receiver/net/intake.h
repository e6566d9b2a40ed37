/* From a frame to the shards: header, decoding, journal, packing, reply. One Intake per network thread; it knows no
 * sockets.
 *
 * intake_frame() for each frame; now and then intake_commit(), which writes the bytes of all since the last one to the
 * journal at once and hands the spans to the shards; frames must stay in place until then. After a commit, at the
 * latest at the end of a round of the event loop: intake_finish(), which syncs the journal when the replies promise
 * that, and only then writes the replies. */
#pragma once

#include "common/model/mask.h"
#include "common/pack/pack.h"
#include "common/wire/message.h"
#include "receiver/journal/journal.h"
#include "receiver/secure/name_owners.h"
#include "receiver/secure/quota.h"
#include "receiver/shared/accounts.h"
#include "receiver/shared/admission.h"
#include "receiver/shared/counters.h"
#include "receiver/shared/senders.h"
#include "receiver/traces/recorder.h"
#include "receiver/traces/shard.h"

/* What TRY_LATER asks for: while shards work off what they have, and while something needs an operator. */
#define INTAKE_WAIT_QUEUES_MS 50
#define INTAKE_WAIT_SHUT_MS   1000
#define INTAKE_WAIT_DENIED_MS 10000
/* Who has sent so much that it would wait for longer tries again all the same, and is told again. */
#define INTAKE_WAIT_QUOTA_MAX_MS 60000

/* A text that outlives who reads it, replaced by a reload. Any thread. */
typedef const char *_Atomic SharedText;

typedef struct IntakeOptions {
    const NamingRules *rules;
    Dict *dict;
    Shard *const *shards;
    guint n_shards;
    Recorder *recorder; /* of records of Spark; NULL: they are not taken */
    Journal *journal;   /* NULL: ack = memory */
    gboolean sync;      /* ack = fsync */
    Admission *admission;
    Senders *senders;
    Accounts *accounts;
    NameOwners *owners;         /* of names of servers; NULL: they are not judged */
    const Mask *mask;           /* what comes is masked before anything is kept; NULL: none */
    const SharedText *sampling; /* the policy of each reply; empty: none */
} IntakeOptions;

typedef struct Intake Intake;
Intake *intake_new(const IntakeOptions *options, Counters *counters);
void intake_free(Intake *intake);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Intake, intake_free)

typedef enum {
    PRESSURE_NONE,
    PRESSURE_QUEUES, /* shards have enough to do: milliseconds */
    PRESSURE_SHUT,   /* admission is shut: seconds and more */
} Pressure;
Pressure intake_pressure(const Intake *intake);

typedef enum {
    INTAKE_TAKEN,  /* taken or refused: an answer will be in 'out' after intake_finish() */
    INTAKE_LATER,  /* the same, but the answer is TRY_LATER: the peer should not be read from for a while */
    INTAKE_BROKEN, /* not a Thrift call: count it and close the connection */
} IntakeResult;
/* What may be added to the dictionary by the sender of the frames from now on; NULL: whatever there is place for. */
void intake_set_limit(Intake *intake, const PackLimit *limit);
/* May the sender of the frames from now on send spans? Until then: yes. If not, it is told to try later, so that
 * nothing is lost while somebody mends the rules. */
void intake_set_allowed(Intake *intake, gboolean allowed);
/* Whose quota the frames from now on count to, which outlives their answers; NULL: nobody's. */
void intake_set_quota(Intake *intake, QuotaAccount *account);
/* Who sends the frames from now on, by whom names of servers are judged; its texts outlive the next calls. NULL, and
 * until then: they are not. */
void intake_set_source(Intake *intake, const SpanSource *source);
/* After INTAKE_LATER: for so long its peer should not be read from. */
gint32 intake_pause_ms(const Intake *intake);
/* 'out' must live until intake_finish(). */
IntakeResult intake_frame(Intake *intake, Bytes frame, GByteArray *out);
/* The same for a request of HRPC (wire/htraced/hrpc.h), which is committed at once. TAKEN or LATER. */
IntakeResult intake_hrpc(Intake *intake, Bytes request, GByteArray *out);
/* The same for a batch that came in another form than a frame (OTLP): the journal gets it as a frame, and it is
 * committed at once. Its answer is in *reply after intake_finish(). LATER or TAKEN. */
IntakeResult intake_batch(Intake *intake, SpanBatch *batch, WireReply *reply);
/* The same for a few records, which are taken over. */
IntakeResult intake_records(Intake *intake, SparkRecords *records, WireReply *reply);
/* Bytes packed and not yet committed: commit early when they grow large. */
gsize intake_pending_bytes(const Intake *intake);
/* FALSE: the journal could not be written; what was taken since the last commit will be answered TRY_LATER. */
gboolean intake_commit(Intake *intake);
void intake_finish(Intake *intake);
/* Does intake_finish() wait for the disk? */
gboolean intake_syncs(const Intake *intake);

/* Recovery: hands the spans of a frame that the journal holds in 'segment' to the shards, without reply and without
 * looking at admission. *spans is how many. Errors: INPUT, LIMIT (a frame that was refused when it came), NO_SPACE, IO.
 */
gboolean intake_replay(Intake *intake, Bytes frame, JournalSegment *segment, guint32 *spans, GError **error);
