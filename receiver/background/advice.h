/* What senders are told to sample with `senders.sampling = auto`: everything as long as the receiver keeps up; so many
 * calls a second of each root function, ever fewer, while it does not; and step by step back. A rate treats rare and
 * frequent functions alike, so that the rare ones are not the first to go. */
#pragma once

#include <glib.h>

#define ADVICE_AUTO  "auto"   /* the setting */
#define ADVICE_FIRST "always" /* what it begins with */
/* Between two steps down, and, without any pressure, up. */
#define ADVICE_TIGHTEN_NS G_GINT64_CONSTANT(2000000000)
#define ADVICE_RELAX_NS   G_GINT64_CONSTANT(30000000000)

typedef struct AdviceInput {
    double spans_per_s;
    guint64 budget;         /* spans a second; 0: none */
    guint64 queued_bytes;   /* on their way to shards */
    guint64 queue_bytes;    /* most that may be */
    guint64 try_later;      /* batches that were told to wait, in all */
    gboolean space_is_thin; /* traces are being thinned out */
} AdviceInput;

typedef struct Advice {
    guint step; /* 0: everything */
    gint64 changed_ns, pressed_ns;
    guint64 try_later;
} Advice;

/* Once a second or so. The policy senders are to be told, static. */
const char *advice_next(Advice *advice, const AdviceInput *input, gint64 now_ns);
/* What presses, for people; NULL: nothing. Static. */
const char *advice_pressure(const Advice *advice, const AdviceInput *input);
