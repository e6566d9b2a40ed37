package io.plumbline.trace.htrace;

import io.plumbline.trace.SpanRef;
import org.apache.htrace.core.SpanId;
import org.apache.htrace.core.Tracer;

/** A span of HTrace, and whose it is: what goes on from it in another thread belongs to the same process's tracer. */
final class HTraceRef extends SpanRef {
    final SpanId id;
    final Tracer tracer;

    HTraceRef(SpanId id, Tracer tracer) {
        super(id.getHigh(), id.getLow());
        this.id = id;
        this.tracer = tracer;
    }
}
