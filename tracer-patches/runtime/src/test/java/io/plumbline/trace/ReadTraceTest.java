package io.plumbline.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Reads of an input stream that are roots of one trace, and when they are not. */
class ReadTraceTest {
    private static final Point READ =
            PointBootstrap.point("Read", "client", Point.ROOT | Point.FOLLOWS, "", "");
    private static final Point UNSAMPLED =
            PointBootstrap.point("Unsampled", "client", Point.ROOT | Point.FOLLOWS, "", "");
    private static final Point ROOT = PointBootstrap.point("Root", "client", Point.ROOT, "", "");
    private static final long SECOND = 1_000_000_000L;

    private final Input input = new Input();
    private Caught caught;
    private long now = 7;
    private long ids = 100;

    /** A stream that is read; as woven. */
    private static final class Input implements StreamHooks.Input {
        private Object reads;
        private int beyond = 1;

        @Override
        public Object plumbReads() {
            return reads;
        }

        @Override
        public void plumbReads(Object kept) {
            reads = kept;
        }

        @Override
        public int plumbBeyond() {
            return beyond;
        }
    }

    @AfterEach
    void close() {
        if (caught != null) {
            caught.close();
        }
    }

    /** The trace of a read, as an engine has it; 0: one of its own. */
    private long read(boolean block, long seconds) {
        now += seconds * SECOND;
        input.beyond = block ? 1 : 0;
        ReadTrace reads = ReadTrace.of(input, now);
        if (reads != null && reads.id() == 0) {
            reads.begun(++ids);
        }
        return reads == null ? 0 : reads.id();
    }

    @Test
    void reads_of_small_blocks_are_one_trace_for_a_while() {
        assertEquals(List.of(101L, 101L, 101L, 101L, 102L, 102L),
                List.of(read(true, 0), read(false, 1), read(true, 3), read(false, 4), read(true, 4), read(false, 1)));
    }

    @Test
    void reads_of_a_large_block_are_one_trace_for_as_long_as_plumbd_keeps_it_whole() {
        long trace = read(true, 0);
        for (int i = 0; i < 14; i++) {
            assertEquals(trace, read(false, 20));
        }
        assertEquals(0, read(false, 20));
        assertEquals(0, read(false, 1), "up to the next block");
        assertEquals(trace + 1, read(true, 1));
    }

    @Test
    void a_trace_has_so_many_reads_and_no_more() {
        long trace = read(true, 0);
        for (int i = 1; i < ReadTrace.MANY_READS; i++) {
            assertEquals(trace, read(false, 0));
        }
        assertEquals(trace + 1, read(true, 0), "another block is another trace");
        for (int i = 1; i < ReadTrace.MOST_READS; i++) {
            assertEquals(trace + 1, read(false, 0));
        }
        assertEquals(0, read(false, 0));
    }

    @Test
    void a_stream_that_is_left_alone_begins_anew() {
        long trace = read(true, 0);
        assertEquals(trace, read(false, 24));
        assertEquals(0, read(false, 25));
        assertEquals(trace + 1, read(true, 100));
    }

    @Test
    void in_a_block_whose_begin_was_not_sampled_each_read_is_a_trace() {
        read(true, 0);
        ReadTrace before = (ReadTrace) input.reads;
        input.beyond = 0;
        ReadTrace.begun(input, before, before.reads());
        assertNotNull(input.reads, "the block's begin was");
        input.beyond = 1;
        ReadTrace.begun(input, before, before.reads() - 1);
        assertNotNull(input.reads, "this read was");
        ReadTrace.begun(input, before, before.reads());
        assertNull(input.reads);
        assertEquals(0, read(false, 0));
    }

    private void begin(Object stream) {
        Object token = Hooks.beginRead(stream, READ);
        Hooks.finish(null, token);
        input.beyond = 0;
    }

    private Set<String> traces() {
        return caught.all().stream().map(span -> span.id.substring(0, 16)).collect(Collectors.toSet());
    }

    @Test
    void roots_are_one_trace_without_parents() {
        caught = Caught.sampling("always");
        begin(input);
        begin(input);
        assertEquals(1, traces().size());
        assertEquals(2, caught.all().stream().map(span -> span.id).collect(Collectors.toSet()).size());
        caught.all().forEach(span -> assertEquals(List.of(), span.parents));
        begin(new Input());
        begin(new Object());
        begin(null);
        assertEquals(4, traces().size());
    }

    @Test
    void reads_below_another_span_stay_there() {
        caught = Caught.sampling("always");
        Object root = Hooks.begin(ROOT);
        begin(input);
        Hooks.finish(null, root);
        assertNull(input.reads);
        assertEquals(caught.one("Root").id, caught.one("Read").parents.get(0));
    }

    @Test
    void a_block_that_begins_below_another_span_ends_the_trace() {
        caught = Caught.sampling("always");
        begin(input);
        Object root = Hooks.begin(ROOT);
        begin(input);
        assertNotNull(input.reads, "within the block");
        input.beyond = 1;
        begin(input);
        Hooks.finish(null, root);
        assertNull(input.reads);
        begin(input);
        begin(input);
        assertEquals(4, traces().size(), "the first, that of the root, and one for each read after it");
    }

    @Test
    void a_block_whose_begin_was_not_sampled_ends_the_trace() {
        caught = Caught.sampling("Unsampled=never; always");
        begin(input);
        input.beyond = 1;
        Hooks.finish(null, Hooks.beginRead(input, UNSAMPLED));
        assertNull(input.reads);
        input.beyond = 0;
        begin(input);
        begin(input);
        assertEquals(3, traces().size());
    }

    @Test
    void small_blocks_stay_one_trace() {
        caught = Caught.sampling("always");
        begin(input);
        input.beyond = 1;
        begin(input);
        begin(input);
        assertEquals(1, traces().size());
    }

    @Test
    void each_read_is_asked_for() {
        caught = Caught.sampling("every 2");
        for (int i = 0; i < 4; i++) {
            begin(input);
        }
        assertEquals(2, caught.all().size());
    }
}
