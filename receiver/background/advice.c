#include "receiver/background/advice.h"

static const char *const steps[] = {ADVICE_FIRST, "50/s", "20/s",  "10/s",  "5/s",
                                    "2/s",        "1/s",  "0.5/s", "0.2/s", "0.1/s"};

const char *advice_pressure(const Advice *advice, const AdviceInput *input) {
    if (input->budget > 0 && input->spans_per_s > (double)input->budget) return "more spans a second than senders.rate";
    if (input->queued_bytes > input->queue_bytes / 2) return "shards do not keep up";
    if (input->try_later > advice->try_later) return "senders are told to wait";
    return input->space_is_thin ? "less space than store.thin-free" : NULL;
}

/* Nearly too much is no reason to ask for more. */
static gboolean is_calm(const AdviceInput *input) {
    return (input->budget == 0 || input->spans_per_s < (double)input->budget * 0.7) &&
           input->queued_bytes < input->queue_bytes / 8;
}

const char *advice_next(Advice *advice, const AdviceInput *input, gint64 now_ns) {
    gboolean pressed = advice_pressure(advice, input) != NULL;
    advice->try_later = input->try_later;
    if (pressed || !is_calm(input)) advice->pressed_ns = now_ns;
    gint64 since_change_ns = now_ns - advice->changed_ns;
    if (pressed && advice->step + 1 < G_N_ELEMENTS(steps) &&
        (advice->changed_ns == 0 || since_change_ns >= ADVICE_TIGHTEN_NS)) {
        advice->step++;
        advice->changed_ns = now_ns;
    } else if (advice->step > 0 && now_ns - advice->pressed_ns >= ADVICE_RELAX_NS &&
               since_change_ns >= ADVICE_RELAX_NS) {
        advice->step--;
        advice->changed_ns = now_ns;
    }
    return steps[advice->step];
}
