#include <string.h>

#include "analyzer/query/bottleneck/bottleneck_answers.h"
#include "analyzer/query/bottleneck/requests.h"
#include "analyzer/query/bottleneck/tallies.h"
#include "analyzer/query/spark/tasks/hdfs_nodes.h"
#include "common/base/allowance.h"
#include "common/base/clock.h"
#include "common/base/error.h"

/* The roots that 'plumb load run --trace' makes. */
#define DEFAULT_ROOT   "Load#*"
#define DEFAULT_TRACES 5000u
#define DEFAULT_LIMIT  20u
/* Packets of a reader. Each block ends with one of no bytes. */
#define PACKET_FUNCTION "BlockSender#sendPacket"
#define BLOCK_FUNCTION  "sendBlock"
#define PACKET_SMALL    4096

/* By the bytes that a request read or wrote; the last is of those that say nothing of bytes. */
static const struct {
    const char *name;
    gint64 from;
} sizes[] = {{"empty", 0},           {"below 4 KiB", 1},          {"below 64 KiB", 4096},
             {"below 1 MiB", 65536}, {"1 MiB and more", 1048576}, {"none", G_MAXINT64}};
#define SIZE_NONE (G_N_ELEMENTS(sizes) - 1)

typedef struct Reading {
    const Asked *asked;
    const char *root;
    HdfsReader *reader;
    Tallies *tallies;
    guint32 bytes, packet, block; /* dictionary ids: a key, and names of functions */
    guint64 requests, incomplete, spans[ROLE_COUNT];
    guint64 blocks, packets, empty, small;
    gint64 response_ns;
} Reading;

static void reading_clear(Reading *reading) {
    tallies_free(reading->tallies);
    hdfs_reader_free(reading->reader);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Reading, reading_clear)

static guint32 id_of(const Asked *asked, const char *text) {
    return dict_find(archive_dict(asked->archive), text, strlen(text));
}

static void reading_init(Reading *reading, const Asked *asked, const char *root) {
    *reading = (Reading){.asked = asked, .root = root};
    reading->reader = hdfs_reader_new(asked->archive);
    reading->tallies = tallies_new();
    reading->bytes = id_of(asked, "bytes");
    reading->packet = id_of(asked, PACKET_FUNCTION);
    reading->block = id_of(asked, BLOCK_FUNCTION);
}

/* ---- one request ---- */

/* FALSE: the span says nothing of bytes. */
static gboolean bytes_of(const Reading *reading, const SpanRec *span, gint64 *bytes) {
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    while (span_next_annotation(&cursor, &annotation))
        if (annotation.key == reading->bytes && annotation_number(&annotation, bytes)) return TRUE;
    return FALSE;
}

static guint size_class(gint64 bytes) {
    guint class = 0;
    while (class + 1 < SIZE_NONE && bytes >= sizes[class + 1].from) class ++;
    return class;
}

static void count_packet(Reading *reading, const SpanRec *span) {
    gint64 bytes;
    if (span->name == reading->block && reading->block) reading->blocks++;
    if (span->name != reading->packet || !reading->packet || !bytes_of(reading, span, &bytes)) return;
    reading->packets++;
    reading->empty += bytes == 0;
    reading->small += bytes > 0 && bytes < PACKET_SMALL;
}

static void add_functions(Reading *reading, const TraceView *view, guint32 root) {
    const CallTree *tree = view->tree;
    const Lookup *lookup = archive_lookup(reading->asked->archive);
    for (guint32 i = root; i < tree->end[root] && allowance_goes_on(); i++) {
        const SpanRec *span = tree->span[i];
        Role role;
        guint32 host;
        if (!span) continue;
        lookup->process(lookup->arg, span->tracer, &role, &host);
        const TallySecond times = {0, 1, MAX(span->duration_ns, 0), view->times->self_ns[i],
                                   view->times->critical_ns[i]};
        tallies_add(reading->tallies, (TallyKey){TALLY_FUNCTION, span->name, role, 0}, &times);
        reading->spans[role]++;
        count_packet(reading, span);
    }
}

/* Whose a wait was. The network is of nobody (ROLE_LOCAL); where it is not known, either, on whom the client waited,
 * nothing says that it was the network: that is the client's wait. */
static guint32 wait_role(const HdfsShare *share) {
    if (share->resource != HDFS_NETWORK) return share->role;
    return share->tracer != 0 ? ROLE_LOCAL : ROLE_CLIENT;
}

/* A part of the request's critical path. The client's own disk is a DataNode's, too. */
static void add_share(Reading *reading, const HdfsShare *share, guint32 operation, guint size) {
    const TallySecond times = {0, share->calls, share->ns, 0, share->ns};
    const guint32 role = wait_role(share), what = share->resource;
    tallies_add(reading->tallies, (TallyKey){TALLY_WAIT, role, what, 0}, &times);
    tallies_add(reading->tallies, (TallyKey){TALLY_OF_SIZE, operation, size << 8 | role, what}, &times);
    tallies_add(reading->tallies, (TallyKey){TALLY_PROCESS, share->tracer, 0, 0}, &times);
    tallies_add(reading->tallies, (TallyKey){TALLY_CALL, share->tracer, share->name, what}, &times);
}

/* Those of one trace. A stream that is read call by call has a root for each, and the calls of its DataNode are below
 * one of them: what all waited for is counted with the first. */
typedef struct Requests {
    guint n, size; /* size: class of the first */
    guint32 first; /* root */
    gint64 response_ns;
} Requests;

/* What is left of the response is the client's own: outside of HDFS. */
static void add_waits(Reading *reading, const TraceView *view, const Requests *requests) {
    g_auto(HdfsFacts) facts;
    const SpanRec *span = view->tree->span[requests->first];
    HdfsShare own = {span->tracer, span->name, HDFS_CLIENT, ROLE_CLIENT, requests->response_ns, 1};
    hdfs_facts_init(&facts);
    hdfs_reader_add_path(reading->reader, view, &facts);
    tallies_in_second(reading->tallies, view->tree->from_ns[requests->first] / NS_PER_SEC);
    for (guint i = 0; i < facts.shares->len && allowance_goes_on(); i++) {
        const HdfsShare *share = &g_array_index(facts.shares, HdfsShare, i);
        add_share(reading, share, span->name, requests->size);
        own.ns -= share->ns;
    }
    if (own.ns > 0) add_share(reading, &own, span->name, requests->size);
}

static void add_request(Reading *reading, const TraceView *view, guint32 root, Requests *requests) {
    const CallTree *tree = view->tree;
    const SpanRec *span = tree->span[root];
    const gint64 response_ns = tree->to_ns[root] - tree->from_ns[root];
    gint64 bytes = 0;
    tallies_in_second(reading->tallies, tree->from_ns[root] / NS_PER_SEC);
    reading->requests++;
    reading->incomplete += tree_incomplete(tree);
    reading->response_ns += response_ns;

    const guint size = bytes_of(reading, span, &bytes) ? size_class(bytes) : SIZE_NONE;
    const TallySecond times = {0, 1, response_ns, 0, response_ns};
    tallies_add(reading->tallies, (TallyKey){TALLY_OPERATION, span->name, 0, 0}, &times)->bytes += bytes;
    tallies_add(reading->tallies, (TallyKey){TALLY_SIZE, span->name, size, 0}, &times)->bytes += bytes;
    add_functions(reading, view, root);
    if (requests->n++ == 0) {
        requests->first = root;
        requests->size = size;
    }
    requests->response_ns += response_ns;
}

/* ---- the roots of one trace ---- */

/* Of a root: what its response has beyond the critical times below it, and those of its DataNodes. */
typedef struct RootTimes {
    gint64 missing_ns, stations_ns;
} RootTimes;

static gboolean is_station(const Reading *reading, const SpanRec *span) {
    const Lookup *lookup = archive_lookup(reading->asked->archive);
    Role role = ROLE_LOCAL;
    guint32 host;
    if (span) lookup->process(lookup->arg, span->tracer, &role, &host);
    return role == ROLE_DATANODE;
}

static RootTimes root_times(const Reading *reading, const TraceView *view, guint32 root) {
    const CallTree *tree = view->tree;
    RootTimes times = {tree->to_ns[root] - tree->from_ns[root], 0};
    for (guint32 i = root; i < tree->end[root] && allowance_goes_on(); i++) {
        times.missing_ns -= view->times->critical_ns[i];
        if (is_station(reading, tree->span[i])) times.stations_ns += view->times->critical_ns[i];
    }
    return times;
}

/* Stations that other roots wait for, too, keep that part of their time, and all of a root that is not asked for loses
 * its own. */
static void weigh_root(const Reading *reading, const TraceView *view, guint32 root, double part, gboolean asked) {
    const gboolean shared = root_times(reading, view, root).missing_ns < 0;
    for (guint32 i = root; i < view->tree->end[root] && allowance_goes_on(); i++) {
        gint64 *ns = &view->times->critical_ns[i];
        if (shared && is_station(reading, view->tree->span[i]))
            *ns = (gint64)((double)*ns * part);
        else if (!asked)
            *ns = 0;
    }
}

/* Reads that are roots of one trace wait for the DataNode that one of them opened: its time is below that one. It is
 * counted as far as those that are asked for waited for it, whichever has it. */
static void keep_asked(const Reading *reading, const TraceView *view) {
    Archive *archive = reading->asked->archive;
    const CallTree *tree = view->tree;
    gint64 missing_ns = 0, stations_ns[2] = {0, 0}; /* of others, and of those that are asked for */
    if (tree->n_nodes < 2 || tree->end[1] == tree->n_nodes) return;
    const guint32 first = request_root(archive, view, reading->root, 1);
    guint32 next = first;
    for (guint32 root = 1; root < tree->n_nodes && allowance_goes_on(); root = tree->end[root]) {
        const RootTimes times = root_times(reading, view, root);
        const gboolean asked = root == next;
        if (asked) missing_ns += times.missing_ns;
        if (times.missing_ns < 0) stations_ns[asked] += times.stations_ns;
        if (asked) next = request_root(archive, view, reading->root, tree->end[root]);
    }

    const double parts[2] = {
        MIN((double)MAX(missing_ns, 0) / (double)MAX(stations_ns[0], 1), 1),
        missing_ns < 0 ? (double)MAX(stations_ns[1] + missing_ns, 0) / (double)MAX(stations_ns[1], 1) : 1};
    next = first;
    for (guint32 root = 1; root < tree->n_nodes && allowance_goes_on(); root = tree->end[root]) {
        const gboolean asked = root == next;
        weigh_root(reading, view, root, parts[asked], asked);
        if (asked) next = request_root(archive, view, reading->root, tree->end[root]);
    }
}

static void add_trace(Reading *reading, const TraceView *view) {
    Requests requests = {.n = 0};
    keep_asked(reading, view);
    for (guint32 next = 1, root; (root = request_root(reading->asked->archive, view, reading->root, next)) != 0;
         next = view->tree->end[root])
        add_request(reading, view, root, &requests);
    if (requests.n > 0) add_waits(reading, view, &requests);
}

static gboolean read_requests(Reading *reading, const GArray *requests, GError **error) {
    Archive *archive = reading->asked->archive;
    for (guint i = 0; i < requests->len; i++) {
        const guint64 trace = g_array_index(requests, Request, i).trace_id;
        gboolean gone;
        g_autoptr(TraceView) view = trace_view_load_found(archive, trace, &gone, error);
        if (!view && gone) continue;
        if (!view) return FALSE;
        add_trace(reading, view);
        if (!allowance_check(error)) return FALSE;
    }
    return TRUE;
}

/* ---- JSON ---- */

static double *response(const Reading *reading) {
    double *values = g_new0(double, tallies_seconds(reading->tallies));
    g_autoptr(GPtrArray) operations = tallies_of(reading->tallies, TALLY_OPERATION);
    for (guint i = 0; i < operations->len; i++) {
        g_autofree double *own = tally_values(reading->tallies, operations->pdata[i], tally_total);
        for (guint s = 0; s < tallies_seconds(reading->tallies) && allowance_goes_on(); s++) values[s] += own[s];
    }
    return values;
}

static void set_estimate(json_t *object, const char *name, Estimate estimate) {
    g_autofree char *low = g_strconcat(name, "_low", NULL), *high = g_strconcat(name, "_high", NULL);
    json_object_set_new(object, name, json_real(estimate.value));
    if (!estimate.bounded) return;
    json_object_set_new(object, low, json_real(estimate.low));
    json_object_set_new(object, high, json_real(estimate.high));
}

/* "mean_ns": of a call. */
static void add_mean(json_t *object, const Reading *reading, const Tally *tally) {
    g_autofree double *times = tally_values(reading->tallies, tally, tally_total);
    g_autofree double *calls = tally_values(reading->tallies, tally, tally_calls);
    set_estimate(object, "mean_ns", estimate_ratio(times, calls, tallies_seconds(reading->tallies)));
}

/* "critical_ns", and "share": of what 'whole' took. */
static void add_critical(json_t *object, const Reading *reading, const Tally *tally, const double *whole) {
    g_autofree double *times = tally_values(reading->tallies, tally, tally_critical);
    const Estimate share = estimate_ratio(times, whole, tallies_seconds(reading->tallies));
    json_object_set_new(object, "critical_ns", json_integer(tally->all.critical_ns));
    set_estimate(object, "share", share);
}

static void add_process(json_t *object, const Reading *reading, guint32 tracer) {
    const Lookup *lookup = archive_lookup(reading->asked->archive);
    Role role;
    guint32 host;
    if (tracer == 0) return;
    lookup->process(lookup->arg, tracer, &role, &host);
    json_object_set_new(object, "process", json_name(reading->asked->archive, tracer));
    if (host) json_object_set_new(object, "host", json_name(reading->asked->archive, host));
    json_object_set_new(object, "role", json_string(role_name(role)));
}

static void add_wait_names(json_t *object, guint32 role, guint32 resource) {
    if (resource != HDFS_NETWORK || role == ROLE_CLIENT)
        json_object_set_new(object, "role", json_string(role_name((Role)role)));
    json_object_set_new(object, "resource", json_string(hdfs_resource_name((HdfsResource)resource)));
}

static json_t *tally_json(const Reading *reading, const Tally *tally) {
    Archive *archive = reading->asked->archive;
    const TallyKey *key = &tally->key;
    json_t *object = json_object();

    switch ((TallyKind)key->kind) {
    case TALLY_FUNCTION:
        json_object_set_new(object, "function", json_name(archive, key->a));
        json_object_set_new(object, "role", json_string(role_name((Role)key->b)));
        json_object_set_new(object, "calls", json_count(tally->all.calls));
        json_object_set_new(object, "total_ns", json_integer(tally->all.total_ns));
        json_object_set_new(object, "self_ns", json_integer(tally->all.self_ns));
        add_mean(object, reading, tally);
        break;
    case TALLY_WAIT: add_wait_names(object, key->a, key->b); break;
    case TALLY_OF_SIZE: add_wait_names(object, key->b & 0xff, key->c); break;
    case TALLY_CALL:
        add_process(object, reading, key->a);
        json_object_set_new(object, "function", json_name(archive, key->b));
        json_object_set_new(object, "resource", json_string(hdfs_resource_name((HdfsResource)key->c)));
        break;
    default: add_process(object, reading, key->a); break;
    }
    return object;
}

/* Has the first more than the second, beyond chance? */
static gboolean decided(const Reading *reading, const GPtrArray *list, const double *whole) {
    if (list->len == 0) return FALSE;
    g_autofree double *first = tally_values(reading->tallies, list->pdata[0], tally_critical);
    if (list->len > 1) {
        g_autofree double *second = tally_values(reading->tallies, list->pdata[1], tally_critical);
        for (guint i = 0; i < tallies_seconds(reading->tallies); i++) first[i] -= second[i];
    }
    const Estimate more = estimate_ratio(first, whole, tallies_seconds(reading->tallies));
    return more.bounded && more.low > 0;
}

/* Those of a kind, at most 'limit' (0: all). */
static json_t *list_json(const Reading *reading, TallyKind kind, guint64 limit, const double *whole) {
    g_autoptr(GPtrArray) list = tallies_of(reading->tallies, kind);
    json_t *rows = json_array();
    for (guint i = 0; i < list->len && (limit == 0 || i < limit) && i < reading->asked->rows_max; i++) {
        const Tally *tally = list->pdata[i];
        if (!allowance_goes_on()) break;
        json_t *row = tally_json(reading, tally);
        add_critical(row, reading, tally, whole);
        if (i == 0) json_object_set_new(row, "decided", json_boolean(decided(reading, list, whole)));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *waits_of_size(const Reading *reading, const Tally *size) {
    g_autoptr(GPtrArray) list = tallies_of(reading->tallies, TALLY_OF_SIZE);
    g_autofree double *whole = tally_values(reading->tallies, size, tally_total);
    json_t *rows = json_array();
    for (guint i = 0; i < list->len && size->all.total_ns > 0 && allowance_goes_on(); i++) {
        const Tally *wait = list->pdata[i];
        if (wait->key.a != size->key.a || wait->key.b >> 8 != size->key.b) continue;
        json_t *row = tally_json(reading, wait);
        add_critical(row, reading, wait, whole);
        json_array_append_new(rows, row);
    }
    return rows;
}

static void add_requests(json_t *object, const Reading *reading, const Tally *tally) {
    json_object_set_new(object, "requests", json_count(tally->all.calls));
    json_object_set_new(object, "bytes", json_integer(tally->bytes));
    json_object_set_new(object, "total_ns", json_integer(tally->all.total_ns));
    add_mean(object, reading, tally);
}

static json_t *operation_json(const Reading *reading, const Tally *operation) {
    json_t *object = json_object(), *rows = json_array();
    json_object_set_new(object, "function", json_name(reading->asked->archive, operation->key.a));
    add_requests(object, reading, operation);
    json_object_set_new(object, "sizes", rows);
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        const Tally *size = tallies_find(reading->tallies, (TallyKey){TALLY_SIZE, operation->key.a, i, 0});
        if (!size) continue;
        json_t *row = json_object();
        json_object_set_new(row, "size", json_string(sizes[i].name));
        add_requests(row, reading, size);
        json_object_set_new(row, "waits", waits_of_size(reading, size));
        json_array_append_new(rows, row);
    }
    return object;
}

static json_t *operations_json(const Reading *reading) {
    g_autoptr(GPtrArray) list = tallies_of(reading->tallies, TALLY_OPERATION);
    json_t *rows = json_array();
    for (guint i = 0; i < list->len && allowance_goes_on(); i++)
        json_array_append_new(rows, operation_json(reading, list->pdata[i]));
    return rows;
}

static json_t *counts_json(const Reading *reading) {
    json_t *spans = json_object();
    for (guint i = 0; i < ROLE_COUNT; i++)
        if (reading->spans[i]) json_object_set_new(spans, role_name((Role)i), json_count(reading->spans[i]));
    return spans;
}

static json_t *packets_json(const Reading *reading) {
    json_t *object = json_object();
    json_object_set_new(object, "blocks", json_count(reading->blocks));
    json_object_set_new(object, "sent", json_count(reading->packets));
    json_object_set_new(object, "empty", json_count(reading->empty));
    json_object_set_new(object, "small", json_count(reading->small));
    return object;
}

json_t *answer_bottleneck(const Asked *asked, GError **error) {
    guint64 limit = DEFAULT_LIMIT, found = 0;
    const char *root = params_text(asked->params, "root") ? params_text(asked->params, "root") : DEFAULT_ROOT;
    RequestFilter filter = {.root = root, .most = DEFAULT_TRACES};
    if (!params_period(asked->params, asked->now_ns, &filter.period, error) ||
        !params_count(asked->params, "limit", &limit, error) ||
        !params_count(asked->params, "traces", &filter.most, error))
        return NULL;
    g_autoptr(GArray) requests = requests_find(asked, &filter, &found, error);
    if (!requests) return NULL;
    g_auto(Reading) reading;
    reading_init(&reading, asked, root);
    if (!read_requests(&reading, requests, error)) return NULL;

    json_auto_t *answer = json_object();
    json_object_set_new(answer, "root", json_text(root, strlen(root)));
    json_add_period(answer, asked->archive, filter.period, FALSE);
    json_object_set_new(answer, "found", json_count(found));
    json_object_set_new(answer, "requests", json_count(reading.requests));
    json_object_set_new(answer, "incomplete", json_count(reading.incomplete));
    json_object_set_new(answer, "seconds", json_count(reading.requests ? tallies_seconds(reading.tallies) : 0));
    json_object_set_new(answer, "response_ns", json_integer(reading.response_ns));
    json_object_set_new(answer, "spans", counts_json(&reading));
    if (reading.response_ns == 0) return allowance_check(error) ? g_steal_pointer(&answer) : NULL;

    g_autofree double *whole = response(&reading);
    json_object_set_new(answer, "waits", list_json(&reading, TALLY_WAIT, 0, whole));
    json_object_set_new(answer, "calls", list_json(&reading, TALLY_CALL, limit, whole));
    json_object_set_new(answer, "processes", list_json(&reading, TALLY_PROCESS, limit, whole));
    json_object_set_new(answer, "functions", list_json(&reading, TALLY_FUNCTION, limit, whole));
    json_object_set_new(answer, "operations", operations_json(&reading));
    json_object_set_new(answer, "packets", packets_json(&reading));
    return allowance_check(error) ? g_steal_pointer(&answer) : NULL;
}
