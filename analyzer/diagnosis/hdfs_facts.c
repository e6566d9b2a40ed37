#include "analyzer/diagnosis/hdfs_facts.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/calltree/interval.h"
#include "common/base/allowance.h"

/* Lists of calls that run now and have none of their side (clients, servers) below them: servers' by who is waited for
 * first, the last of these lists first, with the handshakes of a client's other threads; and those of the task's thread
 * in the client. */
enum { LIST_WAITING, LIST_SENDING, LIST_WORKING, LIST_DISK, LIST_CLIENT, LIST_COUNT, LIST_NONE = LIST_COUNT };
enum { SIDE_CLIENT, SIDE_SERVER, SIDE_COUNT };

typedef struct Event {
    gint64 time_ns;
    guint32 node;
    gboolean end;
} Event;

typedef struct Place {
    guint32 before, after;     /* in its list; 0: none, for node 0 is in no list */
    guint32 above[SIDE_COUNT]; /* the nearest listed node of each side above it; 0: none */
    gint64 waited_ns;          /* for pipelines, by this call itself */
    gint64 called_ns;          /* when the last of its calls had ended */
    guint32 below;             /* listed nodes of its side that run and whose nearest one above it is */
    guint8 list;
    gboolean runs;
    gboolean top;     /* a top call */
    gboolean outside; /* nothing but the application's spans above and in it */
    gboolean beside;  /* in a thread of its own, or below such a node */
    gboolean opening; /* asks where a file's blocks are, or is below such a node */
    gboolean late;    /* answers, or is below what answers, when its caller has enough answers without */
    gboolean takes;   /* of a DataNode, in a pipeline that is written to */
    gboolean counted;
} Place;

typedef struct Sweep {
    const CallTree *tree;
    const FactsNode *nodes;
    const gint64 *critical_ns; /* NULL: not known */
    HdfsFacts *facts;
    Place *places;
    gint64 path_ns;           /* of the critical path, at pipelines that are written to */
    gint64 waited_ns;         /* for those */
    guint32 waiter;           /* the call of the client that did so for longest; 0: none */
    guint32 list[LIST_COUNT]; /* first of each */
    guint32 tops;             /* top calls that run */
    guint32 datanode;         /* the last node of a DataNode that a client called */
    GHashTable *of_block;     /* block -> the last node of a DataNode that handled it */
    GHashTable *shares;       /* HdfsShare (its key fields) -> index + 1 */
} Sweep;

const char *hdfs_resource_name(HdfsResource resource) {
    static const char *const names[HDFS_RESOURCE_COUNT] = {"client", "network", "socket", "disk",
                                                           "lock",   "queue",   "server"};
    return names[resource];
}

void hdfs_facts_init(HdfsFacts *facts) {
    memset(facts, 0, sizeof(*facts));
    facts->shares = g_array_new(FALSE, TRUE, sizeof(HdfsShare));
    facts->run_delay_ns = -1;
}

void hdfs_facts_clear(HdfsFacts *facts) {
    if (facts->shares) g_array_unref(facts->shares);
    memset(facts, 0, sizeof(*facts));
}

/* ---- which node is in which list ---- */

static int side_of(const FactsNode *node) {
    gboolean server = node->role == ROLE_NAMENODE || node->role == ROLE_DATANODE || node->role == ROLE_JOURNALNODE;
    return server ? SIDE_SERVER : SIDE_CLIENT;
}

static guint8 server_list(CallClass class) {
    switch (class) {
    case CALL_DISK:
    case CALL_LOCK: return LIST_DISK;
    case CALL_WORK:
    case CALL_QUEUE:
    case CALL_TRANSFER: return LIST_WORKING;
    case CALL_SEND:
    case CALL_MIRROR:
    case CALL_HANDSHAKE: return LIST_SENDING;
    default: return LIST_WAITING;
    }
}

/* Fills the places of root and what is below it, parents first. */
static void find_places(Sweep *sweep, guint32 root) {
    const CallTree *tree = sweep->tree;
    for (guint32 i = root; i < tree->end[root]; i++) {
        const FactsNode *node = &sweep->nodes[i];
        Place *place = &sweep->places[i];
        const Place *up = i == root ? NULL : &sweep->places[tree->parent[i]];

        gboolean application = !tree->span[i] || node->class == CALL_APPLICATION;
        gboolean was_outside = !up || up->outside;
        place->outside = application && was_outside;
        place->beside = node->class == CALL_ASYNC || (up && up->beside);
        place->opening = (node->does & DOES_OPEN) || (up && up->opening);
        if (i != root) {
            Place *caller = &sweep->places[tree->parent[i]];
            caller->called_ns = MAX(caller->called_ns, tree->to_ns[i]);
        }
        place->called_ns = G_MININT64;
        /* A caller that is not known has no end to be later than. */
        const gboolean votes = up && node->does & DOES_VOTE && tree->span[tree->parent[i]] != NULL &&
                               tree->to_ns[i] > tree->to_ns[tree->parent[i]];
        place->late = votes || (up && up->late);
        place->takes = side_of(node) == SIDE_SERVER && ((node->does & DOES_TAKE) || (up && up->takes));
        if (place->takes && sweep->critical_ns) sweep->path_ns += MAX(sweep->critical_ns[i], 0);

        if (application || place->late)
            place->list = LIST_NONE;
        else if (side_of(node) == SIDE_SERVER)
            place->list = server_list(node->class);
        else if (place->beside)
            place->list = node->class == CALL_HANDSHAKE ? server_list(node->class) : LIST_NONE;
        else
            place->list = LIST_CLIENT;
        place->top = place->list == LIST_CLIENT && was_outside;

        for (int side = 0; up && side < SIDE_COUNT; side++) {
            gboolean itself = up->list != LIST_NONE && side_of(&sweep->nodes[tree->parent[i]]) == side;
            place->above[side] = itself ? tree->parent[i] : up->above[side];
            if (side == SIDE_CLIENT && place->beside) place->above[side] = 0; /* nothing of the task's thread */
        }
    }
}

/* ---- shares ---- */

static guint share_hash(gconstpointer data) {
    const HdfsShare *share = data;
    return (share->tracer * 31 + share->name) * 31 + share->resource;
}

static gboolean share_equal(gconstpointer a, gconstpointer b) {
    const HdfsShare *x = a, *y = b;
    return x->tracer == y->tracer && x->name == y->name && x->resource == y->resource && x->role == y->role;
}

static void add_share(Sweep *sweep, guint32 node, const HdfsShare *share) {
    if (share->ns <= 0) return;
    GArray *shares = sweep->facts->shares;
    guint at = GPOINTER_TO_UINT(g_hash_table_lookup(sweep->shares, share));
    if (at == 0) {
        g_array_append_vals(shares, share, 1);
        g_array_index(shares, HdfsShare, shares->len - 1).ns = 0;
        g_hash_table_insert(sweep->shares, g_memdup2(share, sizeof(*share)), GUINT_TO_POINTER(shares->len));
        at = shares->len;
    }
    HdfsShare *known = &g_array_index(shares, HdfsShare, at - 1);
    known->ns += share->ns;
    if (!sweep->places[node].counted) known->calls++;
    sweep->places[node].counted = TRUE;
    sweep->facts->of[share->resource] += share->ns;
    sweep->facts->hdfs_ns += share->ns;
    if (share->role == ROLE_NAMENODE && sweep->places[node].opening) sweep->facts->opening_ns += share->ns;
}

static HdfsShare share_of(const Sweep *sweep, guint32 node, HdfsResource resource, gint64 ns) {
    const SpanRec *span = sweep->tree->span[node];
    return (HdfsShare){span->tracer, span->name, resource, sweep->nodes[node].role, ns, 0};
}

/* The DataNode to which this one passes packets on: its own call's child in another process. 0: unknown. */
static guint32 next_in_pipeline(const Sweep *sweep, guint32 node) {
    const CallTree *tree = sweep->tree;
    const guint32 tracer = tree->span[node]->tracer;
    guint32 own = node;
    while (tree->parent[own] != 0 && tree->span[tree->parent[own]] && tree->span[tree->parent[own]]->tracer == tracer)
        own = tree->parent[own];
    for (guint32 c = own + 1; c < tree->end[own] && allowance_goes_on(); c = tree->end[c]) {
        if (tree->span[c] && tree->span[c]->tracer != tracer && sweep->nodes[c].role == ROLE_DATANODE) return c;
    }
    return 0;
}

/* Time for which the client waited for a server that did something, or for a handshake of its own. */
static void blame_server(Sweep *sweep, guint32 node, gint64 ns) {
    const FactsNode *facts = &sweep->nodes[node];
    HdfsShare share = share_of(sweep, node, side_of(facts) == SIDE_CLIENT ? HDFS_CLIENT : HDFS_SERVER, ns);

    switch (facts->class) {
    case CALL_DISK: share.resource = HDFS_DISK; break;
    case CALL_LOCK: share.resource = HDFS_LOCK; break;
    case CALL_QUEUE: share.resource = HDFS_QUEUE; break;
    case CALL_SEND: share.resource = HDFS_SOCKET; break;
    case CALL_MIRROR: {
        guint32 next = next_in_pipeline(sweep, node);
        share.resource = HDFS_SOCKET;
        if (next) share.tracer = sweep->tree->span[next]->tracer;
        break;
    }
    case CALL_TRANSFER: {
        /* By the proportion of both in the whole call: which came first is not known. */
        double all = (double)facts->socket_ns + (double)facts->transfer_ns;
        HdfsShare socket = share;
        socket.resource = HDFS_SOCKET;
        socket.ns = all > 0 ? (gint64)((double)ns * ((double)facts->socket_ns / all)) : ns;
        share.resource = HDFS_DISK;
        share.ns = ns - socket.ns;
        add_share(sweep, node, &socket);
        break;
    }
    default: break;
    }

    add_share(sweep, node, &share);
}

/* The server on the other side of a client's call that waits while nobody is seen to work. 0: unknown. */
static guint32 other_side(const Sweep *sweep, guint32 node) {
    const CallTree *tree = sweep->tree;
    for (guint32 c = node + 1; c < tree->end[node] && allowance_goes_on(); c = tree->end[c]) {
        /* What a call asked for is its first child. */
        const guint32 called = sweep->nodes[c].class == CALL_ASK && c + 1 < tree->end[c] ? c + 1 : c;
        if (tree->span[called] && side_of(&sweep->nodes[called]) == SIDE_SERVER) return called;
    }
    if (sweep->nodes[node].class == CALL_RPC) return 0;
    for (guint32 at = node; at != 0; at = sweep->places[at].above[SIDE_CLIENT]) {
        gint64 block = (gint64)sweep->nodes[at].block;
        guint32 known = block ? GPOINTER_TO_UINT(g_hash_table_lookup(sweep->of_block, &block)) : 0;
        if (known) return known;
    }
    return sweep->datanode;
}

/* A DataNode that is asked by that call of a client, and has not begun: nobody else is waited for. */
static gboolean is_asked(const Sweep *sweep, guint32 client, guint32 other, gint64 until_ns) {
    const CallTree *tree = sweep->tree;
    return sweep->nodes[client].class == CALL_ASK && other > client && other < tree->end[client] &&
           sweep->nodes[other].role == ROLE_DATANODE && tree->from_ns[other] >= until_ns;
}

/* A DataNode has sent a block: it is on its way to the reader. */
static gboolean is_sent(const Sweep *sweep, guint32 server, gint64 from_ns) {
    const Place *place = &sweep->places[server];
    return sweep->nodes[server].does & DOES_GIVE && sweep->tree->end[server] > server + 1 &&
           place->called_ns <= from_ns;
}

/* Nobody is seen to work: the network's, but for the client's own sleeps. */
static void blame_network(Sweep *sweep, guint32 client, guint32 other, gint64 ns) {
    const gboolean sleeps = sweep->nodes[client].class == CALL_SLEEP;
    HdfsShare share = share_of(sweep, client, sleeps ? HDFS_CLIENT : HDFS_NETWORK, ns);
    if (sleeps) {
        sweep->facts->sleep_ns += MAX(ns, 0);
    } else {
        share.tracer = other ? sweep->tree->span[other]->tracer : 0;
        share.role = other ? sweep->nodes[other].role : ROLE_LOCAL;
    }
    add_share(sweep, client, &share);
}

/* Whom the client waits for; 0: nobody is seen to work. */
static guint32 waited_for(const Sweep *sweep) {
    for (int list = LIST_DISK; list > LIST_WAITING; list--)
        if (sweep->list[list]) return sweep->list[list];
    return 0;
}

/* What a call of the client needs while it runs by itself; HDFS_NETWORK: it waits. */
static HdfsResource own_resource(CallClass class) {
    if (class == CALL_WORK || class == CALL_HANDSHAKE) return HDFS_CLIENT;
    return class == CALL_DISK ? HDFS_DISK : HDFS_NETWORK;
}

static void blame(Sweep *sweep, gint64 from_ns, gint64 until_ns) {
    const gint64 ns = until_ns - from_ns;
    const guint32 client = sweep->list[LIST_CLIENT]; /* a top call at least */
    const HdfsResource own = own_resource(sweep->nodes[client].class);
    if (own != HDFS_NETWORK) {
        const HdfsShare share = share_of(sweep, client, own, ns);
        add_share(sweep, client, &share);
        return;
    }
    const guint32 server = waited_for(sweep);
    const gboolean sends = sweep->path_ns > 0 && (sweep->nodes[client].does & DOES_SEND);
    if (sends && (!server || sweep->places[server].takes)) {
        sweep->waited_ns += ns;
        sweep->places[client].waited_ns += ns;
        if (sweep->places[client].waited_ns > sweep->places[sweep->waiter].waited_ns) sweep->waiter = client;
        return;
    }
    if (server && !is_sent(sweep, server, from_ns)) {
        blame_server(sweep, server, ns);
        return;
    }
    const guint32 other = other_side(sweep, client);
    if (is_asked(sweep, client, other, until_ns))
        blame_server(sweep, other, ns);
    else
        blame_network(sweep, client, other, ns);
}

/* ---- the sweep ---- */

static void list_insert(Sweep *sweep, guint32 node) {
    Place *place = &sweep->places[node];
    guint32 *first = &sweep->list[place->list];
    place->before = 0;
    place->after = *first;
    if (*first) sweep->places[*first].before = node;
    *first = node;
}

static void list_remove(Sweep *sweep, guint32 node) {
    Place *place = &sweep->places[node];
    if (place->before)
        sweep->places[place->before].after = place->after;
    else
        sweep->list[place->list] = place->after;
    if (place->after) sweep->places[place->after].before = place->before;
}

static void begin_node(Sweep *sweep, guint32 node) {
    Place *place = &sweep->places[node];
    const FactsNode *facts = &sweep->nodes[node];
    const guint32 above = place->above[side_of(facts)];
    if (above) {
        Place *over = &sweep->places[above];
        if (over->below++ == 0 && over->runs) list_remove(sweep, above);
    }
    place->runs = TRUE;
    if (place->below == 0) list_insert(sweep, node);
    if (place->top) sweep->tops++;
    if (facts->role != ROLE_DATANODE) return;
    guint32 parent = sweep->tree->parent[node];
    if (sweep->tree->span[parent] && side_of(&sweep->nodes[parent]) == SIDE_CLIENT) sweep->datanode = node;
    if (facts->block) {
        gint64 block = (gint64)facts->block;
        g_hash_table_insert(sweep->of_block, g_memdup2(&block, sizeof(block)), GUINT_TO_POINTER(node));
    }
}

static void end_node(Sweep *sweep, guint32 node) {
    Place *place = &sweep->places[node];
    const guint32 above = place->above[side_of(&sweep->nodes[node])];
    if (place->below == 0) list_remove(sweep, node);
    place->runs = FALSE;
    if (place->top) sweep->tops--;
    if (above) {
        Place *over = &sweep->places[above];
        if (--over->below == 0 && over->runs) list_insert(sweep, above);
    }
}

/* What ends makes room before what begins; parents begin before, and end after, their children. */
static int event_compare(const void *a, const void *b) {
    const Event *x = a, *y = b;
    if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
    if (x->end != y->end) return x->end ? -1 : 1;
    if (x->node == y->node) return 0;
    return (x->node < y->node) != x->end ? -1 : 1;
}

static GArray *find_events(const Sweep *sweep, guint32 root) {
    const CallTree *tree = sweep->tree;
    GArray *events = g_array_new(FALSE, FALSE, sizeof(Event));
    for (guint32 i = root; i < tree->end[root]; i++) {
        if (sweep->places[i].list == LIST_NONE || tree->from_ns[i] >= tree->to_ns[i]) continue;
        Event event = {tree->from_ns[i], i, FALSE};
        g_array_append_val(events, event);
        event.time_ns = tree->to_ns[i];
        event.end = TRUE;
        g_array_append_val(events, event);
    }
    if (events->len) qsort(events->data, events->len, sizeof(Event), event_compare);
    return events;
}

/* What a client's call fetched. Webhdfs knows no files of its own host. */
static void add_bytes(const Sweep *sweep, guint32 at) {
    const FactsNode *node = &sweep->nodes[at];
    if (node->does & DOES_FETCH_LOCAL) {
        sweep->facts->local_bytes += node->bytes;
        return;
    }
    const guint32 other = other_side(sweep, at);
    sweep->facts->bytes += node->bytes;
    if (other && sweep->nodes[other].host != node->host)
        sweep->facts->remote_bytes += node->bytes;
    else if (other && !(node->does & DOES_READ))
        sweep->facts->own_bytes += node->bytes;
}

/* What clients' calls counted, whichever thread they ran in. */
static void add_counts(Sweep *sweep, guint32 root) {
    const CallTree *tree = sweep->tree;
    g_autofree gboolean *failed_below = g_new0(gboolean, tree->n_nodes);
    for (guint32 i = tree->end[root]; i-- > root && allowance_goes_on();) {
        const FactsNode *node = &sweep->nodes[i];
        if (i > root && (node->failed || failed_below[i])) failed_below[tree->parent[i]] = TRUE;
        if (!tree->span[i] || node->class == CALL_APPLICATION || side_of(node) == SIDE_SERVER) continue;
        if (sweep->places[i].top) sweep->facts->top_calls++;
        if (sweep->places[i].top && (node->does & DOES_READ)) sweep->facts->reads++;
        if (node->failed && !failed_below[i]) sweep->facts->failures++;
        if (node->does & (DOES_OPEN | DOES_CREATE)) sweep->facts->files++;
        if (node->does & DOES_OPEN) sweep->facts->opens++;
        if (node->bytes > 0) add_bytes(sweep, i);
    }
}

/* ---- the critical path ---- */

/* A server's call on the critical path: its packets come slowly, it sends slowly itself, or it does something. */
static void blame_on_path(Sweep *sweep, guint32 node, gint64 ns) {
    const CallClass class = sweep->nodes[node].class;
    if (class != CALL_WAIT && class != CALL_MIRROR) {
        blame_server(sweep, node, ns);
        return;
    }
    const HdfsShare share = share_of(sweep, node, class == CALL_WAIT ? HDFS_NETWORK : HDFS_SOCKET, ns);
    add_share(sweep, node, &share);
}

/* What was waited for pipelines: as much as the critical path gives their DataNodes, and no more; of the rest nobody is
 * seen to work. */
static void blame_pipelines(Sweep *sweep, guint32 root) {
    const double part = MIN(1, (double)sweep->waited_ns / (double)MAX(sweep->path_ns, 1));
    gint64 left_ns = sweep->waited_ns;
    if (left_ns <= 0) return;
    for (guint32 i = root; i < sweep->tree->end[root] && allowance_goes_on(); i++) {
        if (!sweep->places[i].takes || sweep->critical_ns[i] <= 0) continue;
        const gint64 ns = MIN((gint64)((double)sweep->critical_ns[i] * part), left_ns);
        blame_on_path(sweep, i, ns);
        left_ns -= ns;
    }
    blame_network(sweep, sweep->waiter, 0, left_ns);
}

/* ---- the whole ---- */

static void sweep_init(Sweep *sweep, HdfsFacts *facts, const CallTree *tree, const FactsNode *nodes,
                       const gint64 *critical_ns) {
    *sweep = (Sweep){.tree = tree,
                     .nodes = nodes,
                     .critical_ns = critical_ns,
                     .facts = facts,
                     .places = g_new0(Place, tree->n_nodes)};
    sweep->of_block = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    sweep->shares = g_hash_table_new_full(share_hash, share_equal, g_free, NULL);
    for (guint i = 0; i < facts->shares->len; i++) {
        const HdfsShare *share = &g_array_index(facts->shares, HdfsShare, i);
        g_hash_table_insert(sweep->shares, g_memdup2(share, sizeof(*share)), GUINT_TO_POINTER(i + 1));
    }
}

static void sweep_clear(Sweep *sweep) {
    g_hash_table_unref(sweep->shares);
    g_hash_table_unref(sweep->of_block);
    g_free(sweep->places);
}

void hdfs_facts_add(HdfsFacts *facts, const CallTree *tree, const FactsNode *nodes, const gint64 *critical_ns,
                    guint32 root) {
    Sweep sweep;
    sweep_init(&sweep, facts, tree, nodes, critical_ns);
    find_places(&sweep, root);
    g_autoptr(GArray) events = find_events(&sweep, root);
    gint64 now = 0;

    for (guint i = 0; i < events->len && allowance_goes_on(); i++) {
        const Event *event = &g_array_index(events, Event, i);
        if (sweep.tops > 0 && event->time_ns > now) blame(&sweep, now, event->time_ns);
        now = event->time_ns;
        if (event->end)
            end_node(&sweep, event->node);
        else
            begin_node(&sweep, event->node);
    }

    blame_pipelines(&sweep, root);
    add_counts(&sweep, root);
    sweep_clear(&sweep);
}

/* A client's call on the critical path: it computes, or waits for somebody who is not seen. */
static void blame_client(Sweep *sweep, guint32 node, gint64 ns) {
    const HdfsResource resource = own_resource(sweep->nodes[node].class);
    if (resource == HDFS_NETWORK) {
        blame_network(sweep, node, other_side(sweep, node), ns);
        return;
    }
    const HdfsShare share = share_of(sweep, node, resource, ns);
    add_share(sweep, node, &share);
}

void hdfs_facts_add_path(HdfsFacts *facts, const CallTree *tree, const FactsNode *nodes, const gint64 *critical_ns,
                         guint32 root) {
    Sweep sweep;
    sweep_init(&sweep, facts, tree, nodes, critical_ns);
    for (guint32 i = root; i < tree->end[root] && allowance_goes_on(); i++) {
        if (!tree->span[i] || critical_ns[i] <= 0 || nodes[i].class == CALL_APPLICATION) continue;
        if (side_of(&nodes[i]) == SIDE_CLIENT)
            blame_client(&sweep, i, critical_ns[i]);
        else
            blame_on_path(&sweep, i, critical_ns[i]);
    }
    sweep_clear(&sweep);
}

/* ---- the sums ---- */

static int share_compare(const void *a, const void *b) {
    const HdfsShare *x = a, *y = b;
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    if (x->tracer != y->tracer) return x->tracer < y->tracer ? -1 : 1;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    return (int)x->resource - (int)y->resource;
}

void hdfs_facts_finish(HdfsFacts *facts) {
    GArray *shares = facts->shares;
    g_autoptr(GHashTable) by_tracer = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    g_array_sort(shares, share_compare);
    facts->namenode_ns = facts->datanode_ns = facts->slowest_ns = 0;
    facts->slowest = 0;
    for (guint i = 0; i < shares->len; i++) {
        const HdfsShare *share = &g_array_index(shares, HdfsShare, i);
        if (share->role == ROLE_NAMENODE) facts->namenode_ns += share->ns;
        if (share->role != ROLE_DATANODE) continue;
        facts->datanode_ns += share->ns;
        gint64 *sum = g_hash_table_lookup(by_tracer, GUINT_TO_POINTER(share->tracer));
        if (!sum) g_hash_table_insert(by_tracer, GUINT_TO_POINTER(share->tracer), sum = g_new0(gint64, 1));
        *sum += share->ns;
        if (*sum > facts->slowest_ns) {
            facts->slowest_ns = *sum;
            facts->slowest = share->tracer;
        }
    }
}
