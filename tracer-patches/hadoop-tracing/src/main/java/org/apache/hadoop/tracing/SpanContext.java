package org.apache.hadoop.tracing;

import io.plumbline.trace.Together;
import java.io.Closeable;

/**
 * Which span: what children in other threads and processes name as their parent. Ordered as HTrace orders its ids, as
 * unsigned bytes. Immutable but for {@link #together}.
 */
public class SpanContext implements Closeable, Comparable<SpanContext>, Together {
    final long trace;
    final long span;
    /** The parents that a packet has beside this one, this one among them; null: no other. */
    private volatile Object[] all;

    public SpanContext() {
        this(0, 0);
    }

    SpanContext(long trace, long span) {
        this.trace = trace;
        this.span = span;
    }

    /** (0, 0) is no span's id. */
    boolean valid() {
        return trace != 0 || span != 0;
    }

    @Override
    public void together(Object[] contexts) {
        all = contexts;
    }

    Object[] together() {
        return all;
    }

    @Override
    public int compareTo(SpanContext other) {
        int order = Long.compareUnsigned(trace, other.trace);
        return order != 0 ? order : Long.compareUnsigned(span, other.span);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SpanContext && ((SpanContext) other).trace == trace
                && ((SpanContext) other).span == span;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(trace) * 31 + Long.hashCode(span);
    }

    /** As HTrace writes ids. */
    @Override
    public String toString() {
        return String.format("%016x%016x", trace, span);
    }

    @Override
    public void close() {
    }
}
