package io.plumbline.trace;

/** A sampled span that is going on in this thread: what {@link Engine#begin} returned. Only its own thread uses it. */
public abstract class OpenScope {
    public abstract void annotate(String key, String value);

    public abstract void annotate(String key, long value);

    /** Ends the span now, takes it from the thread and hands it on. @param thrown what the function threw, or null */
    public abstract void close(Throwable thrown);
}
