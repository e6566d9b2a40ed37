#include "analyzer/diagnosis/nodes/failing.h"

#include <math.h>
#include <string.h>

#include "analyzer/diagnosis/nodes/binomial.h"
#include "analyzer/diagnosis/order.h"
#include "common/base/allowance.h"

/* Of finding out which nodes are like most. */
#define POOL_ROUNDS 3u

/* ---- how often calls fail ---- */

FailedShare *failed_shares(const NodeGrid *grid, guint32 since) {
    FailedShare *shares = g_new0(FailedShare, MAX((gsize)WORK_CLASSES * grid->n_nodes, 1));
    for (guint32 i = 0; i < grid_size(grid) && allowance_goes_on(); i++) {
        const Observation *observation = grid_at(grid, i);
        if (observation->window < since) continue;
        shares[(gsize)grid_class(grid, observation->job) * grid->n_nodes + observation->node].calls +=
            observation->calls;
    }
    for (guint i = 0; i < grid->failures->len && allowance_goes_on(); i++) {
        const Failures *failures = &g_array_index(grid->failures, Failures, i);
        FailedShare *share = &shares[(gsize)failures->class * grid->n_nodes + failures->node];
        if (failures->window < since) continue;
        share->calls += failures->left_out;
        share->failed += failures->failed;
    }
    return shares;
}

/* ---- windows ---- */

/* Of a node's class in a window: of the function of which most calls failed, or of which there are most. */
typedef struct Cell {
    guint32 calls, failed;
    guint64 what;
} Cell;

/* Windows of a node's class that are put together until they have CLASS_CALLS_LEAST calls. */
typedef struct FailingWindow {
    guint32 first, last;
    guint32 calls, failed;
    guint32 most; /* that failed in one window: of 'what' */
    guint64 what;
    double peers;    /* would have failed as often as those of peers, */
    double expected; /* and as many as nobody can rule out */
    gboolean bad;
} FailingWindow;

typedef struct Track {
    FailingWindow pending; /* calls 0: none */
    GArray *windows;       /* FailingWindow; NULL: no call ever failed, so nothing is judged */
} Track;

typedef struct Watch {
    const NodeGrid *grid;
    Cell *cells;                 /* of the window at hand: by watched class, then node */
    Track *tracks;               /* the same */
    guint n_watched;             /* classes of which a call failed */
    guint watched[WORK_CLASSES]; /* 1 + the number of the class among these; 0: it is none */
    OrderItem *shares, *scratch;
    gsize charged; /* to the question */
} Watch;

static gsize watch_places(const Watch *watch) { return (gsize)watch->n_watched * watch->grid->n_nodes; }

/* Of a class that is watched. */
static gsize place_of(const Watch *watch, WorkClass class, guint32 node) {
    return (gsize)(watch->watched[class] - 1) * watch->grid->n_nodes + node;
}

static void find_watched(Watch *watch, guint32 since) {
    const NodeGrid *grid = watch->grid;
    for (guint i = 0; i < grid->failures->len && allowance_goes_on(); i++) {
        const Failures *failures = &g_array_index(grid->failures, Failures, i);
        if (failures->window < since || watch->watched[failures->class] > 0) continue;
        watch->watched[failures->class] = ++watch->n_watched;
    }
}

/* FALSE: it must not go on. */
static gboolean watch_init(Watch *watch, guint32 since) {
    const NodeGrid *grid = watch->grid;
    find_watched(watch, since);
    const gsize places = watch_places(watch);
    allowance_hold(&watch->charged, places * (sizeof(Cell) + sizeof(Track)) + grid->n_nodes * 2 * sizeof(OrderItem));
    if (!allowance_goes_on()) return FALSE;

    watch->cells = g_new0(Cell, MAX(places, 1));
    watch->tracks = g_new0(Track, MAX(places, 1));
    watch->shares = g_new(OrderItem, MAX(grid->n_nodes, 1));
    watch->scratch = g_new(OrderItem, MAX(grid->n_nodes, 1));
    for (guint i = 0; i < grid->failures->len && allowance_goes_on(); i++) {
        const Failures *failures = &g_array_index(grid->failures, Failures, i);
        if (failures->window < since) continue;
        Track *track = &watch->tracks[place_of(watch, failures->class, failures->node)];
        if (!track->windows) track->windows = g_array_new(FALSE, FALSE, sizeof(FailingWindow));
    }
    return TRUE;
}

static void watch_clear(Watch *watch) {
    for (gsize i = 0; watch->tracks && i < watch_places(watch); i++)
        if (watch->tracks[i].windows) g_array_unref(watch->tracks[i].windows);
    allowance_release(watch->charged);
    g_free(watch->cells);
    g_free(watch->tracks);
    g_free(watch->shares);
    g_free(watch->scratch);
}

static gboolean is_bad(const FailingWindow *window) {
    const double failed = window->failed, chance = window->expected / window->calls;
    return failed >= FAILING_LEAST * window->calls && failed >= FAILING_TIMES * window->expected &&
           binomial_tail(window->calls, window->failed, chance) <= FAILING_CHANCE;
}

/* What the other nodes say of a share. */
typedef struct PeersShare {
    double usual, least;
} PeersShare;

/* A node's calls of a window. */
static void track_add(Watch *watch, Track *track, guint32 window, const Cell *cell, PeersShare share) {
    const NodeGrid *grid = watch->grid;
    FailingWindow *pending = &track->pending;
    if (pending->calls == 0) *pending = (FailingWindow){.first = window, .what = cell->what};
    pending->last = window;
    pending->calls += cell->calls;
    pending->failed += cell->failed;
    pending->peers += share.usual * cell->calls;
    pending->expected += MAX(share.usual, share.least) * cell->calls;
    if (cell->failed > pending->most) {
        pending->most = cell->failed;
        pending->what = cell->what;
    }

    const gint64 length_ns = grid_window_ns(grid, window) - grid_window_ns(grid, pending->first) + grid->window_ns;
    if (pending->calls < CLASS_CALLS_LEAST && length_ns < CLASS_WINDOW_MAX_NS) return;
    if (pending->calls >= CLASS_CALLS_LEAST) {
        pending->bad = is_bad(pending);
        g_array_append_vals(track->windows, pending, 1);
        allowance_hold(&watch->charged, watch->charged + sizeof *pending);
    }
    pending->calls = 0;
}

/* The nodes that are like most: those whose failed calls are no rarity by the share of all of them. */
typedef struct Pool {
    guint64 calls, failed;
    double share; /* of them; at first the median of all nodes */
} Pool;

static gboolean is_like(const Cell *cell, const Pool *pool) {
    return cell->failed <= pool->share * cell->calls ||
           binomial_tail(cell->calls, cell->failed, pool->share) > FAILING_CHANCE;
}

/* So rare that nobody has seen it in so many calls. */
static double least_share(guint64 calls) { return 1 / ((double)calls + 2); }

/* shares: of all nodes with calls, sorted. */
static Pool find_pool(const Cell *cells, const OrderItem *shares, guint32 n) {
    Pool pool = {.share = n > 0 ? shares[(n - 1) / 2].value : 0};
    for (guint32 k = 0; k < n; k++) pool.calls += cells[shares[k].index].calls;
    for (guint round = 0; round < POOL_ROUNDS; round++) {
        const Pool before = {.share = MAX(pool.share, least_share(pool.calls))};
        pool = (Pool){0, 0, 0};
        for (guint32 k = 0; k < n && allowance_goes_on(); k++) {
            const Cell *cell = &cells[shares[k].index];
            if (!is_like(cell, &before)) continue;
            pool.calls += cell->calls;
            pool.failed += cell->failed;
        }
        pool.share = pool.calls > 0 ? (double)pool.failed / (double)pool.calls : before.share;
    }
    return pool;
}

/* What the others of the pool say. */
static PeersShare peers_share(const Pool *pool, const Cell *cell) {
    const Pool all = {.share = MAX(pool->share, least_share(pool->calls))};
    const gboolean own = is_like(cell, &all) && pool->calls >= cell->calls && pool->failed >= cell->failed;
    const guint64 calls = pool->calls - (own ? cell->calls : 0), failed = pool->failed - (own ? cell->failed : 0);
    return (PeersShare){calls > 0 ? (double)failed / (double)calls : 0, least_share(calls)};
}

/* Judges the nodes of one class in a window, and forgets it. */
static void class_end(Watch *watch, WorkClass class, guint32 window) {
    const NodeGrid *grid = watch->grid;
    Cell *cells = &watch->cells[place_of(watch, class, 0)];
    Track *tracks = &watch->tracks[place_of(watch, class, 0)];
    guint32 n = 0;
    for (guint32 node = 0; node < grid->n_nodes; node++)
        if (cells[node].calls > 0)
            watch->shares[n++] = (OrderItem){(double)cells[node].failed / cells[node].calls, node};

    order_sort(watch->shares, watch->scratch, n);
    const Pool pool = find_pool(cells, watch->shares, n);
    for (guint32 k = 0; k < n && n >= POLISH_PEERS && allowance_goes_on(); k++) {
        const guint32 node = watch->shares[k].index;
        if (tracks[node].windows)
            track_add(watch, &tracks[node], window, &cells[node], peers_share(&pool, &cells[node]));
    }
    for (guint32 node = 0; node < grid->n_nodes; node++) cells[node] = (Cell){0, 0, 0};
}

/* Observations and failures are in the order of their windows. */
static void watch_windows(Watch *watch, guint32 since) {
    const NodeGrid *grid = watch->grid;
    guint32 i = 0;
    guint f = 0;
    for (guint32 window = 0; window < grid->n_windows && allowance_goes_on(); window++) {
        for (; i < grid_size(grid) && grid_at(grid, i)->window == window; i++) {
            const Observation *observation = grid_at(grid, i);
            const WorkClass class = grid_class(grid, observation->job);
            if (watch->watched[class] == 0) continue;
            Cell *cell = &watch->cells[place_of(watch, class, observation->node)];
            cell->calls = MAX(cell->calls, observation->calls);
        }
        for (; f < grid->failures->len; f++) {
            const Failures *failures = &g_array_index(grid->failures, Failures, f);
            if (failures->window != window) break;
            if (watch->watched[failures->class] == 0) continue;
            Cell *cell = &watch->cells[place_of(watch, failures->class, failures->node)];
            if (failures->failed > cell->failed) *cell = (Cell){failures->calls, failures->failed, failures->what};
        }
        for (guint class = 0; class < WORK_CLASSES; class ++)
            if (watch->watched[class] > 0 && window >= since) class_end(watch, (WorkClass) class, window);
        if (window < since) memset(watch->cells, 0, watch_places(watch) * sizeof *watch->cells);
    }
}

/* ---- spells ---- */

static void failing_add(Failing *failing, const FailingWindow *window) {
    if (!window->bad) return;
    failing->last = window->last;
    failing->calls += window->calls;
    failing->failed += window->failed;
    failing->peers += window->peers;
    if (window->failed <= failing->worst_failed) return;
    failing->worst_failed = window->failed;
    failing->worst = window->last;
    failing->what = window->what;
}

static void find_spells(const GArray *windows, WorkClass class, guint32 node, GArray *found) {
    const FailingWindow *all = (const FailingWindow *)(gconstpointer)windows->data;
    SpellRun run = {.ill = FALSE};
    for (guint i = 0; i < windows->len; i++) {
        const gboolean ended = spell_run_ends(&run, i, all[i].bad), open = run.ill && i + 1 == windows->len;
        if (!ended && !open) continue;
        Failing failing = {.class = class, .node = node, .first = all[run.from].first, .open = open};
        for (guint k = run.from; k <= run.last_bad; k++) failing_add(&failing, &all[k]);
        g_array_append_val(found, failing);
    }
}

static gint by_failed(gconstpointer left, gconstpointer right) {
    const Failing *a = left, *b = right;
    if (a->open != b->open) return a->open ? -1 : 1;
    if (a->failed != b->failed) return a->failed > b->failed ? -1 : 1;
    if (a->node != b->node) return a->node < b->node ? -1 : 1;
    return (a->class > b->class) - (a->class < b->class);
}

GArray *failing_find(const NodeGrid *grid, guint32 since) {
    GArray *found = g_array_new(FALSE, FALSE, sizeof(Failing));
    if (grid->failures->len == 0) return found;
    Watch watch = {.grid = grid};
    if (watch_init(&watch, since)) watch_windows(&watch, since);
    for (guint class = 0; watch.tracks && class < WORK_CLASSES; class ++) {
        for (guint32 node = 0; watch.watched[class] > 0 && node < grid->n_nodes && allowance_goes_on(); node++) {
            const Track *track = &watch.tracks[place_of(&watch, (WorkClass) class, node)];
            if (track->windows) find_spells(track->windows, (WorkClass) class, node, found);
        }
    }
    watch_clear(&watch);
    g_array_sort(found, by_failed);
    return found;
}
