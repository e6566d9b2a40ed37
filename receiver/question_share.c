#include "receiver/question_share.h"

void question_share_init(QuestionShare *share, double processors, gint64 now_ns) {
    *share = (QuestionShare){processors, (double)QUESTION_SAVED_NS, now_ns};
}

gboolean question_share_allows(QuestionShare *share, gboolean spans_wait, gint64 now_ns) {
    double earned_ns = (double)(now_ns - share->filled_ns) * share->processors;
    share->saved_ns = MIN(share->saved_ns + earned_ns, (double)QUESTION_SAVED_NS);
    share->filled_ns = now_ns;
    return !spans_wait || share->saved_ns > 0;
}

void question_share_spend(QuestionShare *share, gboolean spans_wait, gint64 cpu_ns) {
    if (!spans_wait) return;
    share->saved_ns = MAX(share->saved_ns - (double)cpu_ns, -(double)QUESTION_WAIT_NS * share->processors);
}
