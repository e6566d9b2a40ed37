/* What questions get of the processors while spans wait for shards: a small share, so that readers cannot keep spans
 * from being taken. Some of it is saved up, so who asks once in a while does not wait. Without spans that wait,
 * questions get all they want. The lock is the caller's. */
#pragma once

#include <glib.h>

/* Of processors' time: so much may be saved. */
#define QUESTION_SAVED_NS G_GINT64_CONSTANT(250000000)
/* However dear a question was, the next one waits no longer. */
#define QUESTION_WAIT_NS G_GINT64_CONSTANT(10000000000)

typedef struct QuestionShare {
    double processors; /* that questions may have while spans wait: 0.2 is a fifth of one */
    double saved_ns;   /* of processors' time; below 0: was used before its time */
    gint64 filled_ns;
} QuestionShare;

/* now_ns: monotonic, as everywhere here. */
void question_share_init(QuestionShare *share, double processors, gint64 now_ns);
/* Whether the next question may begin, or a long one go on. */
gboolean question_share_allows(QuestionShare *share, gboolean spans_wait, gint64 now_ns);
/* What was used meanwhile; costs nothing where no spans wait. */
void question_share_spend(QuestionShare *share, gboolean spans_wait, gint64 cpu_ns);
