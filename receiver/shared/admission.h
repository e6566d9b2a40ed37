/* Whether plumbd takes spans, and if not, why. Whoever finds a reason shuts admission for it and opens it again when
 * the reason is gone; network threads look before each frame, /readyz shows the reasons. Any thread. */
#pragma once

#include <glib.h>

typedef enum {
    ADMISSION_STARTING,
    ADMISSION_STOPPING,
    ADMISSION_STORE_FAILS, /* a shard cannot write its traces */
    ADMISSION_STORE_FLUSH, /* it cannot write out its memory */
    ADMISSION_STORE_SPACE, /* less free space than store.min-free */
    ADMISSION_JOURNAL_FAILS,
    ADMISSION_JOURNAL_FULL, /* journal.limit reached while the store does not take what is in it */
    ADMISSION_REASONS
} AdmissionReason;

typedef struct Admission Admission;
Admission *admission_new(void);
void admission_free(Admission *admission);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Admission, admission_free)

/* 'why' is for people and names the remedy; the latest is kept.
 * Counted, for reasons that several may find (shards): it is gone when each that shut has opened again. */
void admission_shut(Admission *admission, AdmissionReason reason, const char *why);
void admission_open(Admission *admission, AdmissionReason reason);
/* A new text for a reason that is shut already. */
void admission_explain(Admission *admission, AdmissionReason reason, const char *why);
/* Uncounted, for all other reasons: shut with this text, or open when it is NULL. TRUE when that changed anything but
 * the text. */
gboolean admission_set(Admission *admission, AdmissionReason reason, const char *why);

/* Cheap: one atomic load. */
gboolean admission_is_open(Admission *admission);
gboolean admission_is_shut_for(Admission *admission, AdmissionReason reason);
/* All reasons in one text, to be freed; NULL when open. */
char *admission_describe(Admission *admission);
