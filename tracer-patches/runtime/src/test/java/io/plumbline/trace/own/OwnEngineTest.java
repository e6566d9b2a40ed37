package io.plumbline.trace.own;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.trace.Caught;
import io.plumbline.trace.Hooks;
import io.plumbline.trace.OpenScope;
import io.plumbline.trace.Point;
import io.plumbline.trace.PointBootstrap;
import io.plumbline.trace.Sampling;
import io.plumbline.trace.SpanRef;
import io.plumbline.trace.settings.HostName;
import io.plumbline.trace.settings.Switch;
import io.plumbline.trace.settings.TracerIdFormat;
import java.lang.management.ManagementFactory;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OwnEngineTest {
    private static final OwnEngine ENGINE = OwnEngine.INSTANCE;
    private static final Point ROOT = PointBootstrap.point("Root", "client", Point.ROOT, "path", "bytes");
    private static final Point INNER = PointBootstrap.point("Inner", "client", 0, "", "");
    private static final Point LEAF = PointBootstrap.point("Leaf", "client", 0, "bytes,what", "");
    private static final Point HEARTBEAT =
            PointBootstrap.point("Heartbeat", "datanode", Point.ROOT | Point.BACKGROUND, "", "");

    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    private Caught caught = Caught.sampling("always");

    @AfterEach
    void close() {
        caught.close();
        Switch.set(true);
    }

    private void sampling(String policy) {
        Sampling.current().fromJmx(policy);
    }

    private static OwnScope open(Point point) {
        return (OwnScope) ENGINE.begin(point);
    }

    @Test
    void calls_within_each_other_make_a_tree() {
        OwnScope root = open(ROOT);
        root.annotate("path", "/x");
        OwnScope inner = open(INNER);
        inner.close(null);
        OwnScope second = open(INNER);
        second.close(null);
        root.annotate("bytes", 7);
        root.close(null);
        assertEquals(List.of("Inner", "Inner", "Root"), caught.names());
        Caught.Span top = caught.one("Root");
        assertTrue(top.parents.isEmpty());
        assertEquals("/x", top.annotations.get("path"));
        assertEquals(7L, top.annotations.get("bytes"));
        for (Caught.Span child : caught.all().subList(0, 2)) {
            assertTrue(child.childOf(top));
            assertTrue(child.beginNs >= top.beginNs && child.endNs() <= top.endNs());
            assertTrue(child.annotations.isEmpty());
        }
        assertNotEquals(caught.all().get(0).id, caught.all().get(1).id);
        assertNull(ENGINE.capture());
    }

    private static OwnScope unlessLeaf(String name) {
        return open(PointBootstrap.point(name, "client", Point.UNLESS_LEAF, "in", "out"));
    }

    @Test
    void what_only_copies_is_not_recorded() {
        OwnScope root = open(ROOT);
        OwnScope copies = unlessLeaf("Copies");
        copies.annotate("in", 1);
        unlessLeaf("Copies within").close(null);
        copies.close(null);
        OwnScope inner = open(INNER);
        inner.close(null);
        root.close(null);
        assertEquals(List.of("Inner", "Root"), caught.names());
        assertTrue(caught.one("Inner").childOf(caught.one("Root")) && caught.one("Inner").annotations.isEmpty());
    }

    @Test
    void what_has_something_below_it_is_recorded() {
        OwnScope root = open(ROOT);
        OwnScope above = unlessLeaf("Above");
        OwnScope fetches = unlessLeaf("Fetches");
        OwnTracer.named("FSClient").begin("Hadoop's own");
        OwnTracer.current().close();
        fetches.close(null);
        above.close(null);
        OwnScope gives = unlessLeaf("Gives");
        SpanRef given = ENGINE.capture();
        gives.close(null);
        unlessLeaf("Throws").close(new IllegalStateException());
        root.close(null);
        ENGINE.beginBelow(given, INNER).close(null);
        ENGINE.beginBelow(given, PointBootstrap.point("Nothing", "client", Point.UNLESS_LEAF, "", "")).close(null);
        assertEquals(List.of("Hadoop's own", "Fetches", "Above", "Gives", "Throws", "Root", "Inner"), caught.names());
        assertTrue(caught.one("Hadoop's own").childOf(caught.one("Fetches")));
        assertTrue(caught.one("Fetches").childOf(caught.one("Above")));
        assertTrue(caught.one("Above").childOf(caught.one("Root")));
        assertTrue(caught.one("Inner").childOf(caught.one("Gives")));
    }

    @Test
    void what_a_detached_scope_may_have_below_it_is_recorded() {
        OwnScope root = open(ROOT);
        OwnScope detached = unlessLeaf("Detached");
        detached.detach();
        detached.close(null);
        unlessLeaf("Left open");
        root.close(null);
        assertEquals(List.of("Detached", "Root"), caught.names());
    }

    @Test
    void nothing_is_recorded_outside_of_a_root() {
        assertNull(ENGINE.begin(INNER));
        assertNull(ENGINE.capture());
        assertNull(ENGINE.beginBelow(null, INNER));
        assertTrue(caught.all().isEmpty());
    }

    @Test
    void below_a_root_that_is_not_sampled_nothing_is() {
        sampling("Other=always; Root=every 2; never");
        Object first = ENGINE.begin(ROOT);
        Hooks.finish(null, first);
        if (!Hooks.open(first)) { // where counting starts is left to chance
            Hooks.finish(null, ENGINE.begin(ROOT));
        }
        Object second = ENGINE.begin(ROOT);
        assertFalse(Hooks.open(second));
        assertNotNull(second);
        assertNull(ENGINE.begin(ROOT));
        assertNull(ENGINE.begin(INNER));
        assertNull(ENGINE.capture());
        ENGINE.leave(second);
        open(ROOT).close(null);
        assertEquals(List.of("Root", "Root"), caught.names());
    }

    @Test
    void never_needs_no_bookkeeping() {
        sampling("never");
        assertNull(ENGINE.begin(ROOT));
        sampling("always");
        open(ROOT).close(null);
        assertEquals(1, caught.all().size());
    }

    @Test
    void background_work_is_off_unless_wanted() {
        assertNull(ENGINE.begin(HEARTBEAT));
        OwnScope root = open(ROOT);
        assertNull(ENGINE.begin(HEARTBEAT));
        assertNull(ENGINE.beginBelow(ENGINE.capture(), HEARTBEAT));
        root.close(null);
        assertEquals(List.of("Root"), caught.names());
    }

    @Test
    void what_was_thrown_is_recorded() {
        open(ROOT).close(new java.io.IOException("no"));
        assertEquals("java.io.IOException", caught.one("Root").annotations.get("exception"));
    }

    @Test
    void work_goes_on_in_another_thread() throws Exception {
        OwnScope root = open(ROOT);
        SpanRef parent = ENGINE.capture();
        long begin = System.nanoTime();
        inThread(() -> {
            assertNull(ENGINE.capture());
            OpenScope below = ENGINE.beginBelow(parent, INNER);
            open(LEAF).close(null);
            below.close(null);
            assertNull(ENGINE.begin(INNER));
        });
        ENGINE.leaf(parent, LEAF, begin, begin + 1_000, 5, null);
        root.close(null);
        assertTrue(caught.one("Inner").childOf(caught.one("Root")));
        Caught.Span direct = caught.all().get(2);
        assertEquals(1_000, direct.durationNs);
        assertEquals(java.util.Map.of("bytes", 5L), direct.annotations);
        assertTrue(direct.childOf(caught.one("Root")));
        assertTrue(caught.all().get(0).childOf(caught.one("Inner")));
        assertEquals(caught.one("Root").tracer, caught.one("Inner").tracer);
    }

    @Test
    void closing_an_outer_one_first_ends_those_within() {
        long leaked = OwnEngine.leaked();
        OwnScope root = open(ROOT);
        OwnScope inner = open(INNER);
        OwnScope innermost = open(LEAF);
        root.close(null);
        assertEquals(List.of("Leaf", "Inner", "Root"), caught.names());
        assertEquals(leaked + 2, OwnEngine.leaked());
        assertNull(ENGINE.capture());
        OwnScope next = open(ROOT);
        inner.close(null);
        innermost.close(null);
        assertNotNull(ENGINE.capture());
        next.close(null);
        assertEquals(4, caught.all().size());
    }

    @Test
    void detached_it_goes_on_elsewhere() throws Exception {
        OwnScope root = open(ROOT);
        OwnScope moved = open(INNER);
        moved.detach();
        assertEquals(root.span().span(), ENGINE.capture().span);
        root.close(null);
        inThread(() -> {
            moved.reattach();
            open(LEAF).close(null);
            moved.annotate("where", "there");
            moved.close(null);
            moved.close(null);
            assertNull(ENGINE.capture());
        });
        assertEquals(List.of("Root", "Leaf", "Inner"), caught.names());
        assertTrue(caught.one("Leaf").childOf(caught.one("Inner")));
        assertEquals("there", caught.one("Inner").annotations.get("where"));
    }

    @Test
    void detached_and_closed_without_a_thread_it_ends() throws Exception {
        OwnScope root = open(ROOT);
        root.detach();
        inThread(() -> root.close(null));
        assertEquals(List.of("Root"), caught.names());
        root.reattach();
        assertNull(ENGINE.capture());
    }

    @Test
    void closed_by_another_thread_it_ends_when_its_own_looks() throws Exception {
        OwnScope root = open(ROOT);
        inThread(() -> root.close(null));
        assertTrue(caught.all().isEmpty());
        assertNull(ENGINE.capture());
        assertEquals(List.of("Root"), caught.names());
        OwnScope next = open(ROOT);
        assertTrue(next.span().data.parents() == 0);
        next.close(null);
    }

    @Test
    void a_view_of_a_span_that_ended_changes_nothing() {
        OwnScope first = open(ROOT);
        LiveSpan live = first.span();
        int serial = live.serial();
        first.close(null);
        OwnScope second = open(ROOT);
        assertEquals(live, second.span());
        live.annotate(serial, "late", "x");
        live.note(serial, "late");
        live.end(serial);
        second.close(null);
        assertTrue(caught.all().get(1).annotations.isEmpty() && caught.all().get(1).notes.isEmpty());
    }

    @Test
    void many_threads_keep_their_own_trees() throws Exception {
        int threads = 8;
        int rounds = 200;
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        CountDownLatch start = new CountDownLatch(1);
        List<Future<?>> ends = new java.util.ArrayList<>();
        for (int i = 0; i < threads; i++) {
            ends.add(pool.submit(() -> {
                start.await();
                for (int n = 0; n < rounds; n++) {
                    OwnScope root = open(ROOT);
                    open(INNER).close(null);
                    root.close(null);
                }
                return null;
            }));
        }
        start.countDown();
        for (Future<?> end : ends) {
            end.get(60, TimeUnit.SECONDS);
        }
        pool.shutdown();
        Set<String> ids = new HashSet<>();
        Set<String> roots = new HashSet<>();
        caught.all().forEach(span -> ids.add(span.id));
        caught.all().stream().filter(s -> s.name.equals("Root")).forEach(s -> roots.add(s.id));
        assertEquals(threads * rounds * 2, ids.size());
        caught.all().stream().filter(s -> s.name.equals("Inner"))
                .forEach(s -> assertTrue(s.parents.size() == 1 && roots.contains(s.parents.get(0))));
    }

    @Test
    void a_stack_that_ends_leaves_no_scope_behind() throws Exception {
        boolean[] left = new boolean[1];
        Thread thread = new Thread(null, () -> {
            for (int i = 0; i < 20; i++) {
                try {
                    recurse();
                } catch (StackOverflowError e) {
                    left[0] |= ENGINE.capture() != null;
                }
            }
        }, "small", 200_000);
        thread.start();
        thread.join();
        assertFalse(left[0]);
        assertFalse(caught.all().isEmpty());
    }

    private static void recurse() {
        Object token = Hooks.begin(ROOT);
        try {
            recurse();
        } finally {
            Hooks.finish(null, token);
        }
    }

    @Test
    void what_is_sampled_allocates_nothing_either() {
        caught.close();
        Caught.nothing("always");
        sampledCalls(200_000);
        long before = allocated();
        sampledCalls(200_000);
        assertTrue(allocated() - before < 200_000, "bytes: " + (allocated() - before));
    }

    private static void sampledCalls(int calls) {
        for (int i = 0; i < calls; i++) {
            OwnScope root = open(ROOT);
            root.annotate("bytes", i);
            open(INNER).close(null);
            root.close(null);
        }
    }

    private static long allocated() {
        return THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
    }

    @Test
    void what_is_not_sampled_allocates_nothing() {
        sampling("Root=0.0000000001; never");
        assertEquals(0, leastAllocations());
        sampling("never");
        assertEquals(0, leastAllocations());
    }

    /** Of several runs: the JVM itself allocates now and then while it compiles. */
    private static long leastAllocations() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 4 && least > 0; i++) {
            least = Math.min(least, allocations(1_000_000));
        }
        return least;
    }

    /** Bytes that this thread allocated by so many traced calls within each other. */
    private static long allocations(int calls) {
        allocated();
        long before = allocated();
        for (int i = 0; i < calls; i++) {
            Object root = ENGINE.begin(ROOT);
            Object inner = ENGINE.begin(INNER);
            if (inner != null || Hooks.open(root)) {
                throw new AssertionError("sampled");
            }
            ENGINE.leave(root);
        }
        return allocated() - before;
    }

    @Test
    void tracers_are_named_after_the_role_with_the_pid() {
        open(ROOT).close(null);
        assertEquals("FSClient/" + HostName.get() + "/" + ProcessHandle.current().pid(),
                caught.one("Root").tracer);
        assertEquals("DataNode/" + TracerIdFormat.address(), TracerIdFormat.expand("%{tname}/%{ip}", "DataNode"));
        assertEquals("x %{tname} a%b NameNode", TracerIdFormat.expand("x \\%{tname} a%b%{no} %{tname}", "NameNode"));
    }

    @Test
    void clocks_agree() {
        for (int i = 0; i < 1_000; i++) {
            java.time.Instant before = java.time.Instant.now();
            long epoch = SpanClock.epoch(System.nanoTime());
            long wall = before.getEpochSecond() * 1_000_000_000 + before.getNano();
            // A thread may lose its processor between the readings, which makes only the later one later.
            assertTrue(epoch - wall > -1_000_000, "behind by " + (wall - epoch));
        }
        assertEquals(500, SpanClock.corrected(500, 1_000_000_500, 1_000_000_000, 1_000_000_010));
        assertEquals(990, SpanClock.corrected(500, 1_000_001_000, 1_000_000_000, 1_000_000_010));
    }

    private static void inThread(Runnable work) throws Exception {
        Throwable[] thrown = new Throwable[1];
        Thread thread = new Thread(work);
        thread.setUncaughtExceptionHandler((t, e) -> thrown[0] = e);
        thread.start();
        thread.join();
        if (thrown[0] != null) {
            throw new AssertionError(thrown[0]);
        }
    }
}
