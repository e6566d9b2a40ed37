#include "analyzer/load/plan/targets.h"

#include "analyzer/load/plan/portable.h"

#define NS_PER_SECOND G_GINT64_CONSTANT(1000000000)
/* Any file of this age counts as written, without a model of ages. */
#define AGE_LEAST_NS (5 * NS_PER_SECOND)
/* Abad and others, IISWC 2012: 90 % of deletions are of files of this age. */
#define AGE_FROM_NS  (22 * 60 * NS_PER_SECOND)
#define AGE_TO_NS    (75 * 60 * NS_PER_SECOND)
#define AGE_IN_RANGE 0.9
/* Theirs: 79 to 85 % of opens go to files of the last day, which have 2 % of the bytes. */
#define RECENT_OPENS 0.82
#define RECENT_BYTES 0.02

typedef struct Written {
    guint64 file;
    gint64 due_ns;
    guint next; /* itself while it is there; else a later one, on the way to the next that is there */
} Written;

struct Targets {
    const LoadModel *model;
    guint64 n;
    gint64 *size_bytes;
    double *popularity; /* sums over the files up to each; NULL: all alike */
    guint64 n_cut;
    GArray *written;
};

static gint compare_sizes(gconstpointer a, gconstpointer b) {
    const gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return x < y ? -1 : x > y;
}

static void shuffle(gint64 *sizes, guint64 n, Draws *draws) {
    for (guint64 i = n; i > 1; i--) {
        const guint64 j = draw_below(draws, DRAW_POPULATION, i);
        const gint64 kept = sizes[i - 1];
        sizes[i - 1] = sizes[j];
        sizes[j] = kept;
    }
}

/* The files that most opens go to are the first, by popularity. They get such sizes, neighbours in order of size, that
 * they have a small part of the bytes. */
static void place_recent(Targets *targets, Draws *draws) {
    const guint64 n = targets->n;
    guint64 n_recent = 0;
    while (n_recent < n && targets->popularity[n_recent] < RECENT_OPENS * targets->popularity[n - 1]) n_recent++;
    qsort(targets->size_bytes, n, sizeof(gint64), compare_sizes);

    double all = 0, window = 0;
    for (guint64 i = 0; i < n; i++) all += (double)targets->size_bytes[i];
    for (guint64 i = 0; i < n_recent; i++) window += (double)targets->size_bytes[i];
    guint64 from = 0;
    for (; from + n_recent < n; from++) {
        const double next = window + (double)targets->size_bytes[from + n_recent] - (double)targets->size_bytes[from];
        if (next > RECENT_BYTES * all) break;
        window = next;
    }

    g_autofree gint64 *placed = g_new(gint64, n);
    for (guint64 i = 0; i < n; i++) {
        const guint64 place = i < from ? n_recent + i : i < from + n_recent ? i - from : i;
        placed[place] = targets->size_bytes[i];
    }
    memcpy(targets->size_bytes, placed, n * sizeof(gint64));
    shuffle(targets->size_bytes, n_recent, draws);
    shuffle(targets->size_bytes + n_recent, n - n_recent, draws);
}

Targets *targets_new(const LoadModel *model, Draws *draws) {
    Targets *targets = g_new0(Targets, 1);
    targets->model = model;
    targets->n = model->files;
    targets->size_bytes = g_new(gint64, targets->n);
    targets->written = g_array_new(FALSE, FALSE, sizeof(Written));

    for (guint64 i = 0; i < targets->n; i++) {
        const gint64 drawn = draw_file_bytes(draws);
        targets->n_cut += drawn > model->max_file_bytes;
        targets->size_bytes[i] = MIN(drawn, model->max_file_bytes);
    }

    if (model->zipf > 0) {
        double sum = 0;
        targets->popularity = g_new(double, targets->n);
        for (guint64 i = 0; i < targets->n; i++)
            targets->popularity[i] = sum += portable_power((double)(i + 1), -model->zipf);
        if (model->recent) place_recent(targets, draws);
    }
    return targets;
}

void targets_free(Targets *targets) {
    if (targets == NULL) return;
    g_free(targets->size_bytes);
    g_free(targets->popularity);
    g_array_unref(targets->written);
    g_free(targets);
}

guint64 targets_files(const Targets *targets) { return targets->n; }
gint64 targets_file_bytes(const Targets *targets, guint64 file) { return targets->size_bytes[file]; }
guint64 targets_cut(const Targets *targets) { return targets->n_cut; }

guint64 targets_pick(const Targets *targets, Draws *draws) {
    if (targets->popularity == NULL) return draw_below(draws, DRAW_FILE, targets->n);
    const double at = draw_uniform(draws, DRAW_FILE) * targets->popularity[targets->n - 1];
    guint64 low = 0, high = targets->n - 1;
    while (low < high) {
        const guint64 middle = low + (high - low) / 2;
        if (targets->popularity[middle] < at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void targets_written(Targets *targets, guint64 file, gint64 due_ns) {
    const Written written = {file, due_ns, targets->written->len};
    g_array_append_val(targets->written, written);
}

static Written *written_at(const Targets *targets, guint i) { return &g_array_index(targets->written, Written, i); }

/* The first of those from i on that is still there; len when there is none. Shortens the way for the next time. */
static guint still_there(const Targets *targets, guint i) {
    const guint len = targets->written->len;
    guint at = i;
    while (at < len && written_at(targets, at)->next != at) at = written_at(targets, at)->next;
    while (i < len && i != at) {
        const guint next = written_at(targets, i)->next;
        written_at(targets, i)->next = at;
        i = next;
    }
    return at;
}

/* The first that was written at this time or later. */
static guint first_since(const Targets *targets, gint64 since_ns) {
    guint low = 0, high = targets->written->len;
    while (low < high) {
        const guint middle = low + (high - low) / 2;
        if (written_at(targets, middle)->due_ns < since_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

gboolean targets_take_old(Targets *targets, Draws *draws, gint64 due_ns, guint64 *file) {
    gint64 since_ns = 0, until_ns = due_ns - AGE_LEAST_NS;
    const double compress = targets->model->compress;
    if (compress > 0 && draw_uniform(draws, DRAW_AGE) < AGE_IN_RANGE) {
        since_ns = due_ns - (gint64)((double)AGE_TO_NS / compress);
        until_ns = due_ns - (gint64)((double)AGE_FROM_NS / compress);
    }
    const guint from = first_since(targets, since_ns), to = first_since(targets, until_ns + 1);
    if (from >= to) return FALSE;

    /* Any place among them, then the next that is there; past the last it begins anew. */
    const guint start = from + (guint)draw_below(draws, DRAW_AGE, to - from);
    guint at = still_there(targets, start);
    if (at >= to) at = still_there(targets, from);
    if (at >= to) return FALSE;
    *file = written_at(targets, at)->file;
    written_at(targets, at)->next = at + 1;
    return TRUE;
}
