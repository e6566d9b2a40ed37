package org.apache.hadoop.tracing;

import io.plumbline.trace.own.LiveSpan;
import java.io.Closeable;

/** A span that is or was going on. One made by the public constructor is nobody's: nothing is recorded of it. */
public class Span implements Closeable {
    /** Null: nobody's. */
    private final LiveSpan live;
    private final int serial;
    private final SpanContext context;

    public Span() {
        live = null;
        serial = 0;
        context = null;
    }

    Span(LiveSpan live) {
        this.live = live;
        serial = live.serial();
        context = new SpanContext(live.trace(), live.span());
    }

    LiveSpan live() {
        return live != null && live.serial() == serial ? live : null;
    }

    public Span addKVAnnotation(String key, String value) {
        if (live != null) {
            live.annotate(serial, key, value);
        }
        return this;
    }

    public Span addTimelineAnnotation(String msg) {
        if (live != null) {
            live.note(serial, msg);
        }
        return this;
    }

    /** Not null for a span that {@link Tracer} handed out. */
    public SpanContext getContext() {
        return context;
    }

    /** Ends the span. Again: nothing. */
    public void finish() {
        if (live != null) {
            live.end(serial);
        }
    }

    @Override
    public void close() {
        finish();
    }
}
