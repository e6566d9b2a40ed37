package io.plumbline.trace.own;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.trace.Caught;
import io.plumbline.trace.Hooks;
import io.plumbline.trace.Point;
import io.plumbline.trace.PointBootstrap;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TaskScopeTest {
    private static final Point READ = PointBootstrap.point("Read", "client", Point.ROOT, "", "");
    private static final long ID = 77;
    private static final long MS = 1_000_000;

    private Caught caught = Caught.sampling("always");

    @AfterEach
    void close() {
        caught.close();
        assertNull(ThreadState.get().current());
        assertFalse(ThreadState.get().unsampled());
    }

    private static TaskScope begin() {
        return TaskScope.begin("app-1", ID, OwnEngine.INSTANCE);
    }

    private static void read() {
        Object token = Hooks.begin(READ);
        Hooks.finish(null, token);
    }

    private static void burn(long nanos) {
        for (long end = System.nanoTime() + nanos; System.nanoTime() < end;) {
            Thread.onSpinWait();
        }
    }

    private static void inThread(Runnable work) throws InterruptedException {
        Thread thread = new Thread(work);
        thread.start();
        thread.join();
    }

    private static long number(Caught.Span span, String key) {
        return (Long) span.annotations.get(key);
    }

    @Test
    void the_trace_id_follows_from_application_and_attempt() throws Exception {
        int cases = 0;
        for (String line : Files.readAllLines(Path.of("../../tests/data/task_trace_ids.txt"))) {
            String[] words = line.split(" ");
            if (!line.startsWith("#") && words.length == 3) {
                assertEquals(words[2], String.format("%016x", TaskTraceId.of(words[0], Long.parseLong(words[1]))),
                        line);
                cases++;
            }
        }
        assertTrue(cases >= 9);
    }

    @Test
    void what_a_task_causes_is_below_it() {
        TaskScope task = begin();
        task.annotate("partition", 3);
        read();
        task.end(null);
        read();
        assertEquals(List.of("Read", "SparkTask", "Read"), caught.names());
        Caught.Span top = caught.one("SparkTask");
        assertEquals(String.format("%016x", TaskTraceId.of("app-1", ID)), top.id.substring(0, 16));
        assertEquals(List.of(), top.parents);
        assertEquals(3L, top.annotations.get("partition"));
        assertTrue(caught.all().get(0).childOf(top));
        assertFalse(caught.all().get(2).childOf(top));
    }

    @Test
    void calls_are_below_the_operation_whose_code_runs() {
        TaskScope task = begin();
        Operation outer = task.operation(ArrayList.class, 2, 0);
        Operation inner = task.operation(List.class, 1, 0);
        int none = outer.enter();
        read();
        int above = inner.enter();
        read();
        inner.exit(above);
        read();
        outer.exit(none);
        read();
        outer.exhausted();
        inner.exhausted();
        task.end(null);
        String first = caught.one("RDD:ArrayList").id;
        String second = caught.one("RDD:List").id;
        String top = caught.one("SparkTask").id;
        List<String> parents = new ArrayList<>();
        caught.all().stream().filter(span -> span.name.equals("Read")).forEach(span -> parents.addAll(span.parents));
        assertEquals(List.of(first, second, first, top), parents);
        assertTrue(caught.one("RDD:List").childOf(caught.one("SparkTask")));
        assertEquals(2L, number(caught.one("SparkTask"), "operations"));
    }

    /**
     * A call that is going on is nearer than the operation it was made in, and an operation within a call nearer than
     * that.
     */
    @Test
    void calls_and_operations_within_each_other() {
        TaskScope task = begin();
        Operation outer = task.operation(ArrayList.class, 2, 0);
        Operation inner = task.operation(List.class, 1, 0);
        int none = outer.enter();
        Object call = Hooks.begin(PointBootstrap.point("Call", "client", 0, "", ""));
        read();
        int above = inner.enter();
        read();
        inner.exit(above);
        Hooks.finish(null, call);
        outer.exit(none);
        task.end(null);
        List<String> parents = new ArrayList<>();
        caught.all().stream().filter(span -> span.name.equals("Read")).forEach(span -> parents.addAll(span.parents));
        assertEquals(List.of(caught.one("Call").id, caught.one("RDD:List").id), parents);
        assertTrue(caught.one("Call").childOf(caught.one("RDD:ArrayList")));
    }

    @Test
    void times_are_exclusive_and_add_up() {
        TaskScope task = begin();
        Operation outer = task.operation(ArrayList.class, 2, 0);
        Operation inner = task.operation(List.class, 1, 0);
        long begin = System.nanoTime();
        for (int i = 0; i < 5; i++) {
            int none = outer.enter();
            burn(4 * MS);
            int above = inner.enter();
            burn(8 * MS);
            inner.exit(above);
            outer.exit(none);
            burn(2 * MS);
        }
        long all = System.nanoTime() - begin;
        task.end(null);
        long outerNs = number(caught.one("RDD:ArrayList"), "exclusiveNs");
        long innerNs = number(caught.one("RDD:List"), "exclusiveNs");
        assertTrue(outerNs >= 20 * MS - MS, "outer " + outerNs);
        assertTrue(innerNs >= 40 * MS - MS, "inner " + innerNs);
        assertTrue(outerNs + innerNs <= all - 10 * MS + 5 * MS, outerNs + " + " + innerNs + " of " + all);
        assertEquals(outerNs + innerNs, number(caught.one("SparkTask"), "operationsNs"));
    }

    /** More threads than processors compute, so that each waits, and no longer than there was time. */
    @Test
    void waiting_for_a_processor_is_counted() throws InterruptedException {
        if (!RunDelay.FILE.exists()) {
            return; // not Linux
        }
        List<Thread> busy = new ArrayList<>();
        for (int i = 0; i < 4 * Runtime.getRuntime().availableProcessors(); i++) {
            Thread thread = new Thread(() -> burn(300 * MS));
            thread.start();
            busy.add(thread);
        }
        TaskScope task = begin();
        long begin = System.nanoTime();
        burn(200 * MS);
        long all = System.nanoTime() - begin;
        task.end(null);
        for (Thread thread : busy) {
            thread.join();
        }
        long waited = number(caught.one("SparkTask"), "runDelayNs");
        assertTrue(waited > 20 * MS && waited < all + 50 * MS, waited + " of " + all);
    }

    private static long parse(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        return RunDelay.parse(bytes, bytes.length);
    }

    @Test
    void what_the_kernel_counts_is_read() {
        assertEquals(34, parse("12 34 5\n"));
        assertEquals(0, parse("12 0 5\n"));
        assertEquals(RunDelay.UNKNOWN, parse("0 0 0\n"));
        assertEquals(RunDelay.UNKNOWN, parse("12 34\n"));
        assertEquals(RunDelay.UNKNOWN, RunDelay.parse(new byte[8], -1));
    }

    /** Far more passages than are timed one by one: shares as by sampling, and nothing lost. */
    @Test
    void many_short_calls_get_their_shares() {
        TaskScope task = begin();
        Operation outer = task.operation(ArrayList.class, 2, 0);
        Operation inner = task.operation(List.class, 1, 0);
        long begin = System.nanoTime();
        int none = outer.enter();
        for (long end = begin + 400 * MS; System.nanoTime() < end;) {
            burn(300);
            int above = inner.enter();
            burn(900);
            inner.exit(above);
        }
        outer.exit(none);
        long all = System.nanoTime() - begin;
        task.end(null);
        long outerNs = number(caught.one("RDD:ArrayList"), "exclusiveNs");
        long innerNs = number(caught.one("RDD:List"), "exclusiveNs");
        assertTrue(Math.abs(outerNs + innerNs - all) < 20 * MS, outerNs + " + " + innerNs + " of " + all);
        double share = (double) innerNs / (outerNs + innerNs);
        assertTrue(share > 0.5 && share < 0.9, "share " + share);
    }

    @Test
    void an_operation_that_is_computed_again_is_one_span() {
        TaskScope task = begin();
        for (int i = 0; i < 3; i++) {
            Operation again = task.operation(List.class, 1, 0);
            int none = again.enter();
            again.record();
            again.exit(none);
            again.exhausted();
        }
        task.operation(List.class, 1, 1);
        task.end(null);
        Caught.Span first = caught.all().get(0);
        assertEquals(3L, first.annotations.get("records"));
        assertEquals(3L, first.annotations.get("iterators"));
        assertEquals(1L, caught.all().get(1).annotations.get("partition"));
        String features = (String) first.annotations.get("jvmEnd");
        assertEquals(JvmFeatures.NAMES.split(",").length, features.split(",").length, features);
        for (String value : features.split(",")) {
            assertTrue(Double.parseDouble(value) >= -1, features);
        }
    }

    @Test
    void more_operations_than_are_told_apart() {
        TaskScope task = begin();
        for (int i = 0; i < TaskScope.MAX_OPERATIONS; i++) {
            assertNotNull(task.operation(List.class, i, 0));
        }
        assertNull(task.operation(List.class, TaskScope.MAX_OPERATIONS, 0));
        assertNotNull(task.operation(List.class, 5, 0));
        task.end(null);
        assertEquals(1L, number(caught.one("SparkTask"), "operationsRefused"));
    }

    @Test
    void a_thread_that_works_for_the_task() throws Exception {
        TaskScope task = begin();
        Operation operation = task.operation(List.class, 1, 0);
        inThread(() -> {
            read();
            TaskScope.adopt(ID);
            read();
            int none = operation.enter();
            read();
            burn(5 * MS);
            operation.exit(none);
            TaskScope.forsake();
            read();
        });
        task.end(null);
        List<Caught.Span> reads = new ArrayList<>(caught.all());
        reads.removeIf(span -> !span.name.equals("Read"));
        assertEquals(List.of(), reads.get(0).parents);
        assertTrue(reads.get(1).childOf(caught.one("SparkTask")));
        assertTrue(reads.get(2).childOf(caught.one("RDD:List")));
        assertEquals(List.of(), reads.get(3).parents);
        assertTrue(number(caught.one("RDD:List"), "otherThreadsNs") >= 4 * MS);
        assertTrue(number(caught.one("RDD:List"), "exclusiveNs") < 4 * MS);
    }

    @Test
    void a_thread_that_outlives_the_task() throws Exception {
        TaskScope task = begin();
        Operation operation = task.operation(List.class, 1, 0);
        Thread late = new Thread(() -> {
            TaskScope.adopt(ID);
            task.home().thread.interrupt();
            while (TaskScope.current() != null) {
                Thread.onSpinWait();
            }
            int none = operation.enter();
            read();
            operation.exit(none);
        });
        late.start();
        while (!Thread.interrupted()) {
            Thread.onSpinWait();
        }
        task.end(null);
        late.join();
        assertEquals(List.of(), caught.one("Read").parents);
    }

    @Test
    void a_task_that_is_not_sampled_records_nothing_wherever_it_works() throws Exception {
        caught.close();
        caught = Caught.sampling("SparkTask=0.0000001; always");
        TaskScope task = begin();
        assertFalse(task.sampled());
        assertNull(task.operation(List.class, 1, 0));
        read();
        inThread(() -> {
            TaskScope.adopt(ID);
            read();
        });
        task.end(null);
        assertEquals(List.of(), caught.names());
        read();
        assertEquals(List.of("Read"), caught.names());
    }

    @Test
    void without_tasks_in_the_policy_calls_are_roots() {
        caught.close();
        caught = Caught.sampling("SparkTask=never; always");
        assertNull(begin());
        read();
        assertEquals(List.of(), caught.one("Read").parents);
    }

    @Test
    void a_fraction_of_tasks_is_the_same_ones_everywhere() {
        caught.close();
        caught = Caught.sampling("0.25");
        int sampled = 0;
        for (int id = 0; id < 4000; id++) {
            TaskScope task = TaskScope.begin("app-2", id, OwnEngine.INSTANCE);
            boolean expected = TaskTraceId.of("app-2", id) >>> 11 < 1L << 51;
            assertEquals(expected, task.sampled(), "task " + id);
            sampled += expected ? 1 : 0;
            task.end(null);
        }
        assertTrue(sampled > 850 && sampled < 1150, sampled + " of 4000");
    }

    @Test
    void what_a_task_failed_of() {
        TaskScope task = begin();
        task.end(new IllegalStateException());
        task.end(null);
        assertEquals("java.lang.IllegalStateException", caught.one("SparkTask").annotations.get("exception"));
    }
}
