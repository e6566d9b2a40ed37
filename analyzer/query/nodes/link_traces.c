#include "analyzer/query/nodes/link_traces.h"

#include <string.h>

#include "analyzer/query/nodes/examples.h"
#include "analyzer/query/shared/trace_view.h"
#include "analyzer/query/traces/trace_answers.h"
#include "common/base/allowance.h"

/* Of less no rate is told. */
#define BYTES_LEAST 65536
#define MIB         1048576.0

/* Functions and annotations, by dictionary id; 0: the store has none. */
typedef struct LinkNames {
    guint32 operation; /* at a server: OpWriteBlockProto or OpReadBlockProto */
    guint32 asking;    /* of a client, in the same trace */
    guint32 receive, mirror, write, transfer, wait, packet, block;
} LinkNames;

typedef struct LinkSample {
    const Asked *asked;
    const LinkOf *of;
    LinkNames names;
    GArray *transfers;  /* LinkTransfer */
    GHashTable *traces; /* that were read, with the one that is: guint64 */
    guint spans;
} LinkSample;

/* An operation at a server. */
typedef struct Operation {
    guint32 node;
    gint64 bytes;     /* that came, or were sent to the reader */
    gint64 waited_ns; /* of a read: for the reader's socket */
    guint64 block;    /* of a read; 0: not known */
    gint64 sent_ns;   /* when it was through with all that it calls */
} Operation;

/* A packet, as its sender or its receiver saw it. */
typedef struct Packet {
    guint64 of; /* the operation there, 0: the client's; of a read the block */
    gint64 from_ns, to_ns;
} Packet;

typedef struct LinkTrace {
    const CallTree *tree;
    GArray *operations; /* Operation; the first is none */
    GArray *sent;       /* Packet; of writes */
    GArray *arrived;    /* Packet; of reads those that the reader waited for */
    guint32 *nearest;   /* operation of each node */
} LinkTrace;

/* ---- one trace ---- */

static Operation *operation_at(const LinkTrace *trace, guint i) {
    return &g_array_index(trace->operations, Operation, i);
}

static guint32 host_of(const LinkSample *sample, const SpanRec *span) {
    const Lookup *lookup = archive_lookup(sample->asked->archive);
    Role role;
    guint32 host = 0;
    if (span != NULL) lookup->process(lookup->arg, span->tracer, &role, &host);
    return host;
}

static gint64 value_of(const SpanRec *span, guint32 key) {
    SpanCursor cursor = span_cursor(span);
    SpanAnnotation annotation;
    gint64 value = 0;
    while (key != 0 && span_next_annotation(&cursor, &annotation))
        if (annotation.key == key && annotation_number(&annotation, &value)) return MAX(value, 0);
    return 0;
}

static gint64 end_of(const SpanRec *span) { return span->begin_ns + MAX(span->duration_ns, 0); }

static void add_packet(GArray *packets, guint64 of, const SpanRec *span) {
    const Packet packet = {of, span->begin_ns, end_of(span)};
    g_array_append_val(packets, packet);
}

static void add_call_of_read(const LinkSample *sample, LinkTrace *trace, guint32 at, const SpanRec *span) {
    const LinkNames *names = &sample->names;
    Operation *operation = operation_at(trace, at);
    if (span->name == names->packet) add_packet(trace->arrived, (guint64)value_of(span, names->block), span);
    if (at == 0 || span->name == names->operation) return;
    operation->sent_ns = MAX(operation->sent_ns, end_of(span));
    if (operation->block == 0) operation->block = (guint64)value_of(span, names->block);
}

static void add_call(const LinkSample *sample, LinkTrace *trace, guint32 operation, const SpanRec *span) {
    const Lookup *lookup = archive_lookup(sample->asked->archive);
    const LinkNames *names = &sample->names;
    const guint32 name = span->name;
    if (name == (sample->of->reads ? names->transfer : names->receive)) {
        operation_at(trace, operation)->bytes += value_of(span, lookup->bytes_key(lookup->arg));
        operation_at(trace, operation)->waited_ns += value_of(span, names->wait);
    }
    if (sample->of->reads) {
        add_call_of_read(sample, trace, operation, span);
        return;
    }
    if (name == names->receive) add_packet(trace->arrived, operation, span);
    if (name == names->mirror || name == names->write) add_packet(trace->sent, operation, span);
}

static gint by_operation(gconstpointer left, gconstpointer right, gpointer unused) {
    const Packet *a = left, *b = right;
    (void)unused;
    if (a->of != b->of) return a->of < b->of ? -1 : 1;
    if (a->from_ns != b->from_ns) return a->from_ns < b->from_ns ? -1 : 1;
    return (a->to_ns > b->to_ns) - (a->to_ns < b->to_ns);
}

/* The first that comes not before such a one. */
static guint first_packet(const GArray *packets, const Packet *like) {
    guint low = 0, high = packets->len;
    while (low < high) {
        const guint middle = low + (high - low) / 2;
        if (by_operation(&g_array_index(packets, Packet, middle), like, NULL) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* For how long packets were on their way to an operation while it waited for them. Packets keep their order. FALSE:
 * not as many are known to be sent as came. */
static gboolean find_waited(const LinkTrace *trace, guint i, guint32 before, gint64 *waited_ns) {
    const guint32 node = operation_at(trace, i)->node;
    /* A client sends one block after the other; a DataNode only this one. */
    const gint64 since_ns = before == 0 ? trace->tree->from_ns[node] : G_MININT64;
    const gint64 until_ns = before == 0 ? trace->tree->to_ns[node] : G_MAXINT64;
    const Packet of_sender[] = {{before, since_ns, G_MININT64}, {before, until_ns, G_MININT64}};
    const Packet of_receiver[] = {{i, G_MININT64, G_MININT64}, {i, G_MAXINT64, G_MININT64}};
    const guint sent = first_packet(trace->sent, &of_sender[0]), sent_end = first_packet(trace->sent, &of_sender[1]);
    const guint came = first_packet(trace->arrived, &of_receiver[0]);
    const guint n = first_packet(trace->arrived, &of_receiver[1]) - came;
    if (n == 0 || sent_end - sent != n) return FALSE;

    *waited_ns = 0;
    for (guint k = 0; k < n; k++) {
        const Packet *packet = &g_array_index(trace->arrived, Packet, came + k);
        const gint64 from_ns = MAX(packet->from_ns, g_array_index(trace->sent, Packet, sent + k).from_ns);
        *waited_ns += MAX(packet->to_ns - from_ns, 0);
    }
    return TRUE;
}

/* For how long a reader waited for what the server had put into its socket. He takes one packet after the other. */
static gint64 find_on_the_way(const LinkTrace *trace, const Operation *operation) {
    const Packet like = {operation->block, operation->sent_ns, G_MININT64};
    const gint64 until_ns = trace->tree->to_ns[operation->node];
    gint64 waited_ns = 0;
    if (operation->block == 0) return 0;
    const guint next = first_packet(trace->arrived, &like);
    for (guint k = MAX(next, 1) - 1; k < trace->arrived->len && allowance_goes_on(); k++) {
        const Packet *packet = &g_array_index(trace->arrived, Packet, k);
        if (packet->of != operation->block && k < next) continue;
        if (packet->of != operation->block || packet->from_ns >= until_ns) break;
        waited_ns += MAX(MIN(packet->to_ns, until_ns) - MAX(packet->from_ns, operation->sent_ns), 0);
    }
    return waited_ns;
}

static void add_transfer(LinkSample *sample, const LinkTrace *trace, guint i) {
    const Operation *operation = operation_at(trace, i);
    const guint32 above = trace->tree->parent[operation->node];
    const guint32 server = host_of(sample, trace->tree->span[operation->node]);
    const guint32 caller = host_of(sample, trace->tree->span[above]);
    gint64 waited_ns = operation->waited_ns;
    if (server == 0 || caller == 0 || server == caller || operation->bytes < BYTES_LEAST) return;
    if (sample->of->reads) waited_ns += find_on_the_way(trace, operation);
    if (!sample->of->reads && !find_waited(trace, i, trace->nearest[above], &waited_ns)) return;
    const double ns = (double)waited_ns * MIB / (double)operation->bytes;
    const guint32 number = g_hash_table_size(sample->traces);
    const LinkTransfer transfer =
        sample->of->reads ? (LinkTransfer){server, caller, number, ns} : (LinkTransfer){caller, server, number, ns};
    g_array_append_val(sample->transfers, transfer);
}

/* Parents come before their children. */
static void find_calls(const LinkSample *sample, LinkTrace *trace) {
    const CallTree *tree = trace->tree;
    for (guint32 i = 1; i < tree->n_nodes && allowance_goes_on(); i++) {
        trace->nearest[i] = trace->nearest[tree->parent[i]];
        if (tree->span[i] == NULL) continue;
        if (tree->span[i]->name == sample->names.operation) {
            const Operation operation = {.node = i};
            g_array_append_val(trace->operations, operation);
            trace->nearest[i] = trace->operations->len - 1;
        }
        add_call(sample, trace, trace->nearest[i], tree->span[i]);
    }
}

static void add_transfers(LinkSample *sample, const TraceView *view) {
    g_autoptr(GArray) operations = g_array_new(FALSE, TRUE, sizeof(Operation));
    g_autoptr(GArray) sent = g_array_new(FALSE, FALSE, sizeof(Packet));
    g_autoptr(GArray) arrived = g_array_new(FALSE, FALSE, sizeof(Packet));
    g_autofree guint32 *nearest = g_new0(guint32, view->tree->n_nodes);
    LinkTrace trace = {view->tree, operations, sent, arrived, nearest};
    g_array_set_size(operations, 1);
    find_calls(sample, &trace);
    allowance_sort(sent->data, sent->len, sizeof(Packet), by_operation, NULL);
    allowance_sort(arrived->data, arrived->len, sizeof(Packet), by_operation, NULL);
    for (guint i = 1; i < operations->len && allowance_goes_on(); i++) add_transfer(sample, &trace, i);
}

/* ---- which traces ---- */

static void add_time(QueryParams *params, const char *name, gint64 time_ns) {
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, MAX(time_ns, 0));
    query_params_add(params, name, text);
}

/* Of whom, and by which call there. */
typedef struct LinkEnd {
    guint32 host, function;
    guint traces; /* so many of it */
} LinkEnd;

/* The newest ones, whether slow or not: the fast ones count as well. */
static json_t *list_traces(const LinkSample *sample, const LinkEnd *end, GError **error) {
    Dict *dict = archive_dict(sample->asked->archive);
    g_autoptr(QueryParams) params = query_params_new();
    g_autofree char *limit = g_strdup_printf("%u", end->traces);
    query_params_add(params, "function", dict_text(dict, end->function, NULL));
    query_params_add(params, "host", dict_text(dict, end->host, NULL));
    add_time(params, "since", sample->of->since_ns);
    add_time(params, "until", sample->of->until_ns);
    query_params_add(params, "limit", limit);
    const Asked traces = {sample->asked->archive, params, sample->asked->now_ns, sample->asked->rows_max, NULL, NULL};
    return answer_traces(&traces, error);
}

static gboolean add_traces(LinkSample *sample, LinkEnd *end, guint spans_most, GError **error) {
    if (end->function == 0 || end->traces == 0) return TRUE;
    json_auto_t *found = list_traces(sample, end, error);
    if (!found) return FALSE;
    end->traces -= (guint)json_array_size(json_object_get(found, "traces"));
    gsize i;
    json_t *row;
    json_array_foreach(json_object_get(found, "traces"), i, row) {
        guint64 trace = example_trace_id(row);
        const json_int_t spans = json_integer_value(json_object_get(row, "spans"));
        if (spans > spans_most - sample->spans || g_hash_table_contains(sample->traces, &trace)) continue;
        gboolean gone;
        g_autoptr(TraceView) view = trace_view_load_found(sample->asked->archive, trace, &gone, error);
        if (!view && gone) continue;
        if (!view) return FALSE;
        sample->spans += (guint)spans;
        g_hash_table_add(sample->traces, g_memdup2(&trace, sizeof trace));
        add_transfers(sample, view);
    }
    return TRUE;
}

/* A server is found by what it was asked for, a client by what it asked. Few hosts are both. */
static gboolean add_traces_of(LinkSample *sample, guint32 host, gboolean asks, guint spans_most, GError **error) {
    const LinkNames *names = &sample->names;
    LinkEnd end = {host, asks ? names->asking : names->operation, LINK_TRACES};
    if (!add_traces(sample, &end, spans_most, error)) return FALSE;
    end.function = asks ? names->operation : names->asking;
    return add_traces(sample, &end, spans_most, error);
}

static guint32 name_in(const Asked *asked, const char *text) {
    return dict_find(archive_dict(asked->archive), text, strlen(text));
}

gboolean link_find(const Asked *asked, const LinkOf *of, LinkFound *found, GError **error) {
    g_autoptr(GArray) transfers = g_array_new(FALSE, FALSE, sizeof(LinkTransfer));
    g_autoptr(GHashTable) traces = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    LinkSample sample = {.asked = asked, .of = of, .transfers = transfers, .traces = traces};
    sample.names = (LinkNames){.operation = name_in(asked, of->reads ? "OpReadBlockProto" : "OpWriteBlockProto"),
                               .asking = name_in(asked, of->reads ? "BlockReaderRemote#new" : "DataStreamer#writeTo"),
                               .packet = name_in(asked, "BlockReaderRemote2#readNextPacket"),
                               .block = name_in(asked, "block"),
                               .receive = name_in(asked, "PacketReceiver#receiveNextPacket"),
                               .mirror = name_in(asked, "PacketReceiver#mirrorPacketTo"),
                               .write = name_in(asked, "DataStreamer#writeTo"),
                               .transfer = name_in(asked, "FileIoProvider#transferToSocketFully"),
                               .wait = name_in(asked, "waitNanos")};
    *found = (LinkFound){.traces = 0};
    if (sample.names.operation == 0) return TRUE;

    if (!add_traces_of(&sample, of->host, of->asks, LINK_SPANS / 2, error)) return FALSE;
    const guint32 partner = slow_link_partner(transfers, of->host);
    if (partner == 0) return TRUE;
    if (!add_traces_of(&sample, partner, of->reads && !of->asks, LINK_SPANS, error)) return FALSE;
    const LinkUse use = of->reads ? LINK_OF_READS : LINK_OF_WRITES;
    *found = (LinkFound){slow_link_find(transfers, use, of->host), g_hash_table_size(traces), sample.spans};
    return TRUE;
}

/* ---- JSON ---- */

json_t *link_json(const Asked *asked, const LinkFound *found) {
    const SlowLink *link = &found->link;
    json_t *object = json_object();
    json_object_set_new(object, "from", json_name(asked->archive, link->from));
    json_object_set_new(object, "to", json_name(asked->archive, link->to));
    json_object_set_new(object, "both_ways", json_boolean(link->both_ways));
    json_object_set_new(object, "transfers", json_count(link->calls));
    json_object_set_new(object, "median_ns", json_integer((gint64)link->ns));
    json_object_set_new(object, "other_transfers", json_count(link->others));
    json_object_set_new(object, "to_others_ns", json_integer((gint64)link->to_others_ns));
    json_object_set_new(object, "from_others_ns", json_integer((gint64)link->from_others_ns));
    json_object_set_new(object, "traces", json_count(found->traces));
    json_object_set_new(object, "spans", json_count(found->spans));
    return object;
}

gboolean link_is_same(const json_t *a, const json_t *b) {
    const json_t *from = json_object_get(a, "from"), *to = json_object_get(a, "to");
    const json_t *other_from = json_object_get(b, "from"), *other_to = json_object_get(b, "to");
    return (json_equal(from, other_from) && json_equal(to, other_to)) ||
           (json_equal(from, other_to) && json_equal(to, other_from));
}
