package org.apache.hadoop.tracing;

/** A scope of nothing. */
public class NullTraceScope extends TraceScope {
    public static final NullTraceScope INSTANCE = new NullTraceScope();

    public NullTraceScope() {
        super((Span) null);
    }
}
