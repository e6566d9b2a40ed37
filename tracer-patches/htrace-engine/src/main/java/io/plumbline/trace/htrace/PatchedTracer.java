package io.plumbline.trace.htrace;

/**
 * What HTrace's Tracer keeps to itself and the patched one shows. No type of HTrace is in it, so that the agent can
 * read this interface while HTrace's classes are not loaded yet. Only the thread in question calls these.
 */
public interface PatchedTracer {
    /** The current TraceScope of this thread, of whatever tracer; null when there is none. */
    Object plumbCurrent();

    void plumbCurrent(Object scope);

    /** Has this tracer no scope open in this thread, be it one that records nothing? */
    boolean plumbTopLevel();

    /** One scope less of this tracer in this thread. Throws when there is none. */
    void plumbPop();

    /** Opens a TraceScope without parents; the samplers are not asked. */
    Object plumbRoot(String description);

    /** The name given to Tracer.Builder ("FSClient", "DataNode"); null before build() has returned. */
    String plumbName();

    void plumbName(String name);
}
