package org.apache.hadoop.tracing;

import io.plumbline.trace.own.OwnScope;
import io.plumbline.trace.own.UnsampledRoot;
import java.io.Closeable;

/** A span as the current one of a thread, or nothing at all. */
public class TraceScope implements Closeable {
    /** Made when somebody asks. */
    Span span;
    /** Null: no scope, or closed. */
    private OwnScope scope;
    /** Null: no root that was not sampled. */
    private final UnsampledRoot unsampled;
    /** The span lives on when this scope is closed, if somebody has it. */
    private boolean keepsSpan;

    /** A span without a thread: closing ends it. */
    public TraceScope(Span span) {
        this.span = span;
        unsampled = null;
    }

    TraceScope(OwnScope scope, boolean finishSpanOnClose) {
        this.scope = scope;
        unsampled = null;
        if (!finishSpanOnClose) {
            keepsSpan = true;
            scope.keepSpan();
        }
    }

    TraceScope(UnsampledRoot root) {
        unsampled = root;
    }

    // Add tag to the span
    public void addKVAnnotation(String key, String value) {
        if (scope != null) {
            scope.annotate(key, value);
        }
    }

    public void addKVAnnotation(String key, Number value) {
        if (scope == null) {
            return;
        }
        if (value instanceof Long || value instanceof Integer) {
            scope.annotate(key, value.longValue());
        } else {
            scope.annotate(key, String.valueOf(value));
        }
    }

    public void addTimelineAnnotation(String msg) {
        if (scope != null) {
            scope.note(msg);
        }
    }

    /** Null when nothing is recorded. */
    public Span span() {
        if (span == null && scope != null) {
            span = new Span(scope.span());
        }
        return span;
    }

    public Span getSpan() {
        return span();
    }

    public void reattach() {
        if (scope != null) {
            scope.reattach();
        }
    }

    public void detach() {
        if (scope != null) {
            scope.detach();
        }
    }

    /** Takes it from the thread and ends the span, but for a span that its creator wants to end himself. */
    @Override
    public void close() {
        if (unsampled != null) {
            unsampled.leave();
        } else if (scope != null) {
            closeScope();
        } else if (span != null && !keepsSpan) {
            span.close();
        }
    }

    private void closeScope() {
        OwnScope closing = scope;
        scope = null;
        if (keepsSpan && span == null) {
            closing.endSpan(); // nobody has it, so nobody else could
        }
        closing.close();
    }
}
