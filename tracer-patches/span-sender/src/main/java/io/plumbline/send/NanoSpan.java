package io.plumbline.send;

/** What a span of HTrace implements when it was measured more finely than HTrace's own milliseconds. Any thread. */
public interface NanoSpan {
    /** Nanoseconds since the epoch; 0 when it is not known, and milliseconds count. */
    long beginNs();

    /** Means something only when {@link #beginNs} does. */
    long durationNs();

    /** Of the i-th timeline annotation, in nanoseconds since the epoch; 0 when it is not known. */
    long noteNs(int i);
}
