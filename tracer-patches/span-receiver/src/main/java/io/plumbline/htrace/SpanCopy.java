package io.plumbline.htrace;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.htrace.core.Span;
import org.apache.htrace.core.SpanId;
import org.apache.htrace.core.TimelineAnnotation;

/**
 * A span as it was when it ended. HTrace hands out the living object (MilliSpan: plain fields, an unsynchronised
 * HashMap and ArrayList), to which the application may still add annotations, so what can change is copied in the
 * application's thread; strings and ids are immutable and are shared.
 */
final class SpanCopy {
    /** As estimated below. Receivers take frames of 32 MiB; nothing near this comes from Hadoop. */
    static final long MAX_BYTES = 4 << 20;
    /** Objects and references of a span without strings, in a JVM with compressed references. */
    private static final long BASE_BYTES = 120;

    private static final int COPY_TRIES = 5;
    private static final String[] NO_PAIRS = {};
    private static final TimelineAnnotation[] NO_NOTES = {};

    final SpanId id;
    final SpanId[] parents;
    final long beginMs;
    final long endMs;
    final String description;
    final String tracer;
    /** Key, value, key, value, ... */
    final String[] annotations;
    final TimelineAnnotation[] notes;
    final long bytes;

    private SpanCopy(Span span, TracerNames names) {
        id = span.getSpanId();
        parents = span.getParents().clone();
        beginMs = span.getStartTimeMillis();
        endMs = span.getStopTimeMillis();
        description = orEmpty(span.getDescription());
        tracer = names.withPid(orEmpty(span.getTracerId()));
        annotations = pairs(span.getKVAnnotations());
        notes = notes(span.getTimelineAnnotations());
        bytes = estimate();
    }

    /**
     * Null when the span could not be copied: its maps were changed during each try, or it throws by itself. Never
     * throws.
     */
    static SpanCopy of(Span span, TracerNames names) {
        for (int i = 0; i < COPY_TRIES; i++) {
            try {
                return new SpanCopy(span, names);
            } catch (RuntimeException e) {
                // ConcurrentModificationException or what else comes of reading a HashMap while it grows: once more
            }
        }
        return null;
    }

    private static String[] pairs(Map<String, String> map) {
        if (map.isEmpty()) {
            return NO_PAIRS;
        }
        String[] pairs = new String[2 * map.size()];
        int n = 0;
        for (Map.Entry<String, String> entry : map.entrySet()) {
            pairs[n++] = orEmpty(entry.getKey());
            pairs[n++] = orEmpty(entry.getValue());
        }
        return n == pairs.length ? pairs : Arrays.copyOf(pairs, n);
    }

    private static TimelineAnnotation[] notes(List<TimelineAnnotation> list) {
        if (list.isEmpty()) {
            return NO_NOTES;
        }
        TimelineAnnotation[] notes = list.toArray(NO_NOTES);
        for (TimelineAnnotation note : notes) {
            note.getTime(); // a null of a list that was growing shows here
        }
        return notes;
    }

    private long estimate() {
        long sum = BASE_BYTES + 2L * description.length() + 24L * parents.length;
        for (String text : annotations) {
            sum += 48 + 2L * text.length();
        }
        for (TimelineAnnotation note : notes) {
            sum += 72 + 2L * orEmpty(note.getMessage()).length();
        }
        return sum;
    }

    static String orEmpty(String text) {
        return text == null ? "" : text;
    }
}
