package io.plumbline.trace.htrace;

/** What the patched MilliSpan holds besides. */
public interface PatchedSpan {
    /** Null when HTrace did not start it itself: nothing finer than its milliseconds is known then. */
    SpanTimes plumbTimes();

    void plumbTimes(SpanTimes times);
}
