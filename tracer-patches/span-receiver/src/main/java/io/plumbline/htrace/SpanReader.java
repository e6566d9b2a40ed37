package io.plumbline.htrace;

import io.plumbline.send.NanoSpan;
import io.plumbline.send.TracerNames;
import io.plumbline.send.base.SpanData;
import java.util.List;
import java.util.function.BiConsumer;
import org.apache.htrace.core.Span;
import org.apache.htrace.core.SpanId;
import org.apache.htrace.core.TimelineAnnotation;

/**
 * Reads spans of HTrace as they are when they end. HTrace hands out the living object (MilliSpan: plain fields, an
 * unsynchronised HashMap and ArrayList), to which the application may still add annotations. Any thread.
 */
final class SpanReader {
    private static final long NS_PER_MS = 1_000_000;
    private static final int TRIES = 5;

    /** A span as it was, again and again: one for each thread, which takes annotations as maps hand them out. */
    static final class Copy implements BiConsumer<String, String> {
        final SpanData data = new SpanData();

        @Override
        public void accept(String key, String value) {
            data.annotateNew(orEmpty(key), value);
        }
    }

    private final TracerNames names;

    SpanReader(TracerNames names) {
        this.names = names;
    }

    /** FALSE when the span could not be read: it was changed during each try, or it throws by itself. Never throws. */
    boolean read(Span span, Copy into) {
        for (int i = 0; i < TRIES; i++) {
            try {
                into.data.clear();
                tryRead(span, into);
                return true;
            } catch (RuntimeException e) {
                // ConcurrentModificationException or what else comes of reading a HashMap while it grows: once more
            }
        }
        return false;
    }

    private void tryRead(Span span, Copy into) {
        SpanId id = span.getSpanId();
        into.data.trace = id.getHigh();
        into.data.span = id.getLow();
        into.data.name = orEmpty(span.getDescription());
        into.data.tracer = names.withPid(orEmpty(span.getTracerId()));
        NanoSpan nanos = span instanceof NanoSpan ? (NanoSpan) span : null;
        readTimes(span, nanos, into.data);
        for (SpanId parent : span.getParents()) {
            into.data.parent(parent.getHigh(), parent.getLow());
        }
        span.getKVAnnotations().forEach(into);
        List<TimelineAnnotation> notes = span.getTimelineAnnotations();
        for (int i = 0; i < notes.size(); i++) {
            TimelineAnnotation note = notes.get(i);
            long known = nanos == null ? 0 : nanos.noteNs(i);
            into.data.note(known != 0 ? known : toNanos(note.getTime()), note.getMessage());
        }
    }

    private static void readTimes(Span span, NanoSpan nanos, SpanData into) {
        long begin = nanos == null ? 0 : nanos.beginNs();
        into.milliseconds = begin == 0;
        if (begin != 0) {
            into.beginNs = begin;
            into.durationNs = nanos.durationNs();
        } else {
            into.beginNs = toNanos(span.getStartTimeMillis());
            into.durationNs = toNanos(span.getStopTimeMillis() - span.getStartTimeMillis());
        }
    }

    /** Times far outside of any calendar stay at the edge instead of wrapping round. */
    static long toNanos(long ms) {
        if (ms > Long.MAX_VALUE / NS_PER_MS) {
            return Long.MAX_VALUE;
        }
        return ms < Long.MIN_VALUE / NS_PER_MS ? Long.MIN_VALUE : ms * NS_PER_MS;
    }

    private static String orEmpty(String text) {
        return text == null ? "" : text;
    }
}
