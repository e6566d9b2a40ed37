package io.plumbline.weave.htrace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.plumbline.trace.OpenScope;
import io.plumbline.trace.Point;
import io.plumbline.trace.Sampling;
import io.plumbline.trace.report.Trouble;
import java.lang.management.ManagementFactory;
import org.apache.htrace.core.Sampler;
import org.apache.htrace.core.SpanId;
import org.apache.htrace.core.TraceScope;

/** Who decides, and that it is asked once. */
final class SamplingCases {
    /** Past the last compilation, which may put a few objects onto the heap once. */
    private static final int WARM = 500_000;
    private static final int CALLS = 100_000;
    /* The JIT compiles beside the test and may throw code away: in such a round a few hundred bytes are its own. */
    private static final int ROUNDS = 10;

    public void hadoopsKeysDecideWhereNothingElseDoes() {
        Traced traced = Traced.always();
        assertNotNull(traced.tracer.newScope("a").getSpan());
        Traced never = new Traced("NameNode");
        assertNull(never.tracer.newNullScope().getSpan());
    }

    public void oursGoBeforeHadoopsKeys() {
        Traced traced = Traced.always();
        Sampling.current().fromJmx("kept*=always; never");
        TraceScope no = traced.tracer.newScope("other");
        assertNull(no.getSpan());
        assertNull(traced.tracer.newScope("kept below").getSpan());
        traced.tracer.newNullScope().close();
        no.close();
        no.close();
        TraceScope yes = traced.tracer.newScope("kept#1", SpanId.INVALID);
        assertNotNull(yes.getSpan());
        yes.close();
    }

    public void whatGoesOnIsNotAskedAgain() {
        Traced traced = Traced.always();
        Sampling.current().fromJmx("never");
        TraceScope continued = traced.tracer.newScope("continued", SpanId.fromRandom());
        assertNotNull(continued.getSpan());
        ((OpenScope) traced.engine.begin(Traced.root("below"))).close(null);
        continued.close();
        assertEquals("continued", traced.parent("below"));
    }

    public void serversKeepTheirOwnSamplers() {
        Traced server = new Traced("DataNode");
        Sampling.current().fromJmx("always");
        TraceScope none = server.tracer.newScope("sendBlock_1");
        assertNull(none.getSpan());
        none.close();
        server.tracer.addSampler(Sampler.ALWAYS);
        server.tracer.newScope("sendBlock_2").close();
        assertNotNull(server.span("sendBlock_2"));
    }

    public void belowAnUnsampledRootOfOursNothingIsSampled() {
        Traced traced = Traced.always();
        Sampling.current().fromJmx("root=never; always");
        Object token = traced.engine.begin(Traced.root("root"));
        assertSame(traced.tracer, token);
        TraceScope hadoop = traced.tracer.newScope("hadoop");
        assertNull(hadoop.getSpan());
        assertNull(traced.engine.begin(Traced.root("other root")));
        hadoop.close();
        traced.engine.leave(token);
        traced.tracer.newScope("afterwards").close();
        assertNotNull(traced.span("afterwards"));
        assertEquals(1, traced.spans.size());
        assertEquals(0, Trouble.count(Trouble.Kind.ENGINE), Trouble.last());
    }

    public void whatTheShellDeclinedTheFileSystemDoesNotTakeUp() {
        Traced shell = new Traced("FsShell");
        Traced client = new Traced("FSClient");
        Sampling.current().fromJmx("put=never; always");
        TraceScope put = shell.tracer.newScope("put");
        TraceScope create = client.tracer.newScope("newStreamForCreate");
        assertNull(create.getSpan());
        create.close();
        assertNull(client.engine.begin(Traced.root("write")));
        put.close();
        client.tracer.newScope("create").close();
        assertNotNull(client.span("create"));
    }

    public void rootsOfOursFollowHadoopsKeysToo() {
        Traced never = new Traced("FSClient", "sampler.classes", "NeverSampler");
        Object token = never.engine.begin(Traced.root("root"));
        if (token != null) {
            never.engine.leave(token);
        }
        assertEquals(0, never.spans.size());
        Traced always = Traced.always();
        ((OpenScope) always.engine.begin(Traced.root("root"))).close(null);
        assertNotNull(always.span("root"));
    }

    public void withoutATracerThereIsNothing() {
        Sampling.current().fromJmx("always");
        assertNull(new io.plumbline.trace.htrace.HTraceEngine().begin(Traced.root("root")));
    }

    public void unsampledCallsAllocateNothing() {
        Traced traced = new Traced("FSClient");
        Sampling.current().fromJmx("0.000000000001");
        Point point = Traced.point("function");
        Point root = Traced.root("root");
        calls(traced, point, root, WARM);
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().getId();
        long nothing = allocated(threads, thread, () -> {});
        long allocated = allocated(threads, thread, () -> calls(traced, point, root, CALLS));
        assertEquals(nothing, allocated, "bytes in " + CALLS + " calls");
        assertEquals(0, Trouble.count(Trouble.Kind.ENGINE), Trouble.last());
    }

    private static void calls(Traced traced, Point point, Point root, int times) {
        for (int i = 0; i < times; i++) {
            Object token = traced.engine.begin(root);
            Object inner = traced.engine.begin(point);
            if (inner != null) {
                throw new AssertionError(inner);
            }
            if (token != null) {
                traced.engine.leave(token);
            }
        }
    }

    /** The least of some rounds: what each call allocated would be in all of them. */
    private static long allocated(com.sun.management.ThreadMXBean threads, long thread, Runnable work) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < ROUNDS; i++) {
            long before = threads.getThreadAllocatedBytes(thread);
            work.run();
            least = Math.min(least, threads.getThreadAllocatedBytes(thread) - before);
        }
        return least;
    }
}
