package io.plumbline.trace.htrace;

/** What the patched TraceScope shows: the chain of a thread's open scopes. Only the scope's thread calls these. */
public interface PatchedScope {
    /** The TraceScope below; null at the end. */
    Object plumbParent();

    void plumbParent(Object scope);

    /** Was it opened by us? */
    boolean plumbOwn();

    void plumbOwn(boolean own);
}
