/* The spans of one trace in little memory: what their columns need, and who calls whom.
 *
 * A trace is read part by part; of each span 40 bytes stay, its names as the number of a kind (function and process).
 * When all are there they are joined by their ids, as tree.h says of call trees, so rows are in the order of the
 * question "trace": pre-order, children by begin, then id. With the table of ids that is 50 bytes a span; the columns
 * of an answer come on top, when the table is gone. Of spans with one id the first that was read is kept. */
#pragma once

#include "analyzer/calltree/tree.h"
#include "analyzer/query/shared/question.h"

/* As many spans at most are in one answer; of a larger trace some of its parts. */
#define CALLS_MAX_SPANS 4000000u
/* And the times of as many notes. */
#define CALLS_MAX_NOTES 100000u

/* Of a row. The first four are NodeFlags. */
typedef enum {
    CALL_MILLISECONDS = 1 << 4, /* its times were counted in milliseconds */
    CALL_NOTES = 1 << 5,        /* it has notes */
    /* while calls are joined */
    CALL_FOREIGN = 1 << 6, /* its first parent is of another trace */
    CALL_FOUND = 1 << 7,   /* has what is looked for */
    CALL_DROPPED = 1 << 8, /* the same id was there before */
    CALL_MISSING = 1 << 9, /* no span: stands for a missing parent */
    CALL_ROOT = 1 << 10,   /* says that it has no parents */
} CallFlags;
#define CALL_ROW_FLAGS 0x3fu

typedef struct Call {
    guint64 id;
    gint64 begin_ns, duration_ns;
    union {
        guint64 parent_id; /* until they are joined */
        struct {
            guint32 parent, next; /* slots; 0: the trace, or none */
        };
    };
    guint32 first; /* child; while a walk goes on, the number of its row, counted from 1 */
    guint32 kind : 21, flags : 11;
} Call;

G_STATIC_ASSERT(sizeof(Call) == 40);

/* How many kinds there may be: more than functions and processes of any trace that was meant. */
#define CALLS_MAX_KINDS (1u << 21)

typedef struct CallKind {
    guint32 name, tracer; /* dictionary ids */
    guint64 needed;       /* hash of the annotations that times are computed from; 0: none, or nobody asked for times */
    SpanRec *span;        /* with these only */
    gboolean found;       /* function or process has what is looked for */
} CallKind;

typedef struct CallCounts {
    guint32 spans, orphans, cycles, duplicates, missing, roots;
} CallCounts;

/* A further parent of a call that names several. */
typedef struct OtherParent {
    guint32 slot;
    SpanId id;
} OtherParent;

/* When a note was written. */
typedef struct CallNote {
    guint32 slot;
    guint32 row;     /* counted from 1; 0: not known yet, or the span is none */
    gint64 after_ns; /* the begin of its call */
} CallNote;

typedef struct Calls {
    Archive *archive;
    guint64 trace_id;
    Call *calls; /* slot 0 is the trace; spans, then what stands for missing parents */
    guint32 n, room;
    GArray *kinds;  /* CallKind */
    GArray *others; /* OtherParent, by slot, in the order of the call */
    GArray *notes;  /* CallNote, by slot */
    gboolean more_notes;
    json_t *tasks; /* of Spark, which the trace says itself that it is of */
    CallCounts counts;
    gint64 begin_ns, end_ns; /* least begin and greatest end */
    guint parts, first_part, loaded;
    gboolean waiting; /* late spans are left out */
    gsize charged;
} Calls;

typedef struct CallsAsked {
    guint64 trace_id;
    guint first_part; /* counted from 0 */
    gboolean times;   /* kinds have what times are computed from */
    const char *find; /* in lower case; NULL: nothing is looked for */
    gsize row_bytes;  /* what will be made of each */
    guint notes_max;  /* times of notes that are kept; 0: none is */
} CallsAsked;

/* "id" and "part" of a question. */
gboolean calls_asked_read(const Asked *asked, CallsAsked *wanted, GError **error);
/* Reads and joins. NULL: NOT_FOUND, INPUT (no such part), LIMIT. */
Calls *calls_load(const Asked *asked, const CallsAsked *wanted, GError **error);
void calls_free(Calls *calls);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Calls, calls_free)

/* Goes over the spans in the order of rows. parent: row, or -1. Once only: it uses up links and ids. tree: NULL, or one
 * of calls_tree_new(), which gets a node for each. */
typedef void (*CallsRow)(void *arg, guint32 row, const Call *call, gint32 parent);
typedef struct CallsWalk {
    CallsRow row;
    void *arg;
    CallTree *tree;
} CallsWalk;
gboolean calls_each(Calls *calls, const CallsWalk *walk, GError **error);

/* A tree without records: what times are computed from (calls loaded with 'times'). 33 bytes a span, which the caller
 * charges. Spans of its nodes belong to 'calls'. */
CallTree *calls_tree_new(const Calls *calls);
#define CALLS_TREE_BYTES 33u

/* After calls_each(): nothing but names, kinds and counts are needed any more. */
void calls_drop_links(Calls *calls);

/* "trace", "parts" and what else answers about a trace's calls have in common. */
void calls_add_head(const Calls *calls, json_t *answer);

/* Steps of calls_load(). */
gboolean calls_join(Calls *calls, GError **error);
guint32 calls_add(Calls *calls); /* a slot, zeroed */
/* Counts to the question until calls_free(). */
void calls_charge(Calls *calls, gsize bytes);

static inline gint64 call_end_ns(const Call *call) {
    gint64 end_ns;
    if (call->duration_ns <= 0) return call->begin_ns;
    return __builtin_add_overflow(call->begin_ns, call->duration_ns, &end_ns) ? G_MAXINT64 : end_ns;
}
