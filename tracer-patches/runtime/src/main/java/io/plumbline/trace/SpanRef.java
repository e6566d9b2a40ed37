package io.plumbline.trace;

/** Which span: enough to be a parent. An engine may put more into its own kind of it. */
public class SpanRef {
    public final long trace;
    public final long span;

    public SpanRef(long trace, long span) {
        this.trace = trace;
        this.span = span;
    }
}
