/* The critical path through waits: simulated pipelines, and files of several blocks, whose bottleneck is known. */
#include "tests/base/seed.h"
#include "tests/calltree/forest.h"
#include "tests/calltree/simulated.h"

#define WAIT "waitForAckedSeqno"
#define DISK "ReplicaOutputStreams#writeDataToDisk"
#define OP   "OpWriteBlockProto"

#define PACKETS 400u
#define HOSTS   4u

/* What is slow at a DataNode: its network in both directions, or only what comes in, or goes out. */
typedef enum { SLOW_DISK, SLOW_LINK, SLOW_NETWORK, SLOW_SENDING, SLOW_NOTHING } Slow;

/* One block written through some DataNodes, each with a link before it and a disk. Packets are taken one after the
 * other; so many of them may be on their way unacknowledged, and so many lie between two neighbours. */
typedef struct Pipeline {
    guint packets, stages, window, buffer;
    guint host[STAGES_MAX];           /* which DataNode a stage is */
    guint slow;                       /* the stage with the bottleneck; STAGES_MAX: none has it */
    Slow what;                        /* of it */
    gint64 stop_every_ns, stopped_ns; /* the slow stage's process stands still for so long, again and again */
    gint64 slow_us, usual_us;         /* on average, of the bottleneck and of all others */
    gint64 gap_us;                    /* after each packet a station does something else */
    gint64 skew_ns[STAGES_MAX];       /* what a DataNode's clock is ahead of the client's */
    /* What happens to each packet, in the client's time. */
    gint64 queued[PACKETS], send_from[PACKETS], send_to[PACKETS], acked[PACKETS];
    gint64 arrive[STAGES_MAX][PACKETS];
    gint64 receive_from[STAGES_MAX][PACKETS], receive_to[STAGES_MAX][PACKETS];
    gint64 mirrored[STAGES_MAX][PACKETS], done[STAGES_MAX][PACKETS];
    gint64 acks_from[STAGES_MAX][PACKETS], acks_to[STAGES_MAX][PACKETS]; /* it waits for the next one's */
    gint64 answered[STAGES_MAX][PACKETS];
} Pipeline;

/* When a process is through that would be through then, did it never stop. */
static gint64 ready_at(const Pipeline *p, guint stage, gint64 time) {
    if (stage != p->slow || p->stop_every_ns == 0) return time;
    const gint64 into_ns = time % p->stop_every_ns;
    return into_ns < p->stopped_ns ? time - into_ns + p->stopped_ns : time;
}

static void pass_stage(Pipeline *p, GRand *rand, guint stage, guint packet, gint64 sent_ns) {
    const gboolean slow = stage == p->slow, sends = p->what == SLOW_NETWORK || p->what == SLOW_SENDING;
    const gboolean into = slow && (p->what == SLOW_NETWORK || p->what == SLOW_LINK);
    const gboolean out_of = sends && stage == p->slow + 1;
    const gint64 link_ns = service_ns(rand, into || out_of ? p->slow_us : p->usual_us);
    const gint64 disk_ns = service_ns(rand, slow && p->what == SLOW_DISK ? p->slow_us : p->usual_us);
    p->arrive[stage][packet] = MAX(sent_ns, before(p->arrive[stage], packet, 1)) + link_ns;
    p->receive_from[stage][packet] = packet > 0 ? p->done[stage][packet - 1] + p->gap_us * US : 0;
    p->receive_to[stage][packet] =
        ready_at(p, stage, MAX(p->receive_from[stage][packet], p->arrive[stage][packet]) + 5 * US);
    gint64 room_ns = stage + 1 < p->stages ? before(p->receive_to[stage + 1], packet, p->buffer) : 0;
    p->mirrored[stage][packet] = ready_at(p, stage, MAX(p->receive_to[stage][packet] + 5 * US, room_ns));
    p->done[stage][packet] = ready_at(p, stage, p->mirrored[stage][packet] + disk_ns);
}

/* A thread of its own passes acknowledgements on: of a packet once it is done, and the next DataNode has sent its. */
static void pass_ack(Pipeline *p, guint stage, guint packet) {
    const gboolean last = stage + 1 == p->stages;
    const gint64 from_ns = p->acks_from[stage][packet] = before(p->answered[stage], packet, 1);
    const gint64 came_ns = last ? from_ns : MAX(from_ns, p->answered[stage + 1][packet] + 5 * US);
    p->acks_to[stage][packet] = ready_at(p, stage, came_ns);
    p->answered[stage][packet] = ready_at(p, stage, MAX(p->acks_to[stage][packet], p->done[stage][packet]) + 5 * US);
}

static void pipeline_run(Pipeline *p, GRand *rand) {
    for (guint packet = 0; packet < p->packets; packet++) {
        p->queued[packet] = MAX(before(p->queued, packet, 1) + 20 * US, before(p->acked, packet, p->window));
        gint64 sent_ns = p->send_from[packet] = MAX(p->queued[packet], before(p->send_to, packet, 1));
        p->send_to[packet] = MAX(sent_ns + 5 * US, before(p->receive_to[0], packet, p->buffer));
        for (guint stage = 0; stage < p->stages; stage++) {
            pass_stage(p, rand, stage, packet, sent_ns);
            sent_ns = p->receive_to[stage][packet];
        }
        for (guint stage = p->stages; stage-- > 0;) pass_ack(p, stage, packet);
        p->acked[packet] = p->answered[0][packet] + 5 * US;
    }
}

static void add_stage(Maker *m, const Pipeline *p, guint stage, guint op) {
    const guint answers =
        add_call(m, "PacketResponder#run", op, p->receive_from[stage][0], p->answered[stage][p->packets - 1]);
    for (guint i = 0; i < p->packets && stage + 1 < p->stages; i++)
        add_call(m, "PipelineAck#readFields", answers, p->acks_from[stage][i], p->acks_to[stage][i]);
    for (guint i = 0; i < p->packets; i++) {
        const gint64 from = p->receive_from[stage][i], received = p->receive_to[stage][i];
        const guint packet = add_call(m, "BlockReceiver#receivePacket", op, from, p->done[stage][i]);
        add_call(m, "PacketReceiver#receiveNextPacket", packet, from, received);
        if (stage + 1 < p->stages)
            add_call(m, "PacketReceiver#mirrorPacketTo", packet, received, p->mirrored[stage][i]);
        add_call(m, DISK, packet, p->mirrored[stage][i], p->done[stage][i]);
    }
}

static void add_pipeline(Maker *m, const Pipeline *p, guint root) {
    const gint64 end_ns = p->acked[p->packets - 1];
    guint op = 0;
    m->tracer = 0;
    m->skew_ns = 0;
    for (guint i = 0; i < p->packets; i++) {
        const gint64 ready_ns = before(p->queued, i, 1) + 20 * US;
        if (p->queued[i] > ready_ns) add_call(m, WAIT, root, ready_ns, p->queued[i]);
        const guint streamer = add_call(m, "dataStreamer", root, p->send_from[i], p->acked[i]);
        add_call(m, "DataStreamer#writeTo", streamer, p->send_from[i], p->send_to[i]);
        if (i == 0) op = streamer;
    }
    add_call(m, WAIT, root, p->queued[p->packets - 1], end_ns);

    for (guint stage = 0; stage < p->stages; stage++) {
        m->tracer = tracer_of(p->host[stage]);
        m->skew_ns = p->skew_ns[stage];
        op = add_call(m, OP, op, 0, end_ns);
        add_stage(m, p, stage, op);
    }
}

/* The client: a root that does nothing but wait where it must. */
static GByteArray *pipeline_spans(const Pipeline *p, const World *world) {
    Maker m = {.world = world, .bytes = g_byte_array_new()};
    const guint root = add_call(&m, "a", 0, 0, p->acked[p->packets - 1]);
    add_pipeline(&m, p, root);
    return m.bytes;
}

static void check_shares(guint32 seed, const World *world, const Pipeline *p) {
    static const char *const names[] = {"disk", "link", "network"};
    const char *what = p->stop_every_ns > 0 ? "processor" : names[p->what];
    g_autoptr(GByteArray) bytes = pipeline_spans(p, world);
    double shares[STAGES_MAX] = {0};
    measure(world, bytes, NULL, shares);
    for (guint stage = 0; stage < p->stages; stage++) {
        const gboolean good = stage == p->slow ? shares[stage] >= 80 : shares[stage] <= 5;
        if (!good)
            g_printerr("stage %u of %u has %.1f %%, slow is the %s of %u (%" G_GINT64_FORMAT
                       " us), window %u, buffer %u\n",
                       stage, p->stages, shares[stage], what, p->slow, p->slow_us, p->window, p->buffer);
        forest_check(seed, good);
    }
}

static void make_stages(Pipeline *p, GRand *rand) {
    p->packets = PACKETS;
    p->stages = (guint)g_rand_int_range(rand, 1, STAGES_MAX + 1);
    p->slow = (guint)g_rand_int_range(rand, 0, (gint32)p->stages);
    for (guint i = 0; i < p->stages; i++) p->host[i] = i;
}

static void check_pipeline(guint32 seed, gboolean skewed) {
    World world;
    world_init(&world, 0);
    GRand *rand = g_rand_new_with_seed(seed);
    g_autofree Pipeline *p = g_new0(Pipeline, 1);
    make_stages(p, rand);
    p->what = skewed ? SLOW_DISK : (Slow)g_rand_int_range(rand, SLOW_DISK, SLOW_NETWORK + 1);
    p->window = (guint)g_rand_int_range(rand, 16, 81);
    p->buffer = (guint)g_rand_int_range(rand, 1, 17);
    p->usual_us = 200;
    p->slow_us = g_rand_int_range(rand, 1200, 8000);
    for (guint i = 0; skewed && i < p->stages; i++) p->skew_ns[i] = g_rand_int_range(rand, -1000, 1000) * US;
    pipeline_run(p, rand);
    g_rand_free(rand);

    check_shares(seed, &world, p);
}

static void test_pipelines(gconstpointer skewed) {
    const guint32 base = run_seed();
    for (guint32 seed = base; seed != base + 100; seed++) check_pipeline(seed, skewed != NULL);
}

/* Each packet takes hardly any time, but all threads of one DataNode stand still for most of it. */
static void check_standing(guint32 seed) {
    World world;
    world_init(&world, 0);
    GRand *rand = g_rand_new_with_seed(seed);
    g_autofree Pipeline *p = g_new0(Pipeline, 1);
    make_stages(p, rand);
    p->window = (guint)g_rand_int_range(rand, 16, 81);
    p->buffer = (guint)g_rand_int_range(rand, 1, 17);
    p->usual_us = 20;
    p->stop_every_ns = 100000 * US;
    p->stopped_ns = g_rand_int_range(rand, 90, 97) * 1000 * US;
    pipeline_run(p, rand);
    g_rand_free(rand);
    check_shares(seed, &world, p);
}

static void test_standing(void) {
    const guint32 base = run_seed();
    for (guint32 seed = base; seed != base + 100; seed++) check_standing(seed);
}

/* ---- files ---- */

/* A file of several short blocks. Each is written through another three of four DataNodes, to the right or to the left
 * of the first one, so each of them sends to both of its neighbours. All of a block fits into the sockets' buffers. One
 * DataNode has a network that is slow in both directions or in one, or all of its threads stand still for most of the
 * time. */
#define HOSTS        4u
#define FILE_BLOCKS  8u
#define FILE_PACKETS 16u

static GByteArray *file_spans(Pipeline *p, GRand *rand, const World *world, guint guilty) {
    Maker m = {.world = world, .bytes = g_byte_array_new(), .last_id = 1};
    for (guint i = 0; i < FILE_BLOCKS; i++) {
        const guint step = i < HOSTS ? 1 : HOSTS - 1;
        p->slow = STAGES_MAX;
        for (guint stage = 0; stage < p->stages; stage++) {
            p->host[stage] = (i + stage * step) % HOSTS;
            if (p->host[stage] == guilty) p->slow = stage;
        }
        pipeline_run(p, rand);
        add_pipeline(&m, p, 1);
        m.begin_ns += p->acked[p->packets - 1];
    }
    const gint64 end_ns = m.begin_ns;
    m = (Maker){.world = world, .bytes = m.bytes};
    add_call(&m, "a", 0, 0, end_ns);
    return m.bytes;
}

static void check_file(guint32 seed, Slow what) {
    World world;
    world_init(&world, 0);
    GRand *rand = g_rand_new_with_seed(seed);
    const guint guilty = (guint)g_rand_int_range(rand, 0, (gint32)HOSTS);
    g_autofree Pipeline *p = g_new0(Pipeline, 1);
    *p = (Pipeline){.packets = FILE_PACKETS,
                    .stages = 3,
                    .window = 80,
                    .buffer = FILE_PACKETS,
                    .usual_us = 100,
                    .what = what,
                    .slow_us = g_rand_int_range(rand, 20000, 200000),
                    .stop_every_ns = what == SLOW_NOTHING ? 100000 * US : 0,
                    .stopped_ns = g_rand_int_range(rand, 95, 99) * 1000 * US,
                    .gap_us = g_rand_int_range(rand, 0, 200)};
    g_autoptr(GByteArray) bytes = file_spans(p, rand, &world, guilty);
    g_rand_free(rand);

    double shares[STAGES_MAX] = {0}, still[STAGES_MAX] = {0};
    measure(&world, bytes, NULL, shares);
    measure(&world, bytes, OP, still);
    for (guint host = 0; host < HOSTS; host++) {
        const gboolean good = host == guilty ? shares[host] >= 80 : shares[host] <= 5;
        if (!good)
            g_printerr("DataNode %u has %.1f %%, slow is %u (%" G_GINT64_FORMAT " us)\n", host, shares[host], guilty,
                       p->slow_us);
        forest_check(seed, good);
    }
    /* What the guilty one has is its links', if they are what is slow. */
    if (what != SLOW_NOTHING) forest_check(seed, still[guilty] <= 5);
}

static void test_files(gconstpointer what) {
    const guint32 base = run_seed();
    for (guint32 seed = base; seed != base + 50; seed++) check_file(seed, (Slow)GPOINTER_TO_UINT(what));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/calltree/pipelines/bottleneck", NULL, test_pipelines);
    g_test_add_data_func("/calltree/pipelines/clocks apart", "skewed", test_pipelines);
    g_test_add_func("/calltree/pipelines/one stands still", test_standing);
    static const char *const files[] = {"receives slowly", "has a slow network", "sends slowly", "stands still"};
    for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *path = g_strdup_printf("/calltree/pipelines/files, one %s", files[i]);
        g_test_add_data_func(path, GUINT_TO_POINTER(SLOW_LINK + i), test_files);
    }
    return g_test_run();
}
