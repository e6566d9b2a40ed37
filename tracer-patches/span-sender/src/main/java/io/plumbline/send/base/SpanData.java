package io.plumbline.send.base;

import io.plumbline.send.SpanSender;

/**
 * One finished span on its way from the thread that ended it to the sender, which has copied what it needs when
 * {@link SpanSender#send} returns: a thread fills the same object again and again. Not safe for several threads.
 */
public final class SpanData {
    /** Pairs and parents kept without growing. */
    private static final int USUAL = 8;
    /** Larger arrays are let go. */
    private static final int KEPT = 256;

    /** Upper and lower half of the id. */
    public long trace;
    public long span;
    /** Nanoseconds since the epoch. */
    public long beginNs;
    public long durationNs;
    /** The function, and the process as {@code FSClient/10.0.0.5/4242}: few, long-lived strings. */
    public String name;
    public String tracer;
    /** Were the times counted in milliseconds at the source? */
    public boolean milliseconds;

    private long[] parents = new long[2];
    private int parentCount;
    private String[] keys = new String[USUAL];
    /** A String, or null where the value is in {@link #numbers}. */
    private String[] texts = new String[USUAL];
    private long[] numbers = new long[USUAL];
    private int annotationCount;
    private String[] notes = new String[2];
    private long[] noteTimes = new long[2];
    private int noteCount;

    /** Takes back parents, annotations and notes; the fields are the caller's to set. */
    public void clear() {
        if (keys.length > KEPT || parents.length > KEPT || notes.length > KEPT) {
            shrink();
        }
        java.util.Arrays.fill(texts, 0, annotationCount, null);
        java.util.Arrays.fill(notes, 0, noteCount, null);
        parentCount = 0;
        annotationCount = 0;
        noteCount = 0;
        milliseconds = false;
    }

    /** After a rare large span: each thread has an object like this. */
    private void shrink() {
        parents = new long[2];
        keys = new String[USUAL];
        texts = new String[USUAL];
        numbers = new long[USUAL];
        notes = new String[2];
        noteTimes = new long[2];
        parentCount = 0;
        annotationCount = 0;
        noteCount = 0;
    }

    public void parent(long parentTrace, long parentSpan) {
        if (2 * parentCount == parents.length) {
            parents = java.util.Arrays.copyOf(parents, 2 * parents.length);
        }
        parents[2 * parentCount] = parentTrace;
        parents[2 * parentCount + 1] = parentSpan;
        parentCount++;
    }

    public void annotate(String key, String value) {
        int i = annotation(key);
        texts[i] = value == null ? "" : value;
    }

    public void annotate(String key, long value) {
        int i = annotation(key);
        texts[i] = null;
        numbers[i] = value;
    }

    /** As {@link #annotate(String, String)}, for a key that is known not to be there yet, as in a copy of a map. */
    public void annotateNew(String key, String value) {
        int i = newAnnotation(key);
        texts[i] = value == null ? "" : value;
    }

    /** A key comes once, as in HTrace: a later value takes the place of the earlier one. */
    private int annotation(String key) {
        for (int i = 0; i < annotationCount; i++) {
            String known = keys[i];
            if (known == key || known.hashCode() == key.hashCode() && known.equals(key)) {
                return i;
            }
        }
        return newAnnotation(key);
    }

    private int newAnnotation(String key) {
        if (annotationCount == keys.length) {
            int more = 2 * annotationCount;
            keys = java.util.Arrays.copyOf(keys, more);
            texts = java.util.Arrays.copyOf(texts, more);
            numbers = java.util.Arrays.copyOf(numbers, more);
        }
        keys[annotationCount] = key;
        return annotationCount++;
    }

    public void note(long timeNs, String message) {
        if (noteCount == notes.length) {
            notes = java.util.Arrays.copyOf(notes, 2 * noteCount);
            noteTimes = java.util.Arrays.copyOf(noteTimes, 2 * noteCount);
        }
        noteTimes[noteCount] = timeNs;
        notes[noteCount++] = message == null ? "" : message;
    }

    public int parents() {
        return parentCount;
    }

    public long parentTrace(int i) {
        return parents[2 * i];
    }

    public long parentSpan(int i) {
        return parents[2 * i + 1];
    }

    public int annotations() {
        return annotationCount;
    }

    public String key(int i) {
        return keys[i];
    }

    /** Null when the value is a number. */
    public String text(int i) {
        return texts[i];
    }

    public long number(int i) {
        return numbers[i];
    }

    /** Another value in place of the one there is. */
    public void setText(int i, String value) {
        texts[i] = value;
    }

    public void removeAnnotation(int i) {
        int after = --annotationCount - i;
        System.arraycopy(keys, i + 1, keys, i, after);
        System.arraycopy(texts, i + 1, texts, i, after);
        System.arraycopy(numbers, i + 1, numbers, i, after);
        texts[annotationCount] = null;
    }

    public void setNote(int i, String message) {
        notes[i] = message;
    }

    public void removeNote(int i) {
        int after = --noteCount - i;
        System.arraycopy(notes, i + 1, notes, i, after);
        System.arraycopy(noteTimes, i + 1, noteTimes, i, after);
        notes[noteCount] = null;
    }

    public int notes() {
        return noteCount;
    }

    public long noteTime(int i) {
        return noteTimes[i];
    }

    public String note(int i) {
        return notes[i];
    }
}
