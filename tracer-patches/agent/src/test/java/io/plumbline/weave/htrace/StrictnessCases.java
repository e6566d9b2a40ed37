package io.plumbline.weave.htrace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.plumbline.trace.OpenScope;
import io.plumbline.trace.report.Trouble;
import org.apache.htrace.core.Span;
import org.apache.htrace.core.SpanReceiver;
import org.apache.htrace.core.TraceScope;
import org.apache.htrace.core.Tracer;

/** HTrace throws when a scope is closed that is not the current one. Never because of one of ours. */
final class StrictnessCases {
    private final Traced traced = Traced.always();

    /** A function that opens a scope of Hadoop's and leaves it to its caller to close it. */
    public void hadoopsScopeOutlivesOurs() {
        TraceScope outer = traced.tracer.newScope("outer");
        OpenScope ours = (OpenScope) traced.engine.begin(Traced.point("ours"));
        TraceScope opened = traced.tracer.newScope("opened");
        ours.close(null);
        assertEquals(1, Trouble.count(Trouble.Kind.SCOPE));
        assertEquals(opened.getSpan(), Tracer.getCurrentSpan());
        opened.close();
        assertEquals(outer.getSpan(), Tracer.getCurrentSpan());
        outer.close();
        nothingIsLeft(3);
    }

    /** A function that closes what its caller opened. */
    public void hadoopsScopeEndsBelowOurs() {
        TraceScope outer = traced.tracer.newScope("outer");
        TraceScope hadoop = traced.tracer.newScope("hadoop");
        OpenScope ours = (OpenScope) traced.engine.begin(Traced.point("ours"));
        hadoop.close();
        assertEquals("ours", Tracer.getCurrentSpan().getDescription());
        ours.close(null);
        assertEquals(outer.getSpan(), Tracer.getCurrentSpan());
        outer.close();
        nothingIsLeft(3);
    }

    public void hadoopsScopeEndsBelowSeveralOfOurs() {
        TraceScope hadoop = traced.tracer.newScope("hadoop");
        OpenScope a = (OpenScope) traced.engine.begin(Traced.point("a"));
        OpenScope b = (OpenScope) traced.engine.begin(Traced.point("b"));
        hadoop.close();
        b.close(null);
        a.close(null);
        nothingIsLeft(3);
    }

    public void hadoopsScopeIsDetachedBelowOurs() throws Exception {
        TraceScope hadoop = traced.tracer.newScope("hadoop");
        OpenScope ours = (OpenScope) traced.engine.begin(Traced.point("ours"));
        hadoop.detach();
        ours.close(null);
        assertNull(Tracer.getCurrentSpan());
        Thread thread = new Thread(() -> {
            hadoop.reattach();
            hadoop.close();
        });
        thread.start();
        thread.join();
        nothingIsLeft(2);
    }

    /** Ours was opened, and never closed. */
    public void oursIsForgotten() {
        TraceScope hadoop = traced.tracer.newScope("hadoop");
        traced.engine.begin(Traced.point("ours"));
        hadoop.close();
        assertNotNull(traced.span("hadoop"));
    }

    public void oursEndInTheWrongOrder() {
        TraceScope hadoop = traced.tracer.newScope("hadoop");
        OpenScope a = (OpenScope) traced.engine.begin(Traced.point("a"));
        OpenScope b = (OpenScope) traced.engine.begin(Traced.point("b"));
        a.close(null);
        b.close(null);
        hadoop.close();
        nothingIsLeft(3);
    }

    /** What is wrong without us stays wrong in the same way. */
    public void hadoopsOwnMistakeIsStillTold() {
        TraceScope first = traced.tracer.newScope("first");
        TraceScope second = traced.tracer.newScope("second");
        OpenScope ours = (OpenScope) traced.engine.begin(Traced.point("ours"));
        assertThrows(RuntimeException.class, first::close);
        ours.close(null);
        second.close();
        first.close();
        nothingIsLeft(3);
    }

    /** An unsampled root of Hadoop's ends while a function of ours goes on in that thread for another one. */
    public void aScopeWithoutSpanEndsBelowOurs() {
        TraceScope none = traced.tracer.newNullScope();
        OpenScope ours = traced.engine.beginBelow(new io.plumbline.trace.SpanRef(1, 2), Traced.point("ours"));
        none.close();
        assertEquals("ours", Tracer.getCurrentSpan().getDescription());
        ours.close(null);
        nothingIsLeft(1);
    }

    public void anUnsampledRootOfOursEndsBelowALeakOfHadoops() {
        Traced never = new Traced("FSClient", "sampler.classes", "NeverSampler");
        Object token = never.engine.begin(Traced.root("root"));
        TraceScope leaked = never.tracer.newScope("leaked", new org.apache.htrace.core.SpanId(1, 2));
        never.engine.leave(token);
        leaked.close();
        assertNull(Tracer.getCurrentSpan());
        never.tracer.newNullScope().close();
        assertEquals(0, Trouble.count(Trouble.Kind.ENGINE), Trouble.last());
    }

    public void aReceiverThatThrowsIsOurTrouble() {
        traced.tracer.getTracerPool().addReceiver(new SpanReceiver() {
            @Override
            public void receiveSpan(Span span) {
                throw new IllegalStateException("a receiver's");
            }

            @Override
            public void close() {
            }
        });
        OpenScope ours = (OpenScope) traced.engine.begin(Traced.root("ours"));
        traced.engine.leaf(traced.engine.capture(), Traced.point("leaf"), 0, 1);
        ours.close(null);
        assertNotNull(traced.span("ours"));
        assertEquals(2, Trouble.count(Trouble.Kind.RECEIVER));
        assertNull(Tracer.getCurrentSpan());
    }

    /** HTrace's own account of open scopes is even again: a root is sampled, and closing once more is a mistake. */
    private void nothingIsLeft(int spans) {
        assertNull(Tracer.getCurrentSpan());
        assertEquals(0, Trouble.count(Trouble.Kind.ENGINE), Trouble.last());
        assertEquals(spans, traced.spans.size(), traced.spans.toString());
        TraceScope root = traced.tracer.newScope("afterwards");
        assertEquals(0, root.getSpan().getParents().length);
        root.close();
        assertNotNull(traced.span("afterwards"));
        TraceScope none = traced.tracer.newNullScope();
        none.close();
        assertThrows(RuntimeException.class, none::close);
    }
}
