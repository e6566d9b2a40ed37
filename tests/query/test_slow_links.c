/* A link that is slow between two hosts only: told from stored pipelines between two DataNodes, from stored reads
 * between a DataNode and a client. What "slow", "nodes" and "why" answer. */
#include <string.h>

#include "analyzer/query/nodes/link_traces.h"
#include "common/base/clock.h"
#include "tests/query/fixture.h"

#define NODES       5u
#define REPLICAS    3u
#define PACKETS     6u
#define FILES       15u /* in a minute */
#define MINUTES     30u
#define SLOW_MINUTE 20u
#define PACKET      65536
#define FROM        2u
#define TO          3u

typedef enum { SLOW_LINK, SLOW_BOTH_WAYS, SLOW_HOST } Slow;

typedef struct Files {
    Fixture *fixture;
    SpanBatch *batch;
    GRand *rand;
    Slow slow;
    guint64 trace, span;
    const char *tracer; /* of the spans to come */
} Files;

/* One file: what happens to each packet at each DataNode, in microseconds from its begin. */
typedef struct Pipeline {
    guint nodes[REPLICAS];
    gint64 sent[PACKETS], taken[PACKETS];
    gint64 from[REPLICAS][PACKETS], came[REPLICAS][PACKETS], passed[REPLICAS][PACKETS], done[REPLICAS][PACKETS];
} Pipeline;

static guint64 add(Files *files, guint64 parent, const char *name, gint64 begin_us, gint64 end_us) {
    const SpanRow row = {files->trace, ++files->span,     parent,        name, files->tracer,
                         begin_us,     end_us - begin_us, "bytes=65536", 0};
    row_to_batch(&row, files->batch);
    return row.span;
}

static gint64 around(Files *files, gint64 us) { return us + g_rand_int_range(files->rand, 0, (gint32)(us / 3 + 1)); }

/* From which DataNode (0: the client) to which. */
static gint64 transfer_us(Files *files, guint minute, guint from, guint to) {
    gboolean slow = from == FROM && to == TO;
    if (files->slow == SLOW_BOTH_WAYS) slow = slow || (from == TO && to == FROM);
    if (files->slow == SLOW_HOST) slow = to == TO || from == TO;
    return around(files, slow && minute >= SLOW_MINUTE ? 150000 : 3000);
}

static void choose_nodes(Files *files, Pipeline *pipeline) {
    for (guint stage = 0; stage < REPLICAS; stage++) {
        gboolean taken;
        do {
            taken = FALSE;
            pipeline->nodes[stage] = 1 + (guint)g_rand_int_range(files->rand, 0, NODES);
            for (guint k = 0; k < stage; k++) taken = taken || pipeline->nodes[k] == pipeline->nodes[stage];
        } while (taken);
    }
}

/* A packet is passed on when it has come, and has left when the next DataNode has it. */
static void run(Files *files, guint minute, Pipeline *p) {
    for (guint i = 0; i < PACKETS; i++) {
        p->sent[i] = i > 0 ? p->taken[i - 1] + 100 : 1000;
        gint64 sent = p->sent[i];
        for (guint stage = 0; stage < REPLICAS; stage++) {
            p->from[stage][i] = i > 0 ? p->done[stage][i - 1] : 1000;
            const gint64 begin = MAX(sent, i > 0 ? p->came[stage][i - 1] : 0);
            const gint64 us = transfer_us(files, minute, stage > 0 ? p->nodes[stage - 1] : 0, p->nodes[stage]);
            p->came[stage][i] = MAX(begin + us, p->from[stage][i] + 10);
            sent = p->came[stage][i] + 20;
        }
        p->taken[i] = p->came[0][i];
        for (guint stage = 0; stage < REPLICAS; stage++) {
            p->passed[stage][i] = stage + 1 < REPLICAS ? p->came[stage + 1][i] : p->came[stage][i] + 20;
            p->done[stage][i] = p->passed[stage][i] + around(files, 300);
        }
    }
}

static void add_file(Files *files, guint minute, guint number) {
    Pipeline p;
    const gint64 at = (gint64)minute * 60000000 + (gint64)number * 3000000;
    choose_nodes(files, &p);
    run(files, minute, &p);
    gint64 end = 0;
    for (guint stage = 0; stage < REPLICAS; stage++) end = MAX(end, p.done[stage][PACKETS - 1] + 1000);

    files->trace++;
    files->tracer = number % 2 ? "FSClient/c1/7" : "FSClient/c2/7";
    files->span = 0;
    const guint64 root = add(files, 0, "DFSOutputStream#close", at, at + end);
    guint64 caller = 0;
    for (guint i = 0; i < PACKETS; i++) {
        const guint64 streamer = add(files, root, "dataStreamer", at + p.sent[i], at + p.taken[i]);
        add(files, streamer, "DataStreamer#writeTo", at + p.sent[i], at + p.taken[i]);
        if (i == 0) caller = streamer;
    }
    add(files, root, "waitForAckedSeqno", at + 1000, at + end);
    for (guint stage = 0; stage < REPLICAS; stage++) {
        g_autofree char *tracer = g_strdup_printf("DataNode/dn%u/1", p.nodes[stage]);
        files->tracer = tracer;
        caller = add(files, caller, "OpWriteBlockProto", at + 900, at + end - 100);
        for (guint i = 0; i < PACKETS; i++) {
            const gint64 from = at + p.from[stage][i], came = at + p.came[stage][i], passed = at + p.passed[stage][i];
            const guint64 packet = add(files, caller, "BlockReceiver#receivePacket", from, at + p.done[stage][i]);
            add(files, packet, "PacketReceiver#receiveNextPacket", from, came);
            if (stage + 1 < REPLICAS) add(files, packet, "PacketReceiver#mirrorPacketTo", came + 20, passed);
            add(files, packet, "ReplicaOutputStreams#writeDataToDisk", passed, at + p.done[stage][i]);
        }
    }
}

static void make_files(Fixture *fixture, Slow slow) {
    Files files = {.fixture = fixture, .rand = g_rand_new_with_seed(19), .slow = slow};
    for (guint minute = 0; minute < MINUTES; minute++) {
        files.batch = batch_new();
        for (guint i = 0; i < FILES; i++) add_file(&files, minute, i);
        fixture_store_batch(fixture, files.batch);
        batch_free(files.batch);
    }
    g_rand_free(files.rand);
}

/* Told once, with what shows that it is the link. */
static void check_link(Slow slow) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    make_files(&fixture, slow);
    json_auto_t *answer = fixture_answer(&fixture, "slow", "");
    const json_t *rows = json_object_get(answer, "slow"), *row = json_array_get(rows, 0);
    g_assert_cmpuint(json_array_size(rows), ==, 1);
    g_assert_cmpstr(text_at(row, "class"), ==, "network");
    const gint64 after_ns = number_at(row, "begin_time_ns") - (SAMPLE_BASE_NS + SLOW_MINUTE * NS_PER_MINUTE);
    g_assert_cmpint(ABS(after_ns), <, NS_PER_MINUTE);

    const json_t *link = json_object_get(row, "link");
    g_assert_nonnull(link);
    const gboolean forth = strcmp(text_at(link, "from"), "dn2") == 0;
    g_assert_cmpstr(text_at(link, "from"), ==, forth ? "dn2" : "dn3");
    g_assert_cmpstr(text_at(link, "to"), ==, forth ? "dn3" : "dn2");
    g_assert_true(forth || slow == SLOW_BOTH_WAYS);
    g_assert_cmpint(json_is_true(json_object_get(link, "both_ways")), ==, slow == SLOW_BOTH_WAYS);
    g_assert_cmpint(number_at(link, "transfers"), >=, LINK_TRANSFERS_LEAST);
    g_assert_cmpint(number_at(link, "median_ns"), >=, NS_PER_SEC); /* sixteen packets of 150 ms, but for overlaps */
    g_assert_cmpint(MAX(number_at(link, "to_others_ns"), number_at(link, "from_others_ns")), <, 200 * NS_PER_MS);
    g_assert_cmpint(number_at(link, "spans"), <=, LINK_SPANS);
    const json_t *advice = json_object_get(row, "advice");
    g_assert_nonnull(strstr(json_string_value(json_array_get(advice, 0)), "between the two"));
    g_assert_nonnull(strstr(json_string_value(json_array_get(advice, 1)), "ethtool"));

    if (slow == SLOW_LINK) fixture_check_document("slow-link", answer);

    g_autofree char *asked = g_strdup_printf("trace=%s", text_at(json_object_get(row, "example"), "trace"));
    json_auto_t *why = fixture_answer(&fixture, "why", asked);
    const json_t *wait = row_where(json_object_get(why, "waits"), "host", "dn3");
    g_assert_nonnull(json_object_get(json_object_get(wait, "spell"), "link"));

    json_auto_t *nodes = fixture_answer(&fixture, "nodes", "host=dn3");
    g_assert_nonnull(json_object_get(json_array_get(json_object_get(nodes, "spells"), 0), "link"));
}

static void test_link(void) { check_link(SLOW_LINK); }
static void test_both_ways(void) { check_link(SLOW_BOTH_WAYS); }

/* The network of one host is no link. */
static void test_host(void) {
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    make_files(&fixture, SLOW_HOST);
    json_auto_t *answer = fixture_answer(&fixture, "slow", "");
    const json_t *row = row_where(json_object_get(answer, "slow"), "host", "dn3");
    g_assert_nonnull(row);
    g_assert_cmpstr(text_at(row, "class"), ==, "network");
    g_assert_null(json_object_get(row, "link"));
}

/* ---- readers ---- */

#define CLIENTS 3u
#define READS   40u /* in a minute */
#define PIECES  8u  /* packets of a block */
#define BUFFER  3u  /* so many lie in the DataNode's socket */

/* What each packet between them takes, in microseconds; 0: all that the DataNode sends, or the client takes. */
typedef struct Pace {
    guint node, client;
    gint64 us;
} Pace;

typedef struct ReadCase {
    const char *name;
    Pace slow[2];         /* the slowest counts */
    guint slow_disk;      /* of which DataNode; 0: none */
    guint nodes;          /* so many DataNodes have blocks */
    gboolean pieces;      /* each packet is a read, and a trace, of its own */
    guint linked[2];      /* DataNode and client; 0: no link is found */
    const char *hosts[4]; /* at which it is looked for */
} ReadCase;

static const ReadCase read_cases[] = {
    {"a link", {{2, 2, 250000}}, 0, 4, FALSE, {2, 2}, {"dn2", "c2"}},
    {"a link, where each packet is a trace", {{2, 2, 250000}}, 0, 4, TRUE, {2, 2}, {"dn2", "c2"}},
    {"a link, seen from others", {{2, 2, 250000}}, 0, 4, FALSE, {0, 0}, {"dn1", "dn3", "c1", "c3"}},
    {"a DataNode's network", {{2, 0, 130000}}, 0, 4, FALSE, {0, 0}, {"dn2", "c1", "c2", "dn1"}},
    {"a client's network", {{0, 2, 130000}}, 0, 4, FALSE, {0, 0}, {"c2", "dn1", "dn2", "c1"}},
    {"the networks of both", {{2, 0, 130000}, {0, 2, 130000}}, 0, 4, FALSE, {0, 0}, {"c2", "dn2", "c1", "dn1"}},
    {"a link, beside a slow disk", {{2, 2, 250000}}, 3, 4, FALSE, {2, 2}, {"dn2", "c2"}},
    {"a link, beside a DataNode's network", {{2, 2, 250000}, {4, 0, 130000}}, 0, 4, FALSE, {2, 2}, {"dn2", "c2"}},
    {"a client that knows one DataNode", {{1, 2, 250000}}, 0, 1, FALSE, {0, 0}, {"dn1", "c2"}},
};

static gint64 piece_us(const ReadCase *c, guint node, guint client) {
    gint64 us = 3000;
    for (guint i = 0; i < G_N_ELEMENTS(c->slow); i++) {
        const Pace *pace = &c->slow[i];
        if ((pace->node == 0 || pace->node == node) && (pace->client == 0 || pace->client == client))
            us = MAX(us, pace->us);
    }
    return us;
}

/* Of a block, in microseconds. */
typedef struct Read {
    char *server, *client; /* tracers */
    gint64 at, disk;
    gint64 came[PIECES]; /* to the client */
} Read;

static guint64 add_with(Files *files, guint64 parent, const char *name, gint64 times[2], const char *values) {
    const SpanRow row = {files->trace, ++files->span,       parent, name, files->tracer,
                         times[0],     times[1] - times[0], values, 0};
    row_to_batch(&row, files->batch);
    return row.span;
}

/* The DataNode puts one packet after the other into its socket, which has room for some. */
static void add_served(Files *files, const Read *read, guint64 reader) {
    files->tracer = read->server;
    const guint64 serve = add(files, reader, "OpReadBlockProto", read->at + 300, read->came[PIECES - 1] + 200);
    add_with(files, serve, "BlockSender#new", (gint64[]){read->at + 400, read->at + 500}, "block=7");
    gint64 sent = read->at + 1000;
    for (guint i = 0; i < PIECES; i++) {
        const gint64 from = sent, room = i >= BUFFER ? read->came[i - BUFFER] : 0;
        sent = MAX(from + read->disk + 20, room);
        g_autofree char *values =
            g_strdup_printf("bytes=65536;waitNanos=%" G_GINT64_FORMAT "000;transferNanos=%" G_GINT64_FORMAT "000",
                            sent - from - read->disk, read->disk);
        add_with(files, serve, "FileIoProvider#transferToSocketFully", (gint64[]){from, sent}, values);
    }
    files->tracer = read->client;
}

static void add_packets(Files *files, const Read *read, gboolean pieces) {
    guint64 root = add(files, 0, "DFSInputStream#byteArrayRead", read->at, read->came[pieces ? 0 : PIECES - 1] + 100);
    add_served(files, read, add(files, root, "BlockReaderRemote#new", read->at + 100, read->at + 1500));
    for (guint i = 0; i < PIECES; i++) {
        const gint64 from = i > 0 ? read->came[i - 1] : read->at + 1500;
        if (pieces && i > 0) {
            files->trace++;
            root = add(files, 0, "DFSInputStream#byteArrayRead", from, read->came[i] + 100);
        }
        add_with(files, root, "BlockReaderRemote2#readNextPacket", (gint64[]){from, read->came[i]},
                 "block=7;bytes=65536");
    }
}

static void add_read(Files *files, const ReadCase *c, guint minute, guint number) {
    const guint node = 1 + (guint)g_rand_int_range(files->rand, 0, (gint32)c->nodes), client = 1 + number % CLIENTS;
    g_autofree char *server = g_strdup_printf("DataNode/dn%u/1", node);
    g_autofree char *reader = g_strdup_printf("FSClient/c%u/7", client);
    Read read = {.server = server, .client = reader, .disk = c->slow_disk == node ? 400000 : 500};
    read.at = (gint64)minute * 60000000 + (gint64)number * 1400000;
    for (guint i = 0; i < PIECES; i++) {
        const gint64 us = MAX(read.disk, around(files, piece_us(c, node, client)));
        read.came[i] = (i > 0 ? read.came[i - 1] : read.at + 1500) + us;
    }
    files->trace++;
    files->span = 0;
    files->tracer = reader;
    add_packets(files, &read, c->pieces);
}

static void make_reads(Fixture *fixture, const ReadCase *c) {
    Files files = {.fixture = fixture, .rand = g_rand_new_with_seed(23)};
    files.batch = batch_new();
    for (guint minute = 0; minute < 5; minute++)
        for (guint i = 0; i < READS; i++) add_read(&files, c, minute, i);
    fixture_store_batch(fixture, files.batch);
    batch_free(files.batch);
    g_rand_free(files.rand);
}

static void test_readers(gconstpointer data) {
    const ReadCase *c = data;
    g_auto(Fixture) fixture = {0};
    fixture_init(&fixture);
    make_reads(&fixture, c);
    g_autoptr(QueryParams) params = query_params_new();
    const Asked asked = {fixture.archive, params, SAMPLE_BASE_NS + 60 * NS_PER_MINUTE, ANSWER_ROWS_MAX, NULL, NULL};
    for (guint i = 0; i < G_N_ELEMENTS(c->hosts) && c->hosts[i] != NULL; i++) {
        Dict *dict = archive_dict(fixture.archive);
        const char *host = c->hosts[i];
        const LinkOf of = {dict_find(dict, host, strlen(host)), TRUE, host[0] == 'c', SAMPLE_BASE_NS,
                           SAMPLE_BASE_NS + 5 * NS_PER_MINUTE};
        g_autoptr(GError) error = NULL;
        LinkFound found;
        link_find(&asked, &of, &found, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(found.link.from != 0, ==, c->linked[0] != 0);
        if (found.link.from == 0) continue;
        g_autofree char *from = g_strdup_printf("dn%u", c->linked[0]), *to = g_strdup_printf("c%u", c->linked[1]);
        g_assert_cmpstr(dict_text(dict, found.link.from, NULL), ==, from);
        g_assert_cmpstr(dict_text(dict, found.link.to, NULL), ==, to);
        g_assert_false(found.link.both_ways);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(read_cases); i++) {
        g_autofree char *path = g_strdup_printf("/query/slow-links/readers, %s", read_cases[i].name);
        g_test_add_data_func(path, &read_cases[i], test_readers);
    }
    g_test_add_func("/query/slow-links/link", test_link);
    g_test_add_func("/query/slow-links/both-ways", test_both_ways);
    g_test_add_func("/query/slow-links/host", test_host);
    return g_test_run();
}
