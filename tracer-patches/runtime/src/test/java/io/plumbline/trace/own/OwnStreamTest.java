package io.plumbline.trace.own;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.trace.Caught;
import io.plumbline.trace.Hooks;
import io.plumbline.trace.OpenScope;
import io.plumbline.trace.Point;
import io.plumbline.trace.PointBootstrap;
import io.plumbline.trace.StreamHooks;
import io.plumbline.trace.settings.Switch;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Output streams that are traces of their own, opened as woven code does it. */
class OwnStreamTest {
    private static final String STREAM = "DFSOutputStream#stream";
    private static final Point CREATE =
            PointBootstrap.point("create", "client", Point.ROOT | Point.STREAM, "src", "");
    private static final Point ROOT = PointBootstrap.point("Root", "client", Point.ROOT, "", "");
    private static final OwnTracer HADOOP = OwnTracer.named("FSClient");

    private Caught caught = Caught.sampling("always");

    @AfterEach
    void close() {
        caught.close();
        Switch.set(true);
    }

    /** What the stream keeps. */
    private static Object opened(long number) {
        Object create = Hooks.begin(CREATE);
        if (Hooks.open(create)) {
            Hooks.values(create, CREATE, "/f" + number, null, null, null);
        }
        Object stream = StreamHooks.opened(StreamHooks.opened(null, number), 99);
        Hooks.finish(null, create);
        return stream;
    }

    private static Object begun(Object stream, String name) {
        StreamHooks.within(stream);
        Object scope = HADOOP.begin(name);
        StreamHooks.within(null);
        return scope;
    }

    private static void call(Object stream, String name) {
        ((OwnScope) begun(stream, name)).close();
    }

    private static void inAnotherThread(Runnable work) throws InterruptedException {
        Thread other = new Thread(work);
        other.start();
        other.join();
    }

    @Test
    void all_calls_are_below_the_stream_in_whichever_thread() throws Exception {
        Object stream = opened(7);
        assertNull(Hooks.capture());
        call(stream, "write");
        inAnotherThread(() -> call(stream, "hflush"));
        call(stream, "close");
        StreamHooks.closed(stream, null);
        assertEquals(List.of("create", "write", "hflush", "close", STREAM), caught.names());
        Caught.Span root = caught.one(STREAM);
        assertEquals("/f7", root.annotations.get("path"));
        assertEquals(7L, root.annotations.get("stream"));
        for (Caught.Span span : caught.all().subList(0, 4)) {
            assertTrue(span.childOf(root), span.name);
            assertTrue(span.beginNs >= root.beginNs && span.endNs() <= root.endNs(), span.name);
        }
        assertEquals("/f7", caught.one("create").annotations.get("src"));
    }

    @Test
    void an_applications_span_has_its_streams_as_before() {
        Object root = Hooks.begin(ROOT);
        Object stream = opened(7);
        assertNull(stream);
        call(stream, "write");
        StreamHooks.closed(stream, null);
        Hooks.finish(null, root);
        assertEquals(List.of("create", "write", "Root"), caught.names());
        assertTrue(caught.one("write").childOf(caught.one("Root")));
    }

    @Test
    void a_call_within_a_span_stays_there() {
        Object stream = opened(7);
        Object root = Hooks.begin(ROOT);
        call(stream, "write");
        Hooks.finish(null, root);
        assertTrue(caught.one("write").childOf(caught.one("Root")));
    }

    @Test
    void decided_once_for_all_calls() throws Exception {
        close();
        caught = Caught.sampling(STREAM + "=never; always");
        Object stream = opened(7);
        assertNotNull(stream);
        Object write = begun(stream, "write");
        assertNull(HADOOP.begin("waits"));
        ((UnsampledRoot) write).leave();
        inAnotherThread(() -> ((UnsampledRoot) begun(stream, "hflush")).leave());
        StreamHooks.closed(stream, null);
        assertEquals(List.of(), caught.names());
        ((OwnScope) HADOOP.begin("another")).close();
        assertEquals(List.of("another"), caught.names());
    }

    @Test
    void what_opens_nothing_ends_at_once() {
        Object create = Hooks.begin(CREATE);
        Hooks.finish(new IOException("no"), create);
        assertEquals(List.of("create", STREAM), caught.names());
        assertEquals("java.io.IOException", caught.one(STREAM).annotations.get("exception"));
        assertNull(Hooks.capture());
        assertNull(StreamHooks.opened(null, 8), "that one was opened elsewhere");
    }

    @Test
    void closed_twice_is_one_span_and_says_what_failed() {
        Object stream = opened(7);
        StreamHooks.closed(stream, new IOException("disk"));
        StreamHooks.closed(stream, null);
        assertEquals("java.io.IOException", caught.one(STREAM).annotations.get("exception"));
    }

    @Test
    void two_streams_of_a_thread_are_two_traces() {
        Object one = opened(1);
        Object other = opened(2);
        call(one, "write");
        call(other, "hflush");
        StreamHooks.closed(other, null);
        StreamHooks.closed(one, null);
        String first = caught.one("write").parents.get(0);
        String second = caught.one("hflush").parents.get(0);
        assertEquals(List.of(second, first), List.of(caught.all().get(4).id, caught.all().get(5).id));
    }

    @Test
    void numbers_are_for_the_current_span() {
        StreamHooks.of(1);
        OpenScope root = (OpenScope) Hooks.begin(ROOT);
        StreamHooks.waits(7, 12);
        StreamHooks.writes(null, 5);
        StreamHooks.puts(new Object());
        root.close(null);
        assertEquals(java.util.Map.of("stream", 7L, "seqno", 12L), caught.one("Root").annotations);
    }

    @Test
    void switched_off_in_between() {
        Object stream = opened(7);
        Switch.set(false);
        assertNull(begun(stream, "write"));
        StreamHooks.closed(stream, null);
        assertEquals(List.of("create", STREAM), caught.names());
    }
}
