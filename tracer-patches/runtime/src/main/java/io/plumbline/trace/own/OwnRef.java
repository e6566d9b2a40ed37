package io.plumbline.trace.own;

import io.plumbline.trace.SpanRef;

/** A span with the tracer that its children in other threads go on with. */
final class OwnRef extends SpanRef {
    final String tracer;

    OwnRef(long trace, long span, String tracer) {
        super(trace, span);
        this.tracer = tracer;
    }
}
